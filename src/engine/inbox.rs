//! Reads a client's commands while the server is busy.

use std::io::{self, BufRead};
use std::sync::mpsc::Sender;

use super::orders::{Order, Orders};
use super::protocol::{Command, Finished};
use crate::case::units::{escaped, fmt_bytes};
use crate::recipe::plan::Plan;

/// Input that the server itself has to answer.
pub enum Input {
    Run { plan: Box<Plan>, finished: Finished, orders: Orders },
    Ack(u64),
    Probe { backends: Vec<String>, device: u64 },
    Ping(u64),
    Unreadable(String),
}

/// Longest command that is read, bytes: a plan of 10,000 cases with what is finished of it has tens of megabytes.
pub const LONGEST_COMMAND: usize = 128 << 20;

/// Most unreadable lines answered between two commands; the rest is counted.
const MOST_UNREADABLE: u64 = 20;

/// Parses lines into inputs. Each run gets its own [`Orders`], which are updated as soon as the client sends a
/// command, whatever the server is doing; closing the pipe ends the run.
pub fn read_commands(mut input: impl BufRead, inbox: &Sender<Input>) {
    let mut running = Orders::default();
    let (mut line, mut unreadable) = (Vec::new(), 0);
    while let Ok(Some(dropped)) = read_line(&mut input, LONGEST_COMMAND, &mut line) {
        let item = match command(&line, dropped) {
            Ok(command) => {
                let told = unanswered(std::mem::take(&mut unreadable));
                if told.is_some_and(|told| inbox.send(told).is_err()) {
                    return;
                }
                take(command, &mut running)
            }
            Err(why) => {
                unreadable += 1;
                (unreadable <= MOST_UNREADABLE)
                    .then(|| Input::Unreadable(format!("unreadable command: {why}")))
            }
        };
        if item.is_some_and(|item| inbox.send(item).is_err()) {
            return;
        }
    }
    // A server that is gone needs no answer.
    unanswered(unreadable).map(|told| inbox.send(told));
    running.end();
}

/// Says how many unreadable lines got no answer of their own.
fn unanswered(unreadable: u64) -> Option<Input> {
    let more = unreadable.checked_sub(MOST_UNREADABLE).filter(|more| *more > 0)?;
    Some(Input::Unreadable(format!("{more} further lines were unreadable commands")))
}

fn command(line: &[u8], dropped: u64) -> Result<Command, String> {
    if dropped > 0 {
        let (length, most) = (line.len() as u64 + dropped, fmt_bytes(LONGEST_COMMAND as u64));
        return Err(format!("a line of {}; accepted: up to {most}", fmt_bytes(length)));
    }
    let command = serde_json::from_slice(line).map_err(|error| escaped(&error.to_string()))?;
    if let Command::Run { plan, .. } = &command {
        plan.check()?;
    }
    Ok(command)
}

/// Reads a line without its newline, and returns how many bytes beyond `longest` were dropped; `None` at the end of
/// the input.
fn read_line(input: &mut impl BufRead, longest: usize, line: &mut Vec<u8>) -> io::Result<Option<u64>> {
    line.clear();
    let (mut dropped, mut began) = (0, false);
    loop {
        let bytes = match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            bytes => bytes?,
        };
        if bytes.is_empty() {
            return Ok(began.then_some(dropped));
        }
        began = true;
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let content = &bytes[..end.unwrap_or(bytes.len())];
        let kept = content.len().min(longest - line.len());
        line.extend_from_slice(&content[..kept]);
        dropped += (content.len() - kept) as u64;
        let read = content.len() + usize::from(end.is_some());
        input.consume(read);
        if end.is_some() {
            return Ok(Some(dropped));
        }
    }
}

/// Forwards an order to the run, or returns the input for the server.
fn take(command: Command, running: &mut Orders) -> Option<Input> {
    match command {
        Command::Run { plan, finished, pictures } => {
            *running = Orders::default();
            running.show(pictures);
            return Some(Input::Run { plan, finished, orders: running.clone() });
        }
        Command::Ack { seq } => return Some(Input::Ack(seq)),
        Command::Probe { backends, device } => return Some(Input::Probe { backends, device }),
        Command::Ping { number } => return Some(Input::Ping(number)),
        Command::Cancel => running.end(),
        Command::Pause => running.pause(true),
        Command::Continue => running.pause(false),
        Command::Skip { case } => running.ask(Order::Skip(case)),
        Command::Show { pictures } => running.show(pictures),
        Command::Disturb { at: [x, y] } => running.disturb((x, y)),
        Command::Again { case } => running.ask(Order::Again(case)),
    }
    None
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    fn told(input: &[u8]) -> Vec<String> {
        let (sender, inbox) = channel();
        read_commands(input, &sender);
        drop(sender);
        let text = |input| match input {
            Input::Unreadable(text) => text,
            Input::Ping(number) => format!("ping {number}"),
            _ => "other".to_owned(),
        };
        inbox.iter().map(text).collect()
    }

    #[test]
    fn a_line_is_bounded_and_what_is_dropped_is_counted() {
        let mut line = Vec::new();
        let mut input = std::io::BufReader::with_capacity(3, &b"12345678\n\nabc"[..]);
        let mut next = |line: &mut Vec<u8>| read_line(&mut input, 5, line).expect("read");
        assert_eq!((next(&mut line), line.as_slice()), (Some(3), &b"12345"[..]));
        assert_eq!((next(&mut line), line.as_slice()), (Some(0), &b""[..]));
        assert_eq!((next(&mut line), line.as_slice()), (Some(0), &b"abc"[..]));
        assert_eq!(next(&mut line), None);
    }

    #[test]
    fn unreadable_lines_are_answered_up_to_a_number_and_counted_beyond_it() {
        let ping = "{\"command\":\"ping\",\"number\":7}\n";
        let said = told(format!("{}{ping}{}{ping}", "x\n".repeat(25), "y\n").as_bytes());
        assert_eq!(said.len(), 20 + 1 + 1 + 1 + 1, "{said:?}");
        assert_eq!(said[20], "5 further lines were unreadable commands");
        assert_eq!((said[21].as_str(), said[23].as_str()), ("ping 7", "ping 7"));
        assert_eq!(told("x\n".repeat(21).as_bytes())[20], "1 further lines were unreadable commands");
    }
}
