//! Discovery of the stored runs below a folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::events::PACKED;
use super::layout::{EVENTS, MANIFEST};
use super::{newest, note};

/// Folders below `root` that hold a run, in no particular order. Unreadable folders are skipped.
pub fn folders(root: &Path) -> Vec<PathBuf> {
    let mut found = newest::folders(root, newest::DEPTH);
    found.retain(|folder| folder.join(MANIFEST).exists());
    found
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
