//! The kernels of `kernels/stream.cu`, typed.

use super::Arrays;
use super::tuned::Tuned;
use crate::case::Failure;
use crate::device::cuda::{self, DeviceBuffer, DevicePtr, Gpu};
use crate::inputs::mix::key64;
use crate::primitives::cuda::tiles::Tiles;
use crate::primitives::cuda::{Named, launch_over, length, named};
use crate::primitives::range::Range;
use crate::primitives::stream::spec::{Kernel, Q, Spec, WRITTEN};

/// `PARTIALS` in the kernels.
const PARTIALS: usize = 1024;

/// The kernels that one case needs.
pub struct Kernels {
    kernel: Kernel,
    timed: cuda::Kernel,
    tiles: Tiles,
    /// f64 elements of a load or store.
    lanes: u64,
    fill: cuda::Kernel,
    expected_sum: cuda::Kernel,
    certify: cuda::Kernel,
}

/// Where read adds up: partial sums, which go on growing from launch to launch.
pub struct Sum(DeviceBuffer<u64>);

impl Sum {
    pub fn bytes(&self) -> u64 {
        self.0.bytes()
    }

    /// The sum becomes 0.
    pub fn clear(&mut self, gpu: &Gpu) -> Result<(), Failure> {
        gpu.memset32(&mut self.0, 0)
    }

    /// What was read since the last clearing.
    pub fn value(&self) -> Result<f64, Failure> {
        Ok(self.0.to_host()?.into_iter().fold(0, u64::wrapping_add) as f64)
    }
}

/// The kernel's code in the certificate; read has none.
fn code(kernel: Kernel) -> u32 {
    match kernel {
        Kernel::Read => 0,
        Kernel::Write => 1,
        Kernel::Copy => 2,
        Kernel::Scale => 3,
        Kernel::Add => 4,
        Kernel::Triad => 5,
    }
}

const MODULE: &str = "stream";

/// Those that are not timed.
const OTHERS: [&str; 3] = ["stream_fill", "stream_expected_sum", "stream_certify"];

/// The kernels that a case asks for.
pub fn asked(kernel: Kernel, tuned: &Tuned) -> Vec<Named> {
    [named(MODULE, [tuned.kernel_name(kernel)]), named(MODULE, OTHERS)].concat()
}

impl Kernels {
    pub fn new(gpu: &Gpu, kernel: Kernel, tuned: &Tuned) -> Result<Kernels, Failure> {
        let module = gpu.module(MODULE)?;
        let timed = module.kernel(&tuned.kernel_name(kernel))?;
        let [fill, expected_sum, certify] = module.kernels(OTHERS)?;
        Ok(Kernels {
            kernel,
            tiles: Tiles::new(gpu, &timed, &tuned.0, tuned.lanes())?,
            lanes: tuned.lanes(),
            timed,
            fill,
            expected_sum,
            certify,
        })
    }

    /// Room for read's sums.
    pub fn sum(&self, gpu: &Gpu) -> Result<Sum, Failure> {
        gpu.upload(&[0u64; PARTIALS]).map(Sum)
    }

    /// The first `n` elements become the stream of this seed.
    pub fn fill(&self, gpu: &Gpu, out: &mut DeviceBuffer<f64>, seed: u64, n: u64) -> Result<(), Failure> {
        launch_over(gpu, &self.fill, n, &[out.into(), (&key64(seed)).into(), (&n).into()])
    }

    /// Queues the timed kernel for a range of elements; the destination, or for read
    /// the source, misplaced by `shift` elements.
    pub fn execute(&self, gpu: &Gpu, arrays: &mut Arrays, range: Range, shift: u64) -> Result<(), Failure> {
        match &arrays.sum {
            Some(sum) => self.read(gpu, arrays, sum, range, shift),
            None => self.map(gpu, arrays, range, shift),
        }
    }

    fn read(&self, gpu: &Gpu, arrays: &Arrays, sum: &Sum, range: Range, shift: u64) -> Result<(), Failure> {
        let x = at(arrays.sources.first(), range.first + shift)?;
        let (tiles, tiled) = self.vectors(range, range.first + shift);
        let args = [(&x).into(), (&tiles).into(), (&tiled).into(), (&range.count).into(), (&sum.0).into()];
        gpu.launch(&self.timed, self.tiles.blocks(range.count), self.tiles.block, 0, &args)
    }

    fn map(&self, gpu: &Gpu, arrays: &Arrays, range: Range, shift: u64) -> Result<(), Failure> {
        let destination = at(arrays.destination.as_ref(), range.first + shift)?;
        let x = at(arrays.sources.first(), range.first)?;
        let y = at(arrays.sources.get(1), range.first)?;
        let (tiles, tiled) = self.vectors(range, range.first | (range.first + shift));
        let q = factor(self.kernel);
        let args = [
            (&destination).into(),
            (&x).into(),
            (&y).into(),
            (&tiles).into(),
            (&tiled).into(),
            (&range.count).into(),
            (&q).into(),
        ];
        gpu.launch(&self.timed, self.tiles.blocks(range.count), self.tiles.block, 0, &args)
    }

    /// Tiles of a range that can be moved as vectors, and their elements: none where a first
    /// element, of which `first` has all bits, does not begin one. Arrays begin with whole
    /// vectors.
    fn vectors(&self, range: Range, first: u64) -> (u32, u64) {
        if first.is_multiple_of(self.lanes) { self.tiles.full(range.count) } else { (0, 0) }
    }

    /// Queues the check of the destination.
    pub fn certify(
        &self,
        gpu: &Gpu,
        spec: &Spec,
        destination: &DeviceBuffer<f64>,
        report: &DeviceBuffer<u64>,
    ) -> Result<(), Failure> {
        let key = |operand: usize| {
            key64(self.kernel.sources().get(operand).map_or(0, |array| array.seed(spec.seed)))
        };
        let (op, x, y, q) = (code(self.kernel), key(0), key(1), factor(self.kernel));
        let args = [
            destination.into(),
            (&op).into(),
            (&x).into(),
            (&y).into(),
            (&q).into(),
            (&spec.elements).into(),
            report.into(),
        ];
        launch_over(gpu, &self.certify, spec.elements, &args)
    }

    /// Queues the sum of what read reads, as an integer.
    pub fn expected_sum(&self, gpu: &Gpu, spec: &Spec, report: &DeviceBuffer<u64>) -> Result<(), Failure> {
        let seed = self.kernel.sources().first().map_or(spec.seed, |array| array.seed(spec.seed));
        let key = key64(seed);
        let args = [(&key).into(), (&spec.elements).into(), report.into()];
        launch_over(gpu, &self.expected_sum, spec.elements, &args)
    }
}

/// q, or what write stores.
fn factor(kernel: Kernel) -> f64 {
    if kernel == Kernel::Write { WRITTEN } else { Q }
}

/// The address of an element; null for an array that the kernel does not take.
fn at(buffer: Option<&DeviceBuffer<f64>>, element: u64) -> Result<DevicePtr<f64>, Failure> {
    buffer.map_or(Ok(DevicePtr::null()), |buffer| buffer.pointer_at(length(element)?))
}
