//! The real terminal: taken over, and given back whatever happens.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, IsTerminal, Stdout, stdin, stdout};
use std::os::fd::AsRawFd;
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
    /// Read and not passed on yet.
    read: VecDeque<Incoming>,
    began: Instant,
    /// Whether a signal was passed on.
    pub terminated: bool,
}

impl TerminalSource {
    /// Starts to listen.
    ///
    /// # Errors
    /// When a signal handler cannot be installed.
    pub fn new() -> io::Result<TerminalSource> {
        let asked = Arc::new(AtomicBool::new(false));
        let (signals, read) = (Vec::new(), VecDeque::new());
        let mut source = TerminalSource { asked, signals, read, began: Instant::now(), terminated: false };
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            source.signals.push(signal_hook::flag::register(signal, source.asked.clone())?);
        }
        Ok(source)
    }
}

impl TerminalSource {
    /// Takes everything that has been typed: what crossterm has read and holds back
    /// does not show on the descriptor any more.
    fn read_all(&mut self) -> io::Result<()> {
        while event::poll(Duration::ZERO)? {
            self.read.extend(match event::read()? {
                Event::Key(key) => Some(Incoming::Key(key)),
                Event::Resize(..) => Some(Incoming::Resized),
                _ => None,
            });
            wait_for_input(Duration::ZERO)?;
        }
        Ok(())
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
            self.terminated = true;
            return Ok(Some(Incoming::Terminate));
        }
        if self.read.is_empty() {
            // A changed size arrives as a signal, which ends this wait.
            wait_for_input(timeout)?;
            self.read_all()?;
        }
        Ok(self.read.pop_front())
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }
}

/// Waits until there is something to read, a signal comes or the time is over.
///
/// crossterm 0.29 does not return from reading a terminal that was closed: it reads
/// nothing, again and again. So a closed one must be noticed before it is asked.
fn wait_for_input(timeout: Duration) -> io::Result<()> {
    let input = if stdin().is_terminal() { None } else { Some(File::open("/dev/tty")?) };
    let fd = input.as_ref().map_or(stdin().as_raw_fd(), File::as_raw_fd);
    let mut polled = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    let milliseconds = libc::c_int::try_from(timeout.as_millis()).unwrap_or(libc::c_int::MAX);
    // SAFETY: one valid pollfd is passed, and its descriptor is open during the call.
    let found = unsafe { libc::poll(&raw mut polled, 1, milliseconds) };
    let gone = libc::POLLHUP | libc::POLLERR | libc::POLLNVAL;
    if found > 0 && polled.revents & gone != 0 {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the terminal was closed"));
    }
    Ok(())
}
