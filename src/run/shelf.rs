//! The stored runs below a folder: where they are, and what is said of each in a few lines.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::folder::{EVENTS, MANIFEST};
use super::{newest, note};

/// The folders below `root` that hold a run, in no order. What cannot be listed has none.
pub fn folders(root: &Path) -> Vec<PathBuf> {
    let mut found = newest::folders(root, newest::DEPTH);
    found.retain(|folder| folder.join(MANIFEST).exists());
    found
}

/// Lengths and times of the files that tell what a run is: while they stay, so does what
/// was read of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp([Option<(u64, SystemTime)>; 3]);

impl Stamp {
    pub fn of(run: &Path) -> Stamp {
        let about = |name: &str| {
            let about = fs::metadata(run.join(name)).ok()?;
            Some((about.len(), about.modified().ok()?))
        };
        Stamp([MANIFEST, EVENTS, note::FILE].map(about))
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
