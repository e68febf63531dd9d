//! The terminal user interface's start.

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;

use super::recipes::{Source, shipped_name};
use crate::backend::{Availability, Device};
use crate::engine::client::{Client, EngineCommand};
use crate::experiments::shipped;
use crate::plan::Overrides;
use crate::run::EngineRunner;
use crate::tui::{self, Options, RecipeEntry};

/// Opens the user interface; without a terminal, says what to run instead.
pub fn run(engine: EngineCommand) -> anyhow::Result<ExitCode> {
    if !io::stdout().is_terminal() || !io::stdin().is_terminal() {
        bail!(
            "the user interface needs a terminal; without one, run a recipe: \
             scatterlab run quickstart (scatterlab --help lists the commands)"
        );
    }
    tui::run(Options {
        recipes: entries(),
        devices: devices(&engine),
        runner: Box::new(EngineRunner { engine, out: None, root: PathBuf::from("reports") }),
        resolve: Box::new(|entry: &RecipeEntry| {
            let source = Source { name: entry.path.clone(), text: entry.text.clone() };
            source.resolve(&Overrides::default()).map_err(|error| format!("{error:#}"))
        }),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// `scalar AMD EPYC · cpu AMD EPYC · cuda n/a: no CUDA driver`, or why no engine answers.
fn devices(engine: &EngineCommand) -> String {
    let hello = match Client::spawn(engine) {
        Ok((_client, hello)) => hello,
        Err(error) => return format!("no engine: {error:#}"),
    };
    let word = |device: &Device| match &device.availability {
        Availability::Available => format!("{} {}", device.backend, device.name),
        Availability::Unavailable { reason } => format!("{} n/a: {reason}", device.backend),
    };
    hello.devices.iter().map(word).collect::<Vec<_>>().join(" · ")
}

/// The shipped recipes, grouped by the folder they are in.
fn entries() -> Vec<RecipeEntry> {
    shipped()
        .iter()
        .map(|recipe| {
            let name = shipped_name(recipe.path);
            RecipeEntry {
                group: name.split_once('/').map_or("", |(group, _)| group).to_owned(),
                title: name.rsplit('/').next().unwrap_or(name).to_owned(),
                path: name.to_owned(),
                text: recipe.text.to_owned(),
            }
        })
        .collect()
}
