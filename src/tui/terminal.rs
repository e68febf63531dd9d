//! The real terminal: taken over, and given back whatever happens.

mod abort;

use std::any::Any;
use std::collections::VecDeque;
use std::fmt;
use std::fs::File;
use std::io::{self, IsTerminal, Stdout, Write, stderr, stdin, stdout};
use std::os::fd::{AsRawFd, RawFd};
use std::panic::{self, PanicHookInfo};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{self, DisableBracketedPaste, EnableBracketedPaste, Event};
use ratatui::crossterm::style::{Attribute, SetAttribute};
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::crossterm::{Command, execute};
use signal_hook::SigId;
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGTSTP, SIGWINCH};
use signal_hook::low_level::{pipe, unregister};

use super::app::{Incoming, Source};
use super::clip;
use super::home::jobs;
use super::waker::{self, Waker, Wakes};

/// Longest single wait requested from the system.
const LONGEST: Duration = Duration::from_secs(3600);

/// Reports buttons and the wheel, with columns beyond 223. crossterm's own command also requests every
/// movement, and each movement would wake the process while a case is timed.
struct Mouse(bool);

impl Command for Mouse {
    fn write_ansi(&self, f: &mut impl fmt::Write) -> fmt::Result {
        f.write_str(if self.0 { "\x1b[?1000h\x1b[?1006h" } else { "\x1b[?1006l\x1b[?1000l" })
    }
}

/// Whether this program has taken over the terminal.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Raw mode and the alternate screen; dropping the guard gives the terminal back.
pub struct Guard {
    previous: Arc<PanicHook>,
    panics: Arc<Mutex<Panics>>,
}

type PanicHook = Box<dyn Fn(&PanicHookInfo<'_>) + Sync + Send + 'static>;

/// Messages of panics.
#[derive(Default)]
struct Panics {
    /// Location of a panic in the user interface's own thread, or in a job's.
    own: Option<String>,
    /// Messages of panics in other threads, kept off the screen until the end.
    others: Vec<String>,
}

impl Guard {
    /// Takes over the terminal, with or without the mouse.
    ///
    /// # Errors
    /// If standard output is not a terminal.
    pub fn new(mouse: bool) -> io::Result<Guard> {
        let previous: Arc<PanicHook> = Arc::new(panic::take_hook());
        let panics: Arc<Mutex<Panics>> = Arc::default();
        let guard = Guard { previous: previous.clone(), panics: panics.clone() };
        let screen = thread::current().id();
        panic::set_hook(Box::new(move |info| {
            let mut panics = panics.lock().unwrap_or_else(PoisonError::into_inner);
            let (here, place) = (thread::current(), info.location().map(|place| place.to_string()));
            if here.id() != screen && here.name() != Some(jobs::THREAD) {
                return panics.others.push(info.to_string());
            }
            panics.own = place;
            // A job's panic continues in the screen's own thread, without this hook.
            if here.id() != screen {
                return;
            }
            restore();
            if std::env::var_os("RUST_BACKTRACE").is_some() {
                previous(info);
            }
        }));
        abort::prepare()?;
        take(mouse)?;
        Ok(guard)
    }

    /// A panic of the user interface in one line, from its caught payload.
    pub fn in_words(&self, caught: &(dyn Any + Send)) -> String {
        let text = caught.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| caught.downcast_ref::<&str>().copied()).unwrap_or("a panic");
        let panics = self.panics.lock().unwrap_or_else(PoisonError::into_inner);
        let place = panics.own.as_ref().map(|place| format!(" at {place}")).unwrap_or_default();
        format!("{}{place}", crate::case::units::shown(text))
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        restore();
        // The hook cannot be changed while panicking; the process is about to end anyway.
        if !thread::panicking() {
            let previous = self.previous.clone();
            panic::set_hook(Box::new(move |info| previous(info)));
        }
        for text in self.panics.lock().unwrap_or_else(PoisonError::into_inner).others.drain(..) {
            say(&text);
        }
    }
}

/// Takes over the terminal. Enters raw mode again, because another program that had the terminal may have left
/// it in any mode.
fn take(mouse: bool) -> io::Result<()> {
    let _ = disable_raw_mode();
    abort::remember();
    enable_raw_mode()?;
    TAKEN.store(true, Ordering::Relaxed);
    execute!(stdout(), EnterAlternateScreen, EnableBracketedPaste)?;
    if mouse {
        execute!(stdout(), Mouse(true))?;
    }
    Ok(())
}

/// Gives the terminal back, as far as it still exists, and only once: leaving the alternate screen again would
/// move the cursor back over later output.
fn restore() {
    if !TAKEN.swap(false, Ordering::Relaxed) {
        return;
    }
    let mut out: Stdout = stdout();
    let reset = SetAttribute(Attribute::Reset);
    let _ = execute!(out, Mouse(false), DisableBracketedPaste, reset, LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
}

/// Prints a line on standard error. If the terminal is gone, `eprintln!` would panic.
fn say(text: &str) {
    let _ = writeln!(stderr(), "{text}");
}

/// Signals that have arrived and have not been passed on yet.
#[derive(Default)]
struct Signals {
    /// SIGINT, SIGTERM, SIGHUP.
    end: Arc<AtomicBool>,
    /// SIGTSTP from another process; Ctrl-Z on the keyboard is a key.
    stop: Arc<AtomicBool>,
    /// SIGCONT.
    go_on: Arc<AtomicBool>,
    /// SIGWINCH.
    resized: Arc<AtomicBool>,
    registered: Vec<SigId>,
}

impl Signals {
    fn listen(waker: &Waker) -> io::Result<Signals> {
        let mut signals = Signals::default();
        let flags = [
            (SIGINT, signals.end.clone()),
            (SIGTERM, signals.end.clone()),
            (SIGHUP, signals.end.clone()),
            (SIGTSTP, signals.stop.clone()),
            (SIGCONT, signals.go_on.clone()),
            (SIGWINCH, signals.resized.clone()),
        ];
        for (signal, flag) in flags {
            // The flag is registered first, so that it is set when the wake-up arrives.
            signals.registered.push(signal_hook::flag::register(signal, flag)?);
            signals.registered.push(pipe::register(signal, waker.stream()?)?);
        }
        Ok(signals)
    }

    /// The most urgent signal.
    fn next(&self) -> Option<Incoming> {
        let came = |flag: &AtomicBool| flag.swap(false, Ordering::Relaxed);
        match () {
            () if came(&self.end) => Some(Incoming::Terminate),
            () if came(&self.go_on) => Some(Incoming::Continued),
            () if came(&self.stop) => Some(Incoming::Suspend),
            () if came(&self.resized) => Some(Incoming::Resized),
            () => None,
        }
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        for signal in self.registered.drain(..) {
            unregister(signal);
        }
    }
}

/// Keys, mouse events and signals of the real terminal.
pub struct TerminalSource {
    signals: Signals,
    waker: Waker,
    wakes: Wakes,
    /// The terminal that keys are read from, if not standard input.
    tty: Option<File>,
    /// Events that were read but not passed on yet.
    read: VecDeque<Incoming>,
    began: Instant,
    mouse: bool,
    /// Whether a terminating signal was passed on.
    pub terminated: bool,
}

impl TerminalSource {
    /// Starts to listen.
    ///
    /// # Errors
    /// If a signal handler cannot be installed, or there is no terminal to read from.
    pub fn new(mouse: bool) -> io::Result<TerminalSource> {
        let (waker, wakes) = waker::pair()?;
        let signals = Signals::listen(&waker)?;
        #[expect(clippy::disallowed_methods, reason = "the terminal of this process is a device")]
        let tty = if stdin().is_terminal() { None } else { Some(File::open("/dev/tty")?) };
        let (read, began) = (VecDeque::new(), Instant::now());
        Ok(TerminalSource { signals, waker, wakes, tty, read, began, mouse, terminated: false })
    }

    /// A waker that ends the source's wait early, from any thread.
    pub fn waker(&self) -> Waker {
        self.waker.clone()
    }

    /// The most urgent signal that has arrived.
    fn signal(&mut self) -> Option<Incoming> {
        let incoming = self.signals.next()?;
        self.terminated |= incoming == Incoming::Terminate;
        Some(incoming)
    }

    /// Reads everything that has been typed: input that crossterm has read and buffered no longer makes the
    /// descriptor readable.
    fn read_all(&mut self) -> io::Result<()> {
        while event::poll(Duration::ZERO)? {
            self.read.extend(match event::read()? {
                Event::Key(key) => Some(Incoming::Key(key)),
                Event::Mouse(mouse) => Some(Incoming::Mouse(mouse)),
                Event::Paste(text) => Some(Incoming::Paste(text)),
                // A resize has already been reported by its signal.
                _ => None,
            });
            self.wait(Duration::ZERO)?;
        }
        Ok(())
    }

    /// Waits until there is something to read, until a wake-up or until the timeout.
    ///
    /// crossterm 0.29 never returns from reading a closed terminal: it reads nothing, again and again. So a
    /// closed terminal must be noticed before crossterm is asked.
    fn wait(&mut self, timeout: Duration) -> io::Result<()> {
        let input = self.tty.as_ref().map_or(stdin().as_raw_fd(), File::as_raw_fd);
        if poll([input, self.wakes.as_raw_fd()], timeout)? {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the terminal was closed"));
        }
        self.wakes.clear();
        Ok(())
    }
}

/// Waits for one of the descriptors, and returns whether the first one is closed.
fn poll(fds: [RawFd; 2], timeout: Duration) -> io::Result<bool> {
    let mut polled = fds.map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
    // Rounded up: repeated waits of zero would be a busy loop.
    let milliseconds = timeout.min(LONGEST).as_micros().div_ceil(1000);
    let milliseconds = libc::c_int::try_from(milliseconds).unwrap_or(libc::c_int::MAX);
    // SAFETY: two valid pollfds are passed, and their descriptors are open during the call.
    let found = unsafe { libc::poll(polled.as_mut_ptr(), 2, milliseconds) };
    if found < 0 {
        let error = io::Error::last_os_error();
        return if error.kind() == io::ErrorKind::Interrupted { Ok(false) } else { Err(error) };
    }
    Ok(polled[0].revents & (libc::POLLHUP | libc::POLLERR | libc::POLLNVAL) != 0)
}

impl Source for TerminalSource {
    fn next(&mut self, timeout: Duration) -> io::Result<Option<Incoming>> {
        // Two signals may have arrived with one wake-up.
        if let Some(incoming) = self.signal() {
            return Ok(Some(incoming));
        }
        if self.read.is_empty() {
            // A signal that arrives now ends this wait.
            self.wait(timeout)?;
            self.read_all()?;
        }
        Ok(self.signal().or_else(|| self.read.pop_front()))
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    fn suspend(&mut self, note: &str) -> io::Result<()> {
        restore();
        say(note);
        stop()?;
        take(self.mouse)?;
        self.signals.go_on.store(false, Ordering::Relaxed);
        Ok(())
    }

    fn take_back(&mut self) -> io::Result<()> {
        take(self.mouse)
    }

    fn copy(&mut self, text: &str) -> io::Result<()> {
        let mut out = stdout();
        out.write_all(clip::sequence(text, |key| std::env::var(key).ok()).as_bytes())?;
        out.flush()
    }
}

/// Suspends this program and its parent in the same process group, such as `cargo run`, and returns when the
/// shell continues them. The engine has a process group of its own. In a group without a shell that could
/// continue it, the system ignores the request.
fn stop() -> io::Result<()> {
    // SAFETY: both structures are valid (all zero is the default action with no flags),
    // and signalling our own group touches no memory.
    unsafe {
        let mut default: libc::sigaction = std::mem::zeroed();
        default.sa_sigaction = libc::SIG_DFL;
        let mut ours: libc::sigaction = std::mem::zeroed();
        if libc::sigaction(SIGTSTP, &raw const default, &raw mut ours) != 0 {
            return Err(io::Error::last_os_error());
        }
        libc::kill(0, SIGTSTP);
        libc::sigaction(SIGTSTP, &raw const ours, std::ptr::null_mut());
    }
    Ok(())
}
