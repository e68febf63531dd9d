//! What a person asks of a run that is on its way.

use super::home::queue;
use super::resume;
use super::session::Phase;
use super::state::{Mode, State};
use super::update::Effect;
use crate::run::runner::Control;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Cancel the run, or end it after its engine died.
    Cancel,
    /// The same, and nothing else is started after it.
    CancelAll,
    /// Go on in a fresh engine, or with a run that was cut short.
    Resume,
    /// Hold the run, or let it go on.
    Pause,
    /// Keep the screen as it is while results arrive, or show them again.
    Freeze,
    /// Measure the selected case no further.
    Skip,
    /// Try the selected case again, or measure further rounds of it.
    Again,
}

impl Ask {
    /// Its name in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            Ask::Cancel => "cancel",
            Ask::CancelAll => "cancel-all",
            Ask::Resume => "resume",
            Ask::Pause => "pause",
            Ask::Freeze => "freeze",
            Ask::Skip => "skip",
            Ask::Again => "again",
        }
    }
}

/// Whether it would do something now.
pub fn allows(state: &State, ask: Ask) -> bool {
    let goes_on = match ask {
        Ask::Resume => resume::cut_short(state).is_some(),
        Ask::Again => resume::of_case(state).is_some(),
        _ => false,
    };
    if goes_on {
        return true;
    }
    let waiting = ask == Ask::CancelAll && !state.home.queue.is_empty();
    let Some(run) = state.run() else { return waiting };
    let working = matches!(run.phase, Phase::Running | Phase::Dead { .. }) && run.mode == Mode::Run;
    // A case that nobody looks at is not skipped by mistake.
    let selected =
        state.session.as_ref().filter(|_| working && state.focus.is_run()).map(|shown| shown.selected);
    match ask {
        Ask::Cancel => run.active() && run.phase != Phase::Cancelling,
        Ask::CancelAll => waiting || (run.active() && run.phase != Phase::Cancelling),
        Ask::Resume => matches!(run.phase, Phase::Dead { .. }),
        Ask::Pause => run.phase == Phase::Running,
        Ask::Freeze => state.live.is_some() || (run.active() && state.focus.is_run()),
        Ask::Skip => selected.is_some_and(|at| run.ledger.may_skip(at)),
        Ask::Again => selected.is_some_and(|at| run.ledger.may_repeat(at)),
    }
}

/// Carries it out.
pub fn apply(state: &mut State, ask: Ask) -> Option<Effect> {
    if !allows(state, ask) {
        return None;
    }
    match ask {
        Ask::Cancel => cancel(state),
        Ask::CancelAll => {
            queue::clear(state);
            cancel(state)
        }
        Ask::Resume => match resume::cut_short(state) {
            Some(run) => Some(resume::reopen(state, run)),
            None => revive(state),
        },
        Ask::Pause => pause(state),
        Ask::Skip => about(state, "skipped", Control::Skip),
        Ask::Again if !state.active() => resume::of_case(state).map(|run| resume::reopen(state, run)),
        Ask::Again => about(state, "measured again", Control::Again),
        Ask::Freeze => {
            state.freeze();
            None
        }
    }
}

/// Ends the run.
pub fn cancel(state: &mut State) -> Option<Effect> {
    let run = state.run_mut().filter(|run| run.active() && run.phase != Phase::Cancelling)?;
    let control = if matches!(run.phase, Phase::Dead { .. }) { Control::Stop } else { Control::Cancel };
    run.phase = Phase::Cancelling;
    Some(Effect::Send(control))
}

/// Goes on in a fresh engine.
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

/// Asks something of the selected case. The engine sees to it at the next boundary of a
/// sample, so that the person is told that it was heard.
fn about(state: &mut State, what: &str, control: fn(usize) -> Control) -> Option<Effect> {
    let shown = state.session.as_ref()?;
    let at = shown.selected;
    state.notice = Some(format!("{}: to be {what}", shown.name(at)));
    Some(Effect::Send(control(at)))
}
