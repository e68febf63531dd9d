//! A run as the screen knows it: the ledger of its records and where it stands.

use std::path::PathBuf;
use std::time::Duration;

use ratatui::layout::Rect;

use super::chart::overlay::Overlay;
use super::chart::{ChartView, Shown};
use super::hold::Hold;
use super::log::Log;
use super::machine::Machine;
use super::state::Mode;
use super::theme::Theme;
use super::words::{self, number_of};
use crate::engine::protocol::{Environment, Event, Level, Stage};
use crate::report::series::{ChartData, Panel, series};
use crate::run::eta::Eta;
use crate::run::runner::Message;
use crate::run::{Ledger, Record, SKIPPED, Status, reference};

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
        let chart = series(ledger.plan(), 0, ledger.records());
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

    /// The chart of the shown experiment, as of the last [`refresh`](Self::refresh).
    pub fn chart(&self) -> &ChartData {
        &self.chart
    }

    /// Makes the chart agree with the ledger: once before a frame, however many
    /// messages have arrived since the last one.
    pub fn refresh(&mut self) {
        if std::mem::take(&mut self.stale) {
            let experiment = self.experiment();
            self.chart = series(self.ledger.plan(), experiment, self.ledger.records());
            self.view.follow(experiment, self.ledger.plan());
        }
        if std::mem::take(&mut self.reveal) {
            self.reveal_selected();
        }
    }

    /// The chart with what says how to draw it.
    pub fn shown(&self) -> Shown<'_> {
        let last = self.chart.panels.len().saturating_sub(1);
        Shown { data: &self.chart, experiment: self.experiment(), panel: self.panel.min(last) }
    }

    /// Has the chart's picture at hand.
    pub fn paint(&mut self, theme: Theme, area: Rect) {
        let last = self.chart.panels.len().saturating_sub(1);
        let (experiment, panel) = (self.experiment(), self.panel.min(last));
        self.view.paint(Shown { data: &self.chart, experiment, panel }, theme, area);
    }

    /// Lays another run under this one; returns how many cases it has a value for.
    pub fn set_baseline(&mut self, name: &str, records: &[Record]) -> usize {
        self.refresh();
        let mut overlay = Overlay::new(name, self.ledger.plan(), records);
        overlay.show(self.ledger.plan(), self.experiment());
        let matched = overlay.matched();
        self.view.set_overlay(Some(overlay));
        matched
    }

    /// What suits the terminal stays, and the results can be laid under the new ones.
    pub fn come_after(&mut self, before: &Session) {
        self.view.keep_from(&before.view);
        let measured = before.ledger.records().iter().any(|r| r.statistics.is_some());
        let name = before.folder.file_name().map(|n| n.to_string_lossy().into_owned());
        self.view.before = name.filter(|_| measured).map(|name| (name, before.ledger.records().to_vec()));
    }

    /// Takes it away.
    pub fn clear_baseline(&mut self) {
        self.view.set_overlay(None);
    }

    /// Shows the next or previous of the chart's panels.
    pub fn step_panel(&mut self, by: isize) {
        let last = self.chart.panels.len().saturating_sub(1);
        self.go_to_panel(self.panel.min(last).saturating_add_signed(by).min(last));
    }

    /// Shows the panel that the selected case is on.
    pub fn reveal_selected(&mut self) {
        let holds = |panel: &Panel| panel.cases().any(|case| case == self.selected);
        if let Some(panel) = self.chart.panels.iter().position(holds) {
            self.panel = panel;
        }
    }

    /// Experiment of the selected case: the one whose chart is shown.
    pub fn experiment(&self) -> usize {
        self.ledger.records().get(self.selected).map_or(0, |r| r.case.experiment)
    }

    /// Whether this case is the selected one.
    pub fn is_selected(&self, case: usize) -> bool {
        self.selected == case
    }

    /// Selects a case, and with it the experiment on the chart.
    pub fn select(&mut self, case: usize) {
        let before = self.experiment();
        self.selected = case.min(self.ledger.records().len().saturating_sub(1));
        self.samples_scroll = 0;
        if self.experiment() != before {
            self.panel = 0;
            self.stale = true;
        }
    }

    /// Selects another case by hand, and shows the panel that it is on.
    pub fn step(&mut self, by: isize) {
        self.pick(self.selected.saturating_add_signed(by));
    }

    /// Selects this case by hand, and shows the panel that it is on.
    pub fn pick(&mut self, case: usize) {
        self.choose(case);
        self.reveal = true;
    }

    /// Selects this case by hand: the selection no longer follows the running one.
    pub fn choose(&mut self, case: usize) {
        self.follow = false;
        self.select(case);
    }

    /// Selects the first case of the next or previous experiment.
    pub fn step_experiment(&mut self, by: isize) {
        let Some(wanted) = self.experiment().checked_add_signed(by) else { return };
        let first = self.ledger.records().iter().position(|r| r.case.experiment == wanted);
        if let Some(case) = first {
            self.follow = false;
            self.select(case);
        }
    }

    /// Takes the selection to the running case from now on.
    pub fn follow(&mut self) {
        self.follow = true;
        if let Some(current) = self.current {
            self.select(current.case);
        }
    }

    /// Scrolls the samples panel; drawing it stops at its end.
    pub fn scroll_samples(&mut self, by: isize) {
        self.samples_scroll = self.samples_scroll.saturating_add_signed(by);
    }

    /// Adds a line to the log.
    pub fn say(&mut self, now: Duration, level: Level, text: &str) {
        self.log.push(self.elapsed(now), level, text);
    }

    /// Takes in what the run says.
    pub fn receive(&mut self, message: Message, now: Duration) {
        match message {
            Message::Event(event) => self.event(&event, now),
            Message::Died { reason, case } => self.died(reason, case.as_deref(), now),
            // It concerns the engine, which outlives the run.
            Message::Latency(_) => {}
            Message::Reported(path) => self.say(now, Level::Info, &format!("written: {}", path.display())),
            Message::Broken(reason) => self.broken(reason, now),
            Message::Over => self.over(now),
        }
    }

    /// The run's thread is gone. Before its last word that is a mistake of ours, which
    /// the person must see.
    pub fn disconnected(&mut self, now: Duration) {
        self.told_all = true;
        if self.active() {
            self.broken("the run ended without saying why".to_owned(), now);
        }
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

    /// Shows what the other one showed, and how.
    pub fn look_as(&mut self, other: Session) {
        if !other.follow {
            self.choose(other.selected);
        }
        if self.experiment() == other.experiment() {
            self.panel = other.panel;
        }
        self.samples_scroll = other.samples_scroll;
        self.view = other.view;
        self.stale = true;
    }

    /// The program had been stopped: what was measured meanwhile says nothing about how
    /// long a round takes.
    pub fn continued(&mut self) {
        self.eta.pause();
    }

    fn event(&mut self, event: &Event, now: Duration) {
        if self.sampling() {
            self.sampled = Some(now);
        }
        self.progressed |= event.seq().is_some();
        let changed = self.ledger.apply(event);
        self.stale |= changed.is_some();
        changed.inspect(|at| self.eta.note(*at, &self.ledger));
        match event {
            Event::Hello { version, environment, devices, .. } => {
                self.machine.devices.clone_from(devices);
                let text = format!("engine {version} on {}, {}", environment.host, environment.cpu);
                self.environment = Some(environment.clone());
                self.released(now);
                self.eta.begin(now);
                self.say(now, Level::Info, &text);
            }
            Event::Started { cases, rounds } => {
                let (cases, rounds) = (number_of(*cases, "case"), number_of(*rounds, "round"));
                self.say(now, Level::Info, &format!("{cases}, {rounds}"));
            }
            Event::Progress { case, round, stage } => self.moved(case, *round, *stage),
            Event::Round { result, .. } => {
                self.machine.measured(&result.conditions);
                self.finished_round(changed, now);
            }
            Event::NotApplicable { reason, .. } => self.settled(changed, "n/a", reason, Level::Info, now),
            Event::Failed { error, .. } => self.settled(changed, "failed", error, Level::Error, now),
            Event::Skipped { .. } => self.settled(changed, SKIPPED, "", Level::Info, now),
            Event::Retried { rounds, .. } => {
                let what = if *rounds > 0 { "further rounds" } else { "another try" };
                changed.inspect(|at| self.say(now, Level::Info, &format!("{}: {what}", self.name(*at))));
            }
            Event::Paused => self.engine_holds(true, now),
            Event::Continued => self.engine_holds(false, now),
            Event::Log { level, text } => self.say(now, *level, text),
            Event::Finished { cancelled } => self.cancelled |= cancelled,
            Event::Reference { backend, .. } => {
                if let Some(text) = reference::news(&self.ledger, backend) {
                    self.say(now, Level::Info, &text);
                }
            }
            Event::Probed { .. } | Event::Pong { .. } => {}
        }
    }

    fn moved(&mut self, case: &str, round: u32, stage: Stage) {
        let Some(case) = self.ledger.position(case) else { return };
        self.current = Some(Current { case, round, stage });
        if self.follow && self.selected != case {
            self.select(case);
        }
    }

    fn finished_round(&mut self, case: Option<usize>, now: Duration) {
        let Some(case) = case else { return };
        self.eta.finish(case, &self.ledger, now);
        self.current = None;
        if let Some(Status::Failed(error)) = self.ledger.records().get(case).map(|r| &r.status) {
            let text = format!("{}: {error}", self.name(case));
            self.say(now, Level::Error, &text);
        }
    }

    fn settled(&mut self, case: Option<usize>, word: &str, reason: &str, level: Level, now: Duration) {
        let Some(case) = case else { return };
        // Another case may be skipped in the middle of this one.
        if self.current.is_none_or(|current| current.case == case) {
            self.eta.begin(now);
            self.current = None;
        }
        let text = match word {
            // A missing driver concerns many cases; once in the log is enough.
            "n/a" => format!("{}: n/a: {reason}", self.ledger.plan().cases[case].backend()),
            SKIPPED => format!("{}: {word}", self.name(case)),
            _ => format!("{}: {word}: {reason}", self.name(case)),
        };
        if word == "n/a" && self.log.says(&text) {
            return;
        }
        self.say(now, level, &text);
    }

    fn died(&mut self, reason: String, case: Option<&str>, now: Duration) {
        let case = case.and_then(|id| self.ledger.position(id));
        self.current = None;
        self.released(now);
        self.eta.pause();
        if let Some(at) = case {
            self.select(at);
        }
        self.say(now, Level::Error, &format!("engine died: {reason}"));
        self.phase = Phase::Dead { reason, case };
    }

    fn broken(&mut self, reason: String, now: Duration) {
        self.say(now, Level::Error, &reason);
        self.end(Phase::Broken(reason), now);
    }

    fn over(&mut self, now: Duration) {
        self.told_all = true;
        if matches!(self.phase, Phase::Broken(_)) {
            return;
        }
        let cancelled = self.cancelled || matches!(self.phase, Phase::Cancelling | Phase::Dead { .. });
        let text = match (self.mode, cancelled) {
            (Mode::Watch, _) if self.phase == Phase::Cancelling => "watching ended",
            (_, true) => "cancelled",
            (_, false) => "done",
        };
        self.say(now, Level::Info, text);
        self.end(Phase::Over { cancelled }, now);
    }

    /// The engine that held is gone, and what was asked of it.
    fn released(&mut self, now: Duration) {
        self.held(now, |hold| hold.engine = false);
        if self.mode == Mode::Run {
            self.hold.asked = false;
        }
    }

    fn end(&mut self, phase: Phase, now: Duration) {
        self.released(now);
        self.phase = phase;
        self.current = None;
        self.eta.pause();
        self.ended = Some(now);
    }

    /// A case in words: the values of its experiment's axes.
    pub fn name(&self, case: usize) -> String {
        words::case(&self.ledger, case)
    }
}
