//! Reads a client's commands while the server is busy.

use std::io::BufRead;
use std::sync::mpsc::Sender;

use super::orders::{Order, Orders};
use super::protocol::{Command, Finished};
use crate::recipe::plan::Plan;

/// Input that the server itself has to answer.
pub enum Input {
    Run { plan: Box<Plan>, finished: Finished, orders: Orders },
    Ack(u64),
    Probe { backends: Vec<String>, device: u64 },
    Ping(u64),
    Unreadable(String),
}

/// Parses lines into inputs. Each run gets its own [`Orders`], which are updated as soon as the client sends a
/// command, whatever the server is doing; closing the pipe ends the run.
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

/// Forwards an order to the run, or returns the input for the server.
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
