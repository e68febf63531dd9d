//! Discovery of the stored runs below a folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::events::{LONGEST, PACKED};
use super::folder::{EVENTS, MANIFEST, RECIPE};
use super::{newest, note};

/// Folders below `root` that hold a run, in no particular order. Unreadable folders are skipped.
pub fn folders(root: &Path) -> Vec<PathBuf> {
    let mut found = newest::folders(root, newest::DEPTH);
    found.retain(|folder| folder.join(MANIFEST).exists());
    found
}

/// The files read from a run, with their largest accepted lengths in bytes.
const READ: [(&str, u64); 4] =
    [(MANIFEST, 64 << 20), (EVENTS, LONGEST), (PACKED, LONGEST), (RECIPE, 33 << 20)];

/// Checks that a folder can be read without blocking for ever or exhausting memory: a named pipe of the right
/// name never ends.
///
/// # Errors
/// Names the offending file.
pub fn check(run: &Path) -> Result<(), String> {
    for (name, longest) in READ {
        match fs::metadata(run.join(name)) {
            Ok(about) if !about.is_file() => return Err(format!("{name} is not a regular file")),
            Ok(about) if about.len() > longest => {
                let longest = crate::case::units::fmt_bytes(longest);
                return Err(format!("{name} is longer than {longest}, the most that is read"));
            }
            // A missing file is reported by the code that needs it.
            _ => {}
        }
    }
    Ok(())
}

/// Lengths and modification times of the files that determine a run's summary: while they are unchanged, a
/// cached summary is valid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp([Option<(u64, SystemTime)>; 4]);

impl Stamp {
    pub fn of(run: &Path) -> Stamp {
        let about = |name: &str| {
            let about = fs::metadata(run.join(name)).ok()?;
            Some((about.len(), about.modified().ok()?))
        };
        Stamp([MANIFEST, EVENTS, PACKED, note::FILE].map(about))
    }

    /// When the manifest was written.
    pub fn written(&self) -> Option<SystemTime> {
        self.0[0].map(|(_, time)| time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_end_is_not_read() {
        let run = tempfile::tempdir().expect("temporary folder");
        assert_eq!(check(run.path()), Ok(()), "nothing is there to wait for");
        let events = fs::File::create(run.path().join(EVENTS)).expect("a file");
        events.set_len((1 << 30) + 1).expect("a sparse file");
        assert!(check(run.path()).is_err_and(|why| why.contains("longer than 1.00 GiB")));
        fs::remove_file(run.path().join(EVENTS)).expect("removed");
        let path = std::ffi::CString::new(run.path().join(EVENTS).display().to_string()).expect("a path");
        // SAFETY: the path is a string that ends with a zero byte.
        assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
        assert_eq!(check(run.path()), Err("events.ndjson is not a regular file".to_owned()));
    }

    #[test]
    fn a_folder_is_no_packed_file() {
        let run = tempfile::tempdir().expect("temporary folder");
        fs::create_dir(run.path().join(PACKED)).expect("a folder");
        assert_eq!(check(run.path()), Err("events.ndjson.gz is not a regular file".to_owned()));
    }

    #[test]
    fn runs_are_found_two_folders_deep_and_their_stamps_move_with_their_files() {
        let root = tempfile::tempdir().expect("temporary folder");
        for name in ["a", "out/b", "out/deep/c", "none"] {
            fs::create_dir_all(root.path().join(name)).expect("folder");
        }
        for name in ["a", "out/b", "out/deep/c"] {
            fs::write(root.path().join(name).join(MANIFEST), "{}").expect("written");
        }
        let mut found = folders(root.path());
        found.sort();
        assert_eq!(found, [root.path().join("a"), root.path().join("out/b")]);
        assert!(folders(&root.path().join("missing")).is_empty());
        let before = Stamp::of(&found[0]);
        assert_eq!((before, before.written().is_some()), (Stamp::of(&found[0]), true));
        fs::write(found[0].join(EVENTS), "x").expect("written");
        assert_ne!(before, Stamp::of(&found[0]));
    }
}
