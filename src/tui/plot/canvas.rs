//! Lines made of dots, with eight, two or one dots per cell.

use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::tui::chart::Canvas;

/// Bits of Unicode's braille patterns, indexed by row and column of the dot.
const BRAILLE: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
/// Symbols indexed by the bits of the upper and the lower half.
const HALVES: [char; 4] = [' ', '▀', '▄', '█'];

impl Canvas {
    /// Columns and rows of dots in a cell.
    fn dots(self) -> (usize, usize) {
        match self {
            Canvas::Braille => (2, 4),
            Canvas::HalfBlock => (1, 2),
            Canvas::Ascii => (1, 1),
        }
    }

    /// The bit of a dot in its cell.
    pub fn bit(self, x: usize, y: usize) -> u8 {
        match self {
            Canvas::Braille => BRAILLE[y][x],
            Canvas::HalfBlock => 1 << y,
            Canvas::Ascii => 1,
        }
    }

    pub fn symbol(self, bits: u8) -> char {
        match self {
            Canvas::Braille => char::from_u32(0x2800 + u32::from(bits)).unwrap_or('.'),
            Canvas::HalfBlock => HALVES[usize::from(bits & 3)],
            Canvas::Ascii => '.',
        }
    }
}

/// The dots of one series.
#[derive(Clone, Debug)]
pub struct Dots {
    area: Rect,
    canvas: Canvas,
    cells: Vec<u8>,
}

impl Dots {
    pub fn new(area: Rect, canvas: Canvas) -> Dots {
        Dots { area, canvas, cells: vec![0; usize::from(area.width) * usize::from(area.height)] }
    }

    /// Adds the part inside the area of a straight line between two places, given in cells from the area's
    /// upper left corner.
    pub fn stroke(&mut self, from: (f64, f64), to: (f64, f64)) {
        let size = (f64::from(self.area.width), f64::from(self.area.height));
        let Some((from, to)) = clipped(from, to, size) else { return };
        let (columns, rows) = self.canvas.dots();
        let (columns, rows) = (columns as f64, rows as f64);
        let (dx, dy) = ((to.0 - from.0) * columns, (to.1 - from.1) * rows);
        let steps = dx.abs().max(dy.abs()).ceil().max(1.0);
        for step in 0..=steps as usize {
            let t = step as f64 / steps;
            self.dot(from.0 * columns + dx * t, from.1 * rows + dy * t);
        }
    }

    fn dot(&mut self, x: f64, y: f64) {
        let ((x, y), (columns, rows)) = ((x as usize, y as usize), self.canvas.dots());
        let width = usize::from(self.area.width);
        let bit = self.canvas.bit(x % columns, y % rows);
        if x / columns < width
            && let Some(cell) = self.cells.get_mut(y / rows * width + x / columns)
        {
            *cell |= bit;
        }
    }

    /// Writes the cells that contain a dot, over their previous contents.
    pub fn draw(&self, style: Style, buffer: &mut Buffer) {
        self.each(buffer, |bits, cell| {
            cell.set_char(self.canvas.symbol(bits)).set_style(style);
        });
    }

    /// Like [`draw`](Self::draw), with this symbol instead of dots.
    pub fn draw_as(&self, symbol: &str, style: Style, buffer: &mut Buffer) {
        self.each(buffer, |_, cell| {
            cell.set_symbol(symbol).set_style(style);
        });
    }

    fn each(&self, buffer: &mut Buffer, mut write: impl FnMut(u8, &mut Cell)) {
        let width = usize::from(self.area.width);
        for (index, bits) in self.cells.iter().enumerate().filter(|(_, bits)| **bits != 0) {
            let (x, y) = ((index % width) as u16, (index / width) as u16);
            write(*bits, &mut buffer[(self.area.x + x, self.area.y + y)]);
        }
    }
}

/// A position in cells.
type Place = (f64, f64);

/// The part of a straight line inside a rectangle at the origin (Liang and Barsky 1984).
fn clipped(from: Place, to: Place, size: (f64, f64)) -> Option<(Place, Place)> {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let (mut enter, mut leave) = (0.0f64, 1.0f64);
    let edges = [(-dx, from.0), (dx, size.0 - from.0), (-dy, from.1), (dy, size.1 - from.1)];
    for (towards, distance) in edges {
        if towards == 0.0 {
            if distance < 0.0 {
                return None;
            }
        } else if towards < 0.0 {
            enter = enter.max(distance / towards);
        } else {
            leave = leave.min(distance / towards);
        }
    }
    let at = |t: f64| (from.0 + dx * t, from.1 + dy * t);
    (enter <= leave).then(|| (at(enter), at(leave)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(canvas: Canvas, from: Place, to: Place) -> Vec<String> {
        let area = Rect::new(0, 0, 4, 2);
        let (mut dots, mut buffer) = (Dots::new(area, canvas), Buffer::empty(area));
        dots.stroke(from, to);
        dots.draw(Style::default(), &mut buffer);
        let row = |y| (0..4).map(|x| buffer[(x, y)].symbol()).collect::<String>();
        (0..2).map(row).collect()
    }

    #[test]
    fn each_canvas_has_its_own_dots() {
        assert_eq!(drawn(Canvas::Braille, (0.0, 0.0), (3.9, 0.0)), ["⠉⠉⠉⠉", "    "]);
        assert_eq!(drawn(Canvas::HalfBlock, (0.0, 0.6), (3.9, 0.6)), ["▄▄▄▄", "    "]);
        assert_eq!(drawn(Canvas::HalfBlock, (1.5, 0.0), (1.5, 1.9)), [" █  ", " █  "]);
        assert_eq!(drawn(Canvas::Ascii, (0.5, 1.5), (3.5, 1.5)), ["    ", "...."]);
    }

    #[test]
    fn a_line_that_leaves_the_area_is_cut_at_its_edge() {
        assert_eq!(drawn(Canvas::Ascii, (-100.0, 0.5), (2.5, 0.5)), ["... ", "    "]);
        assert_eq!(drawn(Canvas::Ascii, (1.5, -50.0), (1.5, 1e9)), [" .  ", " .  "]);
        assert_eq!(drawn(Canvas::Ascii, (-5.0, -5.0), (9.0, -1.0)), ["    ", "    "]);
        assert_eq!(drawn(Canvas::Ascii, (9.0, 1.0), (9.0, 0.0)), ["    ", "    "]);
    }
}
