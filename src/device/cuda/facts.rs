//! What is known about a GPU, or why there is none.

use std::fmt;
use std::marker::PhantomData;

/// The kernel that timing takes, `kernels/gate.cuh`: its module and its name.
pub const GATE: (&str, &str) = ("gate", "gate");

/// Why there is no GPU to use: data for records, never a panic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unavailable {
    /// Short and the same everywhere: `no CUDA driver`, `no CUDA device`, or the name
    /// of the driver's error.
    pub reason: String,
    /// What happened here, for a person. May be empty.
    pub detail: String,
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)?;
        if self.detail.is_empty() { Ok(()) } else { write!(f, ": {}", self.detail) }
    }
}

impl std::error::Error for Unavailable {}

/// What the driver says about a device, once, when it is asked or opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuFacts {
    /// Marketing name, such as `NVIDIA H200`.
    pub name: String,
    /// Streaming multiprocessors.
    pub sms: u32,
    /// L2 cache, bytes.
    pub l2_bytes: u64,
    /// Most of the L2 cache that can be set aside for some accesses, bytes; 0 where it cannot.
    pub persisting_l2: u64,
    /// Most bytes of an array that such accesses may lie in.
    pub policy_window: u64,
    /// Memory of the device, bytes.
    pub memory: u64,
    /// Shared memory that one block may ask for, bytes (with the opt-in above 48 KiB).
    pub shared_per_block: u32,
    /// Shared memory of one multiprocessor, bytes.
    pub shared_per_sm: u32,
    /// Threads that one multiprocessor can hold.
    pub threads_per_sm: u32,
    /// Compute capability: major, minor.
    pub compute_capability: (u32, u32),
    /// Newest CUDA version that the driver supports: major, minor.
    pub driver_cuda: (u32, u32),
    /// The driver's own release, such as `580.65.06`, where the system tells.
    pub driver_release: Option<String>,
    /// Whether the memory corrects errors, where the driver tells.
    pub ecc: Option<bool>,
    /// Highest clock of the memory, kHz, where the driver tells.
    pub memory_clock_khz: Option<u32>,
    /// Width of the memory bus, bits, where the driver tells.
    pub memory_bus_bits: Option<u32>,
    /// Where it is plugged in, `00000000:19:00.0`, where the driver tells.
    pub pci_bus_id: Option<String>,
    /// 32 hexadecimal digits in five groups, of the device or of the instance (MIG) that is
    /// seen as one, where the driver tells.
    pub uuid: Option<String>,
    /// What the management library tells.
    pub managed: ManagedFacts,
}

/// What NVIDIA's management library (NVML) tells of a device; all missing without it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ManagedFacts {
    /// Highest clock of the multiprocessors, MHz.
    pub highest_sm_clock: Option<u32>,
    /// Highest clock of the memory, MHz.
    pub highest_memory_clock: Option<u32>,
    /// Clock of the multiprocessors that applications are given, MHz.
    pub application_sm_clock: Option<u32>,
    /// Power that the driver holds it under, mW.
    pub power_limit: Option<u32>,
    /// Whether it is cut into instances. One of them then is what CUDA sees.
    pub mig: Option<bool>,
    /// That instance, such as `NVIDIA H200 MIG 1g.18gb`.
    pub instance: Option<String>,
    /// `GPU-` or `MIG-` and the device's UUID: what `CUDA_VISIBLE_DEVICES` takes.
    pub uuid: Option<String>,
    /// Whether the driver stays initialised when nobody uses it.
    pub persistence: Option<bool>,
    /// Version of its firmware.
    pub vbios: Option<String>,
}

/// Values that mean the same to a kernel and to Rust, whatever their bits: plain
/// numbers and `#[repr(C)]` structs of them.
///
/// # Safety
/// Every bit pattern must be a value, and the layout must be what the kernel expects
/// (`#[repr(C)]`); no references, no pointers to host memory.
pub unsafe trait Plain: Copy + 'static {}

macro_rules! plain {
    ($($t:ty)*) => { $(
        // SAFETY: a plain number; every bit pattern is one.
        unsafe impl Plain for $t {}
    )* };
}
plain!(u8 u16 u32 u64 i8 i16 i32 i64 f32 f64 usize);

// SAFETY: an array has the layout of its elements, one after another.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}

/// The address of an element in device memory, as a kernel takes it: 8 bytes, also as
/// a field of a `#[repr(C)]` struct. It is valid as long as its buffer.
#[repr(transparent)]
#[derive(Debug)]
pub struct DevicePtr<T>(pub(super) u64, pub(super) PhantomData<fn() -> T>);

impl<T> Clone for DevicePtr<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for DevicePtr<T> {}

impl<T> DevicePtr<T> {
    /// The address that a kernel can tell from every buffer's.
    pub fn null() -> DevicePtr<T> {
        DevicePtr(0, PhantomData)
    }

    /// The same address, of other elements: for a kernel that takes several kinds of them.
    pub fn cast<U>(self) -> DevicePtr<U> {
        DevicePtr(self.0, PhantomData)
    }
}

// SAFETY: the number of an address; Rust never follows it.
unsafe impl<T: 'static> Plain for DevicePtr<T> {}
