//! Lines in dots, eight to a cell.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::tui::theme::Theme;

/// Bits of Unicode's braille patterns, by row and column of the dot.
const BITS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

/// The dots of one series.
#[derive(Clone, Debug)]
pub struct Dots {
    area: Rect,
    cells: Vec<u8>,
}

impl Dots {
    pub fn new(area: Rect) -> Dots {
        Dots { area, cells: vec![0; usize::from(area.width) * usize::from(area.height)] }
    }

    /// A straight line between two places, in cells from the area's upper left corner.
    pub fn stroke(&mut self, from: (f64, f64), to: (f64, f64)) {
        let (dx, dy) = ((to.0 - from.0) * 2.0, (to.1 - from.1) * 4.0);
        let steps = dx.abs().max(dy.abs()).ceil().max(1.0);
        for step in 0..=steps as usize {
            let t = step as f64 / steps;
            self.dot(from.0 * 2.0 + dx * t, from.1 * 4.0 + dy * t);
        }
    }

    fn dot(&mut self, x: f64, y: f64) {
        let (x, y) = (x as usize, y as usize);
        let width = usize::from(self.area.width);
        if x / 2 < width
            && let Some(cell) = self.cells.get_mut(y / 4 * width + x / 2)
        {
            *cell |= BITS[y % 4][x % 2];
        }
    }

    /// Writes the cells that have a dot, over whatever is there.
    pub fn draw(&self, theme: Theme, style: Style, buffer: &mut Buffer) {
        let width = usize::from(self.area.width);
        for (index, bits) in self.cells.iter().enumerate().filter(|(_, bits)| **bits != 0) {
            let (x, y) = ((index % width) as u16, (index / width) as u16);
            let pattern = char::from_u32(0x2800 + u32::from(*bits)).filter(|_| theme.utf8);
            buffer[(self.area.x + x, self.area.y + y)].set_char(pattern.unwrap_or('.')).set_style(style);
        }
    }
}
