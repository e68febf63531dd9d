//! Deltas: the steps by which a pattern moves.

/// The step from one use of a pattern to the next, in elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delta {
    One(u64),
    /// Several steps in turn; at least two.
    List(Vec<u64>),
}

impl Delta {
    /// The part of the delta that takes effect within this many uses (at least one). The first use does not
    /// move.
    pub fn used(&self, uses: u64) -> Delta {
        match (self, uses - 1) {
            (_, 0) => Delta::One(0),
            (Delta::List(deltas), 1) => Delta::One(deltas[0]),
            (Delta::List(deltas), moves) => {
                Delta::List(deltas.iter().copied().take(moves as usize).collect())
            }
            (one, _) => one.clone(),
        }
    }

    /// How far a pattern has moved after this many uses; `None` where that exceeds 64 bits.
    pub fn after(&self, uses: u64) -> Option<u64> {
        match self {
            Delta::One(delta) => delta.checked_mul(uses),
            Delta::List(deltas) => {
                let (turns, rest) = (uses / deltas.len() as u64, uses % deltas.len() as u64);
                let sum = |deltas: &[u64]| deltas.iter().try_fold(0u64, |sum, delta| sum.checked_add(*delta));
                let part = sum(&deltas[..rest as usize])?;
                sum(deltas)?.checked_mul(turns)?.checked_add(part)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_deltas_that_move_a_use_are_used() {
        let list = Delta::List(vec![8, 0, 16]);
        assert_eq!(list.used(1), Delta::One(0));
        assert_eq!(list.used(2), Delta::One(8));
        assert_eq!(list.used(3), Delta::List(vec![8, 0]));
        assert_eq!(list.used(4), list);
        assert_eq!(list.used(u64::MAX), list);
        assert_eq!([Delta::One(8).used(1), Delta::One(8).used(2)], [Delta::One(0), Delta::One(8)]);
        for uses in 1..9 {
            assert_eq!(list.used(uses).after(uses - 1), list.after(uses - 1), "{uses}");
        }
    }
}
