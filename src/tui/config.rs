//! The configuration of the user interface: keys, theme, symbols, mouse.
//!
//! The configuration is an optional YAML file; settings that it omits keep their defaults.

mod print;
mod read;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::key::Keymap;
use super::theme::{Symbols, Theme, ThemeChoice};
use crate::files;

pub use print::print;
pub use read::parse;

/// The settings of the configuration file, with defaults for those it omits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    pub(super) keymap: Keymap,
    pub(super) theme: ThemeChoice,
    pub(super) symbols: Symbols,
    /// Whether the program receives clicks and the wheel. Selecting text then needs Shift.
    pub(super) mouse: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config { keymap: Keymap::default(), theme: ThemeChoice::Auto, symbols: Symbols::Auto, mouse: true }
    }
}

impl Config {
    /// Colours and symbols, as far as the terminal described by the environment supports them.
    pub(super) fn theme(&self, read: impl Fn(&str) -> Option<String>) -> Theme {
        Theme::new(self.theme, self.symbols, read)
    }
}

/// Default path of the configuration: `$XDG_CONFIG_HOME/scatterlab/config.yaml`, or below `~/.config` if the
/// variable is unset or not absolute. `None` without a home directory.
pub fn default_path(read: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let absolute = |key: &str| read(key).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")))?;
    Some(base.join("scatterlab").join("config.yaml"))
}

/// Reads the requested file, which must exist, or the file at the default path, which is optional. Returns the
/// path if a file was read.
///
/// # Errors
/// If the file cannot be read, or the first mistake in it: one line with its place.
pub fn load(asked: Option<&Path>) -> anyhow::Result<(Config, Option<PathBuf>)> {
    let path = asked.map(Path::to_owned).or_else(|| default_path(|key| std::env::var_os(key)));
    let Some(path) = path else { return Ok((Config::default(), None)) };
    let text = match files::text(&path, &files::CONFIGURATION) {
        Err(problem) if problem.is_missing() && asked.is_none() => return Ok((Config::default(), None)),
        read => read.context("the configuration of the user interface")?,
    };
    Ok((parse(&path.to_string_lossy(), &text)?, Some(path)))
}

#[cfg(test)]
mod tests;
