//! Index arrays in files: their description in a plan, and access to their contents.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// An index array in a file. A case depends only on the contents, so the case carries their hash; the path
/// matters only for opening the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexFile {
    /// The path as written in the recipe.
    pub path: String,
    /// The column, if the file is a table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// [`crate::inputs::arrays::hash`] of the indices.
    pub hash: String,
    /// Number of indices.
    pub length: u64,
    /// The largest index.
    pub largest: u64,
    /// Rows, columns and entries, if the file is read as a matrix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matrix: Option<[u64; 3]>,
    /// Absolute path of the file when the plan was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<PathBuf>,
    /// Path of a copy of the indices as raw words, kept in the run folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy: Option<PathBuf>,
}

/// The name of the column under which all of a matrix is read, as integers, instead of the columns of its entries alone.
pub const WHOLE_MATRIX: &str = "%matrix";

/// The name under which all of a graph is read, instead of the heads of its arcs alone.
pub const WHOLE_GRAPH: &str = "%graph";

/// Access to index files.
pub trait IndexFiles {
    /// Describes the array in the file at `path`, as written in a recipe.
    ///
    /// # Errors
    /// When there is no such array; one line that names the file.
    fn look(&self, path: &str, column: Option<&str>) -> Result<IndexFile, String>;

    /// Reads the indices of the array.
    ///
    /// # Errors
    /// As for [`look`](Self::look).
    fn indices(&self, file: &IndexFile) -> Result<Vec<u64>, String>;
}

/// An implementation without access to files.
pub struct NoFiles;

impl IndexFiles for NoFiles {
    fn look(&self, path: &str, _column: Option<&str>) -> Result<IndexFile, String> {
        Err(format!("{path}: index files cannot be read here"))
    }

    fn indices(&self, file: &IndexFile) -> Result<Vec<u64>, String> {
        Err(format!("{}: index files cannot be read here", file.path))
    }
}
