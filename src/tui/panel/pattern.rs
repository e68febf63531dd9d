//! The lines and sectors that the first iterations of a case touch: a row for each iteration, a column for each
//! line, and in each column the number of elements per sector. Sparse matrices are drawn by [`matrix`].

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;

use super::{Focus, matrix};
use crate::case::units::{fmt_bytes, grouped};
use crate::inputs::locality::{LINE_SIZES, SECTOR, Touch};
use crate::tui::pattern::{PatternView, Picture, Side};
use crate::tui::state::State;
use crate::tui::theme::Theme;
use crate::tui::widgets::text::paragraph;
use crate::tui::widgets::{self, below, heading};
use crate::tui::words;

/// Columns of an iteration's number.
const NUMBER: u16 = 5;

pub fn draw(state: &State, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let Some(view) = &state.pattern else { return };
    let shown = view.side().map_or("A", |side| side.name);
    let title = format!("Pattern{}{shown} of {}", theme.separator(), view.pattern.name);
    let area = heading(&title, state.focus == Focus::Pattern, theme, area, buffer);
    if let Picture::Matrix(density) = &view.pattern.picture {
        return matrix::draw(density, theme, area, buffer);
    }
    let Some(side) = view.side() else { return };
    let above = above(view, side, usize::from(area.width), theme);
    let rows = above.len() as u16;
    widgets::lines(above, area, buffer);
    Grid { view, side, theme }.draw(below(rows, area), buffer);
}

fn above(view: &PatternView, side: &Side, columns: usize, theme: Theme) -> Vec<Line<'static>> {
    let facts = paragraph(" ", &side.facts.join(theme.separator()), columns, theme.dim());
    let totals = paragraph(" ", &totals(view, side, theme), columns, Style::default());
    let legend = words::fit(&legend(view, theme), columns.saturating_sub(2), theme);
    [facts, totals, vec![Line::styled(format!(" {legend}"), theme.dim())]].concat()
}

/// The key to the symbols of the grid.
fn legend(view: &PatternView, theme: Theme) -> String {
    let cell = if view.whole { "line" } else { "sector" };
    format!("1-9, + for more: elements in a {cell}; {} leaves lines out", theme.symbol("┊", ":"))
}

/// The amount of data moved, and the share of it that is used.
fn totals(view: &PatternView, side: &Side, theme: Theme) -> String {
    let touched = &side.touched;
    let (lines, bytes) = (touched.distinct_lines[view.line], LINE_SIZES[view.line]);
    let share = |moved: u64| {
        let percent = touched.used() as f64 / moved.max(1) as f64 * 100.0;
        format!("{} ({percent:.0} % used)", fmt_bytes(moved))
    };
    let parts = [
        format!("{} elements, {} different", grouped(touched.accesses), grouped(touched.distinct_elements)),
        format!("{} used", fmt_bytes(touched.used())),
        format!("{} lines of {bytes} B: {}", grouped(lines), share(lines * bytes)),
        format!(
            "{} sectors of {SECTOR} B: {}",
            grouped(touched.distinct_sectors),
            share(touched.distinct_sectors * SECTOR)
        ),
    ];
    parts.join(theme.separator())
}

struct Grid<'a> {
    view: &'a PatternView,
    side: &'a Side,
    theme: Theme,
}

impl Grid<'_> {
    /// Cells per line: its sectors, or 1 if lines are drawn whole.
    fn cells(&self) -> u64 {
        if self.view.whole { 1 } else { LINE_SIZES[self.view.line] / SECTOR }
    }

    /// The cells that each iteration touches.
    fn rows(&self) -> &[Vec<Touch>] {
        let touched = &self.side.touched;
        if self.view.whole { &touched.lines[self.view.line] } else { &touched.sectors }
    }

    fn draw(&self, area: Rect, buffer: &mut Buffer) {
        if area.width <= NUMBER || area.height < 2 {
            return;
        }
        let lines = self.side.lines[self.view.line].iter().copied().skip(self.view.column);
        let group = self.cells() as u16 + 1;
        let room = usize::from((area.width - NUMBER) / group);
        let lines: Vec<u64> = lines.take(room).collect();
        self.head(&lines, group, Rect { height: 1, ..area }, buffer);
        let rows = self.rows().iter().enumerate().skip(self.view.row);
        for (y, (number, row)) in (area.top() + 1..area.bottom()).zip(rows) {
            buffer.set_stringn(area.x, y, format!("{number:>4}"), 4, self.theme.dim());
            for (at, line) in lines.iter().enumerate() {
                let x = area.x + NUMBER + at as u16 * group;
                let gap = at == 0 || lines[at - 1] + 1 != *line;
                self.line(row, *line, gap, (x, y), buffer);
            }
        }
    }

    /// The numbers of the lines, as many as fit.
    fn head(&self, lines: &[u64], group: u16, area: Rect, buffer: &mut Buffer) {
        buffer.set_stringn(area.x, area.y, "line", 4, self.theme.dim());
        let mut free = area.x + NUMBER;
        for (at, line) in lines.iter().enumerate() {
            let (x, text) = (area.x + NUMBER + at as u16 * group + 1, line.to_string());
            if x >= free && x + text.len() as u16 <= area.right() {
                free = x + text.len() as u16 + 1;
                buffer.set_string(x, area.y, text, self.theme.dim());
            }
        }
    }

    /// One line in one iteration; `gap` marks that lines before it are left out.
    fn line(&self, row: &[Touch], line: u64, gap: bool, (x, y): (u16, u16), buffer: &mut Buffer) {
        let rule = if gap { self.theme.symbol("┊", ":") } else { self.theme.symbol("│", "|") };
        buffer.set_string(x, y, rule, self.theme.dim());
        for cell in 0..self.cells() {
            let number = line * self.cells() + cell;
            let (mark, style) = self.mark(elements(row, number));
            buffer.set_string(x + 1 + cell as u16, y, mark, style);
        }
    }

    fn mark(&self, elements: u32) -> (String, Style) {
        match elements {
            0 => (self.theme.symbol("·", ".").to_owned(), self.theme.dim()),
            1..=9 => (elements.to_string(), self.theme.focus()),
            _ => ("+".to_owned(), self.theme.focus()),
        }
    }
}

/// Number of elements that an iteration touches in the cell with this number.
fn elements(row: &[Touch], number: u64) -> u32 {
    let at = row.binary_search_by_key(&number, |touch| touch.unit);
    at.map_or(0, |at| row[at].elements)
}
