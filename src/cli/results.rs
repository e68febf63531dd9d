//! Prints the results of a run as a table for people.

use std::collections::BTreeMap;

use super::out;
use crate::case::{Transfer, units};
use crate::model::DEFAULT_MODEL;
use crate::primitives;
use crate::recipe::plan::Experiment;
use crate::report::html::Measured;
use crate::report::names::cases;
use crate::report::series::models;
use crate::report::speed_of_light::SpeedsOfLight;
use crate::report::table::{Column, NO_UNIT, OWN_UNIT, Table};
use crate::report::{accuracy, choices, quantities, settings};
use crate::run::{Ledger, Record, Status};
use crate::stats;

/// Most rows to print: longer tables are better read in `results.csv`.
const MOST: usize = 60;

/// Prints the measurements, one experiment after another, and why the other cases have no figure.
pub fn print(ledger: &Ledger) {
    for (number, experiment) in ledger.plan().experiments.iter().enumerate() {
        let Measured { mut table, remarks } = measured(ledger, number);
        if !table.rows.is_empty() {
            out::line("");
            out::line(&experiment.title);
            let more = table.rows.len().saturating_sub(MOST);
            table.rows.truncate(MOST);
            table.lines().iter().for_each(|line| out::line(line));
            if more > 0 {
                out::line(&format!("… and {more} more in results.csv"));
            }
        }
        remarks.iter().for_each(|line| out::line(line));
    }
    out::line("");
}

/// The measurements of this experiment of the plan, and remarks on them.
pub fn measured(ledger: &Ledger, number: usize) -> Measured<'_> {
    let plan = ledger.plan();
    let records = ledger.records().iter().filter(|record| record.case.experiment == number);
    let Some(experiment) = plan.experiments.get(number) else {
        return Measured { table: Table::new([], []), remarks: Vec::new() };
    };
    let table = Table::new(columns(experiment), records.clone().filter(|record| has_row(record)));
    let mut remarks = choices::lines(experiment, ledger.records(), number);
    remarks.extend(settings::lines(records.clone()));
    remarks.extend(records.clone().filter_map(|record| findings(experiment, record)));
    let speeds = SpeedsOfLight::new(plan, ledger.references());
    remarks.extend([speeds.words(records.clone()), speeds.bound(records.clone())].into_iter().flatten());
    remarks.extend(accuracies(experiment, records.clone()));
    if records.clone().any(|record| record.accuracy(DEFAULT_MODEL).is_some()) {
        remarks.extend(accuracy::doubts(ledger.profiles()));
    }
    remarks.extend(reasons(records));
    Measured { table, remarks }
}

/// The findings of a case's executions, as its primitive tells them.
fn findings(experiment: &Experiment, record: &Record) -> Option<String> {
    let found = primitives::problem(&record.case).ok()?.findings(&record.rounds.last()?.resolved)?;
    Some(format!("{}: {found}", experiment.label(&record.case)))
}

/// The accuracy of the experiment's models, and what they do not predict.
fn accuracies<'a>(experiment: &Experiment, records: impl Iterator<Item = &'a Record> + Clone) -> Vec<String> {
    let words = |model: &'static str| {
        let found: Vec<f64> = records.clone().filter_map(|record| record.accuracy(model)).collect();
        Some(format!("{model}: {}", accuracy::words(&found)?))
    };
    models(&experiment.chart, records.clone()).into_iter().filter_map(words).collect()
}

/// Whether the case was measured, at least in part, or failed.
fn has_row(record: &Record) -> bool {
    record.statistics.is_some() || matches!(record.status, Status::Failed(_))
}

type RecordColumn<'a> = Column<'a, &'a Record>;

/// The last column holds what speaks against a figure.
fn columns(experiment: &Experiment) -> [RecordColumn<'_>; 6] {
    let rate = quantities::rate(experiment.chart.y);
    [
        RecordColumn::new("case", NO_UNIT, |record| experiment.label(&record.case)),
        RecordColumn::new(quantities::column_unit(rate), OWN_UNIT, move |record| {
            quantities::in_column(record, rate)
        }),
        RecordColumn::new("median", "s", |record| Some(record.statistics.as_ref()?.median)),
        RecordColumn::new("±", "ratio", |record| stats::half_width(&record.medians())),
        RecordColumn::new("rounds", "rounds", |record| Some(record.statistics.as_ref()?.rounds)),
        RecordColumn::new("", NO_UNIT, |record| remarks(record)),
    ]
}

/// Remarks that a reader needs before trusting the figures.
fn remarks(record: &Record) -> String {
    match &record.status {
        Status::Failed(error) => return format!("FAILED: {error}"),
        Status::Partial => return "not all rounds".to_owned(),
        Status::Done | Status::NotApplicable(_) | Status::Pending => {}
    }
    let flags = record.flags();
    let mut remarks: Vec<String> = flags.iter().map(|flag| flag.word().to_owned()).collect();
    if record.statistics.as_ref().is_some_and(stats::Statistics::unsteady) {
        remarks.push("unsteady".to_owned());
    }
    remarks.extend(transfers(record));
    remarks.join(", ")
}

/// `to the device in 1.20 ms, back in 0.61 ms`.
fn transfers(record: &Record) -> Option<String> {
    let part = |of: fn(&Transfer) -> f64| record.transfer(of).map(units::fmt_seconds);
    let (there, back) = (part(|t| t.in_seconds)?, part(|t| t.out_seconds)?);
    Some(format!("to the device in {there}, back in {back}"))
}

/// Lines such as `n/a: no CUDA driver (16 cases)` and `not started (3 cases)`.
fn reasons<'a>(records: impl Iterator<Item = &'a Record>) -> Vec<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for record in records {
        let reason = match &record.status {
            Status::NotApplicable(reason) => format!("n/a: {reason}"),
            Status::Pending => "not started".to_owned(),
            Status::Done | Status::Partial | Status::Failed(_) => continue,
        };
        *counts.entry(units::escaped(&reason)).or_default() += 1;
    }
    counts.into_iter().map(|(reason, count)| format!("{reason} ({})", cases(count))).collect()
}
