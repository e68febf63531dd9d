//! The results that programs read as a JSON Schema (draft 2020-12): the columns of `docs/data-dictionary.md`, of which
//! every table has the fixed ones. Pure.

use serde_json::{Map, Value as Json, json};

use super::fixed::{HEAD, TAIL};
use crate::report::table::NO_UNIT;
use crate::run::json_schema::head;

const DICTIONARY: &str = include_str!("../../../docs/data-dictionary.md");

/// The placeholder for a model's name in the names of its columns.
const MODEL: &str = "MODEL.";

/// The schema of what `report FOLDER --format json` writes: `results.csv` as one array of objects.
pub fn results() -> Json {
    let (mut columns, mut of_models) = (Map::new(), Map::new());
    for [names, kind, unit, meaning] in rows() {
        let unit = if unit == NO_UNIT { String::new() } else { format!("; unit: {unit}") };
        let meaning = meaning.replace("\\|", "|") + &unit;
        let described = json!({ "type": types(kind), "description": meaning });
        for name in names.split(", ").map(|name| name.trim_matches('`')) {
            match name.strip_prefix(MODEL) {
                Some(column) => of_models.insert(format!(r"^[^.]+\.{column}$"), described.clone()),
                None => columns.insert(name.to_owned(), described.clone()),
            };
        }
    }
    let fixed: Vec<&str> = HEAD.iter().chain(TAIL).map(|(name, ..)| *name).collect();
    let mut schema = head("results", "The results");
    schema.insert("type".into(), "array".into());
    let row = json!({
        "type": "object",
        "properties": columns,
        "patternProperties": of_models,
        "additionalProperties": {
            "description": "a parameter, or a value that was resolved; null if the case has none",
            "type": types("number, or text"),
        },
        "required": fixed,
    });
    schema.insert("items".into(), row);
    Json::Object(schema)
}

/// Names, type, unit and meaning of each column of results.csv but those of parameters, which a table of keys lists.
fn rows() -> impl Iterator<Item = [&'static str; 4]> {
    let sections = DICTIONARY.split("\n## ").filter(|section| section.starts_with("results.csv"));
    let tables = sections.flat_map(|section| section.split("\n\n"));
    let tables = tables.filter(|table| table.starts_with("| column |"));
    tables.flat_map(|table| table.lines().skip(2)).filter_map(|row| {
        let row = row.trim().strip_prefix("| ")?.strip_suffix(" |")?;
        row.splitn(4, " | ").collect::<Vec<_>>().try_into().ok()
    })
}

/// The types of a cell, which is null where a value does not exist.
fn types(kind: &str) -> Json {
    let word = |word: &str| match word {
        "integer" | "number" => word.to_owned(),
        _ => "string".to_owned(),
    };
    kind.split(", or ").map(word).chain(["null".to_owned()]).collect()
}
