//! Records derived from a plan and the events of its run. A pure fold: the headless runner, the TUI and the
//! report of a stored run all fold the same events.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::record::{Record, SKIPPED, Status};
use crate::case::{Case, Device, Measure, Place, Verdict, distinct};
use crate::engine::protocol::{Event, Finished, FinishedRound, Ranked, RoundResult};
use crate::engine::schedule::Schedule;
use crate::model::{DeviceProfile, Profiles};
use crate::recipe::plan::{Chart, Plan};
use crate::stats::Stop;
use crate::{primitives, stats};

/// A plan and the records of its cases, in the plan's order.
#[derive(Clone, Debug)]
pub struct Ledger {
    plan: Plan,
    records: Vec<Record>,
    index: HashMap<String, usize>,
    /// Backends and devices of the cases. Screens ask for them in every frame, and a plan has thousands of cases.
    places: Vec<(String, u64)>,
    /// Positions of the cases that show the measurement of another one, and the position of that.
    originals: BTreeMap<usize, usize>,
    references: BTreeMap<String, Vec<f64>>,
    /// Positions of the cases that a resumed run takes up again: those lost with an engine, and those skipped
    /// by the user.
    put_off: BTreeSet<usize>,
    /// Whether the newest engine's part ended with the run's time bound.
    out_of_time: bool,
    profiles: Profiles,
    /// Whether the forecasts are out of date with `profiles`.
    stale: bool,
}

impl Ledger {
    /// Starts with every case pending, or `n/a` where the plan marks it so.
    pub fn new(plan: Plan) -> Ledger {
        let records: Vec<Record> = plan.cases.iter().map(|case| blank(case, &plan)).collect();
        let index: HashMap<String, usize> =
            plan.cases.iter().enumerate().map(|(i, c)| (c.id.clone(), i)).collect();
        let position = |id: &String| index.get(id).copied();
        let originals =
            plan.repeats.iter().filter_map(|(case, first)| Some((position(case)?, position(first)?)));
        let originals = originals.collect();
        let places = distinct(plan.cases.iter().map(Case::place));
        let places = places.into_iter().map(|(backend, device)| (backend.to_owned(), device)).collect();
        Ledger {
            plan,
            records,
            index,
            places,
            originals,
            references: BTreeMap::new(),
            put_off: BTreeSet::new(),
            out_of_time: false,
            profiles: Profiles::default(),
            stale: false,
        }
    }

    /// Predicts every case from these profiles, regardless of those that engines report.
    pub fn predict_from(&mut self, profiles: Profiles) {
        self.profiles = profiles;
        self.stale = true;
        self.predict();
    }

    /// Predicts from these profiles of devices instead of those that engines have reported.
    pub fn learn(&mut self, profiles: &[DeviceProfile]) {
        self.profiles.replace(profiles);
        self.stale = true;
        self.predict();
    }

    /// The profiles from which the cases are predicted.
    pub fn profiles(&self) -> &Profiles {
        &self.profiles
    }

    /// The backends among these devices whose cases nothing predicts because they have no profile: those for which
    /// `scatterlab calibrate --backend NAME` makes one (`cpu` stands for `scalar`, too).
    pub fn uncalibrated(&self, devices: &[Device]) -> Vec<&'static str> {
        let there = |backend: &str| devices.iter().any(|d| d.backend == backend && d.is_available());
        let lacking = |case: &&Case| there(case.place().0) && self.profiles.of(case).is_err();
        let cases = || self.plan.cases.iter().filter(lacking);
        let cuda = |case: &Case| case.place().0 == "cuda";
        let found = [("cpu", cases().any(|case| !cuda(case))), ("cuda", cases().any(cuda))];
        found.into_iter().filter(|(_, lacks)| *lacks).map(|(backend, _)| backend).collect()
    }

    /// Recomputes the forecasts if the profiles have changed.
    fn predict(&mut self) {
        if std::mem::take(&mut self.stale) {
            for record in &mut self.records {
                record.forecasts = self.profiles.forecasts(&record.case, record.work.as_ref());
            }
        }
    }

    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Has the experiment drawn in another way, which changes no case and no result.
    pub fn draw(&mut self, experiment: usize, chart: Chart) {
        if let Some(experiment) = self.plan.experiments.get_mut(experiment) {
            experiment.chart = chart;
        }
    }

    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// The backends and devices on which the cases run, each once.
    pub fn places(&self) -> impl Iterator<Item = Place<'_>> {
        self.places.iter().map(|(backend, device)| (backend.as_str(), *device))
    }

    /// The records of the cases that are measured: one for each measurement, however many charts show it.
    pub fn measured(&self) -> impl Iterator<Item = (usize, &Record)> {
        self.records.iter().enumerate().filter(|(_, record)| record.repeats.is_none())
    }

    /// Position of a case in the plan.
    pub fn position(&self, case: &str) -> Option<usize> {
        self.index.get(case).copied()
    }

    /// The position of the case that is measured for the one at this position: mostly itself.
    pub fn original(&self, at: usize) -> usize {
        self.originals.get(&at).copied().unwrap_or(at)
    }

    /// Position of a case that is measured.
    fn own(&self, case: &str) -> Option<usize> {
        self.position(case).filter(|at| !self.originals.contains_key(at))
    }

    /// Bandwidths of the plain copies measured during the run, GB/s, by backend.
    pub fn references(&self) -> &BTreeMap<String, Vec<f64>> {
        &self.references
    }

    /// Work that a new engine need not repeat.
    pub fn finished(&self) -> Finished {
        let mut finished = Finished { elapsed: self.elapsed().unwrap_or(0.0), ..Finished::default() };
        for (_, record) in self.measured() {
            if matches!(record.status, Status::Failed(_) | Status::NotApplicable(_)) {
                finished.given_up.push(record.case.id.clone());
            }
            if record.wanted > 0 {
                finished.wanted.insert(record.case.id.clone(), record.wanted);
            }
            finished.rounds.extend(record.rounds.iter().filter_map(|round| finished_round(record, round)));
        }
        finished
    }

    /// Seconds that the run has taken, without pauses, resumed parts included; `None` before the first round and in
    /// old runs.
    pub fn elapsed(&self) -> Option<f64> {
        let told = self.records.iter().flat_map(Record::attempts).map(|attempt| attempt.elapsed);
        told.filter(|elapsed| *elapsed > 0.0).max_by(f64::total_cmp)
    }

    /// Whether the run's time bound has ended it.
    pub fn is_out_of_time(&self) -> bool {
        self.out_of_time
    }

    /// Whether resuming the run would have nothing to do.
    pub fn is_complete(&self) -> bool {
        self.put_off.is_empty() && Schedule::new(&self.plan, &self.finished()).next(0.0).is_none()
    }

    /// The cases that a new engine would still measure.
    pub fn left(&self) -> Vec<&Case> {
        let left = Schedule::new(&self.plan, &self.finished()).left();
        left.into_iter().map(|at| &self.plan.cases[at]).collect()
    }

    /// Applies an event and returns the position of the case that it changed.
    pub fn apply(&mut self, event: &Event) -> Option<usize> {
        let at = self.file(event);
        self.predict();
        if matches!(event, Event::OutOfTime) {
            self.settle();
        }
        let at = at?;
        self.refresh(at);
        Some(at)
    }

    /// Updates all derived state after a series of [`file`](Self::file) calls.
    pub(super) fn settle(&mut self) {
        self.predict();
        (0..self.records.len()).for_each(|at| self.refresh(at));
    }

    /// Marks a case as failed for good, which hides its times.
    pub fn fail(&mut self, at: usize, error: String) {
        self.put_off.remove(&at);
        self.originals.remove(&at);
        self.records[at].repeats = None;
        self.records[at].status = Status::Failed(error);
        self.refresh(at);
    }

    /// Whether the user may skip a case: it has rounds left.
    pub fn may_skip(&self, at: usize) -> bool {
        self.records
            .get(self.original(at))
            .is_some_and(|r| matches!(r.status, Status::Pending | Status::Partial))
    }

    /// Whether the user may have a case measured again or further. A wrong result cannot be retried: it stays
    /// wrong even if a second attempt is right.
    pub fn may_repeat(&self, at: usize) -> bool {
        let at = self.original(at);
        self.records.get(at).is_some_and(|record| match record.status {
            Status::Done => true,
            Status::Failed(_) => !is_wrong(record),
            Status::NotApplicable(_) => self.put_off.contains(&at),
            Status::Pending | Status::Partial => false,
        })
    }

    /// The event that skips a case while there is no engine.
    pub fn skipped(&self, at: usize) -> Option<Event> {
        let case = self.records.get(self.original(at)).filter(|_| self.may_skip(at))?.case.id.clone();
        Some(Event::Skipped { seq: 0, case })
    }

    /// The event that repeats a case while there is no engine.
    pub fn repeated(&self, at: usize) -> Option<Event> {
        let at = self.original(at);
        let record = self.records.get(at).filter(|_| self.may_repeat(at))?;
        let had = record.rounds.len() as u32;
        let rounds = if record.status == Status::Done { had + self.measure(at).rounds } else { 0 };
        Some(Event::Retried { case: record.case.id.clone(), rounds })
    }

    /// Reopens the cases that were lost with an engine or skipped, and returns their ids.
    pub fn retry(&mut self) -> Vec<String> {
        let put_off: Vec<usize> = self.put_off.iter().copied().collect();
        for at in &put_off {
            self.reopen(*at);
            self.refresh(*at);
        }
        put_off.into_iter().map(|at| self.records[at].case.id.clone()).collect()
    }

    /// Records an event without updating derived state; [`settle`](Self::settle) does that once for many
    /// events.
    pub(super) fn file(&mut self, event: &Event) -> Option<usize> {
        match event {
            Event::Hello { profiles, .. } => {
                let none = self.records.first().is_some_and(|record| record.forecasts.is_empty());
                self.stale |= self.profiles.add(profiles) || none;
                self.out_of_time = false;
                None
            }
            Event::Round { result, .. } => {
                let at = self.own(&result.case)?;
                self.add_round(at, result);
                Some(at)
            }
            Event::OutOfTime => {
                self.out_of_time = true;
                None
            }
            Event::NotApplicable { case, reason, .. } => {
                let at = self.own(case)?;
                self.records[at].status = Status::NotApplicable(reason.clone());
                self.put_off.remove(&at);
                Some(at)
            }
            Event::Skipped { case, .. } => {
                let at = self.own(case)?;
                self.skip(at);
                Some(at)
            }
            Event::Failed { case, error, lost, .. } => {
                let at = self.own(case)?;
                self.records[at].status = Status::Failed(error.clone());
                if *lost {
                    self.put_off.insert(at)
                } else {
                    self.put_off.remove(&at)
                };
                Some(at)
            }
            Event::Retried { case, rounds } => {
                let at = self.own(case)?;
                self.reopen(at);
                self.records[at].wanted = self.records[at].wanted.max(*rounds);
                Some(at)
            }
            Event::SetAside { case, .. } => {
                let at = self.own(case)?;
                self.set_aside(at);
                Some(at)
            }
            Event::Reference { backend, copy, ranked, .. } => {
                self.references.entry(backend.clone()).or_default().push(*copy);
                self.add_ranked(backend, ranked);
                None
            }
            _ => None,
        }
    }

    /// Files rates of ranking with the cases whose keys are of the kind.
    fn add_ranked(&mut self, backend: &str, ranked: &[Ranked]) {
        if ranked.is_empty() {
            return;
        }
        for record in self.records.iter_mut().filter(|record| record.case.place().0 == backend) {
            let Some(ranking) = primitives::ranking(&record.case) else { continue };
            let rates = ranked.iter().filter(|ranked| ranked.kind == ranking.kind).map(|ranked| ranked.rate);
            record.ranked.extend(rates);
        }
    }

    fn add_round(&mut self, at: usize, result: &RoundResult) {
        let record = &mut self.records[at];
        let work = record.work.clone();
        if !record.add(result.clone()) {
            return;
        }
        if record.work != work {
            record.forecasts = self.profiles.forecasts(&record.case, record.work.as_ref());
        }
        if let Some(verdict) = &result.verdict {
            record.verdict = Some(verdict.clone());
        }
        if let Some(Verdict::Wrong { mistake }) = &record.verdict {
            record.status = Status::Failed(format!("wrong result: {mistake}"));
        }
    }

    /// Has a case measured anew, without the rounds so far, and forgets the plain copies that were measured beside
    /// them. A wrong result stays wrong.
    fn set_aside(&mut self, at: usize) {
        let record = &mut self.records[at];
        if is_wrong(record) {
            return;
        }
        let rounds = std::mem::take(&mut record.rounds);
        record.superseded.extend(rounds);
        record.superseded.append(&mut record.set_aside);
        (record.verdict, record.statistics, record.stop) = (None, None, None);
        if matches!(record.status, Status::Done | Status::Partial) {
            record.status = Status::Pending;
        }
        self.references.remove(record.case.place().0);
    }

    /// Skips a case. If it had enough rounds before the user asked for more, only the additional rounds are
    /// dropped.
    fn skip(&mut self, at: usize) {
        let measure = &self.plan.experiments[self.plan.cases[at].experiment].measure;
        let record = &mut self.records[at];
        // A case that failed stays failed: an engine skips it when its report was refused.
        if matches!(record.status, Status::Failed(_)) {
            return;
        }
        let open = !matches!(record.status, Status::NotApplicable(_));
        let enough = || stats::verdict(measure, 0, &record.medians(), record.spent()).is_some();
        if open && record.wanted > 0 && enough() {
            record.wanted = 0;
            return;
        }
        record.status = Status::NotApplicable(SKIPPED.to_owned());
        self.put_off.insert(at);
    }

    /// Reopens a case that was skipped or that failed without a wrong result.
    fn reopen(&mut self, at: usize) {
        let skipped = self.put_off.remove(&at);
        let record = &mut self.records[at];
        let open = match record.status {
            Status::Failed(_) => !is_wrong(record),
            Status::NotApplicable(_) => skipped,
            _ => false,
        };
        if open {
            record.status = Status::Pending;
        }
    }

    /// How the case at this position is sampled.
    pub fn measure(&self, at: usize) -> &Measure {
        &self.plan.experiments[self.plan.cases[at].experiment].measure
    }

    /// The most rounds that the case at this position may have: the recipe's, or more if the user asked for them.
    pub fn most_rounds(&self, at: usize) -> u32 {
        let (measure, wanted) = (self.measure(at), self.records.get(at).map_or(0, |record| record.wanted));
        let most = if measure.adaptive().is_some() { measure.most() } else { measure.rounds };
        most.max(wanted)
    }

    /// Updates the state derived from a record's rounds, and the records that show the same measurement.
    fn refresh(&mut self, at: usize) {
        if self.originals.contains_key(&at) {
            return;
        }
        self.derive(at);
        for repeat in self.originals.iter().filter(|(_, first)| **first == at).map(|(repeat, _)| *repeat) {
            let own = &self.records[repeat];
            let (case, repeats) = (own.case.clone(), own.repeats.clone());
            self.records[repeat] = Record { case, repeats, ..self.records[at].clone() };
        }
    }

    /// Updates the state derived from a record's rounds: a case that failed or cannot run has neither a time nor a
    /// reason to stop.
    fn derive(&mut self, at: usize) {
        let measure = &self.plan.experiments[self.plan.cases[at].experiment].measure;
        let record = &mut self.records[at];
        if matches!(record.status, Status::Failed(_) | Status::NotApplicable(_)) {
            (record.statistics, record.stop) = (None, None);
            return;
        }
        if record.rounds.is_empty() {
            return;
        }
        record.statistics = stats::statistics(record.rounds.iter().map(|r| r.samples.as_slice()));
        let awaited = measure.certify && record.case.peer().is_none();
        record.stop = stats::verdict(measure, record.wanted, &record.medians(), record.spent())
            .or(self.out_of_time.then_some(Stop::Time));
        let complete = record.stop.is_some() && (record.verdict.is_some() || !awaited);
        record.status = if complete { Status::Done } else { Status::Partial };
    }
}

fn is_wrong(record: &Record) -> bool {
    matches!(record.verdict, Some(Verdict::Wrong { .. }))
}

/// A finished round; a second attempt is due if its only attempt is flagged.
fn finished_round(record: &Record, round: &RoundResult) -> Option<FinishedRound> {
    let attempts = || record.attempts().filter(|r| r.round == round.round).map(|attempt| attempt.wall);
    Some(FinishedRound {
        case: round.case.clone(),
        round: round.round,
        median: stats::median(&round.samples)?,
        wall: attempts().sum(),
        longest: attempts().fold(0.0, f64::max),
        doubtful: record.is_doubtful(round),
    })
}

fn blank(case: &Case, plan: &Plan) -> Record {
    let status = case.not_applicable.clone().map_or(Status::Pending, Status::NotApplicable);
    Record {
        work: primitives::work(case, &[]),
        annotations: primitives::problem(case).map(|problem| problem.annotations()).unwrap_or_default(),
        case: case.clone(),
        repeats: plan.repeats.get(&case.id).cloned(),
        rounds: Vec::new(),
        set_aside: Vec::new(),
        superseded: Vec::new(),
        verdict: None,
        stop: None,
        wanted: 0,
        status,
        statistics: None,
        forecasts: Vec::new(),
        ranked: Vec::new(),
    }
}
