//! Where the uses of a case start, in memory of the device.

use super::kernels::{Kernels, Side};
use crate::backend::Failure;
use crate::backend::cuda::{DeviceBuffer, DevicePtr, Gpu, Plain};
use crate::patterns::Permutation;
use crate::primitives::cuda::length;
use crate::primitives::pattern::{Spec, Starts};

/// `Starts` in the kernels.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Form {
    sums: DevicePtr<u64>,
    length: u64,
    total: u64,
    order: Permutation,
    shuffled: u32,
    unused: u32,
}

// SAFETY: `#[repr(C)]` like its twin in the kernels, plain numbers and a device address.
unsafe impl Plain for Form {}

/// Where each visit of a case starts in one sparse array, and the function that it follows.
pub struct Array {
    starts: DeviceBuffer<u32>,
    sums: DeviceBuffer<u64>,
    bytes: u32,
    count: u64,
    total: u64,
    order: Permutation,
    shuffled: bool,
}

impl Array {
    /// Allocates it and queues its making.
    pub fn new(gpu: &Gpu, kernels: &Kernels, spec: &Spec, starts: &Starts) -> Result<Array, Failure> {
        let none = || Failure::Failed("no permutation of 1".to_owned());
        let array = Array {
            starts: gpu.alloc(length(spec.count * spec.base_bytes() / 4)?)?,
            sums: gpu.upload(&starts.sums)?,
            bytes: spec.base_bytes() as u32,
            count: spec.count,
            total: starts.total,
            order: starts.order.or_else(|| Permutation::new(1, 0)).ok_or_else(none)?,
            shuffled: starts.order.is_some(),
        };
        kernels.starts(gpu, &array.starts, array.bytes, &array.form(), array.count)?;
        Ok(array)
    }

    /// Queues the comparison with the function.
    pub fn check(&self, gpu: &Gpu, kernels: &Kernels, report: &DeviceBuffer<u64>) -> Result<(), Failure> {
        kernels.checks.starts(gpu, &self.starts, self.bytes, &self.form(), self.count, report)
    }

    /// The side, its uses starting where the array says.
    pub fn of(&self, side: Side) -> Side {
        side.starting(self.starts.pointer(), self.bytes)
    }

    pub fn bytes(&self) -> u64 {
        self.starts.bytes() + self.sums.bytes()
    }

    fn form(&self) -> Form {
        Form {
            sums: self.sums.pointer(),
            length: self.sums.len() as u64,
            total: self.total,
            order: self.order,
            shuffled: u32::from(self.shuffled),
            unused: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layout_is_the_kernels() {
        assert_eq!((size_of::<Form>(), std::mem::offset_of!(Form, shuffled)), (72, 64));
    }
}
