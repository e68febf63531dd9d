//! What the CUDA implementations of the primitives share: the report of a certificate and the
//! launches of everything that is not timed.

pub mod finding;
pub mod several;
pub mod tiles;
pub mod together;
mod zipf;

use crate::case::{Failure, Refusal};
use crate::device::cuda::{Arg, DeviceBuffer, DevicePtr, Gpu, Kernel, Module};
use crate::inputs::mix::key64;

pub use crate::case::tuning::DEFAULT_BLOCK as BLOCK;
pub use zipf::ZipfTable;

/// Both halves of the poison word (`certify.cuh`).
pub const POISON32: u32 = 0xDEAD_BEEF;

/// What one execution of a case launches, timed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launched {
    /// The kernel's name in the PTX, which profilers show.
    pub kernel: String,
    pub launches: u64,
}

/// A kernel: its module, and its name in the PTX.
pub type Named = (&'static str, String);

/// Kernels of a module by their names.
pub fn named(module: &'static str, names: impl IntoIterator<Item = impl Into<String>>) -> Vec<Named> {
    names.into_iter().map(|name| (module, name.into())).collect()
}

/// Most blocks of a launch in one dimension.
const MAX_GRID: u64 = (1 << 31) - 1;

/// A recipe's mistake at this point is the plan's: the case fails, or is `n/a`.
pub fn refused(refusal: Refusal) -> Failure {
    match refusal {
        Refusal::NotApplicable(reason) => Failure::NotApplicable(reason),
        invalid => Failure::Failed(invalid.to_string()),
    }
}

/// A length as the driver takes it.
pub fn length(n: u64) -> Result<usize, Failure> {
    usize::try_from(n)
        .map_err(|_| Failure::NotApplicable(format!("{n} elements do not fit an address space")))
}

/// Blocks for `n` elements, `per_block` (at least 1) in each, at least one.
pub fn grid(n: u64, per_block: u64) -> u32 {
    n.div_ceil(per_block).clamp(1, MAX_GRID) as u32
}

/// Blocks of a grid-stride loop over `n` elements that is not timed: enough to fill the
/// device, no more than there is work for.
pub fn stride_grid(gpu: &Gpu, n: u64) -> u32 {
    grid(n, u64::from(BLOCK)).min(gpu.device().sms.max(1) * 16)
}

/// Queues a kernel that is a grid-stride loop over `n` elements, if there are any.
pub fn launch_over(gpu: &Gpu, kernel: &Kernel, n: u64, args: &[Arg]) -> Result<(), Failure> {
    match n {
        0 => Ok(()),
        _ => gpu.launch(kernel, stride_grid(gpu, n), BLOCK, 0, args),
    }
}

/// The kernels of `fill.cuh`, which several modules have.
#[derive(Clone)]
pub struct Fill {
    words64: Kernel,
    constant: Kernel,
}

impl Fill {
    /// Their names.
    pub const KERNELS: [&str; 2] = ["fill_words64", "fill_constant"];

    /// Finds them in a module.
    pub fn new(module: &Module) -> Result<Fill, Failure> {
        let [words64, constant] = module.kernels(Fill::KERNELS)?;
        Ok(Fill { words64, constant })
    }

    /// The first `n` 64-bit words at `out` become `word64(seed, i)`.
    pub fn words64<T>(&self, gpu: &Gpu, out: DevicePtr<T>, seed: u64, n: u64) -> Result<(), Failure>
    where
        T: 'static,
    {
        launch_over(gpu, &self.words64, n, &[(&out).into(), (&key64(seed)).into(), (&n).into()])
    }

    /// `n` 64-bit words at `out` become `word`.
    pub fn constant(&self, gpu: &Gpu, out: DevicePtr<u64>, word: u64, n: u64) -> Result<(), Failure> {
        launch_over(gpu, &self.constant, n, &[(&out).into(), (&word).into(), (&n).into()])
    }
}

/// Poisons a whole buffer.
pub fn poison<T: crate::device::cuda::Plain>(gpu: &Gpu, buffer: &mut DeviceBuffer<T>) -> Result<(), Failure> {
    gpu.memset32(buffer, POISON32)
}
