//! Code shared by the CUDA implementations of the primitives: the report of a certificate, and the launches of
//! untimed kernels.

pub mod check_report;
pub mod pairs;
pub mod prelude;
pub mod tiles;
mod zipf;

use crate::case::Failure;
use crate::device::cuda::{Arg, DeviceBuffer, DevicePtr, Gpu, Kernel, Module, Plain, args, plain_struct};
use crate::inputs::mix::key64;
use crate::inputs::{Permutation, Scramble};

pub use crate::case::tuning::DEFAULT_BLOCK as BLOCK;
pub use zipf::{ZipfArg, ZipfTable};

plain_struct!(Permutation: 40);
plain_struct!(Scramble: 24);

/// Maximum number of blocks per launch in one dimension.
const MAX_GRID: u64 = (1 << 31) - 1;

/// Converts a length to the driver's type.
pub fn length(n: u64) -> Result<usize, Failure> {
    usize::try_from(n)
        .map_err(|_| Failure::NotApplicable(format!("{n} elements do not fit an address space")))
}

/// Allocates an array of `n` elements.
pub fn array<T: Plain>(gpu: &Gpu, n: u64) -> Result<DeviceBuffer<T>, Failure> {
    gpu.alloc(length(n)?)
}

/// The number of blocks for `n` elements, `per_block` (at least 1) in each; at least one.
pub fn grid(n: u64, per_block: u64) -> u32 {
    n.div_ceil(per_block).clamp(1, MAX_GRID) as u32
}

/// The number of blocks for an untimed grid-stride loop over `n` elements: enough to fill the device, but no
/// more than there is work for.
pub fn stride_grid(gpu: &Gpu, n: u64) -> u32 {
    grid(n, u64::from(BLOCK)).min(gpu.device().sms.max(1) * 16)
}

/// Queues a grid-stride kernel over `n` elements, if there are any.
pub fn launch_over(gpu: &Gpu, kernel: &Kernel, n: u64, args: &[Arg]) -> Result<(), Failure> {
    match n {
        0 => Ok(()),
        _ => gpu.launch(kernel, stride_grid(gpu, n), BLOCK, 0, args),
    }
}

/// Numbers of 4 or 8 bytes as 32-bit words, the lower half first.
pub fn words32(numbers: impl IntoIterator<Item = u64>, bytes: u64) -> Vec<u32> {
    match bytes {
        4 => numbers.into_iter().map(|k| k as u32).collect(),
        _ => numbers.into_iter().flat_map(|k| [k as u32, (k >> 32) as u32]).collect(),
    }
}

/// The kernels of `kernels/common/fill.cuh`, which several modules contain.
#[derive(Clone)]
pub struct Fill {
    words64: Kernel,
    constant: Kernel,
}

impl Fill {
    /// The names of the kernels.
    pub const KERNELS: [&str; 2] = ["fill_words64", "fill_constant"];

    /// Looks the kernels up in a module.
    pub fn new(module: &Module) -> Result<Fill, Failure> {
        let [words64, constant] = module.kernels(Fill::KERNELS)?;
        Ok(Fill { words64, constant })
    }

    /// Sets the first `n` 64-bit words at `out` to `word64(seed, i)`.
    pub fn words64<T>(&self, gpu: &Gpu, out: DevicePtr<T>, seed: u64, n: u64) -> Result<(), Failure>
    where
        T: 'static,
    {
        launch_over(gpu, &self.words64, n, args![out, key64(seed), n])
    }

    /// Sets `n` 64-bit words at `out` to `word`.
    pub fn constant(&self, gpu: &Gpu, out: DevicePtr<u64>, word: u64, n: u64) -> Result<(), Failure> {
        launch_over(gpu, &self.constant, n, args![out, word, n])
    }
}

/// The functions `kernels` and `method` of a primitive whose methods all run on GPUs: those of the module of a case's method.
macro_rules! methods_of_gpus {
    ($spec:ty, $made:ty, $call:ty: $($method:pat => $module:ident),+ $(,)?) => {
        /// The kernels that an execution launches.
        pub fn kernels(spec: &$spec) -> KernelList {
            match spec.method {
                $($method => $module::cuda::kernels(spec)),+
            }
        }

        /// The method of a case.
        ///
        /// # Errors
        /// Those of the driver, and missing memory.
        pub fn method(made: &mut $made) -> Result<GpuMethod<$call>, Failure> {
            match made.spec.method {
                $($method => $module::cuda::method(made)),+
            }
        }
    };
}
pub(crate) use methods_of_gpus;

#[cfg(test)]
mod tests {
    use super::words32;

    #[test]
    fn numbers_as_words() {
        assert_eq!(words32([1, 2], 4), [1, 2]);
        assert_eq!(words32([1, (7 << 32) + 5], 8), [1, 0, 5, 7]);
    }
}
