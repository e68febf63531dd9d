//! Code shared by the CUDA implementations of the primitives: launches of untimed kernels, arrays of keys and values, Zipf
//! tables, the division of elements into tiles, and the report of a certificate.

pub mod check_report;

use std::sync::Arc;

use crate::case::Failure;
use crate::case::tuning::{Grid, Tuning};
use crate::device::cuda::{
    Arg, DeviceBuffer, DevicePtr, Gpu, Kernel, Module, OutputArray, Plain, args, device_struct, plain_struct,
};
use crate::inputs::mix::key64;
use crate::inputs::shared::{Contents, Shared};
use crate::inputs::sparse::in_parallel;
use crate::inputs::{Permutation, Scramble, Zipf};
use crate::memory::NoMemory;

pub use crate::case::tuning::DEFAULT_BLOCK as BLOCK;

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

/// `n` such numbers as such words, made by all processors.
///
/// # Errors
/// Words that do not fit into the memory.
pub fn words32_of(n: usize, bytes: u64, number: impl Fn(usize) -> u64 + Sync) -> Result<Vec<u32>, NoMemory> {
    Ok(match bytes {
        4 => in_parallel(n, |at| number(at) as u32)?,
        _ => in_parallel(n, |at| [number(at) as u32, (number(at) >> 32) as u32])?.into_flattened(),
    })
}

/// The forms of a matrix in host memory that cases of a primitive share, as words for their type.
pub struct Forms<'a> {
    shared: &'a Shared,
    /// The name of the matrix.
    input: String,
    /// The primitive's, if its values differ from the matrix's own, and the type.
    kind: String,
}

impl<'a> Forms<'a> {
    pub fn new(shared: &'a Shared, input: String, kind: String) -> Forms<'a> {
        Forms { shared, input, kind }
    }

    /// A form, of so many bytes: as it was made before, or made by `make`.
    ///
    /// # Errors
    /// Errors of `make`.
    pub fn get<T: Contents>(
        &self,
        form: &str,
        bytes: u64,
        make: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<Arc<T>, Failure> {
        // While it is made, its parts are there beside the whole.
        self.shared.get(&self.input, &format!("{form}, {}", self.kind), 2 * bytes, make)
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
        /// Errors of the driver, and missing memory.
        pub fn method(made: &mut $made) -> Result<GpuMethod<$call>, Failure> {
            match made.spec.method {
                $($method => $module::cuda::method(made)),+
            }
        }
    };
}
pub(crate) use methods_of_gpus;

/// The names that most implementations on GPUs use: `use crate::primitives::cuda::prelude::*`.
pub mod prelude {
    pub use super::check_report::find;
    pub(crate) use super::methods_of_gpus;
    pub use super::{BLOCK, array, grid, launch_over, length};
    pub use crate::case::{Cancel, Failure, Fault, Verdict};
    pub use crate::device::cuda::{
        ComputeCapability, DeviceBuffer, DevicePtr, Gpu, GpuJob, GpuMethod, GpuSetup, InputArray, Kernel,
        KernelList, LaunchPart, LaunchPlan, Module, OutputArray, Plain, poison,
    };
    pub(crate) use crate::device::cuda::{args, device_struct};
}

/// Pointers to keys and to values, either of one word or two; the second is unused if there are no values.
pub type Pair = [DevicePtr<u32>; 2];

/// Keys and their values, as words; of either at least one.
pub struct Pairs {
    pub keys: DeviceBuffer<u32>,
    pub values: DeviceBuffer<u32>,
    n: u64,
    /// Bytes of a key, and of a value; 0 without values.
    sizes: [u64; 2],
}

impl Pairs {
    /// Room for `n` keys and values of so many bytes.
    pub fn new(gpu: &Gpu, n: u64, sizes: [u64; 2]) -> Result<Pairs, Failure> {
        let [keys, values] = sizes.map(|bytes| array(gpu, (n * bytes / 4).max(1)));
        Ok(Pairs { keys: keys?, values: values?, n, sizes })
    }

    /// The addresses of the arrays.
    pub fn pointers(&self) -> Pair {
        [self.keys.pointer(), self.values.pointer()]
    }

    /// The addresses of key and value `i`.
    pub fn pointers_at(&self, i: u64) -> Result<Pair, Failure> {
        let at = |array: &DeviceBuffer<u32>, bytes: u64| array.pointer_at(length(i * bytes / 4)?);
        Ok([at(&self.keys, self.sizes[0])?, at(&self.values, self.sizes[1])?])
    }

    /// The arrays as outputs, keys first.
    pub fn outputs(&mut self) -> Vec<OutputArray<'_>> {
        let [key, value] = self.sizes;
        vec![
            OutputArray::new(&mut self.keys, key).first(self.n),
            OutputArray::new(&mut self.values, value).first(self.n),
        ]
    }
}

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

/// The tiles of one kernel; a block handles one at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tiles {
    /// Threads per block.
    pub block: u32,
    /// Elements per tile.
    size: u64,
    /// Maximum number of blocks per launch.
    most: u32,
}

impl Tiles {
    /// The tiles of a kernel whose threads have `per_item` elements in flight for each item.
    ///
    /// # Errors
    /// `NotApplicable` if no multiprocessor has the registers for such a block.
    pub fn new(gpu: &Gpu, kernel: &Kernel, tuning: &Tuning, per_item: u64) -> Result<Tiles, Failure> {
        let block = tuning.block.unwrap_or(BLOCK);
        let at_once = gpu.max_blocks(kernel, block, 0)?;
        Ok(Tiles::of(tuning, per_item, at_once))
    }

    fn of(tuning: &Tuning, per_item: u64, at_once: u32) -> Tiles {
        let block = tuning.block.unwrap_or(BLOCK);
        let size = u64::from(block) * u64::from(tuning.items.unwrap_or(1)) * per_item;
        let most = if tuning.grid == Some(Grid::Resident) { at_once } else { u32::MAX };
        Tiles { block, size, most }
    }

    /// The number of full tiles among `n` elements, limited to what a block number can count, and the number of
    /// elements in them.
    pub fn full(&self, n: u64) -> (u32, u64) {
        let tiles = (n / self.size).min(MAX_GRID);
        (tiles as u32, tiles * self.size)
    }

    /// The number of blocks for `n` elements, including a partial tile.
    pub fn blocks(&self, n: u64) -> u32 {
        grid(n, self.size).min(self.most.max(1))
    }

    /// True if each block has at most one tile.
    pub fn one_each(&self, n: u64) -> bool {
        u64::from(self.blocks(n)) == n.div_ceil(self.size).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use super::{words32, words32_of};

    #[test]
    fn numbers_as_words() {
        assert_eq!(words32([1, 2], 4), [1, 2]);
        assert_eq!(words32([1, (7 << 32) + 5], 8), [1, 0, 5, 7]);
        for bytes in [4, 8] {
            let number = |at: usize| (at as u64) << 31 | 3;
            assert_eq!(words32_of(9, bytes, number), Ok(words32((0..9).map(number), bytes)));
        }
    }

    fn tiles(grid: Grid) -> Tiles {
        let tuning = Tuning { block: Some(128), items: Some(4), grid: Some(grid), ..Tuning::default() };
        Tiles::of(&tuning, 2, 8)
    }

    #[test]
    fn every_element_has_a_block() {
        let tiles = tiles(Grid::Tiles);
        for (n, full, blocks) in [(1, 0, 1), (1023, 0, 1), (1024, 1, 1), (1025, 1, 2), (1 << 20, 1024, 1024)]
        {
            let elements = u64::from(full) * 1024;
            assert_eq!((tiles.full(n), tiles.blocks(n)), ((full, elements), blocks), "{n}");
        }
        let (most, elements) = tiles.full(u64::MAX);
        assert_eq!((u64::from(most), elements), (MAX_GRID, MAX_GRID * 1024));
    }

    #[test]
    fn a_resident_grid_has_no_more_blocks_than_are_at_work_at_once() {
        let tiles = tiles(Grid::Resident);
        assert_eq!([1, 8 << 10, 1 << 30].map(|n| tiles.blocks(n)), [1, 8, 8]);
        assert_eq!([1, 8 << 10, (8 << 10) + 1].map(|n| tiles.one_each(n)), [true, true, false]);
    }

    #[test]
    fn unset_tunables_are_one_item_in_blocks_of_256() {
        assert_eq!(Tiles::of(&Tuning::default(), 1, 8).full(600), (2, 512));
    }
}
