//! How often the machine's own pace is measured beside the cases. Pure.

/// A reference that takes less is measured before every pass over the cases, seconds.
const CHEAP: f64 = 0.3;
/// One that takes longer waits until at most this share of the time has gone into it.
const SHARE: f64 = 0.05;

/// When the last reference was measured, and what it cost.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pace {
    last: Option<Last>,
}

#[derive(Clone, Copy, Debug)]
struct Last {
    /// Seconds since some start, when it was over.
    at: f64,
    /// Seconds that it took.
    cost: f64,
}

impl Pace {
    /// Whether to measure one at this time: the first one always, cheap ones every time.
    pub fn due(&self, now: f64) -> bool {
        self.last.is_none_or(|last| last.cost <= CHEAP || last.cost <= SHARE * (now - last.at))
    }

    /// One was measured between these times.
    pub fn measured(&mut self, from: f64, to: f64) {
        self.last = Some(Last { at: to, cost: to - from });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_costly_reference_waits_until_it_is_a_small_share() {
        let mut pace = Pace::default();
        assert!(pace.due(0.0));
        pace.measured(0.0, 0.2);
        assert!(pace.due(0.2), "a cheap one does not wait");
        pace.measured(0.2, 1.2);
        assert!(!pace.due(20.0));
        assert!(pace.due(21.3));
    }
}
