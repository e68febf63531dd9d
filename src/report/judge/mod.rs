//! Whether a run holds when it is measured again: two records of the same case, and an
//! answer. Pure.
//!
//! # The rule
//!
//! Evidence are the medians of a case's rounds, those that count ([`Record::rounds`]):
//! rounds have fresh allocations, samples within one do not. Let A be the baseline's and B
//! the other run's, at least three of each. The change is the ratio B/A of the times, its
//! interval is Welch's on the logarithms ([`ratio`](ratio::ratio)). With k cases compared,
//! each interval has the confidence 1 − 0.05/k (Bonferroni), so that with a probability of
//! 95 % **all** of them hold at once, whatever the cases have to do with each other. k
//! counts the pairs that have enough rounds, before any time is looked at.
//!
//! With a margin δ (5 % where nothing is said) the interval is compared with
//! [1/(1+δ), 1+δ]:
//!
//! | the interval lies | answer |
//! |---|---|
//! | wholly inside | `agree` |
//! | wholly outside | `differ`: slower above, faster below; unless one of the two rules below says otherwise |
//! | on both sides of a limit | `cannot tell` |
//!
//! The ratio of the medians of the rounds' medians, which is what tables and charts show,
//! has to lie on the same side as the interval. Where it does not, a few rounds far from
//! the others decide, the logarithms are not normal, and the answer is `cannot tell`.
//!
//! **What the interval does not see.** Rounds of one run share what that run was dealt:
//! a place in memory, neighbours, a clock. On the shared machines that this was written
//! for, five of fifteen pairs of identical copy runs had disjoint 95 % intervals, although
//! all lay within ±3 % of each other. The margin is for that: it must be wider than what
//! runs of the same thing differ by there. What does not fit into it is the next rule's.
//!
//! **The machine's own pace.** Some machines have two: everything takes 1.6 times as long
//! for minutes or hours, and nothing that can be read says why. Others wander within a
//! run, so that five rounds may lie close together by luck. Each run therefore holds what a
//! plain copy gave between its passes over the cases, by backend. Two logarithms are read
//! from those: s, the baseline's median copy over the other's (above 0, the other run's
//! machine copies more slowly), and w, how far the copies of one run range, from the 10 %
//! quantile to the 90 % one, in the run where they range further. What the machine can have
//! done to a case is the larger of w and, for a change in its direction, |s|: call it m.
//! Where **nothing on file explains it**, `differ` stands only where the interval lies
//! wholly beyond m by the margin once more: above exp(m)·(1+δ) for a slower case, below
//! exp(−m)/(1+δ) for a faster one. Otherwise the answer is `cannot tell`, because the
//! machine's own copy changed. The margin always comes on top of m, so that a wider one
//! never finds a difference that a narrower one does not. A case need not follow the copy
//! (one that stays in a cache may not): between no change and m everything may be the
//! machine's.
//!
//! What explains, and so leaves `differ` standing, beside the answer: another system,
//! kernel, processor, affinity mask, amount of memory, setting of transparent huge pages,
//! device, driver, or other fact of the manifest that both runs tell; and around the case's
//! own rounds, on the slower side only: more steal time, more background load, a lower
//! clock, or a GPU that was held down. Another version or revision of this program is shown, but does not explain what
//! the machine's copy did: two builds on a restless machine are no easier to tell apart.
//! A host's name explains nothing, nor does the load when the program started. The rule
//! does not ask whether an explanation is large enough. Pairs that differ in their backend
//! have no copy in common; for them, and for runs of before there were such copies, only
//! the margin counts.
//!
//! **Doubtful on both sides.** Where every round of A *and* every round of B is flagged as
//! noisy, the medians are not trusted alone: `differ` stands only where the samples
//! themselves are apart (the 5 % quantile of the slower above the 95 % quantile of the
//! faster).
//!
//! # What is assumed
//!
//! That the logarithms of the rounds' medians are about normal and independent within a
//! run; that the margin covers what differs between runs and not between rounds, unless
//! the copy or the file shows it; and that a machine's pace, where it changes, changes the
//! copy at least as much as the case. Runs end when their interval is narrow enough, which
//! makes intervals hold a little less often than they say; the margin is wide against
//! that. `src/report/judge/simulations.rs` measures all of it: false `differ` over thousands of
//! made-up families, the power against a slowdown of 10 %, and how often the intervals hold.

mod causes;
mod matching;
#[cfg(test)]
mod simulations;
#[cfg(test)]
pub(crate) mod tests;

pub use causes::Difference;
pub use matching::{Matched, Matching, Pair, matching};

use crate::run::folder::Manifest;
use crate::run::stored::Stored;
use crate::run::{Ledger, Record, Status};
use crate::stats::comparison::{Answer, Copied, Copies, Direction, Evidence, FEWEST, Machine, Reason, Which};
use crate::stats::{corrected, interval, median, ratio};

/// The margin where nothing is said.
pub const MARGIN: f64 = 0.05;

/// What to do about a run with fewer.
pub fn anew() -> String {
    format!(
        "run its recipe anew with --set measure.rounds={FEWEST} or more; from Spatter's command line, with --rounds \
         {FEWEST} --out DIR"
    )
}

/// One run, as it was stored.
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
    /// The record at a position in the plan.
    pub fn record(&self, at: usize) -> Option<&'a Record> {
        self.ledger.records().get(at)
    }
}

/// Two matched cases and what became of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    pub pair: Pair,
    /// Missing where a side has no result or too few rounds.
    pub evidence: Option<Evidence>,
    pub answer: Answer,
    pub reason: Option<Reason>,
    /// Of the rounds' own conditions, what may explain a difference.
    pub causes: Vec<Difference>,
}

impl Judgement {
    /// Whether the case is slower than the baseline by more than `limit`: `true` where the
    /// interval's lower end is, by the same rule as for the margin, and `false` where its
    /// upper end is not. `None` where nobody can tell.
    pub fn slower_by(&self, limit: f64) -> Option<bool> {
        let evidence = self.evidence?;
        let below = evidence.ratio.high.max(evidence.typical) <= 1.0 + limit;
        match evidence.answer(limit) {
            (Answer::Differ(Direction::Slower), _) => Some(true),
            (Answer::Differ(Direction::Faster) | Answer::Agree, _) => Some(false),
            // Too wide to agree, but wholly on this side of the limit.
            (_, Some(Reason::Wide)) if below => Some(false),
            _ => None,
        }
    }
}

/// How one run stands against the baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// In the baseline's order.
    pub judgements: Vec<Judgement>,
    /// Cases without a counterpart, by their positions.
    pub only_baseline: Vec<usize>,
    pub only_other: Vec<usize>,
    /// What differs between the machines and the programs.
    pub differences: Vec<Difference>,
    /// Of the backends that both runs measured a copy on.
    pub copies: Vec<Copies>,
    /// The confidence of each interval, corrected for the number of cases.
    pub confidence: f64,
}

impl Comparison {
    /// The pairs of which the baseline has a result and the other run failed.
    pub fn failed<'a>(&'a self, baseline: Side<'a>, other: Side<'a>) -> impl Iterator<Item = Pair> + 'a {
        let pairs = self.judgements.iter().map(|judgement| judgement.pair);
        pairs.filter(move |pair| {
            let had = baseline.record(pair.baseline).is_some_and(|record| record.statistics.is_some());
            let failed = |record: &Record| matches!(record.status, Status::Failed(_));
            had && other.record(pair.other).is_some_and(failed)
        })
    }

    /// How many cases have this answer, as [`Answer::word`] says it.
    pub fn count(&self, word: &str) -> usize {
        self.judgements.iter().filter(|j| j.answer.word() == word).count()
    }
}

/// Compares runs with a baseline at a margin, a share above 0. The intervals hold for all
/// cases of all of them at once.
pub fn compare(baseline: Side, others: &[Side], margin: f64) -> Vec<Comparison> {
    let matchings: Vec<Matching> =
        others.iter().map(|other| matching(baseline.ledger.plan(), other.ledger.plan())).collect();
    let pairs = others.iter().zip(&matchings).flat_map(|(other, m)| m.pairs.iter().map(move |p| (other, p)));
    let comparable = pairs.filter(|(other, pair)| {
        let sides = [baseline.record(pair.baseline), other.record(pair.other)];
        sides.iter().flatten().filter(|record| can_be_judged(record)).count() == 2
    });
    let confidence = corrected(interval::CONFIDENCE, comparable.count());
    let one = |(other, matching): (&Side, Matching)| against(baseline, *other, matching, margin, confidence);
    others.iter().zip(matchings).map(one).collect()
}

fn against(baseline: Side, other: Side, matching: Matching, margin: f64, confidence: f64) -> Comparison {
    let (differences, copies) = (causes::environments(&baseline, &other), copies(baseline, other));
    let judge = Judge { baseline, other, margin, confidence, differences: &differences, copies: &copies };
    let judgements = matching.pairs.iter().filter_map(|pair| judge.pair(*pair)).collect();
    Comparison {
        judgements,
        only_baseline: matching.only_baseline,
        only_other: matching.only_other,
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
        let without = |answer, reason| {
            Some(Judgement { pair, evidence: None, answer, reason: Some(reason), causes: Vec::new() })
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
        Some(Judgement { pair, evidence: Some(evidence), answer, reason, causes })
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
    /// It went wrong; in words.
    Failed(String),
    /// In words: `n/a: …`.
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

/// Why neither side can be judged: a failure first, and once where both say the same.
fn both(a: Shortcoming, b: Shortcoming) -> Reason {
    if a == b {
        return a.reason(Which::Both);
    }
    let other_first = b.is_failure() && !a.is_failure();
    let (a, b) = (a.reason(Which::Baseline), b.reason(Which::Other));
    Reason::Each(Box::new(if other_first { [b, a] } else { [a, b] }))
}

/// Whether a record can be judged at all: a result of at least three rounds, certified unless
/// it is a peer's.
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

/// Whether no round of either side is free of flags while their samples overlap.
fn doubtful(a: &Record, b: &Record) -> bool {
    let flagged = |record: &Record| record.rounds.iter().all(|round| !round.flags.is_empty());
    let apart = a.statistics.as_ref().zip(b.statistics.as_ref());
    flagged(a) && flagged(b) && !apart.is_some_and(|(a, b)| a.p95 < b.p5 || b.p95 < a.p5)
}
