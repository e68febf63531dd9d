//! Positions of the cursor and its moves. The cursor stands on the selected case.

use super::Look;
use crate::report::series::Panel;

/// A case with a place on the panel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stop {
    pub case: usize,
    pub style: usize,
    /// `None` for a reference, which applies at every x.
    pub x: Option<f64>,
    /// `None` for a case without a value.
    pub y: Option<f64>,
}

/// Every case that the panel shows, line by line, ascending in x.
pub fn stops(panel: &Panel, look: &Look) -> Vec<Stop> {
    let mut stops = Vec::new();
    for line in panel.lines.iter().filter(|l| look.shows(l.style)) {
        let style = line.style;
        let first = stops.len();
        let point = |x, y, case| Stop { case, style, x: Some(x), y };
        stops.extend(line.points.iter().map(|p| point(p.x, Some(p.value.y), p.value.case)));
        stops.extend(line.absent.iter().map(|a| point(a.x, None, a.case)));
        stops[first..].sort_by(|a, b| a.x.unwrap_or(0.0).total_cmp(&b.x.unwrap_or(0.0)));
    }
    let references = panel.references.iter().filter(|r| look.shows(r.style));
    stops.extend(references.map(|r| Stop {
        case: r.value.case,
        style: r.style,
        x: None,
        y: Some(r.value.y),
    }));
    stops
}

/// The stop of a case, or the stop nearest to it in the order of the plan.
pub fn at(stops: &[Stop], case: usize) -> Option<Stop> {
    stops.iter().copied().min_by_key(|stop| stop.case.abs_diff(case))
}

/// The case `by` stops along the line.
pub fn along(stops: &[Stop], case: usize, by: isize) -> Option<usize> {
    let here = at(stops, case)?;
    let line: Vec<usize> = stops.iter().filter(|s| s.style == here.style).map(|s| s.case).collect();
    let place = line.iter().position(|c| *c == here.case)?;
    line.get(place.saturating_add_signed(by).min(line.len() - 1)).copied()
}

/// The case `by` series further up (negative) or down at the same x; cases without a value are at the foot.
pub fn across(stops: &[Stop], case: usize, by: isize) -> Option<usize> {
    let here = at(stops, case)?;
    // A reference has no x, so the cursor goes to the first x.
    let first = stops.iter().filter_map(|s| s.x).min_by(f64::total_cmp);
    let x = here.x.or(first);
    let mut column: Vec<&Stop> = stops.iter().filter(|s| s.x.is_none() || s.x == x).collect();
    let height = |s: &Stop| s.y.unwrap_or(f64::NEG_INFINITY);
    column.sort_by(|a, b| height(b).total_cmp(&height(a)).then(a.style.cmp(&b.style)));
    let place = column.iter().position(|s| s.case == here.case)?;
    column.get(place.saturating_add_signed(by).min(column.len() - 1)).map(|s| s.case)
}

/// The case of another panel that corresponds to a stop of this panel.
pub fn counterpart(stops: &[Stop], of: Stop) -> Option<usize> {
    let same = stops.iter().find(|s| s.style == of.style && s.x == of.x);
    let near = || stops.iter().find(|s| s.style == of.style);
    same.or_else(near).or(stops.first()).map(|s| s.case)
}
