//! Schema of one parameter.

use serde_json::{Value as Json, json};

use super::Schemas;
use crate::case::schema::{Kind, Param, ParamDefault, Variant};
use crate::case::units::{bytes_pattern, count_pattern, label_bytes, label_count, spellings};
use crate::recipe::range;

/// Whether a value may be swept by lists and ranges (`Many`), or is fixed in an item of `cases` (`One`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sweep {
    Many,
    One,
}

/// Parts of the schema of a map of parameters.
pub(super) struct Map {
    pub properties: serde_json::Map<String, Json>,
    /// Keys without a default, apart from inline choices.
    pub required: Vec<&'static str>,
    /// Keys that are required unless a sibling choice takes one of these variants.
    pub unless: Vec<(&'static str, &'static str, &'static [&'static str])>,
    /// Further conditions.
    pub all_of: Vec<Json>,
}

impl Map {
    /// Schemas of the parameters by key, with the variants of inline choices. `owner` is their prefix in the
    /// definitions.
    pub fn of(params: &[Param], sweep: Sweep, owner: &str, schemas: &mut Schemas) -> Map {
        let (required, unless, all_of) = (Vec::new(), Vec::new(), Vec::new());
        let mut map = Map { properties: serde_json::Map::new(), required, unless, all_of };
        for param in params {
            let name = format!("{owner}.{}", param.name);
            if let Kind::Inline(variants) = param.kind {
                map.add_inline(param, variants, sweep, &name, schemas);
                continue;
            }
            map.properties.insert(param.name.to_owned(), property(param, sweep, &name, schemas));
            match param.default {
                ParamDefault::Required => map.required.push(param.name),
                ParamDefault::RequiredUnless { key, variants } => {
                    map.unless.push((param.name, key, variants))
                }
                ParamDefault::Is(_) | ParamDefault::Unset => {}
            }
        }
        map
    }

    fn add_inline(
        &mut self,
        param: &Param,
        variants: &[Variant],
        sweep: Sweep,
        owner: &str,
        schemas: &mut Schemas,
    ) {
        for variant in variants {
            let body = variant_body(variant, sweep, owner, schemas);
            self.properties.insert(variant.name.to_owned(), described(body, variant.doc));
        }
        let mut one: Vec<Json> = variants.iter().map(|v| json!({ "required": [v.name] })).collect();
        if !matches!(param.default, ParamDefault::Required) {
            one.push(json!({ "not": { "anyOf": one } }));
        }
        self.all_of.push(json!({ "oneOf": one }));
    }

    /// Schema of a map that must hold its required keys.
    pub fn complete(self) -> Json {
        let required = json!(self.required);
        let mut object = self.partial();
        object["required"] = required;
        object
    }

    /// Schema of a map that may lack its required keys.
    pub fn partial(self) -> Json {
        let mut object = json!({
            "type": "object", "properties": self.properties, "additionalProperties": false,
        });
        if !self.all_of.is_empty() {
            object["allOf"] = Json::Array(self.all_of);
        }
        object
    }
}

/// A parameter with its description and default.
pub(super) fn property(param: &Param, sweep: Sweep, name: &str, schemas: &mut Schemas) -> Json {
    let mut schema = described(value(param, sweep, name, schemas), param.doc);
    match param.default {
        ParamDefault::Is(text) => schema["default"] = literal(text),
        ParamDefault::Unset => return nullable(schema),
        ParamDefault::Required | ParamDefault::RequiredUnless { .. } => {}
    }
    schema
}

pub(super) fn described(mut schema: Json, doc: &str) -> Json {
    schema["description"] = json!(doc);
    schema
}

/// A default value, typed as YAML would read it.
pub(super) fn literal(text: &str) -> Json {
    text.parse::<u64>().map_or_else(|_| json!(text), |number| json!(number))
}

/// Also accepts `null`, which removes an optional parameter.
fn nullable(mut schema: Json) -> Json {
    let nothing = json!({ "type": "null" });
    if let Some(alternatives) = schema.get_mut("anyOf").and_then(Json::as_array_mut) {
        alternatives.push(nothing);
        return schema;
    }
    let doc = schema.as_object_mut().and_then(|map| map.remove("description"));
    described(json!({ "anyOf": [schema, nothing] }), doc.as_ref().and_then(Json::as_str).unwrap_or_default())
}

/// A single line without control characters that is not blank.
const LINE: &str = "^[^\\x00-\\x1F\\x7F-\\x9F]*[^\\x00-\\x1F\\x7F-\\x9F\\s][^\\x00-\\x1F\\x7F-\\x9F]*$";

/// Schema of a parameter's value; `name` is used in the definitions.
fn value(param: &Param, sweep: Sweep, name: &str, schemas: &mut Schemas) -> Json {
    // Editors show the description next to the words.
    let words = |words: &[&str]| described(json!({ "enum": words }), param.doc);
    let item = match &param.kind {
        Kind::Count { min, max } => counts(*min, *max, sweep, schemas),
        Kind::CountOr { min, max, words: known, list } => {
            let mut alternatives = vec![words(known), counts(*min, *max, sweep, schemas)];
            if *list > 0 {
                alternatives.push(listed(*list, counts(*min, *max, Sweep::One, schemas)));
            }
            any_of(alternatives)
        }
        Kind::Bytes { min, max, accepted } => bytes(*min, *max, accepted, sweep, schemas),
        Kind::Float { min, max } => any_of(float(*min, *max, sweep)),
        Kind::Word(known) => schemas.shared(name, words(known)),
        Kind::Choice(variants) | Kind::Inline(variants) => {
            let item = choice(variants, sweep, name, schemas);
            schemas.shared(name, item)
        }
        Kind::Indices { max_length } => return indices(*max_length, sweep, schemas),
        Kind::Text => json!({ "type": ["string", "number"], "pattern": LINE }),
    };
    swept(item, sweep)
}

/// `{list: [8, 8, 16]}`, or `{list: 8}`.
fn listed(longest: usize, count: Json) -> Json {
    let list = json!({ "type": "array", "items": count, "minItems": 1, "maxItems": longest });
    json!({
        "type": "object", "properties": { "list": any_of(vec![list, count]) },
        "additionalProperties": false, "required": ["list"],
    })
}

/// The item or, if it may be swept, also a list of items.
fn swept(item: Json, sweep: Sweep) -> Json {
    if sweep == Sweep::One {
        return item;
    }
    let list = json!({
        "type": "array", "items": item, "minItems": 1, "maxItems": crate::recipe::MAX_CASES,
    });
    // Flat alternatives read better in an editor than nested ones.
    let mut alternatives = match item.get("anyOf").and_then(Json::as_array) {
        Some(several) => several.clone(),
        None => vec![item],
    };
    alternatives.push(list);
    any_of(alternatives)
}

fn any_of(mut alternatives: Vec<Json>) -> Json {
    match alternatives.len() {
        1 => alternatives.remove(0),
        _ => json!({ "anyOf": alternatives }),
    }
}

/// An integer, or a text that has a suffix or is a range.
fn counts(min: u64, max: u64, sweep: Sweep, schemas: &mut Schemas) -> Json {
    let one = count_pattern(min, max);
    let positive = count_pattern(1, max);
    // An end or a step beyond the limit is accepted if the range has no value there.
    let (last, step) = (count_pattern(min, u64::MAX), count_pattern(1, u64::MAX));
    let schema = json!({
        "type": ["integer", "string"],
        "minimum": min,
        "maximum": max,
        "pattern": text_pattern(&one, range::pattern(&one, &positive, &last, &step), sweep),
        "patternErrorMessage": format!("Expected a count such as 4096 or 16Mi{}", or_range(sweep, "1..64 x2")),
    });
    schemas.shared(&format!("count.{}{}", limits(min, max, label_count), suffix(sweep)), schema)
}

/// A size always has a unit, so a plain number is rejected.
fn bytes(min: u64, max: u64, accepted: &[u64], sweep: Sweep, schemas: &mut Schemas) -> Json {
    let (one, unit) = (bytes_pattern(min, max), bytes_pattern(1, u64::MAX));
    let last = bytes_pattern(min, u64::MAX);
    let range = range::pattern(&one, &unit, &last, &unit);
    let sizes: Vec<String> = accepted.iter().flat_map(|bytes| spellings(*bytes)).collect();
    let text = |pattern: String| {
        let message = format!("Expected a size such as 8B or 128MiB{}", or_range(sweep, "8B..32B x2"));
        json!({ "type": "string", "pattern": pattern, "patternErrorMessage": message })
    };
    if sizes.is_empty() {
        let name = format!("size.{}{}", limits(min, max, label_bytes), suffix(sweep));
        return schemas.shared(&name, text(text_pattern(&one, range, sweep)));
    }
    let known = json!({ "enum": sizes });
    match sweep {
        Sweep::One => known,
        Sweep::Many => {
            let range = schemas.shared("size.range", text(format!("^{range}$")));
            any_of(vec![known, range])
        }
    }
}

/// `1-4Ki`, or `1` if there is no maximum.
fn limits(min: u64, max: u64, label: fn(u64) -> String) -> String {
    if max == u64::MAX { label(min) } else { format!("{}-{}", label(min), label(max)) }
}

fn suffix(sweep: Sweep) -> &'static str {
    if sweep == Sweep::Many { "" } else { ".fixed" }
}

fn float(min: f64, max: f64, sweep: Sweep) -> Vec<Json> {
    const DECIMAL: &str = "-?([0-9]+\\.?[0-9]*|\\.[0-9]+)";
    let mut alternatives = vec![json!({ "type": "number", "minimum": min, "maximum": max })];
    if sweep == Sweep::Many {
        alternatives.push(json!({
            "type": "string",
            "pattern": format!("^{}$", range::pattern_of_decimals(DECIMAL)),
            "patternErrorMessage": "Expected a range such as 0.5..1.5 +0.25",
        }));
    }
    alternatives
}

fn text_pattern(one: &str, range: String, sweep: Sweep) -> String {
    match sweep {
        Sweep::Many => format!("^({one}|{range})$"),
        Sweep::One => format!("^{one}$"),
    }
}

fn or_range(sweep: Sweep, example: &str) -> String {
    if sweep == Sweep::Many { format!(", or a range such as {example}") } else { String::new() }
}

/// `[0, 8]`, `8` and, if swept, `[[0], [8]]`.
fn indices(max_length: usize, sweep: Sweep, schemas: &mut Schemas) -> Json {
    let index = counts(0, u64::MAX, Sweep::One, schemas);
    let list = json!({ "type": "array", "items": index, "minItems": 1, "maxItems": max_length });
    let lists = json!({ "type": "array", "items": list, "minItems": 1 });
    match sweep {
        Sweep::One => json!({ "anyOf": [list, index] }),
        Sweep::Many => json!({ "anyOf": [list, index, lists] }),
    }
}

/// The word of a variant without required parameters, or a map of one variant.
fn choice(variants: &[Variant], sweep: Sweep, owner: &str, schemas: &mut Schemas) -> Json {
    let bare = variants.iter().filter(|variant| needs(variant).next().is_none());
    let mut alternatives: Vec<Json> =
        bare.map(|variant| described(json!({ "const": variant.name }), variant.doc)).collect();
    let mut properties = serde_json::Map::new();
    for variant in variants {
        let body = variant_body(variant, sweep, owner, schemas);
        properties.insert(variant.name.to_owned(), described(body, variant.doc));
    }
    // Snippets that editors offer as values; an extension to JSON Schema.
    let snippets: Vec<Json> = variants.iter().filter_map(snippet).collect();
    alternatives.push(json!({
        "type": "object", "properties": properties, "additionalProperties": false,
        "minProperties": 1, "maxProperties": 1, "defaultSnippets": snippets,
    }));
    any_of(alternatives)
}

/// The snippet that an editor inserts for a variant with required parameters: `{partitions: 1}`, with the
/// cursor at the number.
fn snippet(variant: &Variant) -> Option<Json> {
    let mut stop = 0;
    let mut fields = Vec::new();
    for param in needs(variant) {
        stop += 1;
        let value = format!("${{{stop}:{}}}", example(&param.kind));
        let main = Some(param.name) == variant.main;
        fields.push(if main { value } else { format!("{}: {value}", param.name) });
    }
    let body = match (fields.len(), variant.main) {
        (0, _) => return None,
        (1, Some(_)) => fields.remove(0),
        _ => format!("{{{}}}", fields.join(", ")),
    };
    let label = format!("{{{}: …}}", variant.name);
    let text = format!("{{{}: {body}}}", variant.name);
    Some(json!({ "label": label, "bodyText": text, "description": variant.doc }))
}

/// An example of an accepted value.
fn example(kind: &Kind) -> String {
    match kind {
        Kind::Count { min, .. } | Kind::CountOr { min, .. } => label_count(*min),
        Kind::Bytes { min, accepted, .. } => label_bytes(*accepted.first().unwrap_or(min)),
        Kind::Float { min, max } => min.max(1.0).min(*max).to_string(),
        Kind::Word(words) => words.first().copied().unwrap_or_default().to_owned(),
        Kind::Choice(variants) | Kind::Inline(variants) => variants.first().map_or("", |v| v.name).to_owned(),
        Kind::Indices { .. } => "[0, 8]".to_owned(),
        Kind::Text => "name".to_owned(),
    }
}

/// The required parameters of a variant.
fn needs(variant: &Variant) -> impl Iterator<Item = &'static Param> {
    variant.params.iter().filter(|param| matches!(param.default, ParamDefault::Required))
}

/// The map of a variant, the value of its main parameter, or null if the variant has no required parameters.
fn variant_body(variant: &Variant, sweep: Sweep, owner: &str, schemas: &mut Schemas) -> Json {
    let name = format!("{owner}.{}", variant.name);
    let mut alternatives = Vec::new();
    if let Some(main) = variant.params.iter().find(|param| Some(param.name) == variant.main) {
        alternatives.push(value(main, sweep, &format!("{name}.{}", main.name), schemas));
    }
    alternatives.push(Map::of(variant.params, sweep, &name, schemas).complete());
    if needs(variant).next().is_none() {
        alternatives.push(json!({ "type": "null" }));
    }
    any_of(alternatives)
}
