//! Prints the configuration of the user interface.

use std::path::Path;
use std::process::ExitCode;

use super::out;
use crate::tui::config::{self, Config};

/// The configuration to use: from `file`, or from the default path.
pub fn load(file: Option<&Path>) -> anyhow::Result<Config> {
    Ok(config::load(file)?.0)
}

/// Prints the path of the configuration and the settings in force.
pub fn run(file: Option<&Path>) -> anyhow::Result<ExitCode> {
    let (config, found) = config::load(file)?;
    let place = found.clone().or_else(|| config::default_path(|key| std::env::var(key).ok()));
    out::text(&format!("{}\n", config::print(&config, place.as_deref(), found.is_some()).trim_end()));
    Ok(ExitCode::SUCCESS)
}
