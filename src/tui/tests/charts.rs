//! Snapshots of the chart in the states that a person brings it into, at every size and
//! with every theme.

use std::fmt::Write;
use std::time::Duration;

use insta::assert_snapshot;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyCode;
use ratatui::style::Color;

use super::loops::press;
use super::screens::{ASCII, COLOURED, at, draw, finished};
use super::{fixture, script};
use crate::run::runner::Message;
use crate::tui::app::App;
use crate::tui::theme::Theme;

const THEMES: [(&str, Theme); 3] = [("colour", COLOURED), ("no-colour", Theme::PLAIN), ("ascii", ASCII)];
const SIZES: [(u16, u16); 4] = [(60, 15), (80, 24), (120, 40), (200, 60)];

/// The screens of all sizes under each other; with colour, those of the smaller ones as
/// well, one letter a colour.
fn screens(app: &mut App, theme: Theme) -> String {
    let mut text = String::new();
    for size in SIZES {
        let terminal = draw(app, size, at(10));
        let _ = writeln!(text, "{}x{}\n{}", size.0, size.1, terminal.backend());
        if theme.colour && size.0 <= 80 {
            let _ = writeln!(text, "{}", colours(terminal.backend().buffer()));
        }
    }
    text
}

/// A letter for each colour, in capitals where the cell is bold or reversed.
fn colours(buffer: &Buffer) -> String {
    let letter = |cell: &ratatui::buffer::Cell| {
        let letter = match cell.fg {
            Color::Reset => 'a',
            Color::Indexed(index) => char::from(b'b' + index % 25),
            _ => '?',
        };
        match (cell.modifier.is_empty(), letter) {
            (false, letter) => letter.to_ascii_uppercase(),
            (true, 'a') => ' ',
            (true, letter) => letter,
        }
    };
    let rows = buffer.content().chunks(usize::from(buffer.area.width));
    rows.map(|row| format!("|{}|\n", row.iter().map(letter).collect::<String>())).collect()
}

fn keys(app: &mut App, keys: &str) {
    for key in keys.chars() {
        press(app, KeyCode::Char(key), at(9));
    }
}

/// The same recipe again, in which everything went right.
fn again(theme: Theme) -> App {
    let (mut app, runner) = super::screens::played(theme, 1, Some(4), usize::MAX);
    runner.say(Message::Over);
    app.receive(at(9));
    press(&mut app, KeyCode::Esc, at(9));
    press(&mut app, KeyCode::Enter, at(9));
    for message in script::messages(&fixture::passes(), None) {
        let slower = match message {
            Message::Event(crate::engine::protocol::Event::Round { seq, mut result }) => {
                let late = result.samples.len() as f64 * f64::from(result.round + 1);
                result.samples.iter_mut().for_each(|s| *s *= 1.0 + 0.02 * late);
                Message::Event(crate::engine::protocol::Event::Round { seq, result })
            }
            other => other,
        };
        runner.say(slower);
        app.receive(at(10));
    }
    runner.say(Message::Over);
    app.receive(at(10));
    app
}

fn each_theme(name: &str, make: impl Fn(Theme) -> App) {
    for (word, theme) in THEMES {
        let mut app = make(theme);
        app.tick(Duration::from_secs(10));
        assert_snapshot!(format!("{name}-{word}"), screens(&mut app, theme));
    }
}

#[test]
fn the_cursor_on_a_point() {
    each_theme("cursor", |theme| {
        let mut app = finished(theme, 1);
        keys(&mut app, "gv");
        (0..3).for_each(|_| press(&mut app, KeyCode::Right, at(9)));
        app
    });
}

#[test]
fn the_cursor_on_what_is_no_point() {
    each_theme("cursor-on-a-failure", |theme| {
        let mut app = finished(theme, 1);
        keys(&mut app, "gv");
        (0..2).for_each(|_| press(&mut app, KeyCode::Right, at(9)));
        app
    });
}

#[test]
fn zoomed_with_other_scales_and_a_line_hidden() {
    each_theme("zoomed", |theme| {
        let mut app = finished(theme, 1);
        keys(&mut app, "gv");
        (0..4).for_each(|_| press(&mut app, KeyCode::Right, at(9)));
        keys(&mut app, "++aaA2bi");
        app
    });
}

#[test]
fn the_run_before_and_the_differences_to_it() {
    each_theme("differences", |theme| {
        let mut app = again(theme);
        keys(&mut app, "zogv");
        (0..4).for_each(|_| press(&mut app, KeyCode::Right, at(9)));
        app
    });
}

#[test]
fn all_panels_at_once() {
    each_theme("all-panels", |theme| {
        let mut app = finished(theme, 0);
        keys(&mut app, "}zv");
        app
    });
}
