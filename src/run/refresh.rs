//! When the tables and charts of a run in progress are refreshed.

use std::time::{Duration, Instant};

/// Shortest interval between two refreshes.
const OFTEN: Duration = Duration::from_secs(5);

/// The interval is also at least this multiple of the time that a refresh takes: a large run spends its time
/// measuring, not drawing.
const SHARE: u32 = 50;

/// The schedule of a run's derived files. They are written before a result is acknowledged, hence never while a
/// sample is timed.
#[derive(Debug)]
pub struct Refresh {
    due: Instant,
    /// The last reported reason for a failed write.
    trouble: Option<String>,
}

impl Refresh {
    pub fn new() -> Refresh {
        Refresh { due: Instant::now() + OFTEN, trouble: None }
    }

    /// Whether the derived files are due.
    pub fn is_due(&self) -> bool {
        Instant::now() >= self.due
    }

    /// Calls `write`, times it, and schedules the next refresh.
    pub fn timed<T>(&mut self, write: impl FnOnce() -> T) -> T {
        let began = Instant::now();
        let written = write();
        self.due = Instant::now() + pause(began.elapsed());
        written
    }

    /// Returns the error text unless it repeats the last reported one.
    pub fn news(&mut self, trouble: String) -> Option<String> {
        let known = self.trouble.as_ref() == Some(&trouble);
        self.trouble = Some(trouble.clone());
        (!known).then_some(trouble)
    }
}

fn pause(took: Duration) -> Duration {
    OFTEN.max(took * SHARE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writing_takes_a_fiftieth_of_the_time_at_most() {
        assert_eq!(pause(Duration::from_millis(3)), OFTEN);
        assert_eq!(pause(Duration::from_secs(2)), Duration::from_secs(100));
    }

    #[test]
    fn a_trouble_is_told_once() {
        let mut refresh = Refresh::new();
        assert_eq!(refresh.news("full".into()).as_deref(), Some("full"));
        assert_eq!(refresh.news("full".into()), None);
        assert!(refresh.news("read-only".into()).is_some());
    }
}
