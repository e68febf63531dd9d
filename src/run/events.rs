//! The event log of a run: plain while the run is written, and gzip-compressed on request. Readers need not
//! know which of the two it is.

use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use flate2::Compression;
use flate2::write::GzEncoder;

use super::layout::{EVENTS, lock};
use super::writes::write_durably;
use crate::files;

/// File name of the compressed event log.
pub(crate) const PACKED: &str = "events.ndjson.gz";

/// The file that holds a run's events. If both exist, the plain one wins, because it is the one that programs
/// append to.
pub fn file(run: &Path) -> PathBuf {
    run.join(if is_packed(run) { PACKED } else { EVENTS })
}

/// Whether a run's events are compressed.
pub fn is_packed(run: &Path) -> bool {
    run.join(PACKED).exists() && !run.join(EVENTS).exists()
}

/// Opens the file returned by [`file()`] and decompresses it if necessary.
///
/// # Errors
/// When the file cannot be opened or is too long. Later reads fail if a compressed file is damaged or holds too
/// much.
pub fn open(file: &Path) -> Result<Box<dyn BufRead>, files::Problem> {
    let reader = BufReader::new(files::open(file, &files::EVENTS)?);
    Ok(match file.ends_with(PACKED) {
        true => Box::new(BufReader::new(files::gzip(reader, files::EVENTS.most, files::EVENT_LINES))),
        false => Box::new(reader),
    })
}

/// All uncompressed bytes of an event log.
fn text(file: &Path) -> anyhow::Result<Vec<u8>> {
    let mut text = Vec::new();
    let read = open(file)?.read_to_end(&mut text);
    read.with_context(|| format!("cannot read {}", file.display()))?;
    Ok(text)
}

/// Compresses the events ([`Folder::pack`](super::folder::Folder::pack)); the caller holds the folder's lock.
pub(super) fn pack(run: &Path) -> anyhow::Result<()> {
    let [plain, packed] = [EVENTS, PACKED].map(|name| run.join(name));
    let events = text(&plain)?;
    // An interrupted unpacking leaves a compressed log that is a prefix of the plain file.
    if packed.exists() && !events.starts_with(&text(&packed)?) {
        bail!("{} and {EVENTS} beside it hold different events: remove one of them", packed.display());
    }
    let cannot = || format!("cannot write {}", packed.display());
    write_durably(&packed, &compressed(&events)?).with_context(cannot)?;
    if text(&packed)? != events {
        bail!("{} does not hold what was written to it; {EVENTS} is unchanged", packed.display());
    }
    // Keep the modification time: tables newer than the plain file must stay newer than the compressed one.
    let written = fs::metadata(&plain).and_then(|about| about.modified());
    written.and_then(|time| files::update(&packed)?.set_modified(time)).with_context(cannot)?;
    fs::remove_file(&plain).with_context(|| format!("cannot remove {}", plain.display()))
}

/// Compresses without a file name or timestamp in the header.
fn compressed(events: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(events)?;
    encoder.finish()
}

/// Restores the plain event log so that the run can be resumed.
///
/// # Errors
/// When a file cannot be read or written, or while another program is unpacking it.
pub(super) fn unpack(run: &Path) -> anyhow::Result<()> {
    if !is_packed(run) {
        return Ok(());
    }
    let [plain, packed] = [EVENTS, PACKED].map(|name| run.join(name));
    let held = files::update(&packed);
    let held = held.with_context(|| format!("cannot unpack {}", packed.display()))?;
    lock(&held, &packed)?;
    // Another program may have finished first and may already be appending to the plain file.
    if !plain.exists() {
        let cannot = || format!("cannot write {}", plain.display());
        write_durably(&plain, &text(&packed)?).with_context(cannot)?;
        fs::remove_file(&packed).with_context(|| format!("cannot remove {}", packed.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
