//! `scatterlab accuracy`: compares the models' predictions with stored runs.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use clap::{Args, ValueHint};

use super::format::{Format, OF_TABLES, Output, one_of};
use super::out;
use super::profile::{ModelArguments, ProfileArguments};
use super::recipes::open_run;
use crate::engine::device_profiles::found;
use crate::model::Profiles;
use crate::model::profiles::ProfileStore;
use crate::report::accuracy::{self, BELOW, Ledgers, case_lines, case_table, lines, silences, table};
use crate::run::Record;
use crate::run::stored::Stored;

#[derive(Debug, Args)]
pub struct AccuracyArguments {
    /// Run folders; their cases are pooled
    #[arg(required = true, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    folders: Vec<PathBuf>,
    #[command(flatten)]
    profile: ProfileArguments,
    #[command(flatten)]
    model: ModelArguments,
    /// Only the cases of these backends: scalar, cpu, cuda
    #[arg(long, value_delimiter = ',', value_name = "LIST", value_parser = ["scalar", "cpu", "cuda"])]
    backend: Vec<String>,
    /// List the cases, the least accurate first
    #[arg(long)]
    cases: bool,
    /// Write the rows to standard output
    #[arg(long, value_name = "FORMAT", value_parser = one_of(OF_TABLES))]
    format: Option<Format>,
}

/// Compares predictions with measurements, and measures nothing.
pub fn run(arguments: &AccuracyArguments) -> anyhow::Result<ExitCode> {
    let mut output = Output::open(arguments.format, 1)?;
    let models = arguments.model.names()?;
    let profiles = arguments.profile.load()?;
    let wanted = |record: &Record, model: &str| {
        let backend = record.case.backend();
        let asked = arguments.backend.is_empty() || arguments.backend.iter().any(|b| b == backend);
        asked && models.contains(&model)
    };
    let (mut ledgers, mut doubts) = (Ledgers::default(), BTreeSet::new());
    for path in &arguments.folders {
        let mut stored = open_run(path)?;
        match &profiles {
            Some(profiles) => stored.ledger.predict_from(profiles.clone()),
            None if stored.ledger.profiles().all().next().is_none() => foretell(&mut stored),
            None => {}
        }
        ledgers.add(&stored.ledger, &wanted);
        doubts.extend(accuracy::doubts(stored.ledger.profiles()));
    }
    print(&ledgers, arguments.cases, &mut output)?;
    if !output.is_asked_for() {
        doubts.iter().for_each(|line| out::line(line));
    }
    output.end()?;
    if ledgers.held.is_empty() {
        bail!(
            "no case of these runs is measured, certified and predicted; choose a profile with --profile NAME or FILE"
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// Predicts with the locally stored profiles of the run's devices, because the engine of an older run sent
/// none.
fn foretell(stored: &mut Stored) {
    let mut profiles = Profiles::default();
    profiles.add(&found(&ProfileStore::open(), &stored.manifest.devices, &stored.manifest.environment));
    stored.ledger.predict_from(profiles);
}

fn print(ledgers: &Ledgers, cases: bool, output: &mut Output) -> anyhow::Result<()> {
    let groups = ledgers.groups();
    match (output.is_asked_for(), cases) {
        (true, true) => return output.table(case_table(&ledgers.held)),
        (true, false) => return output.table(table(&groups)),
        (false, true) => case_lines(&ledgers.held).iter().for_each(|line| out::line(line)),
        (false, false) => {}
    }
    if !groups.is_empty() {
        lines(&groups).iter().for_each(|line| out::line(line));
    }
    if ledgers.held.iter().any(|held| held.accuracy < 0.0) {
        out::line(&format!("accuracy {BELOW}"));
    }
    silences(&ledgers.silent).iter().for_each(|line| out::line(line));
    Ok(())
}
