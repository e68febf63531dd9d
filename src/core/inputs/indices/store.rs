//! The index arrays of a plan, read where its cases run.

use std::sync::Arc;

use super::{Missing, find};
use crate::case::{Failure, IndexFile};
use crate::inputs::shared::Shared;

/// The arrays used by a plan's cases, read on first use, and the inputs that its cases share.
#[derive(Debug, Default)]
pub struct Store {
    files: Vec<IndexFile>,
    shared: Shared,
}

impl Store {
    /// A store of the plan's files.
    pub fn of(files: &[IndexFile]) -> Store {
        Store { files: files.to_owned(), shared: Shared::default() }
    }

    /// The inputs that cases share, the arrays among them by their hash.
    pub fn shared(&self) -> &Shared {
        &self.shared
    }

    /// The array with this hash.
    ///
    /// # Errors
    /// `NotApplicable` if no file with the array is on this machine; `Failed` if there is one with other
    /// indices.
    pub fn get(&self, hash: &str) -> Result<Arc<Vec<u64>>, Failure> {
        let length = self.files.iter().find(|file| file.hash == hash).map_or(0, |file| file.length);
        self.shared.get(hash, "words", length.saturating_mul(8), || self.open(hash))
    }

    fn open(&self, hash: &str) -> Result<Vec<u64>, Failure> {
        let mut missing = None;
        for file in self.files.iter().filter(|file| file.hash == hash) {
            match find(file) {
                Ok(all) => return Ok(all),
                Err(why) => missing = missing.or(Some(why)),
            }
        }
        Err(match missing {
            Some(Missing::Absent(what)) => Failure::NotApplicable(what),
            Some(Missing::Other(what)) => Failure::Failed(what),
            None => Failure::Failed(format!("the plan names no file with the indices {hash}")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::IndexFiles;
    use crate::inputs::indices::LocalFiles;
    use std::fs;

    fn store(files: Vec<IndexFile>) -> Store {
        Store::of(&files)
    }

    #[test]
    fn arrays_are_found_in_the_file_or_its_copy() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let path = folder.path().join("a.txt");
        fs::write(&path, "4 2").expect("written");
        let file = LocalFiles::of(folder.path()).look("a.txt", None).expect("indices");
        let hash = file.hash.clone();
        assert_eq!(store(vec![file.clone()]).get(&hash).expect("the file").as_slice(), [4, 2]);

        fs::write(&path, "4 3").expect("written");
        let changed = store(vec![file.clone()]).get(&hash);
        assert!(
            matches!(&changed, Err(Failure::Failed(why)) if why.contains("a.txt has changed")),
            "{changed:?}"
        );

        let copy = folder.path().join("copy.u64");
        fs::write(&copy, [4u64.to_le_bytes(), 2u64.to_le_bytes()].concat()).expect("written");
        let kept = IndexFile { copy: Some(copy), ..file.clone() };
        assert_eq!(store(vec![kept]).get(&hash).expect("the copy").as_slice(), [4, 2]);

        fs::remove_file(&path).expect("removed");
        let absent = store(vec![file]).get(&hash);
        assert!(matches!(&absent, Err(Failure::NotApplicable(why)) if why.contains("a.txt")), "{absent:?}");
        assert!(matches!(store(Vec::new()).get(&hash), Err(Failure::Failed(_))));
    }
}
