//! Patterns and deltas as written, and the transformations of their indices.

use std::collections::HashMap;

use crate::case::units::shown;
use crate::inputs::generators::custom;
use crate::inputs::notation::{self, Notation};

/// A pattern as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// A generator, or a list on the command line.
    Notation(String),
    /// A list in JSON.
    List(Vec<u64>),
}

impl Written {
    /// The pattern's indices, and the delta that it sets, if any.
    ///
    /// # Errors
    /// The pattern is invalid, or Spatter leaves it undefined.
    pub fn indices(&self) -> Result<Notation, String> {
        match self {
            // The way of Spatter 1, which its README still shows.
            Written::Notation(text) if let Some(file) = text.strip_prefix("FILE=") => Err(format!(
                "`{}` is not a pattern; as in Spatter 2.1.0, -f reads a file of configurations: -f {}",
                shown(text),
                shown(file)
            )),
            // Spatter strips quotation marks that a shell may have left.
            Written::Notation(text) => {
                notation::parse(&text.replace('"', "")).map_err(|error| error.to_string())
            }
            Written::List(indices) => {
                let indices = custom(indices.clone().into()).map_err(|error| error.to_string())?.to_vec();
                Ok(Notation { indices, delta: None, unreached: 0 })
            }
        }
    }
}

/// Truncates a pattern to `size` indices and reduces them modulo `boundary`.
///
/// # Errors
/// The pattern is shorter than `size`.
pub fn treated(mut indices: Vec<u64>, size: Option<u64>, boundary: u64) -> Result<Vec<u64>, String> {
    if let Some(size) = size {
        let length = indices.len() as u64;
        if size > length {
            return Err(format!("a pattern of {length} indices cannot be cut to {size}"));
        }
        indices.truncate(size as usize);
    }
    if boundary > 0 {
        indices.iter_mut().for_each(|index| *index %= boundary);
    }
    Ok(indices)
}

/// Doubles per 4 KiB page.
const PAGE: u64 = 512;

/// Renumbers the pages in order of first appearance and keeps the offsets within them.
pub fn compressed(indices: &[u64]) -> Vec<u64> {
    let mut numbers = HashMap::new();
    let place = |index: &u64| {
        let next = numbers.len() as u64;
        PAGE * *numbers.entry(index / PAGE).or_insert(next) + index % PAGE
    };
    indices.iter().map(place).collect()
}

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
    fn pages_are_numbered_as_they_come() {
        assert_eq!(compressed(&[5000, 3, 5001, 515, 512]), [392, 515, 393, 1027, 1024]);
        assert_eq!(compressed(&[0, 511, 512]), [0, 511, 512]);
    }

    #[test]
    fn cut_then_wrapped() {
        let of = |size, boundary| treated(vec![10, 2000, 7, 9999], size, boundary);
        assert_eq!(of(None, 0), Ok(vec![10, 2000, 7, 9999]));
        assert_eq!(of(Some(2), 0), Ok(vec![10, 2000]));
        assert_eq!(of(Some(2), 7), Ok(vec![3, 5]));
        assert_eq!(of(Some(3), 1999), Ok(vec![10, 1, 7]));
        assert!(of(Some(5), 0).is_err());
    }

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
