//! `scatterlab watch`.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;

use super::interrupt::Interrupt;
use super::recipes::open_run;
use super::{headless, profile};
use crate::run::playback::{Speed, WatchRunner};
use crate::run::stored::Stored;
use crate::tui::config::{self, Config};
use crate::tui::{self, Mode, Options, RecipeEntry};

#[derive(Debug, Args)]
pub struct WatchArguments {
    /// The run's folder
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// How many times faster than the run itself: a number, or max
    #[arg(long, default_value = "1", value_name = "SPEED")]
    speed: Speed,
    /// Print lines instead of opening the user interface
    #[arg(long)]
    headless: bool,
}

/// Plays a stored run in the user interface, or as lines where there is no terminal.
pub fn run(arguments: &WatchArguments, config: Option<&Path>) -> anyhow::Result<ExitCode> {
    let stored = open_run(&arguments.folder)?;
    let runner = WatchRunner { folder: arguments.folder.clone(), speed: arguments.speed };
    let terminal = io::stdout().is_terminal() && io::stdin().is_terminal();
    if arguments.headless || !terminal {
        headless::run(&runner, stored.manifest.plan, &stored.recipe, &Interrupt::listen()?)?;
    } else {
        tui::run(options(stored, runner, config::load(config)?.0))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Options of the user interface for a single recipe, the run's.
fn options(stored: Stored, runner: WatchRunner, config: Config) -> Options {
    let plan = stored.manifest.plan;
    let entry = RecipeEntry {
        group: String::new(),
        path: stored.path.display().to_string(),
        title: plan.title.clone(),
        text: stored.recipe,
        problem: None,
    };
    Options {
        recipes: vec![entry],
        more_recipes: None,
        resolve: Arc::new(move |_, _, _| Ok(plan.clone())),
        runner: Box::new(runner),
        devices: format!("a run of {}", stored.manifest.started),
        mode: Mode::Watch,
        remote: None,
        config,
        lookups: None,
        root: None,
        profiles: profile::known(),
        save_profile: profile::keep,
        calibrator: None,
    }
}
