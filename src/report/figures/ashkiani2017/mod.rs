//! ashkiani2017: S. Ashkiani et al., GPU Multisplit: an extended study of a parallel algorithm,
//! ACM TOPC 2017.

mod chart;
pub mod fig05;
pub mod fig06;
pub mod fig07;

use anyhow::Result;

use super::Drawn;
use super::caption::caption;
use super::lookup::Subject;
use super::mark::{Mark, table};
use super::platform::{Kind, Platform, separate};
use super::published::{Multisplit, multisplits};
use super::splits::{Line, Split, things};
use crate::report::series::ChartData;
use crate::report::svg::{POINTS, render};
use crate::report::verdicts::NamedRun;

/// Recipes whose runs figures 6 and 7 are drawn from.
const RECIPES: &[&str] = &["ashkiani2017/table05-speedups"];
/// Table 5's number of keys, which is preferred if a run has several sizes.
const KEYS: u64 = 1 << 25;
/// Greatest number of buckets in the figures.
const MOST: u64 = 256;
/// Bytes of a value for the figures' keys and pairs, with their names in Table 5.
const VALUES: [(u64, &str); 2] = [(0, "none"), (4, "4B")];
/// The GPU of Table 5 that is drawn beside a run.
const PUBLISHED: &str = "GTX 1080";

/// A panel: the keys, or the pairs, of one GPU.
struct Panel<'a> {
    platform: &'a Platform<'a>,
    title: String,
    value: u64,
    keys: u64,
    /// Every number of buckets in the panel.
    buckets: Vec<u64>,
}

/// GPUs of the runs whose splits match the paper's, together with peers on the same device.
fn gpus<'a>(runs: &'a [NamedRun<'a>]) -> Vec<Platform<'a>> {
    let all = separate(runs);
    let splits = |p: &&Platform| p.kind == Kind::Gpu && p.records.iter().any(|(_, r)| Split::of(r).is_some());
    all.iter().filter(splits).map(|own| with_peers(own, &all)).collect()
}

/// The platform with the records of peers that ran on its device in the same runs.
fn with_peers<'a>(own: &Platform<'a>, all: &[Platform<'a>]) -> Platform<'a> {
    let place = own.records.first().map(|(_, record)| record.case.place());
    let beside = |other: &&Platform| {
        let peer = other.records.first().filter(|(_, record)| record.case.peer().is_some());
        peer.is_some_and(|(_, record)| Some(record.case.place()) == place)
            && other.runs.iter().all(|run| own.runs.iter().any(|known| std::ptr::eq(*run, *known)))
    };
    let mut joined = own.clone();
    joined.records.extend(all.iter().filter(beside).flat_map(|other| other.records.iter().copied()));
    joined
}

fn panels<'a>(platforms: &'a [Platform<'a>]) -> Vec<Panel<'a>> {
    platforms
        .iter()
        .flat_map(|p| VALUES.into_iter().filter_map(move |(value, _)| Panel::of(p, value)))
        .collect()
}

impl<'a> Panel<'a> {
    /// `None` if the platform has no such cases.
    fn of(platform: &'a Platform<'a>, value: u64) -> Option<Panel<'a>> {
        let splits = platform.records.iter().filter_map(|(_, record)| Split::of(record));
        let own: Vec<Split> = splits.filter(|s| s.value == value && s.buckets <= MOST).collect();
        let papers = own.iter().any(|split| split.keys == KEYS);
        let keys = if papers { KEYS } else { own.iter().map(|split| split.keys).max()? };
        let mut buckets: Vec<u64> = own.iter().filter(|s| s.keys == keys).map(|s| s.buckets).collect();
        buckets.sort_unstable();
        buckets.dedup();
        let title = format!("{}, {}", platform.label, things(value));
        Some(Panel { platform, title, value, keys, buckets })
    }

    fn wanted(&self, line: Line, buckets: u64) -> Subject {
        Subject::Split(Split { line, value: self.value, keys: self.keys, buckets })
    }

    /// The times of a line, for the numbers of buckets that the platform has.
    fn times(&self, line: Line) -> Vec<Mark> {
        let there = |buckets: &&u64| self.platform.has(self.wanted(line, **buckets));
        let mark = |&buckets: &u64| {
            let (name, wanted) = (line.name().to_owned(), self.wanted(line, buckets));
            Mark::of(&self.title, self.platform, name, Some(buckets as f64), wanted)
        };
        self.buckets.iter().filter(there).map(mark).collect()
    }

    /// The corresponding cells of Table 5; `value` converts them to y.
    fn published(&self, unit: &'static str, value: fn(&Multisplit) -> f64) -> Result<Vec<Mark>> {
        let name = VALUES.iter().find(|(value, _)| *value == self.value).map(|(_, name)| *name);
        let own = |row: &Multisplit| row.platform == PUBLISHED && Some(row.values.as_str()) == name;
        let source = format!("{PUBLISHED} (ashkiani2017, table 5)");
        let mark = |row: &Multisplit| {
            let place = (row.buckets as f64, value(row));
            Mark::published(&self.title, &source, row.method.clone(), place, unit)
        };
        Ok(multisplits()?.iter().filter(|row| own(row)).map(mark).collect())
    }
}

/// The chart of these marks with its caption, and their table.
fn drawn(
    (name, claim): (&str, &str),
    data: &ChartData,
    platforms: &[Platform],
    marks: &[Mark],
    lines: &[String],
) -> Result<Drawn> {
    let points = format!("{POINTS}; the paper's are averages of 50 trials");
    let caption = caption(claim, &points, platforms, marks, lines);
    Ok(Drawn { document: render(data, &caption)?, table: table(name, marks)?, text: None })
}

/// Description of the inputs and methods for the caption.
fn how(panels: &[Panel]) -> String {
    let mut sizes: Vec<String> = panels.iter().map(|p| crate::case::units::grouped(p.keys)).collect();
    sizes.dedup();
    format!(
        "{} uniform keys among delta-buckets; DMS, WMS and BMS with the paper's subproblems (§6), RB-sort with a \
         radix sort of this project, fused its own method; CUB's sorts are peers of the same run and not certified",
        sizes.join(" and ")
    )
}
