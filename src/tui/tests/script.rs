//! Scripted runs.

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, Sender, channel};

use crate::case::Verdict;
use crate::engine::protocol::{Environment, Event, Level, RoundResult, Stage};
use crate::recipe::plan::Plan;
use crate::run::runner::{Control, Message, Runner, Running};
use crate::run::{Interrupted, Ledger};

/// The nominal folder of the script's results.
pub const FOLDER: &str = "reports/scripted";

pub fn hello() -> Event {
    Event::Hello {
        protocol: crate::engine::protocol::PROTOCOL,
        version: "0.1.0".to_owned(),
        revision: "abcdef".to_owned(),
        devices: Vec::new(),
        environment: Environment {
            host: "bench".to_owned(),
            os: "linux".to_owned(),
            kernel: "6.1".to_owned(),
            cpu: "Some CPU".to_owned(),
            affinity: vec![0, 1],
            memory: 24 << 30,
            transparent_huge_pages: None,
            facts: Vec::new(),
        },
        profiles: Vec::new(),
    }
}

pub fn progress(plan: &Plan, at: usize, round: u32, stage: Stage) -> Event {
    Event::Progress { case: plan.cases[at].id.clone(), round, stage, making: None }
}

/// Five samples of a case, which vary with its place in the plan and slightly with the round, with the minimum
/// in the middle.
pub fn result(plan: &Plan, at: usize, round: u32) -> RoundResult {
    let place = at as f64 / plan.cases.len() as f64;
    let base = 0.02 * (1.2 + (place * 9.0).sin() + 0.03 * f64::from(round));
    let samples = [1.0, 1.01, 0.98, 1.2, 1.02].map(|f| f * base).to_vec();
    let first = round == 0;
    RoundResult {
        case: plan.cases[at].id.clone(),
        round,
        samples,
        batch: 4,
        verdict: first.then_some(Verdict::Certified { checked: 16 << 20 }),
        memory: 320 << 20,
        resolved: vec![("backend.cpu.threads".to_owned(), crate::case::Value::Int(2))],
        started: 1_790_000_000.0,
        ..RoundResult::default()
    }
}

/// The messages of a whole run, without [`Message::Over`]. The case at `fails` fails.
pub fn messages(plan: &Plan, fails: Option<usize>) -> Vec<Message> {
    let rounds = plan.experiments.iter().map(|e| e.measure.rounds).max().unwrap_or(0);
    let mut events = vec![hello(), Event::Started { cases: plan.cases.len(), rounds: rounds as usize }];
    for round in 0..rounds {
        for (at, case) in plan.cases.iter().enumerate().filter(|(_, c)| c.not_applicable.is_none()) {
            let seq = events.len() as u64;
            let failed = fails == Some(at);
            if failed && round > 0 {
                continue;
            }
            events.push(progress(plan, at, round, Stage::Sample));
            let (id, error) = (case.id.clone(), "wrong result: out[7] = 3, not 4".to_owned());
            events.push(match failed {
                true => Event::Failed { seq, case: id, round, error, lost: false },
                false => Event::Round { seq, result: result(plan, at, round) },
            });
        }
    }
    events.push(Event::Log { level: Level::Warn, text: "3 % of the time was stolen".to_owned() });
    events.into_iter().map(Message::Event).collect()
}

/// The ledger of a whole run.
pub fn played(plan: &Plan) -> Ledger {
    let mut ledger = Ledger::new(plan.clone());
    for message in messages(plan, None) {
        if let Message::Event(event) = message {
            ledger.apply(&event);
        }
    }
    ledger
}

/// The messages of a run whose engine dies at a case.
pub fn died(plan: &Plan, at: usize, reason: &str) -> [Message; 2] {
    let case = plan.cases[at].id.clone();
    let error = format!("the engine died: {reason}");
    let failed = Event::Failed { seq: 0, case: case.clone(), round: 0, error, lost: true };
    [Message::Event(failed), Message::Died { reason: reason.to_owned(), case: Some(case) }]
}

/// The test's ends of a run's channels.
pub struct Ends {
    pub messages: Sender<Message>,
    pub control: Receiver<Control>,
}

/// A runner whose runs are played by the test.
#[derive(Clone, Default)]
pub struct Scripted {
    runs: Rc<RefCell<Vec<Ends>>>,
    recipes: Rc<RefCell<Vec<String>>>,
    refused: Rc<RefCell<usize>>,
}

impl Scripted {
    /// Sends a message from the newest run.
    pub fn say(&self, message: Message) {
        let runs = self.runs.borrow();
        let run = runs.last().expect("a run was started");
        run.messages.send(message).expect("the app listens");
    }

    /// Sends a message from the newest run, if anything still listens.
    pub fn try_say(&self, message: Message) {
        if let Some(run) = self.runs.borrow().last() {
            let _ = run.messages.send(message);
        }
    }

    /// The requests that the newest run has received since the last call.
    pub fn told(&self) -> Vec<Control> {
        self.runs.borrow().last().map(|s| s.control.try_iter().collect()).unwrap_or_default()
    }

    pub fn starts(&self) -> usize {
        self.runs.borrow().len()
    }

    /// The texts of the started recipes.
    pub fn recipes(&self) -> Vec<String> {
        self.recipes.borrow().clone()
    }

    /// Makes the next `starts` starts fail.
    pub fn refuse(&self, starts: usize) {
        *self.refused.borrow_mut() = starts;
    }

    /// Ends the newest run's thread.
    pub fn hang_up(&self) {
        self.runs.borrow_mut().pop();
    }
}

impl Runner for Scripted {
    fn start(&self, plan: Plan, recipe: &str) -> anyhow::Result<Running> {
        anyhow::ensure!(!plan.cases.is_empty(), "the plan is empty");
        if *self.refused.borrow() > 0 {
            *self.refused.borrow_mut() -= 1;
            anyhow::bail!("no room");
        }
        self.recipes.borrow_mut().push(recipe.to_owned());
        let (messages, receiver) = channel();
        let (sender, control) = channel();
        self.runs.borrow_mut().push(Ends { messages, control });
        Ok(Running { messages: receiver, control: sender, folder: PathBuf::from(FOLDER) })
    }

    fn resume(&self, run: Interrupted) -> anyhow::Result<Running> {
        let folder = run.stored.path.clone();
        let running = self.start(run.stored.manifest.plan, &run.stored.recipe)?;
        Ok(Running { folder, ..running })
    }
}
