//! Decides which case is measured next. Pure: results go in, the next turn comes out. Reference copies between cases have
//! a schedule of their own.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use super::protocol::Finished;
use crate::case::Measure;
use crate::case::measure::Order;
use crate::inputs::mix;
use crate::recipe::plan::Plan;
use crate::stats::{self, Spent};

/// One attempt at one round of one case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Position in the plan.
    pub case: usize,
    /// Number of the round, from 0.
    pub round: u32,
    /// 0, or 1 for the second attempt after a flagged one.
    pub attempt: u32,
}

/// Progress of a case.
#[derive(Debug)]
struct Progress {
    measure: Measure,
    /// Medians of the measured rounds.
    medians: BTreeMap<u32, f64>,
    /// Seconds taken by all turns of the case.
    spent: Spent,
    /// Least number of rounds requested by the user.
    wanted: u32,
    given_up: bool,
    /// The run's time bound leaves no room for another turn.
    cut: bool,
    /// Rounds whose second attempt was pending when the case was given up.
    looks: BTreeSet<u32>,
}

impl Progress {
    /// The next round to measure, unless the case has enough.
    fn due(&self) -> Option<u32> {
        let next = || (0..).find(|round| !self.medians.contains_key(round));
        if self.given_up || self.cut || self.enough(self.wanted) { None } else { next() }
    }

    /// The next round to measure among those that the case gets in any event.
    fn promised(&self) -> Option<u32> {
        self.due().filter(|_| self.medians.len() < self.measure.rounds.max(self.wanted) as usize)
    }

    /// Whether a turn that begins `now` may be expected to end within the run's time bound.
    fn fits(&self, now: f64) -> bool {
        self.measure.max_time.is_none_or(|bound| now < bound && now + self.spent.longest <= bound)
    }

    /// The width of the case's interval over the width that its recipe asks for.
    fn width(&self) -> f64 {
        let medians: Vec<f64> = self.medians.values().copied().collect();
        let asked = self.measure.adaptive().unwrap_or(f64::INFINITY);
        stats::half_width(&medians).map_or(f64::INFINITY, |width| width / asked)
    }

    /// Whether the case has enough rounds if at least `wanted` are requested.
    fn enough(&self, wanted: u32) -> bool {
        let medians: Vec<f64> = self.medians.values().copied().collect();
        stats::verdict(&self.measure, wanted, &medians, self.spent).is_some()
    }
}

/// Passes over the plan's cases: in each pass, every case that needs a round gets one; flagged rounds get their
/// second attempt at the end of the pass, as far as the case's budget affords it. In a run with a time bound, once
/// every case has the rounds that it gets in any event, the turns of a pass go one by one to the case whose interval
/// is widest at that moment.
#[derive(Debug)]
pub struct Schedule {
    cases: Vec<Progress>,
    seed: u64,
    /// Number of passes begun.
    passes: u32,
    /// Turns left of a pass that goes to the widest intervals.
    widest: usize,
    queue: VecDeque<Turn>,
    again: Vec<Turn>,
}

impl Schedule {
    /// The remaining work of a plan. Cases that the plan marks as `n/a`, and those that repeat another, get no turn.
    pub fn new(plan: &Plan, finished: &Finished) -> Schedule {
        let mut cases: Vec<Progress> = (plan.cases.iter())
            .map(|case| Progress {
                measure: plan.experiments[case.experiment].measure,
                medians: BTreeMap::new(),
                spent: Spent::default(),
                wanted: finished.wanted.get(&case.id).copied().unwrap_or(0),
                given_up: case.not_applicable.is_some() || plan.is_repeat(case),
                cut: false,
                looks: BTreeSet::new(),
            })
            .collect();
        let at: HashMap<&str, usize> =
            plan.cases.iter().enumerate().map(|(i, c)| (c.id.as_str(), i)).collect();
        for id in &finished.given_up {
            if let Some(at) = at.get(id.as_str()) {
                cases[*at].given_up = true;
            }
        }
        let mut again = Vec::new();
        for round in &finished.rounds {
            let Some(case) = at.get(round.case.as_str()).copied() else { continue };
            cases[case].medians.insert(round.round, round.median);
            let spent = &mut cases[case].spent;
            // Rounds from before the longest attempt was told count as one attempt.
            let longest = if round.longest > 0.0 { round.longest } else { round.wall };
            *spent = Spent { total: spent.total + round.wall, longest: spent.longest.max(longest) };
            if round.doubtful && cases[case].given_up {
                cases[case].looks.insert(round.round);
            } else if round.doubtful && cases[case].measure.second_look {
                again.push(Turn { case, round: round.round, attempt: 1 });
            }
        }
        let seed = plan.cases.first().map_or(0, |case| case.seed);
        Schedule { cases, seed, passes: 0, widest: 0, queue: VecDeque::new(), again }
    }

    /// Number of passes begun.
    pub fn passes(&self) -> u32 {
        self.passes
    }

    /// Positions of the cases that have turns left.
    pub fn left(&self) -> BTreeSet<usize> {
        let due = (0..self.cases.len()).filter(|at| self.cases[*at].due().is_some());
        due.chain(self.queue.iter().chain(&self.again).map(|turn| turn.case)).collect()
    }

    /// Whether a case has a round left.
    pub fn due(&self, case: usize) -> bool {
        self.cases[case].due().is_some()
    }

    /// Reopens a case that was given up. A case that has enough rounds gets as many more as every case gets.
    /// Returns the resulting least number of rounds.
    pub fn repeat(&mut self, at: usize) -> u32 {
        let case = &mut self.cases[at];
        case.given_up = false;
        if case.due().is_none() {
            case.wanted = case.medians.len() as u32 + case.measure.rounds;
        }
        let looks = std::mem::take(&mut case.looks).into_iter();
        self.again.extend(looks.map(|round| Turn { case: at, round, attempt: 1 }));
        self.cases[at].wanted
    }

    /// Reverts a turn that was abandoned. A first attempt is still due by itself, but a second one has to be
    /// queued again.
    pub fn put_back(&mut self, turn: Turn) {
        match self.cases[turn.case].given_up {
            _ if turn.attempt == 0 => {}
            true => _ = self.cases[turn.case].looks.insert(turn.round),
            false => self.again.push(turn),
        }
    }

    /// Skips a case on request. If only rounds requested in addition are left, those are dropped and the case
    /// keeps its result.
    pub fn skip(&mut self, at: usize) {
        let case = &mut self.cases[at];
        if case.wanted == 0 || !case.enough(0) {
            return self.give_up(at);
        }
        case.wanted = 0;
        self.queue.retain(|turn| turn.case != at || turn.attempt > 0);
    }

    /// Drops all remaining turns of a case.
    pub fn give_up(&mut self, case: usize) {
        let progress = &mut self.cases[case];
        progress.given_up = true;
        let looks = self.queue.iter().chain(&self.again).filter(|t| t.case == case && t.attempt > 0);
        progress.looks.extend(looks.map(|turn| turn.round));
        self.queue.retain(|turn| turn.case != case);
        self.again.retain(|turn| turn.case != case);
    }

    /// Records a measured turn with its median and total seconds. A flagged first attempt schedules a second
    /// one.
    pub fn measured(&mut self, turn: Turn, median: f64, wall: f64, doubtful: bool) {
        let case = &mut self.cases[turn.case];
        case.spent.add(wall);
        // A second attempt replaces the first only if it is not flagged.
        if turn.attempt == 0 || !doubtful {
            case.medians.insert(turn.round, median);
        }
        if self.looks_again(turn, doubtful) {
            self.again.push(Turn { attempt: 1, ..turn });
        }
        let case = &self.cases[turn.case];
        let due = if case.measure.max_time.is_some() { case.promised() } else { case.due() };
        if let (Order::Sequential, Some(round)) = (case.measure.order, due) {
            self.queue.push_front(Turn { case: turn.case, round, attempt: 0 });
        }
    }

    /// Whether a measured turn is to have a second attempt, as far as is known by now.
    pub fn looks_again(&self, turn: Turn, doubtful: bool) -> bool {
        let case = &self.cases[turn.case];
        doubtful && turn.attempt == 0 && case.measure.second_look && case.spent.affords(case.measure.budget)
    }

    /// Whether the run's time bound has taken rounds away from a case.
    pub fn out_of_time(&self) -> bool {
        self.cases.iter().any(|case| case.cut)
    }

    /// The next turn of a run that has taken `now` seconds; `None` when all cases have enough, or when no turn fits
    /// into the run's time bound any more.
    pub fn next(&mut self, now: f64) -> Option<Turn> {
        loop {
            if self.queue.is_empty() {
                self.queue.extend(self.again.drain(..));
            }
            if self.queue.is_empty() {
                self.queue = self.pass();
            }
            let turn = self.queue.pop_front()?;
            let case = &mut self.cases[turn.case];
            let second = turn.attempt > 0;
            if !case.fits(now) {
                case.cut |= !second && case.due().is_some();
            } else if !second || case.spent.affords(case.measure.budget) {
                return Some(turn);
            }
        }
    }

    /// The next round of every case that needs one. Cases that fell behind when an engine died catch up first.
    fn pass(&mut self) -> VecDeque<Turn> {
        let turn =
            |(case, progress): (usize, &Progress)| Some(Turn { case, round: progress.due()?, attempt: 0 });
        let mut turns: Vec<Turn> = self.cases.iter().enumerate().filter_map(turn).collect();
        if let Some(widest) = self.widest(&turns) {
            if self.widest == 0 {
                (self.widest, self.passes) = (turns.len(), self.passes + 1);
            }
            self.widest -= 1;
            return VecDeque::from([widest]);
        }
        let first = turns.iter().map(|turn| turn.round).min();
        turns.retain(|turn| Some(turn.round) == first);
        self.shuffle(&mut turns);
        self.passes += u32::from(!turns.is_empty());
        turns.into()
    }

    /// The turn of the case with the widest interval, in a run with a time bound in which no case lacks a round that
    /// it gets in any event.
    fn widest(&self, turns: &[Turn]) -> Option<Turn> {
        let case = |turn: &Turn| &self.cases[turn.case];
        let promised = turns.iter().any(|turn| case(turn).promised().is_some());
        let bounded = |turn: &&Turn| case(turn).measure.max_time.is_some();
        let turns = turns.iter().filter(bounded).filter(|_| !promised);
        turns.max_by(|one, other| case(one).width().total_cmp(&case(other).width())).copied()
    }

    /// Fisher–Yates shuffle of the cases whose recipe requests a random order; the others keep their positions.
    fn shuffle(&self, turns: &mut [Turn]) {
        let random = |turn: &Turn| self.cases[turn.case].measure.order == Order::Random;
        let places: Vec<usize> = (0..turns.len()).filter(|at| random(&turns[*at])).collect();
        let key = mix::word64(self.seed, u64::from(self.passes));
        for last in (1..places.len()).rev() {
            let other = (mix::word64(key, last as u64) % (last as u64 + 1)) as usize;
            turns.swap(places[last], places[other]);
        }
    }
}

/// A reference that takes at most this long is measured before every pass over the cases, seconds.
pub const CHEAP_REFERENCE: f64 = 0.3;
/// A longer one waits until its cost is at most this share of the time since the previous one.
pub const REFERENCE_SHARE: f64 = 0.05;

/// When the last reference was measured, and its cost.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReferenceSchedule {
    last: Option<Last>,
}

#[derive(Clone, Copy, Debug)]
struct Last {
    /// When the reference finished, seconds since an arbitrary start.
    at: f64,
    /// Duration of the reference, seconds.
    cost: f64,
}

impl ReferenceSchedule {
    /// Whether to measure a reference now: always the first time, and every time if it is cheap.
    pub fn due(&self, now: f64) -> bool {
        self.last
            .is_none_or(|last| last.cost <= CHEAP_REFERENCE || last.cost <= REFERENCE_SHARE * (now - last.at))
    }

    /// Records a reference measured between these times.
    pub fn measured(&mut self, from: f64, to: f64) {
        self.last = Some(Last { at: to, cost: to - from });
    }
}

#[cfg(test)]
mod tests;
