//! Reading and writing a profile's YAML, and its file. It is written with maps in blocks and curves in rows.

use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::Deserialize;

use super::load;
use super::located_serde::Located;
use crate::case::units::shown;
use crate::model::{Profile, SCHEMA};
use crate::recipe::{self, Content, ErrorKind, Key, Mistake, Node, RecipeError, word};
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
        Some(Node { content: Content::Int(version), place, .. })
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
    let refuse = || {
        let (value, accepted) = (node.written().unwrap_or_default(), "positive, finite numbers".to_owned());
        let value = shown(&value);
        Err(Mistake::new(node.place, ErrorKind::OutOfRange { at: at.to_owned(), value, accepted }))
    };
    match &node.content {
        Content::Int(number) if *number <= 0 && at != "schema" => refuse(),
        Content::Float(number) if !(number.is_finite() && *number > 0.0) => refuse(),
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

/// A name for a profile in a folder, where its file is `NAME.yaml`: its own, or with a number after it if that file
/// belongs to another machine, or holds a profile of this one that is worth more.
pub fn free_name(folder: &Path, profile: &Profile) -> String {
    let numbered = (2..1000).map(|n| format!("{}-{n}", profile.name));
    let free = |name: &String| {
        let path = in_folder(folder, name);
        !path.exists() || load(&path).is_ok_and(|there| replaces(profile, &there))
    };
    let mut names = std::iter::once(profile.name.clone()).chain(numbered).filter(free);
    names.next().unwrap_or_else(|| profile.name.clone())
}

/// The file of the profile of this name.
pub fn in_folder(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.yaml"))
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

/// Maximal line length of a curve's row, in columns.
const WIDTH: usize = 110;

/// The profile as YAML, which [`read`](super::read) reads back as the same profile.
///
/// # Errors
/// None for a profile of positive, finite numbers.
pub fn write(profile: &Profile) -> anyhow::Result<String> {
    let mut out = String::from(
        "# A device's profile (docs/calibrate.md). Seconds, bytes, bytes a second, accesses a second;\n\
         # curves are lists of [place, value].\n",
    );
    if let Content::Map(entries) = recipe::tree(profile)?.content {
        entries.iter().for_each(|(key, value)| entry(key, value, 0, &mut out));
    }
    Ok(out)
}

fn entry(key: &Key, value: &Node, depth: usize, out: &mut String) {
    let start = format!("{}{}:", "  ".repeat(depth), word(&key.text));
    out.push_str(&start);
    below(value, depth, start.len(), out);
}

/// Writes a value after its key, on a line that already has `columns` columns.
fn below(value: &Node, depth: usize, columns: usize, out: &mut String) {
    match &value.content {
        Content::Map(entries) if !entries.is_empty() => {
            out.push('\n');
            entries.iter().for_each(|(key, value)| entry(key, value, depth + 1, out));
        }
        Content::List(items) if items.first().is_some_and(|item| matches!(item.content, Content::Map(_))) => {
            out.push('\n');
            items.iter().for_each(|item| listed(item, depth + 1, out));
        }
        Content::List(items) if columns + 1 + flow(value).len() > WIDTH => rows(items, depth + 1, out),
        _ => out.push_str(&format!(" {}\n", flow(value))),
    }
}

/// Writes a map as a list item: its first key follows the dash.
fn listed(item: &Node, depth: usize, out: &mut String) {
    let mut text = String::new();
    if let Content::Map(entries) = &item.content {
        entries.iter().for_each(|(key, value)| entry(key, value, depth + 1, &mut text));
    }
    out.push_str(&format!("{}- {}", "  ".repeat(depth), text.trim_start()));
}

/// Writes a long list in rows.
fn rows(items: &[Node], depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    let (mut lines, mut line) = (Vec::new(), String::new());
    for item in items {
        let item = format!("{}, ", flow(item));
        if !line.is_empty() && indent.len() + line.len() + item.len() > WIDTH {
            lines.push(std::mem::take(&mut line));
        }
        line.push_str(&item);
    }
    lines.push(line);
    let text: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
    let text = text.join(&format!("\n{indent}  "));
    out.push_str(&format!("\n{indent}[ {} ]\n", text.trim_end_matches(',')));
}

fn flow(value: &Node) -> String {
    match &value.content {
        Content::List(items) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Content::Map(_) => "{}".to_owned(),
        Content::Text(text) => word(text),
        Content::Int(number) => number.to_string(),
        // A whole number reads back as the same number.
        Content::Float(whole) if whole.fract() == 0.0 && whole.abs() < 1e15 => format!("{whole:.0}"),
        Content::Float(float) => format!("{float:?}"),
        Content::Bool(truth) => truth.to_string(),
        Content::Null => "null".to_owned(),
    }
}
