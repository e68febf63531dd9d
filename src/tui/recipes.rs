//! The recipes that can be started, grouped, and what the selected one means.

use crate::plan::Plan;

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
    /// What each recipe resolved to, once somebody looked at it.
    plans: Vec<Option<Result<Plan, String>>>,
    selected: usize,
}

impl Recipes {
    pub fn new(entries: Vec<RecipeEntry>) -> Recipes {
        let plans = entries.iter().map(|_| None).collect();
        Recipes { entries, plans, selected: 0 }
    }

    pub fn entries(&self) -> &[RecipeEntry] {
        &self.entries
    }

    /// Index of the selected entry; `None` in an empty list.
    pub fn selected(&self) -> Option<usize> {
        (self.selected < self.entries.len()).then_some(self.selected)
    }

    pub fn select(&mut self, index: usize) {
        self.selected = index.min(self.entries.len().saturating_sub(1));
    }

    /// Moves the selection, stopping at the ends.
    pub fn step(&mut self, by: isize) {
        self.select(self.selected.saturating_add_signed(by));
    }

    /// What the selected recipe means; `None` while nobody has resolved it.
    pub fn plan(&self) -> Option<&Result<Plan, String>> {
        self.plans.get(self.selected)?.as_ref()
    }

    /// Stores what the recipe at `index` resolved to.
    pub fn resolved(&mut self, index: usize, plan: Result<Plan, String>) {
        if let Some(slot) = self.plans.get_mut(index) {
            *slot = Some(plan);
        }
    }

    /// Headings and entries in the order of the list.
    pub fn rows(&self) -> Vec<Row<'_>> {
        let mut rows = Vec::new();
        let mut group = None;
        for (index, entry) in self.entries.iter().enumerate() {
            if !entry.group.is_empty() && group != Some(entry.group.as_str()) {
                rows.push(Row::Group(&entry.group));
            }
            group = Some(&entry.group);
            rows.push(Row::Entry(index));
        }
        rows
    }
}
