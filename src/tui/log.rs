//! The lines of a run's log.

use std::collections::VecDeque;
use std::time::Duration;

use super::words;
use crate::engine::protocol::Level;

/// Number of lines kept; older lines are in the event stream of the run's folder.
const KEPT: usize = 5000;

/// A line of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Time since the start of the run.
    pub at: Duration,
    pub level: Level,
    pub text: String,
}

/// A row of the screen: a whole line, or a part of a wrapped line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row<'l> {
    pub line: &'l Line,
    /// Whether this is the first row of the line.
    pub begins: bool,
    pub text: String,
}

/// The newest lines of a run, and the scroll position of the reader.
#[derive(Clone, Debug)]
pub struct Log {
    lines: VecDeque<Line>,
    /// Width of a row in columns.
    columns: usize,
    /// Number of rows below the window; 0 follows the end.
    back: usize,
}

impl Default for Log {
    fn default() -> Log {
        Log { lines: VecDeque::new(), columns: usize::MAX, back: 0 }
    }
}

impl Log {
    /// Adds a text, split into lines.
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

    /// Whether a line with this text is still kept.
    pub fn says(&self, text: &str) -> bool {
        self.lines.iter().any(|line| line.text == text)
    }

    /// Scrolls by rows, downwards if positive: at most to the end, which is then followed; [`settle`](Self::settle) limits
    /// the position to the first row.
    pub fn step(&mut self, by: isize) {
        self.back = self.back.saturating_add_signed(by.saturating_neg());
    }

    /// Wraps lines at `columns`, and limits the scroll position so that a window of `height` rows is full.
    pub fn settle(&mut self, height: usize, columns: usize) {
        self.columns = columns;
        if self.back > 0 {
            let rows = self.rows().take(self.back.saturating_add(height)).count();
            self.back = self.back.min(rows.saturating_sub(height));
        }
    }

    /// Number of rows below the window.
    pub fn below(&self) -> usize {
        self.back
    }

    /// The rows in a window of `height` rows, after [`settle`](Self::settle).
    pub fn window(&self, height: usize) -> Vec<Row<'_>> {
        let mut rows: Vec<Row> = self.rows().skip(self.back).take(height).collect();
        rows.reverse();
        rows
    }

    /// The rows from last to first, computed lazily: wrapping thousands of lines to show a few would be a
    /// waste.
    fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.lines.iter().rev().flat_map(|line| {
            let texts = broken(&line.text, self.columns).into_iter().enumerate().rev();
            texts.map(move |(at, text)| Row { line, begins: at == 0, text })
        })
    }
}

/// Wraps a line into rows; an empty line is one empty row.
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
        log.step(-2);
        assert_eq!(shown(&log, 2), ["1", "2"]);
        log.push(Duration::ZERO, Level::Info, "5");
        assert_eq!(shown(&log, 2), ["1", "2"], "new lines do not move what is read");
        log.step(isize::MAX);
        assert_eq!(shown(&log, 2), ["4", "5"]);
        log.step(isize::MIN);
        log.settle(3, 80);
        assert_eq!(shown(&log, 3), ["0", "1", "2"]);
        log.step(1);
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
        log.step(-1);
        log.push(Duration::ZERO, Level::Info, "new, of three rows at least");
        assert_eq!(shown(&log, 2), ["a", ""], "new rows do not move what is read");
        log.step(isize::MIN);
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
