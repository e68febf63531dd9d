//! The recipes that can be started, grouped; the words that narrow their list, and the plan of the selected one.

use std::sync::Arc;

use super::widgets::list::moved;
use crate::recipe::plan::Plan;
use crate::recipe::{self, Recipe};
use crate::tui::field::Field;

/// The group of recipes from the user's own files.
pub const OWN: &str = "this folder";

/// A recipe as passed to the user interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecipeEntry {
    /// Heading of the recipe in the list: a paper's key or a folder. Entries of a group are adjacent.
    pub group: String,
    /// The recipe's path, for people: `he2007/fig09-passes`.
    pub path: String,
    pub title: String,
    /// The YAML; empty if the file cannot be read.
    pub text: String,
    /// Why the file cannot be read.
    pub problem: Option<String>,
}

impl RecipeEntry {
    /// The last part of the path, without its ending.
    pub fn name(&self) -> &str {
        let last = self.path.rsplit('/').next().unwrap_or(&self.path);
        last.strip_suffix(".yaml").or_else(|| last.strip_suffix(".yml")).unwrap_or(last)
    }
}

/// Facts from a recipe's text that need no plan.
#[derive(Clone, Debug)]
struct Read {
    /// The text that the filter searches.
    haystack: String,
    /// Hash of the text, which identifies the recipe in its runs.
    hash: String,
    mistaken: bool,
}

impl Read {
    fn new(entry: &RecipeEntry) -> Read {
        let recipe = recipe::parse(&entry.path, &entry.text).ok();
        let haystack = haystack(entry, recipe.as_ref());
        Read { haystack, hash: recipe::hash(&entry.text), mistaken: recipe.is_none() }
    }
}

/// The text that the filter searches, in lower case: the recipe's titles, its file, the paper's key, figure and
/// table, and its primitives. A recipe that cannot be parsed is found only by the title, path and group of its
/// list entry.
fn haystack(entry: &RecipeEntry, read: Option<&Recipe>) -> String {
    let mut words = vec![entry.title.clone(), entry.path.clone(), entry.group.clone()];
    if let Some(recipe) = read {
        words.push(recipe.title().to_owned());
        for draft in &recipe.drafts {
            words.extend([draft.title.text.clone(), draft.primitive.name().to_owned()]);
            let Some(paper) = &draft.paper else { continue };
            words.push(paper.key.clone());
            words.extend(paper.figure.as_ref().map(|f| format!("figure {f} fig{f} fig.{f}")));
            words.extend(paper.table.as_ref().map(|t| format!("table {t} table{t}")));
        }
    }
    words.join("\n").to_lowercase()
}

/// A row of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row<'a> {
    Group(&'a str),
    /// Index of the entry.
    Entry(usize),
}

/// The list of recipes and its selection.
#[derive(Clone, Debug, Default)]
pub struct Recipes {
    entries: Vec<RecipeEntry>,
    /// Facts from the text of each entry.
    read: Vec<Read>,
    /// Indices of the entries that match the filter, ascending.
    shown: Vec<usize>,
    /// The plan of each recipe, or its error, once the recipe has been resolved.
    plans: Vec<Option<Result<Arc<Plan>, String>>>,
    /// The recipe that is being resolved.
    resolving: Option<usize>,
    selected: usize,
}

impl Recipes {
    pub fn new(entries: Vec<RecipeEntry>) -> Recipes {
        let plans = entries.iter().map(|_| None).collect();
        let read = entries.iter().map(Read::new).collect();
        let shown = (0..entries.len()).collect();
        Recipes { entries, read, shown, plans, resolving: None, selected: 0 }
    }

    pub fn entries(&self) -> &[RecipeEntry] {
        &self.entries
    }

    /// The entry whose text has this hash.
    pub fn by_hash(&self, hash: &str) -> Option<&RecipeEntry> {
        self.entries.get(self.read.iter().position(|own| own.hash == hash)?)
    }

    /// Indices of the entries that match the filter.
    pub fn shown(&self) -> &[usize] {
        &self.shown
    }

    /// Keeps the entries whose haystack satisfies `wanted`. If the selected entry is dropped, selects the first
    /// remaining one.
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
        if let Some(index) = self.shown.get(moved(at, by, self.shown.len())) {
            self.selected = *index;
        }
    }

    /// The plan of the selected recipe, or its error; `None` until it is resolved.
    pub fn plan(&self) -> Option<&Result<Arc<Plan>, String>> {
        self.plan_of(self.selected()?)
    }

    /// The plan of a recipe, or its error; `None` until it is resolved.
    pub fn plan_of(&self, index: usize) -> Option<&Result<Arc<Plan>, String>> {
        self.plans.get(index)?.as_ref()
    }

    /// Whether a recipe cannot run: either its text cannot be parsed, or its plan with the current changes is
    /// refused. The latter is known only for recipes that have been resolved.
    pub fn is_mistaken(&self, index: usize) -> bool {
        match self.plan_of(index) {
            Some(plan) => plan.is_err(),
            None => self.read.get(index).is_some_and(|read| read.mistaken),
        }
    }

    /// The selected recipe, if it must be resolved.
    pub fn unresolved(&self) -> Option<usize> {
        self.selected().filter(|index| self.plan_of(*index).is_none() && self.resolving != Some(*index))
    }

    /// Notes that the recipe at `index` is being resolved, and no other one.
    pub fn resolving(&mut self, index: usize) {
        self.resolving = Some(index);
    }

    /// Notes that no recipe is being resolved, so that the selected one is asked for again.
    pub fn stopped(&mut self) {
        self.resolving = None;
    }

    /// Stores the plan of the recipe at `index`, or its error.
    pub fn resolved(&mut self, index: usize, plan: Result<Arc<Plan>, String>) {
        self.resolving = self.resolving.filter(|resolving| *resolving != index);
        if let Some(slot) = self.plans.get_mut(index) {
            *slot = Some(plan);
        }
    }

    /// Drops the plan, so that the recipe is resolved again.
    pub fn forget(&mut self, index: usize) {
        self.resolving = self.resolving.filter(|resolving| *resolving != index);
        if let Some(slot) = self.plans.get_mut(index) {
            *slot = None;
        }
    }

    /// Appends a recipe, or replaces the entry of the same file; returns its index. The filtered list stays as
    /// it was.
    pub fn add(&mut self, entry: RecipeEntry) -> usize {
        let same = |known: &RecipeEntry| known.group == entry.group && known.path == entry.path;
        let read = Read::new(&entry);
        match self.entries.iter().position(same) {
            Some(at) => {
                (self.entries[at], self.read[at]) = (entry, read);
                self.forget(at);
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

/// The text typed after the slash.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    pub field: Field,
    /// Whether keys go into the filter.
    pub typing: bool,
}

impl Filter {
    /// Whether the filter occupies a row of the list.
    pub fn shows(&self) -> bool {
        self.typing || !self.field.is_empty()
    }

    /// Keeps the recipes that contain every word.
    pub fn apply(&self, recipes: &mut Recipes) {
        let text = self.field.text().to_lowercase();
        recipes.keep(|haystack| text.split_whitespace().all(|word| haystack.contains(word)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe::shipped::shipped;

    fn recipes() -> Recipes {
        let entry = |path: &str, text: &str| RecipeEntry {
            group: path.split_once('/').map_or("", |(group, _)| group).to_owned(),
            path: path.trim_end_matches(".yaml").to_owned(),
            title: String::new(),
            text: text.to_owned(),
            problem: None,
        };
        Recipes::new(shipped().iter().map(|r| entry(r.path, r.text)).collect())
    }

    fn found(text: &str) -> Vec<String> {
        let mut recipes = recipes();
        Filter { field: Field::new(text), typing: true }.apply(&mut recipes);
        recipes.shown().iter().map(|at| recipes.entries()[*at].path.clone()).collect()
    }

    #[test]
    fn recipes_are_found_by_what_they_say_and_by_what_they_are_called() {
        assert_eq!(found("fig09-p"), ["he2007/fig09-passes"], "the file's name");
        let nines = ["he2007/fig09-passes", "he2007/fig19-conjugate-gradients", "lavin2020/fig09-references"];
        assert_eq!(found("figure 9"), nines, "the figure");
        let passes = ["he2007/fig09-passes", "he2007/fig11-partitions", "he2007/gpu-passes"];
        assert_eq!(found("Multi-Pass number"), passes, "the title, both words");
        assert_eq!(found("lavin2020 fig3"), ["lavin2020/fig03-cpu-stride"]);
        let fives = ["ashkiani2017/table05-speedups", "lavin2020/app-patterns"];
        assert_eq!(found("table 5"), fives, "the table");
        let beside = [
            "several-gpus",
            "sengupta2007/gpu-peers",
            "ashkiani2017/gpu-radix",
            "lavin2020/fig09-references",
        ];
        assert_eq!(found("stream")[4..], beside, "a primitive");
        assert!(found("stream he2007").is_empty(), "every word must be there");
    }

    #[test]
    fn an_empty_filter_keeps_all() {
        assert_eq!(found("  ").len(), shipped().len());
    }
}
