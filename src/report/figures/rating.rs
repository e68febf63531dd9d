//! Bandwidth-bandwidth plots (lavin2020 §5.4.3): a pattern's bandwidth over the platform's stride-1
//! bandwidth, both axes in powers of two, so that equal fractions of it lie on lines of slope 1.

use std::ops::RangeInclusive;

use crate::report::scale::{AxisScale, Spacing};
use crate::report::svg::Caption;
use crate::report::svg::page::{Entry, GAP, LABEL, MARGIN, Page, SMALL, Sample, TICK};
use crate::report::svg::scene::{Anchor, FRAME, GREY, GRID, INK, Scene, Shape, Text, text_width};
use crate::report::svg::style::Look;
use crate::report::unit::Unit;

/// A panel: the patterns of one kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    pub title: String,
    pub points: Vec<Dot>,
}

/// A pattern on a platform.
#[derive(Clone, Debug, PartialEq)]
pub struct Dot {
    /// Index into the legend.
    pub pattern: usize,
    /// The platform's letter: `A`, `B` …
    pub letter: String,
    /// Dots of one family and pattern are joined. 0 for CPUs, 1 for GPUs.
    pub family: usize,
    pub x: f64,
    pub y: f64,
    pub low: f64,
    pub high: f64,
}

const WIDTH: f64 = 1200.0;
const HEIGHT: f64 = 470.0;
/// Space for the vertical axis: its labels and title.
const LEFT: f64 = 66.0;
/// Space for the labels of the lines of constant fraction.
const RIGHT: f64 = 46.0;
const LETTER: f64 = 15.0;

/// Draws the whole page; `patterns` are the legend, in the order of their styles.
pub fn draw(title: &str, plots: &[Plot], patterns: &[String], caption: &Caption) -> Scene {
    let mut page = Page::begin(WIDTH, title, caption);
    let entry = |(style, label): (usize, &String)| Entry {
        label: label.clone(),
        sample: Sample::Line,
        look: Look::of(style, None),
        certified: true,
    };
    let drawn = |style: usize| plots.iter().flat_map(|plot| &plot.points).any(|dot| dot.pattern == style);
    let labels = patterns.iter().enumerate().filter(|(style, _)| drawn(*style));
    page.legend(&labels.map(entry).collect::<Vec<_>>());
    let views: Vec<View> =
        plots.iter().enumerate().map(|(at, plot)| View::new(plot, at, plots.len())).collect();
    let above = views.iter().map(View::above).fold(0.0, f64::max);
    let top = page.y + above;
    views.iter().for_each(|view| view.draw(&mut page.scene, top, above));
    page.y = top + HEIGHT + 52.0;
    page.end(std::iter::empty(), caption)
}

struct View<'a> {
    plot: &'a Plot,
    x: AxisScale,
    y: AxisScale,
    left: f64,
    width: f64,
    /// The platforms' letters, with x and row, from left to right.
    letters: Vec<(String, f64, usize)>,
}

impl<'a> View<'a> {
    fn new(plot: &'a Plot, at: usize, plots: usize) -> View<'a> {
        let xs: Vec<f64> = plot.points.iter().map(|dot| dot.x).collect();
        // Reaches up to the right end of the diagonal, so that every line ends at the right side.
        let ys: Vec<f64> = plot.points.iter().flat_map(|d| [d.low, d.high, d.x]).collect();
        let cell = (WIDTH - 2.0 * MARGIN + GAP) / plots as f64;
        let (left, width) = (MARGIN + at as f64 * cell + LEFT, cell - GAP - LEFT - RIGHT);
        let x = AxisScale::measured_as(&xs, Spacing::Log2, Unit::GigabytesPerSecond);
        let ys = [ys, vec![x.ends().1 / 1.06]].concat();
        let y = AxisScale::measured_as(&ys, Spacing::Log2, Unit::GigabytesPerSecond);
        let mut view = View { plot, x, y, left, width, letters: Vec::new() };
        view.letters = view.placed();
        view
    }

    fn placed(&self) -> Vec<(String, f64, usize)> {
        let mut found: Vec<(f64, &str)> = Vec::new();
        for dot in &self.plot.points {
            let place = self.left + self.x.position(dot.x).unwrap_or(0.0) * self.width;
            if !found.iter().any(|(_, letter)| *letter == dot.letter) {
                found.push((place, &dot.letter));
            }
        }
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        let places: Vec<f64> = found.iter().map(|(place, _)| *place).collect();
        let rows = rows(&places, LETTER);
        found.into_iter().zip(rows).map(|((place, letter), row)| (letter.to_owned(), place, row)).collect()
    }

    /// Height above the frame: the title and the rows of letters.
    fn above(&self) -> f64 {
        let rows = self.letters.iter().map(|(_, _, row)| row + 1).max().unwrap_or(0);
        26.0 + rows as f64 * LETTER
    }

    fn draw(&self, scene: &mut Scene, top: f64, above: f64) {
        let middle = self.left + self.width / 2.0;
        let title = Text::new(middle, top - above + 10.0, &self.plot.title, LABEL, INK);
        scene.text(Text { bold: true, ..title.anchored(Anchor::Middle) });
        self.ticks(scene, top);
        self.parts(scene, top);
        self.platforms(scene, top);
        let (right, bottom) = (self.left + self.width, top + HEIGHT);
        let corners =
            [(self.left, top), (right, top), (right, bottom), (self.left, bottom), (self.left, top)];
        scene.push(Shape::Path { points: corners.to_vec(), color: FRAME, width: 1, dash: None });
        self.axis_titles(scene, top);
        for pattern in 0..=self.plot.points.iter().map(|dot| dot.pattern).max().unwrap_or(0) {
            self.pattern(scene, top, pattern);
        }
    }

    fn ticks(&self, scene: &mut Scene, top: f64) {
        let (right, bottom) = (self.left + self.width, top + HEIGHT);
        for (at, label) in self.x.ticks((self.width / 52.0) as usize) {
            let x = self.left + at * self.width;
            scene.push(Shape::rule((x, top), (x, bottom), GRID));
            scene.text(Text::new(x, bottom + 13.0, &label, TICK, INK).anchored(Anchor::Middle));
        }
        for (at, label) in self.y.ticks(16) {
            let y = top + (1.0 - at) * HEIGHT;
            scene.push(Shape::rule((self.left, y), (right, y), GRID));
            scene.text(Text::new(self.left - 7.0, y, &label, TICK, INK).anchored(Anchor::End));
        }
    }

    fn axis_titles(&self, scene: &mut Scene, top: f64) {
        let (middle, bottom) = (self.left + self.width / 2.0, top + HEIGHT);
        let words = "Stride-1 bandwidth of the platform (GB/s), log scale";
        scene.text(Text::new(middle, bottom + 34.0, words, LABEL, INK).anchored(Anchor::Middle));
        let words = "Bandwidth of the pattern (GB/s), log scale";
        let title = Text::new(self.left - LEFT + 10.0, top + HEIGHT / 2.0, words, LABEL, INK);
        scene.text(Text { upright: true, ..title.anchored(Anchor::Middle) });
    }

    /// Draws the lines of constant fraction, labelled at their ends.
    fn parts(&self, scene: &mut Scene, top: f64) {
        for exponent in parts(self.plot.points.iter().map(|dot| (dot.x, dot.y))) {
            let part = f64::from(exponent).exp2();
            let Some(ends) = line(part, self.x.ends(), self.y.ends()) else { continue };
            let points: Vec<(f64, f64)> = ends.iter().filter_map(|(x, y)| self.pixel(top, *x, *y)).collect();
            let Some(&(x, y)) = points.last() else { continue };
            let dash = (exponent != 0).then_some((5, 4));
            scene.push(Shape::Path { points, color: FRAME, width: 1, dash });
            let words = format!("× {}", Unit::Fraction.format(part));
            let at_side = x > self.left + self.width - 1.0;
            let (x, y) = if at_side { (x + 5.0, y) } else { (x - text_width(&words, SMALL), y + 10.0) };
            scene.text(Text::new(x, y, &words, SMALL, GREY));
        }
    }

    /// Draws a line through all dots of a platform, with its letter above the frame.
    fn platforms(&self, scene: &mut Scene, top: f64) {
        for (letter, x, row) in &self.letters {
            let (y, dash) = (top - 9.0 - *row as f64 * LETTER, Some((1, 4)));
            let points = vec![(*x, top - 2.0), (*x, top + HEIGHT)];
            scene.push(Shape::Path { points, color: GREY, width: 1, dash });
            let text = Text::new(*x, y, letter, LABEL, INK);
            scene.text(Text { bold: true, ..text.anchored(Anchor::Middle) });
        }
    }

    fn pattern(&self, scene: &mut Scene, top: f64, pattern: usize) {
        let look = Look::of(pattern, None);
        for family in [0, 1] {
            let own = |dot: &&Dot| dot.pattern == pattern && dot.family == family;
            let mut dots: Vec<&Dot> = self.plot.points.iter().filter(own).collect();
            dots.sort_by(|a, b| a.x.total_cmp(&b.x));
            let points: Vec<(f64, f64)> = dots.iter().filter_map(|d| self.pixel(top, d.x, d.y)).collect();
            if points.len() > 1 {
                scene.push(Shape::Path {
                    points: points.clone(),
                    color: look.color,
                    width: 2,
                    dash: look.dash,
                });
            }
            for dot in &dots {
                let ends = [dot.low, dot.high].map(|y| self.pixel(top, dot.x, y));
                if let [Some(low), Some(high)] = ends {
                    scene.push(Shape::rule(low, high, look.color));
                }
            }
            points.iter().for_each(|at| scene.push(look.marker(*at, 4.5, true)));
        }
    }

    fn pixel(&self, top: f64, x: f64, y: f64) -> Option<(f64, f64)> {
        let (x, y) = (self.x.position(x)?, self.y.position(y)?);
        Some((self.left + x * self.width, top + (1.0 - y) * HEIGHT))
    }
}

type Span = (f64, f64);

/// The line y = `part`·x inside a frame, from left to right; `None` if it does not cross the frame.
fn line(part: f64, (x_low, x_high): Span, (y_low, y_high): Span) -> Option<[(f64, f64); 2]> {
    let (from, to) = (x_low.max(y_low / part), x_high.min(y_high / part));
    (from < to).then_some([(from, part * from), (to, part * to)])
}

/// Powers of two, as exponents, that enclose the fractions y/x of these dots; 1 is always included.
fn parts(dots: impl Iterator<Item = (f64, f64)>) -> RangeInclusive<i32> {
    let exponents = dots.map(|(x, y)| (y / x).log2()).filter(|e| e.is_finite());
    let (low, high) = exponents.fold((0f64, 0f64), |(low, high), e| (low.min(e), high.max(e)));
    (low + 1e-9).floor() as i32..=(high - 1e-9).ceil() as i32
}

/// A row for each of these ascending places, so that places in the same row are at least `apart` from each
/// other.
fn rows(places: &[f64], apart: f64) -> Vec<usize> {
    let mut ends: Vec<f64> = Vec::new();
    let mut row = |place: f64| {
        let free = ends.iter().position(|end| place - end >= apart).unwrap_or(ends.len());
        if free == ends.len() {
            ends.push(place);
        }
        ends[free] = place;
        free
    };
    places.iter().map(|place| row(*place)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::svg::tests::covered;

    /// Four platforms, two of which have nearly the same stride-1 bandwidth.
    fn plot(title: &str) -> Plot {
        let platforms = [("A", 40.0, 0), ("B", 41.0, 0), ("C", 160.0, 0), ("D", 4400.0, 1)];
        let patterns = [1.0, 0.1, 0.03, 1.7];
        let dots = platforms.iter().flat_map(|(letter, x, family)| {
            patterns.iter().enumerate().map(move |(pattern, part)| {
                let (x, y) = (*x, x * part);
                Dot {
                    pattern,
                    letter: (*letter).to_owned(),
                    family: *family,
                    x,
                    y,
                    low: y * 0.9,
                    high: y * 1.1,
                }
            })
        });
        Plot { title: title.to_owned(), points: dots.collect() }
    }

    fn page(plots: &[Plot]) -> Scene {
        let names = ["stride 1", "stride 16", "PENNANT-G12", "LULESH-S1"].map(str::to_owned);
        draw("Bandwidths", plots, &names, &Caption::default())
    }

    #[test]
    fn no_label_covers_another() {
        for plots in [vec![plot("Gather")], vec![plot("Gather"), plot("Scatter")]] {
            assert_eq!(covered(&page(&plots)), []);
        }
    }

    /// Stride 1 lies on the line of fraction 1, and every dot within the frame.
    #[test]
    fn the_diagonal_runs_through_stride_1() {
        let plot = plot("Gather");
        let view = View::new(&plot, 0, 1);
        let pixel = |x, y| view.pixel(0.0, x, y).expect("within the frame");
        let [from, to] = line(1.0, view.x.ends(), view.y.ends()).expect("a line");
        let (from, to) = (pixel(from.0, from.1), pixel(to.0, to.1));
        for dot in plot.points.iter().filter(|dot| dot.pattern == 0) {
            let (x, y) = pixel(dot.x, dot.y);
            let along = (x - from.0) / (to.0 - from.0);
            assert!((from.1 + along * (to.1 - from.1) - y).abs() < 1e-6);
        }
        for dot in &plot.points {
            let (x, y) = pixel(dot.x, dot.y);
            assert!((view.left..=view.left + view.width).contains(&x) && (0.0..=HEIGHT).contains(&y));
        }
    }

    #[test]
    fn a_line_of_constant_part_is_cut_at_the_frame() {
        assert_eq!(line(1.0, (16.0, 64.0), (8.0, 64.0)), Some([(16.0, 16.0), (64.0, 64.0)]));
        assert_eq!(line(0.25, (16.0, 64.0), (8.0, 64.0)), Some([(32.0, 8.0), (64.0, 16.0)]));
        assert_eq!(line(4.0, (16.0, 64.0), (8.0, 64.0)), None);
        assert_eq!(line(2.0, (16.0, 64.0), (8.0, 64.0)), Some([(16.0, 32.0), (32.0, 64.0)]));
    }

    #[test]
    fn parts_reach_around_the_dots_and_hold_one() {
        assert_eq!(parts([(100.0, 100.0), (100.0, 6.0)].into_iter()), -5..=0);
        assert_eq!(parts([(100.0, 300.0)].into_iter()), 0..=2);
        assert_eq!(parts([(64.0, 15.0)].into_iter()), -3..=0);
        assert_eq!(parts([].into_iter()), 0..=0);
    }

    #[test]
    fn letters_that_are_close_stand_in_different_rows() {
        assert_eq!(rows(&[0.0, 5.0, 30.0, 32.0, 34.0], 12.0), [0, 1, 0, 1, 2]);
        assert!(rows(&[], 12.0).is_empty());
    }
}
