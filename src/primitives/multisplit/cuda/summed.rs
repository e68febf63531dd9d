//! 32-bit counts and their exclusive sums, by the lab's own scan.

use crate::case::Failure;
use crate::device::cuda::{DeviceBuffer, DevicePtr, Gpu};
use crate::device::cuda::{Named, named};
use crate::primitives::cuda::length;
use crate::primitives::scan;
use crate::primitives::scan::cuda::one_pass::{self, Arrays, Manner, Means, OnePass};

/// Bytes of a count.
const COUNT: u64 = 4;
/// Sums of u32, no segments.
const FAMILY: (bool, &str) = (false, "add_u32");

/// Counts and sums for up to so many, and the scan.
pub struct Summed {
    pub given: DeviceBuffer<u32>,
    pub sums: DeviceBuffer<u32>,
    scan: OnePass,
}

impl Summed {
    /// Bytes for `n` counts.
    pub fn bytes_for(n: u64) -> u64 {
        2 * COUNT * n + one_pass::bytes(Means::Spine, n, COUNT)
    }

    /// The name of its kernel, which is the primitive scan's.
    pub fn kernel() -> String {
        one_pass::name(Means::Spine, FAMILY.0, FAMILY.1)
    }

    /// The kernels that it asks for.
    pub fn kernels() -> Vec<Named> {
        named(scan::cuda::MODULE, [Summed::kernel()])
    }

    /// Room for up to `n` counts.
    ///
    /// # Errors
    /// What the driver reports.
    pub fn new(gpu: &Gpu, n: u64) -> Result<Summed, Failure> {
        Ok(Summed {
            given: gpu.alloc(length(n)?)?,
            sums: gpu.alloc(length(n)?)?,
            scan: OnePass::new(gpu, &gpu.module(scan::cuda::MODULE)?, Means::Spine, FAMILY, COUNT, n)?,
        })
    }

    /// Bytes that it holds.
    pub fn bytes(&self) -> u64 {
        self.given.bytes() + self.sums.bytes() + self.scan.bytes()
    }

    /// Queues the sums of the counts before each of the first `n`.
    pub fn scan(&mut self, gpu: &Gpu, n: u64) -> Result<(), Failure> {
        let arrays = Arrays {
            input: self.given.pointer(),
            output: self.sums.pointer(),
            heads: DevicePtr::null(),
            aligned: true,
        };
        let manner = Manner { flip: 0, backward: false, inclusive: false };
        self.scan.execute(gpu, &arrays, n, manner)
    }
}
