//! Writes overrides into a recipe's text, so that the new recipe alone is equivalent to the recipe with its
//! overrides.

use std::collections::HashMap;

use super::catalog::Catalog;
use super::form_model::{Written, get, index};
use super::{Experiment, Overrides, Plan};
use crate::case::peers::PEERS;
use crate::case::schema::{Kind, ParamDefault};
use crate::recipe::{
    Alternative, Content, Draft, Edit, Key, Node, Place, Recipe, RecipeError, Setting, accepted, parse,
    patch, read,
};

/// The recipe's text with the overridden values; comments are kept where the text allows. `plan` is the
/// resolved plan of both: it determines the chart assignment of axes that only an override introduced.
///
/// # Errors
/// An override that the recipe language cannot express, in one line.
pub fn with_overrides(recipe: &Recipe, overrides: &Overrides, plan: &Plan) -> Result<String, String> {
    let mut recipe = recipe.clone();
    for (key, text) in &overrides.set {
        recipe = with(&recipe, key, text).map_err(|why| format!("{key}: {text}: {why}"))?;
    }
    let edits = lines(&recipe, plan)?;
    patch(recipe.text(), &edits).map_err(|error| error.to_string())
}

/// The recipe's text with another title.
///
/// # Errors
/// If the text is not YAML.
pub fn with_title(text: &str, title: &str) -> Result<String, String> {
    let root = read("", text).map_err(|error| error.to_string())?;
    let by = Node::of(Place::Nowhere, Content::Text(title.to_owned()));
    let place = |node: &Node| number(node.place);
    let edit = match get(&root, "title") {
        Some(old) if old.content == by.content => None,
        Some(old) => place(old).map(|node| Edit::Replace { node, by }),
        None => place(&root).map(|map| Edit::Insert { map, name: "title".to_owned(), value: by }),
    };
    patch(text, edit.as_slice()).map_err(|error| error.to_string())
}

/// The text of a recipe into which overrides were written, with the changes behind the titles of its experiments as in
/// `plan`, the plan of the recipe with its overrides; `means` is the plan of the text.
///
/// # Errors
/// If the text is not YAML.
pub fn with_changes_in_titles(recipe: &Recipe, plan: &Plan, means: &Plan) -> Result<String, String> {
    let titles =
        plan.experiments.iter().zip(&means.experiments).map(|(with, without)| (&with.title, &without.title));
    let edit = |(draft, (with, without)): (&Draft, (&String, &String))| {
        let changes = with.strip_prefix(without.as_str()).filter(|changes| !changes.is_empty())?;
        let by = Content::Text(format!("{}{changes}", draft.title.text));
        let own = draft.title.text != recipe.title();
        Some(Edit::Replace {
            node: number(draft.title.place).filter(|_| own)?,
            by: Node::of(Place::Nowhere, by),
        })
    };
    let edits: Vec<Edit> = recipe.drafts.iter().zip(titles).filter_map(edit).collect();
    patch(recipe.text(), &edits).map_err(|error| error.to_string())
}

/// The recipe with one key set.
fn with(recipe: &Recipe, key: &str, text: &str) -> Result<Recipe, String> {
    let words = |error: RecipeError| error.problem.to_string();
    let (root, value) = (read(recipe.file(), recipe.text()).map_err(words)?, read("", text).map_err(words)?);
    let value = value.placed(Place::Nowhere);
    let mut nodes = HashMap::new();
    index(&root, &mut nodes);
    let mut edits: Vec<Edit> = Vec::new();
    for (at, draft) in recipe.drafts.iter().enumerate() {
        let target = Target { draft, nodes: &nodes, key, value: &value };
        let more = match key.split_once('.') {
            None if key == "seed" || key == PEERS.name => {
                around(&Written { root: &root, experiment: at }, key, None, &value)
            }
            Some((map @ ("measure" | "chart"), part)) => {
                around(&Written { root: &root, experiment: at }, map, Some(part), &value)
            }
            _ => target.edits()?,
        };
        more.into_iter().for_each(|edit| {
            if !edits.contains(&edit) {
                edits.push(edit);
            }
        });
    }
    if edits.is_empty() {
        return Err("the recipe has no such key".to_owned());
    }
    let text = patch(recipe.text(), &edits).map_err(words)?;
    parse(recipe.file(), &text).map_err(words)
}

fn number(place: Place) -> Option<u32> {
    if let Place::Recipe(number) = place { Some(number) } else { None }
}

fn map(entries: Vec<(&str, Node)>) -> Node {
    let key = |text: &str| Key { place: Place::Nowhere, text: text.to_owned() };
    let entries = entries.into_iter().map(|(text, node)| (key(text), node)).collect();
    Node::of(Place::Nowhere, Content::Map(entries))
}

/// Edits for `seed`, `peers`, or a key of the sampling or the chart, where it applies to this experiment.
fn around(written: &Written<'_>, key: &str, part: Option<&str>, value: &Node) -> Vec<Edit> {
    let set = |node: &Node| {
        let node = number(node.place)?;
        Some(match value.content {
            Content::Null => Edit::Remove { value: node },
            _ => Edit::Replace { node, by: value.clone() },
        })
    };
    let insert = |at: &Node, name: &str, value: Node| {
        Some(Edit::Insert { map: number(at.place)?, name: name.to_owned(), value })
    };
    // A chart is inherited as a whole.
    let chart = if key == "chart" { written.find(key, None) } else { None };
    let found = match (chart, part) {
        (Some(chart), Some(part)) => get(chart, part),
        _ => written.find(key, part),
    };
    let edit = match (found, part) {
        (Some(node), _) => set(node),
        (None, _) if value.content == Content::Null => None,
        (None, None) => insert(written.root, key, value.clone()),
        (None, Some(part)) => {
            let shared = get(written.root, key).filter(|_| key != "chart");
            match shared.or_else(|| written.find(key, None)) {
                Some(node) => insert(node, part, value.clone()),
                None => insert(written.root, key, map(vec![(part, value.clone())])),
            }
        }
    };
    edit.into_iter().collect()
}

/// A parameter to be set in one experiment.
struct Target<'a> {
    draft: &'a Draft,
    nodes: &'a HashMap<u32, &'a Node>,
    key: &'a str,
    value: &'a Node,
}

/// The parent of a setting.
#[derive(Clone, Copy)]
enum Parent<'a> {
    Primitive,
    Variant(&'a Setting, &'a Alternative),
}

impl Target<'_> {
    fn edits(&self) -> Result<Vec<Edit>, String> {
        let catalog = Catalog::of(&self.draft.settings, self.draft.primitive.name());
        if let [entry] = catalog.candidates(self.key).as_slice() {
            let mut edits = Vec::new();
            self.settings(&self.draft.settings, Parent::Primitive, &entry.slot.key, &mut edits)?;
            return Ok(edits);
        }
        let own = self.key.strip_prefix(self.draft.primitive.name()).and_then(|rest| rest.strip_prefix('.'));
        let name = own.unwrap_or(self.key);
        match accepted(self.draft.primitive.params()).contains(&name) {
            true => Ok(vec![self.insert_at_top(name)?]),
            // Another experiment may have the parameter.
            false => Ok(Vec::new()),
        }
    }

    /// The edits wherever the settings hold the key.
    fn settings(
        &self,
        settings: &[Setting],
        parent: Parent<'_>,
        key: &str,
        edits: &mut Vec<Edit>,
    ) -> Result<(), String> {
        for setting in settings {
            if setting.slot.key == key {
                edits.push(self.setting(setting, parent)?);
                continue;
            }
            for alternative in &setting.alternatives {
                let parent = if setting.group { parent } else { Parent::Variant(setting, alternative) };
                self.settings(&alternative.inner, parent, key, edits)?;
            }
        }
        Ok(())
    }

    fn setting(&self, setting: &Setting, parent: Parent<'_>) -> Result<Edit, String> {
        let inline = matches!(setting.slot.param.kind, Kind::Inline(_));
        let unset = matches!(setting.slot.param.default, ParamDefault::Unset);
        match number(setting.place) {
            Some(key) if inline => self.exchange(key),
            Some(value) if self.value.content == Content::Null && unset => Ok(Edit::Remove { value }),
            Some(node) => Ok(Edit::Replace { node, by: self.value.clone() }),
            None => match parent {
                Parent::Primitive => self.insert_at_top(setting.slot.param.name),
                Parent::Variant(choice, alternative) => self.insert_in(setting, choice, alternative),
            },
        }
    }

    /// Replaces an inline choice by another variant, including its key.
    fn exchange(&self, key: u32) -> Result<Edit, String> {
        let (name, value) = match &self.value.content {
            Content::Map(entries) if entries.len() == 1 => (entries[0].0.text.clone(), entries[0].1.clone()),
            Content::Text(name) => (name.clone(), map(Vec::new())),
            _ => return Err("a recipe's text has room for one of these at a time".to_owned()),
        };
        Ok(Edit::Exchange { key, name, value })
    }

    /// Adds a parameter to the primitive's own map.
    fn insert_at_top(&self, name: &str) -> Result<Edit, String> {
        let map = number(self.draft.place).and_then(|key| self.nodes.get(&key));
        self.entry(map.copied(), name, None)
    }

    /// Adds a parameter to a variant's map, which is created if necessary.
    fn insert_in(&self, setting: &Setting, choice: &Setting, variant: &Alternative) -> Result<Edit, String> {
        let name = setting.slot.param.name;
        let place = number(variant.place).ok_or_else(|| no_place(name))?;
        let node = self.nodes.get(&place).copied().ok_or_else(|| no_place(name))?;
        let word = variant.value.as_ref().map(ToString::to_string).unwrap_or_default();
        if number(node.place) == Some(place) {
            // A bare word becomes a map.
            let inner = map(vec![(name, self.value.clone())]);
            return Ok(Edit::Replace { node: place, by: map(vec![(&word, inner)]) });
        }
        let main = match choice.slot.param.kind {
            Kind::Choice(variants) | Kind::Inline(variants) => variants.iter().find(|v| v.name == word),
            _ => None,
        };
        self.entry(Some(node), name, main.and_then(|v| v.main))
    }

    /// Adds an entry to a map; a missing value or a bare value for `main` becomes a map.
    fn entry(&self, node: Option<&Node>, name: &str, main: Option<&str>) -> Result<Edit, String> {
        let (node, value) = (node.ok_or_else(|| no_place(name))?, self.value.clone());
        let at = number(node.place).ok_or_else(|| no_place(name))?;
        match (&node.content, main) {
            (Content::Map(_), _) => Ok(Edit::Insert { map: at, name: name.to_owned(), value }),
            (Content::Null, _) => Ok(Edit::Replace { node: at, by: map(vec![(name, value)]) }),
            (_, Some(main)) => {
                let bare = node.clone().placed(Place::Nowhere);
                Ok(Edit::Replace { node: at, by: map(vec![(main, bare), (name, value)]) })
            }
            _ => Err(no_place(name)),
        }
    }
}

fn no_place(name: &str) -> String {
    format!("the recipe's text has no place for {name}")
}

/// Edits that add lines to the chart for axes that only overrides introduced.
fn lines(recipe: &Recipe, plan: &Plan) -> Result<Vec<Edit>, String> {
    let root = read(recipe.file(), recipe.text()).map_err(|error| error.to_string())?;
    let mut edits = Vec::new();
    for (at, (draft, experiment)) in recipe.drafts.iter().zip(&plan.experiments).enumerate() {
        let named = draft.chart.lines.len();
        if experiment.chart.lines.len() <= named {
            continue;
        }
        let more = experiment.chart.lines[named..].iter().map(|key| axis(experiment, key));
        let names = draft.chart.lines.iter().map(|name| name.text.clone()).chain(more);
        let text = |name: String| Node::of(Place::Nowhere, Content::Text(name));
        let list = Node::of(Place::Nowhere, Content::List(names.map(text).collect()));
        let written = Written { root: &root, experiment: at };
        for edit in around(&written, "chart", Some("lines"), &list) {
            if !edits.contains(&edit) {
                edits.push(edit);
            }
        }
    }
    Ok(edits)
}

fn axis(experiment: &Experiment, key: &str) -> String {
    let axis = experiment.axes.iter().find(|axis| axis.key == key);
    axis.map_or_else(|| key.to_owned(), |axis| axis.name.clone())
}

/// Whether two plans measure and draw the same, regardless of their recipes' texts and the order of cases.
pub fn measures_the_same(one: &Plan, other: &Plan) -> bool {
    one.title == other.title
        && sorted(one) == sorted(other)
        && one.experiments.len() == other.experiments.len()
        && one.experiments.iter().zip(&other.experiments).all(|(a, b)| alike(a, b))
}

/// The cases by identity, which determines their parameters.
fn sorted(plan: &Plan) -> Vec<(usize, &str)> {
    let mut cases: Vec<(usize, &str)> = plan.cases.iter().map(|c| (c.experiment, c.id.as_str())).collect();
    cases.sort_unstable();
    cases
}

fn alike(one: &Experiment, other: &Experiment) -> bool {
    let axes = |experiment: &Experiment| {
        let mut axes = experiment.axes.clone();
        axes.sort_by(|a, b| a.key.cmp(&b.key));
        axes
    };
    // A title and what it names files are words about the rest.
    let plain = |experiment: &Experiment| {
        let (title, slug, axes) = (String::new(), String::new(), Vec::new());
        Experiment { title, slug, axes, ..experiment.clone() }
    };
    axes(one) == axes(other) && plain(one) == plain(other)
}

#[cfg(test)]
mod tests;
