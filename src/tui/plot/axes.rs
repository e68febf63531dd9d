//! The axes: rules, ticks on their exact cells, labels.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::frame::Frame;
use crate::report::scale::AxisScale;
use crate::tui::chart::scales::seen;
use crate::tui::theme::Theme;
use crate::tui::words;

/// Rows per label of the y axis, so that labels are separated by an empty row.
const ROWS_PER_LABEL: u16 = 2;
/// Maximum number of labels on the x axis.
const MOST_LABELS: usize = 24;

/// Positions of an axis's ticks, from 0 to 1, and their labels.
pub type Ticks = Vec<(f64, String)>;

/// Columns of a y axis: its widest label and the rule.
pub fn gutter(ticks: &Ticks) -> u16 {
    ticks.iter().map(|(_, label)| words::width(label)).max().unwrap_or(0) as u16 + 1
}

/// The ticks of a y axis that is this many rows high.
pub fn ticks(y: &AxisScale, rows: u16) -> Ticks {
    y.ticks(usize::from((rows / ROWS_PER_LABEL).max(2)))
}

/// Draws the rule left of the frame with its ticks. If only a part of the whole axis is visible, the
/// corresponding part of the rule is heavy.
pub fn left(frame: &Frame, whole: &AxisScale, ticks: Ticks, theme: Theme, buffer: &mut Buffer) {
    let inner = frame.area;
    let rule = inner.x.saturating_sub(1);
    let rows = inner.top()..frame.rule_row();
    let heavy = heavy(&frame.y, whole, inner.height);
    for (index, y) in rows.enumerate() {
        let from_below = usize::from(inner.height).checked_sub(index + 1);
        let symbol = match from_below.is_some_and(&heavy) {
            true => theme.symbol("┃", "#"),
            false => theme.symbol("│", "|"),
        };
        buffer[(rule, y)].set_symbol(symbol).set_style(theme.dim());
    }
    y_ticks(frame, ticks, theme, buffer);
}

/// Draws the ticks, each on a row of its own. On a row with several, zero goes first, which is a line of its own.
fn y_ticks(frame: &Frame, ticks: Ticks, theme: Theme, buffer: &mut Buffer) {
    let rule = frame.area.x.saturating_sub(1);
    let zero = frame.y.position(0.0);
    let (zero, others): (Ticks, Ticks) = ticks.into_iter().partition(|(position, _)| Some(*position) == zero);
    let mut taken = Vec::new();
    for (position, label) in zero.into_iter().chain(others) {
        let row = frame.row_at(position);
        let width = words::width(&label) as u16;
        let start = rule.checked_sub(width).filter(|start| *start >= buffer.area.x);
        let Some(start) = start.filter(|_| !taken.contains(&row)) else { continue };
        taken.push(row);
        buffer.set_string(start, row, label, theme.dim());
        buffer[(rule, row)].set_symbol(theme.symbol("┤", "+")).set_style(theme.dim());
    }
}

/// Draws the rule under the frame with its ticks, and their labels in the row below, within `area`.
pub fn bottom(frame: &Frame, whole: &AxisScale, area: Rect, theme: Theme, buffer: &mut Buffer) {
    let (inner, row) = (frame.area, frame.rule_row());
    let heavy = heavy(&frame.x, whole, inner.width);
    for (index, x) in (inner.left()..inner.right()).enumerate() {
        let symbol = match heavy(index) {
            true => theme.symbol("━", "="),
            false => theme.symbol("─", "-"),
        };
        buffer[(x, row)].set_symbol(symbol).set_style(theme.dim());
    }
    buffer[(inner.x.saturating_sub(1), row)].set_symbol(theme.symbol("└", "+")).set_style(theme.dim());
    for (column, label) in labels(frame, area) {
        buffer[(column, row)].set_symbol(theme.symbol("┴", "+")).set_style(theme.dim());
        let start = start(column, words::width(&label), area);
        buffer.set_stringn(start, row + 1, label, usize::from(area.right() - start), theme.dim());
    }
}

/// A predicate on the `cells` cells along an axis: whether the visible part of the axis lies there. Always
/// false if the whole axis is visible.
fn heavy(part: &AxisScale, whole: &AxisScale, cells: u16) -> impl Fn(usize) -> bool {
    let (from, to) = seen(part, whole);
    let all = to - from > 1.0 - 1e-9;
    let cells = f64::from(cells);
    let first = (from * cells).floor().min(cells - 1.0);
    let last = (to * cells).ceil().max(first + 1.0);
    move |cell| !all && (first..last).contains(&(cell as f64))
}

/// Columns and labels of as many ticks as fit side by side.
pub fn labels(frame: &Frame, area: Rect) -> Vec<(u16, String)> {
    let numbered = numbered(frame, area);
    let scale = numbered.as_ref().unwrap_or(&frame.x);
    let every = Some(frame.x.names().len()).filter(|names| *names > 0 && numbered.is_none());
    let candidates = every.into_iter().chain((1..=MOST_LABELS).rev());
    let mut labels = candidates.map(|most| placed(frame, scale, most));
    labels.find(|labels| fits(labels, area)).unwrap_or_default()
}

/// The axis with numbers in place of its names, if the names do not fit side by side and are longer than their
/// numbers; otherwise a number would convey less than the name.
pub fn numbered(frame: &Frame, area: Rect) -> Option<AxisScale> {
    let names = frame.x.names();
    let widest = names.iter().map(|name| words::width(name)).max()?;
    let short = widest <= names.len().to_string().len();
    let numbers = || (1..=names.len()).map(|n| n.to_string()).collect();
    let named = short || fits(&placed(frame, &frame.x, names.len()), area);
    (!named).then(|| AxisScale::categories(numbers()).part(frame.x.ends()))
}

/// Columns and labels of at most `most` ticks of a scale.
fn placed(frame: &Frame, scale: &AxisScale, most: usize) -> Vec<(u16, String)> {
    scale.ticks(most).into_iter().map(|(position, label)| (frame.column_at(position), label)).collect()
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
pub fn start(column: u16, width: usize, area: Rect) -> u16 {
    let width = width as u16;
    let centred = column.saturating_sub(width / 2).max(area.x);
    centred.min(area.right().saturating_sub(width)).max(area.x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::scale::Spacing;
    use crate::report::unit::Unit;

    /// A pane of differences from +100 to -20 per cent once had -20 beside the line at zero.
    #[test]
    fn ticks_do_not_share_a_row_and_zero_has_its_own_label() {
        for ends in [[100.0, -20.0], [20.0, -100.0], [2.0, -1.0], [900.0, -1.0]] {
            let y = AxisScale::measured_as(&ends, Spacing::Linear, Unit::Percent);
            for height in 1..30 {
                let area = Rect::new(10, 0, 10, height);
                let frame = Frame { area, foot: false, x: y.clone(), y: y.clone() };
                let (low, high) = y.ends();
                let all = [low, high, 0.0].map(|v| (y.position(v).expect("inside"), y.label(v))).to_vec();
                for ticks in [all, self::ticks(&y, height)] {
                    let zero = ticks.iter().find(|(at, _)| Some(*at) == y.position(0.0)).cloned();
                    let mut buffer = Buffer::empty(Rect::new(0, 0, 20, height));
                    y_ticks(&frame, ticks, Theme::PLAIN, &mut buffer);
                    let row = |row: u16| (0..9).map(|x| buffer[(x, row)].symbol()).collect::<String>();
                    let labels: Vec<String> = (0..height).map(row).collect();
                    let labels: Vec<&str> = labels.iter().map(|label| label.trim()).collect();
                    if let (Some((_, zero)), Some(row)) = (zero, frame.row(0.0)) {
                        assert_eq!(labels[usize::from(row)], zero, "{ends:?} in {height} rows: {labels:?}");
                    }
                    assert!(labels.iter().all(|label| label.matches('%').count() <= 1), "{labels:?}");
                }
            }
        }
    }
}
