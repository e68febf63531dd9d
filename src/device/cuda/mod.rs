//! The CUDA backend: NVIDIA GPUs behind a small safe interface.
//!
//! Primitives see [`Gpu`], [`DeviceBuffer`], [`Module`], [`Kernel`] and [`Arg`]; only
//! this folder names `cust`. A binary with the feature `cuda` starts
//! everywhere: the driver is loaded when [`Gpu::open`] is called, and what is missing is
//! the reason in [`Unavailable`]. Without the feature, or not on Linux, the same names
//! stand for types that have no values, and [`Gpu::open`] says so.
//!
//! Work is queued on one stream per [`Gpu`] and runs in the order of the calls;
//! [`Gpu::synchronize`], [`Gpu::timed`] and the copies to the host wait for it. An
//! error of a kernel is reported by the next call that waits.

mod facts;
mod job;
mod multi_gpu;
mod run_concurrently;

#[cfg(all(feature = "cuda", target_os = "linux"))]
#[path = "live/mod.rs"]
mod imp;

#[cfg(not(all(feature = "cuda", target_os = "linux")))]
#[path = "absent.rs"]
mod imp;

pub use facts::{DevicePtr, GATE, GpuFacts, ManagedFacts, Plain, Unavailable};
pub use imp::{Ahead, Arg, DeviceBuffer, Gpu, Kernel, Limit, Module, Persisting};
pub use job::{AsArg, GpuJob, Launched, Named, OneGpu, POISON32, Part, Plan, Setup, named, on_gpu, poison};
pub(crate) use job::{args, device_struct, plain_struct};
pub use multi_gpu::Several;
pub use run_concurrently::run_concurrently;
