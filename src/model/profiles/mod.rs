//! Device profiles: those embedded in the binary and the user's own, and the choice of one for a device.
//!
//! The user's profiles are in `$XDG_DATA_HOME/scatterlab/profiles` (by default
//! `~/.local/share/scatterlab/profiles`), one file each; `docs/calibrate.md` describes them.

mod file;
mod located_serde;
mod match_device;

use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::bail;

use crate::files;
use crate::model::{Profile, shipped, shipped_text};

pub use file::{free_name, in_folder, read, save, write};
pub use match_device::{Found, Machine, Notice, RULE, identity};
pub(crate) use match_device::{size, uuid};

/// Source of a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// `experiments/profiles/`, embedded in the binary.
    Shipped,
    /// This file.
    File(PathBuf),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Shipped => f.write_str("shipped"),
            Origin::File(path) => write!(f, "{}", path.display()),
        }
    }
}

/// A profile and its source.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    pub profile: Profile,
    pub origin: Origin,
}

/// All profiles that can be found.
#[derive(Clone, Debug, Default)]
pub struct ProfileStore {
    /// The user's profiles by file name, then the shipped ones.
    pub kept: Vec<Kept>,
    /// Error messages of files in the user's folder that are not profiles.
    pub broken: Vec<String>,
}

impl ProfileStore {
    /// The user's and the shipped profiles. Files that cannot be read are reported and left out.
    pub fn open() -> ProfileStore {
        ProfileStore::of(folder(|key| std::env::var_os(key)).as_deref())
    }

    /// [`open`](Self::open) with the user's profiles from this folder, which may be missing.
    pub fn of(folder: Option<&Path>) -> ProfileStore {
        let mut profiles = ProfileStore::default();
        for path in folder.map(files_in).unwrap_or_default() {
            match load(&path) {
                Ok(profile) => profiles.kept.push(Kept { profile, origin: Origin::File(path) }),
                Err(error) => profiles.broken.push(format!("{error:#}")),
            }
        }
        for name in shipped() {
            match read(&format!("experiments/profiles/{name}.yaml"), shipped_text(name).unwrap_or_default()) {
                Ok(profile) => profiles.kept.push(Kept { profile, origin: Origin::Shipped }),
                Err(error) => profiles.broken.push(error.to_string()),
            }
        }
        profiles
    }

    /// The profile of this name; the user's take precedence over shipped ones.
    pub fn named(&self, name: &str) -> Option<&Kept> {
        self.kept.iter().find(|kept| kept.profile.name == name)
    }

    /// The names of all profiles, without repeats.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.kept.iter().map(|kept| kept.profile.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The profile that `--profile` names, by its name or its file.
    ///
    /// # Errors
    /// A file that cannot be read or holds no profile, and an unknown name.
    pub fn wanted(&self, name: &str) -> anyhow::Result<Kept> {
        if let Some(kept) = self.named(name) {
            return Ok(kept.clone());
        }
        let path = Path::new(name);
        if files::is_there(path) && !path.is_dir() {
            return Ok(Kept { profile: load(path)?, origin: Origin::File(path.to_owned()) });
        }
        let broken: String = self.broken.iter().map(|text| format!("; {text}")).collect();
        bail!("no such file, and no profile of this name: {name}; known: {}{broken}", self.names().join(", "))
    }
}

/// Reads a profile from a file.
///
/// # Errors
/// A file that cannot be read; the first mistake in it, with its place.
pub fn load(path: &Path) -> anyhow::Result<Profile> {
    let name = path.display().to_string();
    Ok(read(&name, &files::text(path, &files::PROFILE)?)?)
}

/// The folder of the user's profiles: below `$XDG_DATA_HOME`, or below `~/.local/share` if that is not set or
/// not absolute. `None` without a home directory.
pub fn folder(read: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let absolute = |key: &str| read(key).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = absolute("XDG_DATA_HOME").or_else(|| Some(absolute("HOME")?.join(".local/share")))?;
    Some(base.join("scatterlab").join("profiles"))
}

/// Checks a profile name: it becomes a file name and a word on command lines.
///
/// # Errors
/// Describes the accepted names.
pub fn is_name(name: &str) -> Result<(), String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    match name.chars().all(plain) && name.chars().next().is_some_and(|c| c.is_ascii_alphanumeric()) {
        true => Ok(()),
        false => Err("a name has letters, digits, dashes, underscores and full stops, and begins with a letter or digit"
            .to_owned()),
    }
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "yaml")).collect();
    files.sort();
    files
}

#[cfg(test)]
mod tests;
