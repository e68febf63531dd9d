//! The kernels of `kernels/pattern.cu`, typed.

use super::walk::Walk;
use crate::backend::Failure;
use crate::backend::cuda::{self, Arg, DeviceBuffer, DevicePtr, Gpu, Plain};
use crate::patterns::mix::key64;
use crate::primitives::cuda::{Fill, launch_over};
use crate::primitives::pattern::spec::{Kernel, Method};

/// One sparse array's pattern on the device.
pub struct Pattern {
    index: DeviceBuffer<u32>,
    outer: Option<DeviceBuffer<u32>>,
    delta: u64,
    bytes: u32,
}

/// `Side` in the kernels.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Side {
    index: DevicePtr<u32>,
    outer: DevicePtr<u32>,
    delta: u64,
    bytes: u32,
    unused: u32,
}

// SAFETY: `#[repr(C)]` like its twin in the kernels, plain numbers and device addresses.
unsafe impl Plain for Side {}

impl Pattern {
    /// Uploads p (`outer` empty), or q and p, as indices of `bytes` bytes, 4 or 8.
    pub fn new(gpu: &Gpu, index: &[u64], outer: &[u64], delta: u64, bytes: u64) -> Result<Pattern, Failure> {
        let upload = |indices: &[u64]| gpu.upload(&words(indices, bytes));
        let outer = if outer.is_empty() { None } else { Some(upload(outer)?) };
        Ok(Pattern { index: upload(index)?, outer, delta, bytes: bytes as u32 })
    }

    pub fn side(&self) -> Side {
        let outer = self.outer.as_ref().map_or(DevicePtr::null(), DeviceBuffer::pointer);
        Side { index: self.index.pointer(), outer, delta: self.delta, bytes: self.bytes, unused: 0 }
    }

    pub fn bytes(&self) -> u64 {
        self.index.bytes() + self.outer.as_ref().map_or(0, DeviceBuffer::bytes)
    }
}

/// Indices as 4-byte words, little-endian.
fn words(indices: &[u64], bytes: u64) -> Vec<u32> {
    match bytes {
        4 => indices.iter().map(|&k| k as u32).collect(),
        _ => indices.iter().flat_map(|&k| [k as u32, (k >> 32) as u32]).collect(),
    }
}

/// What a scatter's certificate expects: the codes of `pattern_mark`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// The timed scatter: the dense word j + P·(i mod wrap).
    Dense,
    /// The keeping scatter: word i·P + j.
    Computed,
    /// gs: the word of its sparse source.
    Sparse,
}

/// Part of a scatter's destination and the bitmaps of its words.
pub struct Region<'a> {
    pub destination: &'a DeviceBuffer<u64>,
    pub begin: u64,
    pub words: u64,
    pub touched: &'a DeviceBuffer<u32>,
    pub explained: &'a DeviceBuffer<u32>,
}

/// A walk and the threads of its blocks.
#[derive(Clone, Copy)]
pub struct Launch {
    pub walk: Walk,
    pub threads: u32,
    /// Shared memory of a block, bytes.
    pub shared: u32,
}

/// The timed kernel's name in the PTX.
pub fn timed_name(kernel: Kernel, method: Method) -> &'static str {
    match (kernel, method) {
        (Kernel::Gs, _) => "pattern_gs",
        (Kernel::Scatter | Kernel::Multiscatter, _) => "pattern_scatter",
        (Kernel::Gather | Kernel::Multigather, Method::Direct) => "pattern_gather",
        (Kernel::Gather | Kernel::Multigather, Method::ReadOnly) => "pattern_read_only",
    }
}

/// The kernels of the module.
pub struct Kernels {
    pub fill: Fill,
    gather: cuda::Kernel,
    gather_keep: cuda::Kernel,
    read_only: cuda::Kernel,
    scatter: cuda::Kernel,
    scatter_keep: cuda::Kernel,
    gs: cuda::Kernel,
    check_kept: cuda::Kernel,
    check_left: cuda::Kernel,
    expected_fold: cuda::Kernel,
    mark: cuda::Kernel,
    check_region: cuda::Kernel,
}

impl Kernels {
    pub fn new(gpu: &Gpu) -> Result<Kernels, Failure> {
        let module = gpu.module("pattern")?;
        Ok(Kernels {
            fill: Fill::new(&module)?,
            gather: module.kernel(timed_name(Kernel::Gather, Method::Direct))?,
            gather_keep: module.kernel("pattern_gather_keep")?,
            read_only: module.kernel(timed_name(Kernel::Gather, Method::ReadOnly))?,
            scatter: module.kernel(timed_name(Kernel::Scatter, Method::Direct))?,
            scatter_keep: module.kernel("pattern_scatter_keep")?,
            gs: module.kernel(timed_name(Kernel::Gs, Method::Direct))?,
            check_kept: module.kernel("pattern_check_kept")?,
            check_left: module.kernel("pattern_check_left")?,
            expected_fold: module.kernel("pattern_expected_fold")?,
            mark: module.kernel("pattern_mark")?,
            check_region: module.kernel("pattern_check_region")?,
        })
    }

    /// The timed gather. `left`, if not null, has room for the dense side of each block.
    pub fn gather(
        &self,
        gpu: &Gpu,
        launch: &Launch,
        side: &Side,
        source: DevicePtr<u64>,
        left: DevicePtr<u64>,
    ) -> Result<(), Failure> {
        launch.start(
            gpu,
            &self.gather,
            &[(&launch.walk).into(), side.into(), (&source).into(), (&left).into()],
        )
    }

    /// The gather that keeps every word: P words for each iteration of the walk.
    pub fn gather_keep(
        &self,
        gpu: &Gpu,
        launch: &Launch,
        side: &Side,
        source: DevicePtr<u64>,
        kept: DevicePtr<u64>,
    ) -> Result<(), Failure> {
        let args = [(&launch.walk).into(), side.into(), (&source).into(), (&kept).into()];
        launch.start(gpu, &self.gather_keep, &args)
    }

    /// The gather that stores nothing.
    pub fn read_only(
        &self,
        gpu: &Gpu,
        launch: &Launch,
        side: &Side,
        source: DevicePtr<u64>,
        fold: &DeviceBuffer<u64>,
    ) -> Result<(), Failure> {
        launch.start(
            gpu,
            &self.read_only,
            &[(&launch.walk).into(), side.into(), (&source).into(), fold.into()],
        )
    }

    /// The timed scatter, or the one with a word of its own for each (i, j).
    pub fn scatter(
        &self,
        gpu: &Gpu,
        launch: &Launch,
        side: &Side,
        destination: DevicePtr<u64>,
        (seed, keep): (u64, bool),
    ) -> Result<(), Failure> {
        let kernel = if keep { &self.scatter_keep } else { &self.scatter };
        let key = key64(seed);
        launch.start(gpu, kernel, &[(&launch.walk).into(), side.into(), (&destination).into(), (&key).into()])
    }

    pub fn gs(
        &self,
        gpu: &Gpu,
        launch: &Launch,
        (from, to): (&Side, &Side),
        source: DevicePtr<u64>,
        destination: DevicePtr<u64>,
    ) -> Result<(), Failure> {
        let args = [(&launch.walk).into(), from.into(), to.into(), (&source).into(), (&destination).into()];
        launch.start(gpu, &self.gs, &args)
    }

    /// Queues the check of what the keeping gather kept.
    pub fn check_kept(
        &self,
        gpu: &Gpu,
        launch: &Launch,
        side: &Side,
        seed: u64,
        kept: &DeviceBuffer<u64>,
        report: &DeviceBuffer<u64>,
    ) -> Result<(), Failure> {
        let key = key64(seed);
        let args = [(&launch.walk).into(), side.into(), (&key).into(), kept.into(), report.into()];
        launch.start(gpu, &self.check_kept, &args)
    }

    /// Queues the check of what the timed gather's blocks left; `walk` was theirs.
    pub fn check_left(
        &self,
        gpu: &Gpu,
        walk: &Walk,
        side: &Side,
        seed: u64,
        left: &DeviceBuffer<u64>,
        report: &DeviceBuffer<u64>,
    ) -> Result<(), Failure> {
        let (key, n) = (key64(seed), walk.left_words());
        let args = [walk.into(), side.into(), (&key).into(), left.into(), (&n).into(), report.into()];
        launch_over(gpu, &self.check_left, n, &args)
    }

    /// Queues the sum of all words of a gather.
    pub fn expected_fold(
        &self,
        gpu: &Gpu,
        launch: &Launch,
        side: &Side,
        seed: u64,
        report: &DeviceBuffer<u64>,
    ) -> Result<(), Failure> {
        let key = key64(seed);
        launch.start(
            gpu,
            &self.expected_fold,
            &[(&launch.walk).into(), side.into(), (&key).into(), report.into()],
        )
    }

    /// Queues the marks of a scatter's words; `sides` are the destination's and gs's
    /// source's.
    pub fn mark(
        &self,
        gpu: &Gpu,
        launch: &Launch,
        sides: (&Side, &Side),
        (expect, seed): (Expect, u64),
        region: &Region,
        report: &DeviceBuffer<u64>,
    ) -> Result<(), Failure> {
        let (kind, key) = (expect as u32, key64(seed));
        let args = [
            (&launch.walk).into(),
            sides.0.into(),
            sides.1.into(),
            (&kind).into(),
            (&key).into(),
            region.destination.into(),
            (&region.begin).into(),
            region.touched.into(),
            region.explained.into(),
            report.into(),
        ];
        launch.start(gpu, &self.mark, &args)
    }

    /// Queues the check of a region against its marks.
    pub fn check_region(
        &self,
        gpu: &Gpu,
        region: &Region,
        report: &DeviceBuffer<u64>,
    ) -> Result<(), Failure> {
        let args = [
            region.destination.into(),
            (&region.begin).into(),
            (&region.words).into(),
            region.touched.into(),
            region.explained.into(),
            report.into(),
        ];
        launch_over(gpu, &self.check_region, region.words, &args)
    }
}

impl Launch {
    fn start(&self, gpu: &Gpu, kernel: &cuda::Kernel, args: &[Arg]) -> Result<(), Failure> {
        gpu.launch(kernel, self.walk.blocks(), self.threads, self.shared, args)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layout_is_the_kernels() {
        assert_eq!((size_of::<Side>(), std::mem::offset_of!(Side, bytes)), (32, 24));
        assert_eq!([Expect::Dense, Expect::Computed, Expect::Sparse].map(|e| e as u32), [0, 1, 2]);
    }

    #[test]
    fn indices_as_words() {
        assert_eq!(words(&[1, 2], 4), [1, 2]);
        assert_eq!(words(&[1, (7 << 32) + 5], 8), [1, 0, 5, 7]);
    }
}
