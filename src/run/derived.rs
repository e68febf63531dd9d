//! When the tables and charts of a run in progress are brought up to date.

use std::time::{Duration, Instant};

/// At most this often.
const OFTEN: Duration = Duration::from_secs(5);

/// And so much longer apart than they take to write: a large run spends its time
/// measuring, not drawing.
const SHARE: u32 = 50;

/// The pace of a run's derived files. They are written before an acknowledgement, so never
/// while a sample is timed.
#[derive(Debug)]
pub struct Derived {
    due: Instant,
    /// Why they could not be written, as last told.
    trouble: Option<String>,
}

impl Derived {
    pub fn new() -> Derived {
        Derived { due: Instant::now() + OFTEN, trouble: None }
    }

    /// Whether it is time to write them.
    pub fn is_due(&self) -> bool {
        Instant::now() >= self.due
    }

    /// Writes them, and settles when to do so next.
    pub fn timed<T>(&mut self, write: impl FnOnce() -> T) -> T {
        let began = Instant::now();
        let written = write();
        self.due = Instant::now() + pause(began.elapsed());
        written
    }

    /// A trouble's text, unless it was told already.
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
        let mut derived = Derived::new();
        assert_eq!(derived.news("full".into()).as_deref(), Some("full"));
        assert_eq!(derived.news("full".into()), None);
        assert!(derived.news("read-only".into()).is_some());
    }
}
