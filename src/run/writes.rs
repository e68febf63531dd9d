//! Atomic file writes: a file is either complete or absent, even after a crash.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::layout::EVENTS;
use crate::files;

/// Writes a draft and renames it, so that no reader sees half of it; syncs both content and name to disk.
pub(crate) fn write_durably(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let written = replace(folder, &name, |file| file.write_all(content).and_then(|()| file.sync_all()));
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

/// Writes a draft and renames it to `name`; a draft that is not completed is removed.
pub(crate) fn replace<E: From<io::Error>>(
    folder: &Path,
    name: &str,
    write: impl FnOnce(&mut File) -> Result<(), E>,
) -> Result<(), E> {
    let draft = draft(folder, name);
    let attempt = || {
        let mut file = File::create(&draft)?;
        // A file system without locks leaves the process id as the only sign of life.
        let _ = file.try_lock();
        write(&mut file)?;
        Ok(fs::rename(&draft, folder.join(name))?)
    };
    attempt().inspect_err(|_: &E| {
        // The draft may not exist; the first error is the one to report.
        let _ = fs::remove_file(&draft);
    })
}

/// The temporary name of a file until it is complete. It contains the process id because two programs may write
/// the same report. Drafts that killed programs left in the folder are removed.
pub(crate) fn draft(folder: &Path, name: &str) -> PathBuf {
    remove_drafts(folder);
    folder.join(format!(".{name}.{}{DRAFT}", std::process::id()))
}

const DRAFT: &str = ".part";

/// Removes drafts of killed programs. A live process may still be writing its draft, also one whose number means
/// nothing here, in another container: it holds a lock.
pub(super) fn remove_drafts(folder: &Path) {
    for entry in entries(folder) {
        let abandoned = entry.file_name().to_str().and_then(author).is_some_and(|process| !is_alive(process));
        if abandoned && !is_locked(&entry.path()) {
            // A leftover draft is hidden and harmless.
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn entries(folder: &Path) -> impl Iterator<Item = fs::DirEntry> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok)
}

fn is_locked(file: &Path) -> bool {
    let locked = files::update(file).map(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)));
    locked.unwrap_or(false)
}

/// A folder for a run, [`RUN`] in it, that is deleted with the run, in the system's folder for temporary files. Those that
/// killed programs left there are removed.
///
/// # Errors
/// When it cannot be made.
pub(crate) fn temporary() -> io::Result<TempDir> {
    temporary_in(&std::env::temp_dir())
}

fn temporary_in(root: &Path) -> io::Result<TempDir> {
    for entry in entries(root) {
        let owner = entry.file_name().to_str().and_then(owner).is_some_and(|process| !is_alive(process));
        // SAFETY: the call has no arguments and cannot fail.
        let ours = |about: fs::Metadata| about.is_dir() && about.uid() == unsafe { libc::geteuid() };
        if owner && entry.metadata().is_ok_and(ours) && !is_locked(&entry.path().join(RUN).join(EVENTS)) {
            // What cannot be removed wastes room and nothing else.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    tempfile::Builder::new().prefix(&format!("{TEMPORARY}{}-", std::process::id())).tempdir_in(root)
}

const TEMPORARY: &str = "scatterlab-";
/// The run's folder in a temporary one.
pub(crate) const RUN: &str = "run";

/// The process whose temporary folder this is; `None` if it is none of ours.
fn owner(name: &str) -> Option<i32> {
    let (process, random) = name.strip_prefix(TEMPORARY)?.split_once('-')?;
    number(process).filter(|_| !random.is_empty() && random.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// The process that was writing a draft; `None` if the file is not one of our drafts.
fn author(name: &str) -> Option<i32> {
    let (name, process) = name.strip_prefix('.')?.strip_suffix(DRAFT)?.rsplit_once('.')?;
    number(process).filter(|_| !name.is_empty())
}

fn number(process: &str) -> Option<i32> {
    let digits = process.bytes().all(|byte| byte.is_ascii_digit());
    process.parse().ok().filter(|process| digits && *process > 0)
}

fn is_alive(process: i32) -> bool {
    // SAFETY: signal 0 only checks whether the process could be signalled.
    let asked = unsafe { libc::kill(process, 0) };
    // EPERM means that the process exists but belongs to another user.
    asked == 0 || io::Error::last_os_error().raw_os_error() != Some(libc::ESRCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of a process that has ended.
    fn gone() -> u32 {
        let mut child = std::process::Command::new("true").spawn().expect("starts");
        child.wait().expect("ends");
        child.id()
    }

    #[test]
    fn the_next_writer_removes_what_a_killed_one_left() {
        let root = tempfile::tempdir().expect("a folder");
        let (gone, own) = (gone(), std::process::id());
        let path = |name: String| root.path().join(name);
        let left = ["a.svg", "results.csv", "manifest.json"].map(|name| path(format!(".{name}.{gone}.part")));
        let others = [
            path(format!(".a.svg.{own}.part")),
            path(format!("a.svg.{gone}.part")),
            path(".a.svg.part".to_owned()),
            path(".a.svg.12x.part".to_owned()),
        ];
        left.iter().chain(&others).for_each(|file| fs::write(file, "half").expect("written"));
        let locked = path(format!(".locked.{gone}.part"));
        let writer = File::create(&locked).expect("created");
        writer.lock().expect("locked");
        write_durably(&path("note.txt".to_owned()), b"text").expect("written");
        assert_eq!(left.iter().filter(|file| file.exists()).count(), 0);
        assert!(others.iter().all(|file| file.exists()), "not drafts of programs that are gone");
        assert!(locked.exists(), "its writer lives elsewhere");
        drop(writer);
        let failed: io::Result<()> = replace(root.path(), "b.svg", |file| {
            file.write_all(b"half")?;
            Err(io::Error::other("full"))
        });
        assert!(failed.is_err() && !locked.exists() && !path("b.svg".to_owned()).exists());
        assert!(!path(format!(".b.svg.{own}.part")).exists());
    }

    #[test]
    fn temporary_folders_of_killed_programs_are_removed() {
        let root = tempfile::tempdir().expect("a folder");
        let (gone, own) = (gone(), std::process::id());
        let folder = |name: String| {
            let folder = root.path().join(name);
            fs::create_dir_all(folder.join(RUN)).expect("a folder");
            fs::write(folder.join(RUN).join(EVENTS), "").expect("written");
            folder
        };
        let left = folder(format!("scatterlab-{gone}-aB3dEf"));
        let others = [
            folder(format!("scatterlab-{own}-aB3dEf")),
            folder(format!("scatterlab-{gone}")),
            folder(format!("scatterlab-{gone}-my notes")),
            folder(format!("other-{gone}-aB3dEf")),
        ];
        let locked = folder(format!("scatterlab-{gone}-locked"));
        let run = File::create(locked.join(RUN).join(EVENTS)).expect("created");
        run.lock().expect("locked");
        let fresh = temporary_in(root.path()).expect("a folder");
        assert!(!left.exists() && others.iter().all(|folder| folder.exists()) && locked.exists());
        let name = fresh.path().file_name().and_then(|name| name.to_str()).expect("a name");
        assert_eq!(owner(name), i32::try_from(own).ok(), "{name}");
    }
}
