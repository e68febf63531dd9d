//! A field as a map of its heights.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::case::units::three_digits;
use crate::tui::theme::Theme;

/// The characters of heights, from low to high, where there are neither colours nor braille.
const CHARACTERS: [&str; 10] = [" ", ".", ":", "-", "=", "+", "*", "#", "%", "@"];

/// Bits of Unicode's braille patterns, by row and column of the dot.
const BRAILLE: [[u32; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

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
    let shape = f64::from(columns) / f64::from(rows);
    let tall = (f64::from(height) * 2.0).min(f64::from(room.width) / shape);
    let width = ((tall * shape).round() as u16).clamp(1, room.width);
    let height = ((tall / 2.0).round() as u16).clamp(1, height);
    Rect { x: room.x + (room.width - width) / 2, y: room.y, width, height }
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
        for y in 0..area.height {
            for x in 0..area.width {
                let (symbol, style) = self.cell(means, (x, y), area);
                let mut bytes = [0; 4];
                buffer.set_string(area.x + x, area.y + y, symbol.encode_utf8(&mut bytes), style);
            }
        }
        let scale = Rect { y: area.y + area.height, height: u16::from(room.height > area.height), ..room };
        super::super::lines(self.scale(means), scale, buffer);
    }

    /// Symbol and style of a cell of the picture.
    fn cell(&self, means: Means, (x, y): (u16, u16), area: Rect) -> (char, Style) {
        let (across, down) = means.grid();
        let share = |i: u16, j: u16| {
            let place = (x * across + i, y * down + j);
            self.share(self.height(place, (area.width * across, area.height * down))?)
        };
        match means {
            Means::Halves => self.halves(share(0, 0), share(0, 1)),
            Means::Characters => (share(0, 0).map_or(' ', character), self.colour(share(0, 0))),
            Means::Dots => {
                let places = (0..down).flat_map(|j| (0..across).map(move |i| (i, j)));
                let lit = places.filter(|(i, j)| {
                    share(*i, *j).is_some_and(|share| {
                        let order = ORDER[usize::from((y * down + j) % 4)][usize::from((x * across + i) % 4)];
                        share > (f64::from(order) + 0.5) / 16.0
                    })
                });
                let bits: u32 = lit.map(|(i, j)| BRAILLE[usize::from(j)][usize::from(i)]).sum();
                (char::from_u32(0x2800 + bits).filter(|_| bits > 0).unwrap_or(' '), Style::default())
            }
        }
    }

    fn colour(&self, share: Option<f64>) -> Style {
        let colour = share.and_then(|share| self.theme.shade(share));
        colour.map_or_else(Style::default, |colour| Style::default().fg(colour))
    }

    fn halves(&self, upper: Option<f64>, lower: Option<f64>) -> (char, Style) {
        let shade = |share: Option<f64>| share.and_then(|share| self.theme.shade(share));
        let style = Style::default();
        match (shade(upper), shade(lower)) {
            (None, None) => (' ', style),
            (Some(upper), None) => ('▀', style.fg(upper)),
            (None, Some(lower)) => ('▄', style.fg(lower)),
            (Some(upper), Some(lower)) => ('▀', style.fg(upper).bg(lower)),
        }
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
                Means::Halves => Span::styled("█", self.colour(Some(share))),
                Means::Characters => Span::styled(character(share).to_string(), self.colour(Some(share))),
                Means::Dots => Span::raw(dots(share).to_string()),
            }
        };
        let [from, to] = [low, high].map(three_digits);
        let ends = (Span::raw(format!(" {from} ")), Span::raw(format!(" {to}")));
        Some(Line::from([ends.0].into_iter().chain((0..SCALE).map(step)).chain([ends.1]).collect::<Vec<_>>()))
    }
}

fn character(share: f64) -> char {
    let step = (share * CHARACTERS.len() as f64) as usize;
    CHARACTERS[step.min(CHARACTERS.len() - 1)].chars().next().unwrap_or(' ')
}

/// A cell of even height in dots.
fn dots(share: f64) -> char {
    let bits = (0..4).flat_map(|y| (0..2).map(move |x| (x, y)));
    let lit = bits.filter(|(x, y): &(usize, usize)| share > (f64::from(ORDER[*y][*x]) + 0.5) / 16.0);
    let bits: u32 = lit.map(|(x, y)| BRAILLE[y][x]).sum();
    char::from_u32(0x2800 + bits).unwrap_or(' ')
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
