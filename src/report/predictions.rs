//! Tables and charts of predictions without measurements.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::accuracy::Silence;
use super::copies::Copies;
use super::names::chart_names;
use super::replace::replace;
use super::series::{models, series};
use super::svg::{Caption, render};
use super::table::{Column, NO_UNIT, Table};
use super::{Origin, csv};
use crate::case::Params;
use crate::recipe::plan::{Plan, Quantity};
use crate::run::{Record, Status};

/// The table of predictions.
const TABLE: &str = "predictions.csv";

/// A prediction of a model.
#[derive(Clone, Debug)]
pub struct Row {
    /// Label of the case.
    case: String,
    model: &'static str,
    /// Effective bandwidth, GB/s.
    rate: Option<f64>,
    seconds: f64,
    limit: &'static str,
    /// The method that would be chosen if it is open, in words.
    chosen: Option<String>,
}

/// Predictions for an experiment.
#[derive(Clone, Debug, Default)]
pub struct Foretold {
    /// One row for each case and model.
    pub rows: Vec<Row>,
    /// Number of cases without a prediction, by reason.
    pub silent: BTreeMap<Silence, usize>,
}

/// Predictions of the chart's models for an experiment's cases; peers are not predicted.
pub fn foretold(plan: &Plan, experiment: usize, records: &[Record]) -> Foretold {
    let mut told = Foretold::default();
    let Some(wanted) = plan.experiments.get(experiment) else { return told };
    let own = || records.iter().filter(|r| r.case.experiment == experiment && r.case.peer().is_none());
    for model in models(&wanted.chart, own()) {
        for record in own().filter(|r| !matches!(r.status, Status::NotApplicable(_))) {
            let Some(forecast) = record.forecast(model) else { continue };
            match &forecast.outcome {
                Ok(prediction) => told.rows.push(Row {
                    case: wanted.label(&record.case),
                    model,
                    rate: record.quantity_at(Quantity::Bandwidth, prediction.seconds),
                    seconds: prediction.seconds,
                    limit: prediction.limit,
                    chosen: forecast.chosen.as_ref().map(method),
                }),
                Err(why) => {
                    let silence = (model, record.case.backend().to_owned(), why.clone());
                    *told.silent.entry(silence).or_default() += 1;
                }
            }
        }
    }
    told
}

/// A method in words: `partitioned, bits 11, passes 1`.
fn method(params: &Params) -> String {
    let name = params.text("method").unwrap_or_default();
    let own = format!("method.{name}.");
    let values =
        params.0.iter().filter_map(|(key, value)| Some(format!(", {} {value}", key.strip_prefix(&own)?)));
    std::iter::once(name.to_owned()).chain(values).collect()
}

type RowColumn<'a> = Column<'a, &'a Row>;

/// A human-readable table; it has the method only if one was open.
pub fn lines(rows: &[Row]) -> Vec<String> {
    let mut columns = vec![
        RowColumn::new("case", NO_UNIT, |row| row.case.clone()),
        RowColumn::new("model", NO_UNIT, |row| row.model),
        RowColumn::new("GB/s", "GB/s", |row| row.rate),
        RowColumn::new("time", "s", |row| row.seconds),
        RowColumn::new("limit", NO_UNIT, |row| row.limit),
    ];
    if rows.iter().any(|row| row.chosen.is_some()) {
        columns.push(RowColumn::new("chosen method", NO_UNIT, |row| row.chosen.clone()));
    }
    Table::new(columns, rows).lines()
}

/// Writes `predictions.csv`, with the columns of `results.csv`, and one chart for each experiment into
/// `folder`, which is created if necessary, and returns their paths.
///
/// # Errors
/// A file that cannot be written; an older file of this name is preserved.
pub fn write(folder: &Path, origin: &Origin, records: &[Record]) -> Result<Vec<PathBuf>> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let mut paths = vec![replace(folder, TABLE, |out| csv::results(out, origin, records, &Copies::new()))?];
    let slugs = origin.plan.experiments.iter().map(|experiment| experiment.slug.as_str());
    for (experiment, name) in chart_names(slugs).iter().enumerate() {
        let mut data = series(origin.plan, experiment, records);
        data.notes.clear();
        let document = render(&data, &Caption::predicted(origin, experiment))?;
        paths.push(replace(folder, name, |out| Ok(out.write_all(document.as_bytes())?))?);
    }
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::protocol::Environment;
    use crate::model::Profiles;
    use crate::model::held_fixture as profile;
    use crate::run::Ledger;
    use crate::tui::tests::{fixture, script};

    fn predicted(mut ledger: Ledger) -> Ledger {
        ledger.predict_from(Profiles::given(vec![profile("bench", 150e9, 32 << 20)]));
        ledger
    }

    fn plan() -> Plan {
        let mut plan = fixture::passes();
        plan.experiments[0].chart.models = Some(vec!["he2007".to_owned()]);
        plan
    }

    #[test]
    fn a_recipe_is_foretold_in_a_table_and_a_chart_without_a_point() {
        let ledger = predicted(Ledger::new(plan()));
        let told = foretold(ledger.plan(), 0, ledger.records());
        assert_eq!(told.rows.len(), 7, "one for each pass count on the CPU; CUDA cannot run");
        assert!(
            told.rows.iter().all(|row| row.model == "he2007" && !row.limit.is_empty()),
            "{:?}",
            told.rows
        );
        let folder = tempfile::tempdir().expect("a folder");
        let environment = Environment::default();
        let (plan, devices) = (ledger.plan(), &[]);
        let origin = Origin { plan, version: "1", date: "", environment: &environment, devices };
        let paths = write(folder.path(), &origin, ledger.records()).expect("written");
        let read = |at: usize| fs::read_to_string(&paths[at]).expect("a file");
        let head = read(0).lines().next().expect("a head").to_owned();
        let columns = "he2007.predicted_s,he2007.limit,he2007.accuracy,he2007.profile";
        assert!(head.ends_with(columns), "{head}");
        let chart = read(1);
        assert!(chart.contains("he2007, bench") && chart.contains("Predicted; nothing was measured"));
        let circles = chart.matches("<circle").count();
        assert!(!chart.contains(">\nnothing measured\n<"), "{chart}");
        assert_eq!(circles, 2, "disk and rim of the marker in the legend");
    }

    #[test]
    fn a_chart_has_the_model_under_its_points_and_how_far_they_are_from_it() {
        let ledger = predicted(script::played(&plan()));
        let data = series(ledger.plan(), 0, ledger.records());
        let [line] = data.panels[0].models.as_slice() else { panic!("one line: only the CPU has a profile") };
        assert_eq!((line.points.len(), line.before), (7, false));
        let residual = data.residual().expect("both are there");
        for point in residual.panels[0].lines.iter().flat_map(|line| &line.points) {
            let case = point.value.case;
            let record = &ledger.records()[case];
            let measured = record.statistics.as_ref().expect("measured").median;
            let predicted = record.prediction("he2007").expect("predicted").seconds;
            let share = (predicted / measured - 1.0) * 100.0;
            assert!(
                (point.value.y - share).abs() < 1e-9 * share.abs().max(1.0),
                "rates are as times' inverse"
            );
        }
        let none = Plan { experiments: fixture::passes().experiments, ..plan() };
        let ledger = predicted(Ledger::new(none));
        let data = series(ledger.plan(), 0, ledger.records());
        assert!(data.models.is_empty(), "the usual model has no rates to go by");
    }
}
