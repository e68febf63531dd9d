//! Index arrays in files: what a plan knows of them, and who can look into them.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// An index array in a file. What a case computes depends on its content alone, so the
/// case carries the hash; where the file lies is for whoever opens it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexFile {
    /// As the recipe says it.
    pub path: String,
    /// The column of a table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// [`crate::inputs::arrays::hash`] of the indices.
    pub hash: String,
    /// Indices.
    pub length: u64,
    /// The largest of them.
    pub largest: u64,
    /// Where the file lay when the plan was made, absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<PathBuf>,
    /// A copy of the indices as raw words, which the run folder keeps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy: Option<PathBuf>,
}

/// Who can look into files.
pub trait IndexFiles {
    /// The array in the file that a recipe calls `path`.
    ///
    /// # Errors
    /// Why there is none, in one line that names the file.
    fn look(&self, path: &str, column: Option<&str>) -> Result<IndexFile, String>;

    /// Its indices.
    ///
    /// # Errors
    /// As for [`look`](Self::look).
    fn indices(&self, file: &IndexFile) -> Result<Vec<u64>, String>;
}

/// Nobody can look into files here.
pub struct NoFiles;

impl IndexFiles for NoFiles {
    fn look(&self, path: &str, _column: Option<&str>) -> Result<IndexFile, String> {
        Err(format!("{path}: index files cannot be read here"))
    }

    fn indices(&self, file: &IndexFile) -> Result<Vec<u64>, String> {
        Err(format!("{}: index files cannot be read here", file.path))
    }
}
