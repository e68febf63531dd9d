//! A picture as a list of shapes before rendering, for inspection in tests.

/// Horizontal alignment of a text relative to its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// Red, green, blue.
pub type Color = (u8, u8, u8);

pub const INK: Color = (0x22, 0x22, 0x22);
pub const GREY: Color = (0x5f, 0x5f, 0x5f);
pub const FRAME: Color = (0x9a, 0x9a, 0x9a);
pub const GRID: Color = (0xe4, 0xe4, 0xe4);
pub const BAND: Color = (0xf3, 0xf4, 0xf6);
pub const WHITE: Color = (0xff, 0xff, 0xff);

/// A piece of text on one line, centred on `y`.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    pub x: f64,
    pub y: f64,
    pub text: String,
    /// Height of the em, pixels.
    pub size: f64,
    pub color: Color,
    pub bold: bool,
    pub anchor: Anchor,
    /// Whether the text reads from bottom to top.
    pub upright: bool,
}

impl Text {
    /// Plain text that starts at (`x`, `y`).
    pub fn new(x: f64, y: f64, text: &str, size: f64, color: Color) -> Text {
        let (bold, anchor, upright) = (false, Anchor::Start, false);
        Text { x, y, text: text.to_owned(), size, color, bold, anchor, upright }
    }

    /// The same text with another anchor.
    pub fn anchored(mut self, anchor: Anchor) -> Text {
        self.anchor = anchor;
        self
    }
}

/// One thing to draw.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    Text(Text),
    /// An open path; `dash` is the length of a dash and of a gap.
    Path {
        points: Vec<(f64, f64)>,
        color: Color,
        width: u32,
        dash: Option<(i32, i32)>,
    },
    /// A closed outline, filled.
    Polygon {
        points: Vec<(f64, f64)>,
        fill: Color,
        stroke: Color,
    },
    Circle {
        center: (f64, f64),
        radius: f64,
        fill: Color,
        stroke: Color,
    },
    /// Squares side by side, row by row from the upper left one.
    Mosaic {
        corner: (f64, f64),
        side: f64,
        columns: usize,
        fills: Vec<Color>,
    },
    /// An unfilled circle.
    Ring {
        center: (f64, f64),
        radius: f64,
        color: Color,
    },
}

impl Shape {
    /// A solid straight line, one pixel wide.
    pub fn rule(from: (f64, f64), to: (f64, f64), color: Color) -> Shape {
        Shape::Path { points: vec![from, to], color, width: 1, dash: None }
    }
}

/// All shapes of a picture, from back to front.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scene {
    pub width: f64,
    pub height: f64,
    pub shapes: Vec<Shape>,
}

impl Scene {
    pub fn push(&mut self, shape: Shape) {
        self.shapes.push(shape);
    }

    pub fn text(&mut self, text: Text) {
        self.shapes.push(Shape::Text(text));
    }
}

/// Approximate width of a text in a generic sans-serif font, pixels; rather too large, because the reader's
/// font is not known.
pub fn text_width(text: &str, size: f64) -> f64 {
    let em = |c: char| match c {
        'i' | 'l' | 'j' | '.' | ',' | ':' | ';' | '|' | '\'' | '!' => 0.3,
        ' ' | 't' | 'f' | 'r' | '(' | ')' | '-' | '/' => 0.38,
        'm' | 'w' | 'M' | 'W' | '%' | '@' => 0.92,
        c if c.is_uppercase() => 0.7,
        _ => 0.61,
    };
    text.chars().map(em).sum::<f64>() * size
}

/// Units that stay on the line of their number.
const UNITS: [&str; 14] =
    ["%", "B", "KiB", "MiB", "GiB", "TiB", "MB", "GB", "MB/s", "GB/s", "s", "ms", "µs", "ns"];

/// Breaks a text at spaces so that each line fits into `width` pixels. A number keeps its unit; a word that is too long for
/// a line is broken within.
pub fn wrap(text: &str, size: f64, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words(text) {
        match lines.last_mut() {
            Some(line) if text_width(&format!("{line} {word}"), size) <= width => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.extend(pieces(&word, size, width)),
        }
    }
    lines
}

/// The words of a text, each number with its unit.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let unit = UNITS.contains(&word.trim_end_matches([',', ';', ':', '.', ')', ']']));
        match words.last_mut().filter(|last| unit && last.ends_with(|c: char| c.is_ascii_digit())) {
            Some(number) => *number = format!("{number} {word}"),
            None => words.push(word.to_owned()),
        }
    }
    words
}

/// A word in pieces that fit into `width` pixels, each of one letter at least.
fn pieces(word: &str, size: f64, width: f64) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for letter in word.chars() {
        let last = pieces.len() - 1;
        let full = text_width(&format!("{}{letter}", pieces[last]), size) > width;
        match full && !pieces[last].is_empty() {
            true => pieces.push(letter.to_string()),
            false => pieces[last].push(letter),
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_keeps_its_unit_and_a_long_word_is_broken() {
        let text = "Predictions beyond 121.5 %, and 16 B a tuple";
        for width in 40..300 {
            let lines = wrap(text, 12.0, f64::from(width));
            let fits = |line: &String| text_width(line, 12.0) <= f64::from(width);
            assert!(lines.iter().all(fits), "{width}: {lines:?}");
            let number = |line: &String| line.contains("121.5 %") || !line.contains("121.5");
            assert!(width < 60 || lines.iter().all(number), "{width}: {lines:?}");
            assert!(width < 60 || !lines.iter().any(|line| line.starts_with("B ")), "{width}: {lines:?}");
        }
        assert_eq!(wrap("abcdef", 12.0, 24.0).concat(), "abcdef");
        assert_eq!(wrap("x", 12.0, 1.0), ["x"]);
    }
}
