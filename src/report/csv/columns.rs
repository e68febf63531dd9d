//! The columns of `results.csv`: the fixed ones, those of the plan's parameters, and those that depend on the cases.

use std::collections::{BTreeMap, BTreeSet};

use super::Row;
use super::fixed::{Fixed, HEAD, TAIL};
use crate::case::schema::{Kind, Param};
use crate::case::{BACKENDS, Cache, Transfer};
use crate::primitives;
use crate::recipe::plan::{Plan, Quantity};
use crate::report::Origin;
use crate::report::cell::Cell;
use crate::report::choices::choices;
use crate::report::copies::Copies;
use crate::report::series::models;
use crate::report::speed_of_light::SpeedsOfLight;
use crate::report::table::{self, NO_UNIT};
use crate::run::Record;
use crate::run::verdict::of_results;

type Column<'a> = table::Column<'a, Row<'a>>;

/// All columns of a plan's results, in order.
pub fn columns<'a>(origin: &'a Origin<'a>, records: &'a [Record], copies: &'a Copies) -> Vec<Column<'a>> {
    let plan = origin.plan;
    let mut columns: Vec<Column> = HEAD.iter().map(fixed).collect();
    for (key, name) in parameters(plan, records) {
        columns
            .push(Column::new(name, NO_UNIT, move |row| row.record.case.params.get(&key).and_then(Cell::of)));
    }
    for (key, name) in resolved(plan, records) {
        columns.push(Column::new(format!("resolved.{name}"), NO_UNIT, move |row| {
            let mut resolved = row.record.rounds.iter().rev().flat_map(|round| &round.resolved);
            resolved.find(|(k, _)| *k == key).and_then(|(_, value)| Cell::of(value))
        }));
    }
    columns.extend(chosen(records));
    for name in annotations(records) {
        let taken = columns.iter().any(|c| c.name == name) || is_fixed(name);
        let column = if taken { format!("annotation.{name}") } else { name.to_owned() };
        columns.push(Column::new(column, NO_UNIT, move |row| {
            row.record.annotations.iter().find(|(n, _)| *n == name).and_then(|(_, value)| Cell::of(value))
        }));
    }
    columns.extend(TAIL.iter().map(fixed));
    let sentence = of_results(plan, records);
    columns.extend(sentence.map(|text| Column::new("verdict", NO_UNIT, move |_: &Row| Some(text.clone()))));
    columns.extend(shown(plan, records).into_iter().flat_map(predicted));
    columns.extend(optional(plan, records, copies));
    columns
}

pub fn fixed<'a>(&(name, unit, cell): &Fixed) -> Column<'a> {
    Column::new(name, unit, cell)
}

/// Columns that a table has only where a case has a value in them.
fn optional<'a>(plan: &Plan, records: &[Record], copies: &'a Copies) -> Vec<Column<'a>> {
    let any = |has: &dyn Fn(&Record) -> bool| records.iter().any(has);
    let mut columns = Vec::new();
    if any(&|record| record.repeats.is_some()) {
        columns.push(Column::new("repeats", NO_UNIT, |row| row.record.repeats.as_deref().map(Cell::text)));
    }
    if any(&|record| record.quantity(Quantity::Flops).is_some()) {
        let gflops = |row: &Row| Some(row.record.quantity(Quantity::Flops)? / 1e9);
        columns.push(Column::new("gflops", "GFLOPS", gflops));
    }
    let transfer =
        |name, unit, of: fn(&Transfer) -> f64| Column::new(name, unit, move |row| row.record.transfer(of));
    if any(&|record| record.rounds.iter().any(|round| round.transfer.is_some())) {
        columns.extend([
            transfer("transfer_in_bytes", "B", |transfer| transfer.in_bytes as f64),
            transfer("transfer_out_bytes", "B", |transfer| transfer.out_bytes as f64),
            transfer("transfer_in_s", "s", |transfer| transfer.in_seconds),
            transfer("transfer_out_s", "s", |transfer| transfer.out_seconds),
        ]);
    }
    if any(&|record| record.generating().is_some()) {
        columns.push(Column::new("generate_s", "s", |row: &Row| row.record.generating()));
    }
    if any(&|record| !record.superseded.is_empty()) {
        let set_aside = |row: &Row| row.record.superseded.len();
        columns.push(Column::new("rounds_set_aside", NO_UNIT, set_aside));
    }
    let speeds = SpeedsOfLight::new(plan, copies);
    let roof = |name, unit, value: fn(&SpeedsOfLight<'a>, &Record) -> Option<f64>| {
        let speeds = speeds.clone();
        Column::new(name, unit, move |row| value(&speeds, row.record))
    };
    if any(&|record| speeds.seconds(record).is_some()) {
        columns.push(roof("speed_of_light_s", "s", SpeedsOfLight::seconds));
        columns.push(roof("speed_of_light_share", "ratio", SpeedsOfLight::share));
    }
    if any(&|record| speeds.ranking_seconds(record).is_some()) {
        columns.push(roof("ranking_s", "s", SpeedsOfLight::ranking_seconds));
        columns.push(roof("ranking_share", "ratio", SpeedsOfLight::ranking_share));
    }
    columns
}

/// The full keys of the cases' parameters, as recipes write them, and the names of their columns.
pub fn parameters(plan: &Plan, records: &[Record]) -> Vec<(String, String)> {
    // The column `cache` is fixed, because hot cases lack the parameter.
    let keys = records.iter().flat_map(|r| r.case.params.0.keys()).filter(|key| *key != Cache::KEY);
    parameter_names(plan, keys)
}

/// The same of the values that parameters had when the cases ran.
pub fn resolved(plan: &Plan, records: &[Record]) -> Vec<(String, String)> {
    let rounds = records.iter().flat_map(|r| &r.rounds);
    parameter_names(plan, rounds.flat_map(|round| round.resolved.iter().map(|(key, _)| key)))
}

/// The columns of a model. That of the limit also holds the reason why there is no prediction.
fn predicted<'a>(model: &'static str) -> [Column<'a>; 4] {
    let name = |name: &str| format!("{model}.{name}");
    let limit = move |row: &Row| match &row.record.forecast(model)?.outcome {
        Ok(prediction) => Some(prediction.limit.to_owned()),
        Err(why) => Some(format!("n/a: {why}")),
    };
    [
        Column::new(name("predicted_s"), "s", move |row| Some(row.record.prediction(model)?.seconds)),
        Column::new(name("limit"), NO_UNIT, limit),
        Column::new(name("accuracy"), "ratio", move |row| row.record.accuracy(model)),
        Column::new(name("profile"), NO_UNIT, move |row| row.record.forecast(model)?.profile.clone()),
    ]
}

/// The models that any chart of the plan shows, each once.
fn shown(plan: &Plan, records: &[Record]) -> Vec<&'static str> {
    let mut all = Vec::new();
    for (number, experiment) in plan.experiments.iter().enumerate() {
        let own = records.iter().filter(|record| record.case.experiment == number);
        let new = models(&experiment.chart, own).into_iter().filter(|model| !all.contains(model));
        all.extend(new.collect::<Vec<_>>());
    }
    all
}

/// Columns for cases whose method was chosen: the best alternative of the run, and the regret.
fn chosen<'a>(records: &[Record]) -> Vec<Column<'a>> {
    let (mut best, mut regret) = (BTreeMap::new(), BTreeMap::new());
    for choice in choices(records) {
        best.extend(choice.best.map(|(words, _)| (choice.case.clone(), words)));
        regret.extend(choice.regret.map(|regret| (choice.case, regret)));
    }
    match best.is_empty() {
        true => Vec::new(),
        false => vec![
            Column::new("best", NO_UNIT, move |row| best.get(&row.record.case.id).cloned()),
            Column::new("regret", "ratio", move |row| regret.get(&row.record.case.id).copied()),
        ],
    }
}

fn annotations(records: &[Record]) -> Vec<&'static str> {
    let mut names = Vec::new();
    for (name, _) in records.iter().flat_map(|r| &r.annotations) {
        if !names.contains(name) {
            names.push(*name);
        }
    }
    names
}

pub fn is_fixed(name: &str) -> bool {
    HEAD.iter().chain(TAIL).any(|(fixed, ..)| *fixed == name)
}

/// Full keys and column names. The name is the key's last word (for a variant's main parameter, the variant's
/// name), prefixed with as many words as make it unique.
fn parameter_names<'a>(plan: &Plan, keys: impl Iterator<Item = &'a String>) -> Vec<(String, String)> {
    let keys: BTreeSet<&String> = keys.collect();
    let words: Vec<(&String, Vec<&str>)> = keys.into_iter().map(|k| (k, spoken(plan, k))).collect();
    let unique = |name: &str, at: usize| {
        let same = |(i, (_, w)): (usize, &(_, Vec<&str>))| i != at && ends_with(w, name);
        !is_fixed(name) && !words.iter().enumerate().any(same)
    };
    let name = |at: usize, words: &[&str]| {
        let suffixes = (0..words.len()).rev().map(|from| words[from..].join("."));
        suffixes.into_iter().find(|name| unique(name, at)).unwrap_or_else(|| parameter(words))
    };
    words.iter().enumerate().map(|(at, (key, words))| ((*key).clone(), name(at, words))).collect()
}

/// The name of a key that no prefix makes unique, such as `source` next to `gather.source`, or a fixed column
/// of the same name.
fn parameter(words: &[&str]) -> String {
    let name = words.join(".");
    if is_fixed(&name) { format!("parameter.{name}") } else { name }
}

fn ends_with(words: &[&str], name: &str) -> bool {
    let joined = words.join(".");
    joined == name || joined.ends_with(&format!(".{name}"))
}

/// The words of a key's name; without the last word for a main parameter.
fn spoken<'a>(plan: &Plan, key: &'a str) -> Vec<&'a str> {
    let mut words: Vec<&str> = key.split('.').collect();
    if words.len() > 2 && is_main(plan, &words) {
        words.pop();
    }
    words
}

fn is_main(plan: &Plan, words: &[&str]) -> bool {
    let schemas = plan.experiments.iter().filter_map(|e| primitives::find(&e.primitive));
    let mut params = schemas.flat_map(|p| p.params()).chain([&BACKENDS]);
    params.any(|param| main_of(param, words))
}

/// Whether `words` is the path of the main parameter of one of this parameter's variants.
fn main_of(param: &Param, words: &[&str]) -> bool {
    let (Kind::Choice(variants) | Kind::Inline(variants)) = param.kind else {
        return false;
    };
    let [name, variant, rest @ ..] = words else {
        return false;
    };
    let Some(variant) = variants.iter().find(|v| param.name == *name && v.name == *variant) else {
        return false;
    };
    match rest {
        [last] => variant.main == Some(last),
        _ => variant.params.iter().any(|p| main_of(p, rest)),
    }
}
