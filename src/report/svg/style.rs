//! Styles of lines: colour, marker and dash, so that neither colour vision nor a colour printer is needed.

use super::scene::{Color, Shape, WHITE};

const COLORS: usize = 7;

/// Okabe and Ito's palette for all kinds of colour vision, without its yellow, which is too light on white.
const PALETTE: [Color; COLORS] = [
    (0x00, 0x72, 0xb2),
    (0xd5, 0x5e, 0x00),
    (0x00, 0x9e, 0x73),
    (0xcc, 0x79, 0xa7),
    (0xe6, 0x9f, 0x00),
    (0x56, 0xb4, 0xe9),
    (0x22, 0x22, 0x22),
];

/// Dashes of lines after the first use of the palette, or of further runs.
const DASHES: [Option<(i32, i32)>; 3] = [None, Some((9, 4)), Some((4, 3))];

/// Dashes of references, by run.
const REFERENCES: [Option<(i32, i32)>; 3] = [Some((4, 4)), Some((12, 4)), Some((2, 5))];

/// Dashes of guides, which all have the same colour.
const GUIDES: [(i32, i32); 3] = [(2, 3), (8, 3), (14, 5)];

/// Dashes of model lines, which are thin and have the colour of the predicted line.
const MODELS: [(i32, i32); 3] = [(5, 2), (1, 2), (9, 2)];

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

/// The appearance of a style.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    pub color: Color,
    /// Dash of a line.
    pub dash: Option<(i32, i32)>,
    /// Dash of a reference.
    pub reference: Option<(i32, i32)>,
    outline: usize,
    hollow: bool,
}

impl Look {
    /// The look of a style on a chart of one run, or of several runs with this many lines each. With several
    /// runs, colour and marker distinguish the lines; dash and filling distinguish the runs. A single line
    /// has a different colour in each run.
    pub fn of(style: usize, lines_per_run: Option<usize>) -> Look {
        let (color, outline, dash, run) = match lines_per_run {
            None => (style, style, style / COLORS, 0),
            Some(1) => (style, 0, style, style),
            Some(lines) => {
                (style % lines.max(1), style % lines.max(1), style / lines.max(1), style / lines.max(1))
            }
        };
        Look {
            color: PALETTE[color % COLORS],
            dash: DASHES[dash % DASHES.len()],
            reference: REFERENCES[run % REFERENCES.len()],
            outline: outline % OUTLINES.len(),
            hollow: run % 2 == 1,
        }
    }

    /// The dash of a guide.
    pub fn guide(style: usize) -> (i32, i32) {
        GUIDES[style % GUIDES.len()]
    }

    /// The dash of the model with this index.
    pub fn model(rank: usize) -> (i32, i32) {
        MODELS[rank % MODELS.len()]
    }

    /// The marker; hollow also if the point is not certified.
    pub fn marker(&self, at: (f64, f64), radius: f64, certified: bool) -> Shape {
        let stroke = self.color;
        let fill = if certified && !self.hollow { stroke } else { WHITE };
        match OUTLINES[self.outline] {
            [] => Shape::Circle { center: at, radius, fill, stroke },
            outline => {
                let points = outline.iter().map(|(x, y)| (at.0 + x * radius, at.1 + y * radius)).collect();
                Shape::Polygon { points, fill, stroke }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_differ_in_dash_and_filling_and_lines_in_colour_and_marker() {
        let look = |run: usize, line: usize| Look::of(run * 4 + line, Some(4));
        for line in 0..4 {
            let (a, b) = (look(0, line), look(1, line));
            assert_eq!((a.color, a.outline), (b.color, b.outline), "line {line}");
            assert_ne!((a.dash, a.hollow, a.reference), (b.dash, b.hollow, b.reference), "line {line}");
            assert!(!a.hollow && b.hollow);
        }
        assert_ne!((look(0, 0).color, look(0, 0).outline), (look(0, 1).color, look(0, 1).outline));
        let alone = [0, 1].map(|run| Look::of(run, Some(1)));
        assert_ne!(alone[0].color, alone[1].color);
        assert_eq!(alone[0].outline, alone[1].outline);
    }
}
