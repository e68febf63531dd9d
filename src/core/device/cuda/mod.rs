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

mod job;
mod kernel_list;
mod multi_gpu;

#[cfg(all(feature = "cuda", target_os = "linux"))]
#[path = "live/mod.rs"]
mod imp;

#[cfg(not(all(feature = "cuda", target_os = "linux")))]
#[path = "absent.rs"]
mod imp;

use std::fmt;
use std::marker::PhantomData;

pub use imp::{Ahead, Arg, DeviceBuffer, Gpu, Kernel, Limit, Module, Persisting};
pub use job::{
    AsArg, GpuJob, GpuMethod, GpuSetup, InputArray, LaunchPart, LaunchPlan, OneGpu, OutputArray, POISON32,
    on_gpu, pointer_or_null, poison,
};
pub(crate) use job::{args, device_struct, plain_struct};
pub use kernel_list::{KernelList, KernelName, Launched};
pub use multi_gpu::{Several, run_concurrently};

/// Module and name of the kernel used for timing, from `kernels/common/gate.cuh`.
pub const GATE: (&str, &str) = ("gate", "gate");

/// Why no GPU is usable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unavailable {
    /// Short and machine-independent: `no CUDA driver`, `no CUDA device`, or the name of the driver's error.
    pub reason: String,
    /// Details for the user. May be empty.
    pub detail: String,
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)?;
        if self.detail.is_empty() { Ok(()) } else { write!(f, ": {}", self.detail) }
    }
}

impl std::error::Error for Unavailable {}

/// Generation of a GPU: major, minor.
pub type ComputeCapability = (u32, u32);

/// Properties reported by the driver, queried once when a device is listed or opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuFacts {
    /// Marketing name, such as `NVIDIA H200`.
    pub name: String,
    /// Number of streaming multiprocessors.
    pub sms: u32,
    /// Size of the L2 cache, bytes.
    pub l2_bytes: u64,
    /// Largest part of L2 that can be set aside for persisting accesses, bytes; 0 if unsupported.
    pub persisting_l2: u64,
    /// Largest window of an array for persisting accesses, bytes.
    pub policy_window: u64,
    /// Memory of the device, bytes.
    pub memory: u64,
    /// Shared memory available to one block, bytes (with the opt-in above 48 KiB).
    pub shared_per_block: u32,
    /// Shared memory per multiprocessor, bytes.
    pub shared_per_sm: u32,
    /// Resident threads per multiprocessor.
    pub threads_per_sm: u32,
    pub compute_capability: ComputeCapability,
    /// Newest CUDA version that the driver supports: major, minor.
    pub driver_cuda: (u32, u32),
    /// Release of the driver, such as `580.65.06`, if the system reports it.
    pub driver_release: Option<String>,
    /// True if ECC is enabled; `None` if the driver does not report it.
    pub ecc: Option<bool>,
    /// Maximum memory clock, kHz, if the driver reports it.
    pub memory_clock_khz: Option<u32>,
    /// Width of the memory bus, bits, if the driver reports it.
    pub memory_bus_bits: Option<u32>,
    /// PCI bus id, `00000000:19:00.0`, if the driver reports it.
    pub pci_bus_id: Option<String>,
    /// UUID of the device, or of the MIG instance that CUDA sees as a device: 32 hexadecimal digits in five
    /// groups, if the driver reports it.
    pub uuid: Option<String>,
    /// Facts from the management library.
    pub managed: ManagedFacts,
}

/// Facts about a device from NVIDIA's management library (NVML); all missing without it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ManagedFacts {
    /// Maximum SM clock, MHz.
    pub highest_sm_clock: Option<u32>,
    /// Maximum memory clock, MHz.
    pub highest_memory_clock: Option<u32>,
    /// SM clock set for applications, MHz.
    pub application_sm_clock: Option<u32>,
    /// Enforced power limit, mW.
    pub power_limit: Option<u32>,
    /// True if MIG is enabled. CUDA then sees one of the instances.
    pub mig: Option<bool>,
    /// Name of the MIG instance that CUDA sees, such as `NVIDIA H200 MIG 1g.18gb`.
    pub instance: Option<String>,
    /// `GPU-` or `MIG-` followed by the UUID, as accepted by `CUDA_VISIBLE_DEVICES`.
    pub uuid: Option<String>,
    /// True if persistence mode is enabled.
    pub persistence: Option<bool>,
    /// Version of the VBIOS.
    pub vbios: Option<String>,
}

/// Values with the same meaning in a kernel and in Rust, for any bit pattern: plain numbers and `#[repr(C)]`
/// structs of them.
///
/// # Safety
/// Every bit pattern must be a valid value, and the layout must match the kernel's (`#[repr(C)]`); no
/// references, no pointers to host memory.
pub unsafe trait Plain: Copy + 'static {
    /// All zeros, for arguments and fields that a launch does not use.
    fn zeroed() -> Self {
        // SAFETY: by the trait's promise every bit pattern is valid.
        unsafe { std::mem::zeroed() }
    }
}

macro_rules! plain {
    ($($t:ty)*) => { $(
        // SAFETY: a plain number; every bit pattern is valid.
        unsafe impl Plain for $t {}
    )* };
}
plain!(u8 u16 u32 u64 i8 i16 i32 i64 f32 f64 usize);

// SAFETY: an array consists of its elements without padding.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}

/// The address of an element in device memory, as passed to kernels: 8 bytes, also as a field of a `#[repr(C)]`
/// struct. It is valid as long as its buffer.
#[repr(transparent)]
#[derive(Debug)]
pub struct DevicePtr<T>(u64, PhantomData<fn() -> T>);

impl<T> Clone for DevicePtr<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for DevicePtr<T> {}

impl<T> DevicePtr<T> {
    /// The null address, which differs from that of every buffer.
    pub fn null() -> DevicePtr<T> {
        DevicePtr(0, PhantomData)
    }

    /// The same address with another element type, for kernels that accept several.
    pub fn cast<U>(self) -> DevicePtr<U> {
        DevicePtr(self.0, PhantomData)
    }
}

// SAFETY: an address is a number, and Rust never dereferences it.
unsafe impl<T: 'static> Plain for DevicePtr<T> {}
