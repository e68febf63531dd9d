//! Schedule of the reference copies measured between cases. Pure.

/// A reference that takes at most this long is measured before every pass over the cases, seconds.
pub const CHEAP: f64 = 0.3;
/// A longer one waits until its cost is at most this share of the time since the previous one.
pub const SHARE: f64 = 0.05;

/// When the last reference was measured, and its cost.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReferenceSchedule {
    last: Option<Last>,
}

#[derive(Clone, Copy, Debug)]
struct Last {
    /// When the reference finished, seconds since an arbitrary start.
    at: f64,
    /// Duration of the reference, seconds.
    cost: f64,
}

impl ReferenceSchedule {
    /// Whether to measure a reference now: always the first time, and every time if it is cheap.
    pub fn due(&self, now: f64) -> bool {
        self.last.is_none_or(|last| last.cost <= CHEAP || last.cost <= SHARE * (now - last.at))
    }

    /// Records a reference measured between these times.
    pub fn measured(&mut self, from: f64, to: f64) {
        self.last = Some(Last { at: to, cost: to - from });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_costly_reference_waits_until_it_is_a_small_share() {
        let mut schedule = ReferenceSchedule::default();
        assert!(schedule.due(0.0));
        schedule.measured(0.0, 0.2);
        assert!(schedule.due(0.2), "a cheap one does not wait");
        schedule.measured(0.2, 1.2);
        assert!(!schedule.due(20.0));
        assert!(schedule.due(21.3));
    }
}
