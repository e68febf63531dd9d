//! The script to type, one step per line:
//!
//! ```text
//! # a comment
//! wait Recipes        until the screen shows this text
//! type quick          these characters
//! key Enter           one key: Enter, Esc, Tab, Ctrl-U, Space, Backspace, Up, Down, Left, Right
//! pause 1.5           seconds
//! ```

use std::time::Duration;

#[derive(Debug, PartialEq)]
pub enum Step {
    Wait(String),
    Send(String),
    Pause(Duration),
}

const KEYS: [(&str, &str); 10] = [
    ("Enter", "\r"),
    ("Esc", "\x1b"),
    ("Tab", "\t"),
    ("Ctrl-U", "\x15"),
    ("Space", " "),
    ("Backspace", "\x7f"),
    ("Up", "\x1b[A"),
    ("Down", "\x1b[B"),
    ("Right", "\x1b[C"),
    ("Left", "\x1b[D"),
];

/// # Errors
/// A line is not a valid step; the message gives its number.
pub fn parse(text: &str) -> Result<Vec<Step>, String> {
    let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
    let steps = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    steps.map(|(number, line)| step(line).ok_or_else(|| format!("line {number}: no step: {line}"))).collect()
}

fn step(line: &str) -> Option<Step> {
    let (word, rest) = line.split_once(' ')?;
    match word {
        "wait" => Some(Step::Wait(rest.to_owned())),
        "type" => Some(Step::Send(rest.to_owned())),
        "pause" => Some(Step::Pause(Duration::try_from_secs_f64(rest.parse().ok()?).ok()?)),
        "key" => KEYS.iter().find(|(name, _)| *name == rest).map(|(_, keys)| Step::Send((*keys).to_owned())),
        _ => None,
    }
}
