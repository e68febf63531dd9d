//! Commands about stored runs: the list is searched and read again, and a run is opened, played, compared or exported.

use std::path::PathBuf;
use std::sync::Arc;

use super::{Allowed, Effect, always, only_if, run};
use crate::case::units::escaped;
use crate::shell;
use crate::tui::chart::overlay::Baseline;
use crate::tui::field::Field;
use crate::tui::focus::Focus;
use crate::tui::runs::{Awaited, Job, Listing, Purpose, Runs, Typing};
use crate::tui::session::{Mode, Session};
use crate::tui::state::{Overlay, State};
use crate::tui::words::number_of;

rows! {
    BROWSE = ("runs", 1, "list the stored runs") {
        "runs" "o": |state| only_if(state.runs.there && !state.focus.is_runs(), "") => |state| {
            state.focus = Focus::Runs;
            list(state)
        }
    }
    EXPORT = ("export", 1, "write the run's charts and tables, and show how to run it again") {
        "export" "e": may_export
            => |state| read(state, "writing the run's charts and tables", |path| Some(Job::Export(path)))
    }
    COPY = ("copy", 1,
        "copy what is under the cursor: a folder, a case's values, a command line (by OSC 52)") {
        "copy" "y": |state| only_if(copied(state).is_some(), "") => |state| {
            let (what, effect) = copied(state)?;
            state.notice = Some(format!("copied, if the terminal allows it: {what}"));
            Some(effect)
        }
    }
    REPLAY = ("replay", 1, "run it again here and judge the new results against the old, as `scatterlab replay` does") {
        "replay-run" "P": may_replay => |state| {
            let path = in_view(state)?;
            state.notice = Some("reading the run …".to_owned());
            Some(Effect::Request(state.runs.ticket_for(Awaited::Reopening), Job::Replay(path)))
        }
    }
    OPEN = ("open", 1, "show the run as it was when it ended; nothing is measured") {
        "open-run" "Enter": replaces => |state| read(state, READING, |path| Some(Job::Open(path)))
    }
    SEARCH = ("search", 1, "list only runs with these words: recipe, title, folder, machine, note, date") {
        "search-runs" "/": |state| only_if(state.focus.is_runs() && state.runs.count() > 0, "") => search
    }
    MARK = ("mark", 1, "make it the baseline with which others are compared") {
        "mark-run" "m": chosen => mark
    }
    LAY = ("on chart", 1,
        "show or hide the baseline behind the chart of this run and later ones") {
        "chart-baseline" "b": may_lay => |state| match is_laid(&state.runs) {
            true => withdraw(state),
            false => read(state, READING, |path| Some(Job::Lay(path))),
        }
    }
    COMPARE = ("compare", 1, "compare it with the baseline, case by case, as `scatterlab compare` does") {
        "compare" "c": may_compare => |state| {
            let baseline = state.runs.baseline.clone();
            read(state, "comparing", |other| Some(Job::Compare { baseline: baseline?, other }))
        }
    }
    WATCH = ("watch", 1, "play the run back, in a minute at most") {
        "watch-run" "w": replaces => |state| read(state, READING, |path| Some(Job::Watch(path)))
    }
    NOTE = ("note", 1, "write a line about the run into its folder's note.txt") {
        "note" "n": |state| {
            only_if(state.focus.is_runs() && state.runs.selected().is_some(), "")?;
            only_if(!state.measuring(), NOTES_WAIT)
        } => annotate
    }
    RELOAD = ("reload", 1, "read the list again") {
        "reload-runs" "R": |state| {
            only_if(state.focus.is_runs() && state.runs.listing != Listing::Reading, "")?;
            only_if(!state.measuring(), LIST_WAITS)
        } => list
    }
    CLOSE = ("close", 1, "close the dialog") {
        "close-dialog" "Esc Enter": always => |state| state.overlay = None
    }
}

const READING: &str = "reading the run";
const LIST_WAITS: &str = "a run is active: stored runs can be read when it is over";
/// Writing waits for the disk, so nothing is written while something is timed.
const NOTES_WAIT: &str = "a run is active: notes can be written when it is over";

/// Whether a run is selected.
fn chosen(state: &State) -> Allowed {
    match state.runs.selected().map(|entry| &entry.content) {
        Some(Ok(_)) if state.focus.is_runs() => Ok(()),
        Some(Err(_)) => Err("this folder cannot be read as a run".into()),
        _ => Err("".into()),
    }
}

/// Whether the selected run can be read: that takes a core, so nothing is read while something is timed.
fn readable(state: &State) -> Allowed {
    chosen(state)?;
    only_if(!state.measuring(), wait(state))
}

/// Whether the selected run can be read and take the place of the one in progress.
fn replaces(state: &State) -> Allowed {
    readable(state)?;
    only_if(!state.busy(), wait(state))
}

fn wait(state: &State) -> String {
    format!("a run is active: {} ends it, and stored runs can be read then", run::CANCEL.key(state))
}

fn may_lay(state: &State) -> Allowed {
    if is_laid(&state.runs) { chosen(state) } else { readable(state) }
}

fn may_export(state: &State) -> Allowed {
    if state.focus.is_runs() {
        return readable(state);
    }
    let over = state.focus.is_run() && state.session.is_some() && !state.active();
    only_if(over, "its files are still being written while it runs")
}

fn may_compare(state: &State) -> Allowed {
    let Some(baseline) = &state.runs.baseline else {
        return Err(format!("mark a baseline first: {}", MARK.key(state)).into());
    };
    if state.runs.selected().is_some_and(|entry| entry.path == *baseline) {
        return Err("this is the baseline itself: select another run".into());
    }
    readable(state)
}

fn may_replay(state: &State) -> Allowed {
    only_if(!state.busy() && !state.active(), "a run is active: another can be replayed when it is over")?;
    let shown = state.focus.is_run() && state.session.as_ref().is_some_and(|run| run.calibrates.is_none());
    if shown && state.mode == Mode::Run { Ok(()) } else { readable(state) }
}

/// The folder of the selected run, or of the one in view.
fn in_view(state: &State) -> Option<PathBuf> {
    match state.focus.is_runs() {
        true => Some(state.runs.selected()?.path.clone()),
        false => Some(state.session.as_ref()?.folder.clone()),
    }
}

/// Reading takes a core, so nothing is read while something is timed.
pub fn list(state: &mut State) -> Option<Effect> {
    if state.measuring() {
        state.notice = Some(LIST_WAITS.to_owned());
        return None;
    }
    if state.runs.listing == Listing::Reading {
        return None;
    }
    state.runs.listing = Listing::Reading;
    Some(Effect::Request(0, Job::List { known: state.runs.known() }))
}

/// Requests a job that reads the run in view.
fn read(state: &mut State, doing: &str, job: impl FnOnce(PathBuf) -> Option<Job>) -> Option<Effect> {
    let job = job(in_view(state)?)?;
    state.notice = Some(format!("{doing} …"));
    Some(Effect::Request(state.runs.ticket(), job))
}

fn search(state: &mut State) {
    let runs = &mut state.runs;
    // An answer must not take the user away from typing.
    runs.give_up();
    let before = runs.search().to_owned();
    runs.typing = Some(Typing { field: Field::new(&before), purpose: Purpose::Search { before } });
}

fn annotate(state: &mut State) {
    let runs = &mut state.runs;
    runs.give_up();
    let Some(entry) = runs.selected() else { return };
    let field = Field::new(entry.note.as_deref().unwrap_or_default());
    runs.typing = Some(Typing { field, purpose: Purpose::Note(entry.path.clone()) });
}

/// Applies the changed text to the search.
pub fn typed(runs: &mut Runs) {
    let Some(Typing { field, purpose: Purpose::Search { .. } }) = &runs.typing else { return };
    let text = field.text();
    runs.set_search(&text);
}

/// Accepts the typed text.
pub fn keep(state: &mut State) -> Option<Effect> {
    let note = matches!(&state.runs.typing, Some(Typing { purpose: Purpose::Note(_), .. }));
    if note && state.measuring() {
        state.notice = Some(NOTES_WAIT.to_owned());
        return None;
    }
    match state.runs.typing.take()? {
        Typing { purpose: Purpose::Search { .. }, .. } => None,
        Typing { purpose: Purpose::Note(path), field } => {
            Some(Effect::Request(state.runs.ticket(), Job::Note { path, text: field.text() }))
        }
    }
}

/// Discards the typed text.
pub fn discard(state: &mut State) {
    if let Some(Typing { purpose: Purpose::Search { before }, .. }) = state.runs.typing.take() {
        state.runs.set_search(&before);
    }
}

/// Marks the selected run as the baseline, or removes the mark.
fn mark(state: &mut State) {
    let Some(entry) = state.runs.selected() else { return };
    let (path, name) = (entry.path.clone(), entry.name.clone());
    if state.runs.baseline.as_ref() == Some(&path) {
        state.runs.baseline = None;
        state.notice = Some("baseline cleared".to_owned());
    } else {
        state.runs.baseline = Some(path);
        state.notice = Some(format!("baseline: {name}; {} compares another run with it", COMPARE.key(state)));
    }
}

/// A description of the item under the cursor, and the way to copy it. Text from folders is quoted or escaped: it may
/// be pasted into a shell.
fn copied(state: &State) -> Option<(String, Effect)> {
    if let Some(Overlay::Export { selected }) = state.overlay {
        let (what, text) = *state.runs.exported.as_ref()?.lines().get(selected)?;
        return Some((what.to_owned(), Effect::Copy(text.to_owned())));
    }
    let line = |text: String| (text.clone(), Effect::Copy(text));
    match state.focus {
        Focus::Runs => Some(line(shell::path(&state.runs.selected()?.path))),
        Focus::Details => Some(line(state.runs.selected()?.summary()?.repeat.run.clone())),
        Focus::Comparison => Some(line(state.runs.comparison.as_ref()?.text()?)),
        Focus::Cases | Focus::Chart | Focus::Samples => {
            let session = state.session.as_ref()?;
            session.ledger.records().get(session.selected)?;
            Some((format!("the values of {}", escaped(&session.name(session.selected))), Effect::CopyValues))
        }
        _ => None,
    }
}

/// Cancels the reading of the list, because a run begins.
pub fn stopped(runs: &mut Runs) {
    if runs.listing == Listing::Reading {
        runs.listing = Listing::Never;
    }
    runs.give_up();
}

/// Whether the selected run is already under the charts; choosing it again removes it.
fn is_laid(runs: &Runs) -> bool {
    let laid = runs.laid.as_ref().map(|baseline| &baseline.folder);
    laid.is_some_and(|folder| runs.selected().is_some_and(|entry| entry.path == *folder))
}

/// Lays this run under the current chart and the charts of later runs.
pub fn choose(state: &mut State, baseline: Arc<Baseline>) {
    let name = baseline.name();
    state.runs.laid = Some(baseline);
    state.notice = Some(match &mut state.session {
        None => format!("baseline: {name}, behind the chart of the next run"),
        Some(session) => lay_chosen(&state.runs, session)
            .unwrap_or_else(|| format!("baseline: {name}, behind other runs; this one is shown itself")),
    });
}

/// Removes the chosen run from under the charts.
fn withdraw(state: &mut State) -> Option<Effect> {
    let laid = state.runs.laid.take();
    let lies = |session: &&mut Session| {
        let own = session.view.baseline.as_ref().map(|baseline| &baseline.folder);
        own.is_some_and(|folder| laid.as_ref().is_some_and(|laid| laid.folder == *folder))
    };
    if let Some(session) = state.session.as_mut().filter(lies) {
        session.clear_baseline();
        session.view.baseline = None;
    }
    state.notice = Some("baseline removed from the chart".to_owned());
    None
}

/// Lays the chosen run under a session, and returns a message with the number of its values and what differs. If it cannot
/// be laid, restores the previous overlay.
pub fn lay_chosen(runs: &Runs, session: &mut Session) -> Option<String> {
    let baseline = runs.laid.as_ref().filter(|baseline| baseline.folder != session.folder)?;
    let (before, name) = (session.view.overlay().cloned(), baseline.name());
    let laid = match session.lay(baseline) {
        Ok(laid) => number_of(laid, "value"),
        Err(why) => {
            session.view.set_overlay(before);
            return Some(why);
        }
    };
    session.view.baseline = Some(Arc::clone(baseline));
    let differs = session.view.overlay().map(|overlay| overlay.differs()).filter(|words| !words.is_empty());
    let differs = differs.map(|words| format!("; {words}")).unwrap_or_default();
    Some(format!("baseline: {name}, {laid}{differs}"))
}
