//! Saves a changed recipe to a new file.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::jobs::Resolve;
use crate::recipe::plan::{
    Overrides, Plan, measures_the_same, with_changes_in_titles, with_overrides, with_title,
};
use crate::recipe::{self, loses_comments};
use crate::run::writes::draft;
use crate::tui::field::Field;
use crate::tui::recipes::{OWN, RecipeEntry};

/// The dialog for the file name under which a recipe is saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saving {
    /// Index of the recipe.
    pub recipe: usize,
    pub field: Field,
    /// The existing file, once the user has been warned that it would be overwritten.
    pub exists: Option<Existing>,
    /// Why the recipe was not saved under this name.
    pub error: Option<String>,
}

/// A file that would be overwritten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Existing {
    pub path: PathBuf,
    /// Whether comments of the recipe are missing from the new text.
    pub loses: bool,
}

impl Saving {
    /// The file's path, with `.yaml` appended unless it has a YAML ending.
    pub fn path(&self) -> PathBuf {
        let text = self.field.text();
        let text = text.trim();
        let ends = [".yaml", ".yml"].iter().any(|ending| text.ends_with(ending));
        PathBuf::from(if ends { text.to_owned() } else { format!("{text}.yaml") })
    }

    /// The dialog's text, shown under the panels.
    pub fn question(&self) -> String {
        let name = self.field.shown(usize::MAX, crate::tui::theme::Theme::PLAIN);
        match (&self.error, &self.exists) {
            (Some(error), _) => format!("Save as: {name}  not saved: {error}"),
            (None, Some(existing)) if existing.path == self.path() => {
                let lost = if existing.loses { " (some comments are left out)" } else { "" };
                format!("Save as: {name} exists. Enter: overwrite it{lost}, Esc: do not save.")
            }
            _ if self.field.is_offered() => {
                format!("Save as: {name}  (what is typed replaces it; Left or Backspace edits it)")
            }
            _ => format!("Save as: {name}"),
        }
    }
}

/// Why nothing was saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotSaved {
    /// The file exists, and the user has not confirmed that it may be overwritten.
    Exists(Existing),
    /// The reason in one line.
    Because(String),
}

/// Writes the recipe with its changes to a file. The new text has the same meaning.
///
/// # Errors
/// If the file exists, if the recipe language cannot express a change, if the text would have another meaning,
/// if the file cannot be written, or if it would lie outside the current folder although the recipe names index
/// files by relative paths, which are relative to the recipe.
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
    let (text, means) = text(entry, overrides, resolve).map_err(NotSaved::Because)?;
    if let Some(file) = left_behind(&means, &path) {
        let why = format!("{file} is relative to the recipe, so the copy must stay in this folder");
        return Err(NotSaved::Because(why));
    }
    let loses = loses_comments(&entry.text, &text);
    let overwrite = saving.exists.as_ref().is_some_and(|existing| existing.path == path);
    write(&path, &text, overwrite).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => NotSaved::Exists(Existing { path: path.clone(), loses }),
        _ => NotSaved::Because(format!("cannot write {}: {error}", path.display())),
    })?;
    let title = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(RecipeEntry { group: OWN.to_owned(), path: path.display().to_string(), title, text, problem: None })
}

/// An index file that the recipe would not find from its new path.
fn left_behind<'p>(plan: &'p Plan, recipe: &Path) -> Option<&'p str> {
    let absolute = std::path::absolute(recipe).ok();
    let here = std::env::current_dir().ok();
    let stays = absolute.as_deref().and_then(Path::parent) == here.as_deref();
    let relative = plan.indices.iter().find(|file| Path::new(&file.path).is_relative());
    relative.filter(|_| !stays).map(|file| file.path.as_str())
}

/// The text that means by itself what the recipe and its overrides mean together, and its plan.
fn text(entry: &RecipeEntry, overrides: &Overrides, resolve: &Resolve) -> Result<(String, Plan), String> {
    let plan = resolve(entry, overrides, &|| true)?;
    let recipe = recipe::parse(&entry.path, &entry.text).map_err(|error| error.to_string())?;
    let changes = !overrides.set.is_empty() || !overrides.backends.is_empty();
    let text = with_overrides(&recipe, overrides, &plan)?;
    let text = if changes { without_counts(&text) } else { text };
    let again = RecipeEntry { text, ..entry.clone() };
    let means: Plan = resolve(&again, &Overrides::default(), &|| true)?;
    if !measures_the_same(&plan, &means) {
        return Err("these changes cannot be written into the recipe's text; --set can make them".to_owned());
    }
    let recipe = recipe::parse(&again.path, &again.text).map_err(|error| error.to_string())?;
    let text = with_changes_in_titles(&recipe, &plan, &means)?;
    Ok((with_title(&text, &title(recipe.title(), overrides))?, means))
}

/// The text without comment lines that count cases: a changed recipe has others.
fn without_counts(text: &str) -> String {
    let counts = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let counted = |pair: &[&str]| pair[0].parse::<u64>().is_ok() && pair[1].starts_with("case");
        line.starts_with('#') && words.windows(2).any(counted)
    };
    text.split_inclusive('\n').filter(|line| !counts(line)).collect()
}

/// A title that distinguishes the copy from the recipe: the changes are appended, as in `(tuples=1Ki)`.
fn title(title: &str, overrides: &Overrides) -> String {
    let changes: Vec<String> = overrides.set.iter().map(|(key, value)| format!("{key}={value}")).collect();
    if changes.is_empty() { title.to_owned() } else { format!("{title} ({})", changes.join(", ")) }
}

/// Writes a text to a file; the flag allows overwriting an existing file.
pub type Write = fn(&Path, &str, bool) -> io::Result<()>;

/// Writes the file atomically: the disk may be full, and no reader must see half a file.
pub fn write(path: &Path, text: &str, overwrite: bool) -> io::Result<()> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let draft = draft(path.parent().unwrap_or(Path::new("")), &name);
    let written = fs::write(&draft, text).and_then(|()| put(&draft, path, overwrite));
    if written.is_err() {
        // The draft may not exist; the first error is the one to report.
        let _ = fs::remove_file(&draft);
    }
    written
}

/// Renames the draft to its final name. A rename replaces any existing file, so without `overwrite` an empty
/// file is created first: this fails if the name is taken, and reserves it otherwise.
fn put(draft: &Path, path: &Path, overwrite: bool) -> io::Result<()> {
    if !overwrite {
        File::create_new(path)?;
    }
    fs::rename(draft, path).inspect_err(|_| {
        if !overwrite {
            // The reserved file is still empty; the first error is the one to report.
            let _ = fs::remove_file(path);
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::IndexFile;
    use crate::tui::tests::fixture;

    #[test]
    fn a_file_is_there_complete_or_not_at_all() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.yaml");
        let left = || fs::read_dir(folder.path()).expect("a folder").count();
        write(&path, "first", false).expect("written");
        let refused = write(&path, "second", false).map_err(|error| error.kind());
        assert_eq!((refused, left()), (Err(ErrorKind::AlreadyExists), 1));
        assert_eq!(fs::read_to_string(&path).expect("it"), "first");
        write(&path, "second", true).expect("overwritten");
        assert_eq!((fs::read_to_string(&path).expect("it").as_str(), left()), ("second", 1));
        fs::create_dir(folder.path().join("b.yaml")).expect("a folder");
        assert!(write(&folder.path().join("b.yaml"), "third", true).is_err());
        assert_eq!(left(), 2, "no draft is left");
    }

    #[test]
    fn a_comment_that_counts_cases_is_left_out_of_a_changed_copy() {
        let text = "# First: 48 cases of 640 MiB.\n# It shows caches.\ntitle: 48 cases  # 2 of them\n";
        assert_eq!(without_counts(text), "# It shows caches.\ntitle: 48 cases  # 2 of them\n");
    }

    #[test]
    fn a_recipe_that_names_files_stays_beside_them() {
        let mut plan = fixture::passes();
        assert_eq!(left_behind(&plan, Path::new("sub/a.yaml")), None);
        for (name, elsewhere) in [("i.npy", Some("i.npy")), ("/data/i.npy", None)] {
            let (hash, path) = ("0".repeat(64), name.to_owned());
            let file = IndexFile {
                path,
                column: None,
                hash,
                length: 1,
                largest: 0,
                matrix: None,
                source: None,
                copy: None,
            };
            plan.indices = vec![file];
            assert_eq!(left_behind(&plan, Path::new("a.yaml")), None);
            assert_eq!(left_behind(&plan, Path::new("./a.yaml")), None);
            assert_eq!(left_behind(&plan, Path::new("sub/a.yaml")), elsewhere);
        }
    }
}
