//! The index sequence of a plan's case, or its sparse matrix, generated or user-provided.

use crate::case::{Case, IndexFile, Walk};
use crate::inputs::indices::find;
use crate::inputs::sparse::Positions;

/// The index sequences of a case, each of at most `most` indices. `files` are the index files of the case's
/// plan.
///
/// # Errors
/// A case that does not exist, a missing file, and indices that would take too long to generate.
pub fn walks(files: &[IndexFile], case: &Case, most: u64) -> Result<Vec<Walk>, String> {
    super::problem(case)?.walks(most, &|hash| stored(files, hash))
}

/// Where a case's sparse matrix has entries; `None` for a primitive without one. `files` are the index files of the case's
/// plan, matrices and graphs in files among them.
///
/// # Errors
/// A case that does not exist, a missing file, and a matrix that would take too long to look at.
pub fn positions(files: &[IndexFile], case: &Case) -> Result<Option<Positions>, String> {
    super::problem(case)?.positions(&|hash| stored(files, hash))
}

fn stored(files: &[IndexFile], hash: &str) -> Result<Vec<u64>, String> {
    let file = files.iter().find(|file| file.hash == hash).ok_or("no such file in the plan")?;
    find(file).map_err(|missing| missing.to_string())
}
