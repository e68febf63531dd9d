//! The queue of runs that wait for the current one to end.

use std::collections::VecDeque;

use crate::recipe::plan::Overrides;
use crate::tui::recipes::RecipeEntry;
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

    /// Appends a run.
    ///
    /// # Errors
    /// If too many wait.
    pub fn add(&mut self, item: Item) -> Result<(), String> {
        if self.items.len() == MOST {
            return Err(format!("{MOST} runs wait already"));
        }
        self.items.push_back(item);
        Ok(())
    }

    /// Removes the selected run.
    pub fn remove(&mut self) {
        self.items.remove(self.selected);
        self.step(0);
    }

    /// Takes out the first run, which is about to start.
    pub fn next(&mut self) {
        self.starting = self.items.pop_front();
        self.selected = self.selected.saturating_sub(1);
    }
}
