//! `scatterlab devices`.

use std::process::ExitCode;

use super::out;
use crate::backend::{Availability, Device};
use crate::engine::client::{Client, EngineCommand};
use crate::units;

/// Asks an engine for its devices and prints one line each.
pub fn run(engine: &EngineCommand) -> anyhow::Result<ExitCode> {
    let (_client, hello) = Client::spawn(engine)?;
    for device in &hello.devices {
        out::line(&line(device));
    }
    Ok(ExitCode::SUCCESS)
}

/// `cuda    NVIDIA H200 · 132 SMs · …`, or `cuda    unavailable: no CUDA driver`.
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
