//! The client's end of an engine: spawns it, reads its events, makes sure it ends.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use super::protocol::{Command, Environment, Event, PROTOCOL};
use crate::backend::Device;

/// How long an engine may take to say hello: a driver that wakes a GPU needs seconds,
/// a batch system in between may need longer.
const HELLO_TIMEOUT: Duration = Duration::from_secs(120);

/// How long an engine may take to end once its input is closed.
const END_TIMEOUT: Duration = Duration::from_secs(3);

/// The command line of an engine.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum EngineCommand {
    /// This very binary, on this machine.
    #[default]
    Own,
    /// A shell command that starts one somewhere, such as
    /// `ssh -o BatchMode=yes gpuhost scatterlab engine`.
    Shell(String),
}

/// What the engine said first.
#[derive(Clone, Debug, PartialEq)]
pub struct Hello {
    pub version: String,
    pub revision: String,
    pub devices: Vec<Device>,
    pub environment: Environment,
}

/// What arrives from an engine. Moved once, so its size does not matter.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug, PartialEq)]
pub enum Incoming {
    Event(Event),
    /// A line that is no event: a banner on standard output, anything on standard error.
    Noise(String),
    /// Its output ended.
    Closed,
}

/// A running engine.
#[derive(Debug)]
pub struct Client {
    child: Child,
    input: Option<ChildStdin>,
    incoming: Receiver<Incoming>,
}

impl Client {
    /// Starts an engine in a process group of its own and waits for its hello. Noise
    /// before it is skipped.
    pub fn spawn(command: &EngineCommand) -> anyhow::Result<(Client, Hello)> {
        let mut child = match command {
            EngineCommand::Own => {
                let binary = std::env::current_exe().context("cannot find this program's own file")?;
                let mut own = std::process::Command::new(binary);
                own.arg("engine");
                own
            }
            EngineCommand::Shell(line) => {
                let mut shell = std::process::Command::new("sh");
                shell.args(["-c", line]);
                shell
            }
        };
        Self::start(child.process_group(0))
    }

    fn start(command: &mut std::process::Command) -> anyhow::Result<(Client, Hello)> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .context("cannot start the engine")?;
        let (sender, incoming) = mpsc::channel();
        if let Some(stderr) = child.stderr.take() {
            let sender = sender.clone();
            thread::spawn(move || forward_noise(stderr, &sender));
        }
        if let Some(stdout) = child.stdout.take() {
            thread::spawn(move || forward_events(stdout, &sender));
        }
        let input = child.stdin.take();
        let mut client = Client { child, input, incoming };
        let hello = client.hello()?;
        Ok((client, hello))
    }

    fn hello(&mut self) -> anyhow::Result<Hello> {
        let deadline = Instant::now() + HELLO_TIMEOUT;
        let mut noise = Vec::new();
        loop {
            match self.next(deadline.saturating_duration_since(Instant::now())) {
                Some(Incoming::Event(Event::Hello { protocol, version, revision, devices, environment })) => {
                    if protocol != PROTOCOL {
                        bail!(
                            "the engine (scatterlab {version}) speaks protocol {protocol}, this program \
                             ({}) protocol {PROTOCOL}: install the same version on both sides",
                            crate::VERSION
                        );
                    }
                    return Ok(Hello { version, revision, devices, environment });
                }
                Some(Incoming::Noise(line)) => noise.push(line),
                Some(Incoming::Event(_)) => {}
                Some(Incoming::Closed) => {
                    bail!("the engine ended before it said hello ({}): {}", self.ending(), noise.join(" / "))
                }
                None => bail!("the engine said nothing for {} s", HELLO_TIMEOUT.as_secs()),
            }
        }
    }

    /// Sends a command. An engine that is gone is noticed by its [`Incoming::Closed`].
    pub fn send(&mut self, command: &Command) {
        let Some(input) = &mut self.input else { return };
        let sent = serde_json::to_writer(&mut *input, command)
            .map_err(std::io::Error::from)
            .and_then(|()| input.write_all(b"\n"))
            .and_then(|()| input.flush());
        if sent.is_err() {
            self.input = None;
        }
    }

    /// The next thing it says; `None` after `timeout`.
    pub fn next(&mut self, timeout: Duration) -> Option<Incoming> {
        match self.incoming.recv_timeout(timeout) {
            Ok(incoming) => Some(incoming),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Incoming::Closed),
        }
    }

    /// Ends the engine (closing its input first, by SIGKILL after a while) and says how
    /// it ended.
    pub fn ending(&mut self) -> String {
        self.input = None;
        let deadline = Instant::now() + END_TIMEOUT;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return describe(status),
                Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(10)),
                _ => break,
            }
        }
        self.kill();
        self.child.wait().map_or_else(|e| e.to_string(), |_| "did not end by itself: killed".to_owned())
    }

    /// Ends the engine and everything in its process group at once: a hung kernel
    /// listens to nothing else.
    pub fn kill(&mut self) {
        if let Ok(group) = i32::try_from(self.child.id()) {
            // SAFETY: signalling a process group touches no memory of ours; the group is
            // the child's own, and the child is not reaped yet, so its number is not reused.
            unsafe { libc::kill(-group, libc::SIGKILL) };
        }
    }

    /// Process number, for those who want to signal it.
    pub fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.ending();
    }
}

fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(libc::SIGKILL)) => "killed by signal 9, as an exhausted memory does".to_owned(),
        (None, Some(signal)) => format!("ended by signal {signal}"),
        (None, None) => "ended".to_owned(),
    }
}

fn forward_noise(stream: impl Read, sender: &Sender<Incoming>) {
    for line in BufReader::new(stream).lines().map_while(Result::ok) {
        if sender.send(Incoming::Noise(line)).is_err() {
            return;
        }
    }
}

fn forward_events(stream: impl Read, sender: &Sender<Incoming>) {
    for line in BufReader::new(stream).lines().map_while(Result::ok) {
        let incoming = serde_json::from_str(&line).map_or(Incoming::Noise(line), Incoming::Event);
        if sender.send(incoming).is_err() {
            return;
        }
    }
    // The client may be gone already; then nobody waits for this.
    let _ = sender.send(Incoming::Closed);
}
