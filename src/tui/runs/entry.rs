//! A folder in the list.

use std::cmp::Ordering;
use std::path::{Path, PathBuf};

use crate::case::units::escaped;
use crate::engine::clock;
use crate::run::index::{self, Stamp};
use crate::run::note;
use crate::run::stored::Stored;
use crate::run::summary::Summary;
use crate::tui::recipes::Recipes;

/// A folder with a manifest.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub path: PathBuf,
    /// Its path below the root, without control characters.
    pub name: String,
    /// The recipe that it is a run of, where that is listed as it was then.
    pub recipe: Option<String>,
    /// What it holds, or why that cannot be read.
    pub content: Result<Box<Summary>, String>,
    pub note: Option<String>,
    pub stamp: Stamp,
    /// `YYYY-MM-DD HH:MM:SS` UTC: when the run started, or the manifest was written.
    pub when: String,
    /// What it is found by.
    haystack: String,
}

impl Entry {
    /// Reads a folder below `root`, whatever it holds, as long as that is `wanted`.
    pub fn read(root: &Path, path: PathBuf, wanted: &dyn Fn() -> bool) -> Entry {
        let stamp = Stamp::of(&path);
        let content = index::check(&path).map_err(anyhow::Error::msg);
        let content = content.and_then(|()| Stored::open_while(&path, wanted));
        let content = content.map(|stored| Box::new(Summary::of(&stored)));
        // Which folder it is stands beside it.
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

    /// Calls it by the recipe that it is a run of, if that is among these.
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

    /// Whether it has all of these words, in lower case.
    pub fn has(&self, words: &[String]) -> bool {
        let note = self.note.as_deref().unwrap_or_default().to_lowercase();
        words.iter().all(|word| self.haystack.contains(word) || note.contains(word))
    }

    /// Newer ones come first; of the same second, by their names.
    pub fn order(&self, other: &Entry) -> Ordering {
        let names = || (&self.name, &self.path).cmp(&(&other.name, &other.path));
        other.when.cmp(&self.when).then_with(names)
    }

    pub fn summary(&self) -> Option<&Summary> {
        self.content.as_deref().ok()
    }
}
