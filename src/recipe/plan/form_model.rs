//! A recipe as a form: every key that `--set` accepts, with its value as written.

use std::collections::HashMap;

use super::Overrides;
use super::catalog::last_word;
use super::overrides::apply;
use crate::case::Value;
use crate::case::peers::PEERS;
use crate::case::schema::{Kind, ParamDefault as Unmentioned};
use crate::case::units::{label_bytes, label_count};
use crate::recipe::{
    ChartDraft, Content, Draft, MEASURE_KEYS, Mistake, Node, ParamSlot, Place, Recipe, RecipeError, Setting,
    accepts, chart_accepts, flow, locate_place, measure_accepts, read,
};

/// Source of the value on a line of the form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Set by the recipe.
    Recipe,
    /// Not set: the default applies, if there is one.
    Default,
    /// Set by an override.
    Changed,
}

/// A line of the form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The key, as `--set` takes it.
    pub key: String,
    /// The short name: the key's last word if that is unique.
    pub name: String,
    /// The value as written in YAML; if experiments differ, the values of all of them. Empty if unset.
    pub value: String,
    /// Whether the value differs between experiments.
    pub differs: bool,
    pub origin: Origin,
    /// The accepted values, in words.
    pub accepts: String,
    /// The meaning, in one line.
    pub doc: String,
}

/// Separates values of experiments that differ.
const OR: &str = " / ";

/// Every key of the recipe with these overrides, in the recipe's order.
///
/// # Errors
/// The first override that cannot be applied, with its origin. Mistakes that only the whole plan reveals (a
/// combination that a primitive rejects) are not reported here.
pub fn form(recipe: &Recipe, overrides: &Overrides) -> Result<Vec<Line>, RecipeError> {
    let mut drafts = recipe.drafts.clone();
    apply(&mut drafts, overrides).map_err(|mistake: Mistake| RecipeError {
        origin: overrides.origin(mistake.place).unwrap_or_else(|| recipe.file().to_owned()),
        place: locate_place(recipe.text(), mistake.place),
        problem: Box::new(mistake.problem),
    })?;
    let root = read(recipe.file(), recipe.text())?;
    let mut nodes = HashMap::new();
    index(&root, &mut nodes);
    let several = drafts.iter().any(|d| d.primitive.name() != drafts[0].primitive.name());
    let mut form = Form { overrides, nodes, several, lines: Vec::new() };
    for draft in &drafts {
        form.settings(draft, &draft.settings);
        form.unset(draft);
    }
    for at in 0..drafts.len() {
        form.around(&Written { root: &root, experiment: at });
    }
    Ok(named(form.lines))
}

/// Nodes by number; an entry's value also by the number of its key.
pub(super) fn index<'n>(node: &'n Node, nodes: &mut HashMap<u32, &'n Node>) {
    let mut add = |place: Place, node: &'n Node| {
        if let Place::Recipe(number) = place {
            nodes.insert(number, node);
        }
    };
    add(node.place, node);
    match &node.content {
        Content::List(items) => items.iter().for_each(|item| index(item, nodes)),
        Content::Map(entries) => {
            entries.iter().for_each(|(key, node)| add(key.place, node));
            entries.iter().for_each(|(_, node)| index(node, nodes));
        }
        _ => {}
    }
}

/// The keys outside of the primitive for one experiment, in its own map or in the recipe's.
pub(super) struct Written<'n> {
    pub root: &'n Node,
    /// Index of the experiment.
    pub experiment: usize,
}

impl<'n> Written<'n> {
    /// The experiment's own map, if the recipe lists experiments.
    pub fn own(&self) -> Option<&'n Node> {
        match &get(self.root, "experiments")?.content {
            Content::List(items) => items.get(self.experiment),
            _ => None,
        }
    }

    /// The value of `key`, or of `part` inside it. `measure` inherits key by key, so the
    /// experiment's own map need not have the part.
    pub fn find(&self, key: &str, part: Option<&str>) -> Option<&'n Node> {
        let of = |map: &'n Node| {
            let node = get(map, key)?;
            part.map_or(Some(node), |part| get(node, part))
        };
        self.own().and_then(of).or_else(|| of(self.root))
    }
}

/// The value of a key of a map.
pub(super) fn get<'n>(map: &'n Node, key: &str) -> Option<&'n Node> {
    let Content::Map(entries) = &map.content else { return None };
    entries.iter().find(|(k, _)| k.text == key).map(|(_, node)| node)
}

struct Form<'a> {
    overrides: &'a Overrides,
    nodes: HashMap<u32, &'a Node>,
    /// Whether experiments have different primitives, so that keys need the primitive as a prefix.
    several: bool,
    lines: Vec<Line>,
}

impl Form<'_> {
    fn settings(&mut self, draft: &Draft, settings: &[Setting]) {
        for setting in settings {
            if !setting.group {
                let (value, origin) = self.value(setting);
                self.add(self.line(draft, &setting.slot, value, origin));
            }
            setting.alternatives.iter().for_each(|a| self.settings(draft, &a.inner));
        }
    }

    /// Adds the parameters of the primitive that the recipe leaves unset.
    fn unset(&mut self, draft: &Draft) {
        for param in draft.primitive.params() {
            let slot = ParamSlot::top(param, draft.primitive.name());
            if !mentions(&draft.settings, &slot.key) {
                self.add(self.line(draft, &slot, String::new(), Origin::Default));
            }
        }
    }

    fn line(&self, draft: &Draft, slot: &ParamSlot, value: String, origin: Origin) -> Line {
        let backend = slot.key.split('.').next() == Some(crate::case::BACKENDS.name);
        let key = match self.several && !backend {
            true => format!("{}.{}", draft.primitive.name(), slot.key),
            false => slot.key.clone(),
        };
        let (accepts, doc) = (accepts(&slot.param.kind), slot.param.doc.to_owned());
        Line { name: slot.name.clone(), key, value, differs: false, origin, accepts, doc }
    }

    /// The value of a setting as written: in the recipe, in an override of the same key, within another
    /// override, or as a default.
    fn value(&self, setting: &Setting) -> (String, Origin) {
        match setting.place {
            Place::Recipe(number) => (self.written(number, setting), Origin::Recipe),
            Place::Override(at) => {
                let own = self.overrides.set.get(at).filter(|(key, _)| answers(&setting.slot, key));
                (own.map_or_else(|| values(setting), |(_, text)| text.clone()), Origin::Changed)
            }
            Place::Backends | Place::Only(_) => (values(setting), Origin::Changed),
            Place::Nowhere => match setting.slot.param.default {
                Unmentioned::Is(text) => (text.to_owned(), Origin::Default),
                _ => (values(setting), Origin::Default),
            },
        }
    }

    /// The recipe's own text on one line. An inline choice is identified by its variant's key, which is
    /// included: `{uniform: {length: 8}}`.
    fn written(&self, number: u32, setting: &Setting) -> String {
        let Some(node) = self.nodes.get(&number) else { return values(setting) };
        let variant = setting.alternatives.first().and_then(|a| a.value.as_ref());
        match (setting.slot.param.kind, variant) {
            (Kind::Inline(_), Some(variant)) => format!("{{{variant}: {}}}", flow(node)),
            _ => flow(node),
        }
    }

    /// Adds `seed`, the sampling, the chart and the peers.
    fn around(&mut self, written: &Written<'_>) {
        self.key("seed", "1", written.find("seed", None), "a count", "the seed of all inputs");
        for key in &MEASURE_KEYS {
            let node = written.find("measure", Some(key.name));
            self.key(
                &format!("measure.{}", key.name),
                key.default,
                node,
                &measure_accepts(key),
                &key.doc.split_whitespace().collect::<Vec<_>>().join(" "),
            );
        }
        for key in ChartDraft::keys() {
            let (accepts, default, doc) = chart_accepts(key);
            let own = written.find("chart", None).and_then(|chart| get(chart, key));
            self.key(&format!("chart.{key}"), default, own, &accepts, doc);
        }
        let node = written.find(PEERS.name, None);
        self.key(PEERS.name, "", node, &accepts(&PEERS.kind), PEERS.doc);
    }

    fn key(&mut self, key: &str, default: &str, node: Option<&Node>, accepts: &str, doc: &str) {
        let changed = self.overrides.set.iter().rev().find(|(k, _)| k == key).map(|(_, text)| text.clone());
        let (value, origin) = match (changed, node) {
            (Some(text), _) => (text, Origin::Changed),
            (None, Some(node)) => (flow(node), Origin::Recipe),
            (None, None) => (default.to_owned(), Origin::Default),
        };
        let [key, name] = [key; 2].map(str::to_owned);
        let [accepts, doc] = [accepts, doc].map(str::to_owned);
        self.add(Line { key, name, value, differs: false, origin, accepts, doc });
    }

    /// Adds a line, merging it with that of another experiment or alternative.
    fn add(&mut self, line: Line) {
        let Some(known) = self.lines.iter_mut().find(|known| known.key == line.key) else {
            return self.lines.push(line);
        };
        if !known.value.split(OR).any(|value| value == line.value) {
            known.value = format!("{}{OR}{}", known.value, line.value);
            known.differs = true;
        }
        if line.origin != Origin::Default {
            known.origin = line.origin;
        }
    }
}

/// Whether an override with this key refers to this parameter.
fn answers(slot: &ParamSlot, key: &str) -> bool {
    let tail = key.split_once('.').is_some_and(|(_, rest)| rest == slot.key);
    slot.answers_to(key).is_some() || tail
}

fn mentions(settings: &[Setting], key: &str) -> bool {
    settings.iter().any(|s| {
        let inside = || s.alternatives.iter().any(|a| mentions(&a.inner, key));
        s.slot.key == key || (s.group && inside())
    })
}

/// A setting without source text, written from its values.
fn values(setting: &Setting) -> String {
    let one = |a: &crate::recipe::Alternative| {
        let value = a.value.as_ref().map(|v| label(&setting.slot, v)).unwrap_or_default();
        let given = a.inner.iter().filter(|s| s.place != Place::Nowhere);
        let inner: Vec<String> =
            given.map(|s| format!("{}: {}", last_word(&s.slot.key), values(s))).collect();
        if inner.is_empty() { value } else { format!("{{{value}: {{{}}}}}", inner.join(", ")) }
    };
    let all: Vec<String> = setting.alternatives.iter().map(one).collect();
    if all.len() == 1 { all.concat() } else { format!("[{}]", all.join(", ")) }
}

fn label(slot: &ParamSlot, value: &Value) -> String {
    match (value, slot.param.kind) {
        (Value::Int(v), Kind::Bytes { .. }) => label_bytes(*v),
        (Value::Int(v), _) => label_count(*v),
        (Value::Text(text), _) => crate::recipe::word(text),
        _ => value.to_string(),
    }
}

/// Shortens the names of the lines to their last words if these are unique.
fn named(lines: Vec<Line>) -> Vec<Line> {
    let short = |name: &str| -> String {
        if name.starts_with("measure.") || name.starts_with("chart.") {
            return name.to_owned();
        }
        last_word(name).to_owned()
    };
    let shorts: Vec<String> = lines.iter().map(|line| short(&line.name)).collect();
    let unique = |name: &String| shorts.iter().filter(|other| *other == name).count() == 1;
    let name = |(line, short): (Line, &String)| match unique(short) {
        true => Line { name: short.clone(), ..line },
        false => Line { name: line.key.clone(), ..line },
    };
    lines.into_iter().zip(&shorts).map(name).collect()
}

#[cfg(test)]
mod tests;
