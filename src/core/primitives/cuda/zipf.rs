//! A Zipf table on the device.

use crate::case::Failure;
use crate::device::cuda::{DeviceBuffer, DevicePtr, Gpu, Plain, device_struct};
use crate::inputs::{Permutation, Zipf};

/// The tables in which kernels look up Zipf ranks.
pub struct ZipfTable {
    pub cumulative: DeviceBuffer<u64>,
    pub start: DeviceBuffer<u64>,
    pub guide: DeviceBuffer<u32>,
    spread: Permutation,
}

device_struct! {
    /// The table and the positions of its ranks, as the structs of several kernels hold them.
    pub struct ZipfArg: 64 {
        cumulative: DevicePtr<u64>,
        start: DevicePtr<u64>,
        guide: DevicePtr<u32>,
        pub spread: Permutation,
    }
}

impl ZipfTable {
    pub fn new(gpu: &Gpu, zipf: &Zipf) -> Result<ZipfTable, Failure> {
        Ok(ZipfTable {
            cumulative: gpu.upload(&zipf.cumulative)?,
            start: gpu.upload(&zipf.start)?,
            guide: gpu.upload(&zipf.guide)?,
            spread: zipf.spread,
        })
    }
}

impl ZipfArg {
    /// The arguments for a table; without one, those that no kernel looks at.
    pub fn of(table: Option<&ZipfTable>) -> Result<ZipfArg, Failure> {
        let Some(ZipfTable { cumulative, start, guide, spread }) = table else {
            let one = Permutation::new(1, 0);
            let spread = one.ok_or_else(|| Failure::Failed("no permutation of one".to_owned()))?;
            return Ok(ZipfArg { spread, ..ZipfArg::zeroed() });
        };
        let (cumulative, start, guide) = (cumulative.pointer(), start.pointer(), guide.pointer());
        Ok(ZipfArg { cumulative, start, guide, spread: *spread })
    }
}
