//! The words of the lab, each in a few sentences.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Block;

use super::Focus;
use crate::tui::glossary::{Entry, SECTIONS};
use crate::tui::theme::Theme;
use crate::tui::widgets;
use crate::tui::widgets::text::{last_scroll, paragraph};

/// The lines of all sections, wrapped to `columns`: a word, and its explanation below it.
fn text(columns: usize, theme: Theme) -> Vec<Line<'static>> {
    let entry = |Entry { word, text }: &Entry| {
        let word = Line::from(Span::styled(format!("  {word}"), theme.key()));
        std::iter::once(word).chain(paragraph("    ", text, columns, Style::default())).collect::<Vec<_>>()
    };
    let mut lines = Vec::new();
    for (number, section) in SECTIONS.iter().enumerate() {
        lines.extend((number > 0).then(Line::default));
        lines.push(Line::styled(section.title, theme.title()));
        lines.extend(section.words.iter().flat_map(entry));
    }
    lines
}

/// Limits the scroll position; the words are opened at those of the focused panel.
pub fn settle(scroll: &mut Option<usize>, focus: Focus, theme: Theme, area: Rect) {
    let inner = Block::bordered().inner(area);
    let lines = text(usize::from(inner.width), theme);
    let headed = |line: &Line| line.style == theme.title() && line.to_string() == focus.title();
    let own = || lines.iter().position(headed).unwrap_or(0);
    *scroll = Some(scroll.unwrap_or_else(own).min(last_scroll(&lines, inner.height)));
}

/// Draws the words over `area`, from line `scroll`.
pub fn draw(scroll: usize, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let inner = widgets::dialog(" Words ", theme, area, buffer);
    widgets::lines(text(usize::from(inner.width), theme).into_iter().skip(scroll), inner, buffer);
}
