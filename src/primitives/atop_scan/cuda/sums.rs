//! The sums of the tiles, scanned by the look-back of the scans.

use super::forms::Bits;
use crate::case::Failure;
use crate::device::cuda::Named;
use crate::device::cuda::{DeviceBuffer, Gpu, Kernel, Module};
use crate::primitives::atop_scan::spec::Spec;
use crate::primitives::atop_scan::work::{sums_needed, tiles};
use crate::primitives::cuda::length;
use crate::primitives::scan;
use crate::primitives::scan::cuda::one_pass::{self, Arrays, Manner, Means, OnePass};

/// Threads of a block that sums up a word's worth of tiles, a warp each.
const BLOCK: u32 = 1024;

/// The kernels and arrays.
pub struct Sums {
    sum: Kernel,
    scan: OnePass,
    /// Of each tile: those before all, then those behind, from the last on.
    sums: DeviceBuffer<u64>,
    scanned: DeviceBuffer<u64>,
    /// Bits: where they begin anew.
    starts: DeviceBuffer<u32>,
    /// Whether there are any of either kind.
    directions: u64,
}

/// The kernel that adds up a tile, of the module atop_scan.
const SUM: &str = "atop_scan_sums";

/// The scan of the sums.
const SCAN: (Means, (bool, &str)) = (Means::LookBack, (true, "add_u64"));

/// The kernels that a case's sums ask for.
pub fn kernels(spec: &Spec) -> Vec<Named> {
    let (means, (segmented, family)) = SCAN;
    match sums_needed(spec).contains(&true) {
        true => vec![
            (super::MODULE, SUM.to_owned()),
            (scan::cuda::MODULE, one_pass::name(means, segmented, family)),
        ],
        false => Vec::new(),
    }
}

impl Sums {
    /// Those of a case; `None` where it needs none.
    pub fn new(gpu: &Gpu, module: &Module, spec: &Spec) -> Result<Option<Sums>, Failure> {
        let directions = sums_needed(spec).map(u64::from).iter().sum::<u64>();
        if directions == 0 {
            return Ok(None);
        }
        let all = directions * tiles(spec.elements);
        let scans = gpu.module(scan::cuda::MODULE)?;
        Ok(Some(Sums {
            sum: module.kernel(SUM)?,
            scan: OnePass::new(gpu, &scans, SCAN.0, SCAN.1, 8, all)?,
            sums: gpu.alloc(length(all)?)?,
            scanned: gpu.alloc(length(all)?)?,
            starts: gpu.alloc(length(all / 32)?)?,
            directions,
        }))
    }

    /// Bytes that it holds.
    pub fn bytes(&self) -> u64 {
        self.scan.bytes() + self.sums.bytes() + self.scanned.bytes() + self.starts.bytes()
    }

    /// Queues the sums of `bits` and their scan; `bits` with what has become of them.
    pub fn execute(&mut self, gpu: &Gpu, bits: Bits) -> Result<Bits, Failure> {
        let summed = Bits { sums: self.sums.pointer(), starts: self.starts.pointer(), ..bits };
        gpu.launch(&self.sum, bits.tiles / 32, BLOCK, 0, &[(&summed).into()])?;
        let arrays = Arrays {
            input: self.sums.pointer().cast(),
            output: self.scanned.pointer().cast(),
            heads: self.starts.pointer(),
            aligned: true,
        };
        let manner = Manner { flip: 0, backward: false, inclusive: true };
        self.scan.execute(gpu, &arrays, self.directions * u64::from(bits.tiles), manner)?;
        Ok(Bits { sums: self.scanned.pointer(), ..summed })
    }
}
