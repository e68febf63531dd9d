//! ashkiani2017, figure 5: the buckets of 256 keys in the order in which DMS, WMS and BMS store them (§5.6). Nothing is
//! measured.

use std::borrow::Cow;

use anyhow::Result;

use crate::case::{Params, Value};
use crate::primitives::multisplit::Spec;
use crate::primitives::multisplit::arrangement::{Stored, orders, runs};
use crate::report::cell::Cell;
use crate::report::figures::mark::csv;
use crate::report::figures::{Draw, Drawn, Figure};
use crate::report::svg::page::{LABEL, MARGIN, Page, SMALL, TICK};
use crate::report::svg::scene::{Anchor, FRAME, GREY, GRID, INK, Scene, Shape, Text};
use crate::report::svg::style::Look;
use crate::report::svg::{Caption, paint};
use crate::report::verdicts::NamedRun;

const NAME: &str = "ashkiani2017/fig05";
const TITLE: &str = "The buckets of 256 keys, in the order in which multisplits store them";
const CLAIM: &str = "ashkiani2017, figure 5 claims: reordered near the processor first, keys of a bucket are stored side by side: by \
                     WMS those of a warp, by BMS those of a block, which stays useful with more buckets";
/// Number of keys in the figure.
const KEYS: u64 = 256;
/// Numbers of buckets, as in Table 4 of the paper.
const BUCKETS: [u64; 3] = [2, 8, 32];
/// The default seed of recipes.
const SEED: u64 = 1;

pub const FIGURE: Figure = Figure {
    name: Cow::Borrowed(NAME),
    about: Cow::Borrowed("which buckets 256 keys belong to before and after DMS, WMS and BMS reorder them"),
    recipes: Cow::Borrowed(&[]),
    extension: "svg",
    pictures: false,
    draw: Draw::Own(draw),
};

/// The rows drawn for one number of buckets.
struct Group {
    buckets: u64,
    rows: Vec<Row>,
}

/// All keys in one order.
struct Row {
    /// `dms`, or `result`.
    name: &'static str,
    /// Description of the row.
    words: &'static str,
    keys: Vec<Stored>,
}

impl Row {
    /// Average number of keys of a warp that are stored contiguously.
    fn run(&self) -> f64 {
        let places: Vec<u64> = self.keys.iter().map(|(_, place)| *place).collect();
        places.len() as f64 / runs(&places) as f64
    }
}

fn draw(_: &[NamedRun]) -> Result<Drawn> {
    let groups = BUCKETS.into_iter().map(group).collect::<Result<Vec<Group>>>()?;
    let lines = [
        "Keys from left to right as they are stored, each at the height of its bucket; rules: warps of 32 keys, \
         dark ones blocks of 128",
        "A run: keys of one warp that go to places side by side, and so into as few segments of memory as they can; the \
         mean length of the runs stands at the left",
        "256 uniform keys among delta-buckets, seed 1 (the paper does not give its own); nothing is measured",
    ];
    let caption = Caption {
        paper: Some(CLAIM.to_owned()),
        lines: lines.map(str::to_owned).to_vec(),
        ..Caption::default()
    };
    let document = paint::svg(&scene(TITLE, &groups, &caption))?;
    Ok(Drawn { document, table: table(&groups)?, text: None })
}

/// The three orders and the result for one number of buckets.
fn group(buckets: u64) -> Result<Group> {
    let params = Params::default().with("keys", Value::Int(KEYS)).with("buckets", Value::Int(buckets));
    let spec = Spec::from_params(&params, SEED)?;
    let [direct, warp, block] = orders(&spec, KEYS);
    let mut result = direct.1.clone();
    result.sort_by_key(|&(_, place)| place);
    let row = |(name, keys), words| Row { name, words, keys };
    let rows = vec![
        row(direct, "DMS: as they come"),
        row(warp, "WMS: by warp"),
        row(block, "BMS: by block"),
        row(("result", result), "result"),
    ];
    Ok(Group { buckets, rows })
}

fn table(groups: &[Group]) -> Result<String> {
    let columns = ["figure", "buckets", "method", "position", "bucket", "place"];
    let rows = groups.iter().flat_map(|group| group.rows.iter().map(move |row| (group.buckets, row)));
    let cells = rows.flat_map(|(buckets, row)| {
        row.keys.iter().enumerate().map(move |(position, &(bucket, place))| {
            let head = [Cell::text(NAME), buckets.into(), Cell::text(row.name)];
            let tail = [Cell::from(position as u64), Cell::from(bucket as u64), Cell::from(place)];
            head.into_iter().chain(tail).map(Some).collect()
        })
    });
    csv(columns, cells)
}

/// Pixels per key: a whole number, so that all keys are equally wide.
const KEY: f64 = 4.0;
/// Space for the labels of the strips and of their buckets.
const LEFT: f64 = 150.0;
const WIDTH: f64 = MARGIN + LEFT + KEYS as f64 * KEY + MARGIN;
/// Height of a strip, and the gap below it.
const HEIGHT: f64 = 66.0;
const GAP: f64 = 8.0;
/// Keys of a warp and of a block (Fig. 5).
const WARP: usize = 32;
const BLOCK: usize = 128;

/// The whole page.
fn scene(title: &str, groups: &[Group], caption: &Caption) -> Scene {
    let mut page = Page::begin(WIDTH, title, caption);
    for group in groups {
        page.y += 12.0;
        let heading = format!("{} buckets", group.buckets);
        page.paragraph(&heading, LABEL, INK, true);
        page.y += 2.0;
        for row in &group.rows {
            strip(&mut page.scene, page.y, group.buckets, row);
            page.y += HEIGHT + GAP;
        }
        positions(&mut page.scene, page.y - GAP);
        page.y += 12.0;
    }
    page.y += 14.0;
    page.end(std::iter::empty(), caption)
}

fn x(position: usize) -> f64 {
    MARGIN + LEFT + position as f64 * KEY
}

fn strip(scene: &mut Scene, top: f64, buckets: u64, row: &Row) {
    let (left, right, bottom) = (x(0), x(KEYS as usize), top + HEIGHT);
    for warp in (WARP..KEYS as usize).step_by(WARP) {
        let color = if warp % BLOCK == 0 { GREY } else { GRID };
        scene.push(Shape::rule((x(warp), top), (x(warp), bottom), color));
    }
    let corners = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)];
    scene.push(Shape::Path { points: corners.to_vec(), color: FRAME, width: 1, dash: None });
    names(scene, top, buckets, row);
    let part = HEIGHT / buckets as f64;
    let (color, width) = (Look::of(0, None).color, part.min(10.0).round() as u32);
    for (from, to, bucket) in stretches(row) {
        let y = bottom - (bucket as f64 + 0.5) * part;
        scene.push(Shape::Path { points: vec![(x(from), y), (x(to), y)], color, width, dash: None });
    }
}

/// Draws the name of a strip, and its first and last bucket.
fn names(scene: &mut Scene, top: f64, buckets: u64, row: &Row) {
    let middle = top + HEIGHT / 2.0;
    scene.text(Text::new(MARGIN, middle - 9.0, row.words, TICK, INK));
    if row.name != "result" {
        let run = format!("runs of {:.1}", row.run());
        scene.text(Text::new(MARGIN, middle + 9.0, &run, SMALL, GREY));
    }
    let half = HEIGHT / buckets as f64 / 2.0;
    for (bucket, y) in [(0, top + HEIGHT - half.max(7.0)), (buckets - 1, top + half.max(7.0))] {
        let text = Text::new(x(0) - 6.0, y, &bucket.to_string(), SMALL, GREY);
        scene.text(text.anchored(Anchor::End));
    }
}

/// Runs of keys in the same bucket, as (first, last, bucket) positions.
fn stretches(row: &Row) -> Vec<(usize, usize, usize)> {
    let mut found: Vec<(usize, usize, usize)> = Vec::new();
    for (position, &(bucket, _)) in row.keys.iter().enumerate() {
        match found.last_mut() {
            Some((_, to, last)) if *last == bucket => *to = position + 1,
            _ => found.push((position, position + 1, bucket)),
        }
    }
    found
}

/// Draws positions in store order, below the last strip of a group.
fn positions(scene: &mut Scene, bottom: f64) {
    for position in (0..=KEYS as usize).step_by(WARP) {
        let text = Text::new(x(position), bottom + 10.0, &position.to_string(), SMALL, INK);
        scene.text(text.anchored(Anchor::Middle));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::multisplit::arrangement::walks;
    use crate::report::svg::tests::covered;

    #[test]
    fn the_rows_are_what_the_pattern_view_shows() {
        for buckets in BUCKETS {
            let group = group(buckets).expect("few keys");
            let params =
                Params::default().with("keys", Value::Int(KEYS)).with("buckets", Value::Int(buckets));
            let walks = walks(&Spec::from_params(&params, SEED).expect("a case"), KEYS);
            for (row, walk) in group.rows.iter().zip(&walks) {
                let places: Vec<u64> = row.keys.iter().map(|(_, place)| *place).collect();
                assert_eq!((row.name, &places), (walk.side, &walk.indices));
            }
            let [.., result] = group.rows.as_slice() else { panic!("rows") };
            assert!(result.keys.iter().map(|(_, place)| *place).eq(0..KEYS));
            assert!(result.keys.is_sorted_by_key(|(bucket, _)| *bucket));
            let means: Vec<f64> = group.rows.iter().map(Row::run).collect();
            assert!(means.is_sorted() && means[3] == 32.0, "{means:?}");
        }
    }

    #[test]
    fn the_table_has_every_key_once_in_each_order() {
        let drawn = draw(&[]).expect("a figure");
        assert_eq!(drawn.table.lines().count(), 1 + BUCKETS.len() * 4 * KEYS as usize);
        assert!(
            drawn.table.starts_with("figure,buckets,method,position,bucket,place\n"),
            "{}",
            &drawn.table[..80]
        );
        for words in ["DMS: as they come", "WMS: by warp", "BMS: by block", "32 buckets"] {
            assert!(drawn.document.contains(words), "{words}");
        }
    }

    #[test]
    fn no_label_covers_another() {
        let groups = BUCKETS.map(|buckets| group(buckets).expect("few keys"));
        assert_eq!(covered(&scene(TITLE, &groups, &Caption::default())), []);
    }
}
