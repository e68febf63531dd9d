//! The last row: the keys that are useful now. A click on a hint acts like its key.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::tui::commands::everywhere::{BACK, HELP, QUIT};
use crate::tui::commands::{self, Action, Command, Hint};
use crate::tui::key::Key;
use crate::tui::state::State;
use crate::tui::theme::Theme;
use crate::tui::words;

/// A command in the bar, with the keys that the bar shows for it.
pub type Entry = (&'static Command, Vec<(Key, Action)>);

/// The commands in the bar, by importance: only those that are possible now, starting with those that end an
/// unusual state.
pub fn hints(state: &State) -> Vec<Entry> {
    let useful = |(command, bindings): &Entry| {
        let possible = || command.actions.iter().any(|action| action.is_allowed(state));
        command.hinted > 0 && !bindings.is_empty() && (command.hint)(state) != Hint::Never && possible()
    };
    let mut hints: Vec<Entry> = commands::bound(state).into_iter().filter(useful).collect();
    hints.sort_by_key(|(command, _)| !matches!((command.hint)(state), Hint::First(_)));
    hints
}

/// The hints that fit into `columns`.
fn shown(state: &State, theme: Theme, columns: usize) -> Vec<(Entry, String)> {
    let text = |hint: Entry| {
        let text = format!(" {} {} ", keys(&hint, state, theme), name(hint.0, state));
        (hint, text)
    };
    let mut shown: Vec<(Entry, String)> = hints(state).into_iter().map(text).collect();
    let width = |shown: &[(Entry, String)]| -> usize { shown.iter().map(|(_, t)| words::width(t)).sum() };
    // The ways out and the help come last and stay; other hints are dropped to make room.
    let stays = |((command, _), _): &(Entry, String)| {
        command.actions.iter().any(|action| [BACK, HELP, QUIT].iter().any(|way| way.is(action)))
    };
    while width(&shown) > columns {
        let Some(last) = shown.iter().rposition(|hint| !stays(hint)) else { break };
        shown.remove(last);
    }
    shown
}

/// The keys of a hint, and their separator.
fn told<'h>((command, bindings): &'h Entry, state: &State) -> (Vec<&'h (Key, Action)>, &'static str) {
    match (command.hint)(state) {
        Hint::Range(count) => (
            bindings.first().into_iter().chain(bindings.get(1..count).and_then(<[_]>::last)).collect(),
            if count > 2 { "-" } else { "/" },
        ),
        _ => (bindings.iter().take(command.hinted).collect(), "/"),
    }
}

fn keys(hint: &Entry, state: &State, theme: Theme) -> String {
    let (keys, between) = told(hint, state);
    keys.iter().map(|(key, _)| key.label(theme)).collect::<Vec<_>>().join(between)
}

/// The name of a command, by what it does now.
fn name(command: &'static Command, state: &State) -> &'static str {
    match (command.hint)(state) {
        Hint::As(name) | Hint::First(name) => name,
        _ => command.name,
    }
}

pub fn draw(state: &State, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let shown = shown(state, theme, usize::from(area.width));
    let spans = shown.iter().flat_map(|(hint, _)| {
        [
            Span::styled(format!(" {}", keys(hint, state, theme)), theme.key()),
            Span::styled(format!(" {} ", name(hint.0, state)), theme.dim()),
        ]
    });
    buffer.set_line(area.x, area.y, &Line::from(spans.collect::<Vec<_>>()), area.width);
}

/// The action of a click in this column of the bar: on a key the key's action, on the name the first action
/// that is possible now.
pub fn at(state: &State, theme: Theme, area: Rect, column: u16) -> Option<Action> {
    let mut left = area.x;
    for (hint, text) in shown(state, theme, usize::from(area.width)) {
        let width = words::width(&text) as u16;
        if column < left + width {
            let key = key_at(&told(&hint, state).0, theme, column.checked_sub(left + 1)?);
            let useful = hint.1.iter().map(|(_, action)| *action).find(|action| action.is_allowed(state));
            return key.or(useful);
        }
        left += width;
    }
    None
}

/// The action of the key whose label covers this column of the labels.
fn key_at(bindings: &[&(Key, Action)], theme: Theme, column: u16) -> Option<Action> {
    let mut right = 0;
    bindings.iter().find_map(|(key, action)| {
        right += words::width(&key.label(theme)) + 1;
        (usize::from(column) < right).then_some(*action)
    })
}
