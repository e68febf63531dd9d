//! The axes: rules, ticks on their exact cells, labels.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::Plot;
use super::frame::Frame;
use crate::plan::Scale;
use crate::report::scale::AxisScale;
use crate::tui::words;

/// Rows for each label of the y axis, so that there is an empty one between two.
const ROWS_PER_LABEL: u16 = 2;
/// Most labels of the x axis.
const MOST_LABELS: usize = 24;

/// Draws both axes into `area` and returns the frame between them.
pub fn draw(plot: &Plot, area: Rect, buffer: &mut Buffer) -> Frame {
    let y = plot.data.y_scale();
    let height = area.height.saturating_sub(2);
    let ticks = match plot.data.is_empty() {
        true => Vec::new(),
        false => y.ticks(usize::from((height / ROWS_PER_LABEL).max(2))),
    };
    let widest = ticks.iter().map(|(_, label)| words::width(label)).max().unwrap_or(0);
    let left = (widest as u16 + 1).min(area.width / 3);
    let inner = Rect { x: area.x + left, width: area.width - left, height, ..area };
    let frame = Frame { area: inner, x: plot.data.x_scale(), y };
    rules(plot, &frame, buffer);
    y_ticks(plot, &frame, area, &ticks, buffer);
    x_ticks(plot, &frame, area, buffer);
    frame
}

/// The y axis lies in the column left of the frame, the x axis in the row below it.
fn rules(plot: &Plot, frame: &Frame, buffer: &mut Buffer) {
    let (theme, inner) = (plot.theme, frame.area);
    let left = inner.x.saturating_sub(1);
    for y in inner.top()..inner.bottom() {
        buffer[(left, y)].set_symbol(theme.symbol("│", "|")).set_style(theme.dim());
    }
    for x in inner.left()..inner.right() {
        buffer[(x, inner.bottom())].set_symbol(theme.symbol("─", "-")).set_style(theme.dim());
    }
    buffer[(left, inner.bottom())].set_symbol(theme.symbol("└", "+")).set_style(theme.dim());
}

fn y_ticks(plot: &Plot, frame: &Frame, area: Rect, ticks: &[(f64, String)], buffer: &mut Buffer) {
    let theme = plot.theme;
    let rule = frame.area.x.saturating_sub(1);
    let room = usize::from(rule.saturating_sub(area.x));
    let mut taken = None;
    for (position, label) in ticks {
        let row = frame.row_at(*position);
        if taken == Some(row) {
            continue;
        }
        taken = Some(row);
        let label = words::fit(label, room, theme);
        buffer.set_string(rule - words::width(&label) as u16, row, label, theme.dim());
        buffer[(rule, row)].set_symbol(theme.symbol("┤", "+")).set_style(theme.dim());
    }
}

fn x_ticks(plot: &Plot, frame: &Frame, area: Rect, buffer: &mut Buffer) {
    let theme = plot.theme;
    let row = frame.area.bottom();
    for (column, label) in labels(plot, frame, area) {
        buffer[(column, row)].set_symbol(theme.symbol("┴", "+")).set_style(theme.dim());
        let start = start(column, words::width(&label), area);
        buffer.set_stringn(start, row + 1, label, usize::from(area.right() - start), theme.dim());
    }
}

/// Columns and labels of as many ticks as fit side by side.
pub fn labels(plot: &Plot, frame: &Frame, area: Rect) -> Vec<(u16, String)> {
    let names = plot.data.x.scale == Scale::Category;
    let with = |most: usize, scale: &AxisScale| -> Vec<(u16, String)> {
        scale.ticks(most).into_iter().map(|(p, label)| (frame.column_at(p), label)).collect()
    };
    if names {
        let all = with(frame.x.names().len(), &frame.x);
        if fits(&all, area) {
            return all;
        }
    }
    let numbered = names.then(|| AxisScale::categories(numbers(frame.x.names().len())));
    let scale = numbered.as_ref().unwrap_or(&frame.x);
    let candidates = (1..=MOST_LABELS).rev().map(|most| with(most, scale));
    candidates.into_iter().find(|labels| fits(labels, area)).unwrap_or_default()
}

fn numbers(count: usize) -> Vec<String> {
    (1..=count).map(|n| n.to_string()).collect()
}

/// Whether the labels, each centred on its column, stay apart and inside.
fn fits(labels: &[(u16, String)], area: Rect) -> bool {
    let mut free = area.x;
    labels.iter().all(|(column, label)| {
        let width = words::width(label);
        let start = start(*column, width, area);
        let apart = start >= free;
        free = start.saturating_add(width as u16 + 1);
        apart && start.saturating_add(width as u16) <= area.right()
    })
}

/// First column of a label that is centred on `column`, moved inside the area.
fn start(column: u16, width: usize, area: Rect) -> u16 {
    let width = width as u16;
    let centred = column.saturating_sub(width / 2).max(area.x);
    centred.min(area.right().saturating_sub(width)).max(area.x)
}
