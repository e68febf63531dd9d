//! The chart on a terminal: cells, drawn directly, over the axes that the SVG has too.
//!
//! Ticks and points go through the same mapping, so a tick stands exactly in the
//! column of the points that it names. What is drawn later overwrites: references,
//! lines, bars from the smallest to the largest sample, markers, the selection.

mod axes;
mod dots;
mod frame;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::theme::Theme;
use super::words;
use crate::plan::Scale;
use crate::report::scale::Spacing;
use crate::report::series::{ChartData, Line, Measured, Panel};
use dots::Dots;
use frame::Frame;

/// A panel of a chart, to be drawn.
#[derive(Clone, Copy, Debug)]
pub struct Plot<'a> {
    pub data: &'a ChartData,
    /// Index of the panel; the last one where there are fewer.
    pub panel: usize,
    /// Position of the selected case.
    pub selected: usize,
    pub theme: Theme,
}

/// Smallest area that can show anything.
const SMALLEST: (u16, u16) = (16, 5);

impl Plot<'_> {
    /// Draws the chart over all of `area`.
    pub fn draw(&self, area: Rect, buffer: &mut Buffer) {
        let last = self.data.panels.len().saturating_sub(1);
        let Some(panel) = self.data.panels.get(self.panel.min(last)) else { return };
        if area.width < SMALLEST.0 || area.height < SMALLEST.1 {
            return self.say("too small for a chart", area, buffer);
        }
        let area = self.above(panel, area, buffer);
        let area = self.below(area, buffer);
        let frame = axes::draw(self, area, buffer);
        if panel_is_empty(panel) {
            return self.say("no result yet", frame.area, buffer);
        }
        self.references(panel, &frame, buffer);
        panel.lines.iter().for_each(|line| self.line(line, &frame, buffer));
        for (x, style, measured) in points(panel) {
            self.point(x, style, measured, &frame, buffer);
        }
        self.highlight(panel, &frame, buffer);
    }

    /// Position of the case whose marker is nearest to a cell when the chart is drawn on
    /// `area`; cells are about twice as high as wide.
    pub fn nearest(&self, area: Rect, (column, row): (u16, u16)) -> Option<usize> {
        let last = self.data.panels.len().saturating_sub(1);
        let panel = self.data.panels.get(self.panel.min(last))?;
        if area.width < SMALLEST.0 || area.height < SMALLEST.1 {
            return None;
        }
        // Where the frame is comes out of drawing what stands around it.
        let mut scratch = Buffer::empty(area);
        let around = self.above(panel, area, &mut scratch);
        let around = self.below(around, &mut scratch);
        let frame = axes::draw(self, around, &mut scratch);
        let distance = |(x, style, value): (Option<f64>, usize, Measured)| {
            let (x, y) = self.cell(x, style, value, &frame)?;
            let (dx, dy) = (u32::from(x.abs_diff(column)), 2 * u32::from(y.abs_diff(row)));
            Some((dx * dx + dy * dy, value.case))
        };
        points(panel).filter_map(distance).min().map(|(_, case)| case)
    }

    /// The title of the y axis and the legend; returns the area under them.
    fn above(&self, panel: &Panel, area: Rect, buffer: &mut Buffer) -> Rect {
        let columns = usize::from(area.width);
        let log = !self.data.is_empty() && self.data.y_scale().spacing == Spacing::Log10;
        let title = format!("{}{}", self.data.y.title(), if log { ", log" } else { "" });
        let title = words::fit(&title, columns, self.theme);
        buffer.set_string(area.x, area.y, title, self.theme.dim());
        let entries = self.legend(panel);
        let most = if area.height >= 16 { 3 } else { 1 };
        let rows = rows(&entries, columns).min(most);
        let mut at = (area.x, area.y + 1);
        for (index, (style, label)) in entries.iter().enumerate() {
            let text = format!("{} {label}", self.theme.marker(*style));
            let text = words::fit(&text, columns, self.theme);
            let width = words::width(&text) as u16;
            if at.0 > area.x && at.0 + width > area.right() {
                at = (area.x, at.1 + 1);
            }
            if at.1 > area.y + rows {
                self.more(entries.len() - index, Rect { y: at.1 - 1, height: 1, ..area }, buffer);
                break;
            }
            buffer.set_string(at.0, at.1, text, Style::default());
            buffer[at].set_style(self.theme.series(*style));
            at.0 = at.0.saturating_add(width + 2);
        }
        Rect { y: area.y + 1 + rows, height: area.height - 1 - rows, ..area }
    }

    /// The lines that have something to show, as on the SVG.
    fn legend(&self, panel: &Panel) -> Vec<(usize, String)> {
        let shown = panel.lines.iter().filter(|l| !l.points.is_empty());
        let lines = shown.map(|l| (l.style, l.label.clone()));
        let references = panel.references.iter().map(|r| (r.style, r.label.clone()));
        let mut entries: Vec<(usize, String)> =
            lines.chain(references).filter(|(_, l)| !l.is_empty()).collect();
        entries.dedup();
        entries
    }

    /// How many entries of the legend are not shown.
    fn more(&self, count: usize, row: Rect, buffer: &mut Buffer) {
        let text = format!(" +{count} more");
        let width = words::width(&text) as u16;
        if width < row.width {
            buffer.set_string(row.right() - width, row.y, text, self.theme.dim());
        }
    }

    /// The title of the x axis and the first note; returns the area over them.
    fn below(&self, mut area: Rect, buffer: &mut Buffer) -> Rect {
        let columns = usize::from(area.width);
        let mut row = |text: String, area: &mut Rect| {
            area.height -= 1;
            let text = words::fit(&text, columns, self.theme);
            let x = area.x + (area.width - words::width(&text) as u16) / 2;
            buffer.set_string(x, area.bottom(), text, self.theme.dim());
        };
        if area.height >= 12
            && let Some(note) = self.data.notes.iter().find(|n| !n.reason.is_empty())
        {
            row(note.to_string(), &mut area);
        }
        if area.height >= 7 {
            row(self.x_title(), &mut area);
        }
        area
    }

    /// The name of the x axis; on an axis of names, the selected one as well.
    fn x_title(&self) -> String {
        let x = &self.data.x;
        let points = self.data.panels.iter().flat_map(|p| &p.lines).flat_map(|l| &l.points);
        let mut selected = points.filter(|p| p.value.case == self.selected);
        match x.scale {
            Scale::Category => match selected.next() {
                Some(point) => format!("{}: {} {}", x.name, point.x as usize + 1, point.label),
                None => x.name.clone(),
            },
            Scale::Log => format!("{}, log", x.name),
            Scale::Linear => x.name.clone(),
        }
    }

    /// A dashed line for each case that x does not apply to.
    fn references(&self, panel: &Panel, frame: &Frame, buffer: &mut Buffer) {
        let dash = self.theme.symbol("╌", "-");
        for reference in &panel.references {
            let Some(y) = frame.row(reference.value.y) else { continue };
            let style = self.theme.series(reference.style);
            for x in (frame.area.left()..frame.area.right()).step_by(2) {
                buffer[(x, y)].set_symbol(dash).set_style(style);
            }
            buffer[(frame.area.left(), y)].set_symbol(self.theme.marker(reference.style));
        }
    }

    /// Dots between the points; names have no order that a line could show.
    fn line(&self, line: &Line, frame: &Frame, buffer: &mut Buffer) {
        if self.data.x.scale == Scale::Category {
            return;
        }
        let mut dots = Dots::new(frame.area);
        for pair in line.points.windows(2) {
            let ends = (frame.place(pair[0].x, pair[0].value.y), frame.place(pair[1].x, pair[1].value.y));
            if let (Some(from), Some(to)) = ends {
                dots.stroke(from, to);
            }
        }
        dots.draw(self.theme, self.theme.series(line.style), buffer);
    }

    /// The bar from the smallest to the largest sample, and the marker on it.
    fn point(&self, x: Option<f64>, style: usize, value: Measured, frame: &Frame, buffer: &mut Buffer) {
        let Some((column, row)) = self.cell(x, style, value, frame) else { return };
        let ends = (frame.row(value.y_max), frame.row(value.y_min));
        if let (Some(top), Some(bottom)) = ends {
            for y in top..=bottom {
                let bar = self.theme.symbol("│", "|");
                buffer[(column, y)].set_symbol(bar).set_style(self.theme.series(style));
            }
        }
        buffer[(column, row)].set_symbol(self.theme.marker(style)).set_style(self.theme.series(style));
    }

    /// The selected case's marker, in brackets and once more, so that no other series
    /// hides it.
    fn highlight(&self, panel: &Panel, frame: &Frame, buffer: &mut Buffer) {
        let all = points(panel).chain(panel.references.iter().map(|r| (None, r.style, r.value)));
        for (x, style, value) in all.filter(|(_, _, m)| m.case == self.selected) {
            let Some((column, row)) = self.cell(x, style, value, frame) else { continue };
            buffer[(column, row)].set_symbol(self.theme.marker(style)).set_style(self.theme.series(style));
            let sides = [(column.checked_sub(1), "["), (column.checked_add(1), "]")];
            for (side, bracket) in sides {
                let side = side.filter(|x| (frame.area.left()..frame.area.right()).contains(x));
                if let Some(x) = side {
                    buffer[(x, row)].set_symbol(bracket).set_style(self.theme.title());
                }
            }
        }
    }

    /// Where a point's marker is: series share the band of a name side by side.
    fn cell(&self, x: Option<f64>, style: usize, value: Measured, frame: &Frame) -> Option<(u16, u16)> {
        let row = frame.row(value.y)?;
        let Some(x) = x else { return Some((frame.area.left(), row)) };
        let column = frame.column(x)?;
        let (names, series) = (self.data.x.categories.len(), self.data.labels.len());
        let band = usize::from(frame.area.width) / names.max(1);
        if names == 0 || band <= series {
            return Some((column, row));
        }
        let shift = style as i32 - (series as i32 - 1) / 2;
        let shifted =
            (i32::from(column) + shift).clamp(frame.area.left().into(), (frame.area.right() - 1).into());
        Some((shifted as u16, row))
    }

    fn say(&self, text: &str, area: Rect, buffer: &mut Buffer) {
        if area.is_empty() {
            return;
        }
        let text = words::fit(text, usize::from(area.width), self.theme);
        let x = area.x + (area.width - words::width(&text) as u16) / 2;
        buffer.set_string(x, area.y + area.height / 2, text, Style::default());
    }
}

fn panel_is_empty(panel: &Panel) -> bool {
    panel.references.is_empty() && panel.lines.iter().all(|l| l.points.is_empty())
}

fn points(panel: &Panel) -> impl Iterator<Item = (Option<f64>, usize, Measured)> + '_ {
    panel.lines.iter().flat_map(|l| l.points.iter().map(|p| (Some(p.x), l.style, p.value)))
}

/// Rows that a legend takes when its entries flow.
fn rows(entries: &[(usize, String)], columns: usize) -> u16 {
    let (mut rows, mut used) = (u16::from(!entries.is_empty()), 0);
    for (_, label) in entries {
        let width = (words::width(label) + 2).min(columns);
        if used > 0 && used + width > columns {
            (rows, used) = (rows.saturating_add(1), 0);
        }
        used += width + 2;
    }
    rows
}

#[cfg(test)]
mod tests;
