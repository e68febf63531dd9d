//! The sequential oracle of histogram: integers only, without a table and without an f32.

use super::values::Values;
use super::{BITS, By, Spec};
use crate::primitives::oracle::{check_length, compare_words64};

/// Compares the counts with the definition.
pub fn check(spec: &Spec, output: &[u8]) -> Result<(), String> {
    check_length(output, spec.output())?;
    let values = Values::new(spec).ok_or("no such distribution")?;
    let splitters = spec.splitters();
    let mut counts = vec![0; spec.bins as usize];
    (0..spec.elements).for_each(|i| counts[bin(spec, &splitters, values.at(i))] += 1);
    compare_words64(output, counts.into_iter())
}

/// The bin of k · 2^-14.
pub fn bin(spec: &Spec, splitters: &[u32], k: u32) -> usize {
    match spec.by {
        By::Even => ((u64::from(k) * spec.bins) >> BITS) as usize,
        By::Range => splitters.partition_point(|&s| s <= k),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::spec;
    use super::*;

    /// Computed by hand: three bins of 1024 / 3, at whose edges f32 products round.
    #[test]
    fn even_bins_are_exact() {
        let spec = spec("elements=1 bins=3");
        let bins =
            [0, 5_592_405, 5_592_406, 11_184_810, 11_184_811, (1 << 24) - 1].map(|k| bin(&spec, &[], k));
        assert_eq!(bins, [0, 0, 1, 1, 2, 2]);
    }

    #[test]
    fn a_value_on_a_splitter_lies_above_it() {
        let spec = spec("elements=1 bins=4 by=range");
        assert_eq!([4, 5, 6, 9, 10].map(|k| bin(&spec, &[5, 5, 10], k)), [0, 2, 2, 2, 3]);
    }

    #[test]
    fn it_accepts_the_definition_and_nothing_else() {
        for by in ["even", "range"] {
            let spec = spec(&format!("elements=100 bins=5 by={by} distribution=skewed"));
            let values = Values::new(&spec).expect("values");
            let mut counts = [0u64; 5];
            for k in (0..100).map(|i| values.at(i)) {
                let above = spec.splitters().iter().filter(|&&s| s <= k).count();
                counts[above] += 1;
            }
            let mut output: Vec<u8> = counts.into_iter().flat_map(u64::to_le_bytes).collect();
            assert_eq!(check(&spec, &output), Ok(()));
            output[32] ^= 1;
            assert!(check(&spec, &output).unwrap_err().starts_with("word 4"));
            assert!(check(&spec, &output[8..]).is_err());
        }
    }
}
