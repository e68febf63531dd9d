//! One panel of a chart: its axes and everything between them.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::Plot;
use super::axes;
use super::canvas::Dots;
use super::frame::Frame;
use super::legend;
use crate::recipe::plan::Scale;
use crate::report::series::{Absent, Line, MeasuredValue, ModelLine, NoteKind, Panel, Predicted};
use crate::tui::chart::{Canvas, Scales};
use crate::tui::words;

/// Minimum height for the row of cases without a value.
const WITH_FOOT: u16 = 5;

/// The position of a drawn panel.
#[derive(Clone, Debug)]
pub struct Pane {
    /// Index of the panel in the chart.
    pub panel: usize,
    pub frame: Frame,
    /// Whether the panel's ticks are numbers that stand for names.
    pub numbered: bool,
    /// The row of the panel's title, if there are several panels.
    pub title: Option<Rect>,
}

/// The frame of a panel within `area`, `left` columns from its left edge.
pub fn frame(panel: &Panel, scales: &Scales, left: u16, area: Rect) -> Frame {
    let foot = area.height >= WITH_FOOT && panel.lines.iter().any(|l| !l.absent.is_empty());
    let height = area.height.saturating_sub(2 + u16::from(foot));
    let left = left.min(area.width / 3);
    let inner = Rect { x: area.x + left, width: area.width - left, height, ..area };
    Frame { area: inner, foot, x: scales.x.clone(), y: scales.y.clone() }
}

/// Draws a panel with its axes; `area` contains the frame and the axis labels.
pub fn draw(plot: &Plot, panel: usize, scales: &Scales, frame: &Frame, area: Rect, buffer: &mut Buffer) {
    let Some(shown) = plot.data.panels.get(panel) else { return };
    let empty = plot.data.is_empty();
    let ticks = if empty { Vec::new() } else { axes::ticks(&frame.y, frame.area.height) };
    axes::left(frame, &scales.whole_y, ticks, plot.theme, buffer);
    axes::bottom(frame, &scales.whole_x, area, plot.theme, buffer);
    guides(plot, shown, frame, buffer);
    models(plot, shown, frame, buffer);
    references(plot, shown, frame, buffer);
    let lines = || shown.lines.iter().filter(|l| plot.look.shows(l.style));
    lines().for_each(|l| line(plot, l, frame, buffer));
    lines().for_each(|l| bars(plot, l, frame, buffer));
    published(plot, shown, frame, buffer);
    behind(plot, panel, frame, buffer);
    lines().for_each(|l| markers(plot, l, frame, buffer));
    foot(plot, shown, frame, buffer);
    if is_empty(shown) {
        return say(plot, "no result yet", frame.area, buffer);
    }
    if lines().next().is_none() && shown.references.is_empty() {
        say(plot, "every line is hidden; press their numbers to show them", frame.area, buffer);
    }
}

fn is_empty(panel: &Panel) -> bool {
    panel.references.is_empty() && panel.models.is_empty() && panel.lines.iter().all(|l| l.points.is_empty())
}

/// Draws a faint line over the whole width for each guide, which begins with its number in the legend. Without points there
/// is nothing to compare a guide with, and the axis has no numbers.
fn guides(plot: &Plot, panel: &Panel, frame: &Frame, buffer: &mut Buffer) {
    let shown = panel.guides.iter().filter(|g| plot.look.shows(g.style) && !plot.data.is_empty());
    for guide in shown {
        let last = f64::from(frame.area.width.saturating_sub(1)).max(1.0);
        let columns = frame.area.left()..frame.area.right();
        let level = |x: u16| guide.at(frame.x.at(f64::from(x - frame.area.left()) / last));
        let mut cells = columns.filter_map(|x| Some((x, frame.row(level(x)?)?)));
        let first = cells.next();
        for at in first.into_iter().chain(cells) {
            buffer[at].set_symbol(plot.theme.guide()).set_style(plot.theme.dim());
        }
        if let Some((at, number)) = first.zip(legend::number(plot.data, guide.style)) {
            buffer[at].set_symbol(&number);
        }
    }
}

/// Draws the predictions of the models, under everything measured: a fine line in the colour of the line of the
/// same cases, a short stroke at each name, and a line over the whole width for cases to which x does not
/// apply. Predictions from before a change are faint.
fn models(plot: &Plot, panel: &Panel, frame: &Frame, buffer: &mut Buffer) {
    let shown = |line: &&ModelLine| plot.look.shows(line.style) && plot.look.shows(line.of);
    for line in panel.models.iter().filter(shown) {
        let style = if line.before { plot.theme.dim() } else { plot.theme.series(line.of) };
        let symbol = plot.theme.model(line.rank);
        let mut dots = Dots::new(frame.area, Canvas::Ascii);
        for place in line.points.iter().filter(|point| point.x.is_none()) {
            across(place.y, frame, &mut dots);
        }
        match plot.data.x.scale {
            _ if !plot.joins() => {
                line.points.iter().for_each(|point| at_name(plot, line, point, frame, &mut dots))
            }
            _ => along(line, frame, &mut dots),
        }
        dots.draw_as(symbol, style, buffer);
    }
}

/// Draws a line over the whole width at a value.
fn across(y: f64, frame: &Frame, dots: &mut Dots) {
    if let Some(row) = frame.row(y) {
        let row = f64::from(row - frame.area.y) + 0.5;
        dots.stroke((0.5, row), (f64::from(frame.area.width) - 0.5, row));
    }
}

/// Draws a stroke of three cells around the column of a name.
fn at_name(plot: &Plot, line: &ModelLine, point: &Predicted, frame: &Frame, dots: &mut Dots) {
    let column = point.x.and_then(|x| column(plot, Some(x), line.of, frame));
    if let (Some(column), Some(row)) = (column, frame.row(point.y)) {
        let (x, y) = (f64::from(column - frame.area.x) + 0.5, f64::from(row - frame.area.y) + 0.5);
        dots.stroke((x - 1.0, y), (x + 1.0, y));
    }
}

/// Connects the predictions; a single one is a point.
fn along(line: &ModelLine, frame: &Frame, dots: &mut Dots) {
    let place = |point: &Predicted| frame.place(point.x?, point.y);
    let places: Vec<_> = line.points.iter().filter(|p| p.x.is_some()).map(place).collect();
    if let [Some(only)] = places[..] {
        dots.stroke(only, only);
    }
    for pair in places.windows(2) {
        if let [Some(from), Some(to)] = pair {
            dots.stroke(*from, *to);
        }
    }
}

/// Draws a dashed line for each case to which x does not apply.
fn references(plot: &Plot, panel: &Panel, frame: &Frame, buffer: &mut Buffer) {
    for reference in panel.references.iter().filter(|r| plot.look.shows(r.style)) {
        let Some(y) = frame.row(reference.value.y) else { continue };
        dashes(plot, y, plot.theme.series(reference.style), frame, buffer);
        buffer[(frame.area.left(), y)].set_symbol(symbol(plot, reference.style, &reference.value));
    }
}

/// Draws a dashed line over the whole width.
pub fn dashes(plot: &Plot, row: u16, style: Style, frame: &Frame, buffer: &mut Buffer) {
    let dash = plot.theme.symbol("╌", "-");
    for x in (frame.area.left()..frame.area.right()).step_by(2) {
        buffer[(x, row)].set_symbol(dash).set_style(style);
    }
}

/// Draws the values that a paper prints, hollow and in the colours of their lines.
fn published(plot: &Plot, panel: &Panel, frame: &Frame, buffer: &mut Buffer) {
    for line in panel.published.iter().filter(|line| plot.look.shows(line.of)) {
        for point in &line.points {
            if let (Some(x), Some(y)) = (column(plot, Some(point.x), line.of, frame), frame.row(point.y)) {
                buffer[(x, y)].set_symbol(plot.theme.published()).set_style(plot.theme.series(line.of));
            }
        }
    }
}

/// Draws the points of the overlay, all with one marker and in the colours of their lines: behind the other
/// points, but over their lines and bars.
pub fn behind(plot: &Plot, panel: usize, frame: &Frame, buffer: &mut Buffer) {
    let shown = plot.overlay.and_then(|o| o.chart()?.panels.get(panel));
    for line in shown.iter().flat_map(|p| &p.lines).filter(|l| plot.look.shows(l.style)) {
        for point in &line.points {
            if let Some(at) = place(plot, Some(point.x), line.style, &point.value, frame) {
                buffer[at].set_symbol(plot.theme.behind()).set_style(plot.theme.series(line.style));
            }
        }
    }
}

/// Draws dots between the points, with a gap at a case without a value.
fn line(plot: &Plot, line: &Line, frame: &Frame, buffer: &mut Buffer) {
    if !plot.joins() {
        return;
    }
    let mut dots = Dots::new(frame.area, plot.canvas);
    for stretch in line.stretches() {
        let places: Vec<_> = stretch.iter().map(|p| frame.place(p.x, p.value.y)).collect();
        for pair in places.windows(2) {
            if let [Some(from), Some(to)] = pair {
                dots.stroke(*from, *to);
            }
        }
    }
    dots.draw(plot.theme.series(line.style), buffer);
}

fn bars(plot: &Plot, line: &Line, frame: &Frame, buffer: &mut Buffer) {
    let style = plot.theme.series(line.style);
    let symbol = plot.theme.symbol("│", "|");
    for point in &line.points {
        let ends = plot.bars.ends(&point.value);
        let rows = ends.and_then(|[low, high]| frame.rows(high, low));
        let column = column(plot, Some(point.x), line.style, frame);
        if let (Some(x), Some((top, bottom))) = (column, rows) {
            for y in top..=bottom {
                buffer[(x, y)].set_symbol(symbol).set_style(style);
            }
            let [low, high] = ends.unwrap_or_default().map(|end| frame.y.position(end).is_none());
            let (up, down) = (plot.theme.symbol("↑", "^"), plot.theme.symbol("↓", "v"));
            for (y, arrow) in
                [(top, up)].into_iter().filter(|_| high).chain([(bottom, down)].into_iter().filter(|_| low))
            {
                buffer[(x, y)].set_symbol(arrow).set_style(style);
            }
        }
    }
}

/// The marker of a measured value; another one if it is doubtful, unsteady or throttled.
pub fn symbol(plot: &Plot, style: usize, value: &MeasuredValue) -> &'static str {
    match value.doubt.any() {
        true => plot.theme.doubtful_marker(style),
        false => plot.theme.marker(style),
    }
}

fn markers(plot: &Plot, line: &Line, frame: &Frame, buffer: &mut Buffer) {
    let style = plot.theme.series(line.style);
    for point in &line.points {
        if let Some(at) = place(plot, Some(point.x), line.style, &point.value, frame) {
            buffer[at].set_symbol(symbol(plot, line.style, &point.value)).set_style(style);
        }
    }
}

/// Draws a mark under the frame for each case without a value. If several share a cell, a failure is on top.
fn foot(plot: &Plot, panel: &Panel, frame: &Frame, buffer: &mut Buffer) {
    let lines = || panel.lines.iter().filter(|l| plot.look.shows(l.style));
    let all = || lines().flat_map(|l| l.absent.iter().map(move |a| (l.style, a)));
    let failed = |a: &Absent| a.kind == NoteKind::Failed;
    for (style, absent) in all().filter(|(_, a)| !failed(a)).chain(all().filter(|(_, a)| failed(a))) {
        if let Some(at) = foot_place(plot, style, absent, frame) {
            let (symbol, style) = mark(plot, absent);
            buffer[at].set_symbol(symbol).set_style(style);
        }
    }
}

/// The mark of a case without a value, the same as in the list of cases.
pub fn mark(plot: &Plot, absent: &Absent) -> (&'static str, Style) {
    match absent.kind {
        NoteKind::Failed => (plot.theme.failed(), plot.theme.bad()),
        _ => (plot.theme.symbol("–", "-"), plot.theme.dim()),
    }
}

/// The position of a mark under the frame.
pub fn foot_place(plot: &Plot, style: usize, absent: &Absent, frame: &Frame) -> Option<(u16, u16)> {
    Some((column(plot, Some(absent.x), style, frame)?, frame.foot_row()?))
}

/// The position of a point's marker.
pub fn place(
    plot: &Plot,
    x: Option<f64>,
    style: usize,
    value: &MeasuredValue,
    frame: &Frame,
) -> Option<(u16, u16)> {
    Some((column(plot, x, style, frame)?, frame.row(value.y)?))
}

/// The column of a point. On an axis of names, the series share a name's band side by side. A reference, which
/// has no x, is at the left edge.
pub fn column(plot: &Plot, x: Option<f64>, style: usize, frame: &Frame) -> Option<u16> {
    let Some(x) = x else { return Some(frame.area.left()) };
    let column = frame.column(x)?;
    let (low, high) = frame.x.ends();
    let series = plot.data.labels.len();
    let names = plot.data.x.scale == Scale::Category;
    let band = (f64::from(frame.area.width) / (high - low).max(1.0)) as usize;
    if !names || band <= series || style >= series {
        return Some(column);
    }
    let shift = style as i32 - (series as i32 - 1) / 2;
    let shifted = i32::from(column) + shift;
    Some(shifted.clamp(frame.area.left().into(), (frame.area.right() - 1).into()) as u16)
}

/// Draws a short text in the middle.
pub fn say(plot: &Plot, text: &str, area: Rect, buffer: &mut Buffer) {
    if area.is_empty() {
        return;
    }
    let text = words::fit(text, usize::from(area.width), plot.theme);
    let x = area.x + (area.width - words::width(&text) as u16) / 2;
    buffer.set_string(x, area.y + area.height / 2, text, Style::default());
}
