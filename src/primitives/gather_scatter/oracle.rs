//! The sequential oracle of gather and scatter: one loop over the definition.

use super::spec::{Kernel, Locations, Spec, tuple_word};
use crate::patterns::{Permutation, Zipf, partitions};
use crate::primitives::oracle::check_length;

/// Compares R_out, byte by byte, with the definition.
pub fn check(spec: &Spec, output: &[u8]) -> Result<(), String> {
    check_length(output, spec.tuples.saturating_mul(spec.tuple))?;
    let source: Vec<Vec<u8>> = (0..spec.tuples).map(|i| tuple(spec, i)).collect();
    let mut wanted = vec![None; source.len()];
    for (i, &location) in locations(spec)?.iter().enumerate() {
        let (from, to) = match spec.kernel {
            Kernel::Gather => (location as usize, i),
            Kernel::Scatter => (i, location as usize),
        };
        wanted[to] = Some(&source[from]);
    }
    for (at, (found, wanted)) in output.chunks_exact(spec.tuple as usize).zip(wanted).enumerate() {
        let wanted = wanted.ok_or_else(|| format!("no tuple goes to {at}: L is not a permutation"))?;
        if found != wanted.as_slice() {
            return Err(format!("tuple {at} of R_out is {found:02x?} instead of {wanted:02x?}"));
        }
    }
    Ok(())
}

/// Tuple `i` of R_in.
fn tuple(spec: &Spec, i: u64) -> Vec<u8> {
    let bytes = (0..spec.words()).flat_map(|w| tuple_word(spec.seed, spec.tuple, i, w).to_le_bytes());
    bytes.take(spec.tuple as usize).collect()
}

/// All of L.
fn locations(spec: &Spec) -> Result<Vec<u64>, String> {
    let (n, seed) = (spec.tuples, spec.seed);
    Ok(match spec.locations {
        Locations::Sequential => (0..n).collect(),
        Locations::Random => {
            let permutation = Permutation::new(n, seed).ok_or("too many tuples")?;
            (0..n).map(|i| permutation.apply(i)).collect()
        }
        Locations::Partitions { count } => partitions::locations(seed, n, count),
        Locations::Zipf { exponent } => {
            let zipf = Zipf::new(n.max(1), exponent, seed).ok_or("too many tuples")?;
            (0..n).map(|i| zipf.draw(i)).collect()
        }
    })
}
