//! The last row: the keys that are useful now. A click on a hint acts like its key.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::Focus;
use crate::tui::calibration;
use crate::tui::chart;
use crate::tui::command::{self, Action, Command, Key};
use crate::tui::controls::Request;
use crate::tui::home;
use crate::tui::live;
use crate::tui::session::Session;
use crate::tui::state::State;
use crate::tui::theme::Theme;
use crate::tui::update::shows_run;
use crate::tui::words;

/// A command in the bar, with the keys that the bar shows for it.
pub type Hint = (&'static Command, Vec<(Key, Action)>);

/// The commands in the bar, by importance: only those that are possible now, starting with those that end an
/// unusual state.
pub fn hints(state: &State) -> Vec<Hint> {
    let useful = |(command, bindings): &Hint| {
        // Repeating a case that is done, or calibrating a device that has a profile, is rarely useful, so only the
        // help mentions it.
        let seldom = match command.bindings.first().map(|(_, action)| *action) {
            Some(Action::Control(Request::Again)) => !state.active(),
            Some(Action::Calibrate) => !calibration::is_wanted(state),
            // Most primitives have no pictures.
            Some(Action::Live(live::Request::Show)) => {
                state.focus == Focus::Live || state.session.as_ref().is_none_or(|s| s.pictures.is_empty())
            }
            _ => false,
        };
        command.hinted > 0 && !seldom && !bindings.is_empty() && command.enabled(state)
    };
    let mut hints: Vec<Hint> = command::bound(state).into_iter().filter(useful).collect();
    hints.sort_by_key(|(command, _)| release(command, state).is_none());
    hints
}

/// The name of a command that continues a halted run, unfreezes the screen, leaves full screen, or makes a profile that
/// the models lack.
fn release(command: &Command, state: &State) -> Option<&'static str> {
    let held = |run: &Session| run.paused().is_some() || run.pausing();
    let full = |shown: &Session| shown.view.full && state.focus == Focus::Chart;
    let (there, name) = match command.bindings.first()?.1 {
        Action::Control(Request::Resume) => (true, command.name),
        Action::Calibrate => (calibration::is_wanted(state), command.name),
        Action::Control(Request::Pause) => (state.run().is_some_and(held), "go on"),
        Action::Control(Request::Freeze) => (state.live.is_some(), "unfreeze"),
        Action::Chart(chart::Request::Full) => (state.session.as_ref().is_some_and(full), "leave full"),
        _ => return None,
    };
    there.then_some(name)
}

/// The hints that fit into `columns`.
fn shown(state: &State, theme: Theme, columns: usize) -> Vec<(Hint, String)> {
    let text = |hint: Hint| {
        let text = format!(" {} {} ", keys(&hint, state, theme), name(hint.0, state));
        (hint, text)
    };
    let mut shown: Vec<(Hint, String)> = hints(state).into_iter().map(text).collect();
    let width = |shown: &[(Hint, String)]| -> usize { shown.iter().map(|(_, t)| words::width(t)).sum() };
    // The ways out and the help come last and stay; other hints are dropped to make room.
    let stays = |((command, _), _): &(Hint, String)| {
        command.actions().iter().any(|a| matches!(a, Action::Back | Action::Help | Action::Quit))
    };
    while width(&shown) > columns {
        let Some(last) = shown.iter().rposition(|hint| !stays(hint)) else { break };
        shown.remove(last);
    }
    shown
}

/// The keys of a hint, and their separator. Each line of the chart has a key; only the first and the last are
/// shown.
fn told<'h>((command, bindings): &'h Hint, state: &State) -> (Vec<&'h (Key, Action)>, &'static str) {
    let lines = state.session.as_ref().map_or(0, |session| session.chart().labels.len());
    match bindings.first() {
        Some((_, Action::Chart(chart::Request::Line(_)))) => (
            bindings.first().into_iter().chain(bindings.get(1..lines).and_then(<[_]>::last)).collect(),
            if lines > 2 { "-" } else { "/" },
        ),
        _ => (bindings.iter().take(command.hinted).collect(), "/"),
    }
}

fn keys(hint: &Hint, state: &State, theme: Theme) -> String {
    let (keys, between) = told(hint, state);
    keys.iter().map(|(key, _)| key.label(theme)).collect::<Vec<_>>().join(between)
}

/// The name of a command, including names for when it does something different from usual or undoes its effect.
fn name(command: &'static Command, state: &State) -> &'static str {
    let Some((_, action)) = command.bindings.first() else { return command.name };
    let view = state.session.as_ref().map(|session| &session.view);
    match action {
        Action::Start if shows_run(state) => "show run",
        Action::Start | Action::Home(home::Request::Run) if state.busy() => "queue",
        Action::Chart(chart::Request::Differences) if view.is_some_and(|view| view.differences) => {
            "hide differences"
        }
        Action::Chart(chart::Request::Before) if view.is_some_and(|view| view.overlay().is_some()) => {
            "hide baseline"
        }
        _ => release(command, state).unwrap_or(command.name),
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
            let useful = hint.1.iter().map(|(_, action)| *action).find(|action| state.allows(*action));
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
