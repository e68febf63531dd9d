//! Marks over the number of buckets: measured values as solid lines, the paper's as dashed lines of the same
//! colour.

use crate::recipe::plan::Scale;
use crate::report::figures::mark::Mark;
use crate::report::figures::splits::Line;
use crate::report::figures::sweep;
use crate::report::series::{ChartData, XAxis, YAxis};
use crate::report::unit::Unit;

/// Suffix of the dashed lines' labels in the legend.
pub const SOURCE: &str = ", GTX 1080 in the paper";

/// Chart of the marks as lines.
pub fn chart(title: &str, y: YAxis, marks: &[Mark]) -> ChartData {
    let axis = XAxis {
        key: "buckets".to_owned(),
        name: "Buckets, log scale".to_owned(),
        scale: Scale::Log,
        unit: Unit::Count,
        values: Vec::new(),
        categories: Vec::new(),
    };
    let mut named = marks.to_vec();
    named.iter_mut().filter(|mark| mark.published).for_each(|mark| mark.pattern.push_str(SOURCE));
    paired(sweep::lines(title, sweep::x_axis(marks, axis), y, &named, |mark| &mark.pattern))
}

/// Adds a style for each present line, and one for its counterpart in the paper.
fn paired(mut data: ChartData) -> ChartData {
    let bare = |label: &str| label.strip_suffix(SOURCE).unwrap_or(label).to_owned();
    let lines: Vec<&str> = Line::ALL.iter().map(|line| line.name()).collect();
    let there: Vec<&str> =
        lines.into_iter().filter(|line| data.labels.iter().any(|label| bare(label) == *line)).collect();
    let style = |label: &str| {
        let line = there.iter().position(|line| *line == bare(label)).unwrap_or(there.len());
        if label.ends_with(SOURCE) { there.len() + line } else { line }
    };
    for line in data.panels.iter_mut().flat_map(|panel| &mut panel.lines) {
        line.style = style(&line.label);
    }
    let mut labels = vec![String::new(); 2 * there.len()];
    for label in std::mem::take(&mut data.labels) {
        let style = style(&label);
        labels[style] = label;
    }
    data.lines_per_run = Some(there.len());
    ChartData { labels, ..data }
}
