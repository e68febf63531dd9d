//! An entry in the list of stored runs.

use std::cmp::Ordering;
use std::path::{Path, PathBuf};

use crate::case::units::escaped;
use crate::engine::clock;
use crate::run::index::Stamp;
use crate::run::note;
use crate::run::stored::Stored;
use crate::run::summary::Summary;
use crate::tui::recipes::Recipes;

/// A folder with a manifest.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub path: PathBuf,
    /// Path below the root, without control characters.
    pub name: String,
    /// The run's recipe, if an unchanged version of it is listed.
    pub recipe: Option<String>,
    /// A summary of the run, or why it cannot be read.
    pub content: Result<Box<Summary>, String>,
    pub note: Option<String>,
    pub stamp: Stamp,
    /// `YYYY-MM-DD HH:MM:SS` UTC: the start of the run, or the time of the manifest if the run cannot be read.
    pub when: String,
    /// The text that the search looks in.
    haystack: String,
}

impl Entry {
    /// Reads a folder below `root`, whatever its content, as long as `wanted` returns true.
    pub fn read(root: &Path, path: PathBuf, wanted: &dyn Fn() -> bool) -> Entry {
        let stamp = Stamp::of(&path);
        let content = Stored::open_while(&path, wanted);
        let content = content.map(|stored| Box::new(Summary::of(&stored)));
        // The entry already shows the folder's name.
        let within = format!("{}/", path.display());
        let content = content.map_err(|error| escaped(&format!("{error:#}").replace(&within, "")));
        Entry::new(root, path, stamp, content)
    }

    pub(super) fn new(
        root: &Path,
        path: PathBuf,
        stamp: Stamp,
        content: Result<Box<Summary>, String>,
    ) -> Entry {
        let name = escaped(&path.strip_prefix(root).unwrap_or(&path).display().to_string());
        let written = || stamp.written().map(clock::of).unwrap_or_default();
        let when = content.as_ref().map_or_else(|_| written(), |summary| summary.started.clone());
        let note = note::read(&path);
        let mut entry =
            Entry { path, name, recipe: None, content, note, stamp, when, haystack: String::new() };
        entry.haystack = entry.words().to_lowercase();
        entry
    }

    /// Names the entry after its recipe, if that is among these.
    pub fn named_by(mut self, recipes: &Recipes) -> Entry {
        let recipe = self.summary().and_then(|summary| recipes.by_hash(&summary.recipe_hash));
        self.recipe = recipe.map(|entry| escaped(&entry.path));
        self.haystack = self.words().to_lowercase();
        self
    }

    fn words(&self) -> String {
        let rest = match &self.content {
            Ok(summary) => {
                let Summary { title, overrides, host, cpu, revision, backends, devices, .. } = &**summary;
                let lists = [overrides, backends, devices].map(|words| words.join(" "));
                [title, host, cpu, revision].into_iter().chain(&lists).cloned().collect::<Vec<_>>().join("\n")
            }
            Err(_) => "broken".to_owned(),
        };
        let recipe = self.recipe.clone().unwrap_or_default();
        [&self.name, &recipe, &self.when, &rest].map(String::as_str).join("\n")
    }

    /// Whether the entry contains all of these words, which are in lower case.
    pub fn has(&self, words: &[String]) -> bool {
        let note = self.note.as_deref().unwrap_or_default().to_lowercase();
        words.iter().all(|word| self.haystack.contains(word) || note.contains(word))
    }

    /// Newer entries come first; entries of the same second are ordered by name.
    pub fn order(&self, other: &Entry) -> Ordering {
        let names = || (&self.name, &self.path).cmp(&(&other.name, &other.path));
        other.when.cmp(&self.when).then_with(names)
    }

    pub fn summary(&self) -> Option<&Summary> {
        self.content.as_deref().ok()
    }
}
