//! The file of a run's events: plain while a run is written, packed with gzip once somebody
//! has asked for it. Who reads the events does not know which of the two it is.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use flate2::Compression;
use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;

use super::folder::{EVENTS, Folder, lock, write_durably};
use crate::case::units::fmt_bytes;

/// The events' file once it is packed.
pub(crate) const PACKED: &str = "events.ndjson.gz";

/// Longest file of events, unpacked, bytes. Runs that took hours have some megabytes.
pub(super) const LONGEST: u64 = 1 << 30;

/// The file that holds a run's events. Where there are both it is the plain one, because
/// that is what a program writes to.
pub fn file(run: &Path) -> PathBuf {
    run.join(if is_packed(run) { PACKED } else { EVENTS })
}

/// Whether a run's events are packed.
pub fn is_packed(run: &Path) -> bool {
    run.join(PACKED).exists() && !run.join(EVENTS).exists()
}

/// Opens what [`file`] names; what is read of it is plain.
///
/// # Errors
/// When it cannot be opened. Reading on fails where a packed file is damaged or too long.
pub fn open(file: &Path) -> io::Result<Box<dyn BufRead>> {
    let reader = BufReader::new(File::open(file)?);
    if !file.ends_with(PACKED) {
        return Ok(Box::new(reader));
    }
    Ok(Box::new(BufReader::new(Unpacked { source: MultiGzDecoder::new(reader), left: LONGEST })))
}

/// A packed text. A few kilobytes can be packed that fill any memory: too much is an error.
struct Unpacked<R> {
    source: MultiGzDecoder<R>,
    /// Bytes that may still come.
    left: u64,
}

impl<R: BufRead> Read for Unpacked<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let damaged = |why: io::Error| io::Error::new(why.kind(), format!("it is no whole gzip file: {why}"));
        let read = self.source.read(into).map_err(damaged)?;
        let left = self.left.checked_sub(read as u64);
        self.left = left.ok_or_else(|| io::Error::other(format!("it holds {}", too_long())))?;
        Ok(read)
    }
}

fn too_long() -> String {
    format!("more than {}, the most that is unpacked", fmt_bytes(LONGEST))
}

/// All of a file's events as they were written.
fn text(file: &Path) -> anyhow::Result<Vec<u8>> {
    let mut text = Vec::new();
    let read = open(file).and_then(|mut events| events.read_to_end(&mut text));
    read.with_context(|| format!("cannot read {}", file.display()))?;
    Ok(text)
}

/// Packs the events of a folder that nobody else writes. The plain file goes only once the packed
/// one is on the disk and gives the same bytes. The same events give the same file.
///
/// # Errors
/// When a file cannot be read or written, when the events are too long, and where other events
/// are packed here already: they may be all that there is of them.
pub fn pack(folder: &Folder) -> anyhow::Result<()> {
    let [plain, packed] = [EVENTS, PACKED].map(|name| folder.path().join(name));
    let events = text(&plain)?;
    if events.len() as u64 > LONGEST {
        bail!("{} holds {}", plain.display(), too_long());
    }
    // What a program that ended while it unpacked has left is how the plain file begins.
    if packed.exists() && !events.starts_with(&text(&packed)?) {
        bail!("{} holds other events than {EVENTS} beside it: remove one of them", packed.display());
    }
    let cannot = || format!("cannot write {}", packed.display());
    write_durably(&packed, &compressed(&events)?).with_context(cannot)?;
    if text(&packed)? != events {
        bail!("{} does not hold what was written to it; {EVENTS} is as it was", packed.display());
    }
    // Tables that are younger than the plain file are younger than the packed one.
    let written = fs::metadata(&plain).and_then(|about| about.modified());
    written
        .and_then(|time| File::options().write(true).open(&packed)?.set_modified(time))
        .with_context(cannot)?;
    fs::remove_file(&plain).with_context(|| format!("cannot remove {}", plain.display()))
}

/// No name and no time stand in the file.
fn compressed(events: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(events)?;
    encoder.finish()
}

/// Makes packed events plain again, for whoever goes on with the run.
///
/// # Errors
/// When a file cannot be read or written, and while another program does the same.
pub(super) fn unpack(run: &Path) -> anyhow::Result<()> {
    if !is_packed(run) {
        return Ok(());
    }
    let [plain, packed] = [EVENTS, PACKED].map(|name| run.join(name));
    let held = File::options().read(true).write(true).open(&packed);
    let held = held.with_context(|| format!("cannot unpack {}", packed.display()))?;
    lock(&held, &packed)?;
    // Another program may have been faster, and be writing the plain file by now.
    if !plain.exists() {
        let cannot = || format!("cannot write {}", plain.display());
        write_durably(&plain, &text(&packed)?).with_context(cannot)?;
        fs::remove_file(&packed).with_context(|| format!("cannot remove {}", packed.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
