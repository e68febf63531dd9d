//! A run's folder: the recipe, the manifest, the event log, and the files derived from it.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::checksum_chain::Chain;
use super::events;
use super::layout::{EVENTS, Line, LogState, MANIFEST, Manifest, RECIPE, lock};
use super::writes::{keep_names, remove_drafts, write_durably};
use crate::case::units::fmt_bytes;
use crate::engine::clock;
use crate::engine::protocol::Event;
use crate::files;
use crate::inputs::indices;
use crate::recipe::paper;
use crate::recipe::plan::Plan;

/// Most bytes of events held back before they are written regardless.
const MOST_HELD: usize = 1 << 20;

/// How soon an event must be in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// Held back until the next event that is not, because nothing may be written while a sample is timed.
    Held,
    /// Passed to the operating system before the call returns.
    Written,
    /// Synced to disk before the call returns.
    Durable,
}

/// An open run folder, locked against other writers. Events are appended as they arrive and survive a crash of
/// any process.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    events: File,
    /// Bytes of complete lines in the event log.
    whole: u64,
    held: Vec<u8>,
    /// The checksum chain up to the last line of `held`, and up to the last line in the file.
    chain: Chain,
    written: Chain,
    /// Copies of index arrays and tables that this program created.
    copies: Vec<PathBuf>,
    /// Whether the folder outlives the program. Nothing of one that does not is synced to disk.
    lasting: bool,
}

impl Folder {
    /// Creates the folder. A folder that already holds a run is refused: measurements are never overwritten.
    ///
    /// # Errors
    /// When the folder holds a run or a recipe of the user, when another program is writing it, or when it
    /// cannot be created or written.
    pub fn create(path: &Path) -> anyhow::Result<Folder> {
        let folder = Folder::begin(path)?;
        keep_names(path);
        Ok(folder)
    }

    /// [`create`](Self::create) for a folder that is deleted with the run.
    ///
    /// # Errors
    /// As for [`create`](Self::create).
    pub fn create_temporary(path: &Path) -> anyhow::Result<Folder> {
        Ok(Folder { lasting: false, ..Folder::begin(path)? })
    }

    fn begin(path: &Path) -> anyhow::Result<Folder> {
        let log = path.join(EVENTS);
        let taken = || format!("{} already holds a run; give --out another folder", path.display());
        // Check before creating anything: a refusal leaves nothing behind.
        if path.join(MANIFEST).exists() || path.join(events::PACKED).exists() {
            bail!(taken());
        }
        if path.join(RECIPE).exists() && !log.exists() {
            // The user's own recipe must be neither overwritten nor removed.
            bail!("{} holds a {RECIPE} but no run; give --out another folder", path.display());
        }
        fs::create_dir_all(path).with_context(|| format!("cannot make the folder {}", path.display()))?;
        let events = files::append(&log, true);
        let events = events.with_context(|| format!("cannot create {}", log.display()))?;
        lock(&events, &log)?;
        let whole = events.metadata().with_context(|| format!("cannot read {}", log.display()))?.len();
        if whole > 0 {
            bail!(taken());
        }
        Ok(Folder::of(path, events, whole))
    }

    fn of(path: &Path, events: File, whole: u64) -> Folder {
        let (path, chain) = (path.to_owned(), Chain::default());
        Folder {
            path,
            events,
            whole,
            held: Vec::new(),
            chain,
            written: chain,
            copies: Vec::new(),
            lasting: true,
        }
    }

    /// Opens the folder of a run to resume it. Compressed events are unpacked.
    ///
    /// # Errors
    /// When its events cannot be unpacked or written, or when another program is writing them.
    pub fn reopen(path: &Path) -> anyhow::Result<Folder> {
        events::unpack(path)?;
        let log = path.join(EVENTS);
        let events = files::append(&log, false);
        let events = events.with_context(|| format!("cannot write {}", log.display()))?;
        lock(&events, &log)?;
        let whole = events.metadata().with_context(|| format!("cannot read {}", log.display()))?.len();
        remove_drafts(path);
        remove_drafts(&path.join(indices::FOLDER));
        let folder = Folder::of(path, events, whole);
        // Another program may have packed and removed the file between our open and our lock.
        folder.still_there()?;
        Ok(folder)
    }

    /// Compresses the events. The plain file is removed only after the compressed one is on disk and decompresses to the
    /// same bytes. The output is deterministic.
    ///
    /// # Errors
    /// When a file cannot be read or written, when the events are too long, or when the folder already holds a
    /// compressed log of different events, which may be the only copy.
    pub fn pack(&self) -> anyhow::Result<()> {
        events::pack(&self.path)
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

    /// Copies the plan's index arrays into the folder and records the paths of the copies in the plan.
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

    /// Copies the file of the paper, and the tables that the plan's charts draw, but for what ships with the program.
    ///
    /// # Errors
    /// When a copy cannot be written; the error names it.
    pub fn keep_paper(&mut self, plan: &Plan) -> anyhow::Result<()> {
        let own = plan.paper.iter().map(|paper| (paper::FILE, paper.text.as_str()));
        let drawn = plan.experiments.iter().filter_map(|one| one.chart.overlay.as_ref()?.table.as_deref());
        let tables = drawn.map(|table| (table.file(), table.text.as_str()));
        for (file, text) in own.chain(tables) {
            let copy = self.path.join(file);
            let cannot = || format!("cannot write {}", copy.display());
            copy.parent().map_or(Ok(()), fs::create_dir_all).with_context(cannot)?;
            if copy.exists() && files::text(&copy, &files::TABLE).is_ok_and(|there| there == text) {
                continue;
            }
            if copy.exists() {
                bail!("{}: another {file} is there already", cannot());
            }
            write_durably(&copy, text.as_bytes()).with_context(cannot)?;
            self.copies.push(copy);
        }
        Ok(())
    }

    /// Writes the manifest. Places of index files are left out where the folder has a copy.
    ///
    /// # Errors
    /// When the file cannot be written or a path in the plan is not UTF-8.
    pub fn write_manifest(&self, manifest: &Manifest) -> anyhow::Result<()> {
        self.write(MANIFEST, &manifest_text(&self.path, manifest)?)
    }

    /// Appends an event with a timestamp, after all events held back.
    ///
    /// # Errors
    /// When the file cannot be written or, for a durable event, when the file is no longer in the folder. The
    /// file still ends with a complete line, as far as the system allows it.
    pub fn append(&mut self, event: &Event, urgency: Urgency) -> anyhow::Result<()> {
        let mut line = serde_json::to_vec(&Line { event: event.clone(), at: clock::epoch() })?;
        line.push(b'\n');
        self.chain.seal(&mut line);
        self.held.append(&mut line);
        if urgency == Urgency::Held && self.held.len() < MOST_HELD {
            return Ok(());
        }
        self.flush()?;
        if urgency == Urgency::Durable && self.lasting {
            self.events.sync_data().with_context(|| self.cannot_write())?;
            self.still_there()?;
        }
        Ok(())
    }

    /// Writes the events held back.
    ///
    /// # Errors
    /// As for a non-durable [`append`](Self::append).
    pub fn flush(&mut self) -> anyhow::Result<()> {
        let held = std::mem::take(&mut self.held);
        if let Err(error) = self.events.write_all(&held) {
            // A torn line in the middle would make the log unreadable; a torn last line that cannot be
            // truncated is ignored when the run is opened again.
            let _ = self.events.set_len(self.whole);
            self.chain = self.written;
            return Err(error).with_context(|| self.cannot_write());
        }
        self.whole += held.len() as u64;
        self.written = self.chain;
        Ok(())
    }

    /// Goes on after what was read of the event log: a torn last line is cut off, and the checksum chain continues.
    ///
    /// # Errors
    /// When the file cannot be truncated; the error names it.
    pub fn continue_after(&mut self, log: &LogState) -> anyhow::Result<()> {
        if log.whole < self.whole {
            self.events.set_len(log.whole).with_context(|| self.cannot_write())?;
            self.whole = log.whole;
        }
        (self.chain, self.written) = (log.chain, log.chain);
        Ok(())
    }

    /// Appends a line of another run's event log as it is. The checksum chain goes on after it.
    ///
    /// # Errors
    /// As for [`flush`](Self::flush).
    pub(super) fn copy_line(&mut self, line: &[u8], chain: Chain) -> anyhow::Result<()> {
        self.held.extend_from_slice(line);
        self.chain = chain;
        if self.held.len() < MOST_HELD { Ok(()) } else { self.flush() }
    }

    /// Checks that the log still exists: writes to an unlinked file succeed and are lost.
    fn still_there(&self) -> anyhow::Result<()> {
        let log = self.path.join(EVENTS);
        let ours = self.events.metadata().with_context(|| self.cannot_write())?;
        match fs::metadata(&log) {
            Ok(there) if (there.dev(), there.ino()) == (ours.dev(), ours.ino()) => Ok(()),
            Ok(_) => bail!("{}: it was replaced by another file", self.cannot_write()),
            Err(_) => bail!("{}: the folder was moved or removed", self.cannot_write()),
        }
    }

    fn cannot_write(&self) -> String {
        format!("cannot write {}", self.path.join(EVENTS).display())
    }

    /// Removes our files from a folder without events, and the folder if it is then empty.
    pub fn remove_unused(&self) {
        let log = self.path.join(EVENTS);
        if fs::metadata(&log).is_ok_and(|m| m.len() == 0) {
            // A file that cannot be removed is harmless.
            remove_drafts(&self.path);
            let _ = fs::remove_file(&log);
            let _ = fs::remove_file(self.path.join(MANIFEST));
            let _ = fs::remove_file(self.path.join(RECIPE));
            self.remove_copies();
            let _ = fs::remove_dir(&self.path);
        }
    }

    /// Removes only our own copies: the folder may have existed before, with files of the user.
    fn remove_copies(&self) {
        for copy in &self.copies {
            let _ = fs::remove_file(copy);
        }
        if !self.copies.is_empty() {
            let _ = fs::remove_dir(self.path.join(indices::FOLDER));
            let _ = fs::remove_dir(self.path.join("published"));
        }
    }

    fn write(&self, name: &str, content: &[u8]) -> anyhow::Result<()> {
        let path = self.path.join(name);
        let written = if self.lasting { write_durably(&path, content) } else { fs::write(&path, content) };
        written.with_context(|| format!("cannot write {}", path.display()))
    }
}

/// The text of a run's manifest.
///
/// # Errors
/// When it is too long, or a path in the plan is not UTF-8.
pub(super) fn manifest_text(run: &Path, manifest: &Manifest) -> anyhow::Result<Vec<u8>> {
    let mut manifest = manifest.clone();
    for file in &mut manifest.plan.indices {
        file.source.take_if(|_| file.copy.is_some());
        file.copy = None;
    }
    let text = serde_json::to_vec_pretty(&manifest);
    let mut text = text.with_context(|| format!("cannot write {}", run.join(MANIFEST).display()))?;
    text.push(b'\n');
    let (length, most) = (text.len() as u64, files::MANIFEST.most);
    if length > most {
        let [length, most] = [length, most].map(fmt_bytes);
        bail!(
            "the manifest of this run would be {length} long, but at most {most} can be read: run fewer cases at once"
        );
    }
    Ok(text)
}

/// `<root>/<date>-<time>-<stem>`, with a number appended if the name is taken.
pub fn fresh_path(root: &Path, stamp: &str, stem: &str) -> PathBuf {
    let digits: String = stamp.chars().filter(char::is_ascii_digit).collect();
    let (date, time) = digits.split_at(digits.len().min(8));
    let base = format!("{date}-{time}-{stem}");
    let names = std::iter::once(base.clone()).chain((2..).map(|n| format!("{base}-{n}")));
    names.map(|name| root.join(name)).find(|path| !path.exists()).unwrap_or_else(|| root.join(base))
}

#[cfg(test)]
mod tests;
