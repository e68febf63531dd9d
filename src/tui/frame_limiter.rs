//! Decides when to draw. Drawing disturbs a measurement on a machine with few cores: a copy benchmark on two
//! cores lost a quarter of its rate at 16 frames per second and nothing at 4.

use std::time::Duration;

/// Shortest time between two frames while samples are timed.
const WHILE_TIMING: Duration = Duration::from_millis(250);
/// Shortest time between two frames otherwise.
const OTHERWISE: Duration = Duration::from_millis(33);
/// Polling interval if there is no waker, short enough that messages appear soon.
pub const POLL: Duration = Duration::from_millis(100);

/// Draws only when something has changed, and not too often.
#[derive(Clone, Debug)]
pub struct FrameLimiter {
    changed: bool,
    last: Option<Duration>,
}

impl FrameLimiter {
    /// The first frame is due at once.
    pub fn new() -> FrameLimiter {
        FrameLimiter { changed: true, last: None }
    }

    /// Marks the screen as outdated.
    pub fn touch(&mut self) {
        self.changed = true;
    }

    /// Whether a frame is due now.
    pub fn due(&self, now: Duration, timing: bool) -> bool {
        self.changed && self.left(now, timing).is_zero()
    }

    /// Records that a frame was drawn.
    pub fn drawn(&mut self, now: Duration) {
        self.changed = false;
        self.last = Some(now);
    }

    /// How long to wait for input: until the next frame is due, or `idle` if nothing has changed.
    pub fn wait(&self, now: Duration, timing: bool, idle: Duration) -> Duration {
        if self.changed { self.left(now, timing).min(idle) } else { idle }
    }

    fn left(&self, now: Duration, timing: bool) -> Duration {
        let gap = if timing { WHILE_TIMING } else { OTHERWISE };
        self.last.map_or(Duration::ZERO, |last| (last + gap).saturating_sub(now))
    }
}

impl Default for FrameLimiter {
    fn default() -> Self {
        FrameLimiter::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Number of frames in a second in which everything changes every millisecond.
    fn frames(timing: bool) -> usize {
        let mut frame_limiter = FrameLimiter::new();
        let mut drawn = 0;
        for ms in 0..1000 {
            let now = Duration::from_millis(ms);
            frame_limiter.touch();
            if frame_limiter.due(now, timing) {
                frame_limiter.drawn(now);
                drawn += 1;
            }
        }
        drawn
    }

    #[test]
    fn at_most_four_frames_a_second_while_timing() {
        assert_eq!(frames(true), 4);
        assert_eq!(frames(false), 31);
    }

    #[test]
    fn nothing_is_drawn_twice() {
        let mut frame_limiter = FrameLimiter::new();
        frame_limiter.drawn(Duration::ZERO);
        assert!(!frame_limiter.due(Duration::from_secs(60), false));
        assert_eq!(frame_limiter.wait(Duration::from_secs(60), false, Duration::MAX), Duration::MAX);
    }

    #[test]
    fn it_sleeps_no_longer_than_until_the_frame_is_due() {
        let mut frame_limiter = FrameLimiter::new();
        frame_limiter.drawn(Duration::ZERO);
        frame_limiter.touch();
        assert_eq!(frame_limiter.wait(Duration::from_millis(200), true, POLL), Duration::from_millis(50));
        assert_eq!(frame_limiter.wait(Duration::from_millis(900), true, POLL), Duration::ZERO);
    }
}
