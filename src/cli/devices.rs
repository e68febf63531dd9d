//! `scatterlab devices`.

use std::process::ExitCode;

use clap::Args;

use super::format::{FormatName, Output};
use super::out;
use crate::case::{Availability, Device, units};
use crate::report::cell::Cell;
use crate::report::format::Table;
use crate::run::client::{Client, EngineCommand};

#[derive(Debug, Args)]
pub struct DevicesArguments {
    /// Write a table of them for programs
    #[arg(long, value_name = "FORMAT")]
    format: Option<FormatName>,
}

/// Asks an engine for its devices and prints one line for each, or a table.
pub fn run(arguments: &DevicesArguments, engine: &EngineCommand) -> anyhow::Result<ExitCode> {
    let mut output = Output::open(arguments.format, 1)?;
    let (_client, hello) = Client::spawn(engine)?;
    if output.is_asked_for() {
        output.table(table(&hello.devices))?;
    } else {
        hello.devices.iter().for_each(|device| out::line(&line(device)));
    }
    output.end()?;
    Ok(ExitCode::SUCCESS)
}

/// The columns are backend, name, reason for being unavailable, each fact that any device has, and the bytes of
/// memory that a case may use.
fn table(devices: &[Device]) -> Table<impl Iterator<Item = Vec<Option<Cell>>>> {
    let mut facts: Vec<String> = Vec::new();
    for (name, _) in devices.iter().flat_map(|device| &device.facts) {
        if !facts.contains(name) {
            facts.push(name.clone());
        }
    }
    let ends = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let columns = [ends(&["backend", "device", "reason"]), facts.clone(), ends(&["free_bytes"])].concat();
    let row = move |device: &Device| -> Vec<Option<Cell>> {
        let reason = match &device.availability {
            Availability::Available => None,
            Availability::Unavailable { reason } => Some(Cell::text(reason)),
        };
        let name = (!device.name.is_empty()).then(|| Cell::text(&device.name));
        let fact = |wanted: &String| {
            device.facts.iter().find(|(name, _)| name == wanted).map(|(_, value)| Cell::text(value))
        };
        let head = [Some(Cell::text(&device.backend)), name, reason];
        head.into_iter().chain(facts.iter().map(fact)).chain([device.memory.map(Cell::from)]).collect()
    };
    Table { columns, rows: devices.iter().map(row) }
}

/// A line such as `cuda    NVIDIA H200 · 132 SMs · …`, or `cuda    unavailable: no CUDA driver`.
pub fn line(device: &Device) -> String {
    let text = match &device.availability {
        Availability::Unavailable { reason } => format!("unavailable: {reason}"),
        Availability::Available => {
            let mut parts = vec![device.name.clone()];
            parts.extend(device.facts.iter().map(|(name, value)| format!("{name} {value}")));
            parts.extend(device.memory.map(|bytes| format!("{} free", units::fmt_bytes(bytes))));
            parts.join(" · ")
        }
    };
    format!("{:<8}{text}", device.backend)
}
