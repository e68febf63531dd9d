//! A comparison of two runs, case by case.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;

use super::Focus;
use crate::report::judged::RIGHT;
use crate::stats::comparison::{Answer, Direction};
use crate::tui::runs::Comparison;
use crate::tui::runs::comparison::Part;
use crate::tui::state::State;
use crate::tui::theme::Theme;
use crate::tui::widgets::text::paragraph;
use crate::tui::widgets::{self, List, below, heading};
use crate::tui::words;

/// Columns between two cells of the table.
const GAP: usize = 2;
/// Minimum columns of the name; the rate columns are dropped first.
const NAME: usize = 16;

pub fn draw(state: &State, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let Some(comparison) = &state.runs.comparison else { return };
    let area = heading("Comparison", state.focus == Focus::Comparison, theme, area, buffer);
    let width = usize::from(area.width);
    let columns = width.saturating_sub(2);
    widgets::lines(above(comparison, width, theme), area, buffer);
    let list = table(comparison, area);
    let widths = widths(comparison, columns.saturating_sub(1));
    let head = line(&comparison.judged.head, &widths, theme);
    if let Some(y) = list.area.y.checked_sub(1).filter(|y| *y >= area.y && *y < area.bottom()) {
        buffer.set_stringn(area.x, y, format!("   {head}"), usize::from(area.width), theme.title());
    }
    list.draw(theme.selected(true), buffer, comparison.parts(), |part| {
        let (text, style) = row(part, &widths, columns, theme);
        Line::styled(format!("   {text}"), style)
    });
}

/// The compared runs, and the summary of the comparison.
fn above(comparison: &Comparison, width: usize, theme: Theme) -> Vec<Line<'static>> {
    let key = |line: &String| Line::raw(format!(" {}", words::fit(line, width.saturating_sub(2), theme)));
    let summary = paragraph(" ", &comparison.judged.summary, width, theme.focus()).into_iter().take(2);
    comparison.key.iter().map(key).chain(summary).chain([Line::default()]).collect()
}

/// The rows of the table, below its head.
fn table(comparison: &Comparison, area: Rect) -> List {
    // Line breaks do not depend on colours and symbols.
    let above = above(comparison, area.width.into(), Theme::PLAIN).len() as u16 + 1;
    List::new(comparison.count(), comparison.selected, below(above, area))
}

/// Moves the cursor to the line at this cell of the screen.
pub fn click(state: &mut State, area: Rect, at: (u16, u16)) {
    let Some(comparison) = &mut state.runs.comparison else { return };
    if let Some(at) = table(comparison, below(1, area)).at(at.1) {
        comparison.selected = at;
    }
}

/// Column widths. If the columns do not fit, the name is shortened, and then the rates are dropped.
fn widths(comparison: &Comparison, columns: usize) -> [usize; 5] {
    let cells =
        |column: usize| comparison.judged.rows.iter().map(move |row| words::width(&row.cells[column]));
    let mut widths = std::array::from_fn(|column| {
        cells(column).chain([words::width(&comparison.judged.head[column])]).max().unwrap_or(0)
    });
    let others = |widths: &[usize; 5]| widths[1..].iter().filter(|w| **w > 0).map(|w| w + GAP).sum::<usize>();
    if others(&widths) + NAME.min(widths[0]) > columns {
        (widths[1], widths[2]) = (0, 0);
    }
    widths[0] = widths[0].min(columns.saturating_sub(others(&widths)));
    widths
}

fn line(cells: &[String; 5], widths: &[usize; 5], theme: Theme) -> String {
    let mut text = String::new();
    for ((cell, width), right) in cells.iter().zip(widths).zip(RIGHT).filter(|((_, width), _)| **width > 0) {
        let cell = words::fit(cell, *width, theme);
        let gap = " ".repeat(width - words::width(&cell).min(*width));
        if !text.is_empty() {
            text.push_str("  ");
        }
        text += &if right { format!("{gap}{cell}") } else { format!("{cell}{gap}") };
    }
    text
}

fn row(part: Part, widths: &[usize; 5], columns: usize, theme: Theme) -> (String, Style) {
    match part {
        Part::Title(text) => (words::fit(text, columns, theme), theme.title()),
        Part::Remark(text) => (words::fit(text, columns, theme), theme.dim()),
        Part::Case(cells, answer) => (line(cells, widths, theme), style(answer, theme)),
    }
}

fn style(answer: Answer, theme: Theme) -> Style {
    match answer {
        Answer::Agree => Style::default(),
        Answer::Differ(Direction::Slower) => theme.bad(),
        Answer::Differ(Direction::Faster) => theme.good(),
        Answer::CannotTell => theme.warning(),
        Answer::NotMeasured => theme.dim(),
    }
}
