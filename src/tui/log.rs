//! The lines of a run's log.

use std::collections::VecDeque;
use std::time::Duration;

use super::words;
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

/// A row of the screen: a line as far as it fits, or what follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row<'l> {
    pub line: &'l Line,
    /// Whether the line begins here.
    pub begins: bool,
    pub text: String,
}

/// The newest lines of a run, and how far back the reader has scrolled.
#[derive(Clone, Debug)]
pub struct Log {
    lines: VecDeque<Line>,
    /// Columns of a row.
    columns: usize,
    /// Rows below the last one on the screen; 0 follows the end.
    back: usize,
}

impl Default for Log {
    fn default() -> Log {
        Log { lines: VecDeque::new(), columns: usize::MAX, back: 0 }
    }
}

impl Log {
    /// Adds a text, one line for each of its own.
    pub fn push(&mut self, at: Duration, level: Level, text: &str) {
        for text in text.lines() {
            if self.back > 0 {
                self.back = self.back.saturating_add(broken(text, self.columns).len());
            }
            self.lines.push_back(Line { at, level, text: text.to_owned() });
            if self.lines.len() > KEPT {
                self.lines.pop_front();
            }
        }
    }

    /// Whether a line with this text is among those kept.
    pub fn says(&self, text: &str) -> bool {
        self.lines.iter().any(|line| line.text == text)
    }

    /// Scrolls by rows, backwards where positive; [`settle`](Self::settle) stops at the first.
    pub fn scroll(&mut self, by: isize) {
        self.back = self.back.saturating_add_signed(by);
    }

    /// To the first line.
    pub fn first(&mut self) {
        self.back = usize::MAX;
    }

    /// To the end, which is then followed.
    pub fn last(&mut self) {
        self.back = 0;
    }

    /// Breaks lines at so many columns, and scrolls back no further than to a full window of
    /// `height` rows.
    pub fn settle(&mut self, height: usize, columns: usize) {
        self.columns = columns;
        if self.back > 0 {
            let rows = self.rows().take(self.back.saturating_add(height)).count();
            self.back = self.back.min(rows.saturating_sub(height));
        }
    }

    /// Rows below those shown.
    pub fn below(&self) -> usize {
        self.back
    }

    /// The rows that a window of `height` shows, once it has settled.
    pub fn window(&self, height: usize) -> Vec<Row<'_>> {
        let mut rows: Vec<Row> = self.rows().skip(self.back).take(height).collect();
        rows.reverse();
        rows
    }

    /// The last first: nobody breaks thousands of lines to see a few.
    fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.lines.iter().rev().flat_map(|line| {
            let texts = broken(&line.text, self.columns).into_iter().enumerate().rev();
            texts.map(move |(at, text)| Row { line, begins: at == 0, text })
        })
    }
}

/// A line in rows: an empty one has a row as well.
fn broken(text: &str, columns: usize) -> Vec<String> {
    if text.is_empty() { vec![String::new()] } else { words::wrap(text, columns) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(log: &Log, height: usize) -> Vec<String> {
        log.window(height).into_iter().map(|row| row.text).collect()
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
        log.settle(3, 80);
        assert_eq!(shown(&log, 3), ["0", "1", "2"]);
        log.scroll(-1);
        assert_eq!(shown(&log, 3), ["1", "2", "3"], "the first step down already shows");
    }

    #[test]
    fn long_lines_are_broken_and_every_row_can_be_scrolled_to() {
        let mut log = Log::default();
        for text in ["written: reports/a-very-long-name", "", "done"] {
            log.push(Duration::ZERO, Level::Info, &format!("{text}\n"));
        }
        log.push(Duration::ZERO, Level::Info, "a\n\nb");
        log.settle(4, 12);
        assert_eq!(shown(&log, 4), ["done", "a", "", "b"]);
        log.scroll(1);
        log.push(Duration::ZERO, Level::Info, "new, of three rows at least");
        assert_eq!(shown(&log, 2), ["a", ""], "new rows do not move what is read");
        log.first();
        log.settle(4, 12);
        assert_eq!(shown(&log, 4), ["written:", "reports/a-ve", "ry-long-name", ""]);
        let begins: Vec<bool> = log.window(4).iter().map(|row| row.begins).collect();
        assert_eq!(begins, [true, false, false, true]);
    }

    #[test]
    fn it_is_bounded() {
        let mut log = Log::default();
        for n in 0..KEPT + 3 {
            log.push(Duration::ZERO, Level::Info, &format!("{n}\n"));
        }
        assert_eq!((log.lines.len(), shown(&log, 1)), (KEPT, vec!["5002".to_owned()]));
    }
}
