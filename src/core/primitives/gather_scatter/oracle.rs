//! The sequential oracle of gather and scatter: one loop over the definition.

use super::spec::{Kernel, Locations, Spec, tuple_word};
use crate::inputs::{Permutation, Zipf, partitions};
use crate::primitives::oracle::check_length;

/// The contents of untouched tuples.
const POISON: [u8; 4] = 0xDEAD_BEEFu32.to_le_bytes();

/// Compares R_out, byte by byte, with the definition.
pub fn check(spec: &Spec, output: &[u8]) -> Result<(), String> {
    check_length(output, spec.output().saturating_mul(spec.tuple))?;
    let source: Vec<Vec<u8>> = (0..spec.input()).map(|i| tuple(spec, i)).collect();
    let mut writers: Vec<Vec<&[u8]>> = vec![Vec::new(); spec.output() as usize];
    for (i, &location) in locations(spec)?.iter().enumerate() {
        let (from, to) = match spec.kernel {
            Kernel::Gather => (location as usize, i),
            Kernel::Scatter => (i, location as usize),
        };
        writers[to].push(&source[from]);
    }
    let untouched = POISON.repeat(spec.tuple as usize / 4);
    for (at, (found, mut writers)) in output.chunks_exact(spec.tuple as usize).zip(writers).enumerate() {
        match writers.as_slice() {
            [] if spec.overwrites() => writers.push(&untouched),
            [] => return Err(format!("no tuple goes to {at}: L is not a permutation")),
            _ => {}
        }
        if !words_of(found, &writers) {
            return Err(format!("tuple {at} of R_out is {found:02x?} instead of {:02x?}", writers[0]));
        }
    }
    Ok(())
}

/// Whether each 8-byte word of a tuple comes from one of the tuple's writers.
fn words_of(found: &[u8], writers: &[&[u8]]) -> bool {
    let word = |tuple: &[u8], k: usize| tuple.chunks(8).nth(k).map(<[u8]>::to_vec);
    (0..found.len().div_ceil(8)).all(|k| writers.iter().any(|writer| word(writer, k) == word(found, k)))
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
        Locations::File { .. } | Locations::List { .. } => {
            let list = spec.user_indices.as_ref().and_then(|user_indices| user_indices.list.as_ref());
            list.ok_or("the oracle opens no files")?.to_vec()
        }
    })
}
