//! A run's folder: the recipe, the manifest, the events as they arrive, and the files
//! derived from them.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde::Serialize;

use crate::backend::Device;
use crate::engine::protocol::{Environment, Event};
use crate::plan::Plan;

/// Version of the folder's layout and of the manifest.
pub const SCHEMA: u32 = 1;

/// What the folder's `manifest.json` holds: enough to know where every number came from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Manifest<'a> {
    pub schema: u32,
    pub version: &'a str,
    pub revision: &'a str,
    /// `YYYY-MM-DD HH:MM:SS` UTC.
    pub started: &'a str,
    pub command_line: Vec<String>,
    pub environment: &'a Environment,
    pub devices: &'a [Device],
    pub plan: &'a Plan,
}

/// An open run folder. Events are appended as they arrive and survive whatever happens
/// to the processes after.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    events: File,
}

impl Folder {
    /// Makes the folder. One that already holds a run is refused: nothing measured is
    /// ever overwritten.
    pub fn create(path: &Path) -> anyhow::Result<Folder> {
        let log = path.join("events.ndjson");
        if log.exists() {
            bail!("{} already holds a run; give --out another folder", path.display());
        }
        fs::create_dir_all(path).with_context(|| format!("cannot make the folder {}", path.display()))?;
        let events = File::create_new(&log).with_context(|| format!("cannot create {}", log.display()))?;
        Ok(Folder { path: path.to_owned(), events })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the recipe as the user wrote it.
    pub fn write_recipe(&self, text: &str) -> anyhow::Result<()> {
        self.write("recipe.yaml", text.as_bytes())
    }

    pub fn write_manifest(&self, manifest: &Manifest) -> anyhow::Result<()> {
        let mut text = serde_json::to_vec_pretty(manifest)?;
        text.push(b'\n');
        self.write("manifest.json", &text)
    }

    /// Appends an event. With `durable` it has reached the disk when this returns.
    pub fn append(&mut self, event: &Event, durable: bool) -> anyhow::Result<()> {
        let mut line = serde_json::to_vec(event)?;
        line.push(b'\n');
        let written = self
            .events
            .write_all(&line)
            .and_then(|()| if durable { self.events.sync_data() } else { Ok(()) });
        written.with_context(|| format!("cannot write {}", self.path.join("events.ndjson").display()))
    }

    fn write(&self, name: &str, content: &[u8]) -> anyhow::Result<()> {
        let path = self.path.join(name);
        fs::write(&path, content).with_context(|| format!("cannot write {}", path.display()))
    }
}

/// `<root>/<date>-<time>-<stem>`, with a number after it where that is taken.
pub fn fresh_path(root: &Path, stamp: &str, stem: &str) -> PathBuf {
    let digits: String = stamp.chars().filter(char::is_ascii_digit).collect();
    let (date, time) = digits.split_at(digits.len().min(8));
    let base = format!("{date}-{time}-{stem}");
    let names = std::iter::once(base.clone()).chain((2..).map(|n| format!("{base}-{n}")));
    names.map(|name| root.join(name)).find(|path| !path.exists()).unwrap_or_else(|| root.join(base))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_holds_a_run_is_refused() {
        let root = tempfile::tempdir().expect("temporary folder");
        let path = root.path().join("a");
        Folder::create(&path).expect("fresh folder");
        let error = Folder::create(&path).expect_err("second run").to_string();
        assert!(error.contains("already holds a run"), "{error}");
    }

    #[test]
    fn names_never_collide() {
        let root = tempfile::tempdir().expect("temporary folder");
        let first = fresh_path(root.path(), "2026-11-20 22:37:58", "quickstart");
        assert!(first.ends_with("20261120-223758-quickstart"));
        fs::create_dir(&first).expect("folder");
        let second = fresh_path(root.path(), "2026-11-20 22:37:58", "quickstart");
        assert!(second.ends_with("20261120-223758-quickstart-2"));
    }
}
