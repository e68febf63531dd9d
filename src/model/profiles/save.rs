//! Writing a profile's file.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::{load, write};
use crate::model::Profile;

/// Writes a profile to a file through `durably`, which leaves the old or the new file whole.
///
/// # Errors
/// If the folder cannot be created or the file cannot be written; the error names it.
pub fn save(
    profile: &Profile,
    path: &Path,
    durably: impl FnOnce(&Path, &[u8]) -> io::Result<()>,
) -> anyhow::Result<()> {
    let cannot = || format!("cannot write {}", path.display());
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(cannot)?;
    }
    durably(path, write(profile)?.as_bytes()).with_context(cannot)
}

/// A file for a profile in a folder: `NAME.yaml`, or with a number after the name if that file belongs to
/// another machine, or holds a profile of this one that is worth more.
pub fn free_name(folder: &Path, profile: &Profile) -> PathBuf {
    let numbered = (2..1000).map(|n| format!("{}-{n}", profile.name));
    let names = std::iter::once(profile.name.clone()).chain(numbered);
    let paths = names.map(|name| folder.join(format!("{name}.yaml")));
    let mut ours =
        paths.filter(|path| !path.exists() || load(path).is_ok_and(|there| replaces(profile, &there)));
    ours.next().unwrap_or_else(|| folder.join(format!("{}.yaml", profile.name)))
}

/// Whether a profile may take the place of one on file: it is of the same device of the same machine, and a quick or
/// noisy calibration does not replace a better one.
fn replaces(new: &Profile, there: &Profile) -> bool {
    same(there, new) && new.worth() <= there.worth()
}

/// Whether both are of the same device of the same machine.
fn same(a: &Profile, b: &Profile) -> bool {
    let machine =
        |profile: &Profile| profile.made.as_ref().map(|made| (made.host.clone(), made.uuid.clone()));
    a.device.name == b.device.name && a.device.processors == b.device.processors && machine(a) == machine(b)
}
