//! The sequential oracle: each row in f64, one entry after another.

use super::matrix::generated;
use super::{Spec, Type};
use crate::primitives::oracle::check_length;

/// Compares y with the definition.
pub fn check(spec: &Spec, output: &[u8]) -> Result<(), String> {
    let element = spec.element() as usize;
    check_length(output, spec.shape.rows * spec.element())?;
    let matrix = generated(spec).ok_or("a matrix in a file is checked on its device")?;
    let matrix = matrix.map_err(|error| error.to_string())?;
    for (row, found) in output.chunks_exact(element).enumerate() {
        let terms = matrix.row(row).map(|at| matrix.values[at] * spec.x(matrix.indices[at].into()));
        let (sum, size) =
            terms.fold(first(spec, row as u64), |(sum, size), term| (sum + term, size + term.abs()));
        let found = number(found);
        if (found - sum).abs() > bound(spec, matrix.row(row).len(), size) || found.is_nan() {
            return Err(format!("y[{row}] is {found} instead of {sum}"));
        }
    }
    Ok(())
}

/// z[i] and its size.
pub(super) fn first(spec: &Spec, row: u64) -> (f64, f64) {
    let z = if spec.beta == 1 { spec.z(row) } else { 0.0 };
    (z, z.abs())
}

/// A number in the output.
fn number(bytes: &[u8]) -> f64 {
    let word = bytes.iter().rev().fold(0u64, |word, byte| word << 8 | u64::from(*byte));
    if bytes.len() == 4 { f64::from(f32::from_bits(word as u32)) } else { f64::from_bits(word) }
}

/// How far a sum of so many products, whose magnitudes sum to `size`, may be from its value in f64, computed in any order:
/// not at all if all numbers are integers and the type represents every sum of them, otherwise twice γ·Σ|a||x|
/// (Higham 2002, §3.1), for the f64 has errors, too.
pub(super) fn bound(spec: &Spec, terms: usize, size: f64) -> f64 {
    let unit = if spec.ty == Type::F32 { 2f64.powi(-24) } else { 2f64.powi(-53) };
    let exact = spec.generator().is_some() && size * unit <= 1.0;
    if exact { 0.0 } else { 2.0 * (terms as f64 + 2.0) * unit * size }
}
