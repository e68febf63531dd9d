//! Extracts the index arrays of a recipe's cases.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{anyhow, bail};

use super::Array;
use crate::case::units::{grouped, shown};
use crate::case::{Case, Params, Value, Walk};
use crate::cli::recipes::Source;
use crate::primitives::walks;
use crate::recipe::plan::Overrides;
use crate::report::names;

/// Most indices to analyse per array: enough for the statistics, and soon done.
const MOST: u64 = 4 << 20;

/// Parameters that do not affect the indices.
const ASIDE: [&str; 4] = ["backend", "method", "index", "cache"];

/// What `of` makes of every distinct array through which the recipe's cases access memory. One array is held at a time;
/// `note` is given a line that says how many cases are looked at, before the first.
pub fn each<T>(
    recipe: &Path,
    note: impl FnOnce(&str),
    of: impl Fn(Array) -> anyhow::Result<T>,
) -> anyhow::Result<Vec<T>> {
    let plan = Source::find(recipe)?.resolve(&Overrides::default())?;
    let mut seen: BTreeMap<String, Vec<Identity>> = BTreeMap::new();
    let mut cases = Vec::new();
    for case in plan.cases.iter().filter(|case| case.not_applicable.is_none()) {
        let known = seen.entry(words(case)).or_default();
        if !known.contains(&identity(case)) {
            known.push(identity(case));
            cases.push(case);
        }
    }
    let cases_of =
        if cases.len() == 1 { "one case".to_owned() } else { format!("each of {} cases", cases.len()) };
    note(&format!(
        "looking at the first {} indices of {cases_of} of {}",
        grouped(MOST),
        shown(&recipe.display().to_string())
    ));
    let mut made = Vec::new();
    for case in cases {
        let found = walks(&plan.indices, case, MOST).map_err(|why| anyhow!("{}: {why}", words(case)))?;
        for walk in found {
            made.push(of(array(case, walk))?);
        }
    }
    if made.is_empty() {
        bail!("{}: none of its cases goes through indices", recipe.display());
    }
    Ok(made)
}

fn array(case: &Case, walk: Walk) -> Array {
    let shown = walk.indices.len() as u64;
    let note = (shown < walk.total).then(|| {
        let [shown, total] = [shown, walk.total].map(grouped);
        format!("the first {shown} of {total} indices")
    });
    Array {
        name: format!("{} of {}", walk.side, words(case)),
        indices: walk.indices,
        element: walk.element,
        note,
    }
}

/// Identifies an array: primitive, parameters and seed.
type Identity<'a> = (&'a str, Vec<(&'a str, &'a Value)>, u64);

fn identity(case: &Case) -> Identity<'_> {
    (&case.primitive, told(case).collect(), case.seed)
}

/// The parameters that determine the indices. A file's length and its largest index follow from its content and
/// are left out.
fn told(case: &Case) -> impl Iterator<Item = (&str, &Value)> {
    let Params(params) = &case.params;
    let aside = |key: &str| ASIDE.iter().any(|name| key.split('.').next() == Some(name));
    let follows = |key: &str| key.ends_with(".file.length") || key.ends_with(".file.largest");
    let told = move |key: &str| !aside(key) && !follows(key);
    params.iter().map(|(key, value)| (key.as_str(), value)).filter(move |(key, _)| told(key))
}

/// A text such as `gather: locations random · tuple 8 · tuples 2Ki`: the parameters that determine the indices,
/// with long lists truncated.
fn words(case: &Case) -> String {
    let last = |key: &str| key.rsplit('.').next().unwrap_or(key).to_owned();
    let words: Vec<String> =
        told(case).map(|(key, value)| format!("{} {}", last(key), names::value(value, false))).collect();
    format!("{}: {} · seed {}", case.primitive, words.join(" · "), case.seed)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    fn of(text: &str) -> Vec<Array> {
        let folder = tempfile::tempdir().expect("temporary folder");
        let path = folder.path().join("r.yaml");
        std::fs::write(&path, text).expect("written");
        std::fs::write(folder.path().join("a.txt"), "4 0 4").expect("written");
        let said = Cell::new(0);
        let found = each(&path, |_| said.set(1), Ok).expect("arrays");
        assert_eq!(said.get(), 1, "a line before the first");
        found
    }

    #[test]
    fn each_array_comes_once_whatever_runs_it() {
        let head = "backend: [scalar, cpu, cuda]\nchart: {x: tuples, lines: [backend, method, locations]}\n";
        let gather = "gather: {tuples: [8, 16], method: [direct, {multipass: {passes: 2}}], locations: [sequential, {partitions: 2}]}\n";
        let all = of(&format!("{gather}{head}"));
        assert_eq!(all.len(), 4, "{:?}", all.iter().map(|a| &a.name).collect::<Vec<_>>());
        assert_eq!(all[0].indices, (0..8).collect::<Vec<_>>());
        assert_eq!((all[0].element, all[0].note.as_deref()), (8, None));
    }

    #[test]
    fn arrays_that_differ_only_in_a_length_or_far_down_a_list_are_all_there() {
        let uniform = "pattern: {uniform: {length: [4, 8], stride: 2}, count: 1}\n";
        let lengths = of(&format!("{uniform}backend: cpu\nchart: {{x: length}}\n"));
        assert_eq!(lengths.iter().map(|a| a.indices.len()).collect::<Vec<_>>(), [4, 8]);
        let list = |last: u64| {
            format!("[{}, {last}]", (0..20).map(|i| i.to_string()).collect::<Vec<_>>().join(", "))
        };
        let custom = format!("pattern: {{custom: [{}, {}], count: 1}}\n", list(40), list(50));
        let lists = of(&format!("{custom}backend: cpu\nchart: {{x: custom}}\n"));
        assert_eq!(lists.iter().map(|a| a.indices.last().copied()).collect::<Vec<_>>(), [Some(40), Some(50)]);
    }

    #[test]
    fn files_and_patterns_are_walked() {
        let file = of("scatter: {locations: {file: a.txt}, tuple: 16B}\nbackend: cpu\nchart: {x: file}\n");
        assert_eq!((file[0].indices.as_slice(), file[0].element), (&[4u64, 0, 4][..], 16));
        let pattern = of("pattern: {custom: [0, 2], delta: 3, count: 3}\nbackend: cpu\nchart: {x: custom}\n");
        assert_eq!(pattern[0].indices, [0, 2, 3, 5, 6, 8]);
        let gs = "pattern: {kernel: gs, gather: {custom: [1, 0, 1]}, scatter: {file: a.txt}, count: 1}\n";
        let sides = of(&format!("{gs}backend: cpu\nchart: {{x: backend}}\n"));
        assert_eq!(
            (sides[0].indices.as_slice(), sides[1].indices.as_slice()),
            (&[1, 0, 1][..], &[4, 0, 4][..])
        );
        let long = of("gather: {tuples: 8Mi, locations: sequential}\nbackend: cpu\nchart: {x: tuples}\n");
        assert_eq!(long[0].note.as_deref(), Some("the first 4,194,304 of 8,388,608 indices"));
    }
}
