//! A choice of one-key maps as one axis: in `segments: [{random: 16}, {random: 4096}]` the parameters of the maps need no place
//! on the chart beside that of `segments`.

use std::collections::HashSet;

use super::Chart;
use super::catalog::{Catalog, Entry, last_word};
use super::resolve::expand;
use crate::case::{BACKENDS, Params, Value};
use crate::recipe::{Place, Setting};

/// A choice that the chart assigns, with the parameters below it that vary and that the chart does not name.
#[derive(Debug, Default)]
pub(super) struct Maps {
    /// Full key of the choice.
    pub key: String,
    /// Full keys of the parameters.
    members: Vec<String>,
    /// What each value of the choice sets: its word and these parameters.
    pub sets: Vec<Params>,
    /// The shortest texts that distinguish the values.
    pub labels: Vec<String>,
}

/// The choices of a chart that stand for parameters below them.
#[derive(Debug, Default)]
pub(super) struct Choices(Vec<Maps>);

impl Choices {
    /// Adds a parameter to the choice above it, if `assigned` has that choice; returns whether it has.
    pub fn take<'k>(
        &mut self,
        entry: &Entry,
        catalog: &Catalog,
        assigned: impl Iterator<Item = &'k String>,
    ) -> bool {
        let is_below = |key: &&String| {
            entry.slot.key.strip_prefix(key.as_str()).is_some_and(|rest| rest.starts_with('.'))
        };
        let above = assigned.filter(is_below).max_by_key(|key| key.len());
        let Some(above) = above.and_then(|key| catalog.by_key(key)).filter(|above| holds(above, entry))
        else {
            return false;
        };
        let (key, member) = (above.slot.key.clone(), entry.slot.key.clone());
        match self.0.iter_mut().find(|maps| maps.key == key) {
            Some(maps) => maps.members.push(member),
            None => self.0.push(Maps { key, members: vec![member], ..Maps::default() }),
        }
        true
    }

    /// Has the chart name the parameter itself where a choice differs in nothing else, so that an axis of numbers keeps its
    /// scale; makes one axis of every other choice.
    pub fn settle(&mut self, chart: &mut Chart, catalog: &Catalog, settings: &[Setting]) {
        self.0.retain_mut(|maps| {
            if let ([only], false) = (&maps.members[..], catalog.by_key(&maps.key).is_some_and(Entry::varies))
            {
                let Chart { x, lines, panels, best_of, .. } = chart;
                let named = std::iter::once(x).chain(lines).chain(panels).chain(best_of);
                named.filter(|key| **key == maps.key).for_each(|key| key.clone_from(only));
                return false;
            }
            maps.read(catalog, settings);
            true
        });
    }

    /// The choice with this key.
    pub fn of(&self, key: &str) -> Option<&Maps> {
        self.0.iter().find(|maps| maps.key == key)
    }

    /// Whether a choice stands for this parameter.
    pub fn hold(&self, key: &str) -> bool {
        self.0.iter().any(|maps| maps.members.iter().any(|member| member == key))
    }
}

/// Whether the choice may stand for the parameter. A parameter that the command line alone lets vary makes lines, and backends
/// have their parameters on the chart.
fn holds(choice: &Entry, entry: &Entry) -> bool {
    let written = !matches!(entry.place, Place::Override(_) | Place::Backends) || choice.place == entry.place;
    written && !choice.zipped && choice.slot.key != BACKENDS.name
}

impl Maps {
    /// Whether several values are of this word.
    pub fn repeats(&self, word: &Value) -> bool {
        self.sets.iter().filter(|set| set.get(&self.key) == Some(word)).count() > 1
    }

    fn read(&mut self, catalog: &Catalog, settings: &[Setting]) {
        let mut all = Vec::new();
        values(settings, &self.key, &mut all);
        let mut whole = Vec::new();
        for params in all {
            let own = |key: &String| *key == self.key || self.members.contains(key);
            let set = Params(
                params.0.iter().filter(|(key, _)| own(key)).map(|(k, v)| (k.clone(), v.clone())).collect(),
            );
            if !self.sets.contains(&set) {
                self.sets.push(set);
                whole.push(params);
            }
        }
        let named = |file: fn(&str) -> &str| -> Vec<String> {
            whole.iter().map(|params| self.label(params, catalog, file)).collect()
        };
        let distinct = |labels: &[String]| labels.iter().collect::<HashSet<_>>().len() == labels.len();
        let short = named(file_name);
        let labels = if distinct(&short) { short } else { named(|path| path) };
        self.labels = numbered(labels);
    }

    /// The word of a value that has it alone; else what distinguishes the value from the others of its word.
    fn label(&self, params: &Params, catalog: &Catalog, file: fn(&str) -> &str) -> String {
        let word = params.text(&self.key).unwrap_or_default();
        if let Some(path) = params.text(&format!("{}.{word}.path", self.key)) {
            return file(path).to_owned();
        }
        let alike: Vec<&Params> = self.sets.iter().filter(|set| set.text(&self.key) == Some(word)).collect();
        let telling = telling(&self.members, &alike);
        let part = |key: &&String| Some(part(catalog.by_key(key)?, params.get(key)?, word, file));
        let parts: Vec<String> = telling.iter().filter_map(part).collect();
        let led = parts.first().is_some_and(|first| first.starts_with(&format!("{word} ")));
        match parts.is_empty() || (!led && alike.len() < self.sets.len()) {
            true => std::iter::once(word.to_owned()).chain(parts).collect::<Vec<_>>().join(" "),
            false => parts.join(" "),
        }
    }
}

/// The parameter that alone distinguishes these values, or else as many of those that vary as do.
fn telling<'k>(members: &'k [String], alike: &[&Params]) -> Vec<&'k String> {
    let count = |keys: &[&String]| {
        let told =
            alike.iter().map(|set| keys.iter().map(|key| format!("{:?}", set.get(key))).collect::<Vec<_>>());
        told.collect::<HashSet<_>>().len()
    };
    let varying: Vec<&String> = members.iter().filter(|key| count(&[key]) > 1).collect();
    if let Some(one) = varying.iter().find(|key| count(&[key]) == alike.len()) {
        return vec![one];
    }
    let enough = (0..=varying.len()).find(|n| count(&varying[..*n]) == alike.len());
    varying[..enough.unwrap_or(varying.len())].to_vec()
}

/// `random 16` for a main parameter, `rows 1Mi` for another one; a word or a file's name stands alone.
fn part(entry: &Entry, value: &Value, word: &str, file: fn(&str) -> &str) -> String {
    let name = last_word(&entry.slot.name);
    match value {
        Value::Text(text) if entry.slot.key.ends_with(".path") => file(text).to_owned(),
        Value::Text(text) => text.clone(),
        Value::Indices(list) => format!("{word} of {} indices", list.len()),
        Value::Int(_) | Value::Float(_) => format!("{name} {}", entry.label(value)),
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// The labels, with numbers after those that occur again.
fn numbered(labels: Vec<String>) -> Vec<String> {
    let mut taken: Vec<String> = Vec::new();
    for label in labels {
        let again = (2..).map(|n| format!("{label} ({n})"));
        let free = std::iter::once(label.clone()).chain(again).find(|label| !taken.contains(label));
        taken.extend(free);
    }
    taken
}

/// Every combination of a choice's word with the parameters below it.
fn values(settings: &[Setting], key: &str, out: &mut Vec<Params>) {
    for setting in settings {
        match setting.slot.key == key {
            true => expand(&[setting], Params::default(), out),
            false => setting.alternatives.iter().for_each(|alternative| values(&alternative.inner, key, out)),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::case::Value;
    use crate::recipe;
    use crate::recipe::plan::{Overrides, Plan, Scale, resolve};

    fn plan(text: &str) -> Result<Plan, String> {
        let recipe = recipe::parse("a.yaml", text).map_err(|error| error.to_string())?;
        resolve(&recipe, &Overrides::default()).map_err(|error| error.to_string())
    }

    fn segments(values: &str, chart: &str) -> Result<Plan, String> {
        plan(&format!(
            "enumerate: {{elements: [1Ki, 4Ki], segments: {values}}}\nbackend: scalar\nchart: {{{chart}}}\n"
        ))
    }

    /// The labels of all cases on an axis, in the plan's order.
    fn labels(plan: &Plan, key: &str) -> Vec<String> {
        let axis = plan.experiments[0].axes.iter().find(|axis| axis.key == key).expect("an axis");
        let value = |case| axis.value(case).map(Value::to_string).unwrap_or_default();
        let mut labels: Vec<String> = plan.cases.iter().map(value).collect();
        labels.dedup();
        labels
    }

    #[test]
    fn maps_that_differ_in_one_number_are_an_axis_of_that_number() {
        let plan = segments("[{random: 16}, {random: 256}, {random: 4096}]", "x: segments, lines: elements")
            .expect("a plan");
        let experiment = &plan.experiments[0];
        let named: Vec<&str> = experiment.axes.iter().map(|axis| axis.name.as_str()).collect();
        assert_eq!(named, ["elements", "random"]);
        assert_eq!(
            (experiment.chart.x.as_str(), experiment.axes[1].scale),
            (experiment.axes[1].key.as_str(), Scale::Log)
        );
        let lines =
            segments("[{random: 16}, {random: 256}]", "x: elements, lines: segments").expect("a plan");
        assert_eq!(lines.experiments[0].label(&lines.cases[0]), "elements 1Ki · random 16");
    }

    #[test]
    fn maps_that_differ_in_more_are_one_axis_of_names_and_the_same_cases() {
        let values = "[none, {random: 16}, {random: 256}]";
        let whole = segments(values, "x: segments, lines: elements").expect("a plan");
        let axes: Vec<&str> = whole.experiments[0].axes.iter().map(|axis| axis.key.as_str()).collect();
        assert_eq!(axes, ["elements", "segments"]);
        assert_eq!(labels(&whole, "segments")[..3], ["none", "random 16", "random 256"]);
        let apart = segments(values, "x: random, lines: [segments, elements]").expect("a plan");
        assert_eq!(apart.cases, whole.cases);
        assert!(
            apart.experiments[0].axes.iter().all(|axis| axis.maps.is_empty()),
            "as the recipe has assigned them"
        );
        let text = serde_json::to_string(&whole).expect("written");
        assert_eq!(serde_json::from_str::<Plan>(&text).expect("read"), whole);
    }

    #[test]
    fn values_have_the_shortest_names_that_distinguish_them() {
        let matrices = |values: &str| {
            let plan = plan(&format!(
                "spmv: {{matrix: {values}}}\nbackend: scalar\nchart: {{x: matrix, y: flops}}\n"
            ));
            labels(&plan.expect("a plan"), "matrix")
        };
        assert_eq!(
            matrices(
                "[{laplace5: 16}, {laplace5: 32}, {random: {rows: 64, entries: 4}}, {random: {rows: 64, entries: 8}}, \
                 {rmat: {scale: 6, entries: 4}}]"
            ),
            ["laplace5 16", "laplace5 32", "random entries 4", "random entries 8", "rmat"]
        );
        assert_eq!(
            matrices(
                "[{random: {rows: 64, entries: 4}}, {random: {rows: 64, entries: 8}}, {random: {rows: 32, entries: 4}}]"
            ),
            ["rows 64 entries 4", "rows 64 entries 8", "rows 32 entries 4"],
            "no word that all have"
        );
    }

    #[test]
    fn a_baseline_is_one_value() {
        let refused = segments(
            "[none, {random: 16}, {random: 256}]",
            "x: elements, lines: segments, relative-to: {segments: random}",
        );
        assert!(refused.expect_err("two values").contains("several values of `segments` are `random`"));
        assert!(
            segments(
                "[none, {random: 16}, {random: 256}]",
                "x: elements, lines: segments, relative-to: {segments: none}"
            )
            .is_ok()
        );
    }
}
