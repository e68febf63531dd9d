//! The files of a run's folder as JSON Schemas (draft 2020-12), from the types that read them. Pure.
//!
//! They accept what this version reads without a migration: folders of [`OLDEST`] to [`SCHEMA`]. Keys that they do not name
//! are accepted, too.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value as Json, json};

use super::layout::{EVENTS, Line, MANIFEST, Manifest, SCHEMA};

/// The oldest schema of a folder whose manifest needs no migration.
pub const OLDEST: u32 = 2;

/// The schema of a line of `events.ndjson`.
pub fn events() -> Json {
    let mut schema = of::<Line>("events", &format!("A line of {EVENTS}"));
    let chain = json!({
        "type": "string",
        "pattern": "^[0-9a-f]{16}$",
        "description": "A checksum of the line before this member, and one of the line with those before it; it is the \
                        last member. Missing in folders from before there were checksums.",
    });
    schema["properties"]["chain"] = chain;
    schema
}

/// The schema of `manifest.json`.
pub fn manifest() -> Json {
    let mut schema = of::<Manifest>("manifest", MANIFEST);
    schema["properties"]["schema"] = json!({
        "type": "integer",
        "minimum": OLDEST,
        "maximum": SCHEMA,
        "description": "Version of the folder. The program migrates version 1, whose `measure` has only a fixed number of \
                        rounds; this schema refuses it.",
    });
    schema
}

/// The first members of a schema.
pub fn head(name: &str, title: &str) -> Map<String, Json> {
    let mut head = Map::new();
    head.insert("$schema".into(), "https://json-schema.org/draft/2020-12/schema".into());
    head.insert("$id".into(), format!("urn:scatterlab:run:{SCHEMA}:{name}").into());
    head.insert("title".into(), format!("{title} of a scatterlab run folder, version {SCHEMA}").into());
    head
}

fn of<T: JsonSchema>(name: &str, title: &str) -> Json {
    let mut own = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>().to_value();
    simplify(&mut own);
    let mut schema = head(name, title);
    if let Json::Object(own) = own {
        own.into_iter().for_each(|(key, value)| _ = schema.entry(key).or_insert(value));
    }
    Json::Object(schema)
}

/// Leaves out what JSON Schema does not know (formats of numbers), and makes plain words of what comments link to.
fn simplify(schema: &mut Json) {
    match schema {
        Json::Object(members) => {
            members.retain(|key, value| key != "format" || !value.is_string());
            if let Some(Json::String(text)) = members.get_mut("description") {
                *text = unlinked(&text.replace('\n', " "));
            }
            members.values_mut().for_each(simplify);
        }
        Json::Array(all) => all.iter_mut().for_each(simplify),
        _ => {}
    }
}

/// The text with the words of its links alone: `` [`Work`](crate::case::Work) `` becomes `` `Work` ``.
fn unlinked(text: &str) -> String {
    let Some((before, link)) = text.split_once("[`") else { return text.to_owned() };
    let Some((words, rest)) = link.split_once("`]") else { return text.to_owned() };
    let rest = match rest.strip_prefix('(').and_then(|target| target.split_once(')')) {
        Some((_, after)) => after,
        None => rest,
    };
    format!("{before}`{words}`{}", unlinked(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_of_comments_become_words() {
        let text = "see [`a()`](fn@crate::a) and [`b`], not [[x, y], …]";
        assert_eq!(unlinked(text), "see `a()` and `b`, not [[x, y], …]");
    }

    #[test]
    fn comments_and_required_keys_are_in_the_schema() {
        let schema = events().to_string();
        assert!(schema.contains("Seconds per execution (a batch's time divided by its size)."), "{schema}");
        assert!(!schema.contains("crate::"), "{schema}");
        let required = manifest()["required"].to_string();
        assert_eq!(
            required,
            r#"["schema","version","revision","started","command_line","environment","devices","plan"]"#
        );
    }
}
