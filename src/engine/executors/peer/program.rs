//! A peer's process and its line protocol.
//!
//! | order | answer |
//! |---|---|
//! | `prepare KEY=VALUE …` | `ready BYTES SETTING=VALUE …`: what it holds on the device, and what it chose where the case leaves it open; `n/a REASON` |
//! | `sample BATCH` | `seconds X`, of all executions together |
//! | `release` | `released` |
//!
//! Any order may be answered by `failed REASON`, which ends the program. So does the end of its input. `docs/papers.md`
//! describes the protocol for those who write a program.

use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

use crate::case::units::{escaped, shown};
use crate::case::{Cancel, Failure, Value};
use crate::engine::noise_monitor::children::Counted;
use crate::engine::writer;

/// Longest answer, bytes.
const LONGEST: u64 = 4096;
/// Capacity of the queue of answers; a program that sends more blocks.
const BACKLOG: usize = 16;
/// Most settings of an answer, and bytes of a setting's name or value.
const SETTINGS: usize = 16;
const WORD: usize = 64;
/// How often a wait checks for cancellation.
const POLL: Duration = Duration::from_millis(20);
/// How long a program may take to exit once its input is closed.
const END: Duration = Duration::from_millis(500);

/// How long a killed program may take to exit: a driver may hold it.
const KILLED: Duration = Duration::from_secs(30);

/// A successful answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// Bytes allocated on the device, and the settings that the program chose, by their names.
    Ready(u64, Vec<(String, Value)>),
    Seconds(f64),
    Released,
}

/// A running peer process.
#[derive(Debug)]
pub struct Process {
    name: &'static str,
    child: Child,
    /// Lines for its standard input. A thread writes them, so that a program that does not read cannot block
    /// us.
    orders: Option<Sender<Vec<u8>>>,
    answers: Receiver<String>,
    patience: Duration,
    /// Its CPU time is not counted as a disturbance.
    _counted: Counted,
}

/// The longest reason that is kept whole, in characters.
const REASON: usize = 300;

/// A reason for the reader of a report, who has only this: longer than what a message quotes.
fn told(reason: &str) -> String {
    escaped(&reason.chars().take(REASON).collect::<String>())
}

impl Process {
    /// Starts the program. It inherits our standard error.
    pub fn start(name: &'static str, mut command: Command, patience: Duration) -> Result<Process, Failure> {
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let file = Path::new(command.get_program());
        let mut child =
            child.map_err(|error| Failure::Failed(format!("cannot start {}: {error}", file.display())))?;
        let (sender, answers) = mpsc::sync_channel(BACKLOG);
        match attend(&mut child, sender) {
            Ok(orders) => {
                let _counted = Counted::new(child.id());
                Ok(Process { name, child, orders, answers, patience, _counted })
            }
            Err(error) => {
                let _ = child.kill().and_then(|()| child.wait());
                Err(Failure::Failed(format!("cannot start a thread for the peer {name}: {error}")))
            }
        }
    }

    /// Sends an order and returns the answer. After any failure except `n/a` the program is unusable.
    pub fn ask(&mut self, order: &str, cancel: &Cancel) -> Result<Answer, Failure> {
        let verb = order.split(' ').next().unwrap_or(order);
        if let Ok(line) = self.answers.try_recv() {
            return Err(self.failed(&format!("said `{}` unasked", shown(&line))));
        }
        if let Some(orders) = &self.orders {
            // A dead program is detected by its missing answer.
            let _ = orders.send(format!("{order}\n").into_bytes());
        }
        let line = self.listen(verb, cancel)?;
        match line.split_once(' ') {
            Some(("n/a", reason)) if verb == "prepare" => Err(Failure::NotApplicable(told(reason))),
            Some(("failed", reason)) => Err(self.failed(&format!("failed: {}", shown(reason)))),
            _ => answer(verb, &line)
                .ok_or_else(|| self.failed(&format!("answered `{}` to `{verb}`", shown(&line)))),
        }
    }

    fn listen(&mut self, verb: &str, cancel: &Cancel) -> Result<String, Failure> {
        let deadline = Instant::now() + self.patience;
        loop {
            match self.answers.recv_timeout(POLL) {
                Ok(line) => return Ok(line),
                Err(RecvTimeoutError::Disconnected) => {
                    let ending = self.ending();
                    return Err(self.failed(&format!("ended at `{verb}` ({ending})")));
                }
                Err(RecvTimeoutError::Timeout) => cancel.check()?,
            }
            if Instant::now() > deadline {
                let seconds = self.patience.as_secs_f64();
                return Err(self.failed(&format!("did not answer `{verb}` within {seconds} s")));
            }
        }
    }

    /// Process id.
    #[cfg(test)]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    fn failed(&self, what: &str) -> Failure {
        Failure::Failed(format!("the peer {} {what}", self.name))
    }

    /// Closes the program's input, kills it if it does not exit, and describes how it ended.
    fn ending(&mut self) -> String {
        self.orders = None;
        if let Some(status) = self.ended(END) {
            return status.to_string();
        }
        // Fails only if the program has already exited.
        let _ = self.child.kill();
        match self.ended(KILLED) {
            Some(_) => "killed".to_owned(),
            None => "killed, but not gone yet: a driver holds it".to_owned(),
        }
    }

    /// The exit status, if the program exits within this time.
    fn ended(&mut self, limit: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + limit;
        while Instant::now() < deadline {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Some(status);
            }
            thread::sleep(Duration::from_millis(5));
        }
        None
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.ending();
    }
}

/// Parses the answer to an order.
fn answer(verb: &str, line: &str) -> Option<Answer> {
    match (verb, line.split_once(' ')) {
        ("prepare", Some(("ready", words))) => ready(words),
        ("sample", Some(("seconds", seconds))) => seconds.parse().ok().map(Answer::Seconds),
        ("release", None) if line == "released" => Some(Answer::Released),
        _ => None,
    }
}

/// Parses `BYTES SETTING=VALUE …`.
fn ready(words: &str) -> Option<Answer> {
    let mut words = words.split(' ');
    let bytes = words.next()?.parse().ok()?;
    let settings = words.map(setting).collect::<Option<Vec<_>>>()?;
    (settings.len() <= SETTINGS).then_some(Answer::Ready(bytes, settings))
}

/// Parses `counts=64`. A name is in lower case; digits are a number.
fn setting(word: &str) -> Option<(String, Value)> {
    let (name, value) = word.split_once('=')?;
    let named = name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    let said = value.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.+".contains(&b));
    let short = |text: &str| (1..=WORD).contains(&text.len());
    if !(named && said && short(name) && short(value)) {
        return None;
    }
    let digits = value.bytes().all(|b| b.is_ascii_digit());
    let number = value.parse().ok().filter(|_| digits).map(Value::Int);
    Some((name.to_owned(), number.unwrap_or_else(|| Value::Text(value.to_owned()))))
}

/// Starts the threads that attend to the program's streams; returns where to send the lines of its input.
fn attend(child: &mut Child, sender: SyncSender<String>) -> io::Result<Option<Sender<Vec<u8>>>> {
    if let Some(stdout) = child.stdout.take() {
        thread::Builder::new().name("answers".to_owned()).spawn(move || read_lines(stdout, &sender))?;
    }
    child.stdin.take().map(|stdin| writer("orders", stdin)).transpose()
}

/// Reads lines until the end, or until a line exceeds [`LONGEST`]; that one is forwarded truncated.
fn read_lines(output: ChildStdout, sender: &SyncSender<String>) {
    let mut output = BufReader::new(output);
    loop {
        let mut line = Vec::new();
        match output.by_ref().take(LONGEST).read_until(b'\n', &mut line) {
            Ok(read) if read > 0 => {}
            _ => return,
        }
        let whole = line.ends_with(b"\n");
        let text = String::from_utf8_lossy(&line).trim_end().to_owned();
        if sender.send(text).is_err() || !whole {
            return;
        }
    }
}
