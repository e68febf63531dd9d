//! Comparison of two profiles of a device.

use std::collections::HashSet;

use crate::case::units;
use crate::model::{Curve, Profile};
use crate::recipe::{Content, Node, tree};

/// A figure in two profiles.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The path of the figure: `rates.cuda.read at 1048576`.
    pub figure: String,
    /// `None` if the profile lacks the figure.
    pub before: Option<f64>,
    pub after: Option<f64>,
}

impl Difference {
    /// The unit of the figure; empty for a number of things.
    pub fn unit(&self) -> &'static str {
        let path = self.figure.split(" at ").next().unwrap_or_default();
        let words: Vec<&str> = path.split(['.', '[']).collect();
        match (words.as_slice(), words.last().copied().unwrap_or_default()) {
            (_, "launch" | "pattern" | "pass" | "latency" | "seconds" | "delta") => "s",
            (_, "read" | "write" | "copy" | "b_seq") => "B/s",
            (["rates", _, "scan", ..] | ["rates", _, "moves", ..], _) => "elements/s",
            (["rates", _, "random" | "strided" | "interleaved", ..], "rate") => "accesses/s",
            (_, "capacity" | "stated" | "line" | "sector" | "fetch" | "page" | "tlb_reach" | "memory") => "B",
            (_, "element" | "footprint" | "cache" | "block" | "transfer") => "B",
            _ => "",
        }
    }

    /// The path of the figure for people, its place with a unit: `rates.cuda.read at 1 MiB`.
    pub fn name(&self) -> String {
        let place = |(path, place): (&str, &str)| Some((path.to_owned(), place.parse::<f64>().ok()? as u64));
        match self.figure.split_once(" at ").and_then(place) {
            Some((path, streams)) if path.contains(".interleaved[") => format!("{path} at {streams}"),
            Some((path, bytes)) => format!("{path} at {}", units::fmt_size(bytes)),
            None => self.figure.clone(),
        }
    }

    /// The first words of the path: `rates.cuda`, or `caches`.
    pub fn group(&self) -> &str {
        let path = self.figure.split([' ', '[']).next().unwrap_or_default();
        path.match_indices('.').nth(1).map_or(path, |(at, _)| &path[..at])
    }

    /// A value of the figure with its unit.
    pub fn words(&self, value: f64) -> String {
        match self.unit() {
            "B" => units::fmt_bytes(value as u64),
            "s" => units::fmt_seconds(value),
            "B/s" => units::fmt_rate(value / 1e9),
            "" => units::grouped(value as u64),
            unit => format!("{} {unit}", units::fmt_count(value as u64)),
        }
    }

    /// Relative change from `before` to `after`; infinite if one is missing.
    pub fn share(&self) -> f64 {
        match (self.before, self.after) {
            (Some(before), Some(after)) => after / before - 1.0,
            _ => f64::INFINITY,
        }
    }
}

/// Executions shorter than this many launches are dominated by launch time, which `launch` measures.
const LAUNCHES: f64 = 10.0;

/// The corresponding limit for passes that skip, many of which are timed together.
const PASSES: f64 = 2.0;

/// Every figure of two profiles, in the order of the file: numbers, the points of curves at places that both
/// profiles have, and the first point of each kind of curve that only one has. Left out are fields that
/// identify the device, points of streams whose executions take less than ten launches, and points of passes
/// that take less than two.
///
/// # Errors
/// None for profiles of finite numbers.
pub fn differences(before: &Profile, after: &Profile) -> anyhow::Result<Vec<Difference>> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    figures(&tree(before)?, "", &mut ours);
    figures(&tree(after)?, "", &mut theirs);
    let find =
        |all: &[(String, f64)], name: &str| all.iter().find(|(n, _)| n == name).map(|(_, value)| *value);
    let mut names: Vec<&String> = ours.iter().chain(&theirs).map(|(name, _)| name).collect();
    let mut seen = HashSet::new();
    names.retain(|name| seen.insert(name.as_str()));
    let lacking = lacking(&ours, &theirs);
    let compared = |name: &&String| {
        // Places that only one profile measured cannot be compared.
        let both = find(&ours, name).is_some() && find(&theirs, name).is_some();
        lacking.contains(name.as_str()) || (both || !name.contains(" at ")) && !is_launch(before, name)
    };
    let named = names.into_iter().filter(compared);
    Ok(named
        .map(|name| Difference {
            figure: name.clone(),
            before: find(&ours, name),
            after: find(&theirs, name),
        })
        .collect())
}

/// The first point of each curve whose kind only one profile has. Curves are compared by kind because quick
/// calibrations use other footprints.
fn lacking<'n>(ours: &'n [(String, f64)], theirs: &'n [(String, f64)]) -> HashSet<&'n str> {
    let mut first = HashSet::new();
    for (some, others) in [(ours, theirs), (theirs, ours)] {
        let known: HashSet<String> = others.iter().filter_map(|(name, _)| kind(name)).collect();
        let mut told = HashSet::new();
        for (name, _) in some {
            if kind(name).is_some_and(|kind| !known.contains(&kind) && told.insert(kind)) {
                first.insert(name.as_str());
            }
        }
    }
    first
}

/// The curve of a point, without its footprint; `None` for a figure that is not a point.
fn kind(name: &str) -> Option<String> {
    let (curve, _) = name.split_once(" at ")?;
    let Some((path, label)) = curve.split_once('[') else { return Some(curve.to_owned()) };
    Some(format!("{path}[{}", label.split(' ').take(2).collect::<Vec<_>>().join(" ")))
}

/// Whether a figure is a point of a stream or of passes that takes less than [`LAUNCHES`] or [`PASSES`]
/// launches.
fn is_launch(profile: &Profile, name: &str) -> bool {
    let Some((path, place)) = name.split_once(" at ") else { return false };
    let mut parts = path.split('.');
    let (Some("rates"), Some(backend), Some(curve)) = (parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    let (Some(rates), Ok(bytes)) = (profile.rates.get(backend), place.parse::<f64>()) else { return false };
    let seconds = |per_second: &Curve, work: f64| work / per_second.at(bytes);
    match (curve, &rates.scan) {
        ("read", _) => seconds(&rates.read, bytes) < LAUNCHES * rates.launch,
        ("write", _) => seconds(&rates.write, bytes) < LAUNCHES * rates.launch,
        ("copy", _) => seconds(&rates.copy, bytes) < LAUNCHES * rates.launch,
        // Elements of four bytes.
        ("scan", Some(scan)) => seconds(scan, bytes / 4.0) < PASSES * rates.launch,
        _ => false,
    }
}

fn figures(value: &Node, at: &str, out: &mut Vec<(String, f64)>) {
    let below = |name: &str| if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") };
    match &value.content {
        Content::Int(_) | Content::Float(_) => {
            out.extend(number(value).map(|number| (at.to_owned(), number)))
        }
        Content::Map(entries) => {
            for (key, value) in entries {
                match key.text.as_str() {
                    // These keys identify the profile and were not measured.
                    "schema" | "made" | "device" if at.is_empty() => {}
                    key => figures(value, &below(key), out),
                }
            }
        }
        Content::List(items) => {
            for item in items {
                match &item.content {
                    Content::List(point) => out.extend(point_of(at, point)),
                    Content::Map(_) => figures(item, &format!("{at}[{}]", label(item)), out),
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

fn number(value: &Node) -> Option<f64> {
    match value.content {
        Content::Int(number) => Some(number as f64),
        Content::Float(number) => Some(number),
        _ => None,
    }
}

fn point_of(at: &str, point: &[Node]) -> Option<(String, f64)> {
    let [place, value] = point else { return None };
    Some((format!("{at} at {}", number(place)?), number(value)?))
}

/// The label that distinguishes an item of a list: its name, or direction, element and footprint.
fn label(item: &Node) -> String {
    let Content::Map(entries) = &item.content else { return String::new() };
    let word = |key: &&str| match &entries.iter().find(|(known, _)| known.text == *key)?.1.content {
        Content::Text(text) => Some(text.clone()),
        Content::Int(number) => Some(number.to_string()),
        _ => None,
    };
    let parts = ["name", "direction", "element", "footprint"].iter().filter_map(word);
    parts.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::profiles::ProfileStore;

    #[test]
    fn figures_have_the_units_of_the_file() {
        let known = ProfileStore::of(None);
        let of = |name: &str| known.wanted(name).expect("a shipped profile").profile;
        let (gpu, g80) = (of("h200"), of("g80"));
        let mut all = differences(&gpu, &gpu).expect("figures");
        all.extend(differences(&g80, &g80).expect("figures"));
        let unit = |begins: &str| {
            let found = all.iter().find(|d| d.figure.starts_with(begins));
            found.unwrap_or_else(|| panic!("no {begins}")).unit()
        };
        for (begins, wanted) in [
            ("caches[L2].capacity", "B"),
            ("rates.cuda.launch", "s"),
            ("rates.cuda.group", ""),
            ("rates.cuda.read at ", "B/s"),
            ("rates.cuda.copy at ", "B/s"),
            ("rates.cuda.random[", "B"),
            ("rates.cuda.latency at ", "s"),
            ("he2007.cuda.b_seq", "B/s"),
            ("he2007.cuda.delta", "s"),
            ("he2007.cuda.block", "B"),
            ("he2007.cuda.warp", ""),
        ] {
            assert_eq!(unit(begins), wanted, "{begins}");
        }
        let one = |begins: &str| all.iter().find(|d| d.figure.starts_with(begins)).expect("a figure");
        let told = |begins: &str, value| (one(begins).name(), one(begins).words(value));
        let fetch = one("rates.cuda.fetch");
        assert_eq!((fetch.group(), fetch.words(64.0)), ("rates.cuda", "64 B".to_owned()));
        assert_eq!(one("caches[L2].capacity").group(), "caches");
        let read = ("rates.cuda.read at 1 GiB".to_owned(), "4501 GB/s".to_owned());
        assert_eq!(told("rates.cuda.read at 1073741824", 4.501e12), read);
        let random = told("rates.cuda.random[read 8].rate at 1073741824", 4.2e10);
        assert_eq!(random, ("rates.cuda.random[read 8].rate at 1 GiB".into(), "42.0 G accesses/s".into()));
        let rates = all.iter().filter(|d| d.figure.contains("].rate at "));
        let units: HashSet<&str> = rates.map(Difference::unit).collect();
        assert_eq!(units, HashSet::from(["accesses/s"]));
    }
}
