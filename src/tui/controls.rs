//! Requests of the user about the run in progress.

use super::home::queue;
use super::resume;
use super::session::Phase;
use super::state::{Mode, State};
use super::update::Effect;
use crate::run::runner::Control;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// Cancel the run, or end it after its engine died.
    Cancel,
    /// Cancel the run and everything in the queue.
    CancelAll,
    /// Continue in a fresh engine, or resume a run that was cut short.
    Resume,
    /// Pause or continue the run.
    Pause,
    /// Freeze the screen while results arrive, or unfreeze it.
    Freeze,
    /// Measure no further rounds of the selected case.
    Skip,
    /// Retry the selected case, or measure further rounds of it.
    Again,
}

impl Request {
    /// Name in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            Request::Cancel => "cancel",
            Request::CancelAll => "cancel-all",
            Request::Resume => "resume",
            Request::Pause => "pause",
            Request::Freeze => "freeze",
            Request::Skip => "skip",
            Request::Again => "again",
        }
    }
}

/// Whether the request is possible now.
pub fn allows(state: &State, ask: Request) -> bool {
    let goes_on = match ask {
        Request::Resume => resume::cut_short(state).is_some(),
        Request::Again => resume::of_case(state).is_some(),
        _ => false,
    };
    if goes_on {
        return true;
    }
    let waiting = ask == Request::CancelAll && !state.home.queue.is_empty();
    let Some(run) = state.run() else { return waiting };
    let working = matches!(run.phase, Phase::Running | Phase::Dead { .. }) && run.mode == Mode::Run;
    // Only while the run is in view: a case that the user does not see must not be skipped by mistake.
    let selected =
        state.session.as_ref().filter(|_| working && state.focus.is_run()).map(|shown| shown.selected);
    match ask {
        Request::Cancel => run.active() && run.phase != Phase::Cancelling,
        Request::CancelAll => waiting || (run.active() && run.phase != Phase::Cancelling),
        Request::Resume => matches!(run.phase, Phase::Dead { .. }),
        Request::Pause => run.phase == Phase::Running,
        Request::Freeze => state.live.is_some() || (run.active() && state.focus.is_run()),
        Request::Skip => selected.is_some_and(|at| run.ledger.may_skip(at)),
        Request::Again => selected.is_some_and(|at| run.ledger.may_repeat(at)),
    }
}

/// Carries out a request.
pub fn apply(state: &mut State, ask: Request) -> Option<Effect> {
    if !allows(state, ask) {
        return None;
    }
    match ask {
        Request::Cancel => cancel(state),
        Request::CancelAll => {
            queue::clear(state);
            cancel(state)
        }
        Request::Resume => match resume::cut_short(state) {
            Some(run) => Some(resume::reopen(state, run)),
            None => revive(state),
        },
        Request::Pause => pause(state),
        Request::Skip => about(state, "skipped", Control::Skip),
        Request::Again if !state.active() => resume::of_case(state).map(|run| resume::reopen(state, run)),
        Request::Again => about(state, "measured again", Control::Again),
        Request::Freeze => {
            state.freeze();
            None
        }
    }
}

/// Cancels the run.
pub fn cancel(state: &mut State) -> Option<Effect> {
    let run = state.run_mut().filter(|run| run.active() && run.phase != Phase::Cancelling)?;
    let control = if matches!(run.phase, Phase::Dead { .. }) { Control::Stop } else { Control::Cancel };
    run.phase = Phase::Cancelling;
    Some(Effect::Send(control))
}

/// Continues in a fresh engine.
pub fn revive(state: &mut State) -> Option<Effect> {
    let now = state.now;
    state.run_mut().filter(|run| matches!(run.phase, Phase::Dead { .. }))?.resumed(now);
    Some(Effect::Send(Control::Resume))
}

fn pause(state: &mut State) -> Option<Effect> {
    let now = state.now;
    let on = state.run_mut()?.ask_to_pause(now);
    Some(Effect::Send(if on { Control::Pause } else { Control::Continue }))
}

/// Sends a request about the selected case. The engine acts on it only at the next sample boundary, so a notice
/// acknowledges it at once.
fn about(state: &mut State, what: &str, control: fn(usize) -> Control) -> Option<Effect> {
    let shown = state.session.as_ref()?;
    let at = shown.selected;
    state.notice = Some(format!("{}: to be {what}", shown.name(at)));
    Some(Effect::Send(control(at)))
}
