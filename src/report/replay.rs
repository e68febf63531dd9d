//! Judges a run against the stored run whose plan it repeats.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::judge::{self, Comparison};
use super::judged::{self, Heads, Judged};
use super::names::cases;
use super::verdicts::{self, NamedRun};
use crate::case::units::escaped;
use crate::run::Record;
use crate::run::stored::Stored;
use crate::shell;
use crate::stats::comparison::{Copied, FEWEST};
use crate::stats::interval::CONFIDENCE;
use crate::stats::ratio::{corrected, ratio};

/// The file in the new run's folder that holds the verdicts.
pub const VERDICTS: &str = "replay.csv";

/// The judgement of a new run.
#[derive(Debug)]
pub struct Verdicts {
    pub comparison: Comparison,
    pub judged: Judged,
    /// The two runs, by the heads of their columns.
    pub key: Vec<String>,
    /// The file that holds the verdicts.
    pub path: PathBuf,
}

/// A slowdown of this factor should be seen: a baseline that hides it is worth a word before it is measured again.
const SEEN: f64 = 1.5;

/// Refuses, before anything is measured, a run against which nothing can be judged. Returns a remark if some of its
/// cases cannot be judged with this margin, or are so restless that nothing could contradict them.
///
/// # Errors
/// If no case of the run has a result, or none has enough rounds.
pub fn enough(stored: &Stored, margin: f64) -> anyhow::Result<Option<String>> {
    let path = stored.path.display();
    let results: Vec<&Record> =
        stored.ledger.measured().map(|(_, record)| record).filter(|r| r.statistics.is_some()).collect();
    if results.is_empty() {
        bail!("{path} holds no result to judge against");
    }
    let short = results.iter().filter(|record| !judge::can_be_judged(record)).count();
    if short == results.len() {
        bail!(
            "nothing can be judged against {path}: a case needs {FEWEST} certified rounds there, and none has \
             them, however many the new run has; {}",
            judge::anew()
        );
    }
    let of = cases(results.len());
    let short = (short > 0).then(|| {
        format!("{short} of {of} there have fewer than {FEWEST} certified rounds and cannot be judged")
    });
    let hidden = hidden(stored, &results, margin);
    let hidden = hidden.iter().copied().reduce(f64::max).map(|worst| {
        format!(
            "{} of {of} there are so restless that not even {SEEN} times the time could differ from them (the worst: \
             up to {worst:.1} times)",
            hidden.len()
        )
    });
    let remarks: Vec<String> = short.into_iter().chain(hidden).collect();
    Ok((!remarks.is_empty()).then(|| remarks.join("; ")))
}

/// The largest slowdown that each case's own unrest hides, of the cases where that is [`SEEN`] or more: the answer to a
/// new run without any scatter of its own would be `cannot tell` up to there.
fn hidden(stored: &Stored, results: &[&Record], margin: f64) -> Vec<f64> {
    let judged: Vec<&&Record> = results.iter().filter(|record| judge::can_be_judged(record)).collect();
    let confidence = corrected(CONFIDENCE, judged.len());
    let of = |record: &&&Record| {
        let steady = [1.0; FEWEST];
        let ratio = ratio(&record.medians(), &steady, confidence)?;
        let copies =
            stored.ledger.references().get(record.case.place().0).and_then(|copies| Copied::of(copies));
        let range = copies.map_or(1.0, |copied| copied.high / copied.low);
        Some(ratio.high / ratio.value * range * (1.0 + margin))
    };
    judged.iter().filter_map(of).filter(|factor| *factor >= SEEN).collect()
}

/// Judges the new run in this folder and writes the verdicts there.
///
/// # Errors
/// If the folder cannot be read, or written to.
pub fn judge(stored: &Stored, folder: &Path, margin: f64) -> anyhow::Result<Verdicts> {
    let fresh = Stored::open(folder)?;
    let named = |stored: &Stored| stored.path.display().to_string();
    let baseline = NamedRun::new(named(stored), stored);
    let now = [NamedRun::new(named(&fresh), &fresh)];
    let mut comparisons = judge::compare(baseline.side, &[now[0].side], margin);
    let path = verdicts::write(folder, VERDICTS, verdicts::table(&baseline, &now, &comparisons, margin))?;
    let comparison = comparisons.pop().context("nothing was compared")?;
    let heads =
        Heads { baseline: "then".to_owned(), other: "now".to_owned(), again: shell::path(&stored.path) };
    let judged = judged::judged(&baseline, &now[0], &comparison, margin, &heads);
    let key = [(&heads.baseline, &baseline), (&heads.other, &now[0])];
    let key = key.map(|(head, run)| escaped(&format!("{head:4}  {}", run.name))).to_vec();
    Ok(Verdicts { comparison, judged, key, path })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::protocol::Event;
    use crate::report::judge::MARGIN;
    use crate::report::judge::tests::Run;
    use crate::run::layout::LogState;

    /// The remark about a baseline with these medians of its cases' rounds.
    fn remark(medians: &[Vec<f64>], copies: &[f64]) -> Option<String> {
        let Run { manifest, mut ledger } = Run::new(medians, None);
        for copy in copies {
            let (backend, ranked) = ("cpu".to_owned(), Vec::new());
            ledger.apply(&Event::Reference { pass: 0, backend, copy: *copy, ranked });
        }
        let stored = Stored {
            path: "reports/a".into(),
            manifest,
            recipe: String::new(),
            ledger,
            log: LogState::default(),
            warnings: Vec::new(),
        };
        enough(&stored, MARGIN).expect("results")
    }

    #[test]
    fn a_baseline_that_nothing_could_contradict_is_told() {
        let steady = vec![1.0, 1.01, 0.99, 1.0, 1.01];
        let wild = vec![1.0, 1.9, 1.1, 1.8, 1.0];
        assert_eq!(remark(&[steady.clone(), steady.clone()], &[10.0; 5]), None);
        let told = remark(&[steady.clone(), wild], &[10.0; 5]).expect("one is restless");
        assert!(told.starts_with("1 of 2 cases there are so restless that not even 1.5 times"), "{told}");
        let told = remark(&[steady.clone(), steady], &[10.0, 18.0, 10.0, 18.0, 10.0]);
        let told = told.expect("the machine is restless");
        assert!(
            told.starts_with("2 of 2 cases there are so restless") && told.contains("up to 1.9 times"),
            "{told}"
        );
    }

    #[test]
    fn a_slowdown_that_is_said_to_be_hidden_is_hidden() {
        let wild = vec![1.0, 1.9, 1.1, 1.8, 1.0];
        let a = Run::new(std::slice::from_ref(&wild), None);
        let mean = wild.iter().map(|median| f64::ln(*median)).sum::<f64>() / 5.0;
        let told = remark(&[wild], &[]).expect("restless");
        let limit: f64 = told
            .split("up to ")
            .nth(1)
            .and_then(|rest| rest.split(' ').next()?.parse().ok())
            .expect("a factor");
        for (factor, word) in [(limit * 0.9, "cannot tell"), (limit * 1.1, "differ")] {
            let b = Run::new(&[vec![mean.exp() * factor; 5]], None);
            let found = judge::compare(a.side(), &[b.side()], MARGIN);
            assert_eq!(found[0].judgements[0].answer.word(), word, "{factor}");
        }
    }
}
