//! Results of background work, and requests for more of it.

use std::sync::Arc;

use super::facts::{Known, Last};
use super::queue;
use super::save::{NotSaved, saved};
use crate::recipe::plan::Plan;
use crate::run::estimate::{Estimate, Paces};
use crate::tui::recipes::RecipeEntry;
use crate::tui::runs;
use crate::tui::state::{Leaving, Mode, State};
use crate::tui::update::Effect;

/// A request that needs the outside world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Errand {
    /// Take the first run out of the queue.
    Next,
    /// Start the run that was taken out of the queue.
    Begin,
    /// Resolve the recipe at this index.
    Resolve(usize),
    /// Add up the cost of the recipe at this index.
    Estimate(usize),
    /// Save the recipe under the given name.
    Save,
    /// Measure how fast the backends copy.
    Paces,
    /// Find the newest run of the recipe at this index.
    Last(usize),
}

/// The result of an [`Errand`].
#[derive(Debug)]
pub enum News {
    /// The first run of the queue is about to start.
    Next,
    /// The lookup was requested.
    Asked(Errand),
    /// The backends' copy bandwidths; `None` if the measurement was stopped.
    Paces(Option<Result<Paces, String>>),
    /// The newest run of the recipe at this index; unknown if the search was stopped.
    Last(usize, Known<Last>),
    /// The plan of the recipe at this index.
    Resolved(usize, Result<Arc<Plan>, String>),
    /// The cost of the recipe at this index.
    Estimated(usize, Estimate),
    /// The recipe was saved, or why not.
    Saved(Result<RecipeEntry, NotSaved>),
}

/// Applies a result to the state.
pub fn take(state: &mut State, news: News) -> Option<Effect> {
    match news {
        News::Next => {
            state.home.queue.next();
            queue::leave_empty(state);
            return state.home.queue.starting.is_some().then_some(Effect::Home(Errand::Begin));
        }
        News::Asked(Errand::Paces) => state.home.facts.paces = Known::Asked,
        News::Asked(Errand::Last(recipe)) => state.home.facts.put_last(recipe, Known::Asked),
        News::Asked(Errand::Resolve(recipe)) => state.recipes.resolving(recipe),
        News::Asked(Errand::Estimate(recipe)) => state.home.facts.put_estimate(recipe, Known::Asked),
        News::Asked(Errand::Next | Errand::Begin | Errand::Save) => {}
        News::Resolved(recipe, plan) => state.recipes.resolved(recipe, plan),
        // As for the last run below.
        News::Estimated(recipe, estimate) if matches!(state.home.facts.estimate(recipe), Known::Asked) => {
            state.home.facts.put_estimate(recipe, Known::Is(estimate));
        }
        News::Estimated(..) => {}
        News::Paces(None) => state.home.facts.paces = Known::Unknown,
        News::Paces(Some(paces)) => state.home.facts.paces = Known::Is(paces),
        // If the recipe has changed in the meantime, it is looked up again, and this answer is dropped.
        News::Last(recipe, last) if matches!(state.home.facts.last(recipe), Known::Asked) => {
            state.home.facts.put_last(recipe, last);
        }
        News::Last(..) => {}
        News::Saved(outcome) => saved(state, outcome),
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
    let recipe = state.recipes.selected().filter(|_| state.at_home() && state.home.facts.found_out)?;
    let Some(Ok(_)) = state.recipes.plan() else { return None };
    match (&state.home.facts.paces, state.home.facts.last(recipe)) {
        (Known::Unknown, _) => Some(Errand::Paces),
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
