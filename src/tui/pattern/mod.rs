//! The lines and sectors of memory that the first iterations of a case touch, or its sparse matrix.

mod question;

pub use question::{Pattern, Picture, Question, Side};

use super::focus::Focus;
use super::widgets::list::moved;

/// The pattern view and its settings.
#[derive(Clone, Debug)]
pub struct PatternView {
    pub pattern: Pattern,
    /// Index of the shown side.
    pub side: usize,
    /// Index of the line size in [`LINE_SIZES`](crate::inputs::locality::LINE_SIZES).
    pub line: usize,
    /// Whether lines are drawn whole rather than sector by sector.
    pub whole: bool,
    /// First iteration on the screen.
    pub row: usize,
    /// First line on the screen, among the lines touched.
    pub column: usize,
    /// The panel to return to.
    pub back: Focus,
}

impl PatternView {
    pub fn side(&self) -> Option<&Side> {
        self.pattern.sides().get(self.side)
    }

    /// Whether there are rows and columns to move among: a matrix is shown whole.
    pub fn scrolls(&self) -> bool {
        self.side().is_some()
    }

    /// Moves down, or up if negative; stops at the end.
    pub fn step(&mut self, by: isize) {
        self.row = moved(self.row, by, self.side().map_or(0, |side| side.touched.sectors.len()));
    }

    /// Moves to the right, or to the left if negative.
    pub fn shift(&mut self, by: isize) {
        self.column = moved(self.column, by, self.side().map_or(0, |side| side.lines[self.line].len()));
    }
}
