//! Commands about recipes before a run: they are filtered, edited, queued, saved and started.

use std::borrow::Cow;

use super::{Allowed, Effect, Hint, form, only_if, run};
use crate::recipe::loses_comments;
use crate::tui::field::Field;
use crate::tui::focus::Focus;
use crate::tui::home::queue::{Item, Queue};
use crate::tui::home::save::{NotSaved, Saving};
use crate::tui::recipes::Filter;
use crate::tui::recipes::RecipeEntry;
use crate::tui::session::{Mode, Phase};
use crate::tui::state::State;

rows! {
    START = ("start", 1,
        "start the selected recipe with its changes; while a run is active, queue it, or show the run if it is of this \
         recipe", |state| match whole(state) {
            Hint::Usual if state.active() && state.mode() != Mode::Run => Hint::Never,
            Hint::Usual if shows_run(state) => Hint::As("show run"),
            Hint::Usual if state.busy() => Hint::As("queue"),
            hint => hint,
        }) {
        "start" "Enter": may_start => start
    }
    FILTER = ("filter", 1,
        "show only recipes with these words in title, file name, paper, figure or primitive") {
        "filter" "/": |state| {
            only_if(state.mode == Mode::Run && state.recipes.entries().len() > 1, "there is only one recipe")
        } => |state| {
            state.focus = Focus::Recipes;
            state.home.filter.typing = true;
        }
    }
    EDIT = ("edit", 1, "change values of the selected recipe",
        // The mistake may be in a change, so an edited recipe stays editable.
        |state| if form::is_edited(state) { Hint::Usual } else { whole(state) }) {
        "edit" "e": |state| selected(state).map(drop) => form::open
    }
    QUEUE = ("queue", 1,
        "queue the recipe: it starts now if nothing runs, and the list stays open", whole) {
        "queue" "a": may_queue => queue
    }
    SAVE_AS = ("save as", 1, "save the recipe with its changes as a new file", whole) {
        "save-as" "w": may_save => ask_name
    }
    REMOVE = ("remove", 1, "remove the selected run from the queue") {
        "remove" "d Delete": |state| {
            only_if(state.mode == Mode::Run && !state.home.queue.is_empty(), "nothing waits")
        } => |state| {
            state.home.queue.remove();
            leave_empty_queue(state);
        }
    }
}

pub const MISTAKE: &str = "this recipe has a mistake";

/// The selected recipe, if there is one to work on.
fn selected(state: &State) -> Result<usize, Cow<'static, str>> {
    state.recipes.selected().filter(|_| state.mode == Mode::Run).ok_or(MISTAKE.into())
}

/// The bar names only what has a plan.
pub fn whole(state: &State) -> Hint {
    if matches!(state.recipes.plan(), Some(Ok(_))) { Hint::Usual } else { Hint::Never }
}

fn unmistaken(state: &State, done: &str) -> Allowed {
    let mistaken = matches!(state.recipes.plan(), Some(Err(_)));
    only_if(!mistaken, format!("{MISTAKE} and cannot be {done}"))
}

/// Whether the active run is a run of the selected recipe with its current changes.
pub fn shows_run(state: &State) -> bool {
    let (Some(selected), Some(run)) = (state.recipes.selected(), state.run().filter(|run| run.active()))
    else {
        return false;
    };
    let same = run.ledger.plan().overrides == state.home.edits.of(selected).words();
    run.recipe == Some(selected) && (same || state.mode == Mode::Watch)
}

pub fn may_start(state: &State) -> Allowed {
    match state.recipes.selected() {
        None => Err("".into()),
        Some(_) if shows_run(state) => Ok(()),
        Some(_) if state.active() || state.busy() => may_queue(state),
        Some(_) => unmistaken(state, "started"),
    }
}

/// Starts the selected recipe, or queues it behind the active run. If the recipe is the one running, shows that
/// run.
pub fn start(state: &mut State) -> Option<Effect> {
    if shows_run(state) {
        state.focus = Focus::Cases;
        return None;
    }
    if state.active() || state.busy() { queue(state) } else { state.recipes.selected().map(Effect::Start) }
}

pub fn may_queue(state: &State) -> Allowed {
    selected(state)?;
    unmistaken(state, "queued")
}

/// Queues the selected recipe with its current changes. If the engine of the current run is dead, continues that run
/// as it would without a terminal: the queue must not wait for the user to come back.
pub fn queue(state: &mut State) -> Option<Effect> {
    let (recipe, entry) = (state.recipes.selected()?, state.recipes.entry()?.clone());
    let item = Item { recipe, entry, overrides: state.home.edits.of(recipe) };
    let waits = state.busy() || !state.home.queue.is_empty();
    let queued = format!("queued: {}", item.label());
    match state.home.queue.add(item) {
        Err(full) => state.notice = Some(full),
        Ok(()) if waits => state.notice = Some(queued),
        Ok(()) => {}
    }
    let dead = state.run().is_some_and(|run| matches!(run.phase, Phase::Dead { .. }));
    if dead { run::revive(state) } else { None }
}

/// Removes all runs from the queue.
pub fn clear_queue(state: &mut State) {
    state.home.queue = Queue::default();
    leave_empty_queue(state);
}

/// Moves the focus away from an empty queue, which has no panel.
pub fn leave_empty_queue(state: &mut State) {
    if state.home.queue.is_empty() && state.focus == Focus::Queue {
        state.focus = Focus::Recipes;
    }
}

/// Clears the filter, so that all recipes are shown.
pub fn clear_filter(state: &mut State) {
    state.home.filter = Filter::default();
    state.home.filter.apply(&mut state.recipes);
}

pub fn may_save(state: &State) -> Allowed {
    selected(state)?;
    unmistaken(state, "saved")
}

/// Opens the dialog for the file name.
pub fn ask_name(state: &mut State) {
    let (Some(recipe), Some(entry)) = (state.recipes.selected(), state.recipes.entry()) else { return };
    let field = Field::offer(&format!("{}-edited.yaml", entry.name()));
    state.home.saving = Some(Saving { recipe, field, exists: None, error: None });
}

/// Processes the outcome of saving.
pub fn saved(state: &mut State, outcome: Result<RecipeEntry, NotSaved>) {
    let Some(saving) = &mut state.home.saving else { return };
    match outcome {
        Ok(entry) => {
            let recipe = saving.recipe;
            let old = state.recipes.entries().get(recipe);
            let lost = old.is_some_and(|old| loses_comments(&old.text, &entry.text));
            let lost = if lost { "; comments that no longer fit are left out" } else { "" };
            state.notice = Some(format!("saved as {}{lost}", entry.path));
            state.home.saving = None;
            add(state, recipe, entry);
        }
        Err(NotSaved::Exists(existing)) => saving.exists = Some(existing),
        Err(NotSaved::Because(reason)) => saving.error = Some(reason),
    }
}

/// Adds the new recipe to the list and selects it. Its text contains the changes now.
fn add(state: &mut State, from: usize, entry: RecipeEntry) {
    state.home.edits.forget(from);
    state.recipes.forget(from);
    state.home.facts.forget(from);
    let index = state.recipes.add(entry);
    state.home.edits.forget(index);
    state.home.facts.forget(index);
    state.home.filter.apply(&mut state.recipes);
    if !state.recipes.shown().contains(&index) {
        clear_filter(state);
    }
    state.recipes.select(index);
    if state.focus == Focus::Editor {
        form::open(state);
    }
}
