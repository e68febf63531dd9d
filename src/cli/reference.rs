//! Reference texts for users and their tools: the configuration, the recipe language, completions and man pages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, ValueEnum, ValueHint};
use clap_complete::Shell;
use clap_mangen::Man;

use super::command_line::program;
use super::out;
use crate::recipe::json_schema::json_schema;
use crate::report::csv::json_schema::results;
use crate::run::json_schema::{events, manifest};
use crate::tui::config;

#[derive(Debug, Args)]
pub struct SchemaArguments {
    /// What the schema is of
    #[arg(value_enum, default_value_t = Described::Recipe)]
    of: Described,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Described {
    /// Recipes, for editors
    Recipe,
    /// A line of events.ndjson
    Events,
    /// manifest.json
    Manifest,
    /// What `report FOLDER --format json` prints
    Results,
}

#[derive(Debug, Args)]
pub struct CompletionsArguments {
    /// The shell
    shell: Shell,
}

#[derive(Debug, Args)]
pub struct ManArguments {
    /// Folder for scatterlab.1, scatterlab-run.1 …
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    out: Option<PathBuf>,
}

/// Prints the path of the user interface's configuration and the settings in force.
pub fn config(file: Option<&Path>) -> anyhow::Result<ExitCode> {
    let (config, found) = config::load(file)?;
    let place = found.clone().or_else(|| config::default_path(|key| std::env::var_os(key)));
    out::text(&format!("{}\n", config::print(&config, place.as_deref(), found.is_some()).trim_end()));
    Ok(ExitCode::SUCCESS)
}

/// Prints a JSON Schema.
pub fn schema(arguments: &SchemaArguments) -> anyhow::Result<ExitCode> {
    let schema = match arguments.of {
        Described::Recipe => json_schema(),
        Described::Events => events(),
        Described::Manifest => manifest(),
        Described::Results => results(),
    };
    out::json(&(serde_json::to_string_pretty(&schema)? + "\n"));
    Ok(ExitCode::SUCCESS)
}

/// Prints the completions for a shell.
pub fn completions(arguments: &CompletionsArguments) -> anyhow::Result<ExitCode> {
    // Generate into memory first: `generate` panics when a pipe closes early.
    let mut text = Vec::new();
    let mut program = program();
    let name = program.get_name().to_owned();
    clap_complete::generate(arguments.shell, &mut program, name, &mut text);
    out::text(&String::from_utf8_lossy(&text));
    Ok(ExitCode::SUCCESS)
}

/// Prints the main page, or writes one page for each command.
pub fn man(arguments: &ManArguments) -> anyhow::Result<ExitCode> {
    let command = program();
    let Some(folder) = &arguments.out else {
        let mut page = Vec::new();
        Man::new(command).render(&mut page)?;
        out::text(&String::from_utf8_lossy(&page));
        return Ok(ExitCode::SUCCESS);
    };
    let cannot = || format!("cannot write man pages to {}", folder.display());
    fs::create_dir_all(folder).with_context(cannot)?;
    clap_mangen::generate_to(command, folder).with_context(cannot)?;
    Ok(ExitCode::SUCCESS)
}
