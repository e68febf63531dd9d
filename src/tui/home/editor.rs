//! Unsaved changes to recipes, and the form in which they are made.

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

/// The overrides of each recipe, by its index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edits(BTreeMap<usize, Overrides>);

impl Edits {
    /// The changes of a recipe.
    pub fn of(&self, recipe: usize) -> Overrides {
        self.0.get(&recipe).cloned().unwrap_or_default()
    }

    /// Whether the recipe has any changes.
    pub fn any(&self, recipe: usize) -> bool {
        self.0.contains_key(&recipe)
    }

    pub fn put(&mut self, recipe: usize, overrides: Overrides) {
        if overrides == Overrides::default() {
            self.0.remove(&recipe);
        } else {
            self.0.insert(recipe, overrides);
        }
    }

    pub fn forget(&mut self, recipe: usize) {
        self.0.remove(&recipe);
    }
}

/// Sets a key to a value, or restores the recipe's own value. Settings of the key's parts are dropped: the
/// parts may not exist beside the new value.
pub fn with(mut overrides: Overrides, key: &str, value: Option<&str>) -> Overrides {
    let part = |other: &str| other.strip_prefix(key).is_some_and(|rest| rest.starts_with('.'));
    overrides.set.retain(|(other, _)| other != key && !part(other));
    overrides.set.extend(value.map(|value| (key.to_owned(), value.to_owned())));
    overrides
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_set_once_and_its_parts_go_with_it() {
        let set = |pairs: &[(&str, &str)]| {
            pairs.iter().fold(Overrides::default(), |all, (key, value)| with(all, key, Some(value))).set
        };
        let pairs =
            set(&[("tuples", "1"), ("method.multipass.passes", "2"), ("methods", "x"), ("tuples", "3")]);
        let keys: Vec<&str> = pairs.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["method.multipass.passes", "methods", "tuples"]);
        assert_eq!(pairs[2].1, "3");
        let pairs = set(&[("method.multipass.passes", "2"), ("methods", "x"), ("method", "direct")]);
        assert_eq!(pairs, [("methods".into(), "x".into()), ("method".into(), "direct".into())]);
        assert_eq!(with(Overrides::default(), "tuples", None), Overrides::default());
    }

    #[test]
    fn taking_everything_back_leaves_no_edit() {
        let mut edits = Edits::default();
        edits.put(1, with(Overrides::default(), "tuples", Some("1")));
        assert!(edits.any(1) && !edits.any(0));
        edits.put(1, with(edits.of(1), "tuples", None));
        assert!(!edits.any(1));
    }
}
