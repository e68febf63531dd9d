//! The form in which a recipe's values are changed.

use std::collections::BTreeMap;

use super::edits::with;
use crate::recipe;
use crate::recipe::plan::{FormLine, Overrides, form};
use crate::tui::field::Field;
use crate::tui::panel::Focus;
use crate::tui::recipes::RecipeEntry;
use crate::tui::state::State;
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
    fn show(&mut self, recipe: usize, lines: Vec<FormLine>) {
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
fn lines(entry: &RecipeEntry, overrides: &Overrides) -> Result<Vec<FormLine>, String> {
    entry.problem.clone().map_or(Ok(()), Err)?;
    let recipe = recipe::parse(&entry.path, &entry.text).map_err(|error| error.to_string())?;
    form(&recipe, overrides).map_err(|error| error.problem.to_string())
}

/// Opens the form of the selected recipe and focuses it.
pub fn open(state: &mut State) {
    let (Some(index), Some(entry)) = (state.recipes.selected(), state.recipes.entry()) else { return };
    match lines(entry, &state.home.edits.of(index)) {
        Ok(lines) => {
            state.home.editor.show(index, lines);
            state.focus = Focus::Editor;
        }
        Err(error) => state.notice = Some(format!("this recipe cannot be edited: {error}")),
    }
}

/// Opens a text field in place of the selected line's value.
pub fn change(state: &mut State) {
    let editor = &mut state.home.editor;
    // Differing values have no single text to start from.
    let text = |line: &FormLine| if line.differs { Field::default() } else { Field::offer(&line.value) };
    editor.field = editor.line().map(text);
}

/// Accepts the typed value, or shows the error and leaves the field open. An empty text restores the recipe's
/// own value.
pub fn accept(state: &mut State) {
    let Some(field) = &state.home.editor.field else { return };
    let (text, line) = (field.text(), state.home.editor.line().cloned());
    let (text, Some(line)) = (text.trim(), line) else { return };
    if text == line.value {
        return state.home.editor.close();
    }
    set(state, &line.key, (!text.is_empty()).then_some(text));
}

/// Undoes the change of the selected line.
pub fn undo(state: &mut State) {
    if let Some(key) = state.home.editor.line().map(|line| line.key.clone()) {
        set(state, &key, None);
    }
}

/// Undoes all changes.
pub fn undo_all(state: &mut State) {
    if let Some(index) = state.recipes.selected() {
        put(state, index, Overrides::default());
    }
}

fn set(state: &mut State, key: &str, value: Option<&str>) {
    let Some(index) = state.recipes.selected() else { return };
    let value = value.filter(|value| original(state, key).as_deref() != Some(*value));
    let changed = |value: Option<&str>| with(state.home.edits.of(index), key, value);
    let possible = |overrides: &Overrides| {
        state.recipes.entries().get(index).is_some_and(|entry| lines(entry, overrides).is_ok())
    };
    let plain = changed(value);
    // `cpu, scalar` stands for a list if the key accepts one.
    let list = value.filter(|value| value.contains(',') && !possible(&plain));
    let list = list.map(|value| changed(Some(&format!("[{value}]")))).filter(possible);
    put(state, index, list.unwrap_or(plain));
}

/// The recipe's own value of a key.
fn original(state: &State, key: &str) -> Option<String> {
    let lines = lines(state.recipes.entry()?, &Overrides::default()).ok()?;
    lines.into_iter().find(|line| line.key == key).map(|line| line.value)
}

/// Applies the overrides to the recipe if each of them is valid by itself. Their combination is checked when
/// the plan is made.
fn put(state: &mut State, index: usize, overrides: Overrides) {
    let Some(entry) = state.recipes.entries().get(index) else { return };
    match lines(entry, &overrides) {
        Ok(lines) => {
            state.home.editor.show(index, lines);
            state.home.edits.put(index, overrides);
            state.recipes.forget(index);
            state.home.facts.forget(index);
        }
        Err(error) => state.home.editor.error = Some(error),
    }
}
