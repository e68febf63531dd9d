//! Replays a stored run: the same messages at their original pace times a speed. Nothing is measured or
//! written.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use super::layout::Line;
use super::runner::{Control, Message, Runner, Running};
use super::stored::each_event_until;
use super::{Ledger, checks};
use crate::engine::protocol::{Event, Level};
use crate::recipe::plan::Plan;

/// Playback speed relative to the original run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Speed {
    /// This many times as fast.
    Times(f64),
    /// Without any waiting.
    Max,
}

impl FromStr for Speed {
    type Err = String;

    fn from_str(text: &str) -> Result<Speed, String> {
        let times = text.parse().ok().filter(|times: &f64| times.is_finite() && *times > 0.0);
        match (text, times) {
            ("max", _) => Ok(Speed::Max),
            (_, Some(times)) => Ok(Speed::Times(times)),
            _ => Err("accepted are a number above 0, such as 10 or 0.5, and max".to_owned()),
        }
    }
}

/// Plays the run in `folder`.
#[derive(Clone, Debug)]
pub struct WatchRunner {
    pub folder: PathBuf,
    pub speed: Speed,
}

impl Runner for WatchRunner {
    fn start(&self, plan: Plan, _recipe: &str) -> anyhow::Result<Running> {
        let (sender, messages) = mpsc::channel();
        let (control, controls) = mpsc::channel();
        let player =
            Player { speed: self.speed, messages: sender, controls, due: Instant::now(), over: false };
        let folder = self.folder.clone();
        thread::Builder::new().name("watch".into()).spawn(move || player.play(&folder, plan))?;
        Ok(Running { messages, control, folder: self.folder.clone() })
    }
}

struct Player {
    speed: Speed,
    messages: Sender<Message>,
    controls: Receiver<Control>,
    /// When to send the next event.
    due: Instant,
    /// Whether the user ended the playback.
    over: bool,
}

impl Player {
    fn play(mut self, folder: &Path, plan: Plan) {
        let (mut pace, mut finished) = (Pace::default(), false);
        let (altered, mut ledger) = (checks::altered(&plan), Ledger::new(plan));
        let read = each_event_until(folder, |Line { event, at }| {
            let line = Line { event: checks::checked(event, &ledger, &altered), at };
            ledger.file(&line.event);
            finished |= matches!(line.event, Event::Finished { .. });
            self.tell_all(pace.take(line));
            if self.over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        self.tell_all(pace.rest());
        match read {
            // The user ended the playback; its outcome no longer matters.
            _ if self.over => {}
            Err(error) => self.tell(Message::Broken(format!("{error:#}"))),
            Ok(_) if !finished => self.interrupted(),
            Ok(_) => {}
        }
        self.tell(Message::Over);
    }

    /// Reports that the stored events end before the run does.
    fn interrupted(&mut self) {
        let text = "the stored events end here: this run was interrupted".to_owned();
        self.tell(Message::Event(Event::Log { level: Level::Warn, text }));
        self.tell(Message::Event(Event::Finished { cancelled: true }));
    }

    fn tell_all(&mut self, events: Vec<(f64, Event)>) {
        for (seconds, event) in events {
            self.wait(seconds);
            if self.over {
                return;
            }
            self.tell(Message::Event(event));
        }
    }

    /// Waits for this many seconds of the stored run, scaled by the speed.
    fn wait(&mut self, seconds: f64) {
        if let Speed::Times(times) = self.speed {
            self.due += wait_of(seconds / times);
        }
        while !self.over {
            match self.controls.recv_timeout(self.due.saturating_duration_since(Instant::now())) {
                Err(RecvTimeoutError::Timeout) => return,
                Ok(Control::Pause) => self.hold(),
                Ok(
                    Control::Resume
                    | Control::Continue
                    | Control::Skip(_)
                    | Control::Again(_)
                    | Control::Show(_)
                    | Control::Disturb(_),
                ) => {}
                Ok(Control::Cancel | Control::Kill | Control::Stop) | Err(RecvTimeoutError::Disconnected) => {
                    self.over = true;
                }
            }
        }
    }

    /// Waits until playback continues, and shifts all due times by the length of the pause.
    fn hold(&mut self) {
        let since = Instant::now();
        let end = |asked: &Control| matches!(asked, Control::Cancel | Control::Kill | Control::Stop);
        let asked = self.controls.iter().find(|asked| *asked == Control::Continue || end(asked));
        self.over = asked != Some(Control::Continue);
        self.due += since.elapsed();
    }

    fn tell(&self, message: Message) {
        // Ignore a disconnected user interface.
        let _ = self.messages.send(message);
    }
}

/// Longest wait between two events, seconds: a year is practically for ever, and no `Instant` overflows.
const FOR_EVER: f64 = 365.0 * 86_400.0;

fn wait_of(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds.min(FOR_EVER)).unwrap_or_default()
}

/// Longest wait, seconds, across gaps without measurements: before an engine starts (the run was resumed
/// later), and while the user paused the run.
const NOTHING_MEASURED: f64 = 1.0;
/// Interval between events without timestamps, seconds.
const UNTIMED: f64 = 0.02;
/// Most events held back while waiting for a timestamp.
const HELD: usize = 256;

/// Computes the delay of each event after the previous one.
#[derive(Debug, Default)]
struct Pace {
    /// Timestamp of the latest event with one, seconds since the epoch.
    at: Option<f64>,
    held: Vec<Event>,
    /// Whether the run was paused.
    paused: bool,
}

impl Pace {
    /// Takes a line and returns the events whose time is now known, each with the seconds since the previous
    /// one. Runs of schema 1 have timestamps for rounds only; the events between them are spread evenly.
    fn take(&mut self, line: Line) -> Vec<(f64, Event)> {
        let at = line.at.or_else(|| end(&line.event));
        self.held.push(line.event);
        let Some(at) = at else {
            return if self.held.len() < HELD { Vec::new() } else { self.rest() };
        };
        let gap = self.at.map_or(0.0, |before| (at - before).max(0.0));
        self.at = Some(at);
        let fresh = self.held.iter().any(|event| matches!(event, Event::Hello { .. }));
        let idle = fresh || self.paused;
        self.paused = self.held.iter().fold(self.paused && !fresh, |paused, event| match event {
            Event::Paused => true,
            Event::Continued => false,
            _ => paused,
        });
        self.release(if idle { gap.min(NOTHING_MEASURED) } else { gap })
    }

    /// Releases the remaining events at a constant pace.
    fn rest(&mut self) -> Vec<(f64, Event)> {
        self.release(UNTIMED * self.held.len() as f64)
    }

    fn release(&mut self, seconds: f64) -> Vec<(f64, Event)> {
        let each = seconds / self.held.len().max(1) as f64;
        self.held.drain(..).map(|event| (each, event)).collect()
    }
}

/// When the last sample of a round ended, seconds since the epoch.
fn end(event: &Event) -> Option<f64> {
    let Event::Round { result, .. } = event else { return None };
    let sampled: f64 = result.samples.iter().map(|sample| sample * f64::from(result.batch)).sum();
    (result.started > 0.0).then_some(result.started + sampled)
}

#[cfg(test)]
mod tests;
