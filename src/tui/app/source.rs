//! Events from the terminal to the event loop, and requests to the terminal.

use std::io;
use std::time::Duration;

use ratatui::crossterm::event::{KeyEvent, MouseEvent};

/// Events from the terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Incoming {
    Key(KeyEvent),
    /// A text was pasted; its letters are not keys.
    Paste(String),
    Mouse(MouseEvent),
    /// The terminal's size changed.
    Resized,
    /// The process was asked to suspend.
    Suspend,
    /// The process continues after a suspension.
    Continued,
    /// The process was asked to end.
    Terminate,
}

/// A source of terminal events.
pub trait Source {
    /// Waits for at most `timeout`.
    ///
    /// # Errors
    /// If the terminal is gone.
    fn next(&mut self, timeout: Duration) -> io::Result<Option<Incoming>>;

    /// Time since the program started.
    fn now(&self) -> Duration;

    /// Gives the terminal back, prints `note` on it, and suspends the program until it is continued; then takes
    /// the terminal again.
    ///
    /// # Errors
    /// If the terminal is gone.
    fn suspend(&mut self, _note: &str) -> io::Result<()> {
        Ok(())
    }

    /// Asks the terminal to copy a text.
    ///
    /// # Errors
    /// If the terminal is gone.
    fn copy(&mut self, _text: &str) -> io::Result<()> {
        Ok(())
    }

    /// Takes the terminal again after another process has suspended the program.
    ///
    /// # Errors
    /// If the terminal is gone.
    fn take_back(&mut self) -> io::Result<()> {
        Ok(())
    }
}
