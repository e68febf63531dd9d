//! A field as a map of its heights.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Style};
use ratatui::text::Line;

use crate::case::units::three_digits;
use crate::tui::chart::Canvas;
use crate::tui::theme::Theme;
use crate::tui::widgets::map::{self, CHARACTERS};
use crate::tui::widgets::{self, below};

/// The order in which dots of a square of four by four light up as a height rises (Bayer 1973).
const ORDER: [[u32; 4]; 4] = [[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]];

/// Columns of the scale's colours or characters.
const SCALE: usize = 16;

/// A field to be drawn.
pub struct Field<'a> {
    pub columns: u32,
    pub rows: u32,
    pub values: &'a [f32],
    /// The heights at the ends of the scale.
    pub range: Option<[f64; 2]>,
    pub theme: Theme,
}

/// How cells of a terminal show heights.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Means {
    /// Two colours, one above the other.
    Halves,
    /// Eight dots.
    Dots,
    Characters,
}

impl Means {
    fn of(theme: Theme) -> Means {
        match (theme.utf8, theme.ramp().is_some()) {
            (true, true) => Means::Halves,
            (true, false) => Means::Dots,
            (false, _) => Means::Characters,
        }
    }

    /// Columns and rows of heights in a cell.
    fn grid(self) -> (u16, u16) {
        match self {
            Means::Halves => (1, 2),
            Means::Dots => (2, 4),
            Means::Characters => (1, 1),
        }
    }
}

/// The cells that the picture takes of the room above its scale, centred: as wide for its height as the field is, where a
/// character is twice as tall as wide.
fn inside(columns: u32, rows: u32, room: Rect) -> Rect {
    let height = room.height.saturating_sub(1);
    if columns == 0 || rows == 0 || room.width == 0 || height == 0 {
        return Rect { width: 0, height: 0, ..room };
    }
    let area = map::fitted(f64::from(columns) / f64::from(rows), Rect { height, ..room });
    Rect { x: room.x + (room.width - area.width) / 2, ..area }
}

/// The place in the field, in [0, 1)², of a cell of the room in which it is drawn; `None` beside the picture.
pub fn place(columns: u32, rows: u32, room: Rect, (column, row): (u16, u16)) -> Option<[f64; 2]> {
    let area = inside(columns, rows, room);
    let share = |at: u16, from: u16, cells: u16| {
        let at = at.checked_sub(from).filter(|at| *at < cells)?;
        Some((f64::from(at) + 0.5) / f64::from(cells))
    };
    Some([share(column, area.x, area.width)?, share(row, area.y, area.height)?])
}

impl Field<'_> {
    pub fn draw(&self, room: Rect, buffer: &mut Buffer) {
        let area = inside(self.columns, self.rows, room);
        let means = Means::of(self.theme);
        map::draw(area, buffer, |at| self.cell(means, at, area));
        let scale = Rect { height: u16::from(room.height > area.height), ..below(area.height, room) };
        widgets::lines(self.scale(means), scale, buffer);
    }

    /// Symbol and style of a cell of the picture.
    fn cell(&self, means: Means, (x, y): (u16, u16), area: Rect) -> (char, Style) {
        let (across, down) = means.grid();
        let share = |i: u16, j: u16| {
            let place = (x * across + i, y * down + j);
            self.share(self.height(place, (area.width * across, area.height * down))?)
        };
        match means {
            Means::Halves => map::halves(self.shade(share(0, 0)), self.shade(share(0, 1))),
            Means::Characters => (share(0, 0).map_or(' ', character), map::colour(self.shade(share(0, 0)))),
            Means::Dots => {
                let lit = |i: u16, j: u16| {
                    share(i, j).is_some_and(|share| is_lit(share, x * across + i, y * down + j))
                };
                (dots(lit), Style::default())
            }
        }
    }

    fn shade(&self, share: Option<f64>) -> Option<Color> {
        self.theme.shade(share?)
    }

    /// The mean height of the part of the field behind one of `of` places; `None` without a value.
    fn height(&self, (x, y): (u16, u16), (width, height): (u16, u16)) -> Option<f64> {
        let range = |at: u16, of: u16, values: u32| {
            let edge = |at: u16| u32::from(at) * values / u32::from(of.max(1));
            let first = edge(at);
            first..edge(at + 1).max(first + 1).min(values)
        };
        let columns = range(x, width, self.columns);
        let cells = range(y, height, self.rows).flat_map(|row| {
            columns.clone().map(move |column| row as usize * self.columns as usize + column as usize)
        });
        let there = cells.filter_map(|at| self.values.get(at)).filter(|value| value.is_finite());
        let (sum, count) =
            there.fold((0.0, 0_u32), |(sum, count), value| (sum + f64::from(*value), count + 1));
        (count > 0).then(|| sum / f64::from(count))
    }

    /// Where a height is on the scale, from 0 to 1; in the middle of a flat field.
    fn share(&self, height: f64) -> Option<f64> {
        let [low, high] = self.range?;
        Some(if high > low { ((height - low) / (high - low)).clamp(0.0, 1.0) } else { 0.5 })
    }

    /// The scale from its low to its high end; none without values.
    fn scale(&self, means: Means) -> Option<Line<'static>> {
        let [low, high] = self.range?;
        let step = |at: usize| {
            let share = (at as f64 + 0.5) / SCALE as f64;
            match means {
                Means::Halves => ('█', map::colour(self.shade(Some(share)))),
                Means::Characters => (character(share), map::colour(self.shade(Some(share)))),
                Means::Dots => (dots(|x, y| is_lit(share, x, y)), Style::default()),
            }
        };
        let [from, to] = [low, high].map(three_digits);
        Some(map::scale(format!(" {from} "), format!(" {to}"), (0..SCALE).map(step)))
    }
}

fn character(share: f64) -> char {
    let step = (share * CHARACTERS.len() as f64) as usize;
    CHARACTERS[step.min(CHARACTERS.len() - 1)]
}

/// Whether the dot at this place lights up for a height.
fn is_lit(share: f64, x: u16, y: u16) -> bool {
    share > (f64::from(ORDER[usize::from(y % 4)][usize::from(x % 4)]) + 0.5) / 16.0
}

/// The character of the dots that are lit; a blank without any.
fn dots(lit: impl Fn(u16, u16) -> bool) -> char {
    let all = (0..4).flat_map(|y| (0..2).map(move |x| (x, y)));
    let bits: u8 =
        all.filter(|(x, y)| lit(*x, *y)).map(|(x, y)| Canvas::Braille.bit(x.into(), y.into())).sum();
    if bits == 0 { ' ' } else { Canvas::Braille.symbol(bits) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(theme: Theme, values: &[f32], columns: u32) -> Vec<String> {
        let room = Rect::new(0, 0, 12, 4);
        let mut buffer = Buffer::empty(room);
        let rows = values.len() as u32 / columns;
        let field = Field { columns, rows, values, range: Some([0.0, 1.0]), theme };
        field.draw(room, &mut buffer);
        (0..4).map(|y| (0..12).map(|x| buffer[(x, y)].symbol()).collect()).collect()
    }

    #[test]
    fn heights_are_characters_dots_or_colours() {
        let ascii = Theme { utf8: false, ..Theme::PLAIN };
        let wave = [0.0, 0.5, 1.0, f32::NAN];
        assert_eq!(drawn(ascii, &wave, 4)[0], "   +++@@@   ", "a gap is blank");
        assert_eq!(drawn(Theme::PLAIN, &wave, 4)[0], "   ⢕⢕⢕⣿⣿⣿   ");
        let colour = Theme { colour: true, ..Theme::PLAIN };
        assert_eq!(drawn(colour, &wave, 4)[0], "▀▀▀▀▀▀▀▀▀   ");
    }

    #[test]
    fn the_scale_is_under_the_picture() {
        let ascii = Theme { utf8: false, ..Theme::PLAIN };
        let rows = drawn(ascii, &[0.0; 4], 2);
        assert!(rows[3].starts_with(" 0 "), "{rows:?}");
    }

    #[test]
    fn a_click_finds_its_place_in_the_field() {
        let room = Rect::new(10, 5, 40, 11);
        let area = inside(100, 100, room);
        assert_eq!(area, Rect::new(20, 5, 20, 10));
        assert_eq!(place(100, 100, room, (19, 5)), None);
        assert_eq!(place(100, 100, room, (20, 5)), Some([0.025, 0.05]));
        let far = place(100, 100, room, (39, 14)).expect("inside");
        assert!(far.iter().all(|share| *share < 1.0 && *share > 0.9), "{far:?}");
        assert_eq!(place(100, 100, room, (39, 15)), None, "the scale");
        assert_eq!(place(0, 0, room, (20, 5)), None);
    }
}
