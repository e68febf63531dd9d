//! Names in reports: of parameters and their values, of runs, and of the files of charts.

use std::collections::HashSet;

use super::unit;
use crate::case::schema::Kind;
use crate::case::units::{label_count, number_of};
use crate::case::{Cache, Case, HostMemory, Measure, Value};
use crate::primitives;
use crate::recipe::plan::{Axis, Experiment, Paper, slug};

/// Longest list of indices that is written in full.
const LONGEST_LIST: usize = 24;

/// A value in words: `8 B` if integers are sizes, `16Mi`, `random`, `0,8,16`; long lists are truncated and
/// their length is given.
pub fn value(value: &Value, bytes: bool) -> String {
    match value {
        Value::Int(v) if bytes => unit::bytes(*v),
        Value::Int(v) => label_count(*v),
        Value::Float(v) => unit::number(*v),
        Value::Text(v) => text(v),
        Value::Indices(_) => list(&value.to_string()),
    }
}

/// A text; hashes are truncated to a recognisable prefix.
fn text(text: &str) -> String {
    const HASH: usize = 64;
    let hash = text.len() == HASH && text.bytes().all(|b| b.is_ascii_hexdigit());
    if hash { format!("{}…", &text[..12]) } else { text.to_owned() }
}

/// How cases are sampled: `3 rounds of 5 samples`, `5 to 30 rounds of 5 samples, until
/// ±3 %`.
pub fn sampling(measure: &Measure) -> String {
    let times = |n: u32, word: &str| number_of(n as usize, word);
    let samples = times(measure.samples, "sample");
    let cold = if measure.cache == Cache::Cold { ", cold caches" } else { "" };
    let cold = match measure.transfer {
        None => cold.to_owned(),
        Some(HostMemory::Pinned) => format!("{cold}, transfers of pinned memory"),
        Some(HostMemory::Pageable) => format!("{cold}, transfers of pageable memory"),
    };
    match measure.adaptive() {
        Some(ci) => {
            let (least, most, ci) = (measure.rounds, measure.most(), unit::number(ci * 100.0));
            format!("{least} to {most} rounds of {samples}, until ±{ci} %{cold}")
        }
        None => format!("{} of {samples}{cold}", times(measure.rounds, "round")),
    }
}

fn list(text: &str) -> String {
    if text.len() <= LONGEST_LIST {
        return text.to_owned();
    }
    let kept = text[..LONGEST_LIST].rfind(',').unwrap_or(LONGEST_LIST);
    format!("{},… ({} indices)", &text[..kept], text.split(',').count())
}

/// A parameter and its value: a word stands alone (`cpu`, `random`), a number follows its name (`passes 8`).
pub fn setting(experiment: &Experiment, key: &str, v: &Value) -> String {
    let axis = axis(experiment, key);
    let text = value(v, axis.is_some_and(|a| a.bytes));
    match v {
        Value::Int(_) | Value::Float(_) => format!("{} {text}", name(experiment, key)),
        Value::Text(word) if word == "auto" => format!("{} auto", name(experiment, key)),
        _ => text,
    }
}

/// The name of a key: that of the axis, or else the key's last word.
pub fn name<'a>(experiment: &'a Experiment, key: &'a str) -> &'a str {
    let last = || key.rsplit('.').next().unwrap_or(key);
    axis(experiment, key).map_or_else(last, |a| a.name.as_str())
}

/// The title of an axis of numbers: its name, and its parameter's where it is called like a method: `he2007 passes`.
pub fn title(experiment: &Experiment, key: &str) -> String {
    let name = name(experiment, key);
    match key.rsplit_once('.') {
        Some((_, word)) if word != name && !name.ends_with(&format!(".{word}")) => format!("{name} {word}"),
        _ => name.to_owned(),
    }
}

/// Whether the integers of a key are sizes in bytes.
pub fn is_size(experiment: &Experiment, key: &str) -> bool {
    if let Some(axis) = axis(experiment, key) {
        return axis.bytes;
    }
    let params = primitives::find(&experiment.primitive).map(|p| p.params()).unwrap_or_default();
    params.iter().any(|p| p.name == key && matches!(p.kind, Kind::Bytes { .. }))
}

/// The axis of a key, if it is swept.
pub fn axis<'a>(experiment: &'a Experiment, key: &str) -> Option<&'a Axis> {
    experiment.axes.iter().find(|a| a.key == key)
}

/// `he2007, figure 9`.
pub fn paper(paper: &Paper) -> String {
    let number =
        |word: &str, n: &Option<String>| n.as_ref().map(|n| format!(", {word} {n}")).unwrap_or_default();
    format!("{}{}{}", paper.key, number("figure", &paper.figure), number("table", &paper.table))
}

/// `he2007, figure 9 claims: 16 passes suit a G80 best`, so that nobody takes it for a result of the run.
pub fn claimed(of: &Paper) -> String {
    let claim = of.claim.as_ref().map(|claim| format!(" claims: {claim}")).unwrap_or_default();
    paper(of) + &claim
}

/// A case's value of a key.
pub fn of<'a>(experiment: &'a Experiment, key: &str, case: &'a Case) -> Option<&'a Value> {
    axis(experiment, key).map_or_else(|| case.params.get(key), |axis| axis.value(case))
}

/// `1 case`, `2 cases`.
pub fn cases(n: usize) -> String {
    number_of(n, "case")
}

/// The letter of a run: `A` for the baseline, then `B`, `C` …
pub fn letter(run: usize) -> String {
    let letter = char::from(b'A' + (run % 26) as u8);
    if run < 26 { letter.to_string() } else { format!("{letter}{}", run / 26) }
}

/// A file name for each slug; repeated slugs get a number. Manifests are untrusted: a slug must not lead out
/// of the folder.
pub fn chart_names<'a>(slugs: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut taken = HashSet::new();
    let mut name = |slug: &str| {
        let numbered = (2..).map(|n| format!("{slug}-{n}.svg"));
        let mut free = std::iter::once(format!("{slug}.svg")).chain(numbered);
        free.find(|n| taken.insert(n.clone())).unwrap_or_default()
    };
    slugs.map(|given| name(&slug(given))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_cut() {
        let shown = |v: String| value(&Value::Text(v), false);
        assert_eq!(shown("0123456789abcdef".repeat(4)), "0123456789ab…");
        assert_eq!(shown("neighbours.npy".repeat(5)), "neighbours.npy".repeat(5));
    }

    #[test]
    fn long_lists_are_cut_at_an_index() {
        let short = Value::Indices(vec![0, 8, 16].into());
        assert_eq!(value(&short, false), "0,8,16");
        let long = Value::Indices((1000..1256).collect::<Vec<u64>>().into());
        assert_eq!(value(&long, false), "1000,1001,1002,1003,… (256 indices)");
    }
}
