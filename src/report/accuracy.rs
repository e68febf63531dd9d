//! Accuracy of predictions: per experiment, over several experiments, and over all.

use std::collections::BTreeMap;

use super::names::cases;
use super::table::{Column, NO_UNIT, Table};
use crate::case::units;
use crate::model::{self, DEFAULT_MODEL, Profile, Profiles};
use crate::recipe::plan::Plan;
use crate::run::{Ledger, Record};
use crate::stats::quantile_of;

/// A case that was both measured and predicted.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// The experiment's title.
    pub experiment: String,
    pub backend: String,
    /// Label of the case.
    pub case: String,
    pub model: &'static str,
    /// Name of the profile.
    pub profile: String,
    /// Seconds of one execution: the median of the rounds' medians.
    pub measured: f64,
    /// Seconds.
    pub predicted: f64,
    pub limit: &'static str,
    /// 1 − |v − v'| / v (he2007 §3.5, with the erratum).
    pub accuracy: f64,
}

/// A measured case without a prediction, as (model, backend, reason).
pub type Silence = (&'static str, String, String);

/// Measured cases with and without predictions, over all ledgers added.
#[derive(Clone, Debug, Default)]
pub struct Ledgers {
    pub held: Vec<Compared>,
    /// Number of cases for each silence.
    pub silent: BTreeMap<Silence, usize>,
}

impl Ledgers {
    /// Adds the valid results of a run; peers are not predicted.
    pub fn add(&mut self, ledger: &Ledger, wanted: &dyn Fn(&Record, &str) -> bool) {
        let records = ledger.measured().map(|(_, record)| record);
        let measured = records.filter(|r| r.stands() && r.case.peer().is_none());
        for record in measured.filter(|r| r.statistics.is_some()) {
            for forecast in record.forecasts.iter().filter(|f| wanted(record, f.model)) {
                match &forecast.outcome {
                    Ok(_) => self.held.extend(held(ledger.plan(), record, forecast.model)),
                    Err(why) => {
                        let silence = (forecast.model, record.case.backend().to_owned(), why.clone());
                        *self.silent.entry(silence).or_default() += 1;
                    }
                }
            }
        }
    }

    /// One group for each model, experiment and backend in order of appearance, and one for all experiments
    /// of a model on a backend if there are several.
    pub fn groups(&self) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        for held in &self.held {
            for experiment in [Some(held.experiment.clone()), None] {
                let same = |g: &&mut Group| {
                    g.model == held.model && g.backend == held.backend && g.experiment == experiment
                };
                match groups.iter_mut().find(same) {
                    Some(group) => group.held.push(held.clone()),
                    None => {
                        let (model, backend) = (held.model, held.backend.clone());
                        groups.push(Group { model, experiment, backend, held: vec![held.clone()] });
                    }
                }
            }
        }
        let single = |group: &Group| {
            let own = |h: &&Compared| h.model == group.model && h.backend == group.backend;
            let mut titles = self.held.iter().filter(own).map(|h| &h.experiment);
            titles.next().is_some_and(|first| titles.all(|title| title == first))
        };
        groups.retain(|group| group.experiment.is_some() || !single(group));
        groups.sort_by_key(|group| (group.model, group.backend.clone(), group.experiment.is_none()));
        groups
    }
}

fn held(plan: &Plan, record: &Record, model: &'static str) -> Option<Compared> {
    let (forecast, prediction) = (record.forecast(model)?, record.prediction(model)?);
    let experiment = plan.experiments.get(record.case.experiment)?;
    Some(Compared {
        experiment: experiment.title.clone(),
        backend: record.case.backend().to_owned(),
        case: experiment.label(&record.case),
        model,
        profile: forecast.profile.clone().unwrap_or_default(),
        measured: record.statistics.as_ref()?.median,
        predicted: prediction.seconds,
        limit: prediction.limit,
        accuracy: record.accuracy(model)?,
    })
}

/// Predictions of one model on one backend.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    pub model: &'static str,
    /// Title of the experiment; `None` for all experiments together.
    pub experiment: Option<String>,
    pub backend: String,
    /// At least one case.
    pub held: Vec<Compared>,
}

impl Group {
    fn accuracies(&self) -> Vec<f64> {
        self.held.iter().map(|held| held.accuracy).collect()
    }

    /// Arithmetic mean of the accuracies.
    pub fn mean(&self) -> f64 {
        self.accuracies().iter().sum::<f64>() / self.held.len() as f64
    }

    /// The tenth percentile: nine cases of ten are at least this accurate.
    pub fn p10(&self) -> Option<f64> {
        quantile_of(&self.accuracies(), 0.1)
    }

    /// The case with the least accuracy.
    pub fn worst(&self) -> Option<&Compared> {
        self.held.iter().min_by(|a, b| a.accuracy.total_cmp(&b.accuracy))
    }
}

/// `94.3 %`.
pub fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// `accuracy mean 94.1 %, p10 82.0 %, least 70.3 %, median error 4.2 % (24 cases)`; `None` without cases.
pub fn words(accuracies: &[f64]) -> Option<String> {
    let least = accuracies.iter().copied().min_by(f64::total_cmp)?;
    let mean = accuracies.iter().sum::<f64>() / accuracies.len() as f64;
    let p10 = quantile_of(accuracies, 0.1)?;
    let [mean, p10, worst, error] = [mean, p10, least, median_error(accuracies)?].map(percent);
    let below = if least < 0.0 { format!("; {BELOW}") } else { String::new() };
    let count = cases(accuracies.len());
    Some(format!("accuracy mean {mean}, p10 {p10}, least {worst}, median error {error} ({count}){below}"))
}

/// The median of |v − v'| / v, which is 1 less the accuracy.
fn median_error(accuracies: &[f64]) -> Option<f64> {
    Some(1.0 - quantile_of(accuracies, 0.5)?)
}

/// The median error of the usual model for each backend, were these measured cases predicted from these profiles.
pub fn median_errors(records: &[Record], profiles: &Profiles) -> BTreeMap<String, f64> {
    let mut accuracies: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for record in records.iter().filter(|record| record.stands()) {
        let Some(statistics) = &record.statistics else { continue };
        let forecasts = profiles.forecasts(&record.case, record.work.as_ref());
        let usual = forecasts.into_iter().find(|forecast| forecast.model == DEFAULT_MODEL);
        if let Some(Ok(prediction)) = usual.map(|forecast| forecast.outcome) {
            let accuracy = model::accuracy(statistics.median, prediction.seconds);
            accuracies.entry(record.case.backend().to_owned()).or_default().push(accuracy);
        }
    }
    accuracies.into_iter().filter_map(|(backend, all)| Some((backend, median_error(&all)?))).collect()
}

/// What the group of all experiments is called.
const ALL: &str = "all experiments";

/// Explains an accuracy below zero.
pub const BELOW: &str = "below 0 %: predicted to take more than twice the measured time";

/// The profiles that are themselves in doubt: `profile amd-epyc-2: quick, 38 % doubtful`.
pub fn doubts(profiles: &Profiles) -> Vec<String> {
    let line = |profile: &Profile| Some(format!("profile {}: {}", profile.name, profile.doubt()?));
    let mut lines: Vec<String> = profiles.all().filter_map(line).collect();
    lines.dedup();
    lines
}

type GroupColumn<'a> = Column<'a, &'a Group>;

/// The groups as a table.
pub fn table(groups: &[Group]) -> Table<'_, &Group> {
    let least = |group: &&Group| group.worst().map(|held| held.accuracy);
    let columns = [
        GroupColumn::new("model", NO_UNIT, |group| group.model),
        GroupColumn::new("backend", NO_UNIT, |group| group.backend.clone()),
        GroupColumn::new("experiment", NO_UNIT, |group| group.experiment.clone()).or(ALL),
        GroupColumn::new("cases", "cases", |group| group.held.len()),
        GroupColumn::new("mean", "ratio", |group| group.mean()),
        GroupColumn::new("p10", "ratio", |group| group.p10()),
        GroupColumn::new("least", "ratio", least),
        GroupColumn::new("least_case", NO_UNIT, |group| group.worst().map(|held| held.case.clone()))
            .headed("of"),
        GroupColumn::new("median_error", "ratio", |group| median_error(&group.accuracies()))
            .headed("median error"),
    ];
    Table::new(columns, groups)
}

/// The table of groups for people.
pub fn lines(groups: &[Group]) -> Vec<String> {
    let names =
        ["model", "backend", "experiment", "cases", "mean", "median_error", "p10", "least", "least_case"];
    table(groups).only(&names).lines()
}

type CaseColumn<'a> = Column<'a, &'a Compared>;

/// The cases as a table, in their order.
pub fn case_table(held: &[Compared]) -> Table<'_, &Compared> {
    let columns = [
        CaseColumn::new("model", NO_UNIT, |held| held.model),
        CaseColumn::new("backend", NO_UNIT, |held| held.backend.clone()),
        CaseColumn::new("experiment", NO_UNIT, |held| held.experiment.clone()),
        CaseColumn::new("case", NO_UNIT, |held| held.case.clone()),
        CaseColumn::new("profile", NO_UNIT, |held| held.profile.clone()),
        CaseColumn::new("measured_s", "s", |held| held.measured).headed("measured"),
        CaseColumn::new("predicted_s", "s", |held| held.predicted).headed("predicted"),
        CaseColumn::new("limit", NO_UNIT, |held| held.limit),
        CaseColumn::new("accuracy", "ratio", |held| held.accuracy),
    ];
    Table::new(columns, held)
}

/// The table of cases for people, the least accurate first.
pub fn case_lines(held: &[Compared]) -> Vec<String> {
    let names = ["model", "experiment", "case", "measured_s", "predicted_s", "accuracy", "limit"];
    let mut table = case_table(held).only(&names);
    table.rows.sort_by(|a, b| a.accuracy.total_cmp(&b.accuracy));
    table.lines()
}

/// `sector: n/a on cpu: no profile of cpu (16 cases)`.
pub fn silences(silent: &BTreeMap<Silence, usize>) -> Vec<String> {
    let line = |((model, backend, why), count): (&Silence, &usize)| {
        format!("{model}: n/a on {backend}: {} ({})", units::escaped(why), cases(*count))
    };
    silent.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::held_fixture as profile;
    use crate::tui::tests::{fixture, script};

    fn held(experiment: &str, accuracy: f64) -> Compared {
        let [experiment, backend, case, profile] =
            [experiment, "cpu", &format!("at {accuracy}"), "p"].map(str::to_owned);
        let (model, limit) = ("m", "l");
        Compared { experiment, backend, case, model, profile, measured: 1.0, predicted: 1.0, limit, accuracy }
    }

    #[test]
    fn groups_have_mean_tenth_percentile_and_worst_case() {
        let first = (0..=10).map(|i| held("a", f64::from(i) / 10.0));
        let held = first.chain([held("b", -1.0)]).collect();
        let groups = Ledgers { held, silent: BTreeMap::new() }.groups();
        let told: Vec<_> = groups.iter().map(|g| (g.experiment.as_deref(), g.held.len())).collect();
        assert_eq!(told, [(Some("a"), 11), (Some("b"), 1), (None, 12)]);
        assert!((groups[0].mean() - 0.5).abs() < 1e-12);
        assert!(groups[0].p10().is_some_and(|p10| (p10 - 0.1).abs() < 1e-12));
        assert_eq!(groups[2].worst().map(|held| held.case.as_str()), Some("at -1"));
        assert_eq!(words(&[]), None);
        let one = "accuracy mean 50.0 %, p10 50.0 %, least 50.0 %, median error 50.0 % (1 case)";
        assert_eq!(words(&[0.5]).as_deref(), Some(one));
        let below = words(&[0.9, 0.8, -1.567]).expect("three cases");
        assert!(
            below.contains("least -156.7 %, median error 20.0 % (3 cases); below 0 %: predicted"),
            "{below}"
        );
    }

    #[test]
    fn what_stands_is_compared_and_what_is_not_predicted_is_told() {
        let plan = fixture::passes();
        let mut ledger = script::played(&plan);
        let mut all = Ledgers::default();
        all.add(&ledger, &|_, model| model == "he2007");
        assert!(all.held.is_empty());
        let why = |all: &Ledgers| all.silent.keys().map(|(_, _, why)| why.clone()).collect::<Vec<_>>();
        assert_eq!(why(&all), ["no profile of cpu"]);
        ledger.predict_from(Profiles::given(vec![profile("bench", 150e9, 32 << 20)]));
        let mut all = Ledgers::default();
        all.add(&ledger, &|_, model| model == "he2007");
        let measured = ledger.records().iter().filter(|record| record.stands()).count();
        assert_eq!((all.held.len(), all.silent.len()), (measured, 0));
        assert!(measured > 0 && all.held.iter().all(|held| held.profile == "bench"));
    }
}
