//! Index files next to a recipe, inspected when the recipe is resolved.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use crate::case::{IndexFile, IndexFiles, WHOLE_MATRIX};
use crate::inputs::arrays;
use crate::inputs::sparse::Shape;

/// The files named by a recipe in this folder. Results are cached while a file's length and modification time
/// are unchanged, because a user interface resolves a recipe repeatedly.
#[derive(Debug, Default)]
pub struct LocalFiles {
    folder: PathBuf,
    known: Mutex<HashMap<Key, (Stamp, IndexFile)>>,
}

type Key = (PathBuf, Option<String>);
/// Length and modification time.
type Stamp = (u64, Option<SystemTime>);

impl LocalFiles {
    /// Paths are relative to `folder`.
    pub fn of(folder: &Path) -> LocalFiles {
        LocalFiles { folder: folder.to_owned(), ..LocalFiles::default() }
    }

    /// The file at a place, under the name that a recipe has for it.
    ///
    /// # Errors
    /// Why it cannot be read, in one line.
    pub fn look_at(&self, place: &Path, path: &str, column: Option<&str>) -> Result<IndexFile, String> {
        let place = self.folder.join(place);
        let place = fs::canonicalize(&place).unwrap_or(place);
        let (key, stamp) = ((place.clone(), column.map(str::to_owned)), stamp(&place));
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let known_file = known().get(&key).filter(|(then, _)| *then == stamp).map(|(_, file)| file.clone());
        if let Some(file) = known_file {
            return Ok(IndexFile { path: path.to_owned(), ..file });
        }
        let indices = super::read(&place, column).map_err(|error| format!("{error:#}"))?;
        let file = IndexFile {
            path: path.to_owned(),
            column: column.map(str::to_owned),
            hash: arrays::hash(&indices),
            length: indices.len() as u64,
            largest: indices.iter().copied().max().unwrap_or(0),
            matrix: column.filter(|column| *column == WHOLE_MATRIX).and_then(|_| shape(&indices)),
            source: Some(place),
            copy: None,
        };
        known().insert(key, (stamp, file.clone()));
        Ok(file)
    }
}

fn stamp(path: &Path) -> Stamp {
    fs::metadata(path).map_or((0, None), |about| (about.len(), about.modified().ok()))
}

/// The size of the matrix that these words hold.
fn shape(words: &[u64]) -> Option<[u64; 3]> {
    Shape::of_words(words).map(|Shape { rows, columns, entries }| [rows, columns, entries])
}

impl IndexFiles for LocalFiles {
    fn look(&self, path: &str, column: Option<&str>) -> Result<IndexFile, String> {
        self.look_at(Path::new(path), path, column)
    }

    fn indices(&self, file: &IndexFile) -> Result<Vec<u64>, String> {
        super::find(file).map_err(|missing| missing.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::WHOLE_GRAPH;

    #[test]
    fn a_changed_file_is_looked_into_again() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let path = folder.path().join("a.csv");
        let files = LocalFiles::of(folder.path());
        fs::write(&path, "1 2 3").expect("written");
        let first = files.look("a.csv", None).expect("indices");
        assert_eq!((first.length, first.largest), (3, 3));
        assert_eq!(files.look("a.csv", None).as_ref(), Ok(&first));
        assert_eq!(files.indices(&first), Ok(vec![1, 2, 3]));
        fs::write(&path, "1 2 30").expect("written");
        let second = files.look("a.csv", None).expect("indices");
        assert_eq!(second.largest, 30);
        let changed = files.indices(&first).expect_err("changed");
        assert!(changed.contains("has changed"), "{changed}");
        assert!(files.look("b.csv", None).expect_err("missing").contains("cannot read"));
    }

    /// A graph is looked into as a whole, or for the heads of its arcs in the order of their tails.
    #[test]
    fn a_graph_is_looked_into_as_a_whole_or_for_its_heads() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let files = LocalFiles::of(folder.path());
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("written");
        write("a.gr", "p sp 4 3\na 3 1 5\na 1 4 6\na 1 2 7\n");
        let heads = files.look("a.gr", None).expect("heads");
        assert_eq!((files.indices(&heads), heads.largest), (Ok(vec![3, 1, 0]), 3));
        let whole = files.look("a.gr", Some(WHOLE_GRAPH)).expect("a graph");
        assert_eq!(files.indices(&whole).expect("its words").len(), 10);
        write("b.txt", "1 2");
        let refused = |name: &str, column| files.look(name, Some(column)).expect_err("refused");
        let told = refused("b.txt", WHOLE_GRAPH);
        assert!(
            told.ends_with("b.txt: is not a graph; accepted: .gr (DIMACS), .el and .wel (edge lists), .mtx (Matrix Market)"),
            "{told}"
        );
        let told = refused("a.gr", "x");
        assert!(
            told.ends_with("a.gr: a column (`x`) was requested, but a graph has no column names"),
            "{told}"
        );
        write("b.gr", "");
        let told = refused("b.gr", WHOLE_GRAPH);
        assert!(told.ends_with("b.gr: has no line p sp VERTICES ARCS"), "{told}");
    }

    /// A whole matrix is described by its size; otherwise it is an array of columns.
    #[test]
    fn a_matrix_is_looked_into_as_a_whole_or_for_its_columns() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let files = LocalFiles::of(folder.path());
        let text = "%%MatrixMarket matrix coordinate real general\n2 3 2\n2 3 .5\n1 1 -1\n";
        fs::write(folder.path().join("a.mtx"), text).expect("written");
        let whole = files.look("a.mtx", Some(WHOLE_MATRIX)).expect("a matrix");
        assert_eq!(whole.matrix, Some([2, 3, 2]));
        let words = files.indices(&whole).expect("its words");
        let matrix = crate::inputs::sparse::Csr::from_words(&words).expect("a matrix");
        assert_eq!((matrix.indices, matrix.values), (vec![0, 2], vec![-1.0, 0.5]));
        let columns = files.look("a.mtx", None).expect("columns");
        assert_eq!((files.indices(&columns), columns.matrix), (Ok(vec![0, 2]), None));
        fs::write(folder.path().join("b.txt"), "1 2").expect("written");
        let refused = files.look("b.txt", Some(WHOLE_MATRIX)).expect_err("no matrix");
        assert!(
            refused.ends_with("b.txt: is not a matrix; accepted: a file that begins with %%MatrixMarket"),
            "{refused}"
        );
    }
}
