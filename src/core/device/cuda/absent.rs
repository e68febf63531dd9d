//! Substitute for the CUDA backend in builds without it: uninhabited types with the same names, so that the code that
//! uses the backend needs no conditional compilation.

use std::convert::Infallible;
use std::marker::PhantomData;
use std::ops::Range;

use super::{DevicePtr, GpuFacts, Plain, Unavailable};
use crate::case::{Failure, HostMemory};
use crate::stats::noise::GpuConditions;

/// Why this build has no GPU.
const REASON: &str =
    if cfg!(feature = "cuda") { "the CUDA backend needs Linux" } else { "built without the cuda feature" };

/// A GPU that does not exist.
#[derive(Clone)]
pub struct Gpu(Infallible);

/// An array on a GPU that does not exist.
pub struct DeviceBuffer<T: Plain>(Infallible, PhantomData<T>);

// Like the live type, so that an early `drop` of a buffer is meaningful.
impl<T: Plain> Drop for DeviceBuffer<T> {
    fn drop(&mut self) {
        match self.0 {}
    }
}

/// Kernels for a GPU that does not exist.
#[derive(Clone)]
pub struct Module(Infallible);

/// A kernel for a GPU that does not exist.
#[derive(Clone)]
pub struct Kernel(Infallible);

/// A compiler of kernels for a GPU that does not exist.
pub struct Ahead(());

impl Ahead {
    /// Does nothing.
    pub fn new(_kernels: impl Iterator<Item = (Gpu, &'static str, String)> + Send + 'static) -> Ahead {
        Ahead(())
    }
}

/// A limit of a GPU that does not exist.
pub struct Limit(Infallible);

/// A part of the L2 cache of a GPU that does not exist.
pub struct Persisting(Infallible);

/// A launch argument, never used.
#[derive(Clone, Copy)]
pub struct Arg<'a>(PhantomData<&'a ()>);

impl<'a> Arg<'a> {
    /// An argument that nothing takes.
    pub fn new<T: Plain>(_value: &'a T) -> Arg<'a> {
        Arg(PhantomData)
    }
}

impl Gpu {
    /// Always fails with the reason.
    pub fn open() -> Result<Gpu, Unavailable> {
        Gpu::open_device(0)
    }

    /// Always fails with the reason.
    pub fn open_device(_number: u32) -> Result<Gpu, Unavailable> {
        Err(Unavailable { reason: REASON.to_owned(), detail: String::new() })
    }

    /// Always fails with the reason.
    pub fn count() -> Result<u32, Unavailable> {
        Gpu::open_device(0).map(|gpu| match gpu.0 {})
    }

    /// Always fails with the reason.
    pub fn all() -> Result<Vec<GpuFacts>, Unavailable> {
        Err(Unavailable { reason: REASON.to_owned(), detail: String::new() })
    }
}

/// Methods of uninhabited types, with the signatures of the live ones.
macro_rules! never {
    ($( fn $name:ident $(<$t:ident>)? ($($arg:ident: $type:ty),* $(,)?) -> $out:ty; )*) => { $(
        #[allow(missing_docs, unused_variables, reason = "nobody can call it")]
        pub fn $name $(<$t: Plain>)? (&self $(, $arg: $type)*) -> $out {
            match self.0 {}
        }
    )* };
}

impl Gpu {
    #[allow(missing_docs, clippy::missing_safety_doc, reason = "nobody can call it")]
    pub unsafe fn copy_bytes<T: Plain>(
        &self,
        _from: DevicePtr<u8>,
        _to: &mut DeviceBuffer<T>,
        _bytes: u64,
    ) -> Result<(), Failure> {
        match self.0 {}
    }

    never! {
        fn device() -> &GpuFacts;
        fn conditions() -> GpuConditions;
        fn free_memory() -> Result<u64, Failure>;
        fn require(bytes: u64) -> Result<(), Failure>;
        fn module(name: &str) -> Result<Module, Failure>;
        fn synchronize() -> Result<(), Failure>;
        fn wait_for_own_work() -> Result<(), Failure>;
        fn timed(work: &mut dyn FnMut() -> Result<(), Failure>) -> Result<f64, Failure>;
        fn timed_parts(
            count: usize,
            work: &mut dyn FnMut(usize) -> Result<(), Failure>,
        ) -> Result<Vec<f64>, Failure>;
        fn alloc<T>(len: usize) -> Result<DeviceBuffer<T>, Failure>;
        fn alloc_across<T>(others: &[Gpu], len: usize) -> Result<DeviceBuffer<T>, Failure>;
        fn put<T>(data: &[T], buffer: &mut DeviceBuffer<T>) -> Result<(), Failure>;
        fn upload<T>(data: &[T]) -> Result<DeviceBuffer<T>, Failure>;
        fn memset32<T>(buffer: &mut DeviceBuffer<T>, word: u32) -> Result<(), Failure>;
        fn copy<T>(from: &DeviceBuffer<T>, range: Range<usize>, to: &mut DeviceBuffer<T>, at: usize) -> Result<(), Failure>;
        fn launch(kernel: &Kernel, grid: u32, block: u32, shared_bytes: u32, args: &[Arg]) -> Result<(), Failure>;
        fn fetching(bytes: u32) -> Result<Limit, Failure>;
        fn persisting<T>(array: &DeviceBuffer<T>, bytes: u64) -> Result<Persisting, Failure>;
        fn transfer(bytes: [u64; 2], memory: HostMemory) -> Result<[f64; 2], Failure>;
        fn max_blocks(kernel: &Kernel, block: u32, shared_bytes: u32) -> Result<u32, Failure>;
    }
}

impl<T: Plain> DeviceBuffer<T> {
    never! {
        fn len() -> usize;
        fn is_empty() -> bool;
        fn bytes() -> u64;
        fn pointer() -> DevicePtr<T>;
        fn address() -> &DevicePtr<T>;
        fn pointer_at(index: usize) -> Result<DevicePtr<T>, Failure>;
        fn to_host() -> Result<Vec<T>, Failure>;
        fn range_to_host(range: Range<usize>) -> Result<Vec<T>, Failure>;
        fn bytes_to_host(bytes: u64) -> Result<Vec<u8>, Failure>;
    }
}

impl Module {
    never! { fn kernel(name: &str) -> Result<Kernel, Failure>; }

    /// Kernels that do not exist.
    pub fn kernels<const N: usize>(&self, _names: [impl AsRef<str>; N]) -> Result<[Kernel; N], Failure> {
        match self.0 {}
    }
}

impl Limit {
    never! { fn bytes() -> u64; }
}

impl Persisting {
    never! { fn bytes() -> u64; }
}

impl Kernel {
    never! {
        fn name() -> &'static str;
        fn in_turn() -> Kernel;
    }
}
