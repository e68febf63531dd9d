//! Unsaved changes to recipes.

use std::collections::BTreeMap;

use crate::recipe::plan::Overrides;

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
