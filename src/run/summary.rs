//! A stored run in a few lines, as kept by the list of runs.

use std::path::Path;

use super::repeat::Repeat;
use super::stored::Stored;
use super::{Ledger, Record, Status, verdict};
use crate::case::units::escaped;
use crate::case::{Availability, Device};
use crate::recipe::plan::{Experiment, Quantity};

/// Longest text kept, characters.
const WORD: usize = 200;
/// Most lines of the recipe kept.
const RECIPE_LINES: usize = 40;
/// Most experiments, devices and overrides kept.
const MOST: usize = 24;

/// Summary of a run. Every text is a single line without control characters, because a folder may come from an
/// untrusted source.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    pub title: String,
    /// Hash of the run's recipe.
    pub recipe_hash: String,
    /// Overrides of the recipe.
    pub overrides: Vec<String>,
    /// `YYYY-MM-DD HH:MM:SS` UTC.
    pub started: String,
    pub version: String,
    pub revision: String,
    pub host: String,
    pub cpu: String,
    /// `linux 6.1`.
    pub system: String,
    /// Bytes.
    pub memory: u64,
    /// Backends of the plan's cases, in order of appearance.
    pub backends: Vec<String>,
    /// `cuda: NVIDIA H200`, `cuda n/a: no CUDA driver`.
    pub devices: Vec<String>,
    pub tally: Tally,
    /// Whether resuming the run would have nothing to do.
    pub complete: bool,
    /// What the results are worth ([`super::verdict`]); `None` if nothing was measured.
    pub verdict: Option<String>,
    /// Seconds that the run has taken; `None` in old runs without times.
    pub took: Option<f64>,
    pub results: Vec<Outcome>,
    /// The error of the first failed case.
    pub failure: Option<String>,
    pub repeat: Repeat,
    /// The recipe's first lines.
    pub recipe: Vec<String>,
}

/// Number of cases by state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub done: usize,
    /// Pending and partial cases.
    pub open: usize,
    pub failed: usize,
    /// Cases that are `n/a`.
    pub absent: usize,
    /// Cases that are done but have a flagged round.
    pub doubtful: usize,
}

impl Tally {
    fn of(ledger: &Ledger) -> Tally {
        let mut tally = Tally::default();
        for (_, record) in ledger.measured() {
            match record.status {
                Status::Done => tally.done += 1,
                Status::Pending | Status::Partial => tally.open += 1,
                Status::Failed(_) => tally.failed += 1,
                Status::NotApplicable(_) => tally.absent += 1,
            }
            tally.doubtful += usize::from(record.status == Status::Done && !record.flags().is_empty());
        }
        tally
    }

    /// Number of cases that could run.
    pub fn possible(&self) -> usize {
        self.done + self.open + self.failed
    }
}

/// The results of an experiment on one backend.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    pub experiment: String,
    pub backend: String,
    pub quantity: Quantity,
    /// Smallest and largest value of the chart's quantity, in its unit.
    pub range: [f64; 2],
    /// Number of cases with a result.
    pub cases: usize,
}

impl Summary {
    pub fn of(stored: &Stored) -> Summary {
        let (manifest, records) = (&stored.manifest, stored.ledger.records());
        let environment = &manifest.environment;
        let failure = records.iter().find_map(|record| match &record.status {
            Status::Failed(error) => Some(word(error)),
            _ => None,
        });
        Summary {
            title: word(&manifest.plan.title),
            recipe_hash: word(&manifest.plan.recipe_hash),
            overrides: manifest.plan.overrides.iter().take(MOST).map(|text| word(text)).collect(),
            started: word(&manifest.started),
            version: word(&manifest.version),
            revision: word(&manifest.revision),
            host: word(&environment.host),
            cpu: word(&environment.cpu),
            system: word(&format!("{} {}", environment.os, environment.kernel)),
            memory: environment.memory,
            backends: backends(records),
            devices: manifest.devices.iter().take(MOST).map(device).collect(),
            tally: Tally::of(&stored.ledger),
            complete: stored.ledger.is_complete(),
            verdict: verdict::of_results(&manifest.plan, records),
            took: took(&stored.ledger),
            results: results(&manifest.plan.experiments, records),
            failure,
            repeat: repeat(&stored.path, stored),
            recipe: stored.recipe.lines().take(RECIPE_LINES).map(word).collect(),
        }
    }
}

/// Escapes control characters and limits the length.
fn word(text: &str) -> String {
    let mut text = escaped(text.trim_end());
    if let Some((end, _)) = text.char_indices().nth(WORD) {
        text.truncate(end);
        text.push('…');
    }
    text
}

fn repeat(path: &Path, stored: &Stored) -> Repeat {
    let Repeat { replay, run } = Repeat::of(path, &stored.manifest);
    // A truncated command line would do something else.
    let whole = |line: String| if line.len() <= LONGEST_COMMAND { line } else { replay.clone() };
    Repeat { run: whole(run), replay: replay.clone() }
}

/// Longest command line kept, bytes.
const LONGEST_COMMAND: usize = 4096;

fn backends(records: &[Record]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for record in records {
        let name = record.case.backend();
        if names.len() < MOST && !names.iter().any(|known| known == name) {
            names.push(word(name));
        }
    }
    names
}

fn device(device: &Device) -> String {
    word(&match &device.availability {
        Availability::Available => format!("{}: {}", device.backend, device.name),
        Availability::Unavailable { reason } => format!("{} n/a: {reason}", device.backend),
    })
}

/// Seconds that a run has taken, without pauses. In old runs, seconds from the start of the first round to the end
/// of the last; `None` if no round has a timestamp.
pub fn took(ledger: &Ledger) -> Option<f64> {
    ledger.elapsed().or_else(|| between(ledger.records()))
}

fn between(records: &[Record]) -> Option<f64> {
    let rounds = || records.iter().flat_map(Record::attempts).filter(|r| r.started > 0.0);
    let began = rounds().map(|r| r.started).min_by(f64::total_cmp)?;
    let sampled = |r: &crate::engine::protocol::RoundResult| {
        r.started + r.samples.iter().sum::<f64>() * f64::from(r.batch)
    };
    let ended = rounds().map(sampled).max_by(f64::total_cmp)?;
    Some(ended - began).filter(|took| took.is_finite() && *took >= 0.0)
}

fn results(experiments: &[Experiment], records: &[Record]) -> Vec<Outcome> {
    let mut all: Vec<(usize, Outcome)> = Vec::new();
    for record in records {
        let (at, backend) = (record.case.experiment, record.case.backend());
        let Some(experiment) = experiments.get(at) else { continue };
        let quantity = experiment.chart.y;
        let Some(value) = record.drawn(&experiment.chart).filter(|value| value.is_finite()) else { continue };
        match all.iter().position(|(of, outcome)| *of == at && outcome.backend == backend) {
            Some(known) => {
                let (_, outcome) = &mut all[known];
                let [low, high] = outcome.range;
                outcome.range = [low.min(value), high.max(value)];
                outcome.cases += 1;
            }
            None if all.len() < MOST => {
                let (experiment, backend) = (word(&experiment.title), word(backend));
                all.push((at, Outcome { experiment, backend, quantity, range: [value; 2], cases: 1 }));
            }
            None => {}
        }
    }
    all.into_iter().map(|(_, outcome)| outcome).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::judge::tests::{Run, manifest};
    use crate::run::layout::{LogState, Manifest};

    fn stored(run: Run) -> Stored {
        let Run { manifest, ledger } = run;
        Stored {
            path: "reports/a".into(),
            manifest,
            recipe: "title: A\n\tx\n".to_owned(),
            ledger,
            log: LogState::default(),
            warnings: Vec::new(),
        }
    }

    #[test]
    fn cases_are_counted_and_results_have_their_range() {
        let run = Run::new(&[vec![1.0; 3], vec![2.0; 3], vec![]], None);
        let mut stored = stored(run);
        stored.ledger.fail(0, "out[7]\nis 3".to_owned());
        let summary = Summary::of(&stored);
        assert_eq!((summary.tally.failed, summary.tally.possible()), (1, 3));
        assert_eq!(summary.failure.as_deref(), Some("out[7]\\nis 3"));
        assert_eq!(summary.recipe, ["title: A", "\\tx"]);
        assert_eq!(summary.results.iter().map(|r| r.cases).collect::<Vec<_>>(), [1]);
        assert_eq!((summary.complete, summary.took), (false, None), "old runs say no time");
        assert_eq!(summary.backends, ["cpu"]);
    }

    #[test]
    fn what_a_folder_says_is_short_and_steers_no_terminal() {
        let evil = "\u{1b}]0;owned\u{7}\u{9b}2J\n".repeat(1000);
        let mut manifest = Manifest { started: evil.clone(), revision: evil.clone(), ..manifest() };
        manifest.environment.host.clone_from(&evil);
        manifest.plan.title.clone_from(&evil);
        manifest.devices[0].name.clone_from(&evil);
        manifest.plan.overrides = vec![format!("--set x={evil}")];
        let ledger = Ledger::new(manifest.plan.clone());
        let stored = Stored { recipe: evil.repeat(9), ..stored(Run { manifest, ledger }) };
        let text = format!("{:?}", Summary::of(&stored));
        // Debug formatting escapes the text again, so our own escapes appear doubled.
        assert!(!text.contains("\"\\u{1b}") && !text.contains(char::is_control), "{text}");
        assert!(text.len() < 100_000, "{}", text.len());
        assert_eq!(Summary::of(&stored).repeat.run, "scatterlab replay reports/a");
    }
}
