//! What a user interface sees of a run in progress.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender};

use crate::engine::protocol::Event;
use crate::plan::Plan;

/// From the running plan to the user interface. Whatever arrives here is already on
/// disk.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// The engine said this.
    Event(Event),
    /// The engine is gone: how it ended, and the case that it was working on. The
    /// run goes on in a fresh engine only when [`Control::Resume`] says so.
    Died { reason: String, case: Option<String> },
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
    /// After [`Message::Died`]: go on in a fresh engine, the lost case failed.
    Resume,
    /// After [`Message::Died`]: end the run here.
    Stop,
}

/// A run in progress. Dropping it cancels the run.
#[derive(Debug)]
pub struct Running {
    pub messages: Receiver<Message>,
    pub control: Sender<Control>,
    /// Where its results go.
    pub folder: PathBuf,
}

/// Starts runs. The TUI is generic over it, so that its tests need no engine.
pub trait Runner {
    /// Starts `plan`, whose recipe's text is `recipe`.
    fn start(&self, plan: Plan, recipe: &str) -> anyhow::Result<Running>;
}
