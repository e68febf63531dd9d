//! The index sequence of a plan's case, generated or user-provided.

use crate::case::{Case, IndexFile, Walk};
use crate::inputs::indices::find;

/// The index sequences of a case, each of at most `most` indices. `files` are the index files of the case's
/// plan.
///
/// # Errors
/// A case that does not exist, a missing file, and indices that would take too long to generate.
pub fn walks(files: &[IndexFile], case: &Case, most: u64) -> Result<Vec<Walk>, String> {
    let stored = |hash: &str| {
        let file = files.iter().find(|file| file.hash == hash).ok_or("no such file in the plan")?;
        find(file).map_err(|missing| missing.to_string())
    };
    super::problem(case)?.walks(most, &stored)
}
