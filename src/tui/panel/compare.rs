//! A comparison of two runs, case by case.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;

use super::{Focus, bar, below_heading, first_row, heading};
use crate::report::judged::RIGHT;
use crate::stats::comparison::{Answer, Direction};
use crate::tui::runs::Sheet;
use crate::tui::runs::sheet::Part;
use crate::tui::state::State;
use crate::tui::theme::Theme;
use crate::tui::words;

/// Columns between two cells of the table.
const GAP: usize = 2;
/// Minimum columns of the name; the rate columns are dropped first.
const NAME: usize = 16;

pub fn draw(state: &State, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let Some(sheet) = &state.runs.sheet else { return };
    let area = heading("Comparison", state.focus == Focus::Comparison, theme, area, buffer);
    let columns = usize::from(area.width).saturating_sub(2);
    super::lines(above(sheet, columns, theme), area, buffer);
    let below = table(sheet, area);
    let widths = widths(sheet, columns.saturating_sub(1));
    let head = line(&sheet.judged.head, &widths, theme);
    if let Some(y) = below.y.checked_sub(1).filter(|y| *y >= area.y && *y < area.bottom()) {
        buffer.set_stringn(below.x, y, format!("   {head}"), usize::from(below.width), theme.title());
    }
    let first = first_row(sheet.selected, sheet.count(), usize::from(below.height));
    for (at, (y, part)) in (below.top()..below.bottom()).zip(sheet.parts().skip(first)).enumerate() {
        let selected = first + at == sheet.selected;
        let (text, style) = row(part, &widths, columns, theme);
        let marker = if selected { ">" } else { " " };
        buffer.set_stringn(below.x, y, format!(" {marker} {text}"), usize::from(below.width), style);
        if selected {
            bar(below, y, theme.selected(), buffer);
        }
    }
}

/// The compared runs, and the summary of the comparison.
fn above(sheet: &Sheet, columns: usize, theme: Theme) -> Vec<Line<'static>> {
    let key = sheet.key.iter().map(|line| Line::raw(format!(" {}", words::fit(line, columns, theme))));
    let summary = words::wrap(&sheet.judged.summary, columns.max(1)).into_iter().take(2);
    let summary = summary.map(|text| Line::styled(format!(" {text}"), theme.focus()));
    key.chain(summary).chain([Line::default()]).collect()
}

/// The area of the table's rows, below its head.
fn table(sheet: &Sheet, area: Rect) -> Rect {
    let columns = usize::from(area.width).saturating_sub(2);
    let summary = words::wrap(&sheet.judged.summary, columns.max(1)).len().min(2);
    let above = (sheet.key.len() + summary + 2).min(usize::from(area.height)) as u16;
    Rect { y: area.y + above, height: area.height - above, ..area }
}

/// Moves the cursor to the line at this row of the screen.
pub fn click(state: &mut State, area: Rect, row: u16) {
    let Some(sheet) = &mut state.runs.sheet else { return };
    let below = table(sheet, below_heading(area));
    let Some(at) = row.checked_sub(below.y) else { return };
    let at = first_row(sheet.selected, sheet.count(), usize::from(below.height)) + usize::from(at);
    if at < sheet.count() {
        sheet.selected = at;
    }
}

/// Column widths. If the columns do not fit, the name is shortened, and then the rates are dropped.
fn widths(sheet: &Sheet, columns: usize) -> [usize; 5] {
    let cells = |column: usize| sheet.judged.rows.iter().map(move |row| words::width(&row.cells[column]));
    let mut widths = std::array::from_fn(|column| {
        cells(column).chain([words::width(&sheet.judged.head[column])]).max().unwrap_or(0)
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
