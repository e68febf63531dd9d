//! The first row: recipe, engine, backends and progress.

use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::case::distinct;
use crate::run::Status;
use crate::run::client::HELLO_TIMEOUT;
use crate::tui::session::{Mode, Phase, Session};
use crate::tui::state::{Engine, State};
use crate::tui::theme::Theme;
use crate::tui::words;

pub fn draw(state: &State, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let columns = usize::from(area.width).saturating_sub(2);
    let progress = state.session.as_ref().map(|s| self::progress(s, state, theme)).unwrap_or_default();
    let progress = words::fit(&format!("{progress}{}", waiting(state, theme)), columns, theme);
    let subject = subject(state, theme);
    let room = columns.saturating_sub(words::width(&progress));
    let kept = if columns < BOTH { 0 } else { words::width(&subject).min(room / 3) + 2 };
    let verdict = verdict(state.session.as_ref(), room.saturating_sub(kept), theme);
    let room = room.saturating_sub(words::width(&verdict) + 2);
    let name = name(&subject, state, room);
    if room >= words::width(name) {
        let x = area.x + 1;
        buffer.set_string(x, area.y, name, theme.focus());
        let subject = if name.is_empty() { subject.trim_start_matches(theme.separator()) } else { &subject };
        let subject = words::fit(subject, room - words::width(name), theme);
        buffer.set_string(x + name.len() as u16, area.y, subject, theme.dim());
    }
    let right = area.x + 1 + columns as u16;
    let x = right.saturating_sub((words::width(&progress) + words::width(&verdict)) as u16);
    let (x, _) =
        buffer.set_stringn(x, area.y, progress, columns, style(state.session.as_ref(), state.now, theme));
    buffer.set_stringn(x, area.y, verdict, columns, Style::default());
}

/// Columns from which on the recipe keeps some room beside the verdict.
const BOTH: usize = 72;

/// What the run in view is worth, once it is over, as far as it fits behind the progress.
pub fn verdict(session: Option<&Session>, room: usize, theme: Theme) -> String {
    let text = session.filter(|session| is_judged(session)).and_then(|session| session.verdict.as_ref());
    text.map_or_else(String::new, |text| words::fit(&format!("{}{text}", theme.separator()), room, theme))
}

fn is_judged(session: &Session) -> bool {
    session.frozen.is_none() && session.verdict.is_some() && matches!(session.phase, Phase::Over { .. })
}

/// The program's name, unless it takes up room that the subject needs.
fn name(subject: &str, state: &State, room: usize) -> &'static str {
    const NAME: &str = "scatterlab";
    let cut = words::width(NAME) + words::width(subject) > room;
    if cut && state.session.is_some() { "" } else { NAME }
}

/// Number of queued runs.
fn waiting(state: &State, theme: Theme) -> String {
    match state.home.queue.items().len() {
        0 => String::new(),
        waiting => format!("{}{waiting} queued", theme.separator()),
    }
}

/// The recipe and its backends.
fn subject(state: &State, theme: Theme) -> String {
    let Some(session) = &state.session else {
        return format!("{}{}{}", engine(state, theme), theme.separator(), devices(state));
    };
    let separator = theme.separator();
    let recipe = session.recipe.and_then(|at| state.recipes.entries().get(at));
    let path = match &session.calibrates {
        Some(backend) => format!("calibration of {backend}"),
        None => recipe.map_or_else(|| session.folder.display().to_string(), |r| r.path.clone()),
    };
    let changes = session.ledger.plan().overrides.iter().cloned();
    let recipe = std::iter::once(path).chain(changes).collect::<Vec<_>>().join(" ");
    let host = session.environment.as_ref().map(|e| format!("{separator}{}", e.host)).unwrap_or_default();
    format!("{separator}{recipe}{}{separator}{}{host}", engine(state, theme), backends(session).join(", "))
}

/// The devices, or for how long an engine has been asked for them.
fn devices(state: &State) -> String {
    match state.engine {
        Engine::Known => state.devices.clone(),
        Engine::Unasked => "waiting for the engine".to_owned(),
        Engine::Awaited { since } => {
            let (waited, most) = (state.now.saturating_sub(since).as_secs(), HELLO_TIMEOUT.as_secs());
            format!("waiting for the engine to say hello: {waited} s of {most}")
        }
    }
}

/// `engine: ssh gpuhost · 23 ms`; empty for the local engine.
fn engine(state: &State, theme: Theme) -> String {
    let Some(remote) = &state.remote else { return String::new() };
    let separator = theme.separator();
    let latency = remote.latency.map(|time| format!("{separator}{}", words::latency(time)));
    format!("{separator}engine: {}{}", remote.name, latency.unwrap_or_default())
}

/// The backends of the run's cases, in the order of the plan.
fn backends(session: &Session) -> Vec<&str> {
    distinct(session.ledger.records().iter().map(|record| record.case.backend()))
}

/// State, progress, remaining time and elapsed time.
pub fn progress(session: &Session, state: &State, theme: Theme) -> String {
    let (done, all) = session.progress(state.now);
    let spent = words::clock(session.elapsed(state.now));
    let separator = theme.separator();
    let left = session.remaining(state.now);
    let left = left.map_or_else(String::new, |left| format!("{separator}{} left", words::left(left, theme)));
    match &session.phase {
        _ if session.frozen.is_some() => {
            format!("FROZEN {done}/{all} rounds{separator}{spent}{}", meanwhile(session, state, theme))
        }
        Phase::Running if session.paused().is_some() => {
            format!("PAUSED {done}/{all} rounds{separator}{spent}")
        }
        Phase::Running if session.pausing() => format!("PAUSING {done}/{all} rounds{separator}{spent}"),
        Phase::Running | Phase::Cancelling if session.silence(state.now).is_some() => {
            let silent = session.silence(state.now).map_or(0, |silent| silent.as_secs());
            format!("no word from the engine for {silent} s{separator}{done}/{all} rounds{separator}{spent}")
        }
        Phase::Running => {
            let word = session.calibrates.as_ref().map_or(mode(session.mode), |_| "CALIBRATING");
            format!("{word} {done}/{all} rounds{left}{separator}{spent}")
        }
        Phase::Cancelling if session.mode == Mode::Watch => format!("ENDING {done}/{all} rounds"),
        Phase::Cancelling => format!("CANCELLING {done}/{all} rounds{separator}{spent}"),
        Phase::Dead { .. } => format!("ENGINE DIED {done}/{all} rounds{separator}{spent}"),
        Phase::Broken(_) => format!("BROKEN {done}/{all} rounds{separator}{spent}"),
        Phase::Over { cancelled } => {
            let word = match (session.mode, cancelled) {
                (Mode::Watch, _) => "WATCHED",
                (Mode::Stored, _) => "STORED",
                (_, true) => "CANCELLED",
                (_, false) => "DONE",
            };
            // The verdict, which follows, counts the failures.
            match is_judged(session) {
                true if done == all => format!("{word}{separator}{spent}"),
                true => format!("{word} {done}/{all} rounds{separator}{spent}"),
                false => {
                    format!("{word} {done}/{all} rounds{}{separator}{spent}", failures(session, theme))
                }
            }
        }
    }
}

/// The state of the run behind a frozen screen, unless it simply continues: a paused run must not be forgotten
/// there.
fn meanwhile(shown: &Session, state: &State, theme: Theme) -> String {
    let Some(live) = &state.live else { return String::new() };
    let word = match &live.phase {
        _ if live.folder != shown.folder => "the next run has begun",
        Phase::Running if live.paused().is_some() => "PAUSED",
        Phase::Running if live.pausing() => "PAUSING",
        Phase::Cancelling => "CANCELLING",
        Phase::Over { .. } => "the run is over",
        // A dead engine has a banner.
        Phase::Running | Phase::Dead { .. } | Phase::Broken(_) => return String::new(),
    };
    format!("{}{word}", theme.separator())
}

/// Whether a run, or the view of it, stands still.
pub fn stands(session: &Session) -> bool {
    session.frozen.is_some() || session.paused().is_some() || session.pausing()
}

fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Run | Mode::Stored => "RUN",
        Mode::Watch => "WATCH",
    }
}

fn failures(session: &Session, theme: Theme) -> String {
    let failed = session.ledger.measured().filter(|(_, r)| matches!(r.status, Status::Failed(_))).count();
    if failed == 0 { String::new() } else { format!("{}{failed} failed", theme.separator()) }
}

/// The style of the progress text.
pub fn style(session: Option<&Session>, now: Duration, theme: Theme) -> Style {
    if session.is_some_and(stands) {
        return theme.warning();
    }
    if session.is_some_and(|session| session.silence(now).is_some()) {
        return theme.bad();
    }
    match session.map(|s| &s.phase) {
        Some(Phase::Running) => theme.title(),
        Some(Phase::Over { cancelled: false }) => theme.good(),
        Some(Phase::Cancelling | Phase::Over { .. }) => theme.warning(),
        Some(Phase::Dead { .. } | Phase::Broken(_)) => theme.bad(),
        None => theme.dim(),
    }
}
