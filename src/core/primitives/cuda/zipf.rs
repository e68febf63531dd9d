//! A Zipf table on the device.

use crate::case::Failure;
use crate::device::cuda::{DeviceBuffer, Gpu};
use crate::inputs::Zipf;

/// The tables in which kernels look up Zipf ranks.
pub struct ZipfTable {
    pub cumulative: DeviceBuffer<u64>,
    pub start: DeviceBuffer<u64>,
    pub guide: DeviceBuffer<u32>,
}

impl ZipfTable {
    pub fn new(gpu: &Gpu, zipf: &Zipf) -> Result<ZipfTable, Failure> {
        Ok(ZipfTable {
            cumulative: gpu.upload(&zipf.cumulative)?,
            start: gpu.upload(&zipf.start)?,
            guide: gpu.upload(&zipf.guide)?,
        })
    }
}
