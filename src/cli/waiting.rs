//! Says on standard error what a command waits for: an engine elsewhere may take minutes until it says hello, and a
//! connection that hangs looks like a crash.

use std::time::{Duration, Instant};

use anyhow::Context;

use super::out;
use crate::run::client::{Client, EngineCommand, HELLO_TIMEOUT, Hello};

/// The silence after which something is said: an engine on this machine says hello in less.
const FIRST: Duration = Duration::from_secs(5);
/// How often it is said again.
const AGAIN: Duration = Duration::from_secs(30);

/// A wait for an engine's hello.
pub struct Waiting {
    engine: String,
    since: Instant,
    next: Duration,
}

impl Waiting {
    /// A wait that begins now, for an engine that is called so.
    pub fn new(engine: &str) -> Waiting {
        Waiting { engine: engine.to_owned(), since: Instant::now(), next: FIRST }
    }

    /// A wait for the engine of this command.
    pub fn of(engine: &EngineCommand) -> Waiting {
        let called = engine.name().map(|name| format!("the engine ({name})"));
        Waiting::new(&called.unwrap_or_else(|| "the engine".to_owned()))
    }

    /// Prints what is waited for, if that is due.
    pub fn look(&mut self) {
        let passed = self.since.elapsed();
        if passed >= self.next {
            self.next = passed + AGAIN;
            out::complain("scatterlab", &self.said(passed));
        }
    }

    fn said(&self, passed: Duration) -> String {
        let (passed, most) = (passed.as_secs(), HELLO_TIMEOUT.as_secs());
        format!("waiting for {} to answer: {passed} s so far; it has {most} s to say hello", self.engine)
    }
}

/// Starts an engine and waits for its hello, like [`Client::spawn`], not without a word.
///
/// # Errors
/// As for [`Client::spawn`].
pub fn spawn(engine: &EngineCommand) -> anyhow::Result<(Client, Hello)> {
    let mut waiting = Waiting::of(engine);
    let mut look = || {
        waiting.look();
        false
    };
    Client::spawn_unless(engine, &mut look)?.context("the engine's start was cancelled")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_said_who_is_waited_for_and_for_how_long() {
        let waiting = Waiting::of(&EngineCommand::Shell("ssh gpuhost scatterlab engine".to_owned()));
        assert_eq!(
            waiting.said(Duration::from_secs(7)),
            "waiting for the engine (ssh gpuhost) to answer: 7 s so far; it has 120 s to say hello"
        );
        assert!(
            Waiting::of(&EngineCommand::Own).said(FIRST).starts_with("waiting for the engine to answer: 5 s")
        );
    }
}
