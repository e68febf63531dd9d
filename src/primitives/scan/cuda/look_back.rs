//! Look-back: one launch a scan, and what its tiles leave for each other.

use super::forms::Scan;
use crate::backend::Failure;
use crate::backend::cuda::{DeviceBuffer, DevicePtr, Gpu, Kernel, Module};
use crate::primitives::cuda::length;

/// How a kernel is launched, by `SCAN_…` and `SEGMENTED_…` in `kernels/scan.cu`.
struct Shape {
    /// Threads of a block that scan.
    scanning: u32,
    /// Vectors of 16 bytes for each of them.
    vectors: u32,
    /// Threads that look back and do nothing else.
    apart: u32,
}

const SCAN: Shape = Shape { scanning: 512, vectors: 6, apart: 0 };
const SEGMENTED: Shape = Shape { scanning: 256, vectors: 4, apart: 32 };

impl Shape {
    fn of(segmented: bool) -> &'static Shape {
        if segmented { &SEGMENTED } else { &SCAN }
    }

    /// Tiles of `n` elements.
    fn tiles(&self, n: u64, element: u64) -> u64 {
        n.div_ceil(u64::from(self.scanning * self.vectors) * 16 / element)
    }
}

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
    shape: &'static Shape,
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

/// Bytes that it holds beside the arrays.
pub fn bytes(segmented: bool, n: u64, element: u64) -> u64 {
    8 * words(element) * Shape::of(segmented).tiles(n, element) + 4
}

impl LookBack {
    /// The kernel of a family, `segmented` or not, for up to `n` elements.
    ///
    /// # Errors
    /// What the driver reports.
    pub fn new(
        gpu: &Gpu,
        module: &Module,
        (segmented, family): (bool, &str),
        element: u64,
        n: u64,
    ) -> Result<LookBack, Failure> {
        let shape = Shape::of(segmented);
        let mut all = LookBack {
            kernel: module.kernel(&name(segmented, family))?,
            shape,
            element,
            descriptors: gpu.alloc(length(words(element) * shape.tiles(n, element))?)?,
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
        let tiles = u32::try_from(self.shape.tiles(n, self.element))
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
        gpu.launch(&self.kernel, tiles, self.shape.scanning + self.shape.apart, 0, &[(&scan).into()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tile_has_48_kib_or_16_and_a_descriptor() {
        for (shape, kib) in [(&SCAN, 48), (&SEGMENTED, 16)] {
            assert_eq!([4, 8, 16].map(|element| shape.tiles((kib << 10) / element, element)), [1; 3]);
            assert_eq!([4, 8, 16].map(|element| shape.tiles((kib << 10) / element + 1, element)), [2; 3]);
        }
        assert_eq!([4, 8, 16].map(words), [1, 2, 4]);
        assert_eq!(bytes(true, 1 << 28, 4), (1 << 16) * 8 + 4);
        assert_eq!(bytes(false, 3 << 27, 4), (1 << 15) * 8 + 4);
    }
}
