//! `--fail-if-slower`: the cases shown to be slower, and those that cannot be judged.

use crate::cli::{CANNOT_TELL, CASES_FAILED, DIFFERS};
use crate::report::judge::{Comparison, Judgement};
use crate::report::judged::change;
use crate::report::names::cases;
use crate::report::unit;
use crate::report::verdicts::{self, NamedRun};

/// The cases for which the baseline has a result, classified by the results of all other runs.
#[derive(Debug, Default)]
pub struct Found {
    /// The share by which a case may take longer.
    limit: f64,
    failed: Vec<String>,
    slower: Vec<String>,
    /// Cases shown not to be slower.
    cleared: usize,
    undecided: usize,
    unmeasured: usize,
    alone: usize,
}

impl Found {
    pub fn among(limit: f64, baseline: &NamedRun, others: &[NamedRun], comparisons: &[Comparison]) -> Found {
        let mut found = Found { limit, ..Found::default() };
        let has = |at: usize| baseline.side.record(at).is_some_and(|record| record.statistics.is_some());
        for (other, comparison) in others.iter().zip(comparisons) {
            let failed: Vec<usize> =
                comparison.failed(baseline.side, other.side).map(|pair| pair.baseline).collect();
            let names = failed.iter().map(|at| format!("failed in {}: {}", other.name, label(baseline, *at)));
            found.failed.extend(names);
            let judged = comparison.once().filter(|judgement| has(judgement.pair.baseline));
            judged
                .filter(|judgement| !failed.contains(&judgement.pair.baseline))
                .for_each(|judgement| found.add(baseline, other, judgement));
            found.alone += comparison.only_baseline.iter().filter(|at| has(**at)).count();
        }
        found
    }

    fn add(&mut self, baseline: &NamedRun, other: &NamedRun, judgement: &Judgement) {
        let measured = |at: usize| other.side.record(at).is_some_and(|record| record.statistics.is_some());
        match judgement.slower_by(self.limit) {
            Some(true) => {
                let label = label(baseline, judgement.pair.baseline);
                let change = judgement.evidence.map(|e| change(e.ratio)).unwrap_or_default();
                self.slower.push(format!("slower in {}: {label}: {change}", other.name));
            }
            Some(false) => self.cleared += 1,
            None if measured(judgement.pair.other) => self.undecided += 1,
            None => self.unmeasured += 1,
        }
    }

    /// Headlines, each with the cases that it announces.
    pub fn paragraphs(&self) -> Vec<(String, Vec<String>)> {
        let failed = format!("{} of the baseline failed:", cases(self.failed.len()));
        let failed = (!self.failed.is_empty()).then(|| (failed, self.failed.clone()));
        failed.into_iter().chain([(self.headline(), self.slower.clone())]).collect()
    }

    fn headline(&self) -> String {
        let limit = unit::number(self.limit * 100.0);
        let rest = self.rest();
        let found = match (self.slower.len(), rest.is_none()) {
            (0, true) if self.cleared > 0 => "no case is slower".to_owned(),
            (0, _) => "no case is shown to be slower".to_owned(),
            (1, _) => "1 case is slower".to_owned(),
            (n, _) => format!("{n} cases are slower"),
        };
        let end = if self.slower.is_empty() { "" } else { ":" };
        let rest = rest.iter().map(|words| format!("; {words}")).collect::<String>();
        format!("{found} by more than {limit} %{rest}{end}")
    }

    /// The cases that cannot answer the question: `36 undecided, 35 have no counterpart`.
    fn rest(&self) -> Option<String> {
        let are = |n: usize, one: &str, more: &str| {
            (n > 0).then(|| format!("{n} {}", if n == 1 { one } else { more }))
        };
        let parts = [
            are(self.undecided, "undecided", "undecided"),
            are(self.alone, "has no counterpart", "have no counterpart"),
            are(self.unmeasured, "was not measured", "were not measured"),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        match parts.is_empty() {
            // If no case failed either, the baseline has no result at all.
            true if self.cleared + self.slower.len() + self.failed.len() == 0 => {
                Some("the baseline has no result to compare with".to_owned())
            }
            true => None,
            false => Some(parts.join(", ")),
        }
    }

    /// The exit status: 3, 4 or 5 as named in [`crate::cli`], or 0 on success.
    pub fn status(&self) -> u8 {
        let judged = self.cleared + self.slower.len();
        match () {
            () if !self.failed.is_empty() => CASES_FAILED,
            () if !self.slower.is_empty() => DIFFERS,
            () if judged == 0 || self.alone + self.unmeasured > 0 => CANNOT_TELL,
            () => 0,
        }
    }
}

fn label(baseline: &NamedRun, at: usize) -> String {
    let record = baseline.side.record(at);
    record.map(|record| verdicts::label(baseline.side, &record.case)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(found: &Found) -> (u8, String) {
        (found.status(), found.headline())
    }

    #[test]
    fn the_sentence_and_the_status_claim_no_more_than_is_known() {
        let cases = [
            (Found { cleared: 3, ..Found::default() }, 0, "no case is slower by more than 3 %"),
            (
                Found { cleared: 3, undecided: 1, ..Found::default() },
                0,
                "no case is shown to be slower by more than 3 %; 1 undecided",
            ),
            (
                Found { undecided: 36, alone: 35, ..Found::default() },
                5,
                "no case is shown to be slower by more than 3 %; 36 undecided, 35 have no counterpart",
            ),
            (
                Found { cleared: 9, alone: 1, unmeasured: 2, ..Found::default() },
                5,
                "no case is shown to be slower by more than 3 %; 1 has no counterpart, 2 were not measured",
            ),
            (
                Found { slower: vec![String::new()], undecided: 2, ..Found::default() },
                4,
                "1 case is slower by more than 3 %; 2 undecided:",
            ),
            (
                Found::default(),
                5,
                "no case is shown to be slower by more than 3 %; the baseline has no result to compare with",
            ),
        ];
        for (found, status, headline) in cases {
            assert_eq!(says(&Found { limit: 0.03, ..found }), (status, headline.to_owned()));
        }
    }
}
