//! The recipes that can be started, grouped, and what the selected one means.

use super::home::filter;
use crate::recipe;
use crate::recipe::plan::Plan;

/// The group of recipes that are files of the person's own.
pub const OWN: &str = "this folder";

/// One recipe as the user interface gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecipeEntry {
    /// Heading it is listed under: a paper's key or a folder. Entries of a group
    /// stand together.
    pub group: String,
    /// Where it is, for people: `he2007/fig09-passes`.
    pub path: String,
    pub title: String,
    /// The YAML.
    pub text: String,
}

impl RecipeEntry {
    /// The last part of its path, without the ending.
    pub fn name(&self) -> &str {
        let last = self.path.rsplit('/').next().unwrap_or(&self.path);
        last.strip_suffix(".yaml").or_else(|| last.strip_suffix(".yml")).unwrap_or(last)
    }
}

/// What a recipe's text tells without its plan.
#[derive(Clone, Debug)]
struct Read {
    /// What it is found by.
    haystack: String,
    /// By which it is known in its runs.
    hash: String,
    mistaken: bool,
}

impl Read {
    fn new(entry: &RecipeEntry) -> Read {
        let recipe = recipe::parse(&entry.path, &entry.text).ok();
        let haystack = filter::haystack(entry, recipe.as_ref());
        Read { haystack, hash: recipe::hash(&entry.text), mistaken: recipe.is_none() }
    }
}

/// A row of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row<'a> {
    Group(&'a str),
    /// Index of the entry.
    Entry(usize),
}

/// The list and its selection.
#[derive(Clone, Debug, Default)]
pub struct Recipes {
    entries: Vec<RecipeEntry>,
    /// What reading each has shown.
    read: Vec<Read>,
    /// Indices of the entries that the filter keeps, ascending.
    shown: Vec<usize>,
    /// What each recipe resolved to, once somebody looked at it.
    plans: Vec<Option<Result<Plan, String>>>,
    selected: usize,
}

impl Recipes {
    pub fn new(entries: Vec<RecipeEntry>) -> Recipes {
        let plans = entries.iter().map(|_| None).collect();
        let read = entries.iter().map(Read::new).collect();
        let shown = (0..entries.len()).collect();
        Recipes { entries, read, shown, plans, selected: 0 }
    }

    pub fn entries(&self) -> &[RecipeEntry] {
        &self.entries
    }

    /// The entry whose text has this hash.
    pub fn by_hash(&self, hash: &str) -> Option<&RecipeEntry> {
        self.entries.get(self.read.iter().position(|own| own.hash == hash)?)
    }

    /// Indices of the entries that the filter keeps.
    pub fn shown(&self) -> &[usize] {
        &self.shown
    }

    /// Keeps the entries whose haystack `wanted` likes. Where the selected one goes, the
    /// first that stays is selected.
    pub fn keep(&mut self, wanted: impl Fn(&str) -> bool) {
        let stays = |at: &usize| self.read.get(*at).is_some_and(|read| wanted(&read.haystack));
        self.shown = (0..self.entries.len()).filter(stays).collect();
        if !self.shown.contains(&self.selected) {
            self.selected = self.shown.first().copied().unwrap_or(self.selected);
        }
    }

    /// Index of the selected entry; `None` in an empty list.
    pub fn selected(&self) -> Option<usize> {
        self.shown.contains(&self.selected).then_some(self.selected)
    }

    /// The selected entry.
    pub fn entry(&self) -> Option<&RecipeEntry> {
        self.entries.get(self.selected()?)
    }

    /// Selects an entry, if it is in the list.
    pub fn select(&mut self, index: usize) {
        if self.shown.contains(&index) {
            self.selected = index;
        }
    }

    /// Moves the selection, stopping at the ends.
    pub fn step(&mut self, by: isize) {
        let at = self.shown.iter().position(|index| *index == self.selected).unwrap_or(0);
        let last = self.shown.len().saturating_sub(1);
        if let Some(index) = self.shown.get(at.saturating_add_signed(by).min(last)) {
            self.selected = *index;
        }
    }

    /// What the selected recipe means; `None` while nobody has resolved it.
    pub fn plan(&self) -> Option<&Result<Plan, String>> {
        self.plan_of(self.selected()?)
    }

    /// What a recipe means; `None` while nobody has resolved it.
    pub fn plan_of(&self, index: usize) -> Option<&Result<Plan, String>> {
        self.plans.get(index)?.as_ref()
    }

    /// Whether a recipe cannot run: it cannot be read, or what it means with its changes is
    /// refused. The latter is known of those that were looked at.
    pub fn is_mistaken(&self, index: usize) -> bool {
        match self.plan_of(index) {
            Some(plan) => plan.is_err(),
            None => self.read.get(index).is_some_and(|read| read.mistaken),
        }
    }

    /// Stores what the recipe at `index` resolved to.
    pub fn resolved(&mut self, index: usize, plan: Result<Plan, String>) {
        if let Some(slot) = self.plans.get_mut(index) {
            *slot = Some(plan);
        }
    }

    /// It has to be resolved again.
    pub fn forget(&mut self, index: usize) {
        if let Some(slot) = self.plans.get_mut(index) {
            *slot = None;
        }
    }

    /// Adds a recipe at the end, or instead of the one that is the same file; returns its
    /// index. The list keeps what it kept.
    pub fn add(&mut self, entry: RecipeEntry) -> usize {
        let same = |known: &RecipeEntry| known.group == entry.group && known.path == entry.path;
        let read = Read::new(&entry);
        match self.entries.iter().position(same) {
            Some(at) => {
                (self.entries[at], self.read[at]) = (entry, read);
                self.plans[at] = None;
                at
            }
            None => {
                self.entries.push(entry);
                self.read.push(read);
                self.plans.push(None);
                self.entries.len() - 1
            }
        }
    }

    /// Headings and entries in the order of the list.
    pub fn rows(&self) -> Vec<Row<'_>> {
        let mut rows = Vec::new();
        let mut group = None;
        for (index, entry) in self.shown.iter().filter_map(|at| Some((*at, self.entries.get(*at)?))) {
            if !entry.group.is_empty() && group != Some(entry.group.as_str()) {
                rows.push(Row::Group(&entry.group));
            }
            group = Some(&entry.group);
            rows.push(Row::Entry(index));
        }
        rows
    }
}
