//! Rank 0's output: one row for all ranks together, or in CSV and JSON one row per rank and one for all.

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};

use crate::case::Verdict;
use crate::cli::out;
use crate::cli::spatter::follow::{gpu, in_noise, preface, summarize};
use crate::cli::spatter::rows::{self, Rows};
use crate::cli::spatter::{Ready, say};
use crate::engine::ranked::{Outcome, Place, Share};
use crate::report::table::{Column, NO_UNIT};
use crate::spatter::ranked::{self, Together};
use crate::spatter::settings::Format;
use crate::spatter::{Config, Job};
use crate::stats;
use crate::stats::noise::Flag;

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
            rows::remark_before(
                &job.settings,
                "ranks share GPUs: their bandwidths are not those of a GPU used by one rank",
            );
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
        for row in rows(config, &shares, &together) {
            self.rows.row(&columns(), &row);
        }
    }

    /// Prints everything that follows the rows.
    pub fn end(self) {
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

/// A row: a configuration on a rank, or on all of them.
struct Row<'a> {
    config: &'a Config,
    together: &'a Together,
    /// A number, or `all` for sums of bytes and bandwidths and averages of times.
    rank: Json,
    bytes: u64,
    /// Seconds and MB/s of the run with the smallest sum of times.
    time: f64,
    bandwidth: f64,
    share: Share,
}

/// A row for each rank, and one for all of them.
fn rows<'a>(config: &'a Config, shares: &[Share], together: &'a Together) -> Vec<Row<'a>> {
    let bandwidths = together.bandwidths();
    let each = |(rank, share): (usize, &Share)| Row {
        config,
        together,
        rank: json!(rank),
        bytes: together.bytes,
        time: together.times[rank],
        bandwidth: bandwidths[rank],
        share: share.clone(),
    };
    let of_all = Row {
        config,
        together,
        rank: json!("all"),
        bytes: together.total_bytes(),
        time: together.average_time(),
        bandwidth: together.total_bandwidth(),
        share: all(shares),
    };
    shares.iter().enumerate().map(each).chain([of_all]).collect()
}

type RowColumn<'a> = Column<'a, Row<'a>>;

/// `run` is the number, from 0, of the run that `time_s` and `bw_mb_s` belong to.
fn columns<'a>() -> [RowColumn<'a>; 15] {
    let flags = |row: &Row| json!(row.share.flags.iter().map(|flag| flag.word()).collect::<Vec<_>>());
    let certificate = |row: &Row| if row.share.verdict.is_some() { "certified" } else { "not certified" };
    [
        RowColumn::new("config", NO_UNIT, |row| row.config.id),
        RowColumn::new("rank", NO_UNIT, |row| row.rank.clone()),
        RowColumn::new("name", NO_UNIT, |row| row.config.name.clone()),
        RowColumn::new("kernel", NO_UNIT, |row| row.config.kernel.name()),
        RowColumn::new("length", "indices", |row| row.config.length()),
        RowColumn::new("count", "uses", |row| row.config.count),
        RowColumn::new("bytes", "B", |row| row.bytes),
        RowColumn::new("runs", "runs", |row| row.share.seconds.len()),
        RowColumn::new("run", NO_UNIT, |row| row.together.run),
        RowColumn::new("time_s", "s", |row| json!(row.time)),
        RowColumn::new("median_s", "s", |row| json!(stats::median(&row.share.seconds))),
        RowColumn::new("bw_mb_s", "MB/s", |row| json!(row.bandwidth)),
        RowColumn::new("flags", NO_UNIT, flags),
        RowColumn::new("certificate", NO_UNIT, certificate),
        RowColumn::new("times_s", "s", |row| json!(row.share.seconds)),
    ]
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
