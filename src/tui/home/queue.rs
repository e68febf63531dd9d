//! The queue of runs that wait for the current one to end.

use std::collections::VecDeque;

use crate::recipe::plan::Overrides;
use crate::tui::panel::Focus;
use crate::tui::recipes::RecipeEntry;
use crate::tui::state::State;
use crate::tui::widgets::list::moved;

/// Maximum length of the queue: a key held down must not fill the memory.
const MOST: usize = 100;

/// A recipe as it was when it was queued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Index of the recipe.
    pub recipe: usize,
    /// The recipe's text: the file may be overwritten in the meantime.
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

/// The waiting runs, in order.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    items: VecDeque<Item>,
    pub selected: usize,
    /// The run that was taken out of the queue and is being started.
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
        self.selected = moved(self.selected, by, self.items.len());
    }

    /// Takes out the first run, which is about to start.
    pub fn next(&mut self) {
        self.starting = self.items.pop_front();
        self.selected = self.selected.saturating_sub(1);
    }
}

/// Queues the selected recipe with its current changes.
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

/// Removes the selected run.
pub fn remove(state: &mut State) {
    let queue = &mut state.home.queue;
    queue.items.remove(queue.selected);
    queue.step(0);
    leave_empty(state);
}

/// Removes all runs.
pub fn clear(state: &mut State) {
    state.home.queue = Queue::default();
    leave_empty(state);
}

/// Moves the focus away from an empty queue, which has no panel.
pub fn leave_empty(state: &mut State) {
    if state.home.queue.is_empty() && state.focus == Focus::Queue {
        state.focus = Focus::Recipes;
    }
}
