//! `scatterlab doctor`.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;

use super::format::{Format, Formats, one_of};
use super::out;
use super::waiting::spawn;
use crate::case::units;
use crate::doctor::{self, Level, Scene};
use crate::run::client::EngineCommand;

/// How long the machine is observed.
const LOOK: Duration = Duration::from_secs(1);

#[derive(Debug, Args)]
pub struct DoctorArguments {
    /// How to print what was found
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = one_of(FORMATS))]
    format: Format,
}

const FORMATS: Formats = &[(Format::Text, "Lines for people"), (Format::Json, "One JSON object")];

/// Prints the checks; then an error if no engine starts.
pub fn run(arguments: &DoctorArguments, engine: &EngineCommand) -> anyhow::Result<ExitCode> {
    let started = spawn(engine);
    let hello = started.as_ref().map(|(_, hello)| hello.clone()).map_err(|error| format!("{error:#}"));
    let checks = doctor::examine(&Scene::observe(LOOK, hello, *engine != EngineCommand::Own));
    match arguments.format {
        Format::Json => {
            out::json(&(serde_json::to_string_pretty(&BTreeMap::from([("checks", &checks)]))? + "\n"));
        }
        _ => print_checks(&checks),
    }
    started.map(|_| ExitCode::SUCCESS)
}

fn print_checks(checks: &[doctor::Result]) {
    for check in checks {
        let finding = &check.finding;
        out::line(&format!("{:<8} {:<11} {}", finding.level.word(), check.name, finding.text));
        if let Some(advice) = finding.advice.as_ref().filter(|_| finding.level != Level::Ok) {
            out::line(&format!("{:<20} → {advice}", ""));
        }
    }
    let count = |level| checks.iter().filter(|check| check.finding.level == level).count();
    out::line(&counted([Level::Ok, Level::Note, Level::Warning].map(count)));
}

/// A text such as `13 ok, 2 notes, 1 warning`.
fn counted([ok, notes, warnings]: [usize; 3]) -> String {
    format!("{ok} ok, {}, {}", units::number_of(notes, "note"), units::number_of(warnings, "warning"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_are_counted_in_words() {
        assert_eq!(counted([13, 0, 1]), "13 ok, 0 notes, 1 warning");
        assert_eq!(counted([13, 1, 2]), "13 ok, 1 note, 2 warnings");
    }
}
