//! Starts the terminal user interface.

mod folder;

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, bail};

use super::calibrate::calibrator;
use super::recipes::{Source, shipped_name};
use super::{out, profile};
use crate::case::{Device, backends};
use crate::recipe::plan::{Overrides, Plan};
use crate::recipe::shipped::shipped;
use crate::report::series::charted;
use crate::report::write_of_run;
use crate::run::client::{Client, EngineCommand};
use crate::run::layout::RECIPE;
use crate::run::stored::Stored;
use crate::run::{EngineRunner, estimate, index, index_files};
use crate::tui::config;
use crate::tui::{self, Greeting, LastRun, Lookups, Options, RecipeEntry, Remote, Wanted};

/// Opens the user interface, or explains the alternative if there is no terminal.
pub fn run(engine: EngineCommand, config: Option<&Path>) -> anyhow::Result<ExitCode> {
    let config = config::load(config)?.0;
    if !io::stdout().is_terminal() || !io::stdin().is_terminal() {
        bail!(
            "the user interface needs a terminal; without one, run a recipe: \
             scatterlab run quickstart (scatterlab --help lists the commands)"
        );
    }
    if std::env::var_os("TERM").is_some_and(|term| term == "dumb") {
        bail!(
            "the terminal is `dumb` according to TERM: it has no cursor that the user interface could move; run a \
             recipe: scatterlab run quickstart"
        );
    }
    // Only recipes of this folder refer to files; shipped recipes name none. The folder may be that of a run.
    let files = index_files::of_recipe(Path::new(RECIPE));
    let own = folder::recipes(Path::new(".")).context("cannot start a thread for the folder's recipes")?;
    let (own, more_recipes) = folder::soon(own);
    let root = PathBuf::from("reports");
    let left = tui::run(Options {
        recipes: shipped_entries().into_iter().chain(own).collect(),
        more_recipes,
        devices: String::new(),
        remote: engine.name().map(|name| Remote { name, latency: None }),
        config,
        mode: tui::Mode::Run,
        lookups: Some(lookups(engine.clone(), root.clone())),
        root: Some(root.clone()),
        profiles: profile::known(),
        save_profile: profile::keep,
        calibrator: Some({
            let engine = engine.clone();
            Box::new(move |hello| calibrator(&engine, hello))
        }),
        runner: Box::new(EngineRunner {
            engine,
            out: None,
            root,
            profiles: Vec::new(),
            reports: Some(write_of_run),
        }),
        resolve: Arc::new(move |entry: &RecipeEntry, overrides: &Overrides, wanted: Wanted| {
            entry.problem.clone().map_or(Ok(()), Err)?;
            let source = Source::of_file(&entry.path, &entry.text);
            source.resolve_until(overrides, &*files, wanted).map_err(|error| format!("{error:#}"))
        }),
    })?;
    left.iter().flat_map(|text| text.lines()).for_each(out::line);
    Ok(ExitCode::SUCCESS)
}

/// The screen's sources beyond the plan: the engine's devices and every backend's pace, each from an engine of its own,
/// and the newest run below `root`.
fn lookups(engine: EngineCommand, root: PathBuf) -> Lookups {
    let backends: Vec<String> = backends::names().map(str::to_owned).collect();
    let asked = engine.clone();
    let hello = move |stop: &AtomicBool| greeting(&asked, &mut || stop.load(Ordering::Relaxed));
    let paces = move |stop: &AtomicBool| {
        estimate::paces(&engine, &backends, 0, &mut || stop.load(Ordering::Relaxed))
            .map_err(|error| format!("{error:#}"))
    };
    let last = move |plan: &Plan, stop: &AtomicBool| {
        let wanted = || !stop.load(Ordering::Relaxed);
        index::of_recipe(&root, &plan.recipe_hash, &plan.overrides, &wanted).map(last_run)
    };
    Lookups { engine: Arc::new(hello), paces: Arc::new(paces), last: Arc::new(last) }
}

fn last_run(stored: Stored) -> LastRun {
    let records = stored.ledger.records();
    let measured = || stored.ledger.measured();
    let done = measured().filter(|(_, record)| record.statistics.is_some()).count();
    LastRun {
        folder: stored.path.clone(),
        started: stored.manifest.started.clone(),
        overrides: stored.manifest.plan.overrides.clone(),
        done: (done, measured().count()),
        environment: stored.manifest.environment.clone(),
        profiles: stored.ledger.profiles().clone(),
        chart: charted(stored.ledger.plan(), 0, records, Some(stored.ledger.references())),
        baseline: Arc::new(
            tui::Baseline::new(&stored.path, &stored.ledger)
                .on(&stored.manifest.environment, &stored.manifest.devices),
        ),
    }
}

/// The devices in a text such as `scalar AMD EPYC · cpu AMD EPYC · cuda n/a: no CUDA driver`, or why no engine answers;
/// for a remote engine, also its latency. `None` once `given_up` returns true.
fn greeting(engine: &EngineCommand, given_up: &mut dyn FnMut() -> bool) -> Option<Greeting> {
    let (mut client, hello) = match Client::spawn_unless(engine, given_up) {
        Ok(engine) => engine?,
        Err(error) => {
            return Some(Greeting { devices: format!("no engine: {error:#}"), ..Greeting::default() });
        }
    };
    let remote = *engine != EngineCommand::Own && !given_up();
    let latency = if remote { client.round_trip() } else { None };
    let word = |device: &Device| format!("{} {}", device.backend, device.name_or_reason());
    let devices = hello.devices.iter().map(word).collect::<Vec<_>>().join(" · ");
    Some(Greeting { devices, hello: Some(hello), latency })
}

/// The shipped recipes, grouped by folder.
fn shipped_entries() -> Vec<RecipeEntry> {
    shipped()
        .iter()
        .map(|recipe| {
            let name = shipped_name(recipe.path);
            RecipeEntry {
                group: name.split_once('/').map_or("", |(group, _)| group).to_owned(),
                title: name.rsplit('/').next().unwrap_or(name).to_owned(),
                path: name.to_owned(),
                text: recipe.text.to_owned(),
                problem: None,
            }
        })
        .collect()
}
