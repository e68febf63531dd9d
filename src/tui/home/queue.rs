//! Runs that wait for the one before them.

use std::collections::VecDeque;

use crate::recipe::plan::Overrides;
use crate::tui::panel::Focus;
use crate::tui::recipes::RecipeEntry;
use crate::tui::state::State;

/// Most that wait: a key held down must not fill the memory.
const MOST: usize = 100;

/// A recipe as it was when somebody queued it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Index of the recipe.
    pub recipe: usize,
    /// The recipe: its file may be saved over meanwhile.
    pub entry: RecipeEntry,
    pub overrides: Overrides,
}

impl Item {
    /// `he2007/fig09-passes --set passes=4`.
    pub fn label(&self) -> String {
        let words = self.overrides.words();
        std::iter::once(self.entry.path.clone()).chain(words).collect::<Vec<_>>().join(" ")
    }
}

/// What waits, in its order.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    items: VecDeque<Item>,
    pub selected: usize,
    /// The one that was taken out and is being started.
    pub starting: Option<Item>,
}

impl Queue {
    pub fn items(&self) -> &VecDeque<Item> {
        &self.items
    }

    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub fn step(&mut self, by: isize) {
        self.select(self.selected.saturating_add_signed(by));
    }

    pub fn select(&mut self, at: usize) {
        self.selected = at.min(self.items.len().saturating_sub(1));
    }

    /// The first is about to start.
    pub fn next(&mut self) {
        self.starting = self.items.pop_front();
        self.selected = self.selected.saturating_sub(1);
    }
}

/// Lets the selected recipe, as it is changed now, wait for its turn.
pub fn add(state: &mut State) {
    let (Some(recipe), Some(entry)) = (state.recipes.selected(), state.recipes.entry()) else { return };
    if let Some(Err(_)) = state.recipes.plan() {
        state.notice = Some("this recipe has a mistake and cannot be queued".to_owned());
        return;
    }
    let item = Item { recipe, entry: entry.clone(), overrides: state.home.edits.of(recipe) };
    let busy = state.busy();
    let queue = &mut state.home.queue;
    if queue.items.len() == MOST {
        state.notice = Some(format!("{MOST} runs wait already"));
        return;
    }
    if busy || !queue.is_empty() {
        state.notice = Some(format!("queued: {}", item.label()));
    }
    queue.items.push_back(item);
}

/// Takes the selected one out.
pub fn remove(state: &mut State) {
    let queue = &mut state.home.queue;
    queue.items.remove(queue.selected);
    queue.select(queue.selected);
    leave_empty(state);
}

/// Takes all of them out.
pub fn clear(state: &mut State) {
    state.home.queue = Queue::default();
    leave_empty(state);
}

/// An empty queue has no panel to be in.
pub fn leave_empty(state: &mut State) {
    if state.home.queue.is_empty() && state.focus == Focus::Queue {
        state.focus = Focus::Recipes;
    }
}
