//! Whether a run is paused, and since when.

use std::time::Duration;

/// A run can be paused by its engine, at the user's request, and a stored run also by its player.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pause {
    /// The last request.
    pub asked: bool,
    /// Whether the engine is paused.
    pub engine: bool,
    /// Whether the playback of the stored run is paused.
    pub player: bool,
    since: Option<Duration>,
}

impl Pause {
    /// The time at which the run was paused, if it is.
    pub fn since(&self) -> Option<Duration> {
        self.since
    }

    /// Updates the state after a change. Returns the length of a pause that has just ended.
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
