//! A list of a profile's values, and beside it the chart of the resulting predictions.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;

use super::Focus;
use crate::report::series::Panel;
use crate::tui::chart::{Bars, Canvas, Look};
use crate::tui::plot::{Plot, Selection};
use crate::tui::state::State;
use crate::tui::theme::Theme;
use crate::tui::whatif::{Knob, WhatIf};
use crate::tui::widgets::{self, List, below, heading};
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
    let foot = foot(view, theme, area);
    let (list, chart) = parts(view, area, foot.len());
    values(view, list, theme, buffer);
    if let Some(chart) = chart {
        plot(view, theme).draw(Selection { case: view.case, cursor: None }, chart, buffer);
    }
    let rows = foot.len() as u16;
    widgets::lines(foot, below(area.height - rows, area), buffer);
}

/// `What if · h200, changed · faint: before · Multi-pass scatter`.
fn title(view: &WhatIf, theme: Theme) -> String {
    let changed = if view.is_changed() { ", changed" } else { "" };
    let mut parts = vec!["What if".to_owned(), format!("{}{changed}", view.profile().described())];
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

/// The list, and the area of the chart if there is room for one, above `foot` rows.
fn parts(view: &WhatIf, area: Rect, foot: usize) -> (List, Option<Rect>) {
    let area = Rect { height: area.height - foot as u16, ..area };
    let (list, chart) = if area.width >= BESIDE {
        let width = (area.width * 2 / 5).clamp(LIST.0, LIST.1);
        let chart = Rect { x: area.x + width + 1, width: area.width - width - 1, ..area };
        (Rect { width, ..area }, Some(chart))
    } else if area.height >= UNDER {
        let rows = area.height / 3;
        (Rect { height: rows, ..area }, Some(below(rows, area)))
    } else {
        (area, None)
    };
    (List::new(view.knobs.len(), view.selected, list), chart)
}

/// The name being typed, or the accuracy of the models, as far as there is room.
fn foot(view: &WhatIf, theme: Theme, area: Rect) -> Vec<Line<'static>> {
    let columns = usize::from(area.width).saturating_sub(2);
    let mut lines: Vec<Line> = match (&view.field, &view.error) {
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
    lines.truncate(area.height.saturating_sub(if view.field.is_some() { 0 } else { 3 }).into());
    lines
}

fn values(view: &WhatIf, list: List, theme: Theme, buffer: &mut Buffer) {
    list.draw(theme.selected(true), buffer, view.knobs.iter(), |knob| {
        let (turned, idle) = (view.turned(knob), view.is_idle(knob));
        let style = match (turned, idle) {
            (true, _) => theme.warning(),
            (false, true) => theme.dim(),
            (false, false) => Style::default(),
        };
        Line::styled(row(knob, (turned, idle), usize::from(list.area.width), theme), style)
    });
}

/// `L2 capacity *        60.0 MiB`, or `cuda pass ∅` for a value that changes nothing here.
fn row(knob: &Knob, (turned, idle): (bool, bool), columns: usize, theme: Theme) -> String {
    // Without colours nothing is dim, so a sign says that the value changes nothing here.
    let star = match (turned, idle) {
        (true, _) => " *",
        (false, true) => theme.symbol(" ∅", " (no effect)"),
        (false, false) => "",
    };
    format!(
        "   {}",
        words::apart(&format!("{}{star}", knob.name), &knob.value, columns.saturating_sub(3), theme)
    )
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

/// Selects the value at this place of the screen.
pub fn click(state: &mut State, area: Rect, at: (u16, u16)) {
    let Some(view) = &mut state.whatif else { return };
    let area = below(1, area);
    // The number of lines does not depend on colours and symbols.
    let (list, _) = parts(view, area, foot(view, Theme::PLAIN, area).len());
    if let Some(selected) = list.at(at.1).filter(|_| list.area.contains(at.into())) {
        view.selected = selected;
    }
}
