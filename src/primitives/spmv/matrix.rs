//! The matrix of a case, in host memory.

use std::sync::Arc;

use super::spec::{Matrix, Spec};
use crate::case::Failure;
use crate::inputs::sparse::{Csr, SparseError, small_integer};

impl From<SparseError> for Failure {
    fn from(error: SparseError) -> Failure {
        Failure::NotApplicable(error.to_string())
    }
}

/// The matrix: generated, or from the words that `stored` finds by their hash.
///
/// # Errors
/// Those of `stored`, and a matrix that is not the plan's.
pub fn matrix(
    spec: &Spec,
    stored: impl FnOnce(&str) -> Result<Arc<Vec<u64>>, Failure>,
) -> Result<Csr<f64>, Failure> {
    match (generated(spec), &spec.hash) {
        (Some(made), _) => Ok(made?),
        (None, Some(hash)) => {
            let made = Csr::from_words(&stored(hash)?)?;
            match made.shape() == spec.shape {
                true => Ok(made),
                false => Err(Failure::Failed("the matrix has another size than the plan says".to_owned())),
            }
        }
        (None, None) => Err(Failure::Failed("the plan has no hash of the matrix".to_owned())),
    }
}

/// The matrix of a generator: Laplacians have the stencil's values, the others small integers. `None` if it is in a file.
pub fn generated(spec: &Spec) -> Option<Result<Csr<f64>, SparseError>> {
    let diagonal = match spec.matrix {
        Matrix::Laplace5 { .. } => Some(4.0),
        Matrix::Laplace7 { .. } => Some(6.0),
        _ => None,
    };
    let value = |row: u64, column: u32, at: u64| match diagonal {
        Some(diagonal) if row == u64::from(column) => diagonal,
        Some(_) => -1.0,
        None => f64::from(small_integer(spec.seed.wrapping_add(1), at)),
    };
    Some(spec.generator()?.make(spec.seed).map(|made| made.with_values(value)))
}
