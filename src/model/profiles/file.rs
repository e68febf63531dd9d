//! Reading a profile's YAML.

use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::Deserialize;

use super::located_serde::Located;
use super::{load, write};
use crate::model::{Profile, SCHEMA};
use crate::recipe::{self, Content, ErrorKind, Mistake, Node, Place, RecipeError};
use anyhow::Context;

/// Reads a profile. `name` is used in messages.
///
/// # Errors
/// The first mistake, with line, column, key and the accepted values: unknown, missing and repeated keys,
/// values of another type, a schema of another version, numbers that are not positive and finite.
pub fn read(name: &str, text: &str) -> Result<Profile, RecipeError> {
    let root = recipe::read(name, text).map_err(of_a_profile)?;
    let read = schema(&root)
        .and_then(|()| Profile::deserialize(Located::whole(&root)).map_err(|wrong| wrong.mistake()))
        .and_then(|profile| positive(&root, "").map(|()| profile));
    read.map_err(|mistake| RecipeError {
        origin: name.to_owned(),
        place: recipe::locate_place(text, mistake.place),
        problem: Box::new(mistake.problem),
    })
}

/// Reports a repeated top-level key as the profile's, not a recipe's.
fn of_a_profile(mut error: RecipeError) -> RecipeError {
    if let ErrorKind::DuplicateKey { at, .. } = error.problem.as_mut()
        && at == "the recipe"
    {
        "the profile".clone_into(at);
    }
    error
}

/// Reports a later schema before the keys that only that version knows. An older one is read like this one, from which
/// only figures may be missing.
fn schema(root: &Node) -> Result<(), Mistake> {
    let Content::Map(entries) = &root.content else { return Ok(()) };
    match entries.iter().find(|(key, _)| key.text == "schema").map(|(_, node)| node) {
        Some(Node { content: Content::Int(version), place })
            if !(0..=i128::from(SCHEMA)).contains(version) =>
        {
            let (at, accepted) = ("schema".to_owned(), format!("at most {SCHEMA}"));
            Err(Mistake::new(*place, ErrorKind::OutOfRange { at, value: version.to_string(), accepted }))
        }
        _ => Ok(()),
    }
}

/// Checks that every number but the schema is positive and finite: all are sizes, times or rates.
fn positive(node: &Node, at: &str) -> Result<(), Mistake> {
    let refuse = |place: Place, value: String| {
        let accepted = "positive, finite numbers".to_owned();
        Err(Mistake::new(place, ErrorKind::OutOfRange { at: at.to_owned(), value, accepted }))
    };
    match &node.content {
        Content::Int(number) if *number <= 0 && at != "schema" => refuse(node.place, number.to_string()),
        Content::Float(number) if !(number.is_finite() && *number > 0.0) => {
            refuse(node.place, number.to_string())
        }
        Content::List(items) => items.iter().try_for_each(|item| positive(item, at)),
        Content::Map(entries) => entries.iter().try_for_each(|(key, value)| {
            let below = if at.is_empty() { key.text.clone() } else { format!("{at}.{}", key.text) };
            positive(value, &below)
        }),
        _ => Ok(()),
    }
}

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
