//! Targets that programs write: the protocol, and the files of a run's folder.

use std::fs;
use std::path::Path;

use scatterlab::case::units::escaped;
use scatterlab::engine::protocol::{Command, Event};
use scatterlab::run::stored::Stored;

use super::mutate::Random;
use super::{Outcome, Target};

const TOKENS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "\"",
    ":",
    ",",
    "null",
    "true",
    "-1",
    "1e400",
    "1e-320",
    "18446744073709551616",
    "\n",
    "\\u0000",
    "\"event\"",
    "\"round\"",
    "\"case\"",
    "\"seconds\"",
    "\"finished\"",
    "\"plan\"",
    "\"params\"",
    "\"schema\"",
];

fn fixture(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/schema-1").join(name))
        .expect("a fixture")
}

fn events() -> Vec<Vec<u8>> {
    fixture("events.ndjson")
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::to_vec)
        .filter(|line| !line.is_empty())
        .collect()
}

#[test]
fn protocol() {
    fn parse(input: &[u8], _: &mut Random) -> Outcome {
        if let Ok(command) = serde_json::from_slice::<Command>(input) {
            let text = serde_json::to_vec(&command).map_err(|error| error.to_string())?;
            let again: Result<Command, _> = serde_json::from_slice(&text);
            return if again.is_ok_and(|again| again == command) {
                Ok(None)
            } else {
                Err("written and read, it is another command".to_owned())
            };
        }
        match serde_json::from_slice::<Event>(input) {
            Ok(event) => {
                let text = serde_json::to_vec(&event).map_err(|error| error.to_string())?;
                serde_json::from_slice::<Event>(&text)
                    .map_err(|error| format!("it cannot be read again: {error}"))?;
                Ok(None)
            }
            Err(error) => Ok(Some(escaped(&error.to_string()))),
        }
    }
    let commands = [
        r#"{"command":"ack","seq":3}"#,
        r#"{"command":"cancel"}"#,
        r#"{"command":"probe","backends":["cpu"],"device":1}"#,
        r#"{"command":"show","pictures":"live"}"#,
        r#"{"command":"disturb","at":[0.5,0.25]}"#,
        r#"{"event":"snapshot","case":"a","round":0,"picture":{"kind":"field","what":"m","when":"step 3","columns":2,"rows":2,"low":-1.5,"high":2.0,"codes":"AP9/gA=="}}"#,
        r#"{"event":"snapshot","case":"a","round":0,"picture":{"kind":"curve","x":"step","y":"vertices","spacing":1.0,"values":[1.0,5.0]}}"#,
    ];
    let corpus = events().into_iter().chain(commands.map(|text| text.as_bytes().to_vec())).collect();
    Target { name: "protocol", corpus, tokens: TOKENS, parse }.fuzz();
}

/// Opens a run folder in which one file is replaced.
fn opened(name: &str, input: &[u8]) -> Outcome {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    for kept in ["manifest.json", "events.ndjson", "recipe.yaml"] {
        let bytes = if kept == name { input.to_vec() } else { fixture(kept) };
        fs::write(folder.path().join(kept), bytes).map_err(|error| error.to_string())?;
    }
    match Stored::open(folder.path()) {
        Ok(stored) if stored.ledger.records().len() != stored.ledger.plan().cases.len() => {
            Err("not a record for each case".to_owned())
        }
        Ok(_) => Ok(None),
        Err(error) => Ok(Some(format!("{error:#}").replace(&folder.path().display().to_string(), ""))),
    }
}

#[test]
fn events_of_a_run() {
    fn parse(input: &[u8], _: &mut Random) -> Outcome {
        opened("events.ndjson", input)
    }
    Target { name: "events", corpus: vec![fixture("events.ndjson")], tokens: TOKENS, parse }.fuzz();
}

#[test]
fn manifest() {
    fn parse(input: &[u8], _: &mut Random) -> Outcome {
        opened("manifest.json", input)
    }
    Target { name: "manifest", corpus: vec![fixture("manifest.json")], tokens: TOKENS, parse }.fuzz();
}
