//! The columns that every `results.csv` has.

use super::{Row, float, status};
use crate::backend::Verdict;
use crate::engine::protocol::RoundResult;
use crate::measure::Statistics;
use crate::plan::{Cache, Experiment, Paper, Quantity};
use crate::primitives::Work;
use crate::report::svg::device_name;
use crate::run::Status;

/// A column's name and where its cell comes from; `None` is an empty cell.
pub type Fixed = (&'static str, fn(&Row) -> Option<String>);

/// A timed batch shorter than this, seconds, is flagged `short`: waking the workers
/// and reading the clock weigh on it.
const SHORT: f64 = 100e-6;

/// Before the parameters.
pub const HEAD: &[Fixed] = &[
    ("case", |r| Some(r.record.case.id.clone())),
    ("experiment", |r| experiment(r).map(|e| e.slug.clone())),
    ("primitive", |r| Some(r.record.case.primitive.clone())),
    ("status", |r| Some(status(&r.record.status).to_owned())),
    ("reason", reason),
    ("cache", |r| Some(cache(r).to_owned())),
];

/// After the parameters.
pub const TAIL: &[Fixed] = &[
    ("samples", |r| stat(r).map(|s| s.samples.to_string())),
    ("rounds", |r| stat(r).map(|s| s.rounds.to_string())),
    ("min_s", |r| stat(r).and_then(|s| float(s.min))),
    ("p5_s", |r| stat(r).and_then(|s| float(s.p5))),
    ("median_s", |r| stat(r).and_then(|s| float(s.median))),
    ("p95_s", |r| stat(r).and_then(|s| float(s.p95))),
    ("max_s", |r| stat(r).and_then(|s| float(s.max))),
    ("mean_s", |r| stat(r).and_then(|s| float(s.mean))),
    ("ci_low_s", |r| stat(r).and_then(|s| float(s.interval?[0]))),
    ("ci_high_s", |r| stat(r).and_then(|s| float(s.interval?[1]))),
    ("stop", |r| r.record.stop.map(|stop| stop.word().to_owned())),
    ("attempts", attempts),
    ("cv", |r| stat(r).and_then(|s| float(s.cv?))),
    ("spread", |r| stat(r).and_then(|s| float(s.spread?))),
    ("work_elements", |r| work(r).map(|w| w.elements.to_string())),
    ("effective_bytes", |r| work(r).map(|w| w.effective_bytes.to_string())),
    ("system_bytes", |r| work(r).map(|w| w.system_bytes.to_string())),
    ("declared_bytes", |r| work(r).map(|w| w.declared_bytes().to_string())),
    ("effective_gb_s", |r| quantity(r, Quantity::Bandwidth)),
    ("system_gb_s", |r| quantity(r, Quantity::SystemBandwidth)),
    ("throughput_elem_s", |r| quantity(r, Quantity::Throughput)),
    ("verification", verification),
    ("checked_elements", checked),
    ("memory_bytes", |r| rounds(r).map(|round| round.memory).max().map(|m| m.to_string())),
    ("flags", flags),
    ("seed", |r| Some(r.record.case.seed.to_string())),
    ("paper", |r| paper(r).map(|p| p.key.clone())),
    ("figure", |r| paper(r).and_then(|p| p.figure.clone())),
    ("table", |r| paper(r).and_then(|p| p.table.clone())),
    ("device", device),
    ("recipe", |r| Some(r.plan.short_hash())),
    ("version", |_| Some(env!("CARGO_PKG_VERSION").to_owned())),
];

fn experiment<'a>(row: &Row<'a>) -> Option<&'a Experiment> {
    row.plan.experiments.get(row.record.case.experiment)
}

fn paper<'a>(row: &Row<'a>) -> Option<&'a Paper> {
    experiment(row)?.paper.as_ref()
}

fn stat<'a>(row: &Row<'a>) -> Option<&'a Statistics> {
    row.record.statistics.as_ref()
}

fn work<'a>(row: &Row<'a>) -> Option<&'a Work> {
    row.record.work.as_ref()
}

fn rounds<'a>(row: &Row<'a>) -> impl Iterator<Item = &'a RoundResult> + use<'a> {
    row.record.rounds.iter()
}

/// What the caches held when a sample started. Hot cases have no parameter that says so.
fn cache<'a>(row: &Row<'a>) -> &'a str {
    row.record.case.params.text(Cache::KEY).unwrap_or("hot")
}

fn quantity(row: &Row, quantity: Quantity) -> Option<String> {
    float(row.record.quantity(quantity)?)
}

fn reason(row: &Row) -> Option<String> {
    match &row.record.status {
        Status::NotApplicable(reason) | Status::Failed(reason) => Some(reason.clone()),
        Status::Pending | Status::Partial | Status::Done => None,
    }
}

fn verification(row: &Row) -> Option<String> {
    let word = match row.record.verdict.as_ref()? {
        Verdict::Certified { .. } => "certified",
        Verdict::Wrong { .. } => "wrong",
    };
    Some(word.to_owned())
}

fn checked(row: &Row) -> Option<String> {
    match row.record.verdict.as_ref()? {
        Verdict::Certified { checked } => Some(checked.to_string()),
        Verdict::Wrong { .. } => None,
    }
}

fn device(row: &Row) -> Option<String> {
    let name = device_name(row.record.case.backend(), row.environment, row.devices);
    (!name.is_empty()).then(|| name.to_owned())
}

/// Rounds that were measured, second looks at flagged ones included.
fn attempts(row: &Row) -> Option<String> {
    let count = row.record.rounds.len() + row.record.set_aside.len();
    (count > 0).then(|| count.to_string())
}

/// What a reader should know before trusting the times, joined by `;`.
fn flags(row: &Row) -> Option<String> {
    let statistics = stat(row)?;
    let short = rounds(row).any(|r| r.samples.iter().any(|s| s * f64::from(r.batch) < SHORT));
    let flags = [
        ("partial", row.record.status == Status::Partial),
        ("uncertified", row.record.verdict.is_none()),
        ("short", short),
        ("unsteady", statistics.unsteady()),
    ];
    let noise = row.record.flags().into_iter().map(|flag| flag.word());
    let raised: Vec<&str> = flags.iter().filter(|(_, is)| *is).map(|(word, _)| *word).chain(noise).collect();
    (!raised.is_empty()).then(|| raised.join(";"))
}
