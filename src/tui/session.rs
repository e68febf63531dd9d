//! A run as the screen knows it: the ledger of its records and where it stands.

mod events;
mod look;

use std::path::PathBuf;
use std::time::Duration;

use super::chart::ChartView;
use super::hold::Hold;
use super::log::Log;
use super::machine::Machine;
use super::state::Mode;
use super::words;
use crate::engine::protocol::{Environment, Level, Stage};
use crate::report::series::{ChartData, charted};
use crate::run::Ledger;
use crate::run::eta::Eta;

/// The stage of a case that has changed within this time will soon change again.
const LATELY: Duration = Duration::from_millis(250);

/// How far a run got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The engine works.
    Running,
    /// It was asked to stop.
    Cancelling,
    /// The engine is gone and nobody has decided how to go on.
    Dead { reason: String, case: Option<usize> },
    /// It is over.
    Over { cancelled: bool },
    /// It could not go on.
    Broken(String),
}

/// What the engine is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Current {
    /// Position in the plan.
    pub case: usize,
    /// From 0.
    pub round: u32,
    pub stage: Stage,
}

/// One run, from its start until the next one replaces it.
#[derive(Clone, Debug)]
pub struct Session {
    /// Index of its recipe, where it is one of those that are listed.
    pub recipe: Option<usize>,
    pub folder: PathBuf,
    pub ledger: Ledger,
    pub phase: Phase,
    pub current: Option<Current>,
    pub log: Log,
    pub eta: Eta,
    pub began: Duration,
    pub ended: Option<Duration>,
    /// The devices and what they did around the newest rounds.
    pub machine: Machine,
    /// Where the engine runs, once it has said so.
    pub environment: Option<Environment>,
    /// Selected case.
    pub selected: usize,
    /// Whether the selection follows the running case.
    pub follow: bool,
    /// Selected panel of the chart.
    pub panel: usize,
    /// How its charts are looked at.
    pub view: ChartView,
    /// First line of the samples panel.
    pub samples_scroll: usize,
    /// When samples were last being timed.
    sampled: Option<Duration>,
    /// Where its events come from.
    pub mode: Mode,
    /// When it was frozen, if it is not the run as it is now.
    pub frozen: Option<Duration>,
    hold: Hold,
    cancelled: bool,
    /// Whether its thread has said its last word: before, it may still write files.
    pub told_all: bool,
    /// Whether its engine has done anything since it was started.
    progressed: bool,
    chart: ChartData,
    /// Whether the chart is older than the ledger or of another experiment.
    stale: bool,
    /// Whether the selected case was chosen by hand, and its panel is not known yet.
    reveal: bool,
}

impl Session {
    /// A run that has just been started at `now`.
    pub fn new(recipe: impl Into<Option<usize>>, ledger: Ledger, folder: PathBuf, now: Duration) -> Session {
        let mut eta = Eta::new(&ledger);
        eta.begin(now);
        let chart = charted(ledger.plan(), 0, ledger.records(), Some(ledger.references()));
        let view = ChartView::new(ledger.plan().experiments.len());
        let mut session = Session {
            recipe: recipe.into(),
            folder,
            ledger,
            phase: Phase::Running,
            current: None,
            log: Log::default(),
            eta,
            began: now,
            ended: None,
            machine: Machine::default(),
            environment: None,
            selected: 0,
            follow: true,
            panel: 0,
            view,
            samples_scroll: 0,
            sampled: None,
            mode: Mode::Run,
            frozen: None,
            hold: Hold::default(),
            cancelled: false,
            told_all: false,
            progressed: false,
            chart,
            stale: false,
            reveal: false,
        };
        session.say(now, Level::Info, &format!("run folder {}", session.folder.display()));
        session
    }

    /// Whether there is something to cancel.
    pub fn active(&self) -> bool {
        matches!(self.phase, Phase::Running | Phase::Cancelling | Phase::Dead { .. })
    }

    /// Whether samples are being timed, so that drawing would disturb them. Also between
    /// short cases: the next one's samples begin before a frame is drawn.
    pub fn timing(&self, now: Duration) -> bool {
        let lately = self.sampled.is_some_and(|at| now.saturating_sub(at) < LATELY);
        matches!(self.phase, Phase::Running | Phase::Cancelling) && (self.sampling() || lately)
    }

    fn sampling(&self) -> bool {
        self.current.is_some_and(|c| c.stage == Stage::Sample)
    }

    /// Whether samples are being timed that need every core: then not even the clock in
    /// the header moves.
    pub fn hushed(&self) -> bool {
        let Some(current) = self.current.filter(|_| self.sampling()) else { return false };
        let cores = self.environment.as_ref().map_or(usize::MAX, |e| e.affinity.len());
        let case = &self.ledger.plan().cases[current.case];
        let threads = match (case.backend(), case.params.int("backend.cpu.threads")) {
            ("cpu", Some(threads)) => threads as usize,
            ("cpu", None) => cores,
            _ => 1,
        };
        threads >= cores
    }

    /// Time since the start, until the end.
    pub fn elapsed(&self, now: Duration) -> Duration {
        let stopped = [self.ended, self.hold.since(), self.frozen].into_iter().flatten().min();
        stopped.unwrap_or(now).saturating_sub(self.began)
    }

    /// Time that is left; `None` while nobody can tell.
    pub fn remaining(&self, now: Duration) -> Option<Duration> {
        match self.phase {
            Phase::Running | Phase::Cancelling => self.eta.remaining(self.frozen.unwrap_or(now)),
            _ => None,
        }
    }

    /// Time that the running case still needs by its rule.
    pub fn case_remaining(&self, now: Duration) -> Option<Duration> {
        let works = self.phase == Phase::Running && self.hold.since().is_none();
        let case = self.current.filter(|_| works)?.case;
        self.eta.of_case(case, true, &self.ledger, self.frozen.unwrap_or(now))
    }

    /// Finished and all (case, round) pairs.
    pub fn progress(&self) -> (u32, u32) {
        self.eta.progress()
    }

    /// Adds a line to the log.
    pub fn say(&mut self, now: Duration, level: Level, text: &str) {
        self.log.push(self.elapsed(now), level, text);
    }

    /// Whether its engine is dead, and a fresh one may do better: one that died before it did
    /// anything would do so again.
    pub fn hopeful(&self) -> Option<bool> {
        let Phase::Dead { case, .. } = &self.phase else { return None };
        Some(case.is_some() || self.progressed)
    }

    /// A fresh engine was asked for.
    pub fn resumed(&mut self, now: Duration) {
        self.progressed = false;
        self.phase = Phase::Running;
        self.eta.begin(now);
        self.say(now, Level::Info, "going on in a fresh engine");
    }

    /// Since when it is held.
    pub fn paused(&self) -> Option<Duration> {
        self.hold.since()
    }

    /// Whether it will be held, once the engine comes to the boundary of a sample.
    pub fn pausing(&self) -> bool {
        self.hold.asked && self.hold.since().is_none() && self.phase == Phase::Running
    }

    /// A person asks to hold the run, or to go on: returns which. A stored one is held at
    /// once.
    pub fn ask_to_pause(&mut self, now: Duration) -> bool {
        let on = !self.hold.asked;
        self.hold.asked = on;
        if self.mode == Mode::Watch {
            self.held(now, |hold| hold.player = on);
        }
        on
    }

    /// What the engine does is what was asked of it, also where that was forgotten: an early
    /// pause is older than its hello. Of a stored run somebody else asked.
    fn engine_holds(&mut self, on: bool, now: Duration) {
        if self.mode == Mode::Run {
            self.hold.asked = on;
        }
        self.held(now, |hold| hold.engine = on);
    }

    /// The clock stands still while it is held.
    fn held(&mut self, now: Duration, change: impl FnOnce(&mut Hold)) {
        change(&mut self.hold);
        if let Some(time) = self.hold.settle(now) {
            self.began += time;
            self.eta.shift(time);
        }
    }

    /// The program had been stopped: what was measured meanwhile says nothing about how
    /// long a round takes.
    pub fn continued(&mut self) {
        self.eta.pause();
    }

    /// The engine that held is gone, and what was asked of it.
    fn released(&mut self, now: Duration) {
        self.held(now, |hold| hold.engine = false);
        if self.mode == Mode::Run {
            self.hold.asked = false;
        }
    }

    /// A case in words: the values of its experiment's axes.
    pub fn name(&self, case: usize) -> String {
        words::case(&self.ledger, case)
    }
}
