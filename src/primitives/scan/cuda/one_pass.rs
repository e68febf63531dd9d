//! One pass over memory, by look-back or with a spine: one launch a scan, and what its blocks leave for
//! each other.

use super::forms::Scan;
use crate::case::Failure;
use crate::device::cuda::{DeviceBuffer, DevicePtr, Gpu, Kernel, Module};
use crate::primitives::cuda::length;
use crate::primitives::scan::spec::Method;

/// Threads of a block, as in `kernels/scan.cu`.
const THREADS: u32 = 256;

/// Vectors of 16 bytes for each of them.
const VECTORS: u32 = 7;

/// How a tile comes to know what lies before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Means {
    /// It looks at what the tiles before it have published.
    LookBack,
    /// A block more tells each tile.
    Spine,
}

impl Means {
    /// Those of a method that is one pass.
    pub fn of(method: Method) -> Means {
        if method == Method::Spine { Means::Spine } else { Means::LookBack }
    }

    /// Blocks beside those of the tiles.
    fn further_blocks(self) -> u32 {
        u32::from(self == Means::Spine)
    }

    /// Descriptors of a tile: of its sum, and of what comes before it.
    fn descriptors(self) -> u64 {
        if self == Means::Spine { 2 } else { 1 }
    }
}

/// Tiles of `n` elements.
fn tiles(n: u64, element: u64) -> u64 {
    n.div_ceil(u64::from(THREADS * VECTORS) * 16 / element)
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
pub struct OnePass {
    kernel: Kernel,
    means: Means,
    /// Bytes of an element.
    element: u64,
    descriptors: DeviceBuffer<u64>,
    ticket: DeviceBuffer<u32>,
    epoch: u32,
    drawn: u32,
}

/// The kernel's name in the PTX.
pub fn name(means: Means, segmented: bool, family: &str) -> String {
    let means = if means == Means::Spine { "spine" } else { "lookback" };
    format!("{}{means}_{family}", if segmented { "segmented_" } else { "" })
}

/// Words of a descriptor: a state with a value of 4 bytes, or with each 8 bytes of it.
fn words(element: u64) -> u64 {
    if element == 4 { 1 } else { element / 4 }
}

/// Bytes that it holds beside the arrays.
pub fn bytes(means: Means, n: u64, element: u64) -> u64 {
    8 * words(element) * means.descriptors() * tiles(n, element) + 4
}

impl OnePass {
    /// The kernel of a family, `segmented` or not, for up to `n` elements.
    ///
    /// # Errors
    /// `NotApplicable` where the spine and a tile are not at work at once; what the driver reports.
    pub fn new(
        gpu: &Gpu,
        module: &Module,
        means: Means,
        (segmented, family): (bool, &str),
        element: u64,
        n: u64,
    ) -> Result<OnePass, Failure> {
        let kernel = module.kernel(&name(means, segmented, family))?;
        if gpu.max_blocks(&kernel, THREADS, 0)? <= means.further_blocks() {
            return Err(Failure::NotApplicable("a single block fills this GPU".to_owned()));
        }
        let mut all = OnePass {
            kernel,
            means,
            element,
            descriptors: gpu.alloc(length(words(element) * means.descriptors() * tiles(n, element))?)?,
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
        let blocks = tiles + self.means.further_blocks();
        if tiles == 0 {
            return Ok(());
        }
        if self.epoch == EPOCHS {
            gpu.memset32(&mut self.descriptors, 0)?;
            self.epoch = 0;
        }
        self.epoch += 1;
        let first_ticket = self.drawn;
        self.drawn = self.drawn.wrapping_add(blocks);
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
        gpu.launch(&self.kernel, blocks, THREADS, 0, &[(&scan).into()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tile_has_28_kib_and_a_descriptor_or_two() {
        assert_eq!([4, 8, 16].map(|element| tiles((28 << 10) / element, element)), [1; 3]);
        assert_eq!([4, 8, 16].map(|element| tiles((28 << 10) / element + 1, element)), [2; 3]);
        assert_eq!([4, 8, 16].map(words), [1, 2, 4]);
        assert_eq!(bytes(Means::LookBack, 7 << 22, 4), (1 << 12) * 8 + 4);
        assert_eq!(bytes(Means::Spine, 7 << 22, 16), (1 << 14) * 64 + 4);
    }

    #[test]
    fn kernels_are_called_by_their_means() {
        assert_eq!(name(Means::LookBack, false, "add_u32"), "lookback_add_u32");
        assert_eq!(name(Means::Spine, true, "add_u32"), "segmented_spine_add_u32");
    }
}
