//! Important messages: a dead engine, a broken run, the question before quitting, a notice.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::tui::commands::everywhere::{BACK, QUIT};
use crate::tui::commands::run::{CANCEL, RESUME, cut_short};
use crate::tui::runs::Purpose;
use crate::tui::session::{Mode, Phase, Session};
use crate::tui::state::{Leaving, State};
use crate::tui::theme::Theme;
use crate::tui::words;

/// Maximum number of rows.
pub const MOST_ROWS: usize = 3;

/// Columns of a text that is being typed.
const TYPED: usize = 120;

/// The banner's text and whether it reports a problem.
pub fn text(state: &State) -> Option<(String, bool)> {
    if let Some(saving) = &state.home.saving {
        return Some((saving.question(), false));
    }
    match state.leaving {
        Leaving::Asked => {
            let (quit, back) = (QUIT.key(state), BACK.key(state));
            return Some((format!("A run is active. {quit} again: cancel it and quit. {back}: stay."), true));
        }
        Leaving::Waiting { .. } => {
            let quit = QUIT.key(state);
            return Some((format!("Waiting for the run to end. {quit} again: quit at once."), false));
        }
        Leaving::No | Leaving::Now => {}
    }
    if let Some(typing) = &state.runs.typing {
        let (what, help) = match typing.purpose {
            Purpose::Search { .. } => ("search", " words of recipe, title, folder, machine, date or note"),
            Purpose::Note(_) => ("note", " an empty line removes the note"),
        };
        let help = if typing.field.is_empty() { help } else { "" };
        return Some((format!("{what}: {}{help}", typing.field.shown(TYPED, Theme::PLAIN)), false));
    }
    if let Some(notice) = &state.notice {
        return Some((notice.clone(), false));
    }
    if let Some(name) = &state.home.preparing {
        let back = BACK.key(state);
        return Some((
            format!("Resolving the cases of {name} before it starts. {back}: do not start it."),
            false,
        ));
    }
    state.run().and_then(|run| of_session(run, state)).or_else(|| incomplete(state))
}

/// How to resume a run that was just cancelled.
fn incomplete(state: &State) -> Option<(String, bool)> {
    let ours = state.focus.is_run() && state.run().is_some_and(|run| run.mode == Mode::Run);
    cut_short(state).filter(|_| ours)?;
    let key = RESUME.key(state);
    Some((format!("The run is not complete. {key}: resume it."), false))
}

fn of_session(session: &Session, state: &State) -> Option<(String, bool)> {
    match &session.phase {
        Phase::Dead { reason, case } => Some((dead(session, state, reason, *case), true)),
        Phase::Broken(reason) if session.mode == Mode::Watch => {
            Some((format!("The stored run could not be read any further: {reason}"), true))
        }
        Phase::Broken(reason) => {
            Some((format!("The run could not continue: {reason}. Finished results are on disk."), true))
        }
        _ => None,
    }
}

fn dead(session: &Session, state: &State, reason: &str, case: Option<usize>) -> String {
    let at = case.map(|case| format!(" at {}", session.name(case))).unwrap_or_default();
    let [resume, cancel] = [RESUME, CANCEL].map(|command| command.key(state));
    format!("Engine died{at}: {reason}. {resume}: continue in a fresh engine, {cancel}: end the run.")
}

/// Number of rows that the banner needs on a screen of this width; 0 if there is no message.
pub fn rows_needed(state: &State, columns: u16) -> u16 {
    text(state).map_or(0, |(text, _)| wrapped(&text, columns).len().min(MOST_ROWS) as u16)
}

fn wrapped(text: &str, columns: u16) -> Vec<String> {
    words::wrap(text, room(columns))
}

/// Columns between the sign and the edge.
fn room(columns: u16) -> usize {
    usize::from(columns).saturating_sub(4).max(1)
}

/// The first rows, with an ellipsis if more would follow.
fn first(mut rows: Vec<String>, area: Rect, theme: Theme) -> Vec<String> {
    if rows.len() > usize::from(area.height) {
        rows.truncate(usize::from(area.height));
        let more = theme.symbol("…", "~");
        rows.last_mut().into_iter().for_each(|last| {
            *last = words::fit(&format!("{last} {more}"), room(area.width), theme);
        });
    }
    rows
}

pub fn draw(state: &State, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let Some((text, bad)) = text(state) else { return };
    let (style, sign) = if bad { (theme.banner(), "! ") } else { (Style::default(), "  ") };
    let rows = first(wrapped(&text, area.width), area, theme);
    for (index, (y, row)) in (area.top()..area.bottom()).zip(rows).enumerate() {
        buffer.set_style(Rect { y, height: 1, ..area }, style);
        let sign = if index == 0 { sign } else { "  " };
        buffer.set_stringn(area.x, y, format!(" {sign}{row}"), usize::from(area.width), style);
    }
}
