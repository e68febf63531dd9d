//! sengupta2007, plate 1: the height of shallow water, step by step, drawn from the pictures that a run has recorded (§4.3).

use std::borrow::Cow;
use std::collections::BTreeSet;

use anyhow::{Result, bail};

use crate::case::{Case, Snapshot, Verdict};
use crate::report::cell::Cell;
use crate::report::figures::caption::caption;
use crate::report::figures::mark::csv;
use crate::report::figures::platform::{Platform, separate};
use crate::report::figures::{Draw, Drawn, Figure};
use crate::report::svg::page::{LABEL, MARGIN, Page, SMALL};
use crate::report::svg::paint::svg;
use crate::report::svg::scene::{Anchor, Color, GREY, INK, Shape, Text};
use crate::report::verdicts::{NamedRun, label};

const NAME: &str = "sengupta2007/plate1";
const TITLE: &str = "Waves on shallow water";
const CLAIM: &str = "sengupta2007, plate 1: shallow water of 64², 128² and 256² cells, by tridiagonal systems along rows and columns";

pub const FIGURE: Figure = Figure {
    name: Cow::Borrowed(NAME),
    about: Cow::Borrowed("the height of shallow water, from the pictures that a run has recorded"),
    recipes: Cow::Borrowed(&["sengupta2007/plate1"]),
    extension: "svg",
    pictures: true,
    draw: Draw::Own(draw),
};

/// Frames of a case, cells along the longer side of a frame, and pixels of a cell.
const FRAMES: usize = 4;
const CELLS: u32 = 44;
const SIDE: f64 = 4.0;

/// Most cases that are drawn.
const MOST_CASES: usize = 8;

/// Steps of colour: of water below rest, at rest, and above.
const LEVELS: f64 = 12.0;
const LOW: Color = (0x12, 0x3f, 0x74);
const REST: Color = (0xf4, 0xf3, 0xee);
const HIGH: Color = (0xa4, 0x3b, 0x06);

/// A case and its frames.
struct Strip {
    platform: String,
    name: String,
    frames: Vec<Frame>,
    /// The largest height of its frames, above rest or below.
    size: f32,
}

struct Frame {
    when: String,
    columns: usize,
    values: Vec<f32>,
}

fn draw(runs: &[NamedRun]) -> Result<Drawn> {
    let platforms = separate(runs);
    let mut strips: Vec<Strip> = platforms.iter().flat_map(strips).collect();
    if strips.is_empty() {
        bail!(
            "there is no picture of shallow water that was certified (measure: {{snapshots: 8}} keeps them)"
        );
    }
    let more = strips.len().saturating_sub(MOST_CASES);
    strips.truncate(MOST_CASES);
    let drawn: BTreeSet<&str> = strips.iter().map(|strip| strip.platform.as_str()).collect();
    let shown: Vec<Platform> =
        platforms.iter().filter(|platform| drawn.contains(platform.label.as_str())).cloned().collect();
    let mut lines =
        vec!["Brown water is above rest, blue water below; each row of pictures has its own scale, in units of the depth at rest".to_owned()];
    lines.extend((more > 0).then(|| format!("{more} more cases have pictures that are not drawn")));
    let points = "Pictures are taken between samples, and of larger grids they are means of cells";
    let runs = shown.iter().map(|platform| format!("{}: {}", platform.label, platform.origin())).collect();
    let caption = crate::report::svg::Caption { runs, ..caption(CLAIM, points, &shown, &[], &lines) };
    let width = 2.0 * MARGIN + FRAMES as f64 * (SIDE * f64::from(CELLS) + 10.0) - 10.0;
    let mut page = Page::begin(width, TITLE, &caption);
    strips.iter().for_each(|strip| strip.draw(&mut page));
    Ok(Drawn { document: svg(&page.end(std::iter::empty(), &caption))?, table: table(&strips)?, text: None })
}

/// The strips of a platform's certified cases.
fn strips(platform: &Platform) -> Vec<Strip> {
    let certified = platform
        .records
        .iter()
        .filter(|(_, record)| matches!(record.verdict, Some(Verdict::Certified { .. })));
    let strip = |(run, case): (&NamedRun, &Case)| {
        let of_case = run.pictures.iter().filter(|picture| picture.case == case.id);
        let all: Vec<Frame> = of_case.filter_map(|picture| Frame::of(&picture.picture)).collect();
        let frames = spread(all);
        let heights = frames.iter().flat_map(|frame| &frame.values);
        let size = heights.fold(0f32, |most, height| most.max(height.abs()));
        let name = label(run.side, case);
        (!frames.is_empty()).then(|| Strip { platform: platform.label.clone(), name, frames, size })
    };
    certified.filter_map(|(run, record)| strip((run, &record.case))).collect()
}

/// As many as are drawn, the first and the last among them.
fn spread(mut all: Vec<Frame>) -> Vec<Frame> {
    let last = all.len().saturating_sub(1);
    let wanted: BTreeSet<usize> = (0..FRAMES).map(|k| k * last / (FRAMES - 1)).collect();
    let mut at = 0;
    all.retain(|_| {
        at += 1;
        wanted.contains(&(at - 1))
    });
    all
}

impl Frame {
    /// A picture with fewer cells; `None` of a curve.
    fn of(picture: &Snapshot) -> Option<Frame> {
        let Snapshot::Field { columns, rows, .. } = *picture else { return None };
        // Both sides shrink by the same factor.
        let longest = columns.max(rows).max(1);
        let [across, down] = [columns, rows].map(|side| (side * CELLS / longest).max(1));
        let Snapshot::Field { when, columns, values, .. } = picture.clone().within(across, down) else {
            return None;
        };
        Some(Frame { when, columns: columns as usize, values })
    }
}

impl Strip {
    fn draw(&self, page: &mut Page) {
        page.y += 8.0;
        let title = format!("{} · {} · heights to ±{:.2}", self.platform, self.name, self.size);
        page.paragraph(&title, LABEL, INK, false);
        page.y += 4.0;
        let (mut x, mut lowest) = (MARGIN, page.y);
        for frame in &self.frames {
            let rows = frame.values.len().div_ceil(frame.columns.max(1));
            // Smaller grids are as large as others.
            let side = SIDE * f64::from(CELLS) / frame.columns.max(rows).max(1) as f64;
            let fills = frame.values.iter().map(|height| colour(*height, self.size)).collect();
            page.scene.push(Shape::Mosaic { corner: (x, page.y), side, columns: frame.columns, fills });
            let below = page.y + side * rows as f64;
            let middle = x + side * frame.columns as f64 / 2.0;
            page.scene
                .text(Text::new(middle, below + 9.0, &frame.when, SMALL, GREY).anchored(Anchor::Middle));
            lowest = lowest.max(below + 18.0);
            x += SIDE * f64::from(CELLS) + 10.0;
        }
        page.y = lowest;
    }
}

/// The colour of a height, between those of the lowest and the highest.
fn colour(height: f32, size: f32) -> Color {
    let share = if size > 0.0 { f64::from((height / size).clamp(-1.0, 1.0)) } else { 0.0 };
    let share = (share * LEVELS).round() / LEVELS;
    let end = if share < 0.0 { LOW } else { HIGH };
    let mix = |rest: u8, end: u8| {
        (f64::from(rest) + (f64::from(end) - f64::from(rest)) * share.abs()).round() as u8
    };
    (mix(REST.0, end.0), mix(REST.1, end.1), mix(REST.2, end.2))
}

/// The heights of each frame, for programs.
fn table(strips: &[Strip]) -> Result<String> {
    let columns = ["figure", "platform", "case", "picture", "lowest", "highest", "mean"];
    let rows = strips.iter().flat_map(|strip| {
        strip.frames.iter().map(move |frame| {
            let heights = || frame.values.iter().copied().map(f64::from);
            let mean = heights().sum::<f64>() / frame.values.len().max(1) as f64;
            let ends =
                [heights().fold(f64::INFINITY, f64::min), heights().fold(f64::NEG_INFINITY, f64::max), mean];
            let words = [NAME, &strip.platform, &strip.name, &frame.when].map(|word| Some(Cell::text(word)));
            words.into_iter().chain(ends.map(Cell::number)).collect()
        })
    });
    csv(columns, rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(count: usize) -> Vec<Frame> {
        let frame = |k: usize| Frame { when: format!("step {k}"), columns: 1, values: vec![0.0] };
        (0..count).map(frame).collect()
    }

    #[test]
    fn frames_are_spread_over_a_run() {
        let shown = |count| spread(frames(count)).into_iter().map(|frame| frame.when).collect::<Vec<_>>();
        assert_eq!(shown(10), ["step 0", "step 3", "step 6", "step 9"]);
        assert_eq!((shown(2), shown(0)), (vec!["step 0".to_owned(), "step 1".to_owned()], Vec::new()));
    }

    #[test]
    fn colours_tell_crests_from_troughs() {
        assert_eq!([colour(-2.0, 2.0), colour(0.0, 2.0), colour(2.0, 2.0)], [LOW, REST, HIGH]);
        assert_eq!(colour(0.0, 0.0), REST);
        let half = colour(1.0, 2.0);
        assert!(half.2 < REST.2 && half.2 > HIGH.2, "{half:?}");
    }
}
