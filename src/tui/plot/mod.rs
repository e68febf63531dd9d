//! The chart on a terminal, drawn directly into cells, over the same axes as the SVG.
//!
//! Ticks and points use the same mapping, so a tick is exactly in the column of the points that it labels.
//! Later layers overwrite earlier ones: references, lines, bars, another run's points, markers, marks of cases
//! without a value, the selection.
//!
//! Everything except the selection and its text is a [`Picture`], which is kept until something in it changes:
//! moving the cursor or a tick of the clock costs a copy of its cells.

mod axes;
mod canvas;
pub mod curve;
mod frame;
mod grid;
mod layout;
mod legend;
mod nearest;
mod pane;
mod residual;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::chart::overlay::Overlay;
use super::chart::{Bars, Canvas, Look, Scales};
use super::theme::Theme;
use super::widgets::split;
use super::words;
use crate::recipe::plan::Scale;
use crate::report::series::{ChartData, MeasuredValue, Panel};
use frame::Frame;
use layout::Rows;
use legend::legend;
use pane::Pane;
use residual::Residual;

/// A chart to be drawn.
#[derive(Clone, Copy, Debug)]
pub struct Plot<'a> {
    pub data: &'a ChartData,
    /// Index of the panel.
    pub panel: usize,
    pub look: &'a Look,
    pub bars: Bars,
    pub canvas: Canvas,
    /// The results behind the points.
    pub overlay: Option<&'a Overlay>,
    /// Whether a pane shows the differences to the overlay or to a model's prediction.
    pub differences: bool,
    /// Whether all panels are shown if there is room for them.
    pub every_panel: bool,
    /// Whether a row is reserved for the cursor's readout.
    pub read_out: bool,
    pub theme: Theme,
}

/// A drawn chart without the selection.
#[derive(Clone, Debug)]
pub struct Picture {
    cells: Buffer,
    panes: Vec<Pane>,
    rows: Rows,
}

/// The selection, drawn on top of a picture.
#[derive(Clone, Copy, Debug)]
pub struct Selection<'a> {
    /// Position of the selected case.
    pub case: usize,
    /// The text of the cursor's readout, if there is a cursor.
    pub cursor: Option<&'a str>,
}

/// Smallest area for a chart.
const SMALLEST: (u16, u16) = (16, 5);

#[cfg(test)]
impl Picture {
    /// The spacings of each panel's axes, x and y.
    pub fn spacings(&self) -> Vec<(crate::report::scale::Spacing, crate::report::scale::Spacing)> {
        self.panes.iter().map(|p| (p.frame.x.spacing, p.frame.y.spacing)).collect()
    }
}

impl Plot<'_> {
    /// Draws the chart over all of `area`.
    pub fn draw(&self, selection: Selection, area: Rect, buffer: &mut Buffer) {
        self.show(&self.picture(area), selection, buffer);
    }

    /// Draws everything that does not depend on the selection.
    pub fn picture(&self, area: Rect) -> Picture {
        let mut cells = Buffer::empty(area);
        let panels = self.panels(area);
        if area.width < SMALLEST.0 || area.height < SMALLEST.1 || panels.is_empty() {
            pane::say(self, "too small for a chart", area, &mut cells);
            return Picture { cells, panes: Vec::new(), rows: Rows::default() };
        }
        let scales = Scales::new(self.data, self.look, self.bars, self.overlay);
        let legend = legend(self, &panels, usize::from(area.width), layout::legend_rows(area));
        let residual = self.residual(&panels);
        let rows = Rows::new(self, area, &legend, residual.is_some());
        self.title(&scales, rows.title, &mut cells);
        legend.draw(self, rows.legend, &mut cells);
        self.note(rows.note, &mut cells);
        let panes = self.panes(&panels, &scales, &rows, residual.as_ref(), &mut cells);
        Picture { cells, panes, rows }
    }

    /// Copies a picture of this plot and draws the selection on it.
    pub fn show(&self, picture: &Picture, selection: Selection, buffer: &mut Buffer) {
        copy(&picture.cells, buffer);
        for pane in &picture.panes {
            self.name(pane, picture.panes.len(), buffer);
            self.highlight(pane, selection, buffer);
        }
        let numbered = picture.panes.iter().any(|pane| pane.numbered);
        self.centred(&self.x_title(selection.case, numbered), picture.rows.x_title, buffer);
        if let Some(text) = selection.cursor {
            let row = picture.rows.read_out;
            let text = words::fit(text, usize::from(row.width), self.theme);
            if row.height > 0 {
                buffer.set_string(row.x, row.y, text, self.theme.focus());
            }
        }
    }

    /// The panels to draw: all of them if requested and if they fit.
    fn panels(&self, area: Rect) -> Vec<usize> {
        let count = self.data.panels.len();
        let all: Vec<usize> = (0..count).collect();
        let legend = legend(self, &all, usize::from(area.width), layout::legend_rows(area));
        let around = legend.rows + layout::AROUND_GRID;
        let body = Rect { height: area.height.saturating_sub(around), ..area };
        match self.every_panel && grid::cells(body, count).is_some() {
            true => all,
            false => (0..count).skip(self.panel.min(count.saturating_sub(1))).take(1).collect(),
        }
    }

    /// Whether x is an order in which strokes may join the points: names and a roofline's intensities are none.
    fn joins(&self) -> bool {
        self.data.x.scale != Scale::Category && !self.data.roofline
    }

    fn residual(&self, panels: &[usize]) -> Option<Residual> {
        let [panel] = panels else { return None };
        self.differences.then(|| Residual::new(self, *panel))?
    }

    fn panes(
        &self,
        panels: &[usize],
        scales: &Scales,
        rows: &Rows,
        residual: Option<&Residual>,
        buffer: &mut Buffer,
    ) -> Vec<Pane> {
        let cells = match panels.len() {
            1 => vec![rows.panes],
            count => grid::cells(rows.panes, count).unwrap_or_default(),
        };
        let mut panes = Vec::new();
        for (panel, cell) in panels.iter().zip(cells) {
            let (title, area) = if panels.len() > 1 { split(cell, 1) } else { (Rect::ZERO, cell) };
            let Some(shown) = self.data.panels.get(*panel) else { continue };
            let residual = residual.filter(|_| rows.residual.height > 0);
            let frame = pane::frame(shown, scales, self.gutter(scales, residual, rows, area), area);
            pane::draw(self, *panel, scales, &frame, area, buffer);
            if let Some(residual) = residual {
                residual.draw(self, &frame, rows.residual, buffer);
            }
            let numbered = axes::numbered(&frame, area).is_some();
            panes.push(Pane { panel: *panel, frame, numbered, title: (panels.len() > 1).then_some(title) });
        }
        panes
    }

    /// Columns left of the frame, the same for the chart and for the differences under it.
    fn gutter(&self, scales: &Scales, residual: Option<&Residual>, rows: &Rows, area: Rect) -> u16 {
        let rows_of = |area: Rect, around: u16| area.height.saturating_sub(around);
        let own = match self.data.is_empty() {
            true => 1,
            false => axes::gutter(&axes::ticks(&scales.y, rows_of(area, 2))),
        };
        let below = residual.map_or(0, |r| axes::gutter(&r.ticks(rows_of(rows.residual, 1))));
        own.max(below)
    }

    /// Draws the title of the y axis, and the spacings of both axes.
    fn title(&self, scales: &Scales, row: Rect, buffer: &mut Buffer) {
        let columns = usize::from(row.width);
        let separator = self.theme.separator();
        let names = scales.names(separator);
        let mut right = format!("{}{separator}{names}", self.bars.word(self.data.bars));
        if scales.zoom() > 1.001 {
            right = format!("zoom {}x{separator}{names}", crate::report::unit::number(scales.zoom().round()));
        }
        let title = self.data.y.title();
        if words::width(&title) + words::width(&right) + 2 > columns {
            right = names;
        }
        let fits = words::width(&title) + words::width(&right) + 2 <= columns;
        let title = if fits { title } else { self.data.y.short_title() };
        let text = words::apart(&title, &right, columns, self.theme);
        buffer.set_string(row.x, row.y, text, self.theme.dim());
    }

    /// Draws the first note with a reason.
    fn note(&self, row: Rect, buffer: &mut Buffer) {
        if let Some(note) = self.data.notes.iter().find(|n| !n.reason.is_empty()) {
            self.centred(&note.to_string(), row, buffer);
        }
    }

    fn centred(&self, text: &str, row: Rect, buffer: &mut Buffer) {
        if row.height > 0 {
            let text = words::fit(text, usize::from(row.width), self.theme);
            let x = row.x + (row.width - words::width(&text) as u16) / 2;
            buffer.set_string(x, row.y, text, self.theme.dim());
        }
    }

    /// The name of the x axis. On an axis of names, also the selected name, with the number of its tick if the
    /// ticks are numbers.
    fn x_title(&self, case: usize, numbered: bool) -> String {
        let x = &self.data.x;
        if x.scale != Scale::Category {
            return x.name.clone();
        }
        let lines = self.data.panels.iter().flat_map(|p| &p.lines);
        let place = lines.flat_map(|l| {
            let points = l.points.iter().map(|p| (p.value.case, p.x, &p.label));
            points.chain(l.absent.iter().map(|a| (a.case, a.x, &a.label)))
        });
        match place.into_iter().find(|(of, _, _)| *of == case) {
            Some((_, at, label)) if numbered => format!("{} (tick {}: {label})", x.name, at as usize + 1),
            Some((_, _, label)) => format!("{}: {label}", x.name),
            None => x.name.clone(),
        }
    }

    /// Draws the title of one of several panels.
    fn name(&self, pane: &Pane, count: usize, buffer: &mut Buffer) {
        let (Some(row), Some(panel)) = (pane.title, self.data.panels.get(pane.panel)) else { return };
        let current = count > 1 && pane.panel == self.panel;
        let marker = if current { ">" } else { " " };
        let text = words::fit(&format!("{marker} {}", panel.title), usize::from(row.width), self.theme);
        let style = if current { self.theme.title() } else { self.theme.dim() };
        buffer.set_string(row.x, row.y, text, style);
    }

    /// Draws the selected case's marker again, in brackets, so that no other series hides it; under the cursor
    /// also a line down to its tick.
    fn highlight(&self, pane: &Pane, selection: Selection, buffer: &mut Buffer) {
        let Some(panel) = self.data.panels.get(pane.panel) else { return };
        let frame = &pane.frame;
        let mut spots = self.spots(panel, frame);
        let Some(Spot { at, symbol, style, .. }) = spots.find(|spot| spot.case == selection.case) else {
            return;
        };
        if selection.cursor.is_some() {
            self.guide(at, frame, buffer);
        }
        buffer[at].set_symbol(symbol).set_style(style);
        let sides = [(at.0.checked_sub(1), "["), (at.0.checked_add(1), "]")];
        for (side, bracket) in sides {
            let side = side.filter(|x| (frame.area.left()..frame.area.right()).contains(x));
            if let Some(x) = side {
                buffer[(x, at.1)].set_symbol(bracket).set_style(self.theme.title());
            }
        }
    }

    /// The marks of everything that a panel shows of the cases.
    fn spots<'s>(&'s self, panel: &'s Panel, frame: &'s Frame) -> impl Iterator<Item = Spot> + 's {
        let lines = panel.lines.iter().filter(|l| self.look.shows(l.style));
        let lines = lines.flat_map(move |line| {
            let points = line.points.iter().filter_map(move |point| {
                let at = pane::place(self, Some(point.x), line.style, &point.value, frame)?;
                Some(self.spot(at, line.style, &point.value))
            });
            points.chain(line.absent.iter().filter_map(move |absent| {
                let at = pane::foot_place(self, line.style, absent, frame)?;
                let (symbol, style) = pane::mark(self, absent);
                Some(Spot { case: absent.case, at, symbol, style, across: false })
            }))
        });
        let references = panel.references.iter().filter(|r| self.look.shows(r.style));
        lines.chain(references.filter_map(move |reference| {
            let at = pane::place(self, None, reference.style, &reference.value, frame)?;
            Some(Spot { across: true, ..self.spot(at, reference.style, &reference.value) })
        }))
    }

    fn spot(&self, at: (u16, u16), style: usize, value: &MeasuredValue) -> Spot {
        let (symbol, style) = (pane::symbol(self, style, value), self.theme.series(style));
        Spot { case: value.case, at, symbol, style, across: false }
    }

    /// Draws a line through the empty cells of a column.
    fn guide(&self, at: (u16, u16), frame: &Frame, buffer: &mut Buffer) {
        for y in frame.area.top()..frame.rule_row() {
            let cell = &mut buffer[(at.0, y)];
            if cell.symbol() == " " {
                cell.set_symbol(self.theme.symbol("┊", ":")).set_style(self.theme.dim());
            }
        }
    }
}

/// The mark of a case.
struct Spot {
    case: usize,
    at: (u16, u16),
    symbol: &'static str,
    style: ratatui::style::Style,
    /// Whether the case is a line across the panel.
    across: bool,
}

fn copy(from: &Buffer, to: &mut Buffer) {
    let area = from.area.intersection(to.area);
    for y in area.top()..area.bottom() {
        for x in area.left()..area.right() {
            to[(x, y)] = from[(x, y)].clone();
        }
    }
}

#[cfg(test)]
mod speed;
#[cfg(test)]
mod tests;
