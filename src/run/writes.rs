//! Atomic file writes: a file is either complete or absent, even after a crash.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Writes a draft and renames it, so that no reader sees half of it; syncs both content and name to disk.
pub(crate) fn write_durably(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let draft = draft(folder, &path.file_name().unwrap_or_default().to_string_lossy());
    let written = File::create(&draft)
        .and_then(|mut file| file.write_all(content).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&draft, path));
    if written.is_err() {
        // The draft may not exist; report the first error.
        let _ = fs::remove_file(&draft);
    }
    written.inspect(|()| keep_names(folder))
}

/// Syncs the directory and its parent: a synced file is lost in a crash if its directory entry was not synced.
pub(super) fn keep_names(folder: &Path) {
    for folder in [Some(folder), folder.parent()].into_iter().flatten() {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        // Some file systems cannot sync a directory and offer no alternative.
        #[expect(clippy::disallowed_methods, reason = "it is a directory, and nothing is read")]
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
}

/// The temporary name of a file until it is complete. It contains the process id because two programs may write
/// the same report.
pub(crate) fn draft(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!(".{name}.{}{DRAFT}", std::process::id()))
}

const DRAFT: &str = ".part";

/// Removes drafts of killed programs. A live process may still be writing its draft.
pub(super) fn remove_drafts(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
        if entry.file_name().to_str().and_then(author).is_some_and(|process| !is_alive(process)) {
            // A leftover draft is hidden and harmless.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The process that was writing a draft; `None` if the file is not one of our drafts.
fn author(name: &str) -> Option<i32> {
    let (name, process) = name.strip_prefix('.')?.strip_suffix(DRAFT)?.rsplit_once('.')?;
    let digits = !name.is_empty() && process.bytes().all(|byte| byte.is_ascii_digit());
    process.parse().ok().filter(|process| digits && *process > 0)
}

fn is_alive(process: i32) -> bool {
    // SAFETY: signal 0 only checks whether the process could be signalled.
    let asked = unsafe { libc::kill(process, 0) };
    // EPERM means that the process exists but belongs to another user.
    asked == 0 || io::Error::last_os_error().raw_os_error() != Some(libc::ESRCH)
}
