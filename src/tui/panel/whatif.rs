//! A list of a profile's values, and beside it the chart of the resulting predictions.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::{Focus, bar, below_heading, first_row, heading};
use crate::report::series::Panel;
use crate::tui::chart::{Bars, Canvas, Look};
use crate::tui::plot::{Plot, Selection};
use crate::tui::state::State;
use crate::tui::theme::Theme;
use crate::tui::whatif::{Knob, WhatIf};
use crate::tui::words;

/// Minimum and maximum width of the list beside a chart; the maximum fits the longest name and its value.
const LIST: (u16, u16) = (38, 50);
/// Minimum width for list and chart side by side.
const BESIDE: u16 = 76;
/// Minimum height for the chart under the list.
const UNDER: u16 = 16;

pub fn draw(state: &State, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let Some(view) = &state.whatif else { return };
    let area = heading(&title(view, theme), state.focus == Focus::WhatIf, theme, area, buffer);
    let below = foot(view, theme, area, buffer);
    let (list, chart) = parts(below);
    values(view, theme, list, buffer);
    if let Some(chart) = chart {
        plot(view, theme).draw(Selection { case: view.case, cursor: None }, chart, buffer);
    }
}

/// `What if · h200, changed · faint: before · Multi-pass scatter`.
fn title(view: &WhatIf, theme: Theme) -> String {
    let changed = if view.is_changed() { ", changed" } else { "" };
    let mut parts = vec!["What if".to_owned(), format!("{}{changed}", view.profile().name)];
    let chart = view.chart();
    let before = |panel: &Panel| panel.models.iter().any(|line| line.before);
    if chart.panels.iter().any(before) {
        parts.push("faint: before".to_owned());
    }
    parts.push(chart.title.clone());
    if let Some(panel) = chart.panels.get(view.panel).filter(|_| chart.panels.len() > 1) {
        parts.push(panel.title.clone());
    }
    parts.join(theme.separator())
}

/// The areas of the list and of the chart, if there is room for one.
fn parts(area: Rect) -> (Rect, Option<Rect>) {
    if area.width >= BESIDE {
        let width = (area.width * 2 / 5).clamp(LIST.0, LIST.1);
        let list = Rect { width, ..area };
        return (list, Some(Rect { x: area.x + width + 1, width: area.width - width - 1, ..area }));
    }
    if area.height >= UNDER {
        let rows = area.height / 3;
        return (
            Rect { height: rows, ..area },
            Some(Rect { y: area.y + rows, height: area.height - rows, ..area }),
        );
    }
    (area, None)
}

/// Draws the name being typed, or the accuracy of the models; returns the area above.
fn foot(view: &WhatIf, theme: Theme, area: Rect, buffer: &mut Buffer) -> Rect {
    let columns = usize::from(area.width).saturating_sub(2);
    let lines: Vec<Line> = match (&view.field, &view.error) {
        (Some(field), error) => {
            let shown = field.shown(columns.saturating_sub(9).max(1), theme);
            let name = Line::styled(format!(" Save as: {shown}"), theme.focus());
            let error = error.iter().map(|why| words::fit(&format!("not saved: {why}"), columns, theme));
            std::iter::once(name)
                .chain(error.map(|text| Line::styled(format!(" {text}"), theme.bad())))
                .collect()
        }
        (None, _) => {
            let told = view.accuracies().into_iter().take(2).map(|text| words::fit(&text, columns, theme));
            told.map(|text| Line::styled(format!(" {text}"), theme.dim())).collect()
        }
    };
    // The values take precedence.
    let rows = (lines.len() as u16).min(area.height.saturating_sub(if view.field.is_some() { 0 } else { 3 }));
    let above = Rect { height: area.height - rows, ..area };
    super::lines(lines, Rect { y: above.bottom(), height: rows, ..area }, buffer);
    above
}

fn values(view: &WhatIf, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let first = first_row(view.selected, view.knobs.len(), usize::from(area.height));
    for (at, (y, knob)) in (area.top()..area.bottom()).zip(view.knobs.iter().skip(first)).enumerate() {
        let selected = first + at == view.selected;
        let style = match (view.turned(knob), view.is_idle(knob)) {
            (true, _) => theme.warning(),
            (false, true) => theme.dim(),
            (false, false) => ratatui::style::Style::default(),
        };
        let text =
            row(knob, (view.turned(knob), view.is_idle(knob)), selected, usize::from(area.width), theme);
        buffer.set_stringn(area.x, y, text, usize::from(area.width), style);
        if selected {
            bar(area, y, theme.selected(), buffer);
        }
    }
}

/// `> L2 capacity *        60.0 MiB`, or `> cuda pass ∅` for a value that changes nothing here.
fn row(knob: &Knob, (turned, idle): (bool, bool), selected: bool, columns: usize, theme: Theme) -> String {
    let marker = if selected { ">" } else { " " };
    // Without colours nothing is dim, so a sign says that the value changes nothing here.
    let star = match (turned, idle) {
        (true, _) => " *",
        (false, true) => theme.symbol(" ∅", " (no effect)"),
        (false, false) => "",
    };
    let value = words::fit(&knob.value, columns.saturating_sub(2), theme);
    let room = columns.saturating_sub(words::width(&value) + 4);
    let name = words::fit(&format!("{}{star}", knob.name), room, theme);
    let gap = " ".repeat((room + 1).saturating_sub(words::width(&name)));
    format!(" {marker} {name}{gap}{value}")
}

fn plot(view: &WhatIf, theme: Theme) -> Plot<'_> {
    Plot {
        data: view.chart(),
        panel: view.panel,
        look: Look::plain(),
        bars: Bars::Nothing,
        canvas: if theme.utf8 { Canvas::Braille } else { Canvas::Ascii },
        overlay: None,
        differences: true,
        every_panel: false,
        read_out: false,
        theme,
    }
}

/// Selects the value at this row of the screen.
pub fn click(state: &mut State, area: Rect, at: (u16, u16)) {
    let Some(view) = &mut state.whatif else { return };
    let (list, _) = parts(below_heading(area));
    let first = first_row(view.selected, view.knobs.len(), usize::from(list.height));
    if list.contains(at.into()) {
        let wanted = first + usize::from(at.1 - list.y);
        if wanted < view.knobs.len() {
            view.selected = wanted;
        }
    }
}
