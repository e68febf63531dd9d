//! Look-back: one launch a scan, and what its tiles leave for each other.

use super::forms::Scan;
use crate::backend::Failure;
use crate::backend::cuda::{DeviceBuffer, DevicePtr, Gpu, Kernel, Module};
use crate::primitives::cuda::length;

/// Threads of a block that scan, `LOOK_BACK_THREADS` in the kernels.
const SCANNING: u32 = 512;

/// Threads of a block: a warp of them looks back.
const BLOCK: u32 = SCANNING + 32;

/// Bytes of a tile: `LOOK_BACK_VECTORS` vectors of 16 bytes for each thread that scans.
const TILE: u64 = SCANNING as u64 * 4 * 16;

/// Launches after which states would repeat: they hold twice the number of their launch.
const EPOCHS: u32 = (1 << 31) - 1;

/// The arrays of a launch.
#[derive(Clone, Copy)]
pub struct Arrays {
    pub input: DevicePtr<u32>,
    pub output: DevicePtr<u32>,
    /// A bit an element; null without segments.
    pub heads: DevicePtr<u32>,
    /// Whether both begin with a vector.
    pub aligned: bool,
}

/// How a launch scans.
#[derive(Clone, Copy)]
pub struct Manner {
    pub flip: u64,
    pub backward: bool,
    pub inclusive: bool,
}

/// The kernel for a family, with the descriptors of the tiles of up to so many elements.
pub struct LookBack {
    kernel: Kernel,
    /// Bytes of an element.
    element: u64,
    descriptors: DeviceBuffer<u64>,
    ticket: DeviceBuffer<u32>,
    epoch: u32,
    drawn: u32,
}

/// The kernel's name in the PTX.
pub fn name(segmented: bool, family: &str) -> String {
    format!("{}lookback_{family}", if segmented { "segmented_" } else { "" })
}

/// Words of a tile's descriptor: a state with a value of 4 bytes, or with each 8 bytes of it.
fn words(element: u64) -> u64 {
    if element == 4 { 1 } else { element / 4 }
}

fn tiles(n: u64, element: u64) -> u64 {
    n.div_ceil(TILE / element)
}

/// Bytes that it holds beside the arrays.
pub fn bytes(n: u64, element: u64) -> u64 {
    8 * words(element) * tiles(n, element) + 4
}

impl LookBack {
    pub fn new(gpu: &Gpu, module: &Module, name: &str, element: u64, n: u64) -> Result<LookBack, Failure> {
        let mut all = LookBack {
            kernel: module.kernel(name)?,
            element,
            descriptors: gpu.alloc(length(words(element) * tiles(n, element))?)?,
            ticket: gpu.alloc(1)?,
            epoch: 0,
            drawn: 0,
        };
        gpu.memset32(&mut all.ticket, 0)?;
        gpu.memset32(&mut all.descriptors, 0)?;
        Ok(all)
    }

    /// Bytes that it holds.
    pub fn bytes(&self) -> u64 {
        self.descriptors.bytes() + self.ticket.bytes()
    }

    /// Queues a scan of `n` elements, if there are any.
    pub fn execute(&mut self, gpu: &Gpu, arrays: &Arrays, n: u64, manner: Manner) -> Result<(), Failure> {
        let tiles = u32::try_from(tiles(n, self.element))
            .map_err(|_| Failure::NotApplicable(format!("{n} elements are more tiles than a grid has")))?;
        if tiles == 0 {
            return Ok(());
        }
        if self.epoch == EPOCHS {
            gpu.memset32(&mut self.descriptors, 0)?;
            self.epoch = 0;
        }
        self.epoch += 1;
        let first_ticket = self.drawn;
        self.drawn = self.drawn.wrapping_add(tiles);
        let scan = Scan {
            input: arrays.input,
            output: arrays.output,
            heads: arrays.heads,
            descriptors: self.descriptors.pointer(),
            ticket: self.ticket.pointer(),
            n,
            flip: manner.flip,
            tiles,
            epoch: self.epoch,
            first_ticket,
            backward: manner.backward.into(),
            inclusive: manner.inclusive.into(),
            aligned: arrays.aligned.into(),
        };
        gpu.launch(&self.kernel, tiles, BLOCK, 0, &[(&scan).into()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tile_has_32_kib_and_a_descriptor() {
        assert_eq!([4, 8, 16].map(|element| tiles((1 << 15) / element, element)), [1; 3]);
        assert_eq!([4, 8, 16].map(|element| tiles((1 << 15) / element + 1, element)), [2; 3]);
        assert_eq!([4, 8, 16].map(words), [1, 2, 4]);
        assert_eq!(bytes(1 << 28, 4), (1 << 15) * 8 + 4);
    }
}
