//! The methods that `auto` chose, and their regret against the best alternative of the same run.

use crate::case::{Case, Params, Value, units};
use crate::recipe::plan::Experiment;
use crate::run::Record;

/// A case whose method was chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// Identity of the case.
    pub case: String,
    /// `multipass, passes 4`.
    pub chosen: String,
    /// The fastest case of the run with the same parameters except the method, in the same format, and its
    /// median in seconds.
    pub best: Option<(String, f64)>,
    /// t_auto / t_best − 1; negative if the choice was faster.
    pub regret: Option<f64>,
}

/// All measured cases whose method was chosen.
pub fn choices(records: &[Record]) -> Vec<Choice> {
    records
        .iter()
        .filter(|record| is_open(&record.case))
        .filter_map(|record| choice(record, records))
        .collect()
}

fn choice(record: &Record, records: &[Record]) -> Option<Choice> {
    let resolved = &record.rounds.last()?.resolved;
    let chosen = words(resolved.iter().map(|(key, value)| (key, value)));
    if chosen.is_empty() {
        return None;
    }
    let best = best(record, records);
    let median = record.statistics.as_ref().filter(|_| record.stands()).map(|s| s.median);
    let regret = median.zip(best.as_ref()).map(|(median, (_, best))| median / best - 1.0);
    Some(Choice {
        case: record.case.id.clone(),
        chosen,
        best,
        regret: regret.filter(|regret| regret.is_finite()),
    })
}

fn is_open(case: &Case) -> bool {
    case.params.text("method") == Some("auto")
}

/// The fastest other case with the same computation on the same device.
fn best(record: &Record, records: &[Record]) -> Option<(String, f64)> {
    let same = |other: &&Record| {
        other.case.primitive == record.case.primitive
            && other.case.seed == record.case.seed
            && !is_open(&other.case)
            && other.stands()
            && apart_from_method(&other.case.params) == apart_from_method(&record.case.params)
    };
    let timed = |other: &Record| Some((words(other.case.params.0.iter()), other.statistics.as_ref()?.median));
    records.iter().filter(same).filter_map(timed).min_by(|a, b| a.1.total_cmp(&b.1))
}

fn is_method(key: &str) -> bool {
    key == "method" || key.starts_with("method.")
}

fn apart_from_method(params: &Params) -> Params {
    Params(params.0.iter().filter(|(key, _)| !is_method(key)).map(|(k, v)| (k.clone(), v.clone())).collect())
}

/// `multipass, passes 4`.
fn words<'a>(params: impl Iterator<Item = (&'a String, &'a Value)>) -> String {
    let word = |(key, value): (&String, &Value)| match key.rsplit('.').next() {
        Some("method") | None => value.to_string(),
        Some(last) => format!("{last} {value}"),
    };
    let mut all: Vec<String> = params.filter(|(key, _)| is_method(key)).map(word).collect();
    all.dedup();
    all.join(", ")
}

/// One line for each choice of an experiment, and one that summarises all of them.
pub fn lines(experiment: &Experiment, records: &[Record], number: usize) -> Vec<String> {
    let all = choices(records);
    let of = |choice: &Choice| records.iter().find(|record| record.case.id == choice.case);
    let here = all.iter().filter_map(|choice| {
        let record = of(choice).filter(|record| record.case.experiment == number)?;
        Some((line(experiment, record, choice), choice.regret))
    });
    let (mut lines, regrets): (Vec<String>, Vec<Option<f64>>) = here.unzip();
    let regrets: Vec<f64> = regrets.into_iter().flatten().collect();
    if regrets.len() > 1 {
        let mean = regrets.iter().sum::<f64>() / regrets.len() as f64;
        let worst = regrets.iter().copied().fold(f64::MIN, f64::max);
        lines.push(format!("auto: regret {} on average, {} at worst", percent(mean), percent(worst)));
    }
    lines
}

fn line(experiment: &Experiment, record: &Record, choice: &Choice) -> String {
    let head = format!("{}: {}", experiment.label(&record.case), choice.chosen);
    match (&choice.best, choice.regret) {
        (Some((best, seconds)), Some(regret)) => {
            let best = format!("best measured {best} with {}", units::fmt_seconds(*seconds));
            format!("{head}; {best}; regret {}", percent(regret))
        }
        _ => format!("{head}; no alternative measured beside it"),
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Verdict;
    use crate::engine::protocol::{Event, RoundResult};
    use crate::recipe::parse;
    use crate::recipe::plan::{Overrides, resolve};
    use crate::run::Ledger;

    /// A run of `auto`, which chose four passes, with alternatives that took these seconds.
    fn ran(methods: &str, seconds: &[f64]) -> Ledger {
        let lines = if methods.contains("passes") { "[method, passes]" } else { "method" };
        let text = format!(
            "scatter: {{method: {methods}, tuples: [1Ki, 2Ki]}}\nbackend: cpu\nchart: {{x: tuples, lines: {lines}}}\n"
        );
        let plan =
            resolve(&parse("a.yaml", &text).expect("a recipe"), &Overrides::default()).expect("a plan");
        let mut ledger = Ledger::new(plan.clone());
        for (at, (case, seconds)) in plan.cases.iter().zip(seconds).enumerate() {
            let open = is_open(case);
            let passes = ("method.multipass.passes".to_owned(), Value::Int(4));
            let became = vec![("method".to_owned(), Value::Text("multipass".into())), passes];
            let result = RoundResult {
                case: case.id.clone(),
                samples: vec![*seconds; 3],
                batch: 1,
                verdict: Some(Verdict::Certified { checked: 1 }),
                resolved: if open { became } else { Vec::new() },
                ..RoundResult::default()
            };
            ledger.apply(&Event::Round { seq: at as u64, result });
        }
        ledger
    }

    #[test]
    fn the_regret_is_against_the_best_of_the_same_case() {
        // The method varies slower than the number of tuples.
        let ledger =
            ran("[auto, direct, {multipass: {passes: [2, 4]}}]", &[1.1, 3.0, 2.0, 9.0, 1.0, 4.0, 1.2, 2.0]);
        let all = choices(ledger.records());
        let told: Vec<(&str, &str)> =
            all.iter().map(|c| (c.chosen.as_str(), c.best.as_ref().expect("measured").0.as_str())).collect();
        assert_eq!(
            told,
            [("multipass, passes 4", "multipass, passes 2"), ("multipass, passes 4", "multipass, passes 4")]
        );
        let regrets: Vec<f64> = all.iter().filter_map(|c| c.regret).collect();
        assert!((regrets[0] - 0.1).abs() < 1e-9 && (regrets[1] - 0.5).abs() < 1e-9, "{regrets:?}");
        let experiment = &ledger.plan().experiments[0];
        let lines = lines(experiment, ledger.records(), 0);
        assert!(
            lines[0].ends_with("best measured multipass, passes 2 with 1.00 s; regret 10.0 %"),
            "{}",
            lines[0]
        );
        assert_eq!(lines[2], "auto: regret 30.0 % on average, 50.0 % at worst");
    }

    #[test]
    fn alone_there_is_nothing_to_regret() {
        let ledger = ran("auto", &[1.0, 2.0]);
        assert!(choices(ledger.records()).iter().all(|choice| choice.regret.is_none()));
        let lines = lines(&ledger.plan().experiments[0], ledger.records(), 0);
        assert_eq!(lines.len(), 2);
        assert!(lines[0].ends_with("multipass, passes 4; no alternative measured beside it"), "{}", lines[0]);
    }
}
