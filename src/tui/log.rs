//! The lines of a run's log.

use std::collections::VecDeque;
use std::time::Duration;

use crate::engine::protocol::Level;

/// Lines kept; older ones are in the run folder's event stream.
const KEPT: usize = 5000;

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Since the run started.
    pub at: Duration,
    pub level: Level,
    pub text: String,
}

/// The newest lines of a run, and how far back the reader has scrolled.
#[derive(Clone, Debug, Default)]
pub struct Log {
    lines: VecDeque<Line>,
    /// Lines below the last one on the screen; 0 follows the end.
    back: usize,
}

impl Log {
    /// Adds a text, one line for each of its own.
    pub fn push(&mut self, at: Duration, level: Level, text: &str) {
        for text in text.lines() {
            self.lines.push_back(Line { at, level, text: text.to_owned() });
            self.back += usize::from(self.back > 0);
            if self.lines.len() > KEPT {
                self.lines.pop_front();
            }
        }
        self.back = self.back.min(self.lines.len().saturating_sub(1));
    }

    /// Whether a line with this text is among those kept.
    pub fn says(&self, text: &str) -> bool {
        self.lines.iter().any(|line| line.text == text)
    }

    /// Scrolls by lines, backwards where positive.
    pub fn scroll(&mut self, by: isize) {
        self.back = self.back.saturating_add_signed(by).min(self.lines.len().saturating_sub(1));
    }

    /// To the first line.
    pub fn first(&mut self) {
        self.back = self.lines.len().saturating_sub(1);
    }

    /// To the end, which is then followed.
    pub fn last(&mut self) {
        self.back = 0;
    }

    /// Scrolls back no further than to a full window of `height` lines.
    pub fn settle(&mut self, height: usize) {
        self.back = self.back.min(self.lines.len().saturating_sub(height));
    }

    /// Lines below those shown.
    pub fn below(&self) -> usize {
        self.back
    }

    /// The lines that a window of `height` shows. Scrolled to the top, the window is
    /// still full.
    pub fn window(&self, height: usize) -> impl Iterator<Item = &Line> {
        let back = self.back.min(self.lines.len().saturating_sub(height));
        let end = self.lines.len() - back;
        self.lines.range(end.saturating_sub(height)..end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(log: &Log, height: usize) -> Vec<&str> {
        log.window(height).map(|l| l.text.as_str()).collect()
    }

    #[test]
    fn it_follows_the_end_until_somebody_scrolls() {
        let mut log = Log::default();
        for n in 0..5 {
            log.push(Duration::ZERO, Level::Info, &n.to_string());
        }
        assert_eq!(shown(&log, 2), ["3", "4"]);
        log.scroll(2);
        assert_eq!(shown(&log, 2), ["1", "2"]);
        log.push(Duration::ZERO, Level::Info, "5");
        assert_eq!(shown(&log, 2), ["1", "2"], "new lines do not move what is read");
        log.last();
        assert_eq!(shown(&log, 2), ["4", "5"]);
        log.first();
        assert_eq!(shown(&log, 3), ["0", "1", "2"]);
        log.settle(3);
        log.scroll(-1);
        assert_eq!(shown(&log, 3), ["1", "2", "3"], "the first step down already shows");
    }

    #[test]
    fn it_is_bounded() {
        let mut log = Log::default();
        for n in 0..KEPT + 3 {
            log.push(Duration::ZERO, Level::Info, &format!("{n}\n"));
        }
        assert_eq!((log.lines.len(), shown(&log, 1)), (KEPT, vec!["5002"]));
    }
}
