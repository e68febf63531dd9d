//! What the kernels of `kernels/atop_scan.cu` take: their structs and codes.

use crate::case::Failure;
use crate::device::cuda::{DevicePtr, Plain};
use crate::inputs::Permutation;
use crate::inputs::mix::key64;
use crate::primitives::atop_scan::spec::{Operation, Spec};
use crate::primitives::atop_scan::work::{sums_needed, tiles};
use crate::primitives::scan::cuda::forms::Segments;

/// `Bits`: what elements' places follow from.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Bits {
    pub flags: DevicePtr<u32>,
    pub heads: DevicePtr<u32>,
    pub sums: DevicePtr<u64>,
    pub starts: DevicePtr<u32>,
    pub n: u32,
    pub tiles: u32,
    pub before: u32,
    pub behind: u32,
    pub together: u32,
    pub unused: u32,
}

/// `Given`: the elements, flags and segments as functions of i.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Given {
    key: u64,
    trues: u64,
    order: Permutation,
    segments: Segments,
    element: u32,
    operation: u32,
}

// SAFETY: `#[repr(C)]` like its twin in the kernels, plain numbers and device addresses.
unsafe impl Plain for Bits {}
// SAFETY: as above.
unsafe impl Plain for Given {}

impl Bits {
    /// Those of the first `n` elements of a case, without sums yet.
    pub fn new(
        spec: &Spec,
        (flags, heads): (DevicePtr<u32>, DevicePtr<u32>),
        n: u64,
    ) -> Result<Bits, Failure> {
        let small = |n: u64| {
            u32::try_from(n).map_err(|_| Failure::NotApplicable(format!("{n} elements are too many")))
        };
        let [before, behind] = sums_needed(spec).map(u32::from);
        Ok(Bits {
            flags,
            heads,
            sums: DevicePtr::null(),
            starts: DevicePtr::null(),
            n: small(n)?,
            tiles: small(tiles(n))?,
            before,
            behind,
            together: u32::from(spec.operation == Operation::Compact),
            unused: 0,
        })
    }
}

impl Given {
    /// Those of a case.
    pub fn new(spec: &Spec) -> Given {
        let inputs = spec.inputs();
        Given {
            key: key64(inputs.seed),
            trues: inputs.trues,
            order: inputs.order,
            segments: Segments::of(&inputs.segments),
            element: inputs.element as u32,
            operation: match spec.operation {
                Operation::Enumerate => 0,
                Operation::Compact => 1,
                Operation::Distribute => 2 + u32::from(spec.backward()),
                Operation::Split | Operation::SplitAndSegment => 4,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the static assertions beside the kernels' structs.
    #[test]
    fn the_layouts_are_the_kernels() {
        assert_eq!([size_of::<Bits>(), size_of::<Given>()], [56, 96]);
    }
}
