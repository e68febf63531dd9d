//! The recipe language as a JSON Schema (draft 2020-12), from the same declarations that
//! the parser reads, so that editors complete and check recipes. Pure.
//!
//! The schema covers structure, words, units and most limits. It cannot express relations between values: the
//! number of cases of sweeps, whether the chart assigns every axis, and combinations that a primitive
//! rejects.

mod chart;
mod value;

use serde_json::{Value as Json, json};

use super::draft::{LANGUAGE, MAX_EXPERIMENTS, NAME};
use super::measure::{self, Form, MeasureKey};
use super::published::PAPERS;
use crate::case::measure::Order;
use crate::case::peers::{ALL, PEERS};
use crate::case::schema::{Kind, Param, ParamDefault};
use crate::case::units::{percent_pattern, seconds_pattern};
use crate::case::{BACKENDS, Cache, HostMemory};
use crate::primitives::{Primitive, registry};
use value::{Map, Sweep, described, literal, property};

/// The schema of recipes for all registered primitives.
pub fn json_schema() -> Json {
    let mut schemas = Schemas { definitions: serde_json::Map::new() };
    let mut properties = experiment_keys(registry(), &mut schemas);
    let experiment = experiment(registry(), properties.clone(), &mut schemas);
    properties.insert("version".into(), version());
    properties.insert("experiments".into(), experiments(experiment));
    let mut all_of = vec![inheritance()];
    all_of.extend(charts(registry(), &mut schemas));
    let mut alternatives = one_primitive(registry());
    alternatives.push(json!({ "required": ["experiments"] }));
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "scatterlab recipe",
        "description": "what to measure: a primitive, its parameters, which of them vary, the backends, and how to \
                        draw the result",
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
        "oneOf": alternatives,
        "allOf": all_of,
        "$defs": schemas.definitions,
    })
}

/// Shared definitions.
struct Schemas {
    definitions: serde_json::Map<String, Json>,
}

impl Schemas {
    /// A reference to this schema; an equal definition is reused.
    fn shared(&mut self, name: &str, schema: Json) -> Json {
        let same = self.definitions.iter().find(|(_, known)| **known == schema).map(|(name, _)| name.clone());
        let name = same.unwrap_or_else(|| {
            let numbered = (2..).map(|number| format!("{name}.{number}"));
            let mut names = std::iter::once(name.to_owned()).chain(numbered);
            let free = names.find(|name| !self.definitions.contains_key(name)).unwrap_or_default();
            self.definitions.insert(free.clone(), schema);
            free
        });
        json!({ "$ref": format!("#/$defs/{name}") })
    }
}

/// The keys of an experiment, standalone or in a list.
fn experiment_keys(
    primitives: &[&'static Primitive],
    schemas: &mut Schemas,
) -> serde_json::Map<String, Json> {
    let seed = Param {
        name: "seed",
        kind: Kind::Count { min: 0, max: u64::MAX },
        default: ParamDefault::Is("1"),
        doc: "a count that determines all inputs",
    };
    let mut keys = serde_json::Map::new();
    keys.insert(
        "title".into(),
        described(
            text(),
            "one line, in which {tuples x tuple} is replaced by what is measured; by default the file's name",
        ),
    );
    keys.insert("paper".into(), paper());
    keys.insert("seed".into(), property(&seed, Sweep::One, "seed", schemas));
    keys.insert("backend".into(), property(&BACKENDS, Sweep::Many, "backend", schemas));
    keys.insert("peers".into(), peers());
    // The names that a chart accepts depend on the primitive: `charts` specifies them, and editors should
    // offer only that schema.
    keys.insert("chart".into(), json!({ "type": "object", "doNotSuggest": true }));
    keys.insert("measure".into(), sampling(schemas));
    for primitive in primitives {
        keys.insert(
            primitive.name().into(),
            described(of_primitive(primitive, schemas), primitive.summary()),
        );
    }
    keys
}

/// An item of `experiments`. Missing keys are inherited.
fn experiment(
    primitives: &[&'static Primitive],
    keys: serde_json::Map<String, Json>,
    schemas: &mut Schemas,
) -> Json {
    let all_of = charts(primitives, schemas);
    let schema = json!({
        "type": "object",
        "properties": keys,
        "additionalProperties": false,
        "oneOf": one_primitive(primitives),
        "allOf": all_of,
    });
    schemas.shared("experiment", schema)
}

fn experiments(item: Json) -> Json {
    json!({
        "type": "array",
        "items": item,
        "minItems": 1,
        "maxItems": MAX_EXPERIMENTS,
        "description": "several experiments; each inherits the outer keys that it does not have, and those of paper \
                        and measure one by one",
    })
}

fn version() -> Json {
    let doc = "the version of the recipe language for which this is written; a version newer than the program's is \
               refused";
    json!({ "type": "integer", "minimum": 1, "maximum": LANGUAGE, "default": LANGUAGE, "description": doc })
}

fn one_primitive(primitives: &[&'static Primitive]) -> Vec<Json> {
    primitives.iter().map(|primitive| json!({ "required": [primitive.name()] })).collect()
}

/// For each primitive, a chart with the names of its parameters; with the names of all parameters if there is
/// no primitive.
fn charts(primitives: &[&'static Primitive], schemas: &mut Schemas) -> Vec<Json> {
    let mut charts: Vec<Json> = Vec::new();
    for primitive in primitives {
        let chart = chart::chart(primitive.name(), &[*primitive], schemas);
        charts.push(json!({
            "if": { "required": [primitive.name()] }, "then": { "properties": { "chart": chart } },
        }));
    }
    let any = chart::chart("any", primitives, schemas);
    charts.push(json!({
        "if": { "anyOf": one_primitive(primitives) }, "else": { "properties": { "chart": any } },
    }));
    charts
}

/// Required keys that experiments in a list may inherit from outside.
fn inheritance() -> Json {
    let items = |item: Json| json!({ "properties": { "experiments": { "items": item } } });
    let inherited =
        |key: &str| json!({ "anyOf": [{ "required": [key] }, items(json!({ "required": [key] }))] });
    let with_key = json!({ "properties": { "paper": { "required": ["key"], "doNotSuggest": true } } });
    let outside = json!({ "required": ["paper"], "allOf": [with_key] });
    let none_outside = json!({ "not": { "required": ["paper"] }, "allOf": [items(with_key.clone())] });
    let in_each = items(json!({ "required": ["paper"], "allOf": [with_key] }));
    json!({
        "if": { "required": ["experiments"] },
        "then": { "allOf": [
            inherited("backend"),
            inherited("chart"),
            { "anyOf": [outside, none_outside, in_each] },
        ] },
        "else": { "required": ["backend", "chart"], "allOf": [with_key] },
    })
}

/// One line without control characters, or a number.
fn text() -> Json {
    const CONTROL: &str = "\\x00-\\x08\\x0E-\\x1F\\x7F-\\x84\\x86-\\x9F";
    let pattern = format!("^[^{CONTROL}]*[^{CONTROL}\\s][^{CONTROL}]*$");
    json!({
        "type": ["string", "number"],
        "pattern": pattern,
        "patternErrorMessage": "Expected a text without control characters",
    })
}

fn paper() -> Json {
    json!({
        "type": "object",
        "description": "the paper whose figure or table is replayed",
        "properties": {
            "key": {
                "type": "string",
                "pattern": NAME,
                "patternErrorMessage": "Expected the name of a paper's folder",
                "examples": PAPERS,
                "description": "which paper: one that ships with the program, or that of the recipe's folder",
            },
            "figure": described(text(), "number or letter of its figure"),
            "table": described(text(), "number of its table"),
            "claim": described(text(), "what the paper claims about it, in a few words"),
        },
        "additionalProperties": false,
    })
}

/// The names that ship with the program, and those of the recipe's folder.
fn peers() -> Json {
    let name = json!({ "type": "string", "pattern": NAME, "examples": ALL.iter().map(|peer| peer.name).collect::<Vec<_>>() });
    let list = json!({ "type": "array", "items": name, "minItems": 1, "uniqueItems": true });
    described(json!({ "anyOf": [name, list, { "type": "null" }] }), PEERS.doc)
}

/// Schema of `measure:`.
fn sampling(schemas: &mut Schemas) -> Json {
    let keys = measure::KEYS.iter().map(|key| (key.name.to_owned(), measure_key(key, schemas)));
    let keys: serde_json::Map<String, Json> = keys.collect();
    let doc = "how cases are sampled: rounds until the medians agree well enough";
    json!({ "type": "object", "properties": keys, "additionalProperties": false, "description": doc })
}

fn measure_key(key: &MeasureKey, schemas: &mut Schemas) -> Json {
    let words = |names: &[&str]| json!({ "enum": names });
    let quantity = |pattern: String, expected: &str| {
        let message = format!("Expected {expected}");
        json!({
            "type": "string", "pattern": format!("^({pattern})$"),
            "patternErrorMessage": message, "errorMessage": message,
        })
    };
    let schema = match key.form {
        Form::Count(kind) => {
            let (name, default, doc) = (key.name, ParamDefault::Is(key.default), key.doc);
            return property(&Param { name, kind, default, doc }, Sweep::One, name, schemas);
        }
        Form::Width => {
            quantity(format!("{}|{}", measure::NONE, percent_pattern()), "a share such as 3%, or none")
        }
        Form::Time => quantity(seconds_pattern(), "a time such as 10s or 500ms"),
        Form::TimeOrNone => {
            quantity(format!("{}|{}", measure::NONE, seconds_pattern()), "a time such as 2min, or none")
        }
        Form::TimeOrAuto => {
            quantity(format!("{}|{}", measure::AUTO, seconds_pattern()), "a time such as 600s, or auto")
        }
        Form::Order => words(&Order::NAMES.map(|(name, _)| name)),
        Form::Cache => words(&Cache::NAMES.map(|(name, _)| name)),
        Form::Transfer => words(&HostMemory::NAMES.map(|(name, _)| name)),
        Form::Either(names) => words(&names.map(|(name, _)| name)),
    };
    let mut schema = described(schema, key.doc);
    schema["default"] = literal(key.default);
    schema
}

/// Restricts a choice to some variants, each of which has required parameters.
fn only_variants(choice: &str, variants: &[&str]) -> Json {
    let ways: Vec<Json> = variants.iter().map(|v| json!({ "required": [v] })).collect();
    let one = json!({ "type": "object", "anyOf": ways });
    let all = json!({ "anyOf": [one, { "type": "array", "items": one }] });
    json!({ "required": [choice], "properties": { choice: all } })
}

/// Parameters of a primitive, and `cases`, whose items may hold the required ones.
fn of_primitive(primitive: &'static Primitive, schemas: &mut Schemas) -> Json {
    let name = primitive.name();
    let mut item = Map::of(primitive.params(), Sweep::One, &format!("{name}.cases"), schemas).partial();
    item["minProperties"] = json!(1);
    let mut map = Map::of(primitive.params(), Sweep::Many, name, schemas);
    map.properties.insert(
        "cases".into(),
        json!({
            "type": "array",
            "items": schemas.shared(&format!("{name}.cases"), item),
            "minItems": 1,
            "maxItems": super::MAX_CASES,
            "description": "a list of combinations, instead of all combinations: every item sets the same parameters",
        }),
    );
    let in_items = |holds: &Json| json!({ "properties": { "cases": { "items": holds } } });
    for (key, choice, variants) in std::mem::take(&mut map.unless) {
        let ways = [json!({ "required": [key] }), only_variants(choice, variants)];
        let with_cases = ways.iter().map(|way| json!({ "required": ["cases"], "allOf": [in_items(way)] }));
        let all: Vec<Json> = ways.iter().cloned().chain(with_cases).collect();
        map.all_of.push(json!({ "anyOf": all }));
    }
    let required = std::mem::take(&mut map.required);
    let given = required.iter().map(|key| {
        let holds = json!({ "required": [key] });
        json!({ "anyOf": [holds, in_items(&holds)] })
    });
    let given: Vec<Json> = given.collect();
    if !given.is_empty() {
        map.all_of.push(json!({
            "if": { "required": ["cases"] }, "then": { "allOf": given }, "else": { "required": required },
        }));
    }
    schemas.shared(name, map.partial())
}
