//! One pass over memory, by look-back or with a spine: one launch per scan, and the descriptors through which
//! its blocks communicate. Tiles that are all resident at once need no tickets, and few elements are divided into short
//! tiles.

use super::MODULE;
use crate::device::cuda::Plain;
use crate::primitives::cuda::prelude::*;
use crate::primitives::scan::shape::Shape;

/// Launches after which states would repeat: a state holds twice the number of its launch.
const EPOCHS: u32 = (1 << 31) - 1;

/// The parameters that select a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variant {
    /// True if one extra block gives each tile its prefix; otherwise a tile looks at what the tiles before it
    /// have published.
    pub spine: bool,
    pub segmented: bool,
    /// True for short tiles, which exist for look-back without segments.
    pub short: bool,
    /// Operator and type, as in the kernel's name.
    pub family: &'static str,
    /// Bytes of an element.
    pub element: u64,
}

device_struct! {
    /// `Scan` in the kernels: the arguments of a launch. [`OnePass`] sets the descriptors, ticket, tiles and
    /// epoch.
    pub struct Launch: 80 {
        pub input: DevicePtr<u32>,
        pub output: DevicePtr<u32>,
        /// One bit per element; null without segments.
        pub heads: DevicePtr<u32>,
        pub descriptors: DevicePtr<u64>,
        pub ticket: DevicePtr<u32>,
        pub n: u64,
        /// The mask that elements are exclusive-ored with when they are loaded and stored.
        pub flip: u64,
        pub tiles: u32,
        pub epoch: u32,
        pub first_ticket: u32,
        pub backward: u32,
        pub inclusive: u32,
        /// True if both arrays begin at a vector boundary.
        pub aligned: u32,
    }
}

impl Launch {
    /// A forward exclusive scan of `n` elements without segments, in arrays that begin at a vector boundary.
    pub fn new(input: DevicePtr<u32>, output: DevicePtr<u32>, n: u64) -> Launch {
        Launch { input, output, n, aligned: 1, ..Launch::zeroed() }
    }
}

impl Variant {
    /// The variant that sums 4-byte counts.
    pub const COUNTS: Variant =
        Variant { spine: true, segmented: false, short: false, family: "add_u32", element: 4 };

    /// The kernel's name in the PTX.
    pub fn name(&self) -> String {
        let means = match self {
            Variant { short: true, .. } => "short",
            Variant { spine: true, .. } => "spine",
            _ => "lookback",
        };
        format!("{}{means}_{}", if self.segmented { "segmented_" } else { "" }, self.family)
    }

    fn shape(&self) -> Shape {
        if self.short { Shape::SHORT } else { Shape::TILE }
    }

    /// Tiles of `n` elements.
    fn tiles(&self, n: u64) -> u64 {
        self.shape().tiles(n * self.element)
    }

    /// Descriptor words for the tiles of `n` elements: one descriptor for a tile's sum and, with a spine, one
    /// for its prefix. A state shares 8 bytes with a 4-byte value, or 16 bytes with each 8 bytes of a longer
    /// value.
    fn descriptors(&self, n: u64) -> u64 {
        let words = if self.element == 4 { 1 } else { self.element / 4 };
        words * (1 + u64::from(self.spine)) * self.tiles(n)
    }
}

/// A kernel with the descriptors for the tiles of up to a fixed number of elements.
pub struct OnePass {
    kernel: Kernel,
    variant: Variant,
    descriptors: DeviceBuffer<u64>,
    /// `None` if all tiles are resident at once.
    ticket: Option<DeviceBuffer<u32>>,
    epoch: u32,
    drawn: u32,
}

impl OnePass {
    /// Loads the kernel of `variant`, for up to `n` elements.
    ///
    /// # Errors
    /// `NotApplicable` if the spine and a tile cannot be resident at once; otherwise the driver's error.
    pub fn new(gpu: &Gpu, variant: Variant, n: u64) -> Result<OnePass, Failure> {
        let kernel = gpu.module(MODULE)?.kernel(&variant.name())?;
        let resident = gpu.max_blocks(&kernel, variant.shape().threads, 0)?;
        if resident <= u32::from(variant.spine) {
            return Err(Failure::NotApplicable("a single block fills this GPU".to_owned()));
        }
        let tickets = variant.spine || variant.tiles(n) > u64::from(resident);
        let ticket = tickets.then(|| gpu.upload(&[0])).transpose()?;
        let mut descriptors = array(gpu, variant.descriptors(n))?;
        gpu.memset32(&mut descriptors, 0)?;
        Ok(OnePass { kernel, variant, descriptors, ticket, epoch: 0, drawn: 0 })
    }

    /// Queues a scan, if there are any elements.
    pub fn execute(&mut self, gpu: &Gpu, launch: Launch) -> Result<(), Failure> {
        let many =
            |_| Failure::NotApplicable(format!("{} elements need more tiles than a grid has", launch.n));
        let tiles = u32::try_from(self.variant.tiles(launch.n)).map_err(many)?;
        if tiles == 0 {
            return Ok(());
        }
        if self.epoch == EPOCHS {
            gpu.memset32(&mut self.descriptors, 0)?;
            self.epoch = 0;
        }
        let (blocks, epoch, first_ticket) =
            (tiles + u32::from(self.variant.spine), self.epoch + 1, self.drawn);
        let ticket = self.ticket.as_ref().map_or(DevicePtr::null(), DeviceBuffer::pointer);
        let descriptors = self.descriptors.pointer();
        let launch = Launch { descriptors, ticket, tiles, epoch, first_ticket, ..launch };
        gpu.launch(&self.kernel, blocks, self.variant.shape().threads, 0, args![launch])?;
        // A launch that fails draws no tickets.
        (self.epoch, self.drawn) = (epoch, first_ticket.wrapping_add(blocks));
        Ok(())
    }
}

/// 32-bit counts up to a fixed number, their exclusive sums, and their scan.
pub struct Summed {
    pub given: DeviceBuffer<u32>,
    pub sums: DeviceBuffer<u32>,
    scan: OnePass,
}

impl Summed {
    /// Room for `n` counts.
    ///
    /// # Errors
    /// The errors of [`OnePass::new`]; otherwise the driver's.
    pub fn new(gpu: &Gpu, n: u64) -> Result<Summed, Failure> {
        Ok(Summed {
            given: array(gpu, n)?,
            sums: array(gpu, n)?,
            scan: OnePass::new(gpu, Variant::COUNTS, n)?,
        })
    }

    /// Queues the exclusive scan of the first `n` counts.
    pub fn scan(&mut self, gpu: &Gpu, n: u64) -> Result<(), Failure> {
        self.scan.execute(gpu, Launch::new(self.given.pointer(), self.sums.pointer(), n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::offset_of;

    const LOOK_BACK: Variant = Variant { spine: false, ..Variant::COUNTS };

    #[test]
    fn a_tile_has_20_kib_and_a_descriptor_or_two() {
        let tiles = |element, n| Variant { element, ..LOOK_BACK }.tiles(n);
        assert_eq!([4, 8, 16].map(|element| tiles(element, (20 << 10) / element)), [1; 3]);
        assert_eq!([4, 8, 16].map(|element| tiles(element, (20 << 10) / element + 1)), [2; 3]);
        assert_eq!([4, 8, 16].map(|element| Variant { element, ..LOOK_BACK }.descriptors(1)), [1, 2, 4]);
        assert_eq!(LOOK_BACK.descriptors(5 << 22), 1 << 12);
        assert_eq!(Variant { element: 16, ..Variant::COUNTS }.descriptors(5 << 22), (1 << 14) * 8);
        assert_eq!(Variant { short: true, ..LOOK_BACK }.tiles(4097), 3);
    }

    #[test]
    fn kernels_are_called_by_their_means() {
        assert_eq!(LOOK_BACK.name(), "lookback_add_u32");
        let segmented = Variant { segmented: true, ..Variant::COUNTS };
        assert_eq!(segmented.name(), "segmented_spine_add_u32");
    }

    #[test]
    fn the_layout_is_the_kernels() {
        assert_eq!(offset_of!(Launch, tiles), 56);
    }
}
