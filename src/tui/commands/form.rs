//! Commands about the form in which a recipe's values are changed.

use super::recipes::{MISTAKE, may_queue, may_save, may_start, queue, start, whole};
use super::{Allowed, Hint, only_if, recipes};
use crate::recipe::plan::{FormLine, Overrides};
use crate::tui::field::Field;
use crate::tui::focus::Focus;
use crate::tui::home::editor::lines;
use crate::tui::home::editor::with;
use crate::tui::session::Mode;
use crate::tui::state::State;

rows! {
    CHANGE = ("change", 1, "type another value, as in a recipe: 1..64 x2, [cpu, cuda], 3%") {
        "change" "Enter": |state| only_if(state.home.editor.line().is_some(), MISTAKE) => change
    }
    RUN = ("run", 1,
        "run the changed recipe, or queue it while a run is active", |state| match whole(state) {
        Hint::Usual if state.busy() => Hint::As("queue"),
        hint => hint,
    }) {
        "run-edited" "r": may_start => start
    }
    SAVE_AS = ("save as", 1, "save the changed recipe as a new file", whole) {
        "save-as" "w": may_save => recipes::ask_name
    }
    UNDO = ("undo", 1, "undo the change to this value, or all changes") {
        "undo" "u": may_undo => |state| {
            let key = state.home.editor.line().map(|line| line.key.clone());
            key.into_iter().for_each(|key| set(state, &key, None));
        },
        "undo-all" "U": may_undo => |state| {
            let recipe = state.recipes.selected();
            recipe.into_iter().for_each(|recipe| put(state, recipe, Overrides::default()));
        }
    }
    QUEUE = ("queue", 1,
        "queue the changed recipe: it starts now if nothing runs, and the form stays open",
        whole) {
        "queue" "a": may_queue => queue
    }
}

/// Whether the selected recipe has changes.
pub fn is_edited(state: &State) -> bool {
    state.mode == Mode::Run && state.recipes.selected().is_some_and(|recipe| state.home.edits.any(recipe))
}

fn may_undo(state: &State) -> Allowed {
    only_if(is_edited(state), "nothing is changed")
}

/// Opens the form of the selected recipe and focuses it.
pub fn open(state: &mut State) {
    let (Some(index), Some(entry)) = (state.recipes.selected(), state.recipes.entry()) else { return };
    match lines(entry, &state.home.edits.of(index)) {
        Ok(lines) => {
            state.home.editor.show(index, lines);
            state.focus = Focus::Editor;
            let mistaken = matches!(state.recipes.plan(), Some(Err(_))) && !is_edited(state);
            state.notice = state.notice.take().or(mistaken.then(|| MISTAKE.to_owned()));
        }
        Err(error) => state.notice = Some(format!("this recipe cannot be edited: {error}")),
    }
}

/// Opens a text field in place of the selected line's value.
fn change(state: &mut State) {
    let editor = &mut state.home.editor;
    // Differing values have no single text to start from.
    let text = |line: &FormLine| if line.differs { Field::default() } else { Field::offer(&line.value) };
    editor.field = editor.line().map(text);
}

/// Accepts the typed value, or shows the error and leaves the field open. An empty text restores the recipe's
/// own value.
pub fn accept(state: &mut State) {
    let editor = &mut state.home.editor;
    let (Some(field), Some(line)) = (&editor.field, editor.line().cloned()) else { return };
    let text = field.text();
    match text.trim() {
        text if text == line.value => editor.close(),
        text => set(state, &line.key, (!text.is_empty()).then_some(text)),
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
