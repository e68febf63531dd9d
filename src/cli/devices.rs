//! `scatterlab devices`.

use std::process::ExitCode;

use clap::Args;

use super::format::{Format, OF_TABLES, Output, one_of};
use super::out;
use super::waiting::spawn;
use crate::case::{Device, units};
use crate::report::table::{Column, NO_UNIT, Table};
use crate::run::client::EngineCommand;

#[derive(Debug, Args)]
pub struct DevicesArguments {
    /// Write the devices as a table for programs
    #[arg(long, value_name = "FORMAT", value_parser = one_of(OF_TABLES))]
    format: Option<Format>,
}

/// Asks an engine for its devices and prints one line for each, or a table.
pub fn run(arguments: &DevicesArguments, engine: &EngineCommand) -> anyhow::Result<ExitCode> {
    let mut output = Output::open(arguments.format, 1)?;
    let (_client, hello) = spawn(engine)?;
    if output.is_asked_for() {
        output.table(table(&hello.devices))?;
    } else {
        hello.devices.iter().for_each(|device| out::line(&line(device)));
    }
    output.end()?;
    Ok(ExitCode::SUCCESS)
}

type DeviceColumn<'a> = Column<'a, &'a Device>;

/// The columns are backend, name, reason for being unavailable, each fact that any device has, and the bytes of
/// memory that a case may use.
fn table(devices: &[Device]) -> Table<'_, &Device> {
    let reason = |device: &&Device| device.reason().map(str::to_owned);
    let name = |device: &&Device| (!device.name.is_empty()).then(|| device.name.clone());
    let mut columns = vec![
        DeviceColumn::new("backend", NO_UNIT, |device| device.backend.clone()),
        DeviceColumn::new("device", NO_UNIT, name),
        DeviceColumn::new("reason", NO_UNIT, reason),
    ];
    for (fact, _) in devices.iter().flat_map(|device| &device.facts) {
        if !columns[3..].iter().any(|column| column.name == *fact) {
            columns.push(DeviceColumn::new(fact, NO_UNIT, move |device| {
                device.facts.iter().find(|(name, _)| name == fact).map(|(_, value)| value.clone())
            }));
        }
    }
    columns.push(DeviceColumn::new("free_bytes", "B", |device| device.memory));
    Table::new(columns, devices)
}

/// A line such as `cuda    NVIDIA H200 · 132 SMs · …`, or `cuda    unavailable: no CUDA driver`.
pub fn line(device: &Device) -> String {
    let text = match device.reason() {
        Some(reason) => format!("unavailable: {reason}"),
        None => {
            let mut parts = vec![device.name.clone()];
            parts.extend(device.facts.iter().map(|(name, value)| format!("{name} {value}")));
            parts.extend(device.memory.map(|bytes| format!("{} free", units::fmt_bytes(bytes))));
            parts.join(" · ")
        }
    };
    format!("{:<8}{text}", device.backend)
}
