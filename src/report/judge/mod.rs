//! Judges whether a run reproduces: compares two records of the same case. Pure.
//!
//! # The rule
//!
//! The evidence consists of the medians of a case's rounds that count ([`Record::rounds`]): rounds have fresh
//! allocations, samples within a round share them. Let A be the baseline's medians and B the other run's, at
//! least three of each. The change is the ratio B/A of the times; its interval is Welch's on the logarithms
//! ([`ratio`](ratio::ratio)). With k cases compared, each interval has the confidence 1 − 0.05/k
//! (Bonferroni), so that **all** of them hold at once with a probability of 95 %, however the cases depend on
//! each other. k counts the pairs with enough rounds, before any time is looked at.
//!
//! With a margin δ (5 % by default) the interval is compared with [1/(1+δ), 1+δ]:
//!
//! | the interval lies | answer |
//! |---|---|
//! | wholly inside | `agree` |
//! | wholly outside | `differ`: slower above, faster below; unless one of the two rules below says otherwise |
//! | on both sides of a limit | `cannot tell` |
//!
//! The ratio of the medians of the rounds' medians, shown in tables and charts, has to lie on the same side
//! as the interval. Otherwise a few outlying rounds decide, the logarithms are not normal, and the answer is
//! `cannot tell`.
//!
//! **Variation between runs.** Rounds of one run share that run's circumstances: placement in memory,
//! neighbours, a clock. On the shared machines for which this was written, five of fifteen pairs of identical
//! copy runs had disjoint 95 % intervals, although all lay within ±3 % of each other. The margin covers this:
//! it must be wider than the difference between identical runs. Larger variation is handled by the next rule.
//!
//! **The machine's own pace.** Some machines have two paces: everything takes 1.6 times as long for minutes
//! or hours, and no readable counter shows why. Others drift within a run, so that five rounds may lie close
//! together by chance. Each run therefore records the rates of plain copies between its passes over the
//! cases, by backend. Two logarithms are derived from these: s, the baseline's median copy over the other's
//! (above 0, the other run's machine copies more slowly), and w, the range of the copies within a run, from
//! the 10 % quantile to the 90 % one, for the run with the larger range. The machine may account for m: the
//! larger of w and, for a change in its direction, |s|. If **nothing on file explains it**, `differ` stands
//! only if the interval lies wholly beyond m plus the margin: above exp(m)·(1+δ) for a slower case, below
//! exp(−m)/(1+δ) for a faster one. Otherwise the answer is `cannot tell`, because the machine's own copy
//! changed. The margin is always added to m, so that a wider margin never finds a difference that a narrower
//! one does not. A case need not follow the copy (a case that stays in a cache may not): any change between
//! none and m may be the machine's.
//!
//! Explanations, which let `differ` stand and are reported with it, are: another system, kernel, processor,
//! affinity mask, amount of memory, setting of transparent huge pages, device, driver, or other fact of the
//! manifest that both runs record; and around the case's own rounds, on the slower side only: more steal
//! time, more background load, a lower clock, or a throttled GPU. Another version or revision of this program
//! is shown, but does not explain a change of the machine's copy: two builds are no easier to distinguish on
//! an unsteady machine. Neither a host's name nor the load at the start of the program explains anything. The
//! rule does not check whether an explanation is large enough. Pairs with different backends have no copy in
//! common; for these, and for runs that predate the recording of copies, only the margin counts.
//!
//! **Doubtful on both sides.** If every round of A *and* every round of B is flagged as noisy, the medians
//! alone are not trusted: `differ` stands only if the samples themselves are disjoint (the 5 % quantile of
//! the slower side above the 95 % quantile of the faster one).
//!
//! # Assumptions
//!
//! The logarithms of the rounds' medians are approximately normal and independent within a run; the margin
//! covers variation between runs that does not appear between rounds, unless the copy or the manifest shows
//! it; and a change of a machine's pace changes the copy at least as much as the case. Runs end when their
//! interval is narrow enough, which makes intervals cover slightly less often than nominal; the margin is
//! wide compared with that effect. `src/report/judge/simulations.rs` measures all of it: the rate of false
//! `differ` over thousands of simulated families, the power against a slowdown of 10 %, and the coverage of
//! the intervals.

mod causes;
mod matching;
#[cfg(test)]
mod simulations;
#[cfg(test)]
pub(crate) mod tests;

pub use causes::Difference;
pub use matching::{Matched, Matching, Pair, matching};

use crate::run::layout::Manifest;
use crate::run::stored::Stored;
use crate::run::{Ledger, Record, Status};
use crate::stats::comparison::{Answer, Copied, Copies, Direction, Evidence, FEWEST, Machine, Reason, Which};
use crate::stats::{corrected, interval, median, ratio};

/// The default margin.
pub const MARGIN: f64 = 0.05;

/// Advice for a run with fewer than [`FEWEST`] rounds.
pub fn anew() -> String {
    format!(
        "run its recipe again with --set measure.rounds={FEWEST} or more; from Spatter's command line, with --rounds \
         {FEWEST} --out DIR"
    )
}

/// One stored run.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    pub manifest: &'a Manifest,
    pub ledger: &'a Ledger,
}

impl<'a> From<&'a Stored> for Side<'a> {
    fn from(stored: &'a Stored) -> Side<'a> {
        Side { manifest: &stored.manifest, ledger: &stored.ledger }
    }
}

impl<'a> Side<'a> {
    /// The record at this position in the plan.
    pub fn record(&self, at: usize) -> Option<&'a Record> {
        self.ledger.records().get(at)
    }
}

/// Two matched cases and their judgement.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    pub pair: Pair,
    /// Missing if a side has no result or too few rounds.
    pub evidence: Option<Evidence>,
    pub answer: Answer,
    /// Whether a side shows the measurement of another of its cases, which is counted there.
    pub repeats: bool,
    pub reason: Option<Reason>,
    /// Conditions around the rounds that may explain a difference.
    pub causes: Vec<Difference>,
}

impl Judgement {
    /// Whether the case is slower than the baseline by more than `limit`: `true` if the lower end of the
    /// interval is, by the same rule as for the margin, and `false` if the upper end is not. `None` if it
    /// cannot be decided.
    pub fn slower_by(&self, limit: f64) -> Option<bool> {
        let evidence = self.evidence?;
        let below = evidence.ratio.high.max(evidence.typical) <= 1.0 + limit;
        match evidence.answer(limit) {
            (Answer::Differ(Direction::Slower), _) => Some(true),
            (Answer::Differ(Direction::Faster) | Answer::Agree, _) => Some(false),
            // The interval is too wide to agree, but lies wholly below this limit.
            (_, Some(Reason::Wide)) if below => Some(false),
            _ => None,
        }
    }
}

/// Comparison of one run with the baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// In the baseline's order.
    pub judgements: Vec<Judgement>,
    /// Cases without a counterpart, by their positions.
    pub only_baseline: Vec<usize>,
    pub only_other: Vec<usize>,
    /// Differences between the machines and the programs.
    pub differences: Vec<Difference>,
    /// Copies on the backends that both runs measured.
    pub copies: Vec<Copies>,
    /// The confidence of each interval, corrected for the number of cases.
    pub confidence: f64,
}

impl Comparison {
    /// The pairs for which the baseline has a result and the other run failed.
    pub fn failed<'a>(&'a self, baseline: Side<'a>, other: Side<'a>) -> impl Iterator<Item = Pair> + 'a {
        let pairs = self.once().map(|judgement| judgement.pair);
        pairs.filter(move |pair| {
            let had = baseline.record(pair.baseline).is_some_and(|record| record.statistics.is_some());
            let failed = |record: &Record| matches!(record.status, Status::Failed(_));
            had && other.record(pair.other).is_some_and(failed)
        })
    }

    /// The judgements, with one of each measurement.
    pub fn once(&self) -> impl Iterator<Item = &Judgement> {
        self.judgements.iter().filter(|judgement| !judgement.repeats)
    }

    /// Number of measurements with this answer, given as its [`Answer::word`].
    pub fn count(&self, word: &str) -> usize {
        self.once().filter(|j| j.answer.word() == word).count()
    }
}

/// Compares runs with a baseline at a margin, a share above 0. The intervals hold simultaneously for all
/// cases of all runs.
pub fn compare(baseline: Side, others: &[Side], margin: f64) -> Vec<Comparison> {
    let matchings: Vec<Matching> =
        others.iter().map(|other| matching(baseline.ledger.plan(), other.ledger.plan())).collect();
    let pairs = others.iter().zip(&matchings).flat_map(|(other, m)| m.pairs.iter().map(move |p| (other, p)));
    let comparable = pairs.filter(|(other, pair)| {
        let sides = [baseline.record(pair.baseline), other.record(pair.other)];
        sides.iter().flatten().filter(|record| record.repeats.is_none() && can_be_judged(record)).count() == 2
    });
    let confidence = corrected(interval::CONFIDENCE, comparable.count());
    let one = |(other, matching): (&Side, Matching)| against(baseline, *other, matching, margin, confidence);
    others.iter().zip(matchings).map(one).collect()
}

fn against(baseline: Side, other: Side, matching: Matching, margin: f64, confidence: f64) -> Comparison {
    let (differences, copies) = (causes::environments(&baseline, &other), copies(baseline, other));
    let judge = Judge { baseline, other, margin, confidence, differences: &differences, copies: &copies };
    let judgements = matching.pairs.iter().filter_map(|pair| judge.pair(*pair)).collect();
    let own = |side: Side, alone: Vec<usize>| -> Vec<usize> {
        let is_own = |at: &usize| side.record(*at).is_some_and(|record| record.repeats.is_none());
        alone.into_iter().filter(is_own).collect()
    };
    Comparison {
        judgements,
        only_baseline: own(baseline, matching.only_baseline),
        only_other: own(other, matching.only_other),
        copies,
        differences,
        confidence,
    }
}

fn copies(baseline: Side, other: Side) -> Vec<Copies> {
    let theirs = other.ledger.references();
    let both = baseline.ledger.references().iter().filter_map(|(backend, a)| {
        let (baseline, other) = (Copied::of(a)?, Copied::of(theirs.get(backend)?)?);
        Some(Copies { backend: backend.clone(), baseline, other })
    });
    both.collect()
}

struct Judge<'a> {
    baseline: Side<'a>,
    other: Side<'a>,
    margin: f64,
    confidence: f64,
    differences: &'a [Difference],
    copies: &'a [Copies],
}

impl Judge<'_> {
    fn pair(&self, pair: Pair) -> Option<Judgement> {
        let (a, b) = (self.baseline.record(pair.baseline)?, self.other.record(pair.other)?);
        let repeats = a.repeats.is_some() || b.repeats.is_some();
        let without = |answer, reason| {
            Some(Judgement {
                pair,
                evidence: None,
                answer,
                repeats,
                reason: Some(reason),
                causes: Vec::new(),
            })
        };
        match (shortcoming(a), shortcoming(b)) {
            (None, None) => {}
            (Some(a), Some(b)) => {
                let nothing = a.is_nothing() && b.is_nothing();
                let answer = if nothing { Answer::NotMeasured } else { Answer::CannotTell };
                return without(answer, both(a, b));
            }
            (Some(a), None) => return without(Answer::CannotTell, a.reason(Which::Baseline)),
            (None, Some(b)) => return without(Answer::CannotTell, b.reason(Which::Other)),
        }
        let (before, after) = (a.medians(), b.medians());
        let ratio = ratio::ratio(&before, &after, self.confidence);
        let typical = median(&after).zip(median(&before)).map(|(after, before)| after / before);
        let Some((ratio, typical)) = ratio.zip(typical) else {
            return without(Answer::CannotTell, Reason::NoRatio);
        };
        let causes = causes::conditions(a, b, ratio.value > 1.0);
        let explained = !causes.is_empty() || self.explained(a.case.place().0);
        let machine = self.machine(pair, a).filter(|_| !explained);
        let evidence = Evidence { ratio, typical, machine, doubtful: doubtful(a, b) };
        let (answer, reason) = evidence.answer(self.margin);
        Some(Judgement { pair, evidence: Some(evidence), answer, repeats, reason, causes })
    }

    fn explained(&self, backend: &str) -> bool {
        let concerns = |d: &&Difference| d.backend.as_deref().is_none_or(|b| b == backend);
        self.differences.iter().filter(concerns).any(|d| d.explains && d.what != causes::PROGRAM)
    }

    fn machine(&self, pair: Pair, record: &Record) -> Option<Machine> {
        let own = self.copies.iter().find(|copies| copies.backend == record.case.place().0)?;
        Machine::between(&own.baseline, &own.other).filter(|_| pair.matched == Matched::Identity)
    }
}

/// Why a record cannot be judged.
#[derive(PartialEq, Eq)]
enum Shortcoming {
    /// The case failed, with this reason.
    Failed(String),
    /// There is no result, for this reason: `n/a: …`.
    Nothing(String),
    Few(usize),
}

impl Shortcoming {
    fn is_nothing(&self) -> bool {
        !matches!(self, Shortcoming::Few(_))
    }

    fn is_failure(&self) -> bool {
        matches!(self, Shortcoming::Failed(_))
    }

    fn reason(self, which: Which) -> Reason {
        match self {
            Shortcoming::Failed(words) | Shortcoming::Nothing(words) => Reason::NoResult(which, words),
            Shortcoming::Few(rounds) => Reason::FewRounds(which, rounds),
        }
    }
}

/// Why neither side can be judged: failures come first, and equal reasons are merged.
fn both(a: Shortcoming, b: Shortcoming) -> Reason {
    if a == b {
        return a.reason(Which::Both);
    }
    let other_first = b.is_failure() && !a.is_failure();
    let (a, b) = (a.reason(Which::Baseline), b.reason(Which::Other));
    Reason::Each(Box::new(if other_first { [b, a] } else { [a, b] }))
}

/// Whether a record can be judged: it has a result of at least three rounds, and is certified unless it
/// belongs to a peer.
pub fn can_be_judged(record: &Record) -> bool {
    shortcoming(record).is_none()
}

fn shortcoming(record: &Record) -> Option<Shortcoming> {
    let nothing = |words: String| Some(Shortcoming::Nothing(words));
    match &record.status {
        Status::NotApplicable(reason) => return nothing(format!("n/a: {reason}")),
        Status::Failed(error) => return Some(Shortcoming::Failed(format!("failed: {error}"))),
        Status::Pending => return nothing("not measured".to_owned()),
        Status::Partial | Status::Done => {}
    }
    if !record.stands() {
        return nothing("not certified".to_owned());
    }
    let rounds = record.medians().len();
    (rounds < FEWEST).then_some(Shortcoming::Few(rounds))
}

/// Whether every round of both sides is flagged and their samples overlap.
fn doubtful(a: &Record, b: &Record) -> bool {
    let flagged = |record: &Record| record.rounds.iter().all(|round| !round.flags.is_empty());
    let apart = a.statistics.as_ref().zip(b.statistics.as_ref());
    flagged(a) && flagged(b) && !apart.is_some_and(|(a, b)| a.p95 < b.p5 || b.p95 < a.p5)
}
