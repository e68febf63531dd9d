//! The real terminal: taken over, and given back whatever happens.

use std::io::{self, Stdout, stdout};
use std::panic::{self, PanicHookInfo};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{self, Event};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use signal_hook::SigId;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::app::{Incoming, Source};

/// Raw mode and the alternate screen; dropping it gives the terminal back.
pub struct Guard {
    previous: Arc<PanicHook>,
    /// What other threads said when they panicked, kept off the screen until the end.
    panics: Arc<Mutex<Vec<String>>>,
}

type PanicHook = Box<dyn Fn(&PanicHookInfo<'_>) + Sync + Send + 'static>;

impl Guard {
    /// Takes the terminal over.
    ///
    /// # Errors
    /// When standard output is no terminal.
    pub fn new() -> io::Result<Guard> {
        let previous: Arc<PanicHook> = Arc::new(panic::take_hook());
        let panics: Arc<Mutex<Vec<String>>> = Arc::default();
        let guard = Guard { previous: previous.clone(), panics: panics.clone() };
        let screen = thread::current().id();
        panic::set_hook(Box::new(move |info| {
            if thread::current().id() == screen {
                restore();
                previous(info);
            } else {
                panics.lock().unwrap_or_else(PoisonError::into_inner).push(info.to_string());
            }
        }));
        enable_raw_mode()?;
        execute!(stdout(), EnterAlternateScreen)?;
        Ok(guard)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        restore();
        // The hook cannot be changed while panicking; the process ends then anyway.
        if !thread::panicking() {
            let previous = self.previous.clone();
            panic::set_hook(Box::new(move |info| previous(info)));
        }
        for text in self.panics.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            eprintln!("{text}");
        }
    }
}

/// Gives the terminal back, as far as it is still there.
fn restore() {
    let mut out: Stdout = stdout();
    let _ = execute!(out, LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
}

/// Keys from the terminal; SIGINT, SIGTERM and SIGHUP as requests to end.
pub struct TerminalSource {
    asked: Arc<AtomicBool>,
    signals: Vec<SigId>,
    began: Instant,
}

impl TerminalSource {
    /// Starts to listen.
    ///
    /// # Errors
    /// When a signal handler cannot be installed.
    pub fn new() -> io::Result<TerminalSource> {
        let asked = Arc::new(AtomicBool::new(false));
        let mut source = TerminalSource { asked, signals: Vec::new(), began: Instant::now() };
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            source.signals.push(signal_hook::flag::register(signal, source.asked.clone())?);
        }
        Ok(source)
    }
}

impl Drop for TerminalSource {
    fn drop(&mut self) {
        for signal in self.signals.drain(..) {
            signal_hook::low_level::unregister(signal);
        }
    }
}

impl Source for TerminalSource {
    fn next(&mut self, timeout: Duration) -> io::Result<Option<Incoming>> {
        if self.asked.swap(false, Ordering::Relaxed) {
            return Ok(Some(Incoming::Terminate));
        }
        if !event::poll(timeout)? {
            return Ok(None);
        }
        Ok(match event::read()? {
            Event::Key(key) => Some(Incoming::Key(key)),
            Event::Resize(..) => Some(Incoming::Resized),
            _ => None,
        })
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }
}
