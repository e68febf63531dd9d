//! The last row: what the keys do here and now. A click on a hint is its key.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::Focus;
use crate::tui::chart;
use crate::tui::command::{self, Action, Command, Key};
use crate::tui::controls::Ask;
use crate::tui::session::Session;
use crate::tui::state::State;
use crate::tui::theme::Theme;
use crate::tui::words;

/// A command that the bar shows, with the keys that it shows of it.
pub type Hint = (&'static Command, Vec<(Key, Action)>);

/// The commands that the bar shows, by importance: those that would do something, before
/// all others those that end an unusual state.
pub fn hints(state: &State) -> Vec<Hint> {
    let useful =
        |(command, bindings): &Hint| command.hinted > 0 && !bindings.is_empty() && command.enabled(state);
    let mut hints: Vec<Hint> = command::bound(state).into_iter().filter(useful).collect();
    hints.sort_by_key(|(command, _)| release(command, state).is_none());
    hints
}

/// What a command is called by which a run that stands still goes on, or a chart gives the
/// screen back.
fn release(command: &Command, state: &State) -> Option<&'static str> {
    let held = |run: &Session| run.paused().is_some() || run.pausing();
    let full = |shown: &Session| shown.view.full && state.focus == Focus::Chart;
    let (there, name) = match command.bindings.first()?.1 {
        Action::Control(Ask::Resume) => (true, command.name),
        Action::Control(Ask::Pause) => (state.run().is_some_and(held), "go on"),
        Action::Control(Ask::Freeze) => (state.live.is_some(), "unfreeze"),
        Action::Chart(chart::Ask::Full) => (state.session.as_ref().is_some_and(full), "leave full"),
        _ => return None,
    };
    there.then_some(name)
}

fn name(command: &Command, state: &State) -> &'static str {
    release(command, state).unwrap_or(command.name)
}

/// Those that fit into `columns`.
fn shown(state: &State, theme: Theme, columns: usize) -> Vec<(Hint, String)> {
    let text = |hint: Hint| {
        let text = format!(" {} {} ", command::labels(&hint.1, hint.0.hinted, theme), name(hint.0, state));
        (hint, text)
    };
    let mut shown: Vec<(Hint, String)> = hints(state).into_iter().map(text).collect();
    let width = |shown: &[(Hint, String)]| -> usize { shown.iter().map(|(_, t)| words::width(t)).sum() };
    // Help and quit stand last and stay; what does not fit before them goes.
    while shown.len() > 2 && width(&shown) > columns {
        shown.remove(shown.len() - 3);
    }
    shown
}

pub fn draw(state: &State, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let shown = shown(state, theme, usize::from(area.width));
    let spans = shown.iter().flat_map(|((command, bindings), _)| {
        let keys = command::labels(bindings, command.hinted, theme);
        [
            Span::styled(format!(" {keys}"), theme.key()),
            Span::styled(format!(" {} ", name(command, state)), theme.dim()),
        ]
    });
    buffer.set_line(area.x, area.y, &Line::from(spans.collect::<Vec<_>>()), area.width);
}

/// What a click in this column of the bar asks for: on a key its action, on the words
/// the first action that would do something.
pub fn at(state: &State, theme: Theme, area: Rect, column: u16) -> Option<Action> {
    let mut left = area.x;
    for ((command, bindings), text) in shown(state, theme, usize::from(area.width)) {
        let width = words::width(&text) as u16;
        if column < left + width {
            let key = key_at(&bindings, command.hinted, theme, column.checked_sub(left + 1)?);
            let useful = bindings.iter().map(|(_, action)| *action).find(|action| state.allows(*action));
            return key.or(useful);
        }
        left += width;
    }
    None
}

/// The action of the key whose label stands at this column of the labels.
fn key_at(bindings: &[(Key, Action)], count: usize, theme: Theme, column: u16) -> Option<Action> {
    let mut right = 0;
    bindings.iter().take(count).find_map(|(key, action)| {
        right += words::width(&key.label(theme)) + 1;
        (usize::from(column) < right).then_some(*action)
    })
}
