//! A run as the screen shows it: the ledger of its records and its current state.

mod chart;
mod events;
mod options;
mod pictures;
mod readout;
mod rows;
mod shown;
#[cfg(test)]
mod tests;
mod view;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub use pictures::{Pictures, Shown as ShownPicture};
pub use readout::readout;
pub use rows::Row;
pub use view::{ChartView, Shown};

use super::log::Log;
use super::machine::Machine;
use super::words::{self, Kin};
use crate::engine::protocol::{Environment, Level, Stage};
use crate::recipe::plan::Chart;
use crate::report::claims::Outcome;
use crate::report::series::{ChartData, charted};
use crate::run::Ledger;
use crate::run::eta::{Eta, Left};
use events::Pause;

/// Samples still count as being timed for this long after the last ones, because the next samples usually
/// follow soon.
const LATELY: Duration = Duration::from_millis(250);

/// A silence of the engine that is worth a word.
pub const SILENCE: Duration = Duration::from_secs(10);

/// Source of a session's events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// An engine that measures now.
    #[default]
    Run,
    /// The recorded events of a run's folder, played back over time; nothing is measured.
    Watch,
    /// The recorded events of a run's folder, read all at once.
    Stored,
}

/// State of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The engine is working.
    Running,
    /// The run was asked to stop.
    Cancelling,
    /// The engine is dead, and nobody has decided how to continue.
    Dead { reason: String, case: Option<usize> },
    /// The run is over.
    Over { cancelled: bool },
    /// The run failed and cannot continue.
    Broken(String),
}

/// The engine's current activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Current {
    /// Position of the case in the plan.
    pub case: usize,
    /// Number of the round, from 0.
    pub round: u32,
    pub stage: Stage,
}

/// A run on the screen, from its start until the next run replaces it.
#[derive(Clone, Debug)]
pub struct Session {
    /// Index of the run's recipe, if the recipe is listed.
    pub recipe: Option<usize>,
    pub folder: PathBuf,
    pub ledger: Ledger,
    pub phase: Phase,
    pub current: Option<Current>,
    /// The input that is made now and kept for other cases.
    pub making: Option<String>,
    pub log: Log,
    pub eta: Eta,
    pub began: Duration,
    /// What the run had taken before it was resumed.
    pub earlier: Duration,
    pub ended: Option<Duration>,
    /// The newest picture of what each case computes, by its position in the plan.
    pub pictures: Pictures,
    /// Whether the engine was told that somebody looks at them.
    pub looked_at: bool,
    /// The devices and their conditions during the newest rounds.
    pub machine: Machine,
    /// The engine's environment, once the engine has reported it.
    pub environment: Option<Environment>,
    /// Selected case.
    pub selected: usize,
    /// Whether the selection follows the running case.
    pub follow: bool,
    /// Selected panel of the chart.
    pub panel: usize,
    /// View settings of the charts.
    pub view: ChartView,
    /// First line of the samples panel.
    pub samples_scroll: usize,
    /// When samples were last being timed.
    sampled: Option<Duration>,
    /// Source of the run's events.
    pub mode: Mode,
    /// When the session was frozen, if it is not the run's current state.
    pub frozen: Option<Duration>,
    pause: Pause,
    cancelled: bool,
    /// Whether the run's thread has finished; until then it may still write files.
    pub all_events_seen: bool,
    /// Whether the engine has made progress since it was started.
    progressed: bool,
    /// What the values of each experiment's axes share.
    pub kins: Arc<[Vec<Kin>]>,
    /// The charts of the experiments as the recipe has them.
    recipe_charts: Vec<Chart>,
    chart: ChartData,
    /// Whether the chart is older than the ledger or shows another experiment.
    stale: bool,
    /// Whether the selected case was chosen by hand, so that its panel must be brought up.
    reveal: bool,
    /// Whether cases that cannot run are listed one by one.
    unfolded: bool,
    /// When the run's thread last sent something, and the longest that the engine was silent before.
    heard: Duration,
    longest_silence: Duration,
    /// What the run is worth, once it is over.
    pub verdict: Option<String>,
    /// The claims of papers that are judged on each experiment: the outcomes, and what the paper says where.
    pub claims: Vec<Vec<Claimed>>,
    /// How many cases of each experiment were done when its claims were judged.
    judged: Vec<usize>,
    /// The folder of the stored run that this one repeats, until it is judged against it.
    pub replays: Option<PathBuf>,
    /// The backend that is calibrated, if that is what the run is for.
    pub calibrates: Option<String>,
}

/// A claim in the list of cases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claimed {
    /// `holds, size fails`.
    pub outcomes: String,
    /// `§3.5, Fig. 9: 16 passes suit the scatter best`.
    pub says: String,
    /// That of the shape, or of the size where the shape has none.
    pub outcome: Outcome,
}

impl Session {
    /// A run that was started at `now`.
    pub fn new(recipe: impl Into<Option<usize>>, ledger: Ledger, folder: PathBuf, now: Duration) -> Session {
        let mut eta = Eta::new(&ledger);
        eta.begin(now);
        let earlier = taken(&ledger).unwrap_or_default();
        let chart = charted(ledger.plan(), 0, ledger.records(), Some(ledger.references()));
        let recipe_charts = ledger.plan().experiments.iter().map(|e| e.chart.clone()).collect();
        let kins = ledger.plan().experiments.iter().map(|e| Kin::of_axes(&e.axes)).collect();
        let view = ChartView::new(ledger.plan().experiments.len());
        let mut session = Session {
            recipe: recipe.into(),
            folder,
            ledger,
            phase: Phase::Running,
            current: None,
            making: None,
            log: Log::default(),
            eta,
            began: now,
            earlier,
            ended: None,
            pictures: Pictures::default(),
            looked_at: false,
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
            pause: Pause::default(),
            cancelled: false,
            all_events_seen: false,
            progressed: false,
            kins,
            recipe_charts,
            chart,
            stale: false,
            reveal: false,
            unfolded: false,
            heard: now,
            longest_silence: Duration::ZERO,
            verdict: None,
            claims: Vec::new(),
            judged: Vec::new(),
            replays: None,
            calibrates: None,
        };
        session.say(now, Level::Info, &format!("run folder {}", session.folder.display()));
        session
    }

    /// Whether the run can be cancelled.
    pub fn active(&self) -> bool {
        matches!(self.phase, Phase::Running | Phase::Cancelling | Phase::Dead { .. })
    }

    /// Whether there are pictures to look at, or may be soon.
    pub fn has_pictures(&self) -> bool {
        self.active() || !self.pictures.is_empty()
    }

    /// Whether samples are being timed, so that drawing would disturb them. Also true between short cases,
    /// because the next case's samples begin before a frame is drawn.
    pub fn timing(&self, now: Duration) -> bool {
        let lately = self.sampled.is_some_and(|at| now.saturating_sub(at) < LATELY);
        matches!(self.phase, Phase::Running | Phase::Cancelling) && (self.sampling() || lately)
    }

    fn sampling(&self) -> bool {
        self.current.is_some_and(|c| c.stage == Stage::Sample)
    }

    /// Whether samples that need every core are being timed; then not even the clock in the header moves.
    pub fn drawing_paused(&self) -> bool {
        let Some(current) = self.current.filter(|_| self.sampling()) else { return false };
        let cores = self.environment.as_ref().map_or(usize::MAX, |e| e.affinity.len());
        let case = &self.ledger.plan().cases[current.case];
        let threads = match (case.place().0, case.params.int("backend.cpu.threads")) {
            ("cpu", Some(threads)) => threads as usize,
            ("cpu", None) => cores,
            _ => 1,
        };
        threads >= cores
    }

    /// How long the engine has been silent, if that is longer than it should be: longer than any silence so far of
    /// this run. An engine that was stopped looks like a slow case otherwise.
    pub fn silence(&self, now: Duration) -> Option<Duration> {
        let works = matches!(self.phase, Phase::Running | Phase::Cancelling) && self.mode == Mode::Run;
        let silent = self.frozen.unwrap_or(now).saturating_sub(self.heard);
        let long = silent >= SILENCE.max(self.longest_silence.saturating_mul(2));
        (works && self.pause.since().is_none() && long).then_some(silent)
    }

    /// What the run has taken to its end, or to now. In the end that is the time on file, which is what the list of
    /// runs and a resumed run tell.
    pub fn elapsed(&self, now: Duration) -> Duration {
        let on_file = || taken(&self.ledger).filter(|_| self.mode == Mode::Run && !self.active());
        let stopped = [self.ended, self.pause.since(), self.frozen].into_iter().flatten().min();
        let live = || self.earlier + stopped.unwrap_or(now).saturating_sub(self.began);
        on_file().unwrap_or_else(live)
    }

    /// Remaining time; `None` if unknown.
    pub fn remaining(&self, now: Duration) -> Option<Left> {
        match self.phase {
            Phase::Running | Phase::Cancelling => self.eta.remaining(self.frozen.unwrap_or(now)),
            _ => None,
        }
    }

    /// Remaining time of the running case by its stopping rule.
    pub fn case_remaining(&self, now: Duration) -> Option<Left> {
        let works = self.phase == Phase::Running && self.pause.since().is_none();
        let case = self.current.filter(|_| works)?.case;
        self.eta.of_case(case, true, self.frozen.unwrap_or(now))
    }

    /// Number of (case, round) pairs that are finished, and that will be as far as can be foreseen.
    pub fn progress(&self, now: Duration) -> (u32, u32) {
        self.eta.progress(self.frozen.unwrap_or(now))
    }

    /// Adds a line to the log.
    pub fn say(&mut self, now: Duration, level: Level, text: &str) {
        self.log.push(self.elapsed(now), level, text);
    }

    /// If the engine is dead, whether a fresh one may do better: an engine that died before any progress would
    /// die again.
    pub fn hopeful(&self) -> Option<bool> {
        let Phase::Dead { case, .. } = &self.phase else { return None };
        Some(case.is_some() || self.progressed)
    }

    /// Records that a fresh engine was requested.
    pub fn resumed(&mut self, now: Duration) {
        self.progressed = false;
        self.heard = now;
        self.phase = Phase::Running;
        self.eta.begin(now);
        self.say(now, Level::Info, "continuing in a fresh engine");
    }

    /// When the run was paused, if it is.
    pub fn paused(&self) -> Option<Duration> {
        self.pause.since()
    }

    /// Whether the run will pause once the engine reaches a sample boundary.
    pub fn pausing(&self) -> bool {
        self.pause.asked && self.pause.since().is_none() && self.phase == Phase::Running
    }

    /// Toggles the request to pause the run; returns whether it is to be paused. A stored run pauses at once.
    pub fn ask_to_pause(&mut self, now: Duration) -> bool {
        let on = !self.pause.asked;
        self.pause.asked = on;
        if self.mode == Mode::Watch {
            self.held(now, |pause| pause.player = on);
        }
        on
    }

    /// Records whether the engine is paused. In a live run the request follows the engine: a pause requested
    /// early is cleared by the engine's hello and still carried out after it. In a stored run the recorded
    /// pauses are not requests of this user.
    fn engine_paused(&mut self, on: bool, now: Duration) {
        if self.mode == Mode::Run {
            self.pause.asked = on;
        }
        self.held(now, |pause| pause.engine = on);
    }

    /// Changes the pause; the run's clock stands still during a pause.
    fn held(&mut self, now: Duration, change: impl FnOnce(&mut Pause)) {
        change(&mut self.pause);
        if let Some(time) = self.pause.settle(now) {
            self.began += time;
            self.eta.shift(time);
        }
    }

    /// The program was suspended, so the elapsed time says nothing about the duration of a round.
    pub fn continued(&mut self, now: Duration) {
        self.eta.pause();
        self.heard = now;
    }

    /// Clears the pause and the request, because the engine is gone.
    fn released(&mut self, now: Duration) {
        self.held(now, |pause| pause.engine = false);
        if self.mode == Mode::Run {
            self.pause.asked = false;
        }
    }

    /// A case in words: the values of its experiment's axes.
    pub fn name(&self, case: usize) -> String {
        words::case(&self.ledger, case)
    }
}

/// The time on file of a run.
fn taken(ledger: &Ledger) -> Option<Duration> {
    ledger.elapsed().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
}
