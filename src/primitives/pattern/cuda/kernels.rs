//! The kernels of `kernels/pattern.cu` that compute a case, typed.

use super::checks::Checks;
use super::starts::Form;
use crate::case::Failure;
use crate::device::cuda::{self, Arg, DeviceBuffer, DevicePtr, Gpu, Plain};
use crate::device::cuda::{Named, named};
use crate::inputs::mix::key64;
use crate::primitives::cuda::{Fill, launch_over};
use crate::primitives::pattern::Spec;
use crate::primitives::pattern::spec::{Kernel, Method};
use crate::primitives::pattern::walk::Walk;

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
    starts: DevicePtr<u32>,
    bytes: u32,
    start_bytes: u32,
}

// SAFETY: `#[repr(C)]` like its twin in the kernels, plain numbers and device addresses.
unsafe impl Plain for Side {}

// SAFETY: `#[repr(C)]` like its twin in the kernels, plain numbers.
unsafe impl Plain for Walk {}

impl Pattern {
    /// Uploads p (`outer` empty), or q and p, as indices of `bytes` bytes, 4 or 8.
    pub fn new(gpu: &Gpu, index: &[u64], outer: &[u64], delta: u64, bytes: u64) -> Result<Pattern, Failure> {
        let upload = |indices: &[u64]| gpu.upload(&words(indices, bytes));
        let outer = if outer.is_empty() { None } else { Some(upload(outer)?) };
        Ok(Pattern { index: upload(index)?, outer, delta, bytes: bytes as u32 })
    }

    pub fn side(&self) -> Side {
        let outer = self.outer.as_ref().map_or(DevicePtr::null(), DeviceBuffer::pointer);
        let (index, starts) = (self.index.pointer(), DevicePtr::null());
        Side { index, outer, delta: self.delta, starts, bytes: self.bytes, start_bytes: 0 }
    }

    pub fn bytes(&self) -> u64 {
        self.index.bytes() + self.outer.as_ref().map_or(0, DeviceBuffer::bytes)
    }
}

impl Side {
    /// The same, where an array says where uses start, in `bytes` bytes each.
    pub fn starting(self, starts: DevicePtr<u32>, start_bytes: u32) -> Side {
        Side { starts, start_bytes, ..self }
    }
}

/// Indices as 4-byte words, little-endian.
fn words(indices: &[u64], bytes: u64) -> Vec<u32> {
    match bytes {
        4 => indices.iter().map(|&k| k as u32).collect(),
        _ => indices.iter().flat_map(|&k| [k as u32, (k >> 32) as u32]).collect(),
    }
}

/// Sums that the blocks of a gather without a destination share: `PARTIALS` in the kernels.
pub const PARTIALS: usize = 1024;

/// A walk and the threads of its blocks.
#[derive(Clone, Copy)]
pub struct Launch {
    pub walk: Walk,
    pub threads: u32,
    /// Shared memory of a block, bytes.
    pub shared: u32,
}

/// The timed kernel's name in the PTX, of those of so many items.
pub fn timed_name(spec: &Spec, items: u32) -> String {
    let name = match (spec.kernel, spec.method) {
        (Kernel::Gs, _) => "gs",
        (Kernel::Scatter | Kernel::Multiscatter, _) => "scatter",
        (Kernel::Gather | Kernel::Multigather, Method::Direct) if spec.global => "gather_global",
        (Kernel::Gather | Kernel::Multigather, Method::Direct) => "gather",
        (Kernel::Gather | Kernel::Multigather, Method::ReadOnly) => "read_only",
    };
    let other = match (spec.based() || spec.atomic, spec.kernel.scatters()) {
        (false, _) => "",
        (true, true) => "_variant",
        (true, false) => "_visits",
    };
    format!("pattern_{name}{other}_u{items}")
}

/// The kernels that a case needs.
pub struct Kernels {
    pub fill: Fill,
    pub checks: Checks,
    timed: cuda::Kernel,
    gather_keep: cuda::Kernel,
    scatter_keep: cuda::Kernel,
    starts: cuda::Kernel,
    /// Whether stores are atomic, for the kernels that take it as an argument.
    atomic: u32,
    takes_atomic: bool,
}

const MODULE: &str = "pattern";

/// Those that are neither timed nor check anything.
const OTHERS: [&str; 3] = ["pattern_gather_keep", "pattern_scatter_keep", "pattern_starts"];

/// The kernels that a case asks for, the timed one with so many items.
pub fn asked(spec: &Spec, items: u32) -> Vec<Named> {
    let others = [Fill::KERNELS.as_slice(), &OTHERS, &Checks::KERNELS].concat();
    [named(MODULE, [timed_name(spec, items)]), named(MODULE, others)].concat()
}

impl Kernels {
    /// Those of a case, the timed one with so many items.
    pub fn new(gpu: &Gpu, spec: &Spec, items: u32) -> Result<Kernels, Failure> {
        let module = gpu.module(MODULE)?;
        let [gather_keep, scatter_keep, starts] = module.kernels(OTHERS)?;
        Ok(Kernels {
            fill: Fill::new(&module)?,
            checks: Checks::new(&module)?,
            timed: module.kernel(&timed_name(spec, items))?,
            gather_keep,
            scatter_keep,
            starts,
            atomic: u32::from(spec.atomic),
            takes_atomic: spec.kernel.scatters() && (spec.based() || spec.atomic),
        })
    }

    /// The timed gather. `left`, if not null, has room for the dense side of each block; where
    /// all share one, it is that.
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
            &self.timed,
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

    /// The gather that stores nothing; `partials` has room for [`PARTIALS`] sums.
    pub fn read_only(
        &self,
        gpu: &Gpu,
        launch: &Launch,
        side: &Side,
        source: DevicePtr<u64>,
        partials: &DeviceBuffer<u64>,
    ) -> Result<(), Failure> {
        launch.start(
            gpu,
            &self.timed,
            &[(&launch.walk).into(), side.into(), (&source).into(), partials.into()],
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
        let key = key64(seed);
        let mut args: Vec<Arg> =
            vec![(&launch.walk).into(), side.into(), (&destination).into(), (&key).into()];
        if keep || self.takes_atomic {
            args.push((&self.atomic).into());
        }
        launch.start(gpu, if keep { &self.scatter_keep } else { &self.timed }, &args)
    }

    pub fn gs(
        &self,
        gpu: &Gpu,
        launch: &Launch,
        (from, to): (&Side, &Side),
        source: DevicePtr<u64>,
        destination: DevicePtr<u64>,
    ) -> Result<(), Failure> {
        let mut args: Vec<Arg> =
            vec![(&launch.walk).into(), from.into(), to.into(), (&source).into(), (&destination).into()];
        if self.takes_atomic {
            args.push((&self.atomic).into());
        }
        launch.start(gpu, &self.timed, &args)
    }

    /// Queues the making of an array of `n` starts, of `bytes` bytes each.
    pub fn starts(
        &self,
        gpu: &Gpu,
        out: &DeviceBuffer<u32>,
        bytes: u32,
        form: &Form,
        n: u64,
    ) -> Result<(), Failure> {
        launch_over(gpu, &self.starts, n, &[out.into(), (&bytes).into(), form.into(), (&n).into()])
    }
}

impl Launch {
    pub fn start(&self, gpu: &Gpu, kernel: &cuda::Kernel, args: &[Arg]) -> Result<(), Failure> {
        gpu.launch(kernel, self.walk.blocks(), self.threads, self.shared, args)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layout_is_the_kernels() {
        assert_eq!((size_of::<Side>(), std::mem::offset_of!(Side, bytes)), (40, 32));
    }

    #[test]
    fn indices_as_words() {
        assert_eq!(words(&[1, 2], 4), [1, 2]);
        assert_eq!(words(&[1, (7 << 32) + 5], 8), [1, 0, 5, 7]);
    }
}
