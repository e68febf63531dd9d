//! Radars: values around a circle, with a reference ring at 1. Small multiples of lavin2020's figures 7 and
//! 8.

mod geometry;

use super::platform::Kind;
use crate::report::svg::Caption;
use crate::report::svg::page::{LABEL, MARGIN, Page, SMALL};
use crate::report::svg::scene::{Anchor, Color, FRAME, GREY, GRID, INK, Scene, Shape, Text, text_width};
use crate::report::svg::style::Look;
use crate::report::unit;
use geometry::{Point, Rings, direction, reach, stretches};

/// One circle.
#[derive(Clone, Debug, PartialEq)]
pub struct Radar {
    pub title: String,
    pub kind: Kind,
    pub spokes: Vec<Spoke>,
}

/// A spoke and its value; a spoke without a value only has its name.
#[derive(Clone, Debug, PartialEq)]
pub struct Spoke {
    pub label: String,
    pub value: Option<f64>,
}

const WIDTH: f64 = 1200.0;

/// Radars of one size under a heading.
#[derive(Clone, Debug)]
pub struct Section {
    pub heading: String,
    pub radars: Vec<Radar>,
    /// Many small circles, or two large ones per row with long names around them.
    pub small: bool,
}

/// Draws the whole page. All radars share their rings.
pub fn draw(title: &str, sections: &[Section], caption: &Caption) -> Scene {
    let spokes = sections.iter().flat_map(|s| &s.radars).flat_map(|r| &r.spokes);
    let rings = Rings::for_largest(spokes.filter_map(|s| s.value).fold(0.0, f64::max));
    let mut page = Page::begin(WIDTH, title, caption);
    for section in sections {
        page.y += 6.0;
        page.paragraph(&section.heading, LABEL, INK, true);
        rows(&mut page, section, &rings);
    }
    page.end(std::iter::once(key(&rings)), caption)
}

/// The values of the rings; small circles do not show them.
fn key(rings: &Rings) -> String {
    let values: Vec<String> = rings.values.iter().map(|v| per_cent(*v)).collect();
    format!("Rings: {} of the platform's stride-1 bandwidth; the dark one is 100 %", values.join(", "))
}

fn per_cent(value: f64) -> String {
    format!("{} %", unit::number(value * 100.0))
}

fn rows(page: &mut Page, section: &Section, rings: &Rings) {
    let (columns, radius, above, below) =
        if section.small { (7, 52.0, 34.0, 20.0) } else { (2, 185.0, 68.0, 42.0) };
    let cell = page.inner_width() / columns as f64;
    for row in section.radars.chunks(columns) {
        let middle = page.y + above + radius;
        for (at, radar) in row.iter().enumerate() {
            let center = (MARGIN + (at as f64 + 0.5) * cell, middle);
            radar.draw(&mut page.scene, center, radius, rings, section.small);
        }
        page.y = middle + radius + below;
    }
}

/// Blue and green as in the paper; headings also distinguish the two kinds.
fn look(kind: Kind) -> Look {
    Look::of(if kind == Kind::Cpu { 0 } else { 2 }, None)
}

/// The colour mixed with this share of white.
fn tint((r, g, b): Color, white: f64) -> Color {
    let mix = |c: u8| (f64::from(c) + (255.0 - f64::from(c)) * white).round() as u8;
    (mix(r), mix(g), mix(b))
}

impl Radar {
    fn draw(&self, scene: &mut Scene, center: Point, radius: f64, rings: &Rings, small: bool) {
        self.fill(scene, center, radius, rings);
        for value in &rings.values {
            let color = if *value == 1.0 { GREY } else { tint(FRAME, 0.45) };
            scene.push(Shape::Ring { center, radius: radius * rings.position(*value), color });
        }
        let n = self.spokes.len();
        for at in 0..n {
            scene.push(Shape::rule(center, reach(center, radius, at as f64, n), GRID));
        }
        self.outline(scene, center, radius, rings, if small { 2.5 } else { 3.5 });
        self.labels(scene, center, radius, small);
        if !small {
            self.ring_labels(scene, center, radius, rings);
        }
    }

    fn points(&self, center: Point, radius: f64, rings: &Rings) -> Vec<Option<Point>> {
        let n = self.spokes.len();
        let point = |(at, value): (usize, Option<f64>)| {
            Some(reach(center, radius * rings.position(value?), at as f64, n))
        };
        self.spokes.iter().map(|spoke| spoke.value).enumerate().map(point).collect()
    }

    fn fill(&self, scene: &mut Scene, center: Point, radius: f64, rings: &Rings) {
        let points: Option<Vec<Point>> = self.points(center, radius, rings).into_iter().collect();
        let fill = tint(look(self.kind).color, 0.8);
        if let Some(points) = points.filter(|points| points.len() > 2) {
            scene.push(Shape::Polygon { points, fill, stroke: fill });
        }
    }

    fn outline(&self, scene: &mut Scene, center: Point, radius: f64, rings: &Rings, size: f64) {
        let (points, look) = (self.points(center, radius, rings), look(self.kind));
        for stretch in stretches(&points) {
            let points: Vec<Point> = stretch.into_iter().filter_map(|at| points[at]).collect();
            scene.push(Shape::Path { points, color: look.color, width: 2, dash: None });
        }
        points.iter().flatten().for_each(|at| scene.push(look.marker(*at, size, true)));
    }

    fn labels(&self, scene: &mut Scene, center: Point, radius: f64, small: bool) {
        let (size, away) = if small { (10.5, 9.0) } else { (SMALL, 10.0) };
        let n = self.spokes.len();
        for (at, spoke) in self.spokes.iter().enumerate() {
            let (sideways, down) = direction(at as f64, n);
            // Near the top and the bottom, names lie side by side; moving them outwards staggers them.
            let more = if small { 0.0 } else { 16.0 * down.powi(8) };
            let (x, y) = reach(center, radius + away + more, at as f64, n);
            let words =
                if spoke.value.is_some() { spoke.label.clone() } else { format!("{} n/a", spoke.label) };
            let color = if spoke.value.is_some() { INK } else { GREY };
            let anchor = match sideways {
                s if s > 0.1 => Anchor::Start,
                s if s < -0.1 => Anchor::End,
                _ => Anchor::Middle,
            };
            scene.text(Text::new(x, y, &words, size, color).anchored(anchor));
        }
        let title =
            Text::new(center.0, center.1 - radius - if small { 24.0 } else { 50.0 }, &self.title, LABEL, INK);
        // Shrinks a long title, so that it does not overlap its neighbour.
        let fit = if small { 158.0 / text_width(&self.title, LABEL) } else { 1.0 };
        scene.text(Text { size: LABEL * fit.min(1.0), ..title.anchored(Anchor::Middle) });
    }

    /// Labels the rings between the two spokes where the outline is nearest to the centre, to cover least.
    fn ring_labels(&self, scene: &mut Scene, center: Point, radius: f64, rings: &Rings) {
        let n = self.spokes.len();
        let value = |at: usize| self.spokes[at % n].value.unwrap_or(0.0);
        let gap = (0..n).min_by(|a, b| {
            let far = |at: usize| value(at).max(value(at + 1));
            far(*a).total_cmp(&far(*b))
        });
        for ring in &rings.values {
            let at = gap.unwrap_or(0) as f64 + 0.5;
            let (x, y) = reach(center, radius * rings.position(*ring) - 7.0, at, n);
            scene.text(Text::new(x, y, &per_cent(*ring), 10.0, GREY).anchored(Anchor::Middle));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Spoke;
    use super::*;
    use crate::report::svg::tests::covered;

    fn radar(title: &str, kind: Kind, names: impl Iterator<Item = String>, missing: usize) -> Radar {
        let spoke = |(at, label): (usize, String)| {
            let value = (at != missing).then_some(0.2 + (at * 7 % 11) as f64 / 3.0);
            Spoke { label, value }
        };
        Radar { title: title.to_owned(), kind, spokes: names.enumerate().map(spoke).collect() }
    }

    fn patterns() -> impl Iterator<Item = String> {
        crate::inputs::applications::TABLE_5.iter().take(29).map(|app| app.name.to_owned())
    }

    fn page(missing: usize) -> Scene {
        let large = |title, kind| radar(title, kind, patterns(), missing);
        let letters = || ["A", "B", "C", "D"].map(str::to_owned).into_iter();
        let small = patterns().map(|name| radar(&name, Kind::Gpu, letters(), missing)).collect();
        let large = vec![large("One CPU, 16 threads", Kind::Cpu), large("Another one", Kind::Cpu)];
        let sections = [
            Section { heading: "CPUs".to_owned(), radars: large, small: false },
            Section { heading: "GPUs".to_owned(), radars: small, small: true },
        ];
        draw("Radars", &sections, &Caption::default())
    }

    #[test]
    fn no_name_covers_another() {
        assert_eq!(covered(&page(usize::MAX)), [], "all values");
        assert_eq!(covered(&page(3)), [], "with a gap");
    }

    /// The neighbours of a missing value are not joined, and nothing is filled.
    #[test]
    fn a_missing_value_leaves_a_gap() {
        let outlines = |scene: &Scene| -> Vec<usize> {
            let outline = |shape: &Shape| match shape {
                Shape::Path { points, width: 2, .. } => Some(points.len()),
                _ => None,
            };
            scene.shapes.iter().filter_map(outline).collect()
        };
        let whole = outlines(&page(usize::MAX));
        assert_eq!((whole[0], whole[2], whole.len()), (30, 5, 31));
        let open = outlines(&page(3));
        assert_eq!((open[0], open[2], open.len()), (28, 3, 31));
        let names = |scene: &Scene, word: &str| {
            scene.shapes.iter().filter(|s| matches!(s, Shape::Text(t) if t.text.ends_with(word))).count()
        };
        assert_eq!((names(&page(usize::MAX), " n/a"), names(&page(3), " n/a")), (0, 31));
    }
}
