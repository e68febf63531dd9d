//! The indices that a plan's case goes through, whoever made them.

use crate::case::{Case, IndexFile, Walk};
use crate::inputs::indices::find;

/// The ways through memory of a case, each of at most `most` indices. `files` are those of
/// its plan.
///
/// # Errors
/// A case that does not exist, a file that is not there, and indices that would take too long
/// to make.
pub fn walks(files: &[IndexFile], case: &Case, most: u64) -> Result<Vec<Walk>, String> {
    let stored = |hash: &str| {
        let file = files.iter().find(|file| file.hash == hash).ok_or("no such file in the plan")?;
        find(file).map_err(|missing| missing.to_string())
    };
    super::problem(case)?.walks(most, &stored)
}
