//! A run's folder: the recipe, the manifest, the events as they arrive, and the files
//! derived from them.

mod files;

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};

pub(crate) use self::files::{draft, write_durably};
use self::files::{keep_names, remove_drafts};
use super::events;
use super::stored::Line;
use crate::case::Device;
use crate::engine::clock;
use crate::engine::protocol::{Environment, Event};
use crate::inputs::indices;
use crate::recipe::plan::Plan;

/// Version of the folder's layout, of its events and of the manifest. [`super::stored`]
/// reads those before it as well.
pub const SCHEMA: u32 = 4;

pub(crate) const EVENTS: &str = "events.ndjson";
pub const MANIFEST: &str = "manifest.json";
pub(super) const RECIPE: &str = "recipe.yaml";

/// How the error of a case that an engine took with it begins.
pub(super) const ENGINE_DIED: &str = "the engine died: ";

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

/// An open run folder, locked against other programs that would write it. Events are
/// appended as they arrive and survive whatever happens to the processes after.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    events: File,
    /// Bytes of the events' whole lines.
    whole: u64,
    held: Vec<u8>,
    /// Copies of index arrays that were not here before.
    copies: Vec<PathBuf>,
}

impl Folder {
    /// Makes the folder. One that already holds a run is refused: nothing measured is
    /// ever overwritten.
    ///
    /// # Errors
    /// When the folder holds a run or somebody's own recipe, when another program is
    /// writing it, and when it cannot be made or written.
    pub fn create(path: &Path) -> anyhow::Result<Folder> {
        let log = path.join(EVENTS);
        let taken = || format!("{} already holds a run; give --out another folder", path.display());
        // Looked for before anything is made: a refusal leaves nothing behind.
        if path.join(MANIFEST).exists() || path.join(events::PACKED).exists() {
            bail!(taken());
        }
        if path.join(RECIPE).exists() && !log.exists() {
            // Somebody's own: it must be neither overwritten nor removed.
            bail!("{} holds a {RECIPE} but no run; give --out another folder", path.display());
        }
        fs::create_dir_all(path).with_context(|| format!("cannot make the folder {}", path.display()))?;
        let events = File::options().append(true).create(true).open(&log);
        let events = events.with_context(|| format!("cannot create {}", log.display()))?;
        lock(&events, &log)?;
        let whole = events.metadata().with_context(|| format!("cannot read {}", log.display()))?.len();
        if whole > 0 {
            bail!(taken());
        }
        keep_names(path);
        Ok(Folder::of(path, events, whole))
    }

    fn of(path: &Path, events: File, whole: u64) -> Folder {
        Folder { path: path.to_owned(), events, whole, held: Vec::new(), copies: Vec::new() }
    }

    /// Opens the folder of a run to go on with it; packed events are plain from then on. Nobody
    /// else may be writing it.
    ///
    /// # Errors
    /// When its events cannot be unpacked or written, and when another program is writing them.
    pub fn reopen(path: &Path) -> anyhow::Result<Folder> {
        events::unpack(path)?;
        let log = path.join(EVENTS);
        let events = File::options().append(true).open(&log);
        let events = events.with_context(|| format!("cannot write {}", log.display()))?;
        lock(&events, &log)?;
        let whole = events.metadata().with_context(|| format!("cannot read {}", log.display()))?.len();
        remove_drafts(path);
        remove_drafts(&path.join(indices::FOLDER));
        let folder = Folder::of(path, events, whole);
        // Somebody may have packed and removed the file between its opening and its lock.
        folder.still_there()?;
        Ok(folder)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the recipe as the user wrote it.
    ///
    /// # Errors
    /// When the file cannot be written; the error names it.
    pub fn write_recipe(&self, text: &str) -> anyhow::Result<()> {
        self.write(RECIPE, text.as_bytes())
    }

    /// Copies the plan's index arrays here and notes in the plan where the copies are.
    ///
    /// # Errors
    /// When a copy cannot be written; the error names it.
    pub fn keep_indices(&mut self, plan: &mut Plan) -> anyhow::Result<()> {
        let (path, copies) = (&self.path, &mut self.copies);
        indices::keep(&mut plan.indices, path, &mut |copy, content| {
            let fresh = !copy.exists();
            copy.parent().map_or(Ok(()), fs::create_dir_all)?;
            write_durably(copy, content)?;
            copies.extend(fresh.then(|| copy.to_owned()));
            Ok(())
        })
    }

    /// Writes what there is to know of where the numbers came from.
    ///
    /// # Errors
    /// When the file cannot be written, and for a path in the plan that is not UTF-8.
    pub fn write_manifest(&self, manifest: &Manifest) -> anyhow::Result<()> {
        let text = serde_json::to_vec_pretty(manifest);
        let mut text =
            text.with_context(|| format!("cannot write {}", self.path.join(MANIFEST).display()))?;
        text.push(b'\n');
        self.write(MANIFEST, &text)
    }

    /// Appends an event with the time of day, after those that are held back.
    ///
    /// # Errors
    /// When the file cannot be written or, for a durable one, is no longer where the
    /// folder was. The file ends with a whole line all the same, as far as the system
    /// still allows that.
    pub fn append(&mut self, event: &Event, urgency: Urgency) -> anyhow::Result<()> {
        let line = Line { event: event.clone(), at: clock::epoch() };
        serde_json::to_writer(&mut self.held, &line)?;
        self.held.push(b'\n');
        if urgency == Urgency::Held && self.held.len() < MOST_HELD {
            return Ok(());
        }
        self.flush()?;
        if urgency == Urgency::Durable {
            self.events.sync_data().with_context(|| self.cannot_write())?;
            self.still_there()?;
        }
        Ok(())
    }

    /// Writes what is held back.
    ///
    /// # Errors
    /// As for an [`append`](Self::append) that is not durable.
    pub fn flush(&mut self) -> anyhow::Result<()> {
        let held = std::mem::take(&mut self.held);
        if let Err(error) = self.events.write_all(&held) {
            // A torn line in the middle would be read by nobody; one at the end that
            // cannot be cut off is left out when the run is opened again.
            let _ = self.events.set_len(self.whole);
            return Err(error).with_context(|| self.cannot_write());
        }
        self.whole += held.len() as u64;
        Ok(())
    }

    /// Cuts off what follows so many bytes: a torn last line.
    ///
    /// # Errors
    /// When the file cannot be cut; the error names it.
    pub fn cut(&mut self, whole: u64) -> anyhow::Result<()> {
        if whole < self.whole {
            self.events.set_len(whole).with_context(|| self.cannot_write())?;
            self.whole = whole;
        }
        Ok(())
    }

    /// Writing to a file that somebody has removed succeeds, and is lost.
    fn still_there(&self) -> anyhow::Result<()> {
        let log = self.path.join(EVENTS);
        let ours = self.events.metadata().with_context(|| self.cannot_write())?;
        match fs::metadata(&log) {
            Ok(there) if (there.dev(), there.ino()) == (ours.dev(), ours.ino()) => Ok(()),
            Ok(_) => bail!("{}: somebody put another file in its place", self.cannot_write()),
            Err(_) => bail!("{}: the folder was moved or removed", self.cannot_write()),
        }
    }

    fn cannot_write(&self) -> String {
        format!("cannot write {}", self.path.join(EVENTS).display())
    }

    /// Takes away a folder in which no engine ever said anything, as far as it is ours.
    pub fn remove_unused(&self) {
        let log = self.path.join(EVENTS);
        if fs::metadata(&log).is_ok_and(|m| m.len() == 0) {
            // Whatever cannot be removed stays and does no harm.
            remove_drafts(&self.path);
            let _ = fs::remove_file(&log);
            let _ = fs::remove_file(self.path.join(MANIFEST));
            let _ = fs::remove_file(self.path.join(RECIPE));
            self.remove_copies();
            let _ = fs::remove_dir(&self.path);
        }
    }

    /// The folder of the copies may have been there before us, with somebody's own files.
    fn remove_copies(&self) {
        for copy in &self.copies {
            let _ = fs::remove_file(copy);
        }
        if !self.copies.is_empty() {
            let _ = fs::remove_dir(self.path.join(indices::FOLDER));
        }
    }

    fn write(&self, name: &str, content: &[u8]) -> anyhow::Result<()> {
        let path = self.path.join(name);
        write_durably(&path, content).with_context(|| format!("cannot write {}", path.display()))
    }
}

/// One program at a time writes a run. The lock goes with the process, however it ends.
pub(super) fn lock(events: &File, path: &Path) -> anyhow::Result<()> {
    match taken(events) {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => {
            bail!("{}: another scatterlab is writing this run; wait for it or stop it", path.display())
        }
        // Better an unguarded run than none.
        Err(TryLockError::Error(error)) if is_without_locks(&error) => Ok(()),
        Err(TryLockError::Error(error)) => {
            Err(error).with_context(|| format!("cannot lock {}", path.display()))
        }
    }
}

/// Takes the lock. A child that is being started shares its parent's open files until its own
/// program begins, and with them a lock that the parent has let go of: hence the patience.
fn taken(events: &File) -> Result<(), TryLockError> {
    const TRIES: u32 = 20;
    for _ in 1..TRIES {
        match events.try_lock() {
            Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(10)),
            taken => return taken,
        }
    }
    events.try_lock()
}

/// Whether it says that the file system has no locks, or (NFS without a lock service) none
/// to give.
fn is_without_locks(error: &io::Error) -> bool {
    error.kind() == ErrorKind::Unsupported || error.raw_os_error() == Some(libc::ENOLCK)
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
mod tests;
