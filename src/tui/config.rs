//! The configuration of the user interface: keys, theme, symbols, mouse.
//!
//! It is a YAML file that nobody needs: what it does not say stays as it is.

mod print;
mod read;

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::keymap::Keymap;
use super::theme::{Symbols, Theme, Wanted};

pub use print::print;
pub use read::parse;

/// What the configuration says, with the defaults for what it does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    pub(super) keymap: Keymap,
    pub(super) theme: Wanted,
    pub(super) symbols: Symbols,
    /// Whether clicks and the wheel come here. Selecting text then needs Shift.
    pub(super) mouse: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config { keymap: Keymap::default(), theme: Wanted::Auto, symbols: Symbols::Auto, mouse: true }
    }
}

impl Config {
    /// Colours and symbols, as far as the environment's terminal has them.
    pub(super) fn theme(&self, read: impl Fn(&str) -> Option<String>) -> Theme {
        Theme::new(self.theme, self.symbols, read)
    }
}

/// Where the configuration is looked for: `$XDG_CONFIG_HOME/scatterlab/config.yaml`,
/// below `~/.config` where that is not set or not absolute. `None` without a home.
pub fn default_path(read: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let absolute = |key: &str| read(key).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")))?;
    Some(base.join("scatterlab").join("config.yaml"))
}

/// Reads the file that was asked for, which must be there, or the one at its default
/// place, which need not be. Returns its path where there is a file.
///
/// # Errors
/// When the file cannot be read, or the first mistake in it: one line with its place.
pub fn load(asked: Option<&Path>) -> anyhow::Result<(Config, Option<PathBuf>)> {
    let path = asked.map(Path::to_owned).or_else(|| default_path(|key| std::env::var(key).ok()));
    let Some(path) = path else { return Ok((Config::default(), None)) };
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound && asked.is_none() => {
            return Ok((Config::default(), None));
        }
        Err(error) => {
            return Err(error).with_context(|| format!("cannot read the configuration {}", path.display()));
        }
    };
    Ok((parse(&path.to_string_lossy(), &text)?, Some(path)))
}

#[cfg(test)]
mod tests;
