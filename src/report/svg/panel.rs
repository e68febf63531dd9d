//! One panel: frame, grid, ticks, references, lines, bars and markers.

use super::layout::measured_title;
use super::page::{LABEL, TICK};
use super::scene::{Anchor, BAND, Color, FRAME, GREY, GRID, INK, Scene, Shape, Text, text_width};
use super::style::Look;
use crate::recipe::plan::Scale;
use crate::report::scale::{AxisScale, Spacing};
use crate::report::series::{
    ChartData, Guide, Line, MeasuredValue, ModelLine, Panel, PublishedLine, PublishedPoint,
};

/// With more names than this, categories are rows instead of columns.
const MOST_COLUMNS: usize = 8;
/// The share of a category's band over which the points of its lines are spread.
const SPREAD: f64 = 0.7;

/// The dash between printed values.
const PUBLISHED: (i32, i32) = (3, 3);
/// Pixels between the points of one run and those of the next.
const ASIDE: f64 = 7.0;
/// Length in pixels of the arrowhead of a bar that leaves the axis.
const ARROW: f64 = 8.0;
/// Half the length in pixels of a prediction's stroke at a category.
const STROKE: f64 = 8.0;
/// Pixels between a guide and the middle of its label.
const NAME: f64 = 9.0;
/// Least distance in pixels between two labels of a logarithmic vertical axis, whose ticks are uneven.
const APART: f64 = 22.0;

/// The axes shared by all panels.
pub struct View {
    pub x: AxisScale,
    pub y: AxisScale,
    /// Whether names run down the left side, with the measured axis along the bottom.
    pub horizontal: bool,
    /// The y of the baseline, if y is relative to one.
    level: Option<f64>,
    /// Styles with points, for spreading them within a category.
    present: Vec<usize>,
    lines_per_run: Option<usize>,
}

/// Position of a panel.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
    /// Leftmost panel: has the labels of the vertical axis.
    pub outer_left: bool,
    /// Bottom panel: has the labels of the horizontal axis.
    pub outer_bottom: bool,
}

impl View {
    /// `width` is the approximate width of a panel.
    pub fn new(data: &ChartData, width: f64) -> View {
        let x = data.x_scale();
        let n = x.names().len();
        let widest = x.names().iter().map(|s| text_width(s, TICK)).fold(0.0, f64::max);
        let crowded = n > MOST_COLUMNS || widest + 8.0 > (width - 70.0) / n.max(1) as f64;
        let horizontal = data.x.scale == Scale::Category && crowded;
        let lines = data.panels.iter().flat_map(|p| &p.lines).filter(|l| !l.points.is_empty());
        let mut present: Vec<usize> = lines.map(|l| l.style).collect();
        present.sort_unstable();
        present.dedup();
        let (level, lines_per_run) = (data.y.level(), data.lines_per_run);
        View { x, y: data.y_scale(), horizontal, level, present, lines_per_run }
    }

    pub fn vertical_ticks(&self, height: f64) -> Vec<(f64, String)> {
        if self.horizontal {
            return self.x.ticks(usize::MAX);
        }
        let room = (height / 34.0).max(2.0) as usize;
        let apart = |ticks: &[(f64, String)]| ticks.windows(2).all(|w| (w[1].0 - w[0].0) * height > APART);
        let more = (room..=3 * room).rev().map(|n| self.y.ticks(n)).find(|ticks| apart(ticks));
        let more = more.filter(|_| self.y.spacing == Spacing::Log10);
        more.unwrap_or_else(|| self.y.ticks(room))
    }

    fn horizontal_ticks(&self, width: f64) -> Vec<(f64, String)> {
        if !self.horizontal && self.x.spacing == Spacing::Category {
            return self.x.ticks(usize::MAX);
        }
        let axis = if self.horizontal { &self.y } else { &self.x };
        // As many labels as fit side by side.
        let fits = |n: &usize| {
            let ticks = axis.ticks(*n);
            let widest = ticks.iter().map(|(_, label)| text_width(label, TICK)).fold(0.0, f64::max);
            ticks.windows(2).all(|w| (w[1].0 - w[0].0) * width > widest + 12.0)
        };
        (2..=24).rev().find(fits).map_or_else(|| axis.ticks(1), |n| axis.ticks(n))
    }

    pub fn vertical_title(&self, data: &ChartData) -> String {
        if self.horizontal { String::new() } else { measured_title(data, &self.y) }
    }

    pub fn horizontal_title(&self, data: &ChartData) -> String {
        if self.horizontal { measured_title(data, &self.y) } else { data.x.name.clone() }
    }

    pub fn draw(&self, scene: &mut Scene, panel: &Panel, frame: &Frame) {
        if !panel.title.is_empty() {
            let middle = frame.left + frame.width / 2.0;
            let text = Text::new(middle, frame.top - 11.0, &panel.title, LABEL, INK);
            scene.text(text.anchored(Anchor::Middle));
        }
        self.draw_ticks(scene, frame);
        let (right, bottom) = (frame.left + frame.width, frame.top + frame.height);
        let corners = [(frame.left, frame.top), (right, frame.top), (right, bottom), (frame.left, bottom)];
        let points = [&corners[..], &corners[..1]].concat();
        scene.push(Shape::Path { points, color: FRAME, width: 1, dash: None });
        if let Some(level) = self.level {
            self.draw_level(scene, frame, level, INK, None);
        }
        panel.guides.iter().for_each(|guide| self.draw_guide(scene, guide, frame));
        panel.models.iter().for_each(|line| self.draw_model(scene, line, frame));
        for reference in &panel.references {
            let look = self.look(reference.style);
            self.draw_level(scene, frame, reference.value.y, look.color, look.reference);
        }
        panel.published.iter().for_each(|line| self.draw_published(scene, line, frame));
        panel.lines.iter().for_each(|line| self.draw_line(scene, line, frame));
    }

    /// Draws printed values as small hollow markers, joined by a thin dashed line where x is an order.
    fn draw_published(&self, scene: &mut Scene, line: &PublishedLine, frame: &Frame) {
        let look = self.look(line.of);
        let shift = self.shift(line.of, frame);
        let spot = |point: &PublishedPoint| {
            let x = (self.x.position(point.x)? + shift).clamp(0.0, 1.0);
            Some(self.pixel(frame, x, self.y.position(point.y)?))
        };
        let spots: Vec<(f64, f64)> = line.points.iter().filter_map(spot).collect();
        if self.x.spacing != Spacing::Category {
            push_line(&mut spots.clone(), &mut |points| {
                scene.push(Shape::Path { points, color: look.color, width: 1, dash: Some(PUBLISHED) });
            });
        }
        scene.shapes.extend(spots.into_iter().map(|at| look.marker(at, 3.0, false)));
    }

    /// Shades every other row of names to guide the eye.
    fn draw_bands(&self, scene: &mut Scene, frame: &Frame) {
        let rows = self.x.names().len();
        let height = frame.height / rows.max(1) as f64;
        for row in (0..rows).step_by(2).filter(|_| self.horizontal) {
            let (left, right) = (frame.left, frame.left + frame.width);
            let (top, bottom) = (frame.top + row as f64 * height, frame.top + (row + 1) as f64 * height);
            let points = vec![(left, top), (right, top), (right, bottom), (left, bottom)];
            scene.push(Shape::Polygon { points, fill: BAND, stroke: BAND });
        }
    }

    fn draw_ticks(&self, scene: &mut Scene, frame: &Frame) {
        self.draw_bands(scene, frame);
        let (right, bottom) = (frame.left + frame.width, frame.top + frame.height);
        for (at, label) in self.horizontal_ticks(frame.width) {
            let x = frame.left + at * frame.width;
            scene.push(Shape::rule((x, frame.top), (x, bottom), GRID));
            if frame.outer_bottom {
                let text = Text::new(x, bottom + 13.0, &label, TICK, INK);
                scene.text(text.anchored(Anchor::Middle));
            }
        }
        for (at, label) in self.vertical_ticks(frame.height) {
            let at = if self.horizontal { at } else { 1.0 - at };
            let y = frame.top + at * frame.height;
            if !self.horizontal {
                scene.push(Shape::rule((frame.left, y), (right, y), GRID));
            }
            if frame.outer_left {
                let text = Text::new(frame.left - 7.0, y, &label, TICK, INK);
                scene.text(text.anchored(Anchor::End));
            }
        }
    }

    /// Draws a line across the panel at a measured value.
    fn draw_level(&self, scene: &mut Scene, frame: &Frame, y: f64, color: Color, dash: Option<(i32, i32)>) {
        let Some(y) = self.y.position(y) else {
            return;
        };
        let points = vec![self.pixel(frame, 0.0, y), self.pixel(frame, 1.0, y)];
        let width = if dash.is_some() { 2 } else { 1 };
        scene.push(Shape::Path { points, color, width, dash });
    }

    /// Draws a line across the panel with its label at the right: below the line at the foot of the panel,
    /// where points tend to lie above it, otherwise above the line if there is room. With horizontal
    /// categories only the legend has the label.
    fn draw_guide(&self, scene: &mut Scene, guide: &Guide, frame: &Frame) {
        let Some(level) = guide.level.filter(|_| !self.present.is_empty()) else { return };
        self.draw_level(scene, frame, level, GREY, Some(Look::guide(guide.style)));
        let Some(y) = self.y.position(level).filter(|_| !self.horizontal) else { return };
        let (x, y) = self.pixel(frame, 1.0, y);
        let (above, below) = (y - frame.top, frame.top + frame.height - y);
        let foot = below < frame.height / 4.0 && below > 2.0 * NAME;
        let aside = if above > 2.0 * NAME && !foot { -NAME } else { NAME };
        let text = Text::new(x - 6.0, y + aside, &guide.label, TICK, GREY);
        scene.text(text.anchored(Anchor::End));
    }

    /// Draws a thin line through a model's predictions; for categories a stroke at each, and a line across
    /// the panel for a prediction without x. Predictions beyond the axes are omitted.
    fn draw_model(&self, scene: &mut Scene, line: &ModelLine, frame: &Frame) {
        let color = if line.before { FRAME } else { self.look(line.of).color };
        let dash = Some(Look::model(line.rank));
        let mut push = |points| scene.push(Shape::Path { points, color, width: 1, dash });
        let mut stretch: Vec<(f64, f64)> = Vec::new();
        for point in &line.points {
            let y = self.y.position(point.y);
            let x = point.x.map(|x| self.x.position(x));
            let Some(y) = y else {
                push_line(&mut stretch, &mut push);
                continue;
            };
            match x {
                None => push(vec![self.pixel(frame, 0.0, y), self.pixel(frame, 1.0, y)]),
                Some(None) => {}
                Some(Some(x)) if self.x.spacing == Spacing::Category => {
                    let x = (x + self.shift(line.of, frame)).clamp(0.0, 1.0);
                    let across = if self.horizontal { frame.height } else { frame.width };
                    let half = STROKE / across;
                    push(vec![self.pixel(frame, x - half, y), self.pixel(frame, x + half, y)]);
                }
                Some(Some(x)) => stretch.push(self.pixel(frame, x, y)),
            }
        }
        push_line(&mut stretch, &mut push);
    }

    fn draw_line(&self, scene: &mut Scene, line: &Line, frame: &Frame) {
        let shift = self.shift(line.style, frame);
        let spot = |x: f64, m: &MeasuredValue| {
            let x = (self.x.position(x)? + shift).clamp(0.0, 1.0);
            Some((x, self.y.position(m.y)?))
        };
        let look = self.look(line.style);
        let color = look.color;
        // Categories are unordered, so their points are not joined.
        for stretch in line.stretches().filter(|_| self.x.spacing != Spacing::Category) {
            let spots = stretch.iter().filter_map(|p| spot(p.x, &p.value));
            let mut points = spots.map(|(x, y)| self.pixel(frame, x, y)).collect();
            push_line(&mut points, &mut |points| {
                scene.push(Shape::Path { points, color, width: 2, dash: look.dash });
            });
        }
        for point in &line.points {
            let Some((x, y)) = spot(point.x, &point.value) else { continue };
            if let Some(bar) = point.value.bar {
                self.draw_bar(scene, frame, (x, bar), color);
            }
            let (at, measured) = (self.pixel(frame, x, y), &point.value);
            scene.shapes.extend(look.marker_of(at, 4.0, measured.certified, measured.doubt));
        }
    }

    /// Draws a bar, with an arrowhead at an end that leaves the axis.
    fn draw_bar(&self, scene: &mut Scene, frame: &Frame, (x, bar): (f64, [f64; 2]), color: Color) {
        let [low, high] = bar.map(|end| beyond(&self.y, end));
        let at = |y: f64| self.pixel(frame, x, y);
        scene.push(Shape::rule(at(low.clamp(0.0, 1.0)), at(high.clamp(0.0, 1.0)), color));
        let along = if self.horizontal { frame.width } else { frame.height };
        for (tip, inwards) in [(0.0, 1.0), (1.0, -1.0)] {
            if (tip == 0.0 && low >= 0.0) || (tip == 1.0 && high <= 1.0) {
                continue;
            }
            let (head, foot) = (at(tip), at(tip + inwards * ARROW / along));
            let side = |sign: f64| match self.horizontal {
                true => (foot.0, foot.1 + sign * ARROW / 2.0),
                false => (foot.0 + sign * ARROW / 2.0, foot.1),
            };
            let points = vec![head, side(1.0), side(-1.0)];
            scene.push(Shape::Polygon { points, fill: color, stroke: color });
        }
    }

    fn look(&self, style: usize) -> Look {
        Look::of(style, self.lines_per_run)
    }

    /// The offset of a line's points, as a share of the axis, which keeps equal values of several lines of a
    /// category, or of several runs, from covering each other.
    fn shift(&self, style: usize, frame: &Frame) -> f64 {
        if self.x.spacing != Spacing::Category {
            let lines = self.lines_per_run.unwrap_or(usize::MAX).max(1);
            let last = self.present.last().map_or(0, |style| style / lines);
            return ((style / lines) as f64 - last as f64 / 2.0) * ASIDE / frame.width;
        }
        let n = self.present.len().max(1) as f64;
        let rank = self.present.iter().position(|&s| s == style).unwrap_or(0) as f64;
        (rank - (n - 1.0) / 2.0) / n * SPREAD / self.x.names().len().max(1) as f64
    }

    fn pixel(&self, frame: &Frame, x: f64, y: f64) -> (f64, f64) {
        if self.horizontal {
            (frame.left + y * frame.width, frame.top + x * frame.height)
        } else {
            (frame.left + x * frame.width, frame.top + (1.0 - y) * frame.height)
        }
    }
}

/// The position of the end of a bar on an axis: below 0 or above 1 where it leaves the axis. On a logarithmic axis
/// a value of 0 is infinitely far below.
pub fn beyond(axis: &AxisScale, end: f64) -> f64 {
    let position = axis.unbounded(end).unwrap_or(f64::NEG_INFINITY);
    if axis.position(end).is_some() { position.clamp(0.0, 1.0) } else { position }
}

/// Ends a stretch of a line; a single point is not drawn as a line.
fn push_line(stretch: &mut Vec<(f64, f64)>, push: &mut impl FnMut(Vec<(f64, f64)>)) {
    let points = std::mem::take(stretch);
    if points.len() > 1 {
        push(points);
    }
}
