//! The sequential oracle of pattern: Spatter's loops, written out.

use super::spec::{Kernel, POISON, Spec};
use crate::inputs::mix::word64;
use crate::primitives::oracle::{LIMIT, check_length, compare_words64, words64};

/// Compares an output with the definition. For gather and multigather the output is the count·P gathered words;
/// for the others it is the sparse destination, where a word may come from any of its writers and untouched
/// words hold the poison.
pub fn check(spec: &Spec, output: &[u8]) -> Result<(), String> {
    if spec.bytes_each().saturating_mul(spec.count) > LIMIT {
        return Err("too many words for the oracle".to_owned());
    }
    if spec.kernel.scatters() { check_scattered(spec, output) } else { check_gathered(spec, output) }
}

fn check_gathered(spec: &Spec, output: &[u8]) -> Result<(), String> {
    check_length(output, spec.count * spec.length() * 8)?;
    let (p, starts) = (spec.applied(), spec.starts());
    let use_of = |start| p.iter().map(move |entry| word64(spec.seed, entry + start));
    compare_words64(output, (0..spec.count).flat_map(|i| use_of(starts.at(i))))
}

fn check_scattered(spec: &Spec, output: &[u8]) -> Result<(), String> {
    check_length(output, spec.sparse_words() * 8)?;
    let (p, starts, sources) = (spec.applied(), spec.starts(), spec.source_starts());
    let mut stores = Vec::with_capacity(spec.count as usize * p.len());
    for i in 0..spec.count {
        for (j, entry) in p.iter().enumerate() {
            let from = match spec.kernel {
                Kernel::Gs => spec.gather[j] + sources.at(i),
                _ => i * spec.length() + j as u64,
            };
            stores.push((entry + starts.at(i), word64(spec.seed, from)));
        }
    }
    stores.sort_unstable();
    let mut stored = stores.chunk_by(|(a, _), (b, _)| a == b).peekable();
    for (at, found) in words64(output).enumerate() {
        match stored.next_if(|here| here[0].0 == at as u64) {
            Some(here) if here.iter().any(|&(_, value)| value == found) => {}
            Some(_) => {
                return Err(format!(
                    "word {at} holds {found:#018x}, which is stored by no index that points there"
                ));
            }
            None if found == POISON => {}
            None => return Err(format!("word {at} holds {found:#018x}, but nothing is written there")),
        }
    }
    stored.next().map_or(Ok(()), |beyond| Err(format!("a word goes to {}, beyond the output", beyond[0].0)))
}
