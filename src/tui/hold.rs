//! Whether a run stands still, and since when.

use std::time::Duration;

/// A run may be held by its engine, which a person has asked for, and, where it is a stored
/// one, by whoever watches it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hold {
    /// What was asked for last.
    pub asked: bool,
    /// Whether the engine holds.
    pub engine: bool,
    /// Whether the stored run is not played on.
    pub player: bool,
    since: Option<Duration>,
}

impl Hold {
    /// Since when it stands still.
    pub fn since(&self) -> Option<Duration> {
        self.since
    }

    /// After a change: how long it has stood still, where that is over now.
    pub fn settle(&mut self, now: Duration) -> Option<Duration> {
        match (self.since, self.engine || self.player) {
            (None, true) => self.since = Some(now),
            (Some(since), false) => {
                self.since = None;
                return Some(now.saturating_sub(since));
            }
            _ => {}
        }
        None
    }
}
