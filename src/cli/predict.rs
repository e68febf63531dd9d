//! `scatterlab predict`: prints the models' predictions for recipes without running them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::{Args, ValueHint};

use super::format::{Format, OF_TABLES, Output, one_of};
use super::out;
use super::profile::{ModelArguments, ProfileArguments};
use super::recipes::Source;
use super::run::{folders, overrides};
use super::waiting::spawn;
use crate::engine::protocol::Environment;
use crate::model::Profiles;
use crate::recipe::plan::{Overrides, Plan};
use crate::report::accuracy::{doubts, silences};
use crate::report::predictions::{Foretold, foretold, lines, write};
use crate::report::{Origin, csv};
use crate::run::Ledger;
use crate::run::client::EngineCommand;
use crate::run::layout::MANIFEST;

#[derive(Debug, Args)]
pub struct PredictArguments {
    /// Recipe files, or names of shipped recipes
    #[arg(required = true, value_name = "RECIPE")]
    recipes: Vec<OsString>,
    #[command(flatten)]
    profile: ProfileArguments,
    #[command(flatten)]
    model: ModelArguments,
    /// Predict for these backends instead of the recipe's: scalar, cpu, cuda
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    backend: Vec<String>,
    /// Set a key of the recipe, as for run
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Predict only these cases, as for run
    #[arg(long, value_delimiter = ',', value_name = "CASE")]
    only: Vec<String>,
    /// Folder for predictions.csv and the charts; with several recipes, a subfolder for each
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    out: Option<PathBuf>,
    /// Write the rows to standard output; csv takes a single recipe
    #[arg(long, value_name = "FORMAT", value_parser = one_of(OF_TABLES))]
    format: Option<Format>,
}

/// Predicts every recipe's cases without measuring anything.
pub fn run(arguments: &PredictArguments, engine: &EngineCommand) -> anyhow::Result<ExitCode> {
    let mut output = Output::open(arguments.format, arguments.recipes.len())?;
    let set = overrides(&arguments.set, &arguments.backend)?;
    let set = Overrides { only: arguments.only.clone(), ..set };
    let plan = |name: &OsString| {
        let source = Source::find(name)?;
        let plan = source.resolve(&set)?;
        Ok((source, plan))
    };
    let plans = arguments.recipes.iter().map(plan).collect::<anyhow::Result<Vec<(Source, Plan)>>>()?;
    let stems: Vec<String> = plans.iter().map(|(source, _)| source.stem()).collect();
    let folders = folders(arguments.out.as_deref(), &stems);
    folders.iter().flatten().try_for_each(|folder| spare_a_run(folder))?;
    let profiles = match arguments.profile.load()? {
        Some(profiles) => profiles,
        None => theirs(engine)?,
    };
    let nowhere = Environment::default();
    if !output.is_asked_for() {
        doubts(&profiles).iter().for_each(|line| out::line(line));
    }
    for ((_, plan), folder) in plans.into_iter().zip(folders) {
        let ledger = predicted(plan, &profiles, arguments)?;
        if output.is_asked_for() {
            let origin = origin(&ledger, &nowhere);
            output.table(csv::table(&origin, ledger.records(), ledger.references()))?;
        } else {
            print(&ledger);
        }
        if let Some(folder) = folder {
            let written = write(&folder, &origin(&ledger, &nowhere), ledger.records())?;
            written.iter().for_each(|path| out::line(&format!("written: {}", path.display())));
        }
    }
    output.end()?;
    Ok(ExitCode::SUCCESS)
}

/// The profiles that an engine has for its devices.
fn theirs(engine: &EngineCommand) -> anyhow::Result<Profiles> {
    let (_, hello) = spawn(engine).context("asking the engine for its profiles")?;
    let mut profiles = Profiles::default();
    profiles.add(&hello.profiles);
    Ok(profiles)
}

/// Refuses a run's folder, whose tables are about measurements.
fn spare_a_run(folder: &Path) -> anyhow::Result<()> {
    if folder.join(MANIFEST).exists() {
        bail!("--out {}: that is a run's folder; give another one", folder.display());
    }
    Ok(())
}

/// The plan with its forecasts, and with the charts' models set: the requested ones, otherwise the recipe's,
/// otherwise all that predict anything.
fn predicted(plan: Plan, profiles: &Profiles, arguments: &PredictArguments) -> anyhow::Result<Ledger> {
    let names = arguments.model.names()?;
    let mut ledger = Ledger::new(plan);
    ledger.predict_from(profiles.clone());
    let says = |name: &&&str| ledger.records().iter().any(|record| record.prediction(name).is_some());
    let some: Vec<String> = names.iter().filter(says).map(|name| (*name).to_owned()).collect();
    let asked = !arguments.model.model.is_empty();
    let mut plan = ledger.plan().clone();
    for experiment in &mut plan.experiments {
        if asked {
            experiment.chart.models = Some(names.iter().map(|name| (*name).to_owned()).collect());
        } else if experiment.chart.models.is_none() {
            experiment.chart.models = Some(some.clone());
        }
    }
    let mut ledger = Ledger::new(plan);
    ledger.predict_from(profiles.clone());
    Ok(ledger)
}

fn origin<'a>(ledger: &'a Ledger, environment: &'a Environment) -> Origin<'a> {
    Origin { plan: ledger.plan(), version: crate::VERSION, date: "", environment, devices: &[] }
}

fn print(ledger: &Ledger) {
    let plan = ledger.plan();
    for (number, experiment) in plan.experiments.iter().enumerate() {
        let Foretold { rows, silent } = foretold(plan, number, ledger.records());
        out::line("");
        out::line(&experiment.title);
        if !rows.is_empty() {
            lines(&rows).iter().for_each(|line| out::line(line));
        }
        silences(&silent).iter().for_each(|line| out::line(line));
        if rows.is_empty() && silent.is_empty() {
            out::line("no model predicts any of these cases; choose a profile with --profile NAME or FILE");
        }
    }
}
