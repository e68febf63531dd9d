//! Checks that the tables of parameters in the documentation match the declarations that the parser reads.

use std::fs;
use std::path::Path;

use scatterlab::case::BACKENDS;
use scatterlab::case::schema::{Kind, Param, ParamDefault, Variant};
use scatterlab::case::units::{label_bytes, label_count};
use scatterlab::primitives::registry;

const BEGIN: &str = "<!-- parameters: written by the test that compares them -->\n";
const END: &str = "<!-- end of parameters -->";

/// One table per primitive.
fn tables() -> String {
    let mut text = String::new();
    for primitive in registry() {
        text += &format!("\n### `{}`\n\n{}.\n\n", primitive.name(), capital(primitive.summary()));
        text += "| key | value | default | meaning |\n|---|---|---|---|\n";
        rows("", primitive.params(), &mut text);
    }
    text + "\n"
}

fn rows(place: &str, params: &[Param], text: &mut String) {
    for param in params {
        let key = format!("{place}{}", param.name);
        match param.kind {
            // These variants are listed right beside the other parameters.
            Kind::Inline(variants) => of_variants(place, variants, text),
            Kind::Choice(variants) => {
                row(&key, &names(variants), &default(param.default), param.doc, text);
                // The sources of a pattern have already been listed beside the other parameters.
                if !params.iter().any(|p| matches!(p.kind, Kind::Inline(v) if std::ptr::eq(v, variants))) {
                    of_variants(&format!("{key}."), variants, text);
                }
            }
            kind => row(&key, &accepted(kind), &default(param.default), param.doc, text),
        }
    }
}

fn of_variants(place: &str, variants: &[Variant], text: &mut String) {
    for variant in variants {
        let key = format!("{place}{}", variant.name);
        let bare = variant.main.map_or_else(
            || if variant.params.is_empty() { "alone".to_owned() } else { "a map".to_owned() },
            |main| format!("a map, or `{main}` alone"),
        );
        row(&key, &bare, "", variant.doc, text);
        rows(&format!("{key}."), variant.params, text);
    }
}

fn row(key: &str, value: &str, default: &str, meaning: &str, text: &mut String) {
    *text += &format!("| `{key}` | {value} | {default} | {} |\n", meaning.replace('|', "\\|"));
}

fn names(variants: &[Variant]) -> String {
    words(&variants.iter().map(|v| v.name).collect::<Vec<_>>())
}

/// All words, or the first and the last of many.
fn words(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.as_slice() {
        [first, .., last] if quoted.len() > 12 => format!("{first} … {last}, one of {}", quoted.len()),
        all => all.join(", "),
    }
}

fn default(default: ParamDefault) -> String {
    match default {
        ParamDefault::Required => "required".to_owned(),
        ParamDefault::RequiredUnless { key, variants } => {
            format!("required, unless `{key}` is {}", words(variants))
        }
        ParamDefault::Unset => "none".to_owned(),
        ParamDefault::Is(text) => format!("`{text}`"),
    }
}

fn accepted(kind: Kind) -> String {
    match kind {
        Kind::Count { min, max } => format!("a count{}", limits(min, max, label_count)),
        Kind::CountOr { min, max, words: known, list } => {
            let list =
                if list > 0 { format!(", or `{{list: […]}}` of up to {list}") } else { String::new() };
            format!("a count{}, or {}{list}", limits(min, max, label_count), words(known))
        }
        Kind::Bytes { min, max, accepted: &[] } => format!("a size{}", limits(min, max, label_bytes)),
        Kind::Bytes { accepted, .. } => {
            let sizes: Vec<String> = accepted.iter().map(|bytes| label_bytes(*bytes)).collect();
            words(&sizes.iter().map(String::as_str).collect::<Vec<_>>())
        }
        Kind::Float { min, max } => format!("a number, {min} to {max}"),
        Kind::Word(known) => words(known),
        Kind::Indices { max_length } => format!("a list of up to {max_length} indices"),
        Kind::Text => "a text".to_owned(),
        Kind::Choice(variants) | Kind::Inline(variants) => names(variants),
    }
}

/// The range; only its lower end if the upper limit is the program's own and very large.
fn limits(min: u64, max: u64, label: fn(u64) -> String) -> String {
    const FAR: u64 = 1 << 40;
    if max >= FAR { format!(" from {}", label(min)) } else { format!(", {} to {}", label(min), label(max)) }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// A column of the data dictionary: its key, type and unit, and its meaning for each primitive.
struct Column {
    key: String,
    cells: [String; 2],
    meanings: Vec<(String, Vec<&'static str>)>,
}

/// A row for each full key, the backends' first; primitives that share a description are grouped.
fn dictionary() -> String {
    let mut columns = Vec::new();
    collect("", "", &BACKENDS, None, &mut columns);
    for primitive in registry() {
        primitive.params().iter().for_each(|param| collect("", primitive.name(), param, None, &mut columns));
    }
    let meaning = |column: &Column| {
        let whose = |(words, whose): &(String, Vec<&str>)| match whose.join(", ") {
            none if none.is_empty() => words.clone(),
            names => format!("{names}: {words}"),
        };
        column.meanings.iter().map(whose).collect::<Vec<_>>().join("; ").replace('|', "\\|")
    };
    let row = |c: &Column| format!("| `{}` | {} | {} | {} |\n", c.key, c.cells[0], c.cells[1], meaning(c));
    "\n| key | type | unit | meaning |\n|---|---|---|---|\n".to_owned()
        + &columns.iter().map(row).collect::<String>()
        + "\n"
}

fn collect(place: &str, whose: &'static str, param: &Param, main: Option<&str>, columns: &mut Vec<Column>) {
    let key = format!("{place}{}", param.name);
    let accepts = match param.kind {
        Kind::Word(known) => format!(": {}", words(known)),
        Kind::Choice(variants) | Kind::Inline(variants) => format!(": {}", names(variants)),
        _ => String::new(),
    };
    let main = if main == Some(param.name) { "*main*; " } else { "" };
    let meaning = format!("{main}{}{accepts}", param.doc);
    let at = columns.iter().position(|column| column.key == key).unwrap_or_else(|| {
        let cells = [
            type_of(param.kind),
            if matches!(param.kind, Kind::Bytes { .. }) { "B" } else { "–" }.to_owned(),
        ];
        columns.push(Column { key: key.clone(), cells, meanings: Vec::new() });
        columns.len() - 1
    });
    let meanings = &mut columns[at].meanings;
    match meanings.iter_mut().find(|(words, _)| *words == meaning) {
        Some((_, all)) => all.push(whose),
        None => meanings.push((meaning, vec![whose])),
    }
    if let Kind::Choice(variants) | Kind::Inline(variants) = param.kind {
        for variant in variants {
            let place = format!("{key}.{}.", variant.name);
            variant.params.iter().for_each(|param| collect(&place, whose, param, variant.main, columns));
        }
    }
}

fn type_of(kind: Kind) -> String {
    match kind {
        Kind::Count { .. } | Kind::Bytes { .. } => "integer".to_owned(),
        Kind::CountOr { words: known, list, .. } => {
            let list = if list > 0 { ", or integers joined by commas" } else { "" };
            format!("integer, or {}{list}", words(known))
        }
        Kind::Float { .. } => "number".to_owned(),
        Kind::Indices { .. } => "integers joined by commas".to_owned(),
        Kind::Word(_) | Kind::Text | Kind::Choice(_) | Kind::Inline(_) => "text".to_owned(),
    }
}

/// Compares the tables in a document; `SCATTERLAB_WRITE_DOCS=1 cargo test --test lab parameters` rewrites them.
fn compare(file: &str, wanted: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let text = fs::read_to_string(&path).expect("the document");
    let (before, rest) = text.split_once(BEGIN).expect("the beginning of the tables");
    let (found, after) = rest.split_once(END).expect("the end of the tables");
    if std::env::var_os("SCATTERLAB_WRITE_DOCS").is_some() {
        return fs::write(&path, format!("{before}{BEGIN}{wanted}{END}{after}")).expect("written");
    }
    assert_eq!(found, wanted, "{file}: SCATTERLAB_WRITE_DOCS=1 cargo test --test lab parameters writes it");
}

#[test]
fn the_documented_parameters_are_those_of_the_registry() {
    compare("docs/recipes.md", &tables());
}

#[test]
fn parameters_in_the_data_dictionary_are_those_of_the_registry() {
    compare("docs/data-dictionary.md", &dictionary());
}
