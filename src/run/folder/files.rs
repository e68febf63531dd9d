//! Files that are complete or not there, whatever happens while they are written.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Writes beside the file and renames, so that nobody ever reads half of it, and brings
/// content and name to the disk.
pub(crate) fn write_durably(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let draft = draft(folder, &path.file_name().unwrap_or_default().to_string_lossy());
    let written = File::create(&draft)
        .and_then(|mut file| file.write_all(content).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&draft, path));
    if written.is_err() {
        // The draft may not even exist; the first error is the one to tell.
        let _ = fs::remove_file(&draft);
    }
    written.inspect(|()| keep_names(folder))
}

/// Brings the names of a folder's files, and its own, to the disk: a file that was synced
/// is lost in a crash when its name was not.
pub(super) fn keep_names(folder: &Path) {
    for folder in [Some(folder), folder.parent()].into_iter().flatten() {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        // Some file systems cannot; they have no better way either.
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
}

/// The name under which a file is written until it is complete. Two programs may write
/// the same report.
pub(crate) fn draft(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!(".{name}.{}{DRAFT}", std::process::id()))
}

const DRAFT: &str = ".part";

/// Drafts of programs that were killed. One that still runs may be writing a report.
pub(super) fn remove_drafts(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
        if entry.file_name().to_str().and_then(author).is_some_and(|process| !is_alive(process)) {
            // It is hidden and does no harm.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The process that was writing a draft; `None` for a file that is none of ours.
fn author(name: &str) -> Option<i32> {
    let (name, process) = name.strip_prefix('.')?.strip_suffix(DRAFT)?.rsplit_once('.')?;
    let digits = !name.is_empty() && process.bytes().all(|byte| byte.is_ascii_digit());
    process.parse().ok().filter(|process| digits && *process > 0)
}

fn is_alive(process: i32) -> bool {
    // SAFETY: asks whether a signal could be sent, and sends none.
    let asked = unsafe { libc::kill(process, 0) };
    // Somebody else's process may not be signalled, and is there.
    asked == 0 || io::Error::last_os_error().raw_os_error() != Some(libc::ESRCH)
}
