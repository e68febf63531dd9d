//! Continues a run that is over: either it was cut short, or one of its cases is to be measured further.

use std::path::PathBuf;

use super::runs::{self, Job};
use super::session::{Phase, Session};
use super::state::{Mode, State};
use super::update::{Effect, begin};
use crate::run::Ledger;

/// A run that can be resumed in its folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfinished {
    pub folder: PathBuf,
    /// Position of the case that is to be retried or measured further.
    pub case: Option<usize>,
}

/// The run in view, if it was cut short and nothing else is in progress.
pub fn cut_short(state: &State) -> Option<Unfinished> {
    if state.busy() || state.runs.awaits(runs::Awaited::Reopening) || state.mode != Mode::Run {
        return None;
    }
    let folder = match state.focus.is_runs() {
        true => {
            let entry = state.runs.selected()?;
            (!entry.summary()?.complete).then_some(&entry.path)?
        }
        false => &over(state).filter(|run| is_incomplete(run))?.folder,
    };
    Some(Unfinished { folder: folder.clone(), case: None })
}

/// The run that has just ended, to measure its selected case again. Stored runs are excluded: they may be from
/// another machine.
pub fn of_case(state: &State) -> Option<Unfinished> {
    let idle = !state.busy() && !state.runs.awaits(runs::Awaited::Reopening);
    let run = over(state).filter(|run| idle && run.mode == Mode::Run)?;
    let case = state.session.as_ref()?.selected;
    run.ledger.may_repeat(case).then(|| Unfinished { folder: run.folder.clone(), case: Some(case) })
}

/// The run on the screen, once it is over.
fn over(state: &State) -> Option<&Session> {
    let over = |run: &&Session| matches!(run.phase, Phase::Over { .. } | Phase::Broken(_));
    let lasts = |run: &&Session| run.mode != Mode::Watch && run.calibrates.is_none();
    state.run().filter(|_| state.focus.is_run()).filter(lasts).filter(over)
}

fn is_incomplete(run: &Session) -> bool {
    !matches!(run.phase, Phase::Over { cancelled: false })
}

/// Has the run read, so that it can be resumed.
pub fn reopen(state: &mut State, run: Unfinished) -> Effect {
    state.notice = Some("reading the run …".to_owned());
    Effect::Request(state.runs.ticket_for(runs::Awaited::Reopening), Job::Reopen(run))
}

/// Shows the resumed run, starting with the content of its folder.
pub fn went_on(state: &mut State, ledger: Ledger, folder: PathBuf) {
    let recipe = state.run().filter(|run| run.folder == folder).and_then(|run| run.recipe);
    let mut session = Session::new(recipe, ledger, folder, state.now);
    session.mode = state.mode;
    begin(state, session);
}
