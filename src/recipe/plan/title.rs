//! Titles of experiments, computed from what is measured: `Passes over {tuples x tuple}`.

use super::catalog::{Catalog, Entry, last_word};
use super::{Case, Plan};
use crate::case::schema::Kind;
use crate::case::units::{fmt_size, label_count, parse_bytes};
use crate::case::{Value, distinct};
use crate::recipe::{Draft, Mistake, Name, Place};

/// Between the factors of a placeholder.
const TIMES: &str = " x ";
/// Before a placeholder of which the largest value alone is told.
const LARGEST: &str = "largest ";
/// More numbers than these are written as their limits.
const LISTED: usize = 3;
/// Longest value of the command line that a title repeats, characters.
const LONGEST: usize = 30;

/// The title with its placeholders filled in from these cases: `{tuples}` is a parameter's value, `{tuples x tuple}` a
/// product of parameters and sizes, `{largest tuples}` the largest value.
///
/// # Errors
/// A placeholder that names no parameter of the experiment.
pub(super) fn filled<'c>(
    title: &Name,
    catalog: &Catalog,
    cases: impl Iterator<Item = &'c Case> + Clone,
) -> Result<String, Mistake> {
    let mut filled = String::new();
    let (parts, rest) = parts(&title.text);
    for (before, written) in parts {
        let factors = factors(written).map(|word| Factor::read(word, catalog, title.place));
        let values = Values::of(&factors.collect::<Result<Vec<_>, _>>()?, cases.clone());
        filled += before;
        filled += &if written.starts_with(LARGEST) { values.largest() } else { values.words() };
    }
    Ok(filled + rest)
}

/// The placeholders of a title, each with the text before it, and the text behind the last one.
fn parts(text: &str) -> (Vec<(&str, &str)>, &str) {
    let (mut parts, mut rest) = (Vec::new(), text);
    while let Some((before, after)) = rest.split_once('{')
        && let Some((written, behind)) = after.split_once('}')
    {
        parts.push((before, written));
        rest = behind;
    }
    (parts, rest)
}

/// The parameters and sizes of which a placeholder names the product.
fn factors(written: &str) -> impl Iterator<Item = &str> {
    written.strip_prefix(LARGEST).unwrap_or(written).split(TIMES)
}

/// Whether the title has a placeholder.
pub(super) fn is_computed(draft: &Draft) -> bool {
    !parts(&draft.title.text).0.is_empty()
}

/// What the command line changed and no placeholder of the title names, in brackets: ` (tuples 1Mi)`.
pub(super) fn changes(draft: &Draft, catalog: &Catalog) -> String {
    let Name { text, place } = &draft.title;
    let factors = parts(text).0.into_iter().flat_map(|(_, written)| factors(written));
    let named: Vec<&str> = factors
        .filter_map(|word| Some(catalog.find(word, *place, "title").ok()?.slot.key.as_str()))
        .collect();
    let told = |key: &str| {
        let found = catalog.candidates(key);
        !found.is_empty() && found.iter().all(|entry| named.contains(&entry.slot.key.as_str()))
    };
    let changes = draft.changes.iter().filter(|(key, _)| !told(key));
    let words = changes.map(|(key, text)| {
        let text = without_folders(text);
        let short: String = text.chars().take(LONGEST).collect();
        let cut = if short.len() < text.len() { "…" } else { "" };
        format!("{} {short}{cut}", last_word(key))
    });
    let words: Vec<String> = words.collect();
    if words.is_empty() { String::new() } else { format!(" ({})", words.join(", ")) }
}

/// The text with only the names of files: a title goes where its machine does not.
fn without_folders(text: &str) -> String {
    let words = text.split_inclusive(['[', ']', '{', '}', ',', ' ']);
    words.map(|word| word.rsplit_once('/').map_or(word, |(_, name)| name)).collect()
}

/// Gives the experiments their titles, from the cases that the plan still has. `slugs` are those of the drafts.
pub(super) fn retitle(plan: &mut Plan, drafts: &[Draft], slugs: &[String]) -> Result<(), Mistake> {
    for at in 0..plan.experiments.len() {
        let draft = slugs.iter().position(|slug| *slug == plan.experiments[at].slug);
        let Some(draft) = draft.and_then(|draft| drafts.get(draft)) else { continue };
        let catalog = Catalog::of(&draft.settings, draft.primitive.name());
        let title = filled(&draft.title, &catalog, plan.cases.iter().filter(|case| case.experiment == at))?;
        plan.experiments[at].title = title + &changes(draft, &catalog);
    }
    Ok(())
}

/// A part of a placeholder.
enum Factor<'a> {
    Parameter(&'a Entry),
    Bytes(u64),
}

impl Factor<'_> {
    fn read<'a>(word: &str, catalog: &'a Catalog, place: Place) -> Result<Factor<'a>, Mistake> {
        match parse_bytes(word) {
            Ok(bytes) => Ok(Factor::Bytes(bytes)),
            Err(_) => catalog.find(word, place, "title").map(Factor::Parameter),
        }
    }

    fn value(&self, case: &Case) -> Option<Value> {
        match self {
            Factor::Parameter(entry) => match case.params.get(&entry.slot.key)? {
                Value::Text(text) => Some(Value::Text(without_folders(text))),
                value => Some(value.clone()),
            },
            Factor::Bytes(bytes) => Some(Value::Int(*bytes)),
        }
    }

    fn is_size(&self) -> bool {
        match self {
            Factor::Parameter(entry) => matches!(entry.slot.param.kind, Kind::Bytes { .. }),
            Factor::Bytes(_) => true,
        }
    }
}

/// The values of a placeholder, in the plan's order.
enum Values {
    Bytes(Vec<u64>),
    Counts(Vec<u64>),
    Words(Vec<String>),
}

impl Values {
    fn of<'c>(factors: &[Factor], cases: impl Iterator<Item = &'c Case>) -> Values {
        let values: Vec<Vec<Value>> =
            cases.filter_map(|case| factors.iter().map(|factor| factor.value(case)).collect()).collect();
        let number = |value: &Value| if let Value::Int(number) = value { Some(*number) } else { None };
        let product = |values: &Vec<Value>| {
            values.iter().map(number).try_fold(1, |product: u64, number| product.checked_mul(number?))
        };
        match values.iter().map(product).collect::<Option<Vec<u64>>>() {
            Some(bytes) if factors.iter().any(Factor::is_size) => Values::Bytes(bytes),
            Some(counts) => Values::Counts(counts),
            None => Values::Words(values.iter().flatten().map(ToString::to_string).collect()),
        }
    }

    /// `128 MiB`; `2, 8 and 32`; of more numbers the limits, `8 to 256 MiB`.
    fn words(&self) -> String {
        match self {
            Values::Bytes(values) => numbers(values, fmt_size),
            Values::Counts(values) => numbers(values, count),
            Values::Words(values) => listed(distinct(values.iter().cloned())),
        }
    }

    fn largest(&self) -> String {
        let largest = |values: &[u64]| values.iter().max().copied();
        match self {
            Values::Bytes(values) => largest(values).map_or_else(none, fmt_size),
            Values::Counts(values) => largest(values).map_or_else(none, count),
            Values::Words(_) => self.words(),
        }
    }
}

/// The words of a placeholder that no case gives a value.
fn none() -> String {
    "n/a".to_owned()
}

/// `512`, `65536`, `16 Mi`.
fn count(count: u64) -> String {
    let label = label_count(count);
    match label.trim_start_matches(|c: char| c.is_ascii_digit()) {
        unit if count >= 1 << 20 && !unit.is_empty() => format!("{} {unit}", label.trim_end_matches(unit)),
        _ => count.to_string(),
    }
}

fn numbers(values: &[u64], text: fn(u64) -> String) -> String {
    let values = distinct(values.iter().copied());
    let (Some(least), Some(most)) = (values.iter().min(), values.iter().max()) else { return none() };
    if values.len() <= LISTED {
        return listed(values.into_iter().map(text).collect());
    }
    let (least, most) = (text(*least), text(*most));
    let unit = |text: &str| text.split_once(' ').map(|(_, unit)| unit.to_owned());
    match unit(&most).filter(|own| unit(&least).as_ref() == Some(own)) {
        Some(own) => format!("{} to {most}", least.trim_end_matches(&own).trim_end()),
        None => format!("{least} to {most}"),
    }
}

/// `a, b and c`.
pub(super) fn listed(words: Vec<String>) -> String {
    match words.as_slice() {
        [] => none(),
        [one] => one.clone(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}

#[cfg(test)]
mod tests;
