//! The columns of `results.csv`: the fixed ones and those of the plan's parameters.

use std::collections::{BTreeMap, BTreeSet};

use super::Row;
use super::fixed::{Fixed, HEAD, TAIL};
use crate::case::schema::{Kind, Param};
use crate::case::{BACKENDS, Cache, Transfer};
use crate::primitives;
use crate::recipe::plan::{Plan, Quantity};
use crate::report::cell::Cell;
use crate::report::choices::choices;
use crate::report::copies::Copies;
use crate::report::series::models;
use crate::report::speed_of_light::SpeedsOfLight;
use crate::run::Record;

/// One column.
pub struct Column {
    pub name: String,
    pub source: Source,
}

/// Source of a column's cells.
pub enum Source {
    Fixed(Fixed),
    /// The parameter with this full key, as written in the recipe.
    Parameter(String),
    /// The resolved value of the parameter when the case ran.
    Resolved(String),
    Annotation(&'static str),
    /// Cells by case identity.
    Known(BTreeMap<String, Cell>),
    /// A part of a model's forecast.
    Predicted(&'static str, Part),
}

/// A column of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Seconds,
    Limit,
    Accuracy,
    Profile,
}

impl Part {
    const ALL: [(Part, &'static str); 4] = [
        (Part::Seconds, "predicted_s"),
        (Part::Limit, "limit"),
        (Part::Accuracy, "accuracy"),
        (Part::Profile, "profile"),
    ];

    /// The limit's column also holds the reason why there is no prediction.
    fn cell(self, record: &Record, model: &str) -> Option<Cell> {
        let forecast = record.forecast(model)?;
        match (self, &forecast.outcome) {
            (Part::Seconds, Ok(prediction)) => Cell::number(prediction.seconds),
            (Part::Limit, Ok(prediction)) => Some(Cell::text(prediction.limit)),
            (Part::Limit, Err(why)) => Some(Cell::Text(format!("n/a: {why}"))),
            (Part::Accuracy, Ok(_)) => record.accuracy(model).and_then(Cell::number),
            (Part::Profile, _) => forecast.profile.as_deref().map(Cell::text),
            _ => None,
        }
    }
}

impl Source {
    /// The cell; `None` if the value does not exist.
    pub fn cell(&self, row: &Row) -> Option<Cell> {
        match self {
            Source::Fixed((_, cell)) => cell(row),
            Source::Parameter(key) => row.record.case.params.get(key).and_then(Cell::of),
            Source::Resolved(key) => {
                let resolved = row.record.rounds.iter().rev().flat_map(|r| &r.resolved);
                resolved.into_iter().find(|(k, _)| k == key).and_then(|(_, v)| Cell::of(v))
            }
            Source::Known(cells) => cells.get(&row.record.case.id).cloned(),
            Source::Annotation(name) => {
                row.record.annotations.iter().find(|(n, _)| n == name).and_then(|(_, v)| Cell::of(v))
            }
            Source::Predicted(model, part) => part.cell(row.record, model),
        }
    }
}

/// All columns of a plan's results, in order.
pub fn columns(plan: &Plan, records: &[Record]) -> Vec<Column> {
    let fixed = |f: &Fixed| Column { name: f.0.to_owned(), source: Source::Fixed(*f) };
    let mut columns: Vec<Column> = HEAD.iter().map(fixed).collect();
    // The column `cache` is fixed, because hot cases lack the parameter.
    let parameters = records.iter().flat_map(|r| r.case.params.0.keys()).filter(|key| *key != Cache::KEY);
    for (key, name) in parameter_names(plan, parameters) {
        columns.push(Column { name, source: Source::Parameter(key) });
    }
    let resolved = records.iter().flat_map(|r| &r.rounds).flat_map(|r| r.resolved.iter().map(|(k, _)| k));
    for (key, name) in parameter_names(plan, resolved) {
        columns.push(Column { name: format!("resolved.{name}"), source: Source::Resolved(key) });
    }
    columns.extend(chosen(records));
    for name in annotations(records) {
        let taken = columns.iter().any(|c| c.name == name) || is_fixed(name);
        let column = if taken { format!("annotation.{name}") } else { name.to_owned() };
        columns.push(Column { name: column, source: Source::Annotation(name) });
    }
    columns.extend(TAIL.iter().map(fixed));
    for model in shown(plan, records) {
        let column = |(part, name): (Part, &str)| Column {
            name: format!("{model}.{name}"),
            source: Source::Predicted(model, part),
        };
        columns.extend(Part::ALL.map(column));
    }
    columns
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
fn chosen(records: &[Record]) -> Vec<Column> {
    let (mut best, mut regret) = (BTreeMap::new(), BTreeMap::new());
    for choice in choices(records) {
        best.extend(choice.best.map(|(words, _)| (choice.case.clone(), Cell::Text(words))));
        regret.extend(choice.regret.and_then(Cell::number).map(|cell| (choice.case, cell)));
    }
    let column = |name: &str, cells| Column { name: name.to_owned(), source: Source::Known(cells) };
    match best.is_empty() {
        true => Vec::new(),
        false => vec![column("best", best), column("regret", regret)],
    }
}

/// Columns with the speed of light of each case, seconds, and the share of it that was reached, and the same of the
/// ranking roof; none of either if no case has it.
pub fn speeds_of_light(plan: &Plan, records: &[Record], copies: &Copies) -> Vec<Column> {
    let speeds = SpeedsOfLight::new(plan, copies);
    let column = |name: &str, value: &dyn Fn(&Record) -> Option<f64>| {
        let cell = |record: &Record| Some((record.case.id.clone(), Cell::number(value(record)?)?));
        Column { name: name.to_owned(), source: Source::Known(records.iter().filter_map(cell).collect()) }
    };
    let columns = [
        column("speed_of_light_s", &|record| speeds.seconds(record)),
        column("speed_of_light_share", &|record| speeds.share(record)),
    ];
    let ranking = [
        column("ranking_s", &|record| speeds.ranking_seconds(record)),
        column("ranking_share", &|record| speeds.ranking_share(record)),
    ];
    let any = |column: &Column| matches!(&column.source, Source::Known(cells) if !cells.is_empty());
    [columns, ranking].into_iter().filter(|of| of.iter().any(any)).flatten().collect()
}

/// Columns with the transfers of each case; none if none were measured.
pub fn transfers(records: &[Record]) -> Vec<Column> {
    let column = |name: &str, of: fn(&Transfer) -> f64| {
        let cell = |record: &Record| Some((record.case.id.clone(), Cell::number(record.transfer(of)?)?));
        Column { name: name.to_owned(), source: Source::Known(records.iter().filter_map(cell).collect()) }
    };
    if !records.iter().flat_map(|record| &record.rounds).any(|round| round.transfer.is_some()) {
        return Vec::new();
    }
    vec![
        column("transfer_in_bytes", |transfer| transfer.in_bytes as f64),
        column("transfer_out_bytes", |transfer| transfer.out_bytes as f64),
        column("transfer_in_s", |transfer| transfer.in_seconds),
        column("transfer_out_s", |transfer| transfer.out_seconds),
    ]
}

/// A column with the floating-point operations in a second; none if no case counts any.
pub fn gflops(records: &[Record]) -> Vec<Column> {
    let cell = |record: &Record| {
        Some((record.case.id.clone(), Cell::number(record.quantity(Quantity::Flops)? / 1e9)?))
    };
    let cells: BTreeMap<String, Cell> = records.iter().filter_map(cell).collect();
    let column = || Column { name: "gflops".to_owned(), source: Source::Known(cells.clone()) };
    Vec::from_iter((!cells.is_empty()).then(column))
}

/// A column with the number of rounds that were set aside; none if none were.
pub fn set_aside(records: &[Record]) -> Vec<Column> {
    let count = |record: &Record| (record.case.id.clone(), Cell::from(record.superseded.len()));
    let any = records.iter().any(|record| !record.superseded.is_empty());
    let cells = || Source::Known(records.iter().map(count).collect());
    Vec::from_iter(any.then(|| Column { name: "rounds_set_aside".to_owned(), source: cells() }))
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

fn is_fixed(name: &str) -> bool {
    HEAD.iter().chain(TAIL).any(|(fixed, _)| *fixed == name)
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
