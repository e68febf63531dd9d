//! The sequential oracle of gather and scatter: one loop over the definition.

use super::{Kernel, Locations, Spec, tuple_word};
use crate::inputs::{Permutation, Zipf, partitions};
use crate::primitives::oracle::check_length;

/// The contents of untouched tuples.
const POISON: [u8; 4] = 0xDEAD_BEEFu32.to_le_bytes();

/// Compares R_out, byte by byte, with the definition.
pub fn check(spec: &Spec, output: &[u8]) -> Result<(), String> {
    check_length(output, spec.output().saturating_mul(spec.tuple))?;
    let bytes = spec.tuple as usize;
    let source = source(spec);
    let copy = |(i, &location): (usize, &u64)| match spec.kernel {
        Kernel::Gather => (i, location as usize),
        Kernel::Scatter => (location as usize, i),
    };
    let mut copies: Vec<(usize, usize)> = locations(spec)?.iter().enumerate().map(copy).collect();
    copies.sort_unstable();
    let untouched = POISON.repeat(bytes / 4);
    let mut copied = copies.chunk_by(|(a, _), (b, _)| a == b).peekable();
    for (at, found) in output.chunks_exact(bytes).enumerate() {
        let writers: Vec<&[u8]> = match copied.next_if(|here| here[0].0 == at) {
            Some(here) => here.iter().map(|&(_, from)| &source[from * bytes..][..bytes]).collect(),
            None if spec.overwrites() => vec![&untouched],
            None => return Err(format!("no tuple goes to {at}: L is not a permutation")),
        };
        if !words_of(found, &writers) {
            return Err(format!("tuple {at} of R_out is {found:02x?} instead of {:02x?}", writers[0]));
        }
    }
    copied.next().map_or(Ok(()), |beyond| Err(format!("a tuple goes to {}, beyond R_out", beyond[0].0)))
}

/// True if each 8-byte word of a tuple comes from one of the tuple's writers.
fn words_of(found: &[u8], writers: &[&[u8]]) -> bool {
    let from = |at: usize, word: &[u8]| writers.iter().any(|writer| &writer[at..at + word.len()] == word);
    found.chunks(8).enumerate().all(|(k, word)| from(8 * k, word))
}

/// R_in.
fn source(spec: &Spec) -> Vec<u8> {
    let mut tuples = Vec::new();
    for i in 0..spec.input() {
        let end = tuples.len() + spec.tuple as usize;
        (0..spec.words()).for_each(|w| tuples.extend(tuple_word(spec.seed, spec.tuple, i, w).to_le_bytes()));
        tuples.truncate(end);
    }
    tuples
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
