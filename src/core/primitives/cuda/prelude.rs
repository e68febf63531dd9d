//! The names that most implementations on GPUs use: `use crate::primitives::cuda::prelude::*`.

pub use super::check_report::find;
pub(crate) use super::methods_of_gpus;
pub use super::{BLOCK, array, grid, launch_over, length};
pub use crate::case::{Cancel, Failure, Fault, Verdict};
pub use crate::device::cuda::{
    ComputeCapability, DeviceBuffer, DevicePtr, Gpu, GpuJob, GpuMethod, GpuSetup, InputArray, Kernel,
    KernelList, LaunchPart, LaunchPlan, Module, OutputArray, Plain, poison,
};
pub(crate) use crate::device::cuda::{args, device_struct};
