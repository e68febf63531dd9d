//! A run's folder: the recipe, the manifest, the events as they arrive, and the files
//! derived from them.

use std::fs::{self, File, TryLockError};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};

use super::clock;
use super::stored::Line;
use crate::backend::Device;
use crate::engine::protocol::{Environment, Event};
use crate::indices;
use crate::plan::Plan;

/// Version of the folder's layout, of its events and of the manifest. [`super::stored`]
/// reads those before it as well.
pub const SCHEMA: u32 = 2;

pub(crate) const EVENTS: &str = "events.ndjson";
pub(super) const MANIFEST: &str = "manifest.json";
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
}

impl Folder {
    /// Makes the folder. One that already holds a run is refused: nothing measured is
    /// ever overwritten.
    pub fn create(path: &Path) -> anyhow::Result<Folder> {
        let log = path.join(EVENTS);
        if path.join(RECIPE).exists() && !log.exists() {
            // Somebody's own: it must be neither overwritten nor removed.
            bail!("{} holds a {RECIPE} but no run; give --out another folder", path.display());
        }
        fs::create_dir_all(path).with_context(|| format!("cannot make the folder {}", path.display()))?;
        let events = File::options().append(true).create(true).open(&log);
        let events = events.with_context(|| format!("cannot create {}", log.display()))?;
        lock(&events, &log)?;
        let whole = events.metadata().with_context(|| format!("cannot read {}", log.display()))?.len();
        if whole > 0 || path.join(MANIFEST).exists() {
            bail!("{} already holds a run; give --out another folder", path.display());
        }
        let folder = Folder { path: path.to_owned(), events, whole, held: Vec::new() };
        folder.keep_names();
        Ok(folder)
    }

    /// Opens the folder of a run to go on with it. Nobody else may be writing it.
    pub fn reopen(path: &Path) -> anyhow::Result<Folder> {
        let log = path.join(EVENTS);
        let events = File::options().append(true).open(&log);
        let events = events.with_context(|| format!("cannot write {}", log.display()))?;
        lock(&events, &log)?;
        let whole = events.metadata().with_context(|| format!("cannot read {}", log.display()))?.len();
        remove_drafts(path);
        Ok(Folder { path: path.to_owned(), events, whole, held: Vec::new() })
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
            let _ = fs::remove_dir_all(self.path.join(indices::FOLDER));
            let _ = fs::remove_dir(&self.path);
        }
    }

    /// Writes beside the file and renames, so that nobody ever reads half of it.
    fn write(&self, name: &str, content: &[u8]) -> anyhow::Result<()> {
        let (path, draft) = (self.path.join(name), draft(&self.path, name));
        let written = File::create(&draft)
            .and_then(|mut file| file.write_all(content).and_then(|()| file.sync_all()))
            .and_then(|()| fs::rename(&draft, &path));
        if written.is_err() {
            // The draft may not even exist; the first error is the one to tell.
            let _ = fs::remove_file(&draft);
        }
        written.with_context(|| format!("cannot write {}", path.display()))?;
        self.keep_names();
        Ok(())
    }

    /// Brings the names of the folder's files, and its own, to the disk: a file that was
    /// synced is lost in a crash when its name was not.
    fn keep_names(&self) {
        for folder in [Some(self.path.as_path()), self.path.parent()].into_iter().flatten() {
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            // Some file systems cannot; they have no better way either.
            let _ = File::open(folder).and_then(|folder| folder.sync_all());
        }
    }
}

/// The name under which a file is written until it is complete. Two programs may write
/// the same report.
pub(crate) fn draft(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!(".{name}.{}{DRAFT}", std::process::id()))
}

const DRAFT: &str = ".part";

/// Drafts of programs that were killed.
fn remove_drafts(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
        let name = entry.file_name();
        if name.to_str().is_some_and(|name| name.starts_with('.') && name.ends_with(DRAFT)) {
            // It is hidden and does no harm.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// One program at a time writes a run. The lock goes with the process, however it ends.
fn lock(events: &File, path: &Path) -> anyhow::Result<()> {
    match events.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => {
            bail!("{}: another scatterlab is writing this run; wait for it or stop it", path.display())
        }
        // A file system without locks: better an unguarded run than none.
        Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => Ok(()),
        Err(TryLockError::Error(error)) => {
            Err(error).with_context(|| format!("cannot lock {}", path.display()))
        }
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
        let mut first = Folder::create(&path).expect("fresh folder");
        let busy = Folder::create(&path).expect_err("at the same time").to_string();
        assert!(busy.contains("another scatterlab is writing"), "{busy}");
        first.append(&log("something"), Urgency::Written).expect("written");
        drop(first);
        let error = Folder::create(&path).expect_err("second run").to_string();
        assert!(error.contains("already holds a run"), "{error}");
    }

    #[test]
    fn somebody_s_own_recipe_is_neither_overwritten_nor_removed() {
        let root = tempfile::tempdir().expect("temporary folder");
        let own = root.path().join(RECIPE);
        fs::write(&own, "title: Mine\n").expect("written");
        let error = Folder::create(root.path()).expect_err("not ours").to_string();
        assert!(error.contains("holds a recipe.yaml but no run"), "{error}");
        assert_eq!(fs::read_to_string(&own).expect("it"), "title: Mine\n");
    }

    #[test]
    fn one_program_at_a_time_goes_on_with_a_run() {
        let root = tempfile::tempdir().expect("temporary folder");
        let mut first = Folder::create(root.path()).expect("fresh folder");
        first.append(&log("something"), Urgency::Written).expect("written");
        assert!(Folder::reopen(root.path()).is_err());
        drop(first);
        let second = Folder::reopen(root.path()).expect("nobody writes it");
        assert!(Folder::reopen(root.path()).is_err());
        drop(second);
    }

    #[test]
    fn a_folder_that_is_gone_takes_no_results() {
        let root = tempfile::tempdir().expect("temporary folder");
        let path = root.path().join("a");
        let mut folder = Folder::create(&path).expect("fresh folder");
        folder.append(&log("first"), Urgency::Durable).expect("written");
        fs::rename(&path, root.path().join("b")).expect("moved");
        let error = folder.append(&log("second"), Urgency::Durable).expect_err("nowhere");
        assert!(format!("{error:#}").contains("a/events.ndjson"), "{error:#}");
        fs::create_dir(&path).expect("folder");
        fs::write(path.join(EVENTS), "").expect("file");
        let error = folder.append(&log("third"), Urgency::Durable).expect_err("another file");
        assert!(error.to_string().contains("another file in its place"), "{error}");
    }

    #[test]
    fn drafts_of_killed_programs_are_removed() {
        let root = tempfile::tempdir().expect("temporary folder");
        Folder::create(root.path())
            .expect("fresh folder")
            .append(&log("x"), Urgency::Written)
            .expect("written");
        let left = draft(root.path(), "results.csv");
        fs::write(&left, "half").expect("draft");
        Folder::reopen(root.path()).expect("a run");
        assert!(!left.exists());
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
