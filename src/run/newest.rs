//! The stored runs below a folder, and the newest one of a recipe.

use std::fs;
use std::path::{Path, PathBuf};

use super::layout::MANIFEST;
use super::stored::{self, Stored};
use crate::files;

/// How deep below the root to look for runs: `reports/x` and `reports/out/x`.
pub const DEPTH: usize = 2;

/// Folders at most `depth` levels below a root. They are candidates: not all of them hold a run.
pub fn folders(root: &Path, depth: usize) -> Vec<PathBuf> {
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

/// The newest stored run with results of the recipe with this hash; runs with the same overrides are preferred.
/// Unreadable folders are skipped, and the search ends once `wanted` returns false.
pub fn of_recipe(root: &Path, hash: &str, overrides: &[String], wanted: &dyn Fn() -> bool) -> Option<Stored> {
    let rank = |path: &PathBuf| {
        if !wanted() {
            return None;
        }
        // Search the text first: parsing a manifest is slow, and most belong to other recipes.
        let text = files::text(&path.join(MANIFEST), &files::MANIFEST).ok()?;
        let manifest = text.contains(hash).then(|| stored::manifest(path).ok())??;
        let same = manifest.plan.overrides == overrides;
        (manifest.plan.recipe_hash == hash).then_some((same, manifest.started))
    };
    let candidates = folders(root, DEPTH).into_iter().filter_map(|path| Some((rank(&path)?, path)));
    let mut candidates: Vec<((bool, String), PathBuf)> = candidates.collect();
    candidates.sort();
    let results = |run: &Stored| run.ledger.records().iter().any(|record| record.statistics.is_some());
    candidates.iter().rev().filter_map(|(_, path)| Stored::open_while(path, wanted).ok()).find(results)
}

#[cfg(test)]
mod tests {
    use super::*;

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
