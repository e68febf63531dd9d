//! The user interface on a real terminal, with a run that is played slowly: `cargo test --lib tui::tests::demo
//! -- --ignored --nocapture`.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use super::{fixture, script};
use crate::engine::protocol::Event;
use crate::recipe::plan::Plan;
use crate::run::runner::{Control, Message, Runner, Running};
use crate::tui::config::Config;
use crate::tui::{Mode, Options, run};

/// Plays a run in which the engine dies once.
pub struct Slow;

impl Runner for Slow {
    fn start(&self, plan: Plan, _recipe: &str) -> anyhow::Result<Running> {
        let (messages, receiver) = channel();
        let (sender, control) = channel();
        thread::spawn(move || play(&plan, &messages, &control));
        Ok(Running { messages: receiver, control: sender, folder: PathBuf::from(script::FOLDER) })
    }
}

fn play(plan: &Plan, messages: &Sender<Message>, control: &Receiver<Control>) -> Option<()> {
    let all = script::messages(plan, Some(4));
    for (at, message) in all.iter().enumerate() {
        thread::sleep(Duration::from_millis(300));
        messages.send(message.clone()).ok()?;
        let mut word = control.try_recv().ok();
        if at == 15 {
            let reason = "killed by signal 9".to_owned();
            messages.send(Message::Died { reason, case: None }).ok()?;
            word = control.recv().ok();
        }
        if matches!(word, Some(Control::Cancel | Control::Stop)) {
            messages.send(Message::Event(Event::Finished { cancelled: true })).ok()?;
            break;
        }
    }
    messages.send(Message::Over).ok()
}

#[test]
#[ignore = "needs a terminal and a person"]
fn demo() {
    let (recipes, resolve) = (fixture::recipes(), Arc::new(fixture::changed));
    let devices = fixture::DEVICES.to_owned();
    run(Options {
        more_recipes: None,
        recipes,
        resolve,
        runner: Box::new(Slow),
        devices,
        mode: Mode::Run,
        remote: None,
        config: Config::default(),
        lookups: None,
        root: None,
        profiles: Vec::new(),
        save_profile: |_| Err(String::new()),
        calibrator: None,
    })
    .expect("a terminal");
}
