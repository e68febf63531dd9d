//! scan-split: a stable split in two by each bit of the buckets' numbers, from the lowest on
//! (ashkiani2017 §3.2; `kernels/multisplit_paper.cuh`).

use super::input::Function;
use super::{MODULE, Split, Splitter, Summed};
use crate::case::Failure;
use crate::device::cuda::{self, DeviceBuffer, DevicePtr, Gpu, Plain};
use crate::device::cuda::{Launched, Named, named};
use crate::primitives::cuda::{BLOCK, grid, length};
use crate::primitives::multisplit::Spec;

/// Keys of a block: `EACH` of a thread in the kernels.
const KEYS: u64 = 4 * BLOCK as u64;

/// `Halves` in the kernels.
#[derive(Clone, Copy)]
#[repr(C)]
struct Halves {
    keys: DevicePtr<u32>,
    keys_out: DevicePtr<u32>,
    values: DevicePtr<u32>,
    values_out: DevicePtr<u32>,
    ones: DevicePtr<u32>,
    n: u64,
    bit: u32,
    value: u32,
}

// SAFETY: `#[repr(C)]` like its twin in the kernels, plain numbers and device addresses.
unsafe impl Plain for Halves {}

/// A case's kernels, flags and what lies between the rounds.
pub struct ScanSplit {
    spec: Spec,
    function: Function,
    flags: cuda::Kernel,
    split: cuda::Kernel,
    offsets: cuda::Kernel,
    ones: Summed,
    /// Of no elements where one round is enough.
    keys: DeviceBuffer<u32>,
    values: DeviceBuffer<u32>,
}

/// Bytes that it holds beside the arrays.
pub fn bytes(spec: &Spec) -> u64 {
    let between = if spec.bits() > 1 { spec.key_bytes() + spec.value_bytes() } else { 0 };
    Summed::bytes_for(spec.keys) + between
}

/// What an execution launches.
pub fn launched(spec: &Spec) -> Launched {
    let kernel = format!("regex:^(scan_split_.*|{})$", Summed::kernel());
    Launched { kernel, launches: 3 * u64::from(spec.bits()) + 1 }
}

/// Its own kernels.
const KERNELS: [&str; 3] = ["scan_split_flags", "scan_split_move", "scan_split_offsets"];

/// The kernels that a case asks for.
pub fn kernels() -> Vec<Named> {
    [named(MODULE, KERNELS), Summed::kernels()].concat()
}

impl ScanSplit {
    /// Those of a case.
    ///
    /// # Errors
    /// What the driver reports.
    pub fn new(gpu: &Gpu, spec: &Spec, function: Function) -> Result<ScanSplit, Failure> {
        let [flags, split, offsets] = gpu.module(MODULE)?.kernels(KERNELS)?;
        let between = |bytes: u64| length(if spec.bits() > 1 { bytes / 4 } else { 0 });
        Ok(ScanSplit {
            spec: *spec,
            function,
            flags,
            split,
            offsets,
            ones: Summed::new(gpu, spec.keys)?,
            keys: gpu.alloc(between(spec.key_bytes())?)?,
            values: gpu.alloc(between(spec.value_bytes())?)?,
        })
    }

    /// Queues the split by a bit.
    fn halve(&mut self, gpu: &Gpu, halves: &Halves) -> Result<(), Failure> {
        let blocks = grid(halves.n, KEYS);
        let flagged = [halves.into(), (&self.ones.given).into(), (&self.function).into()];
        gpu.launch(&self.flags, blocks, BLOCK, 0, &flagged)?;
        self.ones.scan(gpu, halves.n)?;
        gpu.launch(&self.split, blocks, BLOCK, 0, &[halves.into(), (&self.function).into()])
    }
}

impl Splitter for ScanSplit {
    fn bytes(&self) -> u64 {
        self.ones.bytes() + self.keys.bytes() + self.values.bytes()
    }

    fn split(&mut self, gpu: &Gpu, what: &Split) -> Result<(), Failure> {
        let bits = self.spec.bits();
        let mut from = (what.keys, what.values);
        for bit in (0..bits).filter(|_| what.n > 0) {
            // So that the last round ends in the output.
            let last = (bits - bit) % 2 == 1;
            let between = (self.keys.pointer(), self.values.pointer());
            let to = if last { (what.keys_out, what.values_out) } else { between };
            let halves = Halves {
                keys: from.0,
                keys_out: to.0,
                values: from.1,
                values_out: to.1,
                ones: self.ones.sums.pointer(),
                n: what.n,
                bit,
                value: self.spec.value as u32,
            };
            self.halve(gpu, &halves)?;
            from = to;
        }
        let args =
            [(&what.keys_out).into(), (&what.n).into(), (&what.offsets).into(), (&self.function).into()];
        gpu.launch(&self.offsets, grid(32 * (self.spec.buckets + 1), u64::from(BLOCK)), BLOCK, 0, &args)
    }
}
