//! What tells one line from another: colour, marker and dash, so that neither colour
//! vision nor a colour printer is needed.

use super::scene::{Color, Shape, WHITE};

/// So many colours there are: a style and the one so many further share theirs.
pub const COLORS: usize = 7;

/// Okabe and Ito's palette for all kinds of colour vision, without its yellow, which
/// is too light on white.
const PALETTE: [Color; COLORS] = [
    (0x00, 0x72, 0xb2),
    (0xd5, 0x5e, 0x00),
    (0x00, 0x9e, 0x73),
    (0xcc, 0x79, 0xa7),
    (0xe6, 0x9f, 0x00),
    (0x56, 0xb4, 0xe9),
    (0x22, 0x22, 0x22),
];

/// Dashes of the lines' second and third use of the palette.
const DASHES: [Option<(i32, i32)>; 3] = [None, Some((9, 4)), Some((4, 3))];

/// Dash of a reference, which is no sweep.
pub const REFERENCE: Option<(i32, i32)> = Some((4, 4));

/// Outlines of the markers around (0, 0) with radius 1; the first is a circle.
const OUTLINES: [&[(f64, f64)]; 6] = [
    &[],
    &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
    &[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)],
    &[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)],
    &[(0.0, 1.2), (1.1, -0.8), (-1.1, -0.8)],
    &[
        (-1.2, -0.4),
        (-0.4, -0.4),
        (-0.4, -1.2),
        (0.4, -1.2),
        (0.4, -0.4),
        (1.2, -0.4),
        (1.2, 0.4),
        (0.4, 0.4),
        (0.4, 1.2),
        (-0.4, 1.2),
        (-0.4, 0.4),
        (-1.2, 0.4),
    ],
];

pub fn color(style: usize) -> Color {
    PALETTE[style % PALETTE.len()]
}

pub fn dash(style: usize) -> Option<(i32, i32)> {
    DASHES[style / PALETTE.len() % DASHES.len()]
}

/// The marker of a style; hollow for what is not certified.
pub fn marker(style: usize, at: (f64, f64), radius: f64, certified: bool) -> Shape {
    let stroke = color(style);
    let fill = if certified { stroke } else { WHITE };
    match OUTLINES[style % OUTLINES.len()] {
        [] => Shape::Circle { center: at, radius, fill, stroke },
        outline => {
            let points = outline.iter().map(|(x, y)| (at.0 + x * radius, at.1 + y * radius)).collect();
            Shape::Polygon { points, fill, stroke }
        }
    }
}
