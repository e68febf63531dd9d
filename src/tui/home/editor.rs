//! The form in which a recipe's values are changed.

use std::collections::BTreeMap;

use crate::recipe;
use crate::recipe::plan::{FormLine, Overrides, form};
use crate::tui::field::Field;
use crate::tui::recipes::RecipeEntry;
use crate::tui::widgets::list::moved;

/// The form of the selected recipe.
#[derive(Clone, Debug, Default)]
pub struct Editor {
    pub lines: Vec<FormLine>,
    pub selected: usize,
    /// The value of the selected line, while it is being typed.
    pub field: Option<Field>,
    /// Why the typed value was not accepted.
    pub error: Option<String>,
    /// Index of the recipe that the form shows.
    recipe: usize,
    /// For each recipe, the key of the line that was selected when its form was left.
    left_at: BTreeMap<usize, String>,
}

impl Editor {
    /// The selected line.
    pub fn line(&self) -> Option<&FormLine> {
        self.lines.get(self.selected)
    }

    pub fn step(&mut self, by: isize) {
        self.selected = moved(self.selected, by, self.lines.len());
    }

    /// Shows the lines of a recipe, and selects the line that was last selected in its form.
    pub fn show(&mut self, recipe: usize, lines: Vec<FormLine>) {
        if let Some(key) = self.line().map(|line| line.key.clone()) {
            self.left_at.insert(self.recipe, key);
        }
        let key = self.left_at.get(&recipe);
        self.selected = lines.iter().position(|line| Some(&line.key) == key).unwrap_or(0);
        (self.recipe, self.lines) = (recipe, lines);
        self.close();
    }

    /// Closes the text field without accepting its value.
    pub fn close(&mut self) {
        self.field = None;
        self.error = None;
    }
}

/// The lines of a recipe with these changes.
pub fn lines(entry: &RecipeEntry, overrides: &Overrides) -> Result<Vec<FormLine>, String> {
    entry.problem.clone().map_or(Ok(()), Err)?;
    let recipe = recipe::parse(&entry.path, &entry.text).map_err(|error| error.to_string())?;
    form(&recipe, overrides).map_err(|error| error.problem.to_string())
}
