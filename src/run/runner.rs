//! What a user interface sees of a run in progress.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender};
use std::time::{Duration, Instant};

use anyhow::bail;

use super::Interrupted;
use crate::engine::client::EngineCommand;
use crate::engine::protocol::Event;
use crate::recipe::plan::Plan;
use crate::shell::quoted;

/// From the running plan to the user interface. A result that arrives here is already
/// on disk. Moved once, so its size does not matter.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// The engine said this.
    Event(Event),
    /// The engine is gone: how it ended, and the case that it was working on. The
    /// run goes on in a fresh engine only when [`Control::Resume`] says so.
    Died { reason: String, case: Option<String> },
    /// How long a word to an engine elsewhere and its answer take.
    Latency(Duration),
    /// Files of the run folder were written (SVG and CSV); the folder's path.
    Reported(PathBuf),
    /// The run's own thread could not go on (disk full, no engine): why.
    Broken(String),
    /// The run is over and its folder is complete.
    Over,
}

/// From the user interface to the running plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Stop at the next boundary of a sample.
    Cancel,
    /// Kill the engine now; what it has not delivered is lost.
    Kill,
    /// After [`Message::Died`]: go on in a fresh engine, the lost case failed.
    Resume,
    /// After [`Message::Died`]: end the run here.
    Stop,
    /// Hold: an engine at the next boundary of a sample, a stored run that is being watched
    /// at once.
    Pause,
    /// Go on after a pause.
    Continue,
    /// Measure the case at this position of the plan no further.
    Skip(usize),
    /// Try the case at this position again, or measure further rounds of it.
    Again(usize),
}

/// How long the files of an abandoned run may take.
const ABANDONED: Duration = Duration::from_secs(5);

/// A run in progress. Dropping it cancels the run.
#[derive(Debug)]
pub struct Running {
    pub messages: Receiver<Message>,
    pub control: Sender<Control>,
    /// Where its results go.
    pub folder: PathBuf,
}

impl Running {
    /// Kills the engine, which may be hung, and waits for the folder to be complete, but
    /// not for ever.
    pub fn abandon(self) {
        // A run that is over listens no more and has nothing to say.
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

/// A command line that a person may copy: `scatterlab run --resume out`, with the engine
/// that was asked for.
pub(crate) fn advice(verb: &str, folder: &Path, engine: &EngineCommand) -> String {
    let folder = quoted(&folder.display().to_string());
    let engine = match engine {
        EngineCommand::Own => String::new(),
        EngineCommand::Shell(line) => format!(" --engine {}", quoted(line)),
    };
    format!("scatterlab {verb} {folder}{engine}")
}

/// Starts runs. The TUI is generic over it, so that its tests need no engine.
pub trait Runner {
    /// Starts `plan`, whose recipe's text is `recipe`.
    ///
    /// # Errors
    /// When the run's folder cannot be made or already holds a run, and when no thread is
    /// left to drive it. What goes wrong later is told by [`Message::Broken`].
    fn start(&self, plan: Plan, recipe: &str) -> anyhow::Result<Running>;

    /// Goes on with a run in its own folder.
    ///
    /// # Errors
    /// When no thread is left to drive it, and where nothing is measured.
    fn resume(&self, run: Interrupted) -> anyhow::Result<Running> {
        bail!("nothing is measured here, so that {} cannot go on", run.stored.path.display())
    }

    /// The command line that goes on with the run in this folder.
    fn advice(&self, folder: &Path) -> String {
        advice("run --resume", folder, &EngineCommand::Own)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn advice_can_be_copied_into_a_shell() {
        let own = advice("run --resume", Path::new("reports/a-1"), &EngineCommand::Own);
        assert_eq!(own, "scatterlab run --resume reports/a-1");
        let far = EngineCommand::Shell("ssh host 'scatterlab' engine".into());
        let far = advice("report", Path::new("my runs/a"), &far);
        assert_eq!(far, r"scatterlab report 'my runs/a' --engine 'ssh host '\''scatterlab'\'' engine'");
    }

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
