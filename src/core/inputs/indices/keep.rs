//! Copies of a plan's index arrays in a run's folder, so that the run can be repeated without the files named by its
//! recipe; and the search for an array in its copy or its file.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::read;
use crate::case::IndexFile;
use crate::files;
use crate::inputs::arrays;
use crate::memory;

/// Folder of the copies inside a run's folder. A copy is named after its hash, and holds the indices as 64-bit
/// little-endian words.
pub const FOLDER: &str = "indices";

/// Longest array to be copied, in indices: 64 MiB.
const LONGEST: u64 = 8 << 20;

/// Writes a file atomically and durably.
type Write<'a> = dyn FnMut(&Path, &[u8]) -> io::Result<()> + 'a;

/// Copies a plan's arrays into a run's folder with `write`, except those that are too long or unavailable on
/// this machine, and records the paths of the copies. An existing copy with other contents is replaced.
///
/// # Errors
/// When the folder cannot be written.
pub fn keep(files: &mut [IndexFile], run: &Path, write: &mut Write) -> anyhow::Result<()> {
    for file in files {
        let copy = copy_of(file, run);
        if file.length > LONGEST {
            continue;
        }
        if !holds(&copy, file) {
            let Ok(all) = find(file) else { continue };
            let cannot = || format!("cannot write {}", copy.display());
            let bytes = memory::collected(8 * all.len(), all.iter().flat_map(|index| index.to_le_bytes()));
            write(&copy, &bytes.with_context(cannot)?).with_context(cannot)?;
        }
        file.copy = Some(copy);
    }
    Ok(())
}

/// True if the contents of a copy match its hash.
fn holds(copy: &Path, file: &IndexFile) -> bool {
    copy.is_file() && read(copy, None).is_ok_and(|all| arrays::hash(&all) == file.hash)
}

/// Updates the paths of a stored run's copies, because the folder may have been moved.
pub fn locate(files: &mut [IndexFile], run: &Path) {
    for file in files {
        file.copy = Some(copy_of(file, run)).filter(|copy| copy.is_file());
    }
}

fn copy_of(file: &IndexFile, run: &Path) -> PathBuf {
    let run = std::path::absolute(run).unwrap_or_else(|_| run.to_owned());
    run.join(FOLDER).join(format!("{}.u64", file.hash))
}

/// Why an array of a plan is unavailable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Missing {
    /// There is no file with the array on this machine.
    #[error("{0}")]
    Absent(String),
    /// There is a file, but it cannot be read or holds other indices.
    #[error("{0}")]
    Other(String),
}

/// The indices of a plan's array, from its copy in the run's folder or from the original file; their hash must
/// match.
///
/// # Errors
/// Why neither file provides them.
pub fn find(file: &IndexFile) -> Result<Vec<u64>, Missing> {
    let places = [(&file.copy, None), (&file.source, file.column.as_deref())];
    let mut missing = Missing::Absent(format!("the index file {} is not on this machine", file.path));
    for (place, column) in places {
        let Some(place) = place.as_deref().filter(|place| files::is_there(place)) else { continue };
        match read(place, column) {
            Ok(all) if arrays::hash(&all) == file.hash => return Ok(all),
            Ok(_) => {
                let place = place.display();
                missing = Missing::Other(format!(
                    "{place} has changed since the run was planned: its indices are not those with the hash {}…",
                    file.hash.get(..12).unwrap_or(&file.hash)
                ));
            }
            Err(error) => missing = Missing::Other(format!("{error:#}")),
        }
    }
    Err(missing)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::case::IndexFiles;
    use crate::inputs::indices::LocalFiles;

    fn write(path: &Path, content: &[u8]) -> io::Result<()> {
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(path, content)
    }

    #[test]
    fn a_copy_that_holds_something_else_is_written_anew() {
        let root = tempfile::tempdir().expect("temporary folder");
        fs::write(root.path().join("a.csv"), "3,1").expect("written");
        let mut kept = [LocalFiles::of(root.path()).look("a.csv", None).expect("indices")];
        let mut times = 0;
        let mut keep = |files: &mut [IndexFile]| {
            let counted = &mut |path: &Path, content: &[u8]| {
                times += 1;
                write(path, content)
            };
            super::keep(files, root.path(), counted).expect("kept");
            times
        };
        assert_eq!([keep(&mut kept), keep(&mut kept)], [1, 1], "one that is right stays");
        let copy = kept[0].copy.clone().expect("a copy");
        // Damage that a crash may leave behind.
        for damaged in [&b""[..], &[0; 16]] {
            fs::write(&copy, damaged).expect("damaged");
            keep(&mut kept);
            assert!(holds(&copy, &kept[0]));
        }
    }

    #[test]
    fn a_moved_folder_still_has_its_arrays() {
        let root = tempfile::tempdir().expect("temporary folder");
        fs::write(root.path().join("a.csv"), "node\n3\n1\n").expect("written");
        let mut kept = [LocalFiles::of(root.path()).look("a.csv", Some("node")).expect("indices")];
        let run = root.path().join("run");
        super::keep(&mut kept, &run, &mut write).expect("kept");
        let hash = kept[0].hash.clone();
        let bytes = fs::read(run.join(FOLDER).join(format!("{hash}.u64"))).expect("a copy");
        assert_eq!(blake3::hash(&bytes).to_hex().to_string(), hash);

        fs::remove_file(root.path().join("a.csv")).expect("removed");
        let moved = root.path().join("moved");
        fs::rename(&run, &moved).expect("moved");
        assert!(find(&kept[0]).is_err());
        locate(&mut kept, &moved);
        assert_eq!(find(&kept[0]).expect("the copy"), [3, 1]);
        let again = root.path().join("again");
        super::keep(&mut kept, &again, &mut write).expect("kept");
        assert!(kept[0].copy.as_ref().is_some_and(|copy| copy.starts_with(&again) && copy.is_file()));
    }
}
