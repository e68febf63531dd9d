//! Rank 0's output: one row for all ranks together, or in CSV and JSON one row per rank and one for all.

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};

use crate::case::Verdict;
use crate::cli::out;
use crate::cli::spatter::follow::{gpu, in_noise, preface, summarize};
use crate::cli::spatter::rows::Rows;
use crate::cli::spatter::{Ready, remark, say};
use crate::engine::ranked::{Outcome, Place, Share};
use crate::spatter::ranked::{self, Together};
use crate::spatter::settings::Format;
use crate::spatter::{Config, Job};
use crate::stats;
use crate::stats::noise::Flag;

/// Columns of CSV and keys of JSON. `rank` is a number, or `all` for sums of bytes and bandwidths and averages
/// of times. `time_s` and `bw_mb_s` belong to run number `run` (from 0), the one with the smallest sum of
/// times. Times are seconds of one run, bandwidths are in MB/s.
const COLUMNS: [&str; 15] = [
    "config",
    "rank",
    "name",
    "kernel",
    "length",
    "count",
    "bytes",
    "runs",
    "run",
    "time_s",
    "median_s",
    "bw_mb_s",
    "flags",
    "certificate",
    "times_s",
];

/// Prints the results on rank 0.
pub struct Teller {
    job: Job,
    rows: Rows,
    /// Bandwidths of all ranks together, in MB/s.
    bandwidths: Vec<f64>,
    /// Flags of each configuration.
    flags: Vec<Vec<Flag>>,
}

impl Teller {
    /// Prints everything that precedes the rows.
    pub fn begin(ready: Ready, places: &[Place]) -> Teller {
        let Ready { job, machine, .. } = ready;
        let cuda = job.settings.backend.on_gpus();
        if cuda && shared(places) {
            remark::before(&job.settings, "ranks share GPUs: their bandwidths are not those of a GPU alone");
        }
        if job.settings.format == Format::Table {
            let gpu = places.first().filter(|_| cuda).map(|place| gpu(&place.device, place.among));
            out::text(&preface(&job, &machine, gpu.as_ref(), &ranked::header()));
        }
        let rows = Rows::new(job.settings.format);
        Teller { job, rows, bandwidths: Vec::new(), flags: Vec::new() }
    }

    /// Prints a configuration's rows, or the reason why it has none.
    pub fn tell(&mut self, at: usize, outcome: Outcome) {
        let shares = match outcome {
            Outcome::Measured(shares) => shares,
            Outcome::NotApplicable(reason) => {
                self.flags.push(Vec::new());
                return say(&format!("configuration {at}: n/a: {reason}"));
            }
        };
        self.flags.push(flags(&shares));
        let config = &self.job.configs[at];
        let times: Vec<&[f64]> = shares.iter().map(|share| share.seconds.as_slice()).collect();
        let Some(together) = Together::of(config.bytes(), &times) else {
            return say(&format!("configuration {at}: no run was timed"));
        };
        self.bandwidths.push(together.total_bandwidth());
        if self.job.settings.format == Format::Table {
            let each = if self.job.settings.verbosity >= 3 { together.each() } else { String::new() };
            return self.rows.put(&(together.row(config.id) + &each));
        }
        for cells in rows(config, &shares, &together) {
            self.rows.put(&self.rows.cells(&COLUMNS, &cells));
        }
    }

    /// Prints everything that follows the rows.
    pub fn end(mut self) {
        self.rows.end();
        let settings = &self.job.settings;
        summarize(settings, &self.bandwidths);
        in_noise(settings, self.flags.into_iter());
    }
}

/// Whether two ranks on one host use the same GPU, as far as the driver reports.
fn shared(places: &[Place]) -> bool {
    let bus = |place: &Place| {
        let (_, id) = place.device.facts.iter().find(|(name, _)| name == "PCI bus id")?;
        Some((place.host, id.clone()))
    };
    let mut seen = BTreeSet::new();
    !places.iter().filter_map(bus).all(|place| seen.insert(place))
}

/// The values of [`COLUMNS`] for each rank, and for all of them.
fn rows(config: &Config, shares: &[Share], together: &Together) -> Vec<Vec<Json>> {
    let bandwidths = together.bandwidths();
    let each = |(rank, share): (usize, &Share)| {
        let (time, bandwidth) = (together.times[rank], bandwidths[rank]);
        cells(config, json!(rank), together.bytes, together.run, (time, bandwidth), share)
    };
    let mut rows: Vec<Vec<Json>> = shares.iter().enumerate().map(each).collect();
    let sums = (together.average_time(), together.total_bandwidth());
    rows.push(cells(config, json!("all"), together.total_bytes(), together.run, sums, &all(shares)));
    rows
}

/// The ranks' shares merged into one. Either all have the same certificate or none has one.
fn all(shares: &[Share]) -> Share {
    let times: Vec<&[f64]> = shares.iter().map(|share| share.seconds.as_slice()).collect();
    let verdicts: Option<Vec<&Verdict>> = shares.iter().map(|share| share.verdict.as_ref()).collect();
    Share {
        seconds: ranked::means(&times),
        verdict: verdicts.and_then(|verdicts| verdicts.first().map(|verdict| (*verdict).clone())),
        flags: flags(shares),
    }
}

/// The union of the shares' flags.
fn flags(shares: &[Share]) -> Vec<Flag> {
    let all: BTreeSet<Flag> = shares.iter().flat_map(|share| share.flags.iter().copied()).collect();
    all.into_iter().collect()
}

fn cells(
    config: &Config,
    rank: Json,
    bytes: u64,
    run: usize,
    (time, bandwidth): (f64, f64),
    share: &Share,
) -> Vec<Json> {
    let flags: Vec<&str> = share.flags.iter().map(|flag| flag.word()).collect();
    vec![
        json!(config.id),
        rank,
        json!(config.name),
        json!(config.kernel.name()),
        json!(config.length()),
        json!(config.count),
        json!(bytes),
        json!(share.seconds.len()),
        json!(run),
        json!(time),
        json!(stats::median(&share.seconds)),
        json!(bandwidth),
        json!(flags),
        json!(if share.verdict.is_some() { "certified" } else { "not certified" }),
        json!(share.seconds),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{Availability, Device};

    #[test]
    fn a_gpu_that_two_ranks_have_is_seen() {
        let place = |host, bus: Option<&str>| Place {
            host,
            device: Device {
                backend: "cuda".to_owned(),
                name: String::new(),
                facts: bus.map(|bus| ("PCI bus id".to_owned(), bus.to_owned())).into_iter().collect(),
                memory: None,
                availability: Availability::Available,
            },
            among: 1,
        };
        assert!(shared(&[place(0, Some("19")), place(0, Some("5d")), place(0, Some("19"))]));
        assert!(!shared(&[place(0, Some("19")), place(0, Some("5d")), place(3, Some("19"))]));
        assert!(!shared(&[place(0, None), place(0, None)]), "nobody knows");
    }
}
