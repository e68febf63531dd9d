//! The measured side: a copy in an engine's process, timed as in a run.

use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, bail};

use super::halves::Timed;
use super::{Heard, Measured};
use crate::case::Measure;
use crate::engine::protocol::{Command, Event, Finished, Pictures, Stage};
use crate::recipe;
use crate::recipe::plan::{self, Overrides, Plan};
use crate::run::client::{Client, Incoming};

/// How often the driving thread checks whether the requesting side has hung up.
const POLL: Duration = Duration::from_millis(50);

/// Runs copies in an engine on request, from a thread of its own as in a run.
pub struct Bench {
    elements: u64,
    requests: Sender<Plan>,
    heard: Receiver<Result<Heard, String>>,
}

impl Bench {
    /// Copies in `client`'s engine.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn new(client: Client) -> anyhow::Result<Bench> {
        let ((requests, orders), (sender, heard)) = (channel(), channel());
        thread::Builder::new().name("run".into()).spawn(move || drive(client, &orders, &sender))?;
        Ok(Bench { elements: 0, requests, heard })
    }

    /// Sets the number of doubles that later copies move.
    pub fn copy(&mut self, elements: u64) {
        self.elements = elements;
    }
}

impl Measured for Bench {
    fn begin(&mut self, threads: &str, samples: u32) -> anyhow::Result<()> {
        self.requests.send(copy(self.elements, threads, samples)?).context("the engine is gone")
    }

    fn heard(&mut self) -> anyhow::Result<Option<Heard>> {
        match self.heard.try_recv() {
            Ok(Ok(heard)) => Ok(Some(heard)),
            Ok(Err(reason)) => bail!(reason),
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Disconnected) => bail!("the engine is gone"),
        }
    }
}

/// A plan of one case with one round.
fn copy(elements: u64, threads: &str, samples: u32) -> anyhow::Result<Plan> {
    let text = format!(
        "stream: {{kernel: copy, elements: {elements}}}\nbackend: {{cpu: {{threads: {threads}}}}}\nchart: {{x: elements}}\n"
    );
    let recipe = recipe::parse("doctor", &text)?;
    let mut plan = plan::resolve(&recipe, &Overrides::default())?;
    for experiment in &mut plan.experiments {
        experiment.measure = Measure::fixed(1, samples);
    }
    Ok(plan)
}

/// Carries out requests until the requesting side hangs up.
fn drive(mut client: Client, requests: &Receiver<Plan>, heard: &Sender<Result<Heard, String>>) {
    while let Ok(plan) = requests.recv() {
        let said = follow(&mut client, plan, requests, heard).map(Heard::Timed);
        let over = said.is_err();
        if heard.send(said).is_err() || over {
            return;
        }
    }
}

/// Runs one round of one case, from its preparation to the engine's last event about it.
fn follow(
    client: &mut Client,
    plan: Plan,
    requests: &Receiver<Plan>,
    heard: &Sender<Result<Heard, String>>,
) -> Result<Timed, String> {
    let send = |client: &mut Client, command| client.send(&command).map_err(|error| format!("{error:#}"));
    send(
        client,
        Command::Run { plan: Box::new(plan), finished: Finished::default(), pictures: Pictures::None },
    )?;
    let (mut timed, mut ended) = (None, None);
    loop {
        if let Err(TryRecvError::Disconnected) = requests.try_recv() {
            return Err("the request was abandoned".to_owned());
        }
        match client.next(POLL) {
            Some(Incoming::Event(Event::Progress { stage: Stage::Sample, .. })) => {
                // A receiver that has hung up is noticed above.
                let _ = heard.send(Ok(Heard::Timing));
            }
            Some(Incoming::Event(Event::Progress { stage: Stage::Certify, .. })) => ended = Some(now()),
            Some(Incoming::Event(Event::Round { seq, result })) => {
                let ended = ended.unwrap_or_else(now);
                // One attempt is enough, even if the engine doubts the round.
                send(client, Command::Cancel)?;
                send(client, Command::Ack { seq })?;
                let (started, samples, batch) = (result.started, result.samples, result.batch);
                timed = Some(Timed { started, ended, samples, batch });
            }
            Some(Incoming::Event(
                Event::NotApplicable { reason: why, .. } | Event::Failed { error: why, .. },
            )) => {
                return Err(format!("the copy could not be timed: {why}"));
            }
            Some(Incoming::Event(Event::Finished { .. })) => {
                return timed.ok_or_else(|| "the engine reported no times".to_owned());
            }
            Some(Incoming::Closed) => return Err(format!("the engine died: {}", client.ending())),
            _ => {}
        }
    }
}

/// Seconds since the epoch: the clock of [`crate::engine::protocol::RoundResult::started`].
pub fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |d| d.as_secs_f64())
}
