//! How long a run will still take, from the (case, round) pairs that are over.

use std::collections::HashMap;
use std::time::Duration;

use super::{Ledger, Record, Status};
use crate::plan::Plan;

/// Durations of finished (case, round) pairs, by case.
#[derive(Clone, Debug, Default)]
pub struct Eta {
    /// When the pair that is being worked on began.
    began: Option<Duration>,
    /// Sum and number, by position in the plan.
    seen: HashMap<usize, (Duration, u32)>,
}

impl Eta {
    /// The engine begins (or begins again after a pause).
    pub fn begin(&mut self, now: Duration) {
        self.began = Some(now);
    }

    /// Nothing is being worked on.
    pub fn pause(&mut self) {
        self.began = None;
    }

    /// A round of the case at `position` is over.
    pub fn finish(&mut self, position: usize, now: Duration) {
        if let Some(began) = self.began.replace(now) {
            let seen = self.seen.entry(position).or_default();
            *seen = (seen.0 + now.saturating_sub(began), seen.1 + 1);
        }
    }

    /// Time until the last case, `None` until a first round is over. A case that has
    /// not run yet is taken to need what the others needed on average on its backend,
    /// or on all where its backend has not been seen.
    pub fn remaining(&self, ledger: &Ledger, now: Duration) -> Option<Duration> {
        let overall = mean(self.seen.values())?;
        let backends = self.by_backend(ledger);
        let left: Duration = (ledger.records().iter().enumerate())
            .map(|(at, record)| {
                let own = self.seen.get(&at).and_then(|s| mean(std::iter::once(s)));
                let each = own.or_else(|| backends.get(record.case.backend()).copied()).unwrap_or(overall);
                each * rounds_left(ledger.plan(), record)
            })
            .sum();
        let spent = self.began.map_or(Duration::ZERO, |began| now.saturating_sub(began));
        Some(left.saturating_sub(spent))
    }

    fn by_backend<'a>(&self, ledger: &'a Ledger) -> HashMap<&'a str, Duration> {
        let mut sums: HashMap<&str, (Duration, u32)> = HashMap::new();
        for (at, (sum, count)) in &self.seen {
            let Some(record) = ledger.records().get(*at) else { continue };
            let entry = sums.entry(record.case.backend()).or_default();
            *entry = (entry.0 + *sum, entry.1 + count);
        }
        sums.into_iter().filter_map(|(name, s)| Some((name, mean(std::iter::once(&s))?))).collect()
    }
}

fn mean<'a>(seen: impl Iterator<Item = &'a (Duration, u32)>) -> Option<Duration> {
    let (sum, count) = seen.fold((Duration::ZERO, 0), |(s, n), (sum, count)| (s + *sum, n + count));
    (count > 0).then(|| sum / count)
}

/// Rounds that a case will have at least: those that every case gets, and one more
/// while the rule still asks for one.
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
    plan.experiments.get(record.case.experiment).map_or(0, |e| e.measure.rounds)
}

fn rounds_left(plan: &Plan, record: &Record) -> u32 {
    match record.status {
        Status::Failed(_) | Status::Done => 0,
        _ => rounds_wanted(plan, record).saturating_sub(record.rounds.len() as u32),
    }
}

/// Finished and all (case, round) pairs of a run as far as they are known; a failed case
/// has nothing left.
pub fn progress(ledger: &Ledger) -> (u32, u32) {
    ledger.records().iter().fold((0, 0), |(done, all), record| {
        let wanted = rounds_wanted(ledger.plan(), record);
        (done + wanted - rounds_left(ledger.plan(), record), all + wanted)
    })
}
