//! The indices that a plan names: patterns ([`IndexPattern`]), generated when they are first read, because recipes of
//! thousands of long patterns are resolved from the patterns' lengths and largest indices alone; and index arrays in files
//! ([`IndexFile`]), with the access to their contents.

use std::fmt;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, OnceLock};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::peers::Program;
use super::published::Table;

type Generate = Box<dyn FnOnce() -> Vec<u64> + Send>;

/// The indices of a pattern. Clones share them.
#[derive(Clone, Serialize, Deserialize)]
#[serde(from = "Vec<u64>", into = "Vec<u64>")]
pub struct IndexPattern {
    length: usize,
    largest: u64,
    shared: Arc<Shared>,
}

struct Shared {
    indices: LazyLock<Vec<u64>, Generate>,
    text: OnceLock<String>,
}

impl IndexPattern {
    /// A pattern of `length` indices, of which `largest` is the largest, that `generate` returns.
    pub fn generated(
        length: u64,
        largest: u64,
        generate: impl FnOnce() -> Vec<u64> + Send + 'static,
    ) -> IndexPattern {
        let indices = LazyLock::new(Box::new(generate) as Generate);
        let shared = Arc::new(Shared { indices, text: OnceLock::new() });
        IndexPattern { length: length as usize, largest, shared }
    }

    /// Number of indices. O(1).
    pub fn len(&self) -> usize {
        self.length
    }

    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The indices as `[0, 8, 16]`, written once for all clones.
    pub fn text(&self) -> &str {
        self.shared.text.get_or_init(|| format!("{:?}", &**self))
    }

    /// The largest index, or 0 if there is none. O(1).
    pub fn largest(&self) -> u64 {
        self.largest
    }
}

impl Default for IndexPattern {
    fn default() -> IndexPattern {
        Vec::new().into()
    }
}

impl From<Vec<u64>> for IndexPattern {
    fn from(indices: Vec<u64>) -> IndexPattern {
        let largest = indices.iter().copied().max().unwrap_or(0);
        IndexPattern::generated(indices.len() as u64, largest, || indices)
    }
}

impl From<IndexPattern> for Vec<u64> {
    fn from(pattern: IndexPattern) -> Vec<u64> {
        pattern.to_vec()
    }
}

/// Generates the indices at the first call.
impl Deref for IndexPattern {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        &self.shared.indices
    }
}

impl PartialEq for IndexPattern {
    fn eq(&self, other: &IndexPattern) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared) || **self == **other
    }
}

impl fmt::Debug for IndexPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// An index array in a file. A case depends only on the contents, so the case carries their hash; the path
/// matters only for opening the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    #[serde(with = "super::place", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<super::place::Written>")]
    pub source: Option<PathBuf>,
    /// Path of a copy of the indices as raw words, kept in the run folder.
    #[serde(with = "super::place", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<super::place::Written>")]
    pub copy: Option<PathBuf>,
}

/// The name of the column under which all of a matrix is read, as integers, instead of the columns of its entries alone.
pub const WHOLE_MATRIX: &str = "%matrix";

/// The name under which all of a graph is read, instead of the heads of its arcs alone.
pub const WHOLE_GRAPH: &str = "%graph";

/// The paper whose folder a recipe lies in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PaperFolder {
    /// The recipe is not from a folder, or is a run's copy: it may be of any paper.
    Any,
    /// The folder with this name has a `paper.yaml`.
    Of(String),
    /// The folder has none; its name.
    Without(String),
}

/// Access to the files that a recipe names, and to those of its paper's folder.
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

    /// The paper of the recipe's folder.
    fn paper(&self) -> PaperFolder {
        PaperFolder::Any
    }

    /// The text of the `paper.yaml` in the recipe's folder, if it can be read.
    fn paper_text(&self) -> Option<String> {
        None
    }

    /// The table `file`, such as `published/table05.csv`, of the paper with this key, if the recipe's folder has it.
    ///
    /// # Errors
    /// When the table cannot be read; one line that names the file.
    fn table(&self, _key: &str, _file: &str) -> Result<Option<Table>, String> {
        Ok(None)
    }

    /// The peers that the recipe's folder names.
    ///
    /// # Errors
    /// When the list of them has a mistake; one line that names the file.
    fn programs(&self) -> Result<Vec<Program>, String> {
        Ok(Vec::new())
    }
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
