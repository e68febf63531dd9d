//! Discovery of the stored runs below a folder, and the newest one of a recipe.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::events::PACKED;
use super::layout::{EVENTS, MANIFEST};
use super::note;
use super::stored::{self, Stored};
use crate::files;

/// Folders below `root` that hold a run, in no particular order. Unreadable folders are skipped.
pub fn folders(root: &Path) -> Vec<PathBuf> {
    let mut found = candidates(root, DEPTH);
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

/// How deep below the root to look for runs: `reports/x` and `reports/out/x`.
pub const DEPTH: usize = 2;

/// Folders at most `depth` levels below a root. They are candidates: not all of them hold a run.
pub fn candidates(root: &Path, depth: usize) -> Vec<PathBuf> {
    let mut found = Vec::new();
    collect(root, depth, &mut found);
    found
}

fn collect(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()) {
        if depth > 1 {
            collect(&path, depth - 1, found);
        }
        found.push(path);
    }
}

/// The runs among these folders of the recipe with this hash: those with the same overrides first, and the newest of each kind
/// first. Unreadable folders are skipped, and the search ends once `wanted` returns false.
pub fn ranked(
    folders: &[PathBuf],
    hash: &str,
    overrides: &[String],
    wanted: &dyn Fn() -> bool,
) -> Vec<PathBuf> {
    let rank = |path: &PathBuf| {
        if !wanted() {
            return None;
        }
        // Search the text first: parsing a manifest is slow, and most belong to other recipes.
        let text = files::text(&path.join(MANIFEST), &files::MANIFEST).ok()?;
        let manifest = text.contains(hash).then(|| stored::manifest(path).ok())??;
        let same = manifest.plan.overrides == overrides;
        (manifest.plan.recipe_hash == hash).then_some((same, manifest.started, path.clone()))
    };
    let mut ranked: Vec<(bool, String, PathBuf)> = folders.iter().filter_map(rank).collect();
    ranked.sort();
    ranked.into_iter().rev().map(|(.., path)| path).collect()
}

/// The first run with results among the [`ranked`] ones below a folder.
pub fn of_recipe(root: &Path, hash: &str, overrides: &[String], wanted: &dyn Fn() -> bool) -> Option<Stored> {
    let ranked = ranked(&candidates(root, DEPTH), hash, overrides, wanted);
    ranked.iter().filter_map(|path| Stored::open_while(path, wanted).ok()).find(Stored::has_results)
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

    /// Copies the stored fixture run under another name, with replacements in its manifest.
    fn store(root: &Path, name: &str, words: &[(&str, &str)]) {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/schema-1");
        let to = root.join(name);
        fs::create_dir_all(&to).expect("a folder");
        for entry in fs::read_dir(&from).expect("the fixture").flatten() {
            fs::copy(entry.path(), to.join(entry.file_name())).expect("a copy");
        }
        let mut manifest = fs::read_to_string(to.join(MANIFEST)).expect("a manifest");
        for (old, new) in words {
            assert!(manifest.contains(old), "{old}");
            manifest = manifest.replace(old, new);
        }
        fs::write(to.join(MANIFEST), manifest).expect("written");
    }

    #[test]
    fn the_newest_run_of_the_recipe_is_found_and_one_with_the_same_changes_before_it() {
        let root = tempfile::tempdir().expect("a folder");
        let stored = stored::manifest(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/schema-1"));
        let (hash, started) = stored.map(|m| (m.plan.recipe_hash, m.started)).expect("the fixture");
        let path = || of_recipe(root.path(), &hash, &[], &|| true).map(|run| run.path);
        assert_eq!(path(), None);
        store(root.path(), "a", &[]);
        store(root.path(), "deep/b", &[(&started, "2099-01-01 00:00:00")]);
        store(root.path(), "c", &[(&started, "2100-01-01 00:00:00"), (&hash, &"0".repeat(64))]);
        fs::write(root.path().join("stray"), "no run").expect("written");
        // A named pipe: reading it would block for ever.
        fs::create_dir(root.path().join("pipe")).expect("a folder");
        let pipe = root.path().join("pipe").join(MANIFEST).display().to_string();
        let pipe = std::ffi::CString::new(pipe).expect("a path");
        // SAFETY: the path is a string that ends with a zero byte.
        assert_eq!(unsafe { libc::mkfifo(pipe.as_ptr(), 0o600) }, 0);
        assert_eq!(path(), Some(root.path().join("deep/b")), "the newest of this recipe");
        assert!(of_recipe(root.path(), &hash, &[], &|| false).is_none(), "nobody wants it");
        let plan = "\"recipe_hash\"";
        let changed = "\"overrides\": [\"--set tuples=1Ki\"], \"recipe_hash\"";
        store(root.path(), "d", &[(&started, "2100-01-01 00:00:00"), (plan, changed)]);
        assert_eq!(path(), Some(root.path().join("deep/b")), "the same recipe without changes");
        let of = |words: &[String]| of_recipe(root.path(), &hash, words, &|| true).map(|run| run.path);
        assert_eq!(of(&["--set tuples=1Ki".to_owned()]), Some(root.path().join("d")));
        assert_eq!(of(&["--set passes=1".to_owned()]), Some(root.path().join("d")), "rather than none");
    }
}
