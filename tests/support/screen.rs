//! A terminal for the real program, with access to its screen and to the state in which it is left.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use std::{fs, process};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, SlavePty, native_pty_system};
use vt100::{MouseProtocolMode, Parser};

/// Longest wait for anything: other work may keep the machine busy.
const PATIENCE: Duration = Duration::from_secs(300);

/// Polling interval: the awaited work needs the processors itself.
const POLL: Duration = Duration::from_millis(50);

/// An environment variable of every process that a test starts, by which the processes are found again.
const MARK: &str = "SCATTERLAB_TEST_MARK";

/// A program on a terminal.
pub struct Screen {
    parser: Arc<Mutex<Parser>>,
    raw: Arc<Mutex<Vec<u8>>>,
    /// `None` after the terminal was closed.
    terminal: Option<Terminal>,
    pub child: Box<dyn Child + Send + Sync>,
    mark: String,
    cooked: libc::termios,
}

/// Everything that keeps the terminal open.
struct Terminal {
    keys: Box<dyn Write + Send>,
    master: Box<dyn MasterPty + Send>,
    /// Keeps the terminal alive after the program has exited.
    _slave: Box<dyn SlavePty + Send>,
    reader: JoinHandle<()>,
    close: Arc<AtomicBool>,
    away: Arc<AtomicBool>,
}

impl Screen {
    /// Starts a program in `folder` on a terminal of `columns` by `rows`.
    pub fn start(folder: &Path, (columns, rows): (u16, u16), program: &[&str]) -> Screen {
        let pair = native_pty_system().openpty(size(columns, rows)).expect("a terminal");
        let cooked = termios(&*pair.master);
        let mark = mark();
        let mut command = CommandBuilder::new(program[0]);
        command.args(&program[1..]);
        command.cwd(folder);
        let environment =
            [(MARK, mark.as_str()), ("TERM", "xterm-256color"), ("LC_ALL", "C.UTF-8"), ("PS1", "$ ")];
        environment.into_iter().for_each(|(key, value)| command.env(key, value));
        // Hides the user's configuration and profiles, and the machine's GPU.
        command.env("XDG_CONFIG_HOME", folder);
        command.env("XDG_DATA_HOME", folder);
        command.env("SCATTERLAB_LIBCUDA", "/nonexistent/libcuda.so.1");
        for key in ["NO_COLOR", "COLORFGBG", "COLORTERM", "RUST_BACKTRACE"] {
            command.env_remove(key);
        }
        let child = pair.slave.spawn_command(command).expect("starts");
        let keys = pair.master.take_writer().expect("a keyboard");
        let reader = pair.master.try_clone_reader().expect("a screen");
        let parser = Arc::new(Mutex::new(Parser::new(rows, columns, 0)));
        let raw = Arc::default();
        let (close, away) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
        let flags = [Arc::clone(&close), Arc::clone(&away)];
        let reader = listen(reader, Arc::clone(&parser), Arc::clone(&raw), flags);
        let terminal = Some(Terminal { keys, master: pair.master, _slave: pair.slave, reader, close, away });
        Screen { parser, raw, terminal, child, mark, cooked }
    }

    /// Types keys.
    pub fn keys(&mut self, text: &str) {
        let keys = &mut self.terminal.as_mut().expect("a terminal").keys;
        keys.write_all(text.as_bytes()).and_then(|()| keys.flush()).expect("typed");
    }

    /// Resizes the terminal and stops reading its screen: vt100 cannot handle output drawn for another size.
    pub fn resize(&self, columns: u16, rows: u16) {
        self.away().store(true, Ordering::Relaxed);
        self.master().resize(size(columns, rows)).expect("resized");
    }

    /// Resumes reading with an empty screen of this size, from this position in the raw output.
    pub fn look_from(&self, from: usize, columns: u16, rows: u16) {
        // The reader holds this lock while it updates both.
        let raw = self.raw.lock().expect("raw");
        self.with(|parser| {
            *parser = Parser::new(rows, columns, 0);
            parser.process(&raw[from..]);
        });
        self.away().store(false, Ordering::Relaxed);
    }

    fn away(&self) -> &AtomicBool {
        &self.terminal.as_ref().expect("a terminal").away
    }

    /// The text on the screen.
    pub fn text(&self) -> String {
        self.with(|parser| parser.screen().contents())
    }

    /// Number of bytes ever written to the terminal.
    pub fn written(&self) -> usize {
        self.raw.lock().expect("raw").len()
    }

    /// Position of a text in the raw output after the first `from` bytes.
    pub fn place(&self, from: usize, what: &str) -> Option<usize> {
        let raw = self.raw.lock().expect("raw");
        let found = raw[from..].windows(what.len()).position(|bytes| bytes == what.as_bytes());
        found.map(|at| from + at)
    }

    /// Waits until the screen shows this text.
    pub fn wait(&self, wanted: &str) {
        self.until(&format!("{wanted:?} on the screen"), || self.text().contains(wanted));
    }

    /// Waits for any other condition.
    pub fn until(&self, what: &str, mut holds: impl FnMut() -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !holds() {
            assert!(Instant::now() < deadline, "not in {PATIENCE:?}: {what}\n{}", self.text());
            thread::sleep(POLL);
        }
    }

    /// Waits for the end and returns the exit status.
    pub fn ended(&mut self) -> u32 {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().expect("its state") {
                return status.exit_code();
            }
            assert!(Instant::now() < deadline, "it does not end\n{}", self.text());
            thread::sleep(POLL);
        }
    }

    /// Checks that the program has taken over the terminal as it should.
    pub fn assert_taken(&self) {
        self.until("the terminal is taken over", || {
            let taken = self.with(|p| p.screen().alternate_screen() && p.screen().hide_cursor());
            taken && termios(self.master()).c_lflag & libc::ICANON == 0
        });
        assert_eq!(self.mouse(), MouseProtocolMode::PressRelease, "buttons, and no movements");
    }

    /// Checks that the terminal is as it was before the program, with no trace of it.
    pub fn assert_given_back(&self) {
        self.until("the terminal is given back", || self.given_back());
        let now = termios(self.master());
        let modes = |t: &libc::termios| (t.c_iflag, t.c_oflag, t.c_cflag, t.c_lflag);
        assert_eq!(modes(&now), modes(&self.cooked), "the terminal's modes");
    }

    /// Checks that no process that this program has started is left.
    pub fn assert_alone(&self) {
        self.until("no process is left", || self.processes().is_empty());
    }

    /// Whether the program has left the alternate screen and raw mode, shown the cursor and released the mouse.
    pub fn given_back(&self) -> bool {
        let screen = self.with(|p| !p.screen().alternate_screen() && !p.screen().hide_cursor());
        let canonical = termios(self.master()).c_lflag & libc::ICANON != 0;
        screen && canonical && self.mouse() == MouseProtocolMode::None
    }

    /// Closes the terminal as a window does. The key makes the program write something, so that the reader
    /// thread wakes up and sees that it should stop.
    pub fn close(&mut self, key: &str) {
        self.terminal.as_ref().expect("a terminal").close.store(true, Ordering::Relaxed);
        self.keys(key);
        let Terminal { keys, master, _slave, reader, .. } = self.terminal.take().expect("a terminal");
        reader.join().expect("the reader");
        drop((keys, master, _slave));
    }

    fn master(&self) -> &(dyn MasterPty + Send) {
        &*self.terminal.as_ref().expect("a terminal").master
    }

    fn mouse(&self) -> MouseProtocolMode {
        self.with(|parser| parser.screen().mouse_protocol_mode())
    }

    /// Processes started by this program, including itself, with their command lines.
    pub fn processes(&self) -> Vec<(i32, String)> {
        let ids = fs::read_dir("/proc").expect("/proc").filter_map(Result::ok);
        let ids = ids.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        ids.filter_map(|id| Some((id, self.command_of(id)?))).collect()
    }

    fn command_of(&self, id: i32) -> Option<String> {
        let wanted = format!("{MARK}={}", self.mark);
        let environment = fs::read(format!("/proc/{id}/environ")).ok()?;
        let ours = environment.split(|b| *b == 0).any(|entry| entry == wanted.as_bytes());
        let command = fs::read(format!("/proc/{id}/cmdline")).ok().filter(|_| ours)?;
        Some(String::from_utf8_lossy(&command).replace('\0', " ").trim().to_owned())
    }

    /// The engine that is running now.
    pub fn engine(&self) -> i32 {
        let mut found = None;
        self.until("an engine runs", || {
            found = self.processes().into_iter().find(|(_, command)| command.ends_with(" engine"));
            found.is_some()
        });
        found.expect("an engine").0
    }

    /// The program itself, if a shell started it.
    pub fn program(&self) -> i32 {
        let own = |command: &str| command.ends_with("/scatterlab");
        let mut found = None;
        self.until("the program runs", || {
            found = self.processes().into_iter().find(|(_, command)| own(command));
            found.is_some()
        });
        found.expect("the program").0
    }

    fn with<T>(&self, act: impl FnOnce(&mut Parser) -> T) -> T {
        act(&mut self.parser.lock().expect("the screen"))
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        for (id, _) in self.processes() {
            signal(id, libc::SIGKILL);
        }
        let _ = self.child.wait();
    }
}

/// Sends a signal to one process.
pub fn signal(process: i32, signal: i32) {
    // SAFETY: signalling a process touches no memory of ours.
    unsafe { libc::kill(process, signal) };
}

/// The letter of a process's state in `/proc`: `T` where it is stopped.
pub fn state(process: i32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    stat.rsplit_once(')')?.1.trim_start().chars().next()
}

/// The folder of the only run below `root`.
pub fn run_folder(root: &Path) -> PathBuf {
    let runs: Vec<PathBuf> = fs::read_dir(root.join("reports"))
        .expect("reports")
        .map(|entry| entry.expect("entry").path())
        .collect();
    assert_eq!(runs.len(), 1, "{runs:?}");
    runs[0].clone()
}

/// The events of the only run below a folder, read as the file grows.
pub struct Rounds {
    root: PathBuf,
    file: Option<BufReader<fs::File>>,
    count: usize,
}

impl Rounds {
    pub fn below(root: &Path) -> Rounds {
        Rounds { root: root.to_owned(), file: None, count: 0 }
    }

    /// Number of finished rounds on file.
    pub fn count(&mut self) -> usize {
        if self.file.is_none() {
            self.file = open_events(&self.root);
        }
        let mut line = Vec::new();
        while let Some(file) = &mut self.file {
            line.clear();
            let read = file.read_until(b'\n', &mut line).expect("events");
            if !line.ends_with(b"\n") {
                // An incomplete line is read again once the rest has arrived.
                file.seek_relative(-(read as i64)).expect("events");
                break;
            }
            self.count += usize::from(line.starts_with(br#"{"event":"round""#));
        }
        self.count
    }

    /// Waits for this many more rounds.
    pub fn more(&mut self, screen: &Screen, count: usize) {
        let wanted = self.count() + count;
        screen.until("the run goes on", || self.count() >= wanted);
    }
}

fn open_events(root: &Path) -> Option<BufReader<fs::File>> {
    let run = fs::read_dir(root.join("reports")).ok()?.next()?.ok()?.path();
    fs::File::open(run.join("events.ndjson")).ok().map(BufReader::new)
}

fn size(cols: u16, rows: u16) -> PtySize {
    PtySize { rows, cols, pixel_width: 0, pixel_height: 0 }
}

fn mark() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("{}-{}", process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

fn listen(
    mut reader: Box<dyn Read + Send>,
    parser: Arc<Mutex<Parser>>,
    raw: Arc<Mutex<Vec<u8>>>,
    [close, away]: [Arc<AtomicBool>; 2],
) -> JoinHandle<()> {
    thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = reader.read(&mut bytes) {
            if close.load(Ordering::Relaxed) {
                return;
            }
            let mut raw = raw.lock().expect("raw");
            raw.extend_from_slice(&bytes[..count]);
            if !away.load(Ordering::Relaxed) {
                parser.lock().expect("the screen").process(&bytes[..count]);
            }
        }
    })
}

fn termios(master: &(dyn MasterPty + Send)) -> libc::termios {
    let fd = master.as_raw_fd().expect("a descriptor");
    // SAFETY: the structure is plain data, and the descriptor is open.
    unsafe {
        let mut modes: libc::termios = std::mem::zeroed();
        assert_eq!(libc::tcgetattr(fd, &raw mut modes), 0, "tcgetattr");
        modes
    }
}
