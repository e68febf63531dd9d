//! A screen as text.

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::Color;

/// The rows without trailing blanks, and below them the styled runs of cells.
pub fn of(buffer: &Buffer) -> String {
    let rows = || buffer.content().chunks(usize::from(buffer.area.width));
    let letters = rows().map(|row| format!("│{}\n", text(row).trim_end()));
    let styles = rows().enumerate().filter_map(|(y, row)| Some(format!("{y}: {}\n", styles(row)?)));
    letters.chain(styles).collect()
}

fn text(row: &[Cell]) -> String {
    row.iter().map(Cell::symbol).collect()
}

/// `1-10 75 bold, 12-30 245`; `None` for a row without styles.
fn styles(row: &[Cell]) -> Option<String> {
    let mut at = 0;
    let mut words = Vec::new();
    for run in row.chunk_by(|a, b| style(a) == style(b)) {
        let style = style(&run[0]);
        if !style.is_empty() {
            words.push(format!("{at}-{} {style}", at + run.len() - 1));
        }
        at += run.len();
    }
    (!words.is_empty()).then(|| words.join(", "))
}

/// The foreground colour, the background colour and the modifiers.
fn style(cell: &Cell) -> String {
    let colour = |prefix: &str, colour| match colour {
        Color::Reset => None,
        other => Some(format!("{prefix}{other}")),
    };
    let modifiers = cell.modifier.iter_names().map(|(name, _)| name.to_ascii_lowercase());
    let parts = [colour("", cell.fg), colour("on ", cell.bg)].into_iter().flatten();
    parts.chain(modifiers).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_row_is_told_by_its_letters_and_the_runs_of_its_styles() {
    use ratatui::layout::Rect;
    use ratatui::style::{Modifier, Style};
    let mut buffer = Buffer::empty(Rect::new(0, 0, 8, 2));
    let bad = Style::new().fg(Color::Indexed(9)).add_modifier(Modifier::BOLD | Modifier::REVERSED);
    buffer.set_string(1, 0, "no", bad);
    buffer.set_string(4, 0, "so", Style::new().bg(Color::Red));
    buffer.set_string(0, 1, "ok", Style::new());
    assert_eq!(of(&buffer), "│ no so\n│ok\n0: 1-2 9 bold reversed, 4-5 on Red\n");
}
