//! The CUDA backend: NVIDIA GPUs behind a small, safe interface.
//!
//! Primitives implement [`GpuJob`] with [`Gpu`], [`DeviceBuffer`], [`Module`] (loaded kernel code), [`Kernel`] and
//! [`Arg`]; only this folder refers to the crate `cust`, which binds the CUDA driver. A binary with the feature `cuda`
//! also starts on machines without a GPU: [`Gpu::open`] loads the driver, and [`Unavailable`] gives the reason if
//! anything is missing. Without the feature, or on other systems than Linux, the same names stand for types without
//! values, and [`Gpu::open`] always fails.
//!
//! Work is queued on one CUDA stream per [`Gpu`] and runs in order; [`Gpu::synchronize`], [`Gpu::timed`] and
//! copies to the host wait for it. Errors of a kernel are reported by the next call that waits.

mod facts;
mod job;
mod kernel_list;
mod multi_gpu;
mod run_concurrently;

#[cfg(all(feature = "cuda", target_os = "linux"))]
#[path = "live/mod.rs"]
mod imp;

#[cfg(not(all(feature = "cuda", target_os = "linux")))]
#[path = "absent.rs"]
mod imp;

pub use facts::{ComputeCapability, DevicePtr, GATE, GpuFacts, ManagedFacts, Plain, Unavailable};
pub use imp::{Ahead, Arg, DeviceBuffer, Gpu, Kernel, Limit, Module, Persisting};
pub use job::{
    AsArg, GpuJob, GpuMethod, GpuSetup, InputArray, LaunchPart, LaunchPlan, OneGpu, OutputArray, POISON32,
    on_gpu, pointer_or_null, poison,
};
pub(crate) use job::{args, device_struct, plain_struct};
pub use kernel_list::{KernelList, KernelName, Launched};
pub use multi_gpu::Several;
pub use run_concurrently::run_concurrently;
