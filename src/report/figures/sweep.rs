//! Figures over a swept parameter, mainly the stride of a uniform pattern: one line for each platform, one
//! panel for each kernel, both axes in powers of two.

use super::lookup::{Missing, Subject, word};
use super::mark::{Mark, Spread};
use super::platform::Platform;
use crate::inputs::applications::Use;
use crate::recipe::plan::{Bars, Quantity, Scale};
use crate::report::scale::Spacing;
use crate::report::series::{BarKinds, ChartData, Doubt, Line, MeasuredValue, Panel, Point, XAxis, YAxis};
use crate::report::unit::Unit;

pub const SIDES: [Use; 2] = [Use::Gather, Use::Scatter];

/// A bandwidth axis in powers of two.
pub fn bandwidth() -> YAxis {
    let (quantity, spacing) = (Quantity::Bandwidth, Some(Spacing::Log2));
    YAxis { quantity, relative_to: None, unit: Unit::GigabytesPerSecond, named: None, spacing }
}

/// A platform's bandwidth at each of its strides; a single missing mark if it has none of a kernel.
pub fn marks(panel: &str, platform: &Platform, side: Use) -> Vec<Mark> {
    let strides = platform.strides(side);
    if strides.is_empty() {
        let missing = Missing::not_applicable("not in these runs");
        return vec![Mark::missing(panel, platform, "all strides".to_owned(), missing)];
    }
    let mark = |stride| {
        let wanted = Subject::Uniform { side, stride };
        Mark::of(panel, platform, format!("stride {stride}"), Some(stride as f64), wanted)
    };
    strides.into_iter().map(mark).collect()
}

/// The panel of a kernel: `Gather`.
pub fn title(side: Use) -> String {
    let word = word(side);
    word[..1].to_uppercase() + &word[1..]
}

/// The marks as lines over the stride, with a style for each platform that has a point.
pub fn chart(title: &str, y: YAxis, marks: &[Mark]) -> ChartData {
    let stride = XAxis {
        key: "source.uniform.stride".to_owned(),
        name: "Stride (doubles), log scale".to_owned(),
        scale: Scale::Log,
        unit: Unit::Number,
        values: Vec::new(),
        categories: Vec::new(),
    };
    lines(title, x_axis(marks, stride), y, marks, |mark| &mark.platform)
}

/// The marks as lines grouped by `name`, with a style for each name that has a point.
pub fn lines(title: &str, x: XAxis, y: YAxis, marks: &[Mark], name: fn(&Mark) -> &str) -> ChartData {
    let mut data = ChartData {
        title: title.to_owned(),
        x,
        y,
        labels: Vec::new(),
        lines_per_run: None,
        panels: Vec::new(),
        models: Vec::new(),
        notes: Vec::new(),
        bars: BarKinds::All(Bars::Range),
        noise: Vec::new(),
        residual: false,
        roofline: false,
    };
    for mark in marks {
        if let (Some(x), Ok(spread)) = (mark.x, &mark.y) {
            let style = position(&mut data.labels, name(mark));
            let panel = panel(&mut data.panels, &mark.panel);
            line(panel, name(mark), style).points.push(point(x, mark, spread));
        }
    }
    data
}

/// The axis, extended by the x values of the marks.
pub fn x_axis(marks: &[Mark], axis: XAxis) -> XAxis {
    let mut values: Vec<f64> = marks.iter().filter_map(|mark| mark.x).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    XAxis { values, ..axis }
}

fn point(x: f64, mark: &Mark, spread: &Spread) -> Point {
    let (y_min, y_max) = (spread.low.min(spread.high), spread.low.max(spread.high));
    let bar = Some([y_min, y_max]);
    let (interval, doubt) = (None, Doubt::default());
    let value = MeasuredValue { y: spread.y, y_min, y_max, bar, interval, case: 0, certified: true, doubt };
    Point { x, label: mark.pattern.clone(), value }
}

fn position(labels: &mut Vec<String>, label: &str) -> usize {
    labels.iter().position(|known| known == label).unwrap_or_else(|| {
        labels.push(label.to_owned());
        labels.len() - 1
    })
}

fn panel<'a>(panels: &'a mut Vec<Panel>, title: &str) -> &'a mut Panel {
    let at = panels.iter().position(|p| p.title == title).unwrap_or_else(|| {
        panels.push(Panel { title: title.to_owned(), ..Panel::default() });
        panels.len() - 1
    });
    &mut panels[at]
}

fn line<'a>(panel: &'a mut Panel, label: &str, style: usize) -> &'a mut Line {
    let at = panel.lines.iter().position(|l| l.style == style).unwrap_or_else(|| {
        panel.lines.push(Line { label: label.to_owned(), style, points: Vec::new(), absent: Vec::new() });
        panel.lines.len() - 1
    });
    &mut panel.lines[at]
}
