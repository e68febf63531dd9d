//! Which lines and sectors of memory the first iterations of a case touch.

mod look;
mod question;

pub use look::{COMMANDS, Look, SHOW, SHOW_ASIDE, allows, apply, show};
pub use question::{Question, Side, Touches};

use super::panel::Focus;

/// What is shown, and from where.
#[derive(Clone, Debug)]
pub struct PatternView {
    pub touches: Touches,
    /// Which of its sides.
    pub side: usize,
    /// Bytes of a line: one of [`LINE_SIZES`](crate::inputs::locality::LINE_SIZES), by
    /// position.
    pub line: usize,
    /// Whether lines are drawn whole, and not sector by sector.
    pub whole: bool,
    /// First iteration on the screen.
    pub row: usize,
    /// First line on the screen, among those that are touched.
    pub column: usize,
    /// Where it was asked for.
    pub back: Focus,
}

impl PatternView {
    pub fn side(&self) -> Option<&Side> {
        self.touches.sides.get(self.side)
    }

    /// Moves down, or up; drawing it stops at the end.
    pub fn step(&mut self, by: isize) {
        let last = self.side().map_or(0, |side| side.touched.sectors.len().saturating_sub(1));
        self.row = self.row.saturating_add_signed(by).min(last);
    }

    /// Moves to the right, or left.
    fn shift(&mut self, by: isize) {
        let last = self.side().map_or(0, |side| side.lines[self.line].len().saturating_sub(1));
        self.column = self.column.saturating_add_signed(by).min(last);
    }
}
