//! Leaving the program, and decisions made while the user is away.

use std::time::Duration;

use super::{Effect, run};
use crate::engine::protocol::Level;
use crate::tui::session::Session;
use crate::tui::state::{Leaving, State};

/// How long to wait for a cancelled run before leaving without it.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long to wait for a cancelled run after a signal.
pub const PATIENCE_AFTER_SIGNAL: Duration = Duration::from_secs(2);

pub fn quit(state: &mut State) -> Option<Effect> {
    state.home.stop_typing();
    match state.leaving {
        Leaving::No if state.measuring() => state.leaving = Leaving::Asked,
        Leaving::No | Leaving::Waiting { .. } | Leaving::Now => state.leaving = Leaving::Now,
        Leaving::Asked => return leave(state, PATIENCE),
    }
    None
}

/// Cancels the active run, and leaves when that is done or after `patience`.
pub fn leave(state: &mut State, patience: Duration) -> Option<Effect> {
    state.leaving = Leaving::Waiting { until: state.now + patience };
    let effect = run::cancel(state);
    finish_leaving(state);
    effect
}

/// Decides about a dead engine without asking: a user who is leaving needs no new engine, and the queue must
/// not wait for the user to come back.
pub fn unattended(state: &mut State) -> Option<Effect> {
    let waits = !state.home.queue.is_empty();
    match (state.run().and_then(Session::hopeful), state.leaving) {
        (Some(_), Leaving::Waiting { .. }) => return run::cancel(state),
        (Some(true), Leaving::No) if waits => return run::revive(state),
        (Some(false), Leaving::No) if waits => return give_up(state),
        _ => {}
    }
    finish_leaving(state);
    None
}

/// Gives up the run in favour of the next one.
fn give_up(state: &mut State) -> Option<Effect> {
    let now = state.now;
    let run = state.run_mut()?;
    run.say(now, Level::Error, "the engine died before making progress; starting the next run");
    run::cancel(state)
}

pub fn finish_leaving(state: &mut State) {
    if let Leaving::Waiting { until } = state.leaving
        && (!state.active() || state.now >= until)
    {
        state.leaving = Leaving::Now;
    }
}
