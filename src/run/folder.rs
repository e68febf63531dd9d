//! A run's folder: the recipe, the manifest, the events as they arrive, and the files
//! derived from them.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};

use crate::backend::Device;
use crate::engine::protocol::{Environment, Event};
use crate::plan::Plan;

/// Version of the folder's layout, of its events and of the manifest. [`super::stored`]
/// reads those before it as well.
pub const SCHEMA: u32 = 2;

pub(super) const EVENTS: &str = "events.ndjson";
pub(super) const MANIFEST: &str = "manifest.json";
pub(super) const RECIPE: &str = "recipe.yaml";

/// What the folder's `manifest.json` holds: enough to know where every number came from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    pub schema: u32,
    pub version: String,
    pub revision: String,
    /// `YYYY-MM-DD HH:MM:SS` UTC.
    pub started: String,
    pub command_line: Vec<String>,
    pub environment: Environment,
    pub devices: Vec<Device>,
    pub plan: Plan,
}

/// Held back at most, bytes.
const MOST_HELD: usize = 1 << 20;

/// How soon an event must be in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// With the next event that is not held back: nothing is written while a sample is
    /// timed.
    Held,
    /// When the call returns, it is with the operating system.
    Written,
    /// When the call returns, it has reached the disk.
    Durable,
}

/// An open run folder. Events are appended as they arrive and survive whatever happens
/// to the processes after.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    events: File,
    held: Vec<u8>,
}

impl Folder {
    /// Makes the folder. One that already holds a run is refused: nothing measured is
    /// ever overwritten.
    pub fn create(path: &Path) -> anyhow::Result<Folder> {
        let log = path.join(EVENTS);
        if log.exists() {
            bail!("{} already holds a run; give --out another folder", path.display());
        }
        fs::create_dir_all(path).with_context(|| format!("cannot make the folder {}", path.display()))?;
        let events = File::create_new(&log).with_context(|| format!("cannot create {}", log.display()))?;
        Ok(Folder { path: path.to_owned(), events, held: Vec::new() })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the recipe as the user wrote it.
    pub fn write_recipe(&self, text: &str) -> anyhow::Result<()> {
        self.write(RECIPE, text.as_bytes())
    }

    pub fn write_manifest(&self, manifest: &Manifest) -> anyhow::Result<()> {
        let mut text = serde_json::to_vec_pretty(manifest)?;
        text.push(b'\n');
        self.write(MANIFEST, &text)
    }

    /// Appends an event, after those that are held back.
    pub fn append(&mut self, event: &Event, urgency: Urgency) -> anyhow::Result<()> {
        serde_json::to_writer(&mut self.held, event)?;
        self.held.push(b'\n');
        if urgency == Urgency::Held && self.held.len() < MOST_HELD {
            return Ok(());
        }
        self.flush()?;
        if urgency == Urgency::Durable {
            self.events.sync_data().with_context(|| self.cannot_write())?;
        }
        Ok(())
    }

    /// Writes what is held back.
    pub fn flush(&mut self) -> anyhow::Result<()> {
        let held = std::mem::take(&mut self.held);
        self.events.write_all(&held).with_context(|| self.cannot_write())
    }

    fn cannot_write(&self) -> String {
        format!("cannot write {}", self.path.join(EVENTS).display())
    }

    /// Takes away a folder in which no engine ever said anything, as far as it is ours.
    pub fn remove_unused(&self) {
        let log = self.path.join(EVENTS);
        if fs::metadata(&log).is_ok_and(|m| m.len() == 0) {
            // Whatever cannot be removed stays and does no harm.
            let _ = fs::remove_file(&log);
            let _ = fs::remove_file(self.path.join(RECIPE));
            let _ = fs::remove_dir(&self.path);
        }
    }

    /// Writes beside the file and renames, so that nobody ever reads half of it.
    fn write(&self, name: &str, content: &[u8]) -> anyhow::Result<()> {
        let (path, draft) = (self.path.join(name), self.path.join(format!(".{name}.part")));
        fs::write(&draft, content)
            .and_then(|()| fs::rename(&draft, &path))
            .with_context(|| format!("cannot write {}", path.display()))
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

    fn log(text: &str) -> Event {
        Event::Log { level: crate::engine::protocol::Level::Info, text: text.to_owned() }
    }

    #[test]
    fn what_is_held_back_comes_before_what_is_not() {
        let root = tempfile::tempdir().expect("temporary folder");
        let mut folder = Folder::create(root.path()).expect("fresh folder");
        let written = || fs::read_to_string(root.path().join(EVENTS)).expect("events");
        folder.append(&log("first"), Urgency::Held).expect("held");
        assert_eq!(written(), "");
        folder.append(&log("second"), Urgency::Durable).expect("written");
        let texts = written();
        assert_eq!(texts.lines().count(), 2);
        assert!(texts.find("first") < texts.find("second"), "{texts}");
        folder.append(&log("third"), Urgency::Held).expect("held");
        folder.flush().expect("written");
        assert_eq!(written().lines().count(), 3);
    }

    #[test]
    fn a_folder_without_events_can_be_used_again() {
        let root = tempfile::tempdir().expect("temporary folder");
        let path = root.path().join("a");
        let unused = Folder::create(&path).expect("fresh folder");
        unused.write_recipe("title: x").expect("written");
        unused.remove_unused();
        assert!(!path.exists());
        let mut used = Folder::create(&path).expect("the same folder");
        used.append(&log("something"), Urgency::Written).expect("written");
        used.remove_unused();
        assert!(path.join(EVENTS).exists());
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
