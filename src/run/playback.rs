//! Plays a stored run as if it ran: the same messages, at their own pace times a speed.
//! Nothing is measured, and nothing is written.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use super::runner::{Control, Message, Runner, Running};
use super::stored::{Line, each_event_until};
use crate::engine::protocol::{Event, Level};
use crate::recipe::plan::Plan;

/// How much faster than it ran a stored run is played.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Speed {
    /// So many times.
    Times(f64),
    /// Without waiting.
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
    fn start(&self, _plan: Plan, _recipe: &str) -> anyhow::Result<Running> {
        let (sender, messages) = mpsc::channel();
        let (control, controls) = mpsc::channel();
        let player =
            Player { speed: self.speed, messages: sender, controls, due: Instant::now(), over: false };
        let folder = self.folder.clone();
        thread::Builder::new().name("watch".into()).spawn(move || player.play(&folder))?;
        Ok(Running { messages, control, folder: self.folder.clone() })
    }
}

struct Player {
    speed: Speed,
    messages: Sender<Message>,
    controls: Receiver<Control>,
    /// When the next event is to be told.
    due: Instant,
    /// Whether somebody ended it.
    over: bool,
}

impl Player {
    fn play(mut self, folder: &Path) {
        let (mut pace, mut finished) = (Pace::default(), false);
        let read = each_event_until(folder, |line| {
            finished |= matches!(line.event, Event::Finished { .. });
            self.tell_all(pace.take(line));
            if self.over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        self.tell_all(pace.rest());
        match read {
            // Whoever ended it does not ask how the rest went.
            _ if self.over => {}
            Err(error) => self.tell(Message::Broken(format!("{error:#}"))),
            Ok(_) if !finished => self.interrupted(),
            Ok(_) => {}
        }
        self.tell(Message::Over);
    }

    /// The events end in the middle of the run.
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

    /// Lets so many seconds of the stored run go by.
    fn wait(&mut self, seconds: f64) {
        if let Speed::Times(times) = self.speed {
            self.due += wait_of(seconds / times);
        }
        while !self.over {
            match self.controls.recv_timeout(self.due.saturating_duration_since(Instant::now())) {
                Err(RecvTimeoutError::Timeout) => return,
                Ok(Control::Pause) => self.hold(),
                Ok(Control::Resume | Control::Continue | Control::Skip(_) | Control::Again(_)) => {}
                Ok(Control::Cancel | Control::Kill | Control::Stop) | Err(RecvTimeoutError::Disconnected) => {
                    self.over = true;
                }
            }
        }
    }

    /// Waits until it may go on; what was due is due so much later.
    fn hold(&mut self) {
        let since = Instant::now();
        let end = |asked: &Control| matches!(asked, Control::Cancel | Control::Kill | Control::Stop);
        let asked = self.controls.iter().find(|asked| *asked == Control::Continue || end(asked));
        self.over = asked != Some(Control::Continue);
        self.due += since.elapsed();
    }

    fn tell(&self, message: Message) {
        // Who is gone has nothing to be told.
        let _ = self.messages.send(message);
    }
}

/// Longest wait between two events, seconds: a year is for ever here, and no point in time
/// lies too far ahead to be told.
const FOR_EVER: f64 = 365.0 * 86_400.0;

fn wait_of(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds.min(FOR_EVER)).unwrap_or_default()
}

/// Where nothing was measured, so much is waited for at most, seconds: before an engine
/// starts (the run was resumed later), and while a person held the run.
const NOTHING_MEASURED: f64 = 1.0;
/// Events without a time follow each other like this, seconds.
const UNTIMED: f64 = 0.02;
/// Events that are held back until one says when it happened.
const HELD: usize = 256;

/// Says how long after the one before each event came.
#[derive(Debug, Default)]
struct Pace {
    /// Seconds since the epoch of the last event that said so.
    at: Option<f64>,
    held: Vec<Event>,
    /// Whether the run was held.
    paused: bool,
}

impl Pace {
    /// Takes a line in and returns the events whose time is known now, each with the seconds
    /// since the one before. Runs of schema 1 have the time of their rounds only; what came
    /// in between is spread evenly.
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

    /// What is held back still, at a constant pace.
    fn rest(&mut self) -> Vec<(f64, Event)> {
        self.release(UNTIMED * self.held.len() as f64)
    }

    fn release(&mut self, seconds: f64) -> Vec<(f64, Event)> {
        let each = seconds / self.held.len().max(1) as f64;
        self.held.drain(..).map(|event| (each, event)).collect()
    }
}

/// When a round's last sample ended, seconds since the epoch.
fn end(event: &Event) -> Option<f64> {
    let Event::Round { result, .. } = event else { return None };
    let sampled: f64 = result.samples.iter().map(|sample| sample * f64::from(result.batch)).sum();
    (result.started > 0.0).then_some(result.started + sampled)
}

#[cfg(test)]
mod tests;
