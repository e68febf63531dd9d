//! Effects of the home screen's background work on the state, and the work that is wanted next.

use crate::tui::commands::{Effect, recipes, runs};
use crate::tui::home::facts::Known;
use crate::tui::home::{BackgroundResult, Errand};
use crate::tui::session::Mode;
use crate::tui::state::{Engine, Leaving, State};

/// Applies a result to the state.
pub fn take(state: &mut State, result: BackgroundResult) -> Option<Effect> {
    match result {
        BackgroundResult::Next => {
            state.home.queue.next();
            recipes::leave_empty_queue(state);
            return state.home.queue.starting.is_some().then_some(Effect::Home(Errand::Begin));
        }
        BackgroundResult::Asked(Errand::Greet) => state.engine = Engine::Awaited { since: state.now },
        BackgroundResult::Asked(Errand::Paces) => state.home.facts.paces = Known::Asked,
        BackgroundResult::Asked(Errand::Last(recipe)) => state.home.facts.put_last(recipe, Known::Asked),
        BackgroundResult::Asked(Errand::Resolve(recipe)) => state.recipes.resolving(recipe),
        BackgroundResult::Asked(Errand::Estimate(recipe)) => {
            state.home.facts.put_estimate(recipe, Known::Asked)
        }
        BackgroundResult::Asked(Errand::Next | Errand::Begin | Errand::Save) => {}
        BackgroundResult::Resolved(recipe, plan) => state.recipes.resolved(recipe, plan),
        // As for the last run below.
        BackgroundResult::Estimated(recipe, estimate)
            if matches!(state.home.facts.estimate(recipe), Known::Asked) =>
        {
            state.home.facts.put_estimate(recipe, Known::Is(estimate));
        }
        BackgroundResult::Estimated(..) => {}
        BackgroundResult::Greeted(None) => state.engine = Engine::Unasked,
        BackgroundResult::Greeted(Some(greeting)) => {
            state.engine = Engine::Known;
            state.devices = greeting.devices;
            state.remote.iter_mut().for_each(|remote| remote.latency = greeting.latency);
        }
        BackgroundResult::Paces(None) => state.home.facts.paces = Known::Unknown,
        BackgroundResult::Paces(Some(paces)) => state.home.facts.paces = Known::Is(paces),
        // If the recipe has changed in the meantime, it is looked up again, and this answer is dropped.
        BackgroundResult::Last(recipe, last) if matches!(state.home.facts.last(recipe), Known::Asked) => {
            state.home.facts.put_last(recipe, last);
        }
        BackgroundResult::Last(..) => {}
        BackgroundResult::Saved(outcome) => recipes::saved(state, outcome),
    }
    None
}

/// The next request: the plan and the cost of the selected recipe, the next queued run, or else a lookup that the
/// preview lacks. There are no lookups during a run, because they would disturb the measurement.
pub fn wanted(state: &State) -> Option<Errand> {
    if let Some(recipe) = state.recipes.unresolved() {
        return Some(Errand::Resolve(recipe));
    }
    if let Some(recipe) = unestimated(state) {
        return Some(Errand::Estimate(recipe));
    }
    if state.mode != Mode::Run || state.busy() || state.leaving != Leaving::No {
        return None;
    }
    if !state.home.queue.is_empty() {
        return Some(Errand::Next);
    }
    if state.engine == Engine::Unasked {
        return Some(Errand::Greet);
    }
    let recipe = state.recipes.selected().filter(|_| state.at_home() && state.home.facts.found_out)?;
    let Some(Ok(_)) = state.recipes.plan() else { return None };
    match (&state.home.facts.paces, state.home.facts.last(recipe)) {
        // An engine that does not say hello would not copy either.
        (Known::Unknown, _) if state.engine == Engine::Known => Some(Errand::Paces),
        (_, Known::Unknown) => Some(Errand::Last(recipe)),
        _ => None,
    }
}

/// The selected recipe, if its cost can be added up and is not known.
fn unestimated(state: &State) -> Option<usize> {
    let recipe = state.recipes.selected().filter(|_| matches!(state.recipes.plan(), Some(Ok(_))))?;
    let facts = &state.home.facts;
    let possible = matches!((&facts.paces, facts.estimate(recipe)), (Known::Is(Ok(_)), Known::Unknown));
    possible.then_some(recipe)
}

/// Explains why a run was not started, after lookups were stopped for it. A queued run is named, because it is
/// not the selected recipe.
pub fn not_started(state: &mut State, reason: &str) {
    runs::stopped(&mut state.runs);
    let queued = state.home.queue.starting.take().map(|item| format!(": {}", item.label()));
    state.home.preparing = None;
    state.notice = Some(format!("not started{}: {reason}", queued.unwrap_or_default()));
}
