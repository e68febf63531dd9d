//! Progress and remaining time of a run, from its finished (case, round) pairs. All sums are updated
//! incrementally, so an event costs O(1) in the number of cases.

use std::time::Duration;

use super::{Ledger, Record, Status};
use crate::recipe::plan::Plan;
use crate::stats;

/// Rounds done and left, and the mean time per round.
#[derive(Clone, Debug, Default)]
pub struct Eta {
    /// When work on the current pair began.
    began: Option<Duration>,
    /// One entry per case, in the plan's order.
    cases: Vec<Share>,
    backends: Vec<Backend>,
    total: Total,
}

/// Contribution of one case.
#[derive(Clone, Copy, Debug, Default)]
struct Share {
    /// Index into [`Eta::backends`].
    backend: usize,
    wanted: u32,
    left: u32,
    seen: Pace,
}

#[derive(Clone, Debug, Default)]
struct Backend {
    name: String,
    seen: Pace,
    /// Remaining rounds of cases without any finished round.
    unseen: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Total {
    wanted: u32,
    left: u32,
    seen: Pace,
    /// Seconds for the remaining rounds of cases with a finished round.
    known: f64,
}

/// Total time and number of timed rounds.
#[derive(Clone, Copy, Debug, Default)]
struct Pace {
    seconds: f64,
    rounds: u32,
}

impl Pace {
    fn mean(self) -> Option<f64> {
        (self.rounds > 0).then(|| self.seconds / f64::from(self.rounds))
    }

    fn add(&mut self, seconds: f64) {
        *self = Pace { seconds: self.seconds + seconds, rounds: self.rounds + 1 };
    }
}

impl Eta {
    /// Starts from the current state of a ledger.
    pub fn new(ledger: &Ledger) -> Eta {
        let mut eta = Eta::default();
        for at in 0..ledger.records().len() {
            let backend = eta.backend(ledger.records()[at].case.backend());
            eta.cases.push(Share { backend, ..Share::default() });
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
        self.began = Some(now);
    }

    /// Excludes an idle time from the current pair.
    pub fn shift(&mut self, by: Duration) {
        self.began = self.began.map(|began| began + by);
    }

    /// Nothing is being measured.
    pub fn pause(&mut self) {
        self.began = None;
    }

    /// Updates the share of the record at `at` after a change.
    pub fn note(&mut self, at: usize, ledger: &Ledger) {
        let Some(record) = ledger.records().get(at) else { return };
        let (wanted, left) = (rounds_wanted(ledger.plan(), record), rounds_left(ledger.plan(), record));
        self.update(at, |share| *share = Share { wanted, left, ..*share });
    }

    /// A round of the case at `at` has finished.
    pub fn finish(&mut self, at: usize, ledger: &Ledger, now: Duration) {
        self.note(at, ledger);
        let Some(began) = self.began.replace(now) else { return };
        let seconds = now.saturating_sub(began).as_secs_f64();
        self.update(at, |share| share.seen.add(seconds));
        self.total.seen.add(seconds);
        if let Some(share) = self.cases.get(at) {
            self.backends[share.backend].seen.add(seconds);
        }
    }

    /// Changes a share and all sums that contain it.
    fn update(&mut self, at: usize, change: impl FnOnce(&mut Share)) {
        let Some(share) = self.cases.get_mut(at) else { return };
        let before = *share;
        change(share);
        let after = *share;
        let (total, unseen) = (&mut self.total, &mut self.backends[after.backend].unseen);
        total.wanted = total.wanted + after.wanted - before.wanted;
        total.left = total.left + after.left - before.left;
        total.known += after.known() - before.known();
        *unseen = *unseen + after.unseen() - before.unseen();
    }

    /// Time until the last case finishes; `None` until a first round is over. A case without finished rounds is
    /// assumed to take the mean time per round of its backend, or of all backends if its backend has none
    /// either.
    pub fn remaining(&self, now: Duration) -> Option<Duration> {
        let overall = self.total.seen.mean()?;
        let unseen = |b: &Backend| b.unseen as f64 * b.seen.mean().unwrap_or(overall);
        let left = self.total.known + self.backends.iter().map(unseen).sum::<f64>();
        let spent = self.began.map_or(0.0, |began| now.saturating_sub(began).as_secs_f64());
        Duration::try_from_secs_f64((left - spent).max(0.0)).ok()
    }

    /// Remaining time to measure the case at `at` if its rounds ran back to back; `None` until a first round is
    /// over. `at_work`: whether the case is being measured now.
    pub fn of_case(&self, at: usize, at_work: bool, ledger: &Ledger, now: Duration) -> Option<Duration> {
        let (share, record) = (self.cases.get(at)?, ledger.records().get(at)?);
        let backend = || self.backends[share.backend].seen.mean().or(self.total.seen.mean());
        let each = share.seen.mean().or_else(backend)?;
        let left = each * f64::from(rounds_ahead(ledger.plan(), record));
        let began = self.began.filter(|_| at_work);
        let spent = began.map_or(0.0, |began| now.saturating_sub(began).as_secs_f64());
        Duration::try_from_secs_f64((left - spent).max(0.0)).ok()
    }

    /// Finished and total (case, round) pairs known so far; a failed case has none left.
    pub fn progress(&self) -> (u32, u32) {
        (self.total.wanted - self.total.left, self.total.wanted)
    }
}

impl Share {
    /// Seconds for the remaining rounds, from the mean of the case's own rounds.
    fn known(&self) -> f64 {
        self.seen.mean().map_or(0.0, |each| each * f64::from(self.left))
    }

    fn unseen(&self) -> u64 {
        if self.seen.rounds == 0 { u64::from(self.left) } else { 0 }
    }
}

/// Least number of rounds of a case: those guaranteed to every case, plus one while the stopping rule asks for
/// more.
pub fn rounds_wanted(plan: &Plan, record: &Record) -> u32 {
    let had = record.rounds.len() as u32;
    match record.status {
        Status::NotApplicable(_) => 0,
        Status::Done => had,
        Status::Failed(_) => had.max(first_rounds(plan, record)),
        Status::Pending | Status::Partial => {
            first_rounds(plan, record).max(had + u32::from(record.stop.is_none()))
        }
    }
}

fn first_rounds(plan: &Plan, record: &Record) -> u32 {
    plan.experiments.get(record.case.experiment).map_or(0, |e| e.measure.rounds).max(record.wanted)
}

fn rounds_left(plan: &Plan, record: &Record) -> u32 {
    match record.status {
        Status::Failed(_) | Status::Done => 0,
        _ => rounds_wanted(plan, record).saturating_sub(record.rounds.len() as u32),
    }
}

/// Expected remaining rounds of a case under its stopping rule, assuming constant scatter: the width of the
/// interval falls as 1/√n; the largest number of rounds and the budget may stop it earlier.
fn rounds_ahead(plan: &Plan, record: &Record) -> u32 {
    let (left, had) = (rounds_left(plan, record), record.rounds.len() as u32);
    let Some(measure) = plan.experiments.get(record.case.experiment).map(|e| &e.measure) else { return left };
    let width = measure.adaptive().zip(stats::half_width(&record.medians()));
    let Some((asked, width)) = width.filter(|_| left > 0) else { return left };
    // Via f64, because the cast to u32 saturates instead of overflowing.
    let precise = (f64::from(had) * (width / asked).powi(2)).ceil() as u32;
    let affordable = (measure.budget / (record.spent() / f64::from(had))).ceil() as u32;
    precise.min(affordable).min(measure.most()).saturating_sub(had).max(left)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::tests::{attempt, plan};

    /// Remaining time of a case after rounds with these medians, each of which took one second to measure.
    fn left(rule: &str, rounds: &[f64]) -> Option<Duration> {
        let plan = plan(rule);
        let mut ledger = Ledger::new(plan.clone());
        let mut eta = Eta::new(&ledger);
        eta.begin(Duration::ZERO);
        for (round, seconds) in (0..).zip(rounds) {
            ledger.apply(&attempt(&plan, 0, round, 0, *seconds, false));
            eta.finish(0, &ledger, Duration::from_secs(u64::from(round) + 1));
        }
        let now = Duration::from_secs(rounds.len() as u64);
        assert_eq!(eta.of_case(0, false, &ledger, now), eta.of_case(0, true, &ledger, now));
        eta.of_case(0, true, &ledger, now)
    }

    fn seconds(seconds: u64) -> Option<Duration> {
        Some(Duration::from_secs(seconds))
    }

    #[test]
    fn a_case_needs_what_its_rule_says() {
        assert_eq!(left("rounds: 5, ci: none", &[]), None, "nothing has been timed");
        assert_eq!(left("rounds: 5, ci: none", &[1.0, 1.0]), seconds(3));
        assert_eq!(left("rounds: 5, ci: none", &[1.0; 5]), seconds(0));
        let wild = [1.0, 1.2, 1.0, 1.2];
        let adaptive = |rest: &str| left(&format!("rounds: 3, ci: 10%, {rest}"), &wild);
        // The half-width is 16.7 % of the median: 4 · (16.7 / 10)² rounds, rounded up.
        assert_eq!(adaptive("max-rounds: 90, budget: 1000s"), seconds(12 - 4));
        assert_eq!(adaptive("max-rounds: 9, budget: 1000s"), seconds(9 - 4));
        // Each attempt takes half a second here.
        assert_eq!(adaptive("max-rounds: 90, budget: 3s"), seconds(6 - 4));
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
        assert_eq!(eta.of_case(0, true, &ledger, now), seconds(16));
        assert_eq!(eta.of_case(1, false, &ledger, now), seconds(30), "what the others needed");
        eta.shift(Duration::from_secs(4));
        assert_eq!(eta.of_case(0, true, &ledger, now), seconds(20), "a pause took four of them");
    }
}
