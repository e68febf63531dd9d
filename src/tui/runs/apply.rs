//! Effects of requests and answers on the state.

use super::io_worker::{Answer, Job};
use super::{Listing, Purpose, Request, Runs, Typing, chart, replay};
use crate::case::units::escaped;
use crate::engine::protocol::Level;
use crate::tui::command::Action;
use crate::tui::controls;
use crate::tui::field::Field;
use crate::tui::panel::{Focus, samples};
use crate::tui::state::{Mode, Overlay, State};
use crate::tui::update::{Effect, begin};

/// Whether the request is possible now.
pub fn allows(state: &State, ask: Request) -> bool {
    let (runs, readable) = (&state.runs, state.runs.selected().is_some_and(|entry| entry.content.is_ok()));
    let on_runs = state.focus.is_runs();
    match ask {
        Request::Browse => runs.there && !on_runs,
        Request::Reload => on_runs && runs.listing != Listing::Reading,
        Request::Search => on_runs && runs.count() > 0,
        Request::Note => on_runs && runs.selected().is_some(),
        Request::Open | Request::Watch | Request::Mark | Request::Lay => on_runs && readable,
        Request::Compare => on_runs && readable && runs.baseline.is_some() && !is_baseline(runs),
        Request::Replay => replay::allows(state) && (!on_runs || readable),
        Request::Export if on_runs => readable,
        Request::Export => state.focus.is_run() && state.session.is_some() && !state.active(),
        Request::Copy => copied(state).is_some(),
        Request::Close => matches!(state.overlay, Some(Overlay::Export { .. })),
    }
}

fn is_baseline(runs: &Runs) -> bool {
    runs.selected().is_some_and(|entry| runs.baseline.as_ref() == Some(&entry.path))
}

/// Carries out a request.
pub fn apply(state: &mut State, ask: Request) -> Option<Effect> {
    if !allows(state, ask) {
        state.notice = missing(state, ask);
        return None;
    }
    match ask {
        Request::Browse => {
            state.focus = Focus::Runs;
            return list(state);
        }
        Request::Reload => return list(state),
        Request::Search => search(&mut state.runs),
        Request::Note => annotate(state),
        Request::Mark => mark(state),
        Request::Copy => return copy(state),
        Request::Close => state.overlay = None,
        Request::Replay => return replay::read(state),
        Request::Lay if chart::is_laid(&state.runs) => chart::withdraw(state),
        Request::Open | Request::Watch | Request::Lay | Request::Compare | Request::Export => {
            return read(state, ask);
        }
    }
    None
}

/// Explains why a key that is shown elsewhere has no effect here.
fn missing(state: &State, ask: Request) -> Option<String> {
    let runs = &state.runs;
    let broken = runs.selected().is_some_and(|entry| entry.content.is_err());
    let mark = || state.keymap.name(Action::Runs(Request::Mark));
    match ask {
        Request::Replay if state.busy() => {
            Some("a run is active: another is replayed when it is over".to_owned())
        }
        Request::Export if !state.focus.is_runs() => Some("its files are written while it runs".to_owned()),
        Request::Compare if runs.baseline.is_none() => Some(format!("mark a baseline first: {}", mark())),
        Request::Compare if is_baseline(runs) => {
            Some("this is the baseline itself: select another run".to_owned())
        }
        Request::Open
        | Request::Watch
        | Request::Replay
        | Request::Mark
        | Request::Lay
        | Request::Compare
        | Request::Export
            if broken =>
        {
            Some("this folder cannot be read as a run".to_owned())
        }
        _ => None,
    }
}

/// Reading takes a core, so nothing is read while something is timed.
pub fn list(state: &mut State) -> Option<Effect> {
    if state.measuring() {
        state.notice = Some("a run is active: stored runs are read when it is over".to_owned());
        return None;
    }
    if state.runs.listing == Listing::Reading {
        return None;
    }
    state.runs.listing = Listing::Reading;
    Some(Effect::Request(0, Job::List { known: state.runs.known() }))
}

/// Requests a job that reads the selected run.
fn read(state: &mut State, ask: Request) -> Option<Effect> {
    let replaces = matches!(ask, Request::Open | Request::Watch);
    if state.measuring() || (replaces && state.busy()) {
        let cancel = state.keymap.name(Action::Control(controls::Request::Cancel));
        state.notice = Some(format!("a run is active: {cancel} ends it, and stored runs can be read then"));
        return None;
    }
    let path = match state.focus.is_runs() {
        true => state.runs.selected()?.path.clone(),
        false => state.session.as_ref()?.folder.clone(),
    };
    let (job, doing) = match ask {
        Request::Open => (Job::Open(path), "reading the run"),
        Request::Watch => (Job::Watch(path), "reading the run"),
        Request::Lay => (Job::Lay(path), "reading the run"),
        Request::Export => (Job::Export(path), "writing its charts and tables"),
        _ => (Job::Compare { baseline: state.runs.baseline.clone()?, other: path }, "comparing"),
    };
    state.notice = Some(format!("{doing} …"));
    Some(Effect::Request(state.runs.ticket(), job))
}

fn search(runs: &mut Runs) {
    // An answer must not take the user away from typing.
    runs.give_up();
    let before = runs.search().to_owned();
    runs.typing = Some(Typing { field: Field::new(&before), purpose: Purpose::Search { before } });
}

fn annotate(state: &mut State) {
    if notes_wait(state) {
        return;
    }
    let runs = &mut state.runs;
    runs.give_up();
    let Some(entry) = runs.selected() else { return };
    let field = Field::new(entry.note.as_deref().unwrap_or_default());
    runs.typing = Some(Typing { field, purpose: Purpose::Note(entry.path.clone()) });
}

/// Writing waits for the disk, so nothing is written while something is timed.
fn notes_wait(state: &mut State) -> bool {
    let measuring = state.measuring();
    if measuring {
        state.notice = Some("a run is active: notes are written when it is over".to_owned());
    }
    measuring
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
    if note && notes_wait(state) {
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
pub fn discard(runs: &mut Runs) {
    if let Some(Typing { purpose: Purpose::Search { before }, .. }) = runs.typing.take() {
        runs.set_search(&before);
    }
}

/// Marks the selected run as the baseline, or removes the mark.
fn mark(state: &mut State) {
    let Some(entry) = state.runs.selected() else { return };
    let (path, name) = (entry.path.clone(), entry.name.clone());
    if state.runs.baseline.as_ref() == Some(&path) {
        state.runs.baseline = None;
        state.notice = Some("baseline cleared".to_owned());
        return;
    }
    state.runs.baseline = Some(path);
    let compare = state.keymap.name(Action::Runs(Request::Compare));
    state.notice = Some(format!("baseline: {name}; {compare} compares another run with it"));
}

fn copy(state: &mut State) -> Option<Effect> {
    let (what, text) = copied(state)?;
    state.notice = Some(format!("copied, where the terminal allows it: {what}"));
    Some(Effect::Copy(text))
}

/// A description of the item under the cursor, and the text to copy. Text from folders is escaped: it may be
/// pasted into a shell.
fn copied(state: &State) -> Option<(String, String)> {
    if let Some(Overlay::Export { selected }) = state.overlay {
        let (what, text) = *state.runs.exported.as_ref()?.lines().get(selected)?;
        return Some((what.to_owned(), text.to_owned()));
    }
    let line = |text: String| (text.clone(), text);
    match state.focus {
        Focus::Runs => Some(line(escaped(&state.runs.selected()?.path.display().to_string()))),
        Focus::Details => Some(line(state.runs.selected()?.summary()?.repeat.run.clone())),
        Focus::Comparison => Some(line(state.runs.sheet.as_ref()?.text()?)),
        Focus::Cases | Focus::Chart | Focus::Samples => {
            let session = state.session.as_ref()?;
            let text = samples::text(session)?;
            Some((format!("the values of {}", escaped(&session.name(session.selected))), text))
        }
        _ => None,
    }
}

/// Processes an answer. An answer that is no longer awaited has no effect.
pub fn take(state: &mut State, ticket: u64, answer: Answer) -> Option<Effect> {
    match answer {
        Answer::Found(entry) => state.runs.insert(entry.named_by(&state.recipes)),
        Answer::Listed { paths, more } => {
            state.runs.settle();
            state.runs.keep(&paths);
            state.runs.listing = Listing::Done { more };
        }
        Answer::Refused(reason) if ticket == 0 => {
            state.runs.listing = Listing::Done { more: 0 };
            state.notice = Some(reason);
        }
        Answer::Noted { path, note } => {
            state.runs.set_note(&path, note);
            state.runs.awaited(ticket);
        }
        awaited => {
            if state.runs.awaited(ticket) {
                state.notice = None;
                return show(state, awaited);
            }
        }
    }
    None
}

fn show(state: &mut State, answer: Answer) -> Option<Effect> {
    match answer {
        // Something may have been started since the request.
        Answer::Opened(opened) if !state.busy() => {
            begin(state, opened.session());
        }
        Answer::Playable { path, plan, times } if !state.busy() => {
            return Some(Effect::Play { path, plan, times });
        }
        Answer::Laid(baseline) => chart::choose(state, baseline),
        Answer::Compared(sheet) => {
            state.runs.sheet = Some(*sheet);
            state.focus = Focus::Comparison;
        }
        Answer::Judged(sheet) => replay::judged(state, *sheet),
        Answer::Exported(exported) => {
            state.runs.exported = Some(*exported);
            state.overlay = Some(Overlay::Export { selected: 0 });
        }
        Answer::Pattern(pattern) => crate::tui::pattern::show(state, *pattern),
        Answer::Refused(reason) => state.notice = Some(reason),
        _ => {}
    }
    None
}

/// Cancels the reading of the list, because a run begins.
pub fn stopped(runs: &mut Runs) {
    if runs.listing == Listing::Reading {
        runs.listing = Listing::Never;
    }
    runs.give_up();
}

/// Marks the session as a stored run that is being played.
pub fn playing(state: &mut State, times: f64) {
    let Some(session) = &mut state.session else { return };
    session.mode = Mode::Watch;
    if times > 1.0 {
        let text = format!("played {} times as fast as it ran", crate::case::units::three_digits(times));
        session.say(state.now, Level::Info, &text);
    }
}
