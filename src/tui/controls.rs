//! What a person asks of a run that is on its way.

use super::command::Action;
use super::home::queue;
use super::session::Phase;
use super::state::{Mode, State};
use super::update::Effect;
use crate::run::runner::Control;

/// Whether `action` would do something now.
pub fn allows(state: &State, action: Action) -> bool {
    let waiting = action == Action::CancelAll && !state.home.queue.is_empty();
    let Some(run) = state.run() else { return waiting };
    let working = matches!(run.phase, Phase::Running | Phase::Dead { .. }) && run.mode == Mode::Run;
    // A case that nobody looks at is not skipped by mistake.
    let selected =
        state.session.as_ref().filter(|_| working && state.focus.is_run()).map(|shown| shown.selected);
    match action {
        Action::Cancel => run.active() && run.phase != Phase::Cancelling,
        Action::CancelAll => waiting || (run.active() && run.phase != Phase::Cancelling),
        Action::Resume => matches!(run.phase, Phase::Dead { .. }),
        Action::Pause => run.phase == Phase::Running,
        Action::Freeze => state.live.is_some() || (run.active() && state.focus.is_run()),
        Action::Skip => selected.is_some_and(|at| run.ledger.may_skip(at)),
        Action::Again => selected.is_some_and(|at| run.ledger.may_repeat(at)),
        _ => true,
    }
}

/// Carries it out.
pub fn obey(state: &mut State, action: Action) -> Option<Effect> {
    if !allows(state, action) {
        return None;
    }
    match action {
        Action::Cancel => cancel(state),
        Action::CancelAll => {
            queue::clear(state);
            cancel(state)
        }
        Action::Resume => resume(state),
        Action::Pause => pause(state),
        Action::Skip => about(state, "skipped", Control::Skip),
        Action::Again => about(state, "measured again", Control::Again),
        Action::Freeze => {
            state.freeze();
            None
        }
        _ => None,
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
pub fn resume(state: &mut State) -> Option<Effect> {
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
