//! The elements of in, their flags and their segments, each a function of (seed, i).
//!
//! With n elements, k trues, π the permutation of n elements with seed ^ 0x464C414753:
//!
//! ```text
//! in[i]     word32(seed, i) or word64(seed, i): from a value follows its i
//! flag(i)   π(i) < k: exactly k are true
//! ```
//!
//! The segments are those of the scans ([`Segments`]).

use std::ops::Range;

use super::Spec;
use crate::inputs::Permutation;
use crate::inputs::mix::{index_of_word, word};
use crate::primitives::scan::segments::Segments;

const TAG: u64 = 0x46_4C41_4753;

/// The inputs of a case.
#[derive(Clone, Copy, Debug)]
pub struct Inputs {
    pub seed: u64,
    /// Bytes of an element.
    pub element: u64,
    pub trues: u64,
    /// π.
    pub order: Permutation,
    pub segments: Segments,
}

impl Inputs {
    /// The inputs of a case.
    pub fn new(spec: &Spec) -> Inputs {
        let nothing = Permutation { n: 0, bits_left: 0, bits_right: 0, keys: [0; 6] };
        Inputs {
            seed: spec.seed,
            element: spec.element,
            trues: spec.trues,
            // A permutation exists for every number of elements that a case may have.
            order: Permutation::new(spec.elements, spec.seed ^ TAG).unwrap_or(nothing),
            segments: spec.segments(),
        }
    }

    /// in\[i\] as bits.
    #[inline(always)]
    pub fn value(&self, i: u64) -> u64 {
        word(self.seed, i, self.element)
    }

    /// The index i of a value; n or more if in does not contain the value.
    #[inline(always)]
    pub fn index(&self, value: u64) -> u64 {
        index_of_word(self.seed, value, self.element)
    }

    /// The flag of element `i`; i below n.
    #[inline(always)]
    pub fn flag(&self, i: u64) -> bool {
        self.order.apply(i) < self.trues
    }

    /// The elements of the segment that holds element `i`; i below n.
    #[inline(always)]
    pub fn segment(&self, i: u64) -> Range<u64> {
        self.segments.around(i).unwrap_or(i..i + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Operation;
    use super::super::tests::spec;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn as_many_are_true_as_is_said(n in 1u64..3000, eighths in 0u64..=8, seed: u64) {
            let spec = Spec { trues: n * eighths / 8, ..spec(Operation::Compact, n, 0, seed) };
            let inputs = spec.inputs();
            prop_assert_eq!((0..n).filter(|&i| inputs.flag(i)).count() as u64, spec.trues);
        }

        #[test]
        fn values_tell_their_elements(i in 0u64..1 << 31, wide: bool, seed: u64) {
            let element = if wide { 8 } else { 4 };
            let inputs = Spec { element, ..spec(Operation::Compact, 9, 0, seed) }.inputs();
            prop_assert_eq!(inputs.index(inputs.value(i)), i);
        }
    }

    /// The CUDA counterpart must give the same values.
    #[test]
    fn golden() {
        let inputs = spec(Operation::Compact, 100, 0, 42).inputs();
        let trues: Vec<u64> = (0..100).filter(|&i| inputs.flag(i)).take(12).collect();
        insta::assert_debug_snapshot!(format!("{trues:?}"));
    }
}
