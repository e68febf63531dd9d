//! Styles of lines: colour, marker and dash, so that neither colour vision nor a colour printer is needed.

use super::scene::{Color, GREY, Shape, WHITE};
use crate::report::series::Doubt;

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

/// Outlines of the markers around (0, 0) with radius 1; the first is a circle. There are more than colours: the second use of
/// a colour has another marker, and prints in grey still tell the lines apart.
const OUTLINES: [&[(f64, f64)]; 12] = [
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
    &[(1.2, 0.0), (-0.8, 1.1), (-0.8, -1.1)],
    &[(-1.2, 0.0), (0.8, 1.1), (0.8, -1.1)],
    &[(-1.0, -1.2), (1.0, -1.2), (-1.0, 1.2), (1.0, 1.2)],
    &[
        (0.0, -1.5),
        (0.4, -0.5),
        (1.4, -0.5),
        (0.6, 0.2),
        (0.9, 1.2),
        (0.0, 0.6),
        (-0.9, 1.2),
        (-0.6, 0.2),
        (-1.4, -0.5),
        (-0.4, -0.5),
    ],
    &[(-0.5, -1.3), (0.5, -1.3), (0.5, 1.3), (-0.5, 1.3)],
    &[
        (-1.1, -0.5),
        (-0.5, -1.1),
        (0.0, -0.6),
        (0.5, -1.1),
        (1.1, -0.5),
        (0.6, 0.0),
        (1.1, 0.5),
        (0.5, 1.1),
        (0.0, 0.6),
        (-0.5, 1.1),
        (-1.1, 0.5),
        (-0.6, 0.0),
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
    /// Whether filling tells runs apart.
    several: bool,
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
            several: lines_per_run.is_some(),
        }
    }

    /// A grey circle, for what concerns points of all lines.
    pub fn plain() -> Look {
        Look { color: GREY, dash: None, reference: None, outline: 0, hollow: true, several: false }
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
        self.outlined(at, radius, certified && !self.hollow)
    }

    /// The marker of a point. That of a doubtful one is larger, hollow unless filling tells runs apart, and has the
    /// sign of the doubt in it: ⊗ doubtful, ⊖ unsteady, a stroke down throttled.
    pub fn marker_of(&self, at: (f64, f64), radius: f64, certified: bool, doubt: Doubt) -> Vec<Shape> {
        if !doubt.any() {
            return vec![self.marker(at, radius, certified)];
        }
        let (radius, filled) = (radius + 2.0, certified && self.several && !self.hollow);
        let color = if filled { WHITE } else { self.color };
        let stroke = |(x, y): (f64, f64)| {
            let end = |sign: f64| (at.0 + sign * x * radius, at.1 + sign * y * radius);
            Shape::Path { points: vec![end(-1.0), end(1.0)], color, width: 2, dash: None }
        };
        let cross = [(0.6, 0.6), (0.6, -0.6)].into_iter().filter(|_| doubt.doubtful);
        let across = [(0.8, 0.0)].into_iter().filter(|_| doubt.unsteady);
        let down = [(0.0, 0.8)].into_iter().filter(|_| doubt.throttled);
        let signs = cross.chain(across).chain(down).map(stroke);
        std::iter::once(self.outlined(at, radius, filled)).chain(signs).collect()
    }

    fn outlined(&self, at: (f64, f64), radius: f64, filled: bool) -> Shape {
        let stroke = self.color;
        let fill = if filled { stroke } else { WHITE };
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
    use crate::tui::palette::tests::{distance, linear};

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

    #[test]
    fn lines_of_one_colour_differ_in_marker_and_dash_and_all_differ_in_grey() {
        let looks: Vec<Look> = (0..2 * COLORS).map(|style| Look::of(style, None)).collect();
        for (at, one) in looks.iter().enumerate() {
            for other in &looks[..at] {
                assert!(one.outline != other.outline || one.dash != other.dash, "{at} in grey");
                if one.color == other.color {
                    assert!(one.outline != other.outline && one.dash != other.dash, "{at}");
                }
            }
        }
    }

    /// As far apart as Okabe and Ito's own colours are; 0.02 is hardly seen side by side.
    #[test]
    fn colour_blind_people_can_tell_the_lines_apart() {
        let light = |c: Color| [c.0, c.1, c.2].map(|level| linear(f64::from(level) / 255.0));
        for (at, a) in PALETTE.iter().enumerate() {
            for b in &PALETTE[..at] {
                let apart = distance(light(*a), light(*b));
                assert!(apart > 0.075, "{a:?} and {b:?} are {apart:.3} apart");
            }
            // Lines lie on white.
            let white = distance(light(*a), [1.0; 3]);
            assert!(white > 0.2, "{a:?} is {white:.3} from white");
        }
    }

    #[test]
    fn a_doubtful_point_is_hollow_and_has_its_sign_in_it() {
        let look = Look::of(0, None);
        let shapes = |doubt| look.marker_of((10.0, 10.0), 4.0, true, doubt);
        let filled = |shape: &Shape| matches!(shape, Shape::Circle { fill, stroke, .. } if fill == stroke);
        assert!(filled(&shapes(Doubt::default())[0]) && shapes(Doubt::default()).len() == 1);
        let of = |doubtful, unsteady, throttled| shapes(Doubt { doubtful, unsteady, throttled });
        let (cross, bar, down) = (of(true, false, false), of(false, true, false), of(false, false, true));
        assert_eq!([cross.len(), bar.len(), down.len(), of(true, true, true).len()], [3, 2, 2, 5]);
        assert!([&cross, &bar, &down].iter().all(|shapes| !filled(&shapes[0])));
        assert!(cross[1..] != bar[1..] && bar[1..] != down[1..]);
        // Where filling tells runs apart, it stays, and the sign is white.
        let first = Look::of(0, Some(2)).marker_of(
            (0.0, 0.0),
            4.0,
            true,
            Doubt { doubtful: true, ..Doubt::default() },
        );
        assert!(filled(&first[0]) && matches!(first[1], Shape::Path { color: WHITE, .. }));
    }
}
