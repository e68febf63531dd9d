//! The stub for builds without the feature `mpi`.

use super::Ranks;
use super::launch::Launch;

/// Refuses to start: independent copies would measure something else.
///
/// # Errors
/// Always, with advice on how to get MPI.
pub fn join(launch: &Launch) -> Result<Box<dyn Ranks>, String> {
    Err(format!(
        "{} ({}={}), and this build has no MPI: build one with `cargo install --path . --features mpi`, \
         which needs mpicc and libclang, or start a single process",
        launch.words(),
        launch.said_by,
        launch.size
    ))
}
