//! Progress and remaining time of a run, from its finished (case, round) pairs. Each case is expected to go on until
//! its own stopping rule ends it. Sums are updated incrementally, so an event costs O(1) in the number of cases.

mod course;
mod left;

use std::time::Duration;

use self::course::{Course, Others};
pub use self::left::Left;
use super::{Ledger, Record, Status, estimate};
use crate::recipe::plan::Plan;

/// Assumed copy bandwidth before anything is measured, GB/s. Only ratios of the estimates count.
const COPY: f64 = 10.0;
/// Seconds of a round of a case without an estimate.
const UNKNOWN: f64 = 10e-3;
/// The machine may become faster or slower by this share of the time left.
const DRIFT: f64 = 0.1;
/// Pseudo-counts with which the share of flagged rounds of all cases enters that of one.
const FLAGGED: f64 = 2.0;

/// Rounds done and left, and the time that an attempt takes.
#[derive(Clone, Debug, Default)]
pub struct Eta {
    /// When work on the current pair began.
    began: Option<Duration>,
    /// When its samples began to be timed.
    sampled: Option<Duration>,
    /// When the run began, shifted by its pauses.
    from: Option<Duration>,
    /// Seconds after which the run's time bound ends it.
    bound: Option<f64>,
    /// One entry per case, in the plan's order.
    cases: Vec<Share>,
    backends: Vec<Backend>,
    deviations: Deviations,
    total: Total,
}

/// Contribution of one case.
#[derive(Clone, Debug, Default)]
struct Share {
    /// Index into [`Eta::backends`].
    backend: usize,
    /// Seconds of an attempt before any is measured: a weight among the cases of a backend.
    estimate: f64,
    done: u32,
    /// Rounds that the case gets in any event.
    promised: u32,
    /// Seconds that its further rounds must not exceed.
    budget: f64,
    course: Course,
    /// Seconds of an attempt, once one has been measured.
    each: Option<f64>,
    /// Seconds of the first attempt seen here, which certifies the case, and of the later ones.
    first: Option<f64>,
    later: Pace,
    attempts: u32,
    flagged: u32,
}

#[derive(Clone, Debug, Default)]
struct Backend {
    name: String,
    /// Seconds of an attempt of each measured case, by measurement and by estimate.
    measured: f64,
    estimated: f64,
    /// Remaining rounds of cases without a measured attempt, as far as they get them in any event.
    rounds: f64,
    /// Rounds that measured cases are expected to have in the end, and that they have in any event.
    expected: f64,
    promised: f64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Total {
    done: u32,
    /// Remaining rounds of measured cases.
    ahead: f64,
    /// Seconds for the remaining attempts of measured cases, and the variance of that.
    known: f64,
    variance: f64,
    /// The same where only a first attempt is known, and taken to be as long.
    fresh: f64,
    attempts: u32,
    flagged: u32,
    /// First attempts and later ones of the cases that have both.
    first: f64,
    later: f64,
}

/// Total time and number of attempts.
#[derive(Clone, Copy, Debug, Default)]
struct Pace {
    seconds: f64,
    attempts: u32,
}

impl Pace {
    fn mean(self) -> Option<f64> {
        (self.attempts > 0).then(|| self.seconds / f64::from(self.attempts))
    }
}

/// The deviations of all cases' rounds.
#[derive(Clone, Debug, Default)]
struct Deviations {
    cases: Vec<Vec<f64>>,
    /// The cases that have any.
    known: Vec<usize>,
}

impl Deviations {
    fn set(&mut self, at: usize, deviations: &[f64]) {
        if self.cases[at].is_empty() && !deviations.is_empty() {
            self.known.push(at);
        }
        // A case keeps what it has: it may have failed since.
        if !deviations.is_empty() {
            self.cases[at] = deviations.to_vec();
        }
    }
}

impl Others for Deviations {
    fn deviation(&self, drawn: u64) -> Option<f64> {
        let pick = |length: usize, word: u64| (word % length.max(1) as u64) as usize;
        let case = *self.known.get(pick(self.known.len(), drawn >> 32))?;
        let deviations = &self.cases[case];
        deviations.get(pick(deviations.len(), drawn & 0xffff_ffff)).copied()
    }
}

impl Eta {
    /// Starts from the current state of a ledger.
    pub fn new(ledger: &Ledger) -> Eta {
        let records = ledger.records();
        let mut eta = Eta { bound: bound(ledger.plan()), ..Eta::default() };
        eta.deviations.cases = vec![Vec::new(); records.len()];
        for (at, record) in records.iter().enumerate() {
            let backend = eta.backend(record.case.backend());
            let estimate = estimate::round_of(ledger.plan(), &record.case, COPY).unwrap_or(UNKNOWN);
            let budget = ledger.measure(at).budget;
            eta.cases.push(Share { backend, estimate, budget, ..Share::default() });
            eta.note(at, ledger);
        }
        eta
    }

    fn backend(&mut self, name: &str) -> usize {
        let known = self.backends.iter().position(|backend| backend.name == name);
        known.unwrap_or_else(|| {
            self.backends.push(Backend { name: name.to_owned(), ..Backend::default() });
            self.backends.len() - 1
        })
    }

    /// The engine starts, or continues after a pause.
    pub fn begin(&mut self, now: Duration) {
        (self.began, self.sampled) = (Some(now), None);
        self.from.get_or_insert(now);
    }

    /// The samples of the current pair are timed from now on.
    pub fn sample(&mut self, now: Duration) {
        self.sampled = Some(now);
    }

    /// Excludes an idle time from the current pair.
    pub fn shift(&mut self, by: Duration) {
        self.began = self.began.map(|began| began + by);
        self.sampled = self.sampled.map(|began| began + by);
        self.from = self.from.map(|from| from + by);
    }

    /// Nothing is being measured.
    pub fn pause(&mut self) {
        self.began = None;
    }

    /// Updates the share of the record at `at` after a change.
    pub fn note(&mut self, at: usize, ledger: &Ledger) {
        // What another case measures takes no time.
        let Some(record) = ledger.records().get(at).filter(|record| record.repeats.is_none()) else { return };
        let deviations = course::deviations(&record.medians());
        self.deviations.set(at, &deviations);
        let each = self.each(at, record);
        let course = self.course(at, ledger, each, &deviations);
        let (attempts, flagged) = (record.attempts().count() as u32, flagged(record));
        self.update(at, |share| {
            // What was skipped has no result, and is not counted.
            let absent = matches!(record.status, Status::NotApplicable(_));
            let done = if absent { 0 } else { record.rounds.len() as u32 };
            let promised = ledger.measure(at).rounds.max(record.wanted);
            *share = Share { done, promised, course, each, attempts, flagged, ..share.clone() };
        });
    }

    /// An attempt at the case at `at` has finished.
    pub fn finish(&mut self, at: usize, ledger: &Ledger, now: Duration) {
        self.from.get_or_insert(now);
        let sampled = self.sampled.take();
        if let Some(began) = self.began.replace(now) {
            let all = now.saturating_sub(began).as_secs_f64();
            let first = self.cases.get(at).is_some_and(|share| share.first.is_none());
            // After its samples the first attempt is judged and certified, which later ones hardly are.
            let result = ledger.records().get(at).and_then(|record| record.rounds.last());
            let samples = result.map_or(0.0, |r| r.samples.iter().sum::<f64>() * f64::from(r.batch));
            let bare = sampled.map(|sampled| sampled.saturating_sub(began).as_secs_f64() + samples);
            let seconds = bare.filter(|bare| first && *bare < all).unwrap_or(all);
            self.update(at, |share| match share.first {
                None => share.first = Some(seconds),
                Some(_) => {
                    let Pace { seconds: before, attempts } = share.later;
                    share.later = Pace { seconds: before + seconds, attempts: attempts + 1 };
                }
            });
        }
        self.note(at, ledger);
    }

    /// Seconds of an attempt of the case, from those that did not certify it where there are any.
    fn each(&self, at: usize, record: &Record) -> Option<f64> {
        let share = &self.cases[at];
        let ratio = self.ratio();
        let attempts = record.attempts().count();
        let on_file = (attempts > 0).then(|| record.spent().total / attempts as f64);
        let first = share.first.filter(|_| attempts < 2).map(|first| first * ratio);
        share.later.mean().or(first).or(on_file.filter(|each| *each > 0.0)).or(share.first)
    }

    /// How long a later attempt at a case takes beside the first one, whose output is always judged.
    fn ratio(&self) -> f64 {
        if self.total.first > 0.0 { (self.total.later / self.total.first).clamp(0.1, 1.0) } else { 1.0 }
    }

    /// What the case still takes, by the seconds of an attempt and the deviations of its rounds.
    fn course(&self, at: usize, ledger: &Ledger, each: Option<f64>, deviations: &[f64]) -> Course {
        let (measure, record) = (ledger.measure(at), &ledger.records()[at]);
        let looks = measure.second_look && record.spent().affords(measure.budget);
        let look = if looks && record.awaits_second_look() { 1.0 } else { 0.0 };
        match record.status {
            Status::Failed(_) | Status::NotApplicable(_) => Course::default(),
            Status::Done => Course { attempts: look, ..Course::default() },
            Status::Pending | Status::Partial => {
                let all = (f64::from(self.total.flagged) / f64::from(self.total.attempts.max(1))).min(1.0);
                let (flagged, had) = (f64::from(flagged(record)), record.rounds.len() as f64);
                let flagged = (flagged + FLAGGED * all) / (had + FLAGGED);
                let flagged = if measure.second_look { flagged.min(1.0) } else { 0.0 };
                let each = each.unwrap_or(self.cases[at].estimate);
                let course = course::foresee(measure, record, each, flagged, deviations, &self.deviations);
                Course { attempts: course.attempts + look, ..course }
            }
        }
    }

    /// Changes a share and all sums that contain it.
    fn update(&mut self, at: usize, change: impl FnOnce(&mut Share)) {
        if at < self.cases.len() {
            self.count(at, -1.0);
            change(&mut self.cases[at]);
            self.count(at, 1.0);
        }
    }

    /// Adds a share to all sums, or takes it away.
    fn count(&mut self, at: usize, sign: f64) {
        let share = &self.cases[at];
        let (total, backend) = (&mut self.total, &mut self.backends[share.backend]);
        let add = |sum: &mut u32, count: u32| {
            *sum = if sign < 0.0 { sum.saturating_sub(count) } else { *sum + count };
        };
        add(&mut total.done, share.done);
        add(&mut total.attempts, share.attempts);
        add(&mut total.flagged, share.flagged);
        let Course { rounds, attempts, variance } = share.course;
        let Some(each) = share.each else {
            backend.rounds += sign * rounds;
            return;
        };
        total.ahead += sign * rounds;
        match share.first.filter(|_| share.later.attempts == 0 && share.attempts < 2) {
            Some(first) => total.fresh += sign * attempts * first,
            None => total.known += sign * attempts * each,
        }
        total.variance += sign * variance * each * each;
        backend.measured += sign * each;
        backend.estimated += sign * share.estimate;
        backend.expected += sign * (f64::from(share.done) + rounds);
        backend.promised += sign * f64::from(share.promised);
        if let (Some(first), Some(later)) = (share.first, share.later.mean()) {
            total.first += sign * first;
            total.later += sign * later;
        }
    }

    /// Time until the last case finishes; `None` until a first round is over. A case without finished rounds is
    /// assumed to take what its estimate says beside the other cases of its backend, or of all backends if its
    /// backend has none either, and to need as many rounds more than those that every case gets.
    pub fn remaining(&self, now: Duration) -> Option<Left> {
        let left = self.unbounded(now)?;
        Some(self.bound_left(now).map_or(left, |bound| left.at_most(bound)))
    }

    fn unbounded(&self, now: Duration) -> Option<Left> {
        let sum = |of: fn(&Backend) -> f64| self.backends.iter().map(of).sum::<f64>();
        let (measured, estimated) = (sum(|b| b.measured), sum(|b| b.estimated));
        if measured <= 0.0 {
            return None;
        }
        let unseen = |share: &Share| {
            let b = &self.backends[share.backend];
            let scale = if b.estimated > 0.0 { b.measured / b.estimated } else { measured / estimated };
            // More rounds than the case gets in any event end with its budget.
            let least = share.course.attempts * share.estimate * scale;
            (least * self.stretch(b)).min(share.budget.max(least))
        };
        let unseen = self.cases.iter().filter(|share| share.each.is_none()).map(unseen).sum::<f64>();
        let left = self.total.known.max(0.0) + self.total.fresh.max(0.0) * self.ratio() + unseen;
        let deviation = self.total.variance.max(0.0).sqrt() + DRIFT * left + 0.3 * unseen;
        Some(Left::around(left, deviation).after(self.at_work(now)))
    }

    /// How many times the rounds that every case gets the measured cases of a backend are expected to have.
    fn stretch(&self, backend: &Backend) -> f64 {
        if backend.promised > 0.0 { (backend.expected / backend.promised).max(1.0) } else { 1.0 }
    }

    /// Seconds since work on the current pair began.
    fn at_work(&self, now: Duration) -> f64 {
        self.began.map_or(0.0, |began| now.saturating_sub(began).as_secs_f64())
    }

    /// Seconds until the run's time bound.
    fn bound_left(&self, now: Duration) -> Option<f64> {
        let (bound, from) = self.bound.zip(self.from)?;
        Some((bound - now.saturating_sub(from).as_secs_f64()).max(0.0))
    }

    /// Remaining time to measure the case at `at` if its rounds ran back to back; `None` until a first round is
    /// over. `at_work`: whether the case is being measured now.
    pub fn of_case(&self, at: usize, at_work: bool, now: Duration) -> Option<Left> {
        let share = self.cases.get(at)?;
        let backend = &self.backends[share.backend];
        let scaled =
            || (backend.estimated > 0.0).then(|| share.estimate * backend.measured / backend.estimated);
        let each = share.each.or_else(scaled)?;
        let Course { attempts, variance, .. } = share.course;
        let left = Left::around(attempts * each, variance.sqrt() * each + DRIFT * attempts * each);
        let left = if at_work { left.after(self.at_work(now)) } else { left };
        Some(self.bound_left(now).map_or(left, |bound| left.at_most(bound)))
    }

    /// Number of (case, round) pairs that are finished, and that will be in the end as far as can be foreseen by
    /// `now`; a failed case gets no more.
    pub fn progress(&self, now: Duration) -> (u32, u32) {
        let Total { done, ahead, .. } = self.total;
        let unseen = |backend: &Backend| backend.rounds.max(0.0) * self.stretch(backend);
        let ahead = ahead.max(0.0) + self.backends.iter().map(unseen).sum::<f64>();
        let middle = |left: Left| left.seconds().iter().sum::<f64>();
        let share = match self.unbounded(now).zip(self.remaining(now)) {
            Some((all, bounded)) if middle(all) > 0.0 => middle(bounded) / middle(all),
            _ => 1.0,
        };
        (done, done + (ahead * share - 1e-6).ceil().max(0.0) as u32)
    }

    /// The rounds that a case will have in the end, as far as can be foreseen.
    pub fn rounds_of(&self, ledger: &Ledger, record: &Record) -> u32 {
        let share = ledger.position(&record.case.id).and_then(|at| self.cases.get(at));
        share.map_or(0, |share| share.done + share.course.rounds.ceil() as u32)
    }
}

/// The rounds of a case whose first attempt was flagged.
fn flagged(record: &Record) -> u32 {
    record.attempts().filter(|attempt| attempt.attempt == 0 && !attempt.flags.is_empty()).count() as u32
}

/// The run's time bound, if all of its experiments have one.
fn bound(plan: &Plan) -> Option<f64> {
    plan.experiments
        .iter()
        .map(|e| e.measure.max_time)
        .try_fold(0.0, |most: f64, bound| Some(most.max(bound?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::tests::{attempt, in_half_a_second, plan};

    /// Middle of the remaining time of a case after rounds with these medians, each of which took one second to
    /// measure, and of the rounds that it is expected to have in the end.
    fn left(rule: &str, rounds: &[f64]) -> Option<(f64, u32)> {
        let plan = plan(rule);
        let mut ledger = Ledger::new(plan.clone());
        let mut eta = Eta::new(&ledger);
        eta.begin(Duration::ZERO);
        for (round, seconds) in (0..).zip(rounds) {
            ledger.apply(&in_half_a_second(attempt(&plan, 0, round, 0, *seconds, false)));
            eta.finish(0, &ledger, Duration::from_secs(u64::from(round) + 1));
        }
        let now = Duration::from_secs(rounds.len() as u64);
        let [low, high] = eta.of_case(0, true, now)?.seconds();
        Some((f64::midpoint(low, high), eta.rounds_of(&ledger, &ledger.records()[0])))
    }

    #[test]
    fn a_case_needs_what_its_rule_says() {
        assert_eq!(left("rounds: 5, ci: none", &[]), None, "nothing has been timed");
        assert_eq!(left("rounds: 5, ci: none", &[1.0, 1.0]), Some((3.0, 5)));
        assert_eq!(left("rounds: 5, ci: none", &[1.0; 5]), Some((0.0, 5)));
        let wild = [1.0, 1.2, 1.0, 1.2];
        let adaptive = |rest: &str| left(&format!("rounds: 3, ci: 10%, {rest}"), &wild).expect("timed");
        // The deviations are ±9.1 %, corrected ±10.5 %: an interval of ±10 % takes seven rounds or so.
        let (seconds, rounds) = adaptive("max-rounds: 90, budget: 1000s");
        assert!((1.5..6.0).contains(&seconds) && (6..=10).contains(&rounds), "{seconds} s, {rounds}");
        let (seconds, rounds) = adaptive("max-rounds: 5, budget: 1000s");
        assert!((0.5..=1.0).contains(&seconds) && rounds == 5, "{seconds} s, {rounds}");
        // Each attempt takes half a second of the budget.
        let (seconds, rounds) = adaptive("max-rounds: 90, budget: 2.5s");
        assert!(seconds <= 1.0 && rounds == 5, "{seconds} s, {rounds}");
    }

    #[test]
    fn the_round_at_work_is_part_of_it() {
        let plan = plan("rounds: 3, ci: none");
        let mut ledger = Ledger::new(plan.clone());
        let mut eta = Eta::new(&ledger);
        eta.begin(Duration::ZERO);
        ledger.apply(&attempt(&plan, 0, 0, 0, 1.0, false));
        eta.finish(0, &ledger, Duration::from_secs(10));
        let now = Duration::from_secs(14);
        let middle = |at, works| {
            let [low, high] = eta.of_case(at, works, now).expect("timed").seconds();
            f64::midpoint(low, high)
        };
        assert!((middle(0, true) - 16.0).abs() < 1e-9);
        assert!((middle(1, false) - 30.0).abs() < 3.0, "what the other needed: {}", middle(1, false));
        let mut later = eta.clone();
        later.shift(Duration::from_secs(4));
        let [low, high] = later.of_case(0, true, now).expect("timed").seconds();
        assert!((f64::midpoint(low, high) - 20.0).abs() < 1e-9, "a pause took four of them");
    }
}
