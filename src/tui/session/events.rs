//! Effects of a run's messages on its session, its pauses among them.

use std::time::Duration;

use super::{Current, Mode, Phase, Session};
use crate::engine::protocol::{Event, Level, Stage};
use crate::run::runner::Message;
use crate::run::verdict::verdict;
use crate::run::{SKIPPED, Status, reference};
use crate::tui::words::number_of;

impl Session {
    /// Processes a message of the run.
    pub fn receive(&mut self, message: Message, now: Duration) {
        if self.pause.since().is_none() {
            self.longest_silence = self.longest_silence.max(now.saturating_sub(self.heard));
        }
        self.heard = now;
        match message {
            Message::Event(event) => self.event(&event, now),
            Message::Died { reason, case } => self.died(reason, case.as_deref(), now),
            // The latency is a property of the engine, which outlives the run.
            Message::Latency(_) => {}
            Message::Reported(path) => self.say(now, Level::Info, &format!("written: {}", path.display())),
            Message::Broken(reason) => self.broken(reason, now),
            Message::Over => self.over(now),
        }
    }

    /// The run's thread has ended. If it has not sent its final message, that is a bug, which the user must
    /// see.
    pub fn disconnected(&mut self, now: Duration) {
        self.all_events_seen = true;
        if self.active() {
            self.broken("the run ended without giving a reason".to_owned(), now);
        }
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
                self.stale = true;
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
            Event::Progress { case, round, stage, making } => {
                if *stage == Stage::Sample {
                    self.eta.sample(now);
                }
                self.making.clone_from(making);
                self.moved(case, *round, *stage);
            }
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
            Event::Paused => self.engine_paused(true, now),
            Event::Continued => self.engine_paused(false, now),
            Event::Log { level, text } => self.say(now, *level, text),
            Event::OutOfTime => self.stale = true,
            Event::Finished { cancelled } => self.cancelled |= cancelled,
            Event::Reference { backend, ranked, .. } => {
                self.stale = true;
                if let Some(text) = reference::news(&self.ledger, backend, ranked) {
                    self.say(now, Level::Info, &text);
                }
            }
            // The log says it once for all cases.
            Event::SetAside { .. } => {}
            Event::Snapshot { case, round, picture } => {
                if let Some(case) = self.ledger.position(case) {
                    self.pictures.take(case, *round, picture.clone());
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
        // A different case may be skipped while this one is running.
        if self.current.is_none_or(|current| current.case == case) {
            self.eta.begin(now);
            self.current = None;
        }
        let text = match word {
            // A missing driver affects many cases; one log line is enough.
            "n/a" => format!("{}: n/a: {reason}", self.ledger.plan().cases[case].backend()),
            SKIPPED => format!("{}: {}", self.name(case), self.skipped(case)),
            _ => format!("{}: {word}: {reason}", self.name(case)),
        };
        if word == "n/a" && self.log.says(&text) {
            return;
        }
        self.say(now, level, &text);
    }

    /// A case that had enough rounds before the user requested more keeps its result.
    fn skipped(&self, case: usize) -> &'static str {
        match self.ledger.records()[case].status {
            Status::NotApplicable(_) => SKIPPED,
            _ => "no further rounds",
        }
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
        self.all_events_seen = true;
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
        if self.calibrates.is_none() {
            self.verdict = verdict(self.ledger.plan(), self.ledger.records());
        }
        if self.mode == Mode::Run {
            self.verdict.clone().into_iter().for_each(|text| self.say(now, Level::Info, &text));
        }
        self.end(Phase::Over { cancelled }, now);
    }

    fn end(&mut self, phase: Phase, now: Duration) {
        self.released(now);
        self.phase = phase;
        self.current = None;
        self.eta.pause();
        self.ended = Some(now);
    }
}

/// A run can be paused by its engine, at the user's request, and a stored run also by its player.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pause {
    /// The last request.
    pub asked: bool,
    /// Whether the engine is paused.
    pub engine: bool,
    /// Whether the playback of the stored run is paused.
    pub player: bool,
    since: Option<Duration>,
}

impl Pause {
    /// The time at which the run was paused, if it is.
    pub fn since(&self) -> Option<Duration> {
        self.since
    }

    /// Updates the state after a change. Returns the length of a pause that has just ended.
    pub fn settle(&mut self, now: Duration) -> Option<Duration> {
        match (self.since, self.engine || self.player) {
            (None, true) => self.since = Some(now),
            (Some(since), false) => {
                self.since = None;
                return Some(now.saturating_sub(since));
            }
            _ => {}
        }
        None
    }
}
