//! The client's end of the connection to an engine process: starts the process, sends it commands, reads its
//! events, and makes sure that it ends.

mod lines;

use std::collections::VecDeque;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use self::lines::{forward_events, forward_noise};
use crate::case::Device;
use crate::case::units::{fmt_bytes, shown};
use crate::engine;
use crate::engine::inbox::LONGEST_COMMAND;
use crate::engine::protocol::{Command, DEVICE_LOST, Environment, Event, PROTOCOL};
use crate::model::DeviceProfile;
use crate::shell;

/// How long an engine may take to send its first event, [`Event::Hello`]: the driver takes seconds to initialise
/// a GPU, and a batch system may add more.
pub const HELLO_TIMEOUT: Duration = Duration::from_secs(120);

/// How long an engine may take to exit once its input is closed.
const END_TIMEOUT: Duration = Duration::from_secs(3);

/// How often `given_up` is polled while an engine starts.
const POLL: Duration = Duration::from_millis(50);

/// How long a killed engine may take to exit: a driver may first have to stop the work on its device.
const KILL_TIMEOUT: Duration = Duration::from_secs(30);

/// How long to wait for each further line on the standard error of an engine that has exited.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// How long to wait for the answer to a ping. For a slower engine no latency is shown.
const PONG_TIMEOUT: Duration = Duration::from_secs(2);

/// The most lines of other output ([`Incoming::NotAnEvent`]) quoted if an engine does not send its hello.
const QUOTED: usize = 5;

/// Capacity of the queue of received lines, each up to a megabyte; when it is full, the engine blocks.
const BACKLOG: usize = 256;

/// The most lines kept of what an engine that has exited left on its standard error.
const MOST_LAST_WORDS: usize = 50;

/// How to start an engine.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum EngineCommand {
    /// This binary, on this machine.
    #[default]
    Own,
    /// A shell command that starts an engine anywhere, such as `ssh -o BatchMode=yes gpuhost scatterlab
    /// engine`.
    Shell(String),
}

impl EngineCommand {
    /// A short name for a remote engine, such as `ssh gpuhost`; `None` for our own.
    pub fn name(&self) -> Option<String> {
        match self {
            EngineCommand::Own => None,
            EngineCommand::Shell(line) => Some(engine::name(line)),
        }
    }

    /// A command line to be copied by the user, such as `scatterlab run --resume out`, with this engine.
    pub(crate) fn command_line(&self, verb: &str, folder: &Path) -> String {
        format!("scatterlab {verb} {}{}", shell::path(folder), self.option())
    }

    /// A text such as ` --engine 'ssh host scatterlab engine'`; empty for the program itself.
    pub(crate) fn option(&self) -> String {
        match self {
            EngineCommand::Own => String::new(),
            EngineCommand::Shell(line) => format!(" --engine {}", shell::quoted(line)),
        }
    }
}

/// Content of an engine's first event, [`Event::Hello`].
#[derive(Clone, Debug, PartialEq)]
pub struct Hello {
    pub version: String,
    pub revision: String,
    pub devices: Vec<Device>,
    pub environment: Environment,
    /// The engine's profiles of its devices.
    pub profiles: Vec<DeviceProfile>,
}

/// An item that a client receives while it waits for an engine. It is moved only once, so its size does not matter.
#[expect(clippy::large_enum_variant, reason = "each value is moved once")]
#[derive(Clone, Debug, PartialEq)]
pub enum Incoming {
    Event(Event),
    /// A line that is not an event: a banner on standard output, anything on standard error. Control characters
    /// are escaped.
    NotAnEvent(String),
    /// [`Waker::wake`] was called; the engine sent nothing.
    Woken,
    /// The engine's output has ended.
    Closed,
}

/// Interrupts the wait for an engine's next event, from any thread.
#[derive(Clone, Debug)]
pub struct Waker(SyncSender<Incoming>);

impl Waker {
    /// Ends the wait with [`Incoming::Woken`], after everything that the engine sent before.
    pub fn wake(&self) {
        // If the client is gone, there is nobody to wake.
        let _ = self.0.send(Incoming::Woken);
    }
}

/// A running engine.
#[derive(Debug)]
pub struct Client {
    child: Child,
    /// Lines for the engine's standard input. A thread writes them, so that an engine that does not read cannot
    /// block us.
    input: Option<Sender<Vec<u8>>>,
    incoming: Receiver<Incoming>,
    waker: Waker,
    /// Items that arrived during [`round_trip`](Self::round_trip) besides the pong, for [`next`](Self::next).
    held: VecDeque<Incoming>,
    pings: u64,
}

impl Client {
    /// Starts an engine in its own process group and waits for its hello. Other output before that is skipped.
    ///
    /// # Errors
    /// When the engine does not start, does not say hello in time, or speaks another protocol version; the
    /// error quotes its output.
    pub fn spawn(command: &EngineCommand) -> anyhow::Result<(Client, Hello)> {
        Self::spawn_unless(command, &mut || false)?.context("the engine's start was cancelled")
    }

    /// Like [`spawn`](Self::spawn), but kills the engine and returns `None` once `given_up` returns true.
    ///
    /// # Errors
    /// As for [`spawn`](Self::spawn).
    pub fn spawn_unless(
        command: &EngineCommand,
        given_up: &mut dyn FnMut() -> bool,
    ) -> anyhow::Result<Option<(Client, Hello)>> {
        let mut child = match command {
            EngineCommand::Own => {
                let binary = std::env::current_exe().context("cannot find this program's own file")?;
                let mut own = std::process::Command::new(binary);
                // Under the name `spatter` (`argv[0]`), the binary would imitate that program.
                own.arg0("scatterlab").arg("engine");
                own
            }
            EngineCommand::Shell(line) => {
                let mut shell = std::process::Command::new("sh");
                shell.args(["-c", line]);
                shell
            }
        };
        let mut client = Self::start(child.process_group(0))?;
        let hello = client.hello(given_up)?;
        if hello.is_none() {
            // Dropping the client waits for the engine, which may not read its input before its hello.
            client.kill();
        }
        Ok(hello.map(|hello| (client, hello)))
    }

    fn start(command: &mut std::process::Command) -> anyhow::Result<Client> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .context("cannot start the engine")?;
        let (sender, incoming) = mpsc::sync_channel(BACKLOG);
        let waker = Waker(sender.clone());
        match attend(&mut child, sender) {
            Ok(input) => Ok(Client { child, input, incoming, waker, held: VecDeque::new(), pings: 0 }),
            Err(error) => {
                // Without its threads nobody would speak with the engine, nor notice its end.
                let _ = child.kill().and_then(|()| child.wait());
                Err(error).context("cannot start a thread for the engine")
            }
        }
    }

    fn hello(&mut self, given_up: &mut dyn FnMut() -> bool) -> anyhow::Result<Option<Hello>> {
        let deadline = Instant::now() + HELLO_TIMEOUT;
        let mut noise = VecDeque::new();
        while !given_up() {
            if Instant::now() > deadline {
                bail!("the engine did not say hello for {} s{}", HELLO_TIMEOUT.as_secs(), quoted(&noise));
            }
            match self.next(POLL) {
                Some(Incoming::Event(Event::Hello {
                    protocol,
                    version,
                    revision,
                    devices,
                    environment,
                    profiles,
                })) => {
                    if protocol != PROTOCOL {
                        bail!(
                            "the engine (scatterlab {version}) speaks protocol {protocol}, but this program ({}) \
                             speaks protocol {PROTOCOL}: install the same version on both sides",
                            crate::VERSION
                        );
                    }
                    return Ok(Some(Hello { version, revision, devices, environment, profiles }));
                }
                Some(Incoming::NotAnEvent(line)) => keep_last(&mut noise, line),
                Some(Incoming::Closed) => {
                    let ending = self.ending();
                    self.last_words().into_iter().for_each(|line| keep_last(&mut noise, line));
                    bail!("the engine ended before it said hello ({ending}){}", quoted(&noise));
                }
                Some(Incoming::Event(_) | Incoming::Woken) | None => {}
            }
        }
        Ok(None)
    }

    /// Sends a command. If the engine is gone, [`Incoming::Closed`] reports it.
    ///
    /// # Errors
    /// When the command is longer than an engine reads.
    pub fn send(&mut self, command: &Command) -> anyhow::Result<()> {
        let line = serde_json::to_vec(command);
        let mut line = line.context("cannot send the engine its commands")?;
        if line.len() > LONGEST_COMMAND {
            let [length, most] = [line.len(), LONGEST_COMMAND].map(|bytes| fmt_bytes(bytes as u64));
            bail!(
                "cannot send the engine its commands: the plan has {length}, but an engine reads up to {most}"
            );
        }
        line.push(b'\n');
        if self.input.as_ref().is_some_and(|input| input.send(line).is_err()) {
            self.input = None;
        }
        Ok(())
    }

    /// Round-trip time of a ping; `None` if no pong arrives. The engine must be idle or waiting for an
    /// acknowledgement, because it answers only then.
    pub fn round_trip(&mut self) -> Option<Duration> {
        self.pings += 1;
        let (began, pong) = (Instant::now(), Event::Pong { number: self.pings });
        self.send(&Command::Ping { number: self.pings }).ok()?;
        loop {
            match self.receive(PONG_TIMEOUT.checked_sub(began.elapsed())?)? {
                Incoming::Event(event) if event == pong => return Some(began.elapsed()),
                Incoming::Closed => {
                    self.held.push_back(Incoming::Closed);
                    return None;
                }
                // An engine that says so much has no time for an answer.
                other if self.held.len() >= BACKLOG => {
                    self.held.push_back(other);
                    return None;
                }
                other => self.held.push_back(other),
            }
        }
    }

    /// The engine's next input; `None` after `timeout`.
    pub fn next(&mut self, timeout: Duration) -> Option<Incoming> {
        let next = self.held.pop_front().or_else(|| self.receive(timeout));
        // Drop a pong that arrives too late.
        next.filter(|incoming| !matches!(incoming, Incoming::Event(Event::Pong { .. })))
    }

    /// A handle that interrupts a wait in [`next`](Self::next).
    pub fn waker(&self) -> Waker {
        self.waker.clone()
    }

    fn receive(&mut self, timeout: Duration) -> Option<Incoming> {
        match self.incoming.recv_timeout(timeout) {
            Ok(incoming) => Some(incoming),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Incoming::Closed),
        }
    }

    /// Remaining lines on the standard error of an engine that has exited: the first fifty, because a
    /// process that it started may go on writing for ever.
    pub fn last_words(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        while lines.len() < MOST_LAST_WORDS
            && let Ok(incoming) = self.incoming.recv_timeout(LAST_WORDS)
        {
            if let Incoming::NotAnEvent(line) = incoming {
                lines.push(line);
            }
        }
        lines
    }

    /// Ends the engine, first by closing its input, then by SIGKILL, and describes how it ended.
    pub fn ending(&mut self) -> String {
        self.input = None;
        if let Some(ended) = self.wait(END_TIMEOUT) {
            return ended.map_or_else(|e| e.to_string(), describe);
        }
        self.kill();
        match self.wait(KILL_TIMEOUT) {
            Some(Ok(_)) => "did not end by itself: killed".to_owned(),
            Some(Err(error)) => error.to_string(),
            None => "killed, but not gone yet: a driver holds it".to_owned(),
        }
    }

    /// The exit status, if the engine exits within this time.
    fn wait(&mut self, limit: Duration) -> Option<io::Result<ExitStatus>> {
        let (deadline, mut pause) = (Instant::now() + limit, Duration::from_micros(200));
        loop {
            match self.child.try_wait().transpose() {
                None if Instant::now() < deadline => {
                    thread::sleep(pause);
                    pause = (2 * pause).min(Duration::from_millis(10));
                }
                ended => return ended,
            }
        }
    }

    /// Kills the engine and its whole process group by SIGKILL: an engine with a hung GPU kernel reacts to
    /// nothing else.
    pub fn kill(&mut self) {
        if let Ok(group) = i32::try_from(self.child.id()) {
            // SAFETY: signalling a process group accesses no memory of ours. The group is the child's own, and
            // the child is not reaped yet, so its id cannot be reused.
            unsafe { libc::kill(-group, libc::SIGKILL) };
        }
    }

    /// Process id, for signals.
    pub fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.ending();
    }
}

/// How a process ended, in words. An exit status above 128 is taken for a signal, because a shell reports a child
/// that was killed by a signal as 128 plus the signal's number.
fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) if code == i32::from(DEVICE_LOST) => {
            format!("exit status {code}: it lost its device")
        }
        (Some(code @ 129..=192), _) => format!("exit status {code}: {}", by_signal(code - 128)),
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(signal)) => by_signal(signal),
        (None, None) => "ended".to_owned(),
    }
}

fn by_signal(signal: i32) -> String {
    match signal {
        libc::SIGKILL => "killed by signal 9 (often: out of memory)".to_owned(),
        libc::SIGSEGV | libc::SIGBUS | libc::SIGILL | libc::SIGFPE | libc::SIGABRT => {
            format!("ended by signal {signal} (a crash, of its own or in a driver)")
        }
        _ => format!("ended by signal {signal}"),
    }
}

/// Starts the threads that attend to the engine's streams; returns where to send the lines of its input.
fn attend(child: &mut Child, sender: SyncSender<Incoming>) -> io::Result<Option<Sender<Vec<u8>>>> {
    let named = |name: &str| thread::Builder::new().name(name.to_owned());
    if let Some(stderr) = child.stderr.take() {
        let sender = sender.clone();
        named("noise").spawn(move || forward_noise(stderr, &sender))?;
    }
    if let Some(stdout) = child.stdout.take() {
        named("events").spawn(move || forward_events(stdout, &sender))?;
    }
    child.stdin.take().map(|stdin| engine::writer("input", stdin)).transpose()
}

fn keep_last(lines: &mut VecDeque<String>, line: String) {
    lines.push_back(line);
    if lines.len() > QUOTED {
        lines.pop_front();
    }
}

/// The lines joined into one, after a colon, to be appended to an error message; empty without lines.
fn quoted(lines: &VecDeque<String>) -> String {
    let lines: Vec<String> = lines.iter().map(|line| shown(line)).collect();
    if lines.is_empty() { String::new() } else { format!(": {}", lines.join(" / ")) }
}

#[cfg(test)]
mod tests;
