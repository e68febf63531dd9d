//! The sequential oracle of stream, straight from the kernels' formulas.

use super::{Array, Kernel, Q, Spec, WRITTEN};
use crate::primitives::oracle::{check_length, compare_words64, words64};

/// Compares an output with the definition: for read one f64, else the destination.
pub fn check(spec: &Spec, output: &[u8]) -> Result<(), String> {
    if spec.kernel == Kernel::Read {
        return check_sum(spec, output);
    }
    check_length(output, spec.elements.saturating_mul(8))?;
    compare_words64(output, (0..spec.elements).map(|i| element(spec, i).to_bits()))
}

fn check_sum(spec: &Spec, output: &[u8]) -> Result<(), String> {
    check_length(output, 8)?;
    let wanted: u64 = (0..spec.elements).map(|i| spec.input(Array::A, i) as u64).sum();
    match words64(output).next().map(f64::from_bits) {
        Some(found) if found == wanted as f64 => Ok(()),
        found => Err(format!("the sum is {found:?} instead of {wanted}")),
    }
}

fn element(spec: &Spec, i: u64) -> f64 {
    let [a, b, c] = [Array::A, Array::B, Array::C].map(|array| spec.input(array, i));
    match spec.kernel {
        Kernel::Read | Kernel::Copy => a,
        Kernel::Write => WRITTEN,
        Kernel::Scale => Q * c,
        Kernel::Add => a + b,
        Kernel::Triad => b + Q * c,
    }
}
