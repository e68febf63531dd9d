//! The CUDA backend: NVIDIA GPUs behind a small, safe interface.
//!
//! Primitives use [`Gpu`], [`DeviceBuffer`], [`Module`], [`Kernel`] and [`Arg`]; only this folder refers to
//! `cust`. A binary with the feature `cuda` starts everywhere: the driver is loaded by [`Gpu::open`], and
//! [`Unavailable`] gives the reason if anything is missing. Without the feature, or on other systems than
//! Linux, the same names stand for uninhabited types, and [`Gpu::open`] fails.
//!
//! Work is queued on one stream per [`Gpu`] and runs in order; [`Gpu::synchronize`], [`Gpu::timed`] and copies
//! to the host wait for it. Errors of a kernel are reported by the next call that waits.

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
