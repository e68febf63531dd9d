//! Reads what a client says, while the server is busy.

use std::io::BufRead;
use std::sync::mpsc::Sender;

use super::orders::{Order, Orders};
use super::protocol::{Command, Finished};
use crate::recipe::plan::Plan;

/// What the server itself answers.
pub enum Input {
    Run { plan: Box<Plan>, finished: Finished, orders: Orders },
    Ack(u64),
    Probe { backends: Vec<String>, device: u64 },
    Ping(u64),
    Unreadable(String),
}

/// Turns lines into inputs. Each run gets orders of its own, given here the moment the
/// client says them, whatever the server is doing; they end when the client closes its
/// end of the pipe.
pub fn read_commands(input: impl BufRead, inbox: &Sender<Input>) {
    let mut running = Orders::default();
    for line in input.split(b'\n') {
        let Ok(line) = line else { break };
        let item = match serde_json::from_slice(&line) {
            Ok(command) => take(command, &mut running),
            Err(error) => Some(Input::Unreadable(format!("unreadable command: {error}"))),
        };
        if item.is_some_and(|item| inbox.send(item).is_err()) {
            return;
        }
    }
    running.end();
}

/// Gives an order to the run, or returns what the server has to answer.
fn take(command: Command, running: &mut Orders) -> Option<Input> {
    match command {
        Command::Run { plan, finished } => {
            *running = Orders::default();
            return Some(Input::Run { plan, finished, orders: running.clone() });
        }
        Command::Ack { seq } => return Some(Input::Ack(seq)),
        Command::Probe { backends, device } => return Some(Input::Probe { backends, device }),
        Command::Ping { number } => return Some(Input::Ping(number)),
        Command::Cancel => running.end(),
        Command::Pause => running.pause(true),
        Command::Continue => running.pause(false),
        Command::Skip { case } => running.ask(Order::Skip(case)),
        Command::Again { case } => running.ask(Order::Again(case)),
    }
    None
}
