//! What the terminal tells the event loop, and what it is asked to do.

use std::io;
use std::time::Duration;

use ratatui::crossterm::event::{KeyEvent, MouseEvent};

/// What the terminal can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Incoming {
    Key(KeyEvent),
    Mouse(MouseEvent),
    /// Its size changed.
    Resized,
    /// The process was asked to stop for a while.
    Suspend,
    /// It was stopped and goes on.
    Continued,
    /// The process was asked to end.
    Terminate,
}

/// Where keys come from.
pub trait Source {
    /// Waits for at most `timeout`.
    ///
    /// # Errors
    /// When the terminal is gone.
    fn next(&mut self, timeout: Duration) -> io::Result<Option<Incoming>>;

    /// Time since the program started.
    fn now(&self) -> Duration;

    /// Gives the terminal back, says `note` on it, and stops until somebody lets the
    /// program go on; then takes the terminal again.
    ///
    /// # Errors
    /// When the terminal is gone.
    fn suspend(&mut self, _note: &str) -> io::Result<()> {
        Ok(())
    }

    /// Asks the terminal to copy a text.
    ///
    /// # Errors
    /// When the terminal is gone.
    fn copy(&mut self, _text: &str) -> io::Result<()> {
        Ok(())
    }

    /// Takes the terminal again after somebody else has stopped the program.
    ///
    /// # Errors
    /// When the terminal is gone.
    fn take_back(&mut self) -> io::Result<()> {
        Ok(())
    }
}
