//! 32-bit counts and their exclusive sums, by the lab's own scan.

use crate::case::Failure;
use crate::device::cuda::{DeviceBuffer, Gpu};
use crate::device::cuda::{Named, named};
use crate::primitives::cuda::length;
use crate::primitives::scan;
use crate::primitives::scan::cuda::one_pass::{Launch, OnePass, Variant};

/// Bytes of a count.
const COUNT: u64 = 4;

/// Counts and sums for up to so many, and the scan.
pub struct Summed {
    pub given: DeviceBuffer<u32>,
    pub sums: DeviceBuffer<u32>,
    scan: OnePass,
}

impl Summed {
    /// Bytes for `n` counts.
    pub fn bytes_for(n: u64) -> u64 {
        2 * COUNT * n + Variant::COUNTS.bytes(n)
    }

    /// The name of its kernel, which is the primitive scan's.
    pub fn kernel() -> String {
        Variant::COUNTS.name()
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
            scan: OnePass::new(gpu, Variant::COUNTS, n)?,
        })
    }

    /// Bytes that it holds.
    pub fn bytes(&self) -> u64 {
        self.given.bytes() + self.sums.bytes() + self.scan.bytes()
    }

    /// Queues the sums of the counts before each of the first `n`.
    pub fn scan(&mut self, gpu: &Gpu, n: u64) -> Result<(), Failure> {
        self.scan.execute(gpu, Launch::new(self.given.pointer(), self.sums.pointer(), n))
    }
}
