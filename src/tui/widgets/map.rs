//! Maps of heights: two colours in a character cell, one above the other, or a character.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Style};
use ratatui::text::{Line, Span};

/// The characters of heights, from low to high, where there are neither colours nor braille.
pub const CHARACTERS: [char; 10] = [' ', '.', ':', '-', '=', '+', '*', '#', '%', '@'];

/// The largest area in a room that is not empty which is `shape` times as wide as it is tall, where a character is twice as
/// tall as wide.
pub fn fitted(shape: f64, room: Rect) -> Rect {
    let tall = (f64::from(room.height) * 2.0).min(f64::from(room.width) / shape);
    let width = ((tall * shape).round() as u16).clamp(1, room.width);
    Rect { width, height: ((tall / 2.0).round() as u16).clamp(1, room.height), ..room }
}

/// Draws every cell of `area` with the symbol and style for its column and row.
pub fn draw(area: Rect, buffer: &mut Buffer, cell: impl Fn((u16, u16)) -> (char, Style)) {
    for (x, y) in (0..area.height).flat_map(|y| (0..area.width).map(move |x| (x, y))) {
        let (symbol, style) = cell((x, y));
        buffer[(area.x + x, area.y + y)].set_char(symbol).set_style(style);
    }
}

/// Two colours in one cell; where there is none, the background of the terminal shows.
pub fn halves(upper: Option<Color>, lower: Option<Color>) -> (char, Style) {
    let style = Style::default();
    match (upper, lower) {
        (None, None) => (' ', style),
        (Some(upper), None) => ('▀', style.fg(upper)),
        (None, Some(lower)) => ('▄', style.fg(lower)),
        (Some(upper), Some(lower)) => ('▀', style.fg(upper).bg(lower)),
    }
}

/// A style with this colour for the text, if there is one.
pub fn colour(colour: Option<Color>) -> Style {
    colour.map_or_else(Style::default, |colour| Style::default().fg(colour))
}

/// The scale between its ends.
pub fn scale(low: String, high: String, steps: impl Iterator<Item = (char, Style)>) -> Line<'static> {
    let steps = steps.map(|(symbol, style)| Span::styled(symbol.to_string(), style));
    [Span::raw(low)].into_iter().chain(steps).chain([Span::raw(high)]).collect()
}
