//! The labels that a reduced-bit sort sorts digit by digit (ashkiani2017 §3.3), and the load that goes along
//! with each label. Pure.

use super::Spec;
use super::tiles::{KernelVariant, MOST_BITS, Number};

/// The load that goes along with a label: `WITH_…` in the kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    Key = 0,
    Pair = 1,
    Number = 2,
}

impl Load {
    /// The load of a case.
    pub fn of(spec: &Spec) -> Load {
        match spec.value {
            0 => Load::Key,
            4 => Load::Pair,
            _ => Load::Number,
        }
    }

    /// Bytes per load.
    pub fn size(self) -> u64 {
        if self == Load::Pair { 8 } else { 4 }
    }
}

/// The number of digits of a `bits`-bit number, and the bits per digit.
pub fn digits(bits: u32) -> (u32, u32) {
    let count = bits.div_ceil(MOST_BITS);
    (count, bits.div_ceil(count))
}

/// The kernels that split a case by a digit.
pub fn way(spec: &Spec) -> KernelVariant {
    KernelVariant { bits: digits(spec.bits()).1, value: Load::of(spec).size(), number: Number::Field }
}

/// Words of each of the two arrays of loads.
pub fn loads(spec: &Spec) -> [u64; 2] {
    let words = Load::of(spec).size() / 4 * spec.keys;
    match (Load::of(spec), digits(spec.bits()).0) {
        // Keys come from the input and end in the output.
        (Load::Key, 1) => [0, 0],
        (Load::Key, _) => [words, 0],
        _ => [words, words],
    }
}

/// Bytes that the sort allocates beside the arrays.
pub fn bytes(spec: &Spec) -> u64 {
    4 * (2 * spec.keys + loads(spec).iter().sum::<u64>()) + way(spec).bytes(spec.keys)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::multisplit::tests::spec;

    #[test]
    fn digits_are_alike() {
        assert_eq!([1, 8, 9, 12, 15, 16].map(digits), [(1, 1), (1, 8), (2, 5), (2, 6), (2, 8), (2, 8)]);
    }

    #[test]
    fn it_holds_labels_and_loads() {
        let of = |words: &str| {
            let spec = spec(&format!("keys=1000 method=rb-sort {words}"));
            bytes(&spec) - way(&spec).bytes(1000)
        };
        assert_eq!([of("buckets=9"), of("buckets=300")], [8000, 12_000]);
        assert_eq!([of("buckets=9 values=4B"), of("buckets=9 values=8B")], [24_000, 16_000]);
    }
}
