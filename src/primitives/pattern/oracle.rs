//! The sequential oracle of pattern: Spatter's loops, written out.

use std::collections::HashMap;

use super::spec::{Kernel, POISON, Spec};
use crate::inputs::mix::word64;
use crate::primitives::oracle::{LIMIT, check_length, compare_words, words};

/// Compares an output with the definition. For gather and multigather it holds the
/// count·P gathered words; for the others the sparse destination, where a word may come
/// from any of its writers and untouched words hold the poison.
pub fn check(spec: &Spec, output: &[u8]) -> Result<(), String> {
    if spec.bytes_each().saturating_mul(spec.count) > LIMIT {
        return Err("too many words for the oracle".to_owned());
    }
    if spec.kernel.scatters() { check_scattered(spec, output) } else { check_gathered(spec, output) }
}

fn check_gathered(spec: &Spec, output: &[u8]) -> Result<(), String> {
    check_length(output, spec.count * spec.length() * 8)?;
    let (entries, starts) = (0..spec.length() as usize, spec.starts());
    let expected = (0..spec.count)
        .map(|i| starts.at(i))
        .flat_map(|start| entries.clone().map(move |j| (start, j)))
        .map(|(start, j)| word64(spec.seed, entry(spec, j) + start));
    compare_words(output, expected)
}

fn check_scattered(spec: &Spec, output: &[u8]) -> Result<(), String> {
    check_length(output, spec.sparse_words() * 8)?;
    let mut writers: HashMap<u64, Vec<u64>> = HashMap::new();
    let (p, starts, sources) = (spec.length(), spec.starts(), spec.source_starts());
    for i in 0..spec.count {
        let start = starts.at(i);
        for j in 0..p {
            let (to, value) = match spec.kernel {
                Kernel::Gs => (
                    spec.scatter[j as usize] + start,
                    word64(spec.seed, spec.gather[j as usize] + sources.at(i)),
                ),
                _ => (entry(spec, j as usize) + start, word64(spec.seed, i * p + j)),
            };
            writers.entry(to).or_default().push(value);
        }
    }
    for (at, found) in words(output).enumerate() {
        match writers.get(&(at as u64)) {
            Some(values) if values.contains(&found) => {}
            Some(_) => {
                return Err(format!("word {at} holds {found:#018x}, which none of its writers stores"));
            }
            None if found == POISON => {}
            None => return Err(format!("word {at} holds {found:#018x}, but nothing is written there")),
        }
    }
    Ok(())
}

/// p[j], or p[inner[j]] where there is an inner pattern.
fn entry(spec: &Spec, j: usize) -> u64 {
    match spec.kernel {
        Kernel::Multigather | Kernel::Multiscatter => spec.pattern[spec.inner[j] as usize],
        _ => spec.pattern[j],
    }
}
