//! Writing a changed recipe to a file of its own.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use crate::plan::{Overrides, Plan, fold, same};
use crate::recipe;
use crate::run::folder;
use crate::tui::app::Resolve;
use crate::tui::field::Field;
use crate::tui::recipes::{OWN, RecipeEntry};
use crate::tui::state::State;

/// The question under which name a recipe is to be saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saving {
    /// Index of the recipe.
    pub recipe: usize,
    pub field: Field,
    /// The file that exists, once somebody was told that it would be overwritten.
    pub exists: Option<PathBuf>,
}

impl Saving {
    /// The file, with `.yaml` after its name if nothing like that is there.
    pub fn path(&self) -> PathBuf {
        let text = self.field.text();
        let text = text.trim();
        let ends = [".yaml", ".yml"].iter().any(|ending| text.ends_with(ending));
        PathBuf::from(if ends { text.to_owned() } else { format!("{text}.yaml") })
    }

    /// What stands under the panels meanwhile.
    pub fn question(&self) -> String {
        let name = self.field.shown(usize::MAX, crate::tui::theme::Theme::PLAIN);
        match &self.exists {
            Some(path) if *path == self.path() => {
                format!("Save as: {name} exists. Enter: overwrite it, Esc: do not save.")
            }
            _ => format!("Save as: {name}"),
        }
    }
}

/// Why nothing was saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotSaved {
    /// The file exists, and nobody has said that it may go.
    Exists(PathBuf),
    /// In one line.
    Because(String),
}

/// Asks for the file's name.
pub fn ask(state: &mut State) {
    let (Some(recipe), Some(entry)) = (state.recipes.selected(), state.recipes.entry()) else { return };
    if let Some(Err(_)) = state.recipes.plan() {
        state.notice = Some("this recipe has a mistake and cannot be saved".to_owned());
        return;
    }
    let field = Field::new(&format!("{}-edited.yaml", entry.name()));
    state.home.saving = Some(Saving { recipe, field, exists: None });
}

/// The recipe with its changes written into its text, in a file; it means the same.
///
/// # Errors
/// A file that exists, a change that the recipe language has no place for, a text that would
/// not mean the same, a file that cannot be written.
pub fn save(
    entry: &RecipeEntry,
    overrides: &Overrides,
    saving: &Saving,
    (resolve, write): (&Resolve, Write),
) -> Result<RecipeEntry, NotSaved> {
    let path = saving.path();
    if saving.field.text().trim().is_empty() {
        return Err(NotSaved::Because("a file needs a name".to_owned()));
    }
    let text = text(entry, overrides, resolve).map_err(NotSaved::Because)?;
    let overwrite = saving.exists.as_ref() == Some(&path);
    write(&path, &text, overwrite).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => NotSaved::Exists(path.clone()),
        _ => NotSaved::Because(format!("cannot write {}: {error}", path.display())),
    })?;
    let title = entry.title.clone();
    Ok(RecipeEntry { group: OWN.to_owned(), path: path.display().to_string(), title, text })
}

/// The text that says by itself what the recipe and its changes say together.
fn text(entry: &RecipeEntry, overrides: &Overrides, resolve: &Resolve) -> Result<String, String> {
    let plan = resolve(entry, overrides)?;
    let recipe = recipe::parse(&entry.path, &entry.text).map_err(|error| error.to_string())?;
    let text = fold(&recipe, overrides, &plan)?;
    let again = RecipeEntry { text, ..entry.clone() };
    let means: Plan = resolve(&again, &Overrides::default())?;
    match same(&plan, &means) {
        true => Ok(again.text),
        false => {
            Err("these changes cannot be written into the recipe's text; --set can make them".to_owned())
        }
    }
}

/// Writes a text to a file; the flag says whether one that exists may go.
pub type Write = fn(&Path, &str, bool) -> io::Result<()>;

/// A file that is overwritten is so by a complete one: nobody ever reads half of it.
pub fn write(path: &Path, text: &str, overwrite: bool) -> io::Result<()> {
    if !overwrite {
        return File::create_new(path)?.write_all(text.as_bytes());
    }
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let draft = folder::draft(path.parent().unwrap_or(Path::new("")), &name);
    let written = fs::write(&draft, text).and_then(|()| fs::rename(&draft, path));
    if written.is_err() {
        // It may not even exist; the first error is the one to tell.
        let _ = fs::remove_file(&draft);
    }
    written
}

/// What came of saving.
pub fn saved(state: &mut State, outcome: Result<RecipeEntry, NotSaved>) {
    let Some(saving) = &mut state.home.saving else { return };
    match outcome {
        Ok(entry) => {
            let recipe = saving.recipe;
            state.notice = Some(format!("saved as {}", entry.path));
            state.home.saving = None;
            add(state, recipe, entry);
        }
        Err(NotSaved::Exists(path)) => saving.exists = Some(path),
        Err(NotSaved::Because(reason)) => {
            state.home.saving = None;
            state.notice = Some(format!("not saved: {reason}"));
        }
    }
}

/// Puts the new recipe into the list and selects it; the changes are in it now.
fn add(state: &mut State, from: usize, entry: RecipeEntry) {
    state.home.edits.forget(from);
    state.recipes.forget(from);
    state.home.facts.forget(from);
    let index = state.recipes.add(entry);
    state.home.edits.forget(index);
    state.home.facts.forget(index);
    state.home.filter.apply(&mut state.recipes);
    if !state.recipes.shown().contains(&index) {
        state.home.filter = super::filter::Filter::default();
        state.home.filter.apply(&mut state.recipes);
    }
    state.recipes.select(index);
    if state.focus == crate::tui::panel::Focus::Editor {
        super::editor::open(state);
    }
}
