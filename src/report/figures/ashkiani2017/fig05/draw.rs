//! Draws the strips of keys below one another.

use super::{Group, KEYS, Row};
use crate::report::svg::Caption;
use crate::report::svg::page::{LABEL, MARGIN, Page, SMALL, TICK};
use crate::report::svg::scene::{Anchor, FRAME, GREY, GRID, INK, Scene, Shape, Text};
use crate::report::svg::style::Look;

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
pub fn scene(title: &str, groups: &[Group], caption: &Caption) -> Scene {
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
