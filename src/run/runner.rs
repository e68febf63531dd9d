//! The interface between a run in progress and the user interface.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender};
use std::time::{Duration, Instant};

use anyhow::bail;

use super::Interrupted;
use crate::engine::protocol::{Event, Pictures};
use crate::recipe::plan::Plan;
use crate::run::client::EngineCommand;

/// From the run to the user interface. A result that arrives here is already on disk. A message is moved only
/// once, so its size does not matter.
#[expect(clippy::large_enum_variant, reason = "each value is moved once")]
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// An event of the engine.
    Event(Event),
    /// The engine is gone: how it ended, and the case that it was working on. The run continues in a new engine
    /// only after [`Control::Resume`].
    Died { reason: String, case: Option<String> },
    /// Round-trip time to a remote engine.
    Latency(Duration),
    /// Files of the run folder were written (SVG and CSV); the folder's path.
    Reported(PathBuf),
    /// The driving thread had to stop (disk full, no engine), for this reason.
    Broken(String),
    /// The run is over and its folder is complete.
    Over,
}

/// From the user interface to the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Control {
    /// Stop at the next sample boundary.
    Cancel,
    /// Kill the engine now; undelivered results are lost.
    Kill,
    /// After [`Message::Died`]: continue in a new engine; the lost case has failed.
    Resume,
    /// After [`Message::Died`]: end the run here.
    Stop,
    /// Pause: an engine at the next sample boundary, the playback of a stored run immediately.
    Pause,
    /// Continue after a pause.
    Continue,
    /// Stop measuring the case at this position of the plan.
    Skip(usize),
    /// Retry the case at this position, or measure further rounds of it.
    Again(usize),
    /// Send these pictures of what is computed.
    Show(Pictures),
    /// Disturb what is being computed at this place of the picture, in [0, 1)².
    Disturb([f64; 2]),
}

/// How long an abandoned run may take to complete its files.
const ABANDONED: Duration = Duration::from_secs(5);

/// A run in progress. Dropping it cancels the run.
#[derive(Debug)]
pub struct Running {
    pub messages: Receiver<Message>,
    pub control: Sender<Control>,
    /// The run's output folder.
    pub folder: PathBuf,
}

impl Running {
    /// Kills the engine, which may be hung, and waits for a limited time until the folder is complete.
    pub fn abandon(self) {
        // A finished run no longer listens.
        let _ = self.control.send(Control::Kill);
        let deadline = Instant::now() + ABANDONED;
        while let Ok(message) = self.messages.recv_timeout(deadline.saturating_duration_since(Instant::now()))
        {
            if message == Message::Over {
                return;
            }
        }
    }
}

/// Starts runs. The TUI is generic over it, so its tests need no engine.
pub trait Runner {
    /// Starts `plan`; `recipe` is the text of its recipe.
    ///
    /// # Errors
    /// When the run's folder cannot be created or already holds a run, or when the driving thread cannot be
    /// started. Later errors arrive as [`Message::Broken`].
    fn start(&self, plan: Plan, recipe: &str) -> anyhow::Result<Running>;

    /// Resumes a run in its own folder.
    ///
    /// # Errors
    /// When the driving thread cannot be started, or when this runner does not measure.
    fn resume(&self, run: Interrupted) -> anyhow::Result<Running> {
        bail!("nothing is measured here, so {} cannot continue", run.stored.path.display())
    }

    /// The command line that resumes the run in this folder.
    fn advice(&self, folder: &Path) -> String {
        EngineCommand::Own.command_line("run --resume", folder)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn an_abandoned_run_is_killed_and_waited_for() {
        let ((said, messages), (control, controls)) = (channel(), channel());
        let running = Running { messages, control, folder: PathBuf::new() };
        let run = std::thread::spawn(move || {
            let asked = controls.recv();
            let _ = said.send(Message::Reported(PathBuf::new()));
            let _ = said.send(Message::Over);
            (asked, said)
        });
        let began = Instant::now();
        running.abandon();
        assert!(began.elapsed() < ABANDONED, "its last word ends the wait");
        let (asked, _said) = run.join().expect("no panic");
        assert_eq!(asked, Ok(Control::Kill));
    }
}
