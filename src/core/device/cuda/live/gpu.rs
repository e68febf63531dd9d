//! The device: opening it, its facts, and its stream.

use std::ffi::c_int;
use std::mem::transmute;
use std::sync::{Arc, Mutex};

use cust::CudaFlags;
use cust::context::{Context, CurrentContext};
use cust::device::{Device, DeviceAttribute};
use cust::error::CudaResult;
use cust::memory::LockedBuffer;
use cust::stream::{Stream, StreamFlags};
use cust::sys::{self, CUdevice_attribute as Unnamed};

use super::buffer::Scrub;
use super::driver;
use super::kernel::{Kernels, Module};
use super::management::Management;
use super::{Code, check, code};
use crate::case::Failure;
use crate::device::cuda::{GpuFacts, ManagedFacts, Unavailable};
use crate::stats::noise::GpuConditions;

/// A device with its primary context and one stream. Clones share both.
///
/// Every method first makes the context current on the calling thread, so a `Gpu` may be used from any thread.
/// The context lives until the last clone, buffer and module are dropped.
#[derive(Clone)]
pub struct Gpu {
    pub(super) inner: Arc<Inner>,
}

/// State shared by the clones of a [`Gpu`], its buffers and its modules. Fields are dropped in declaration order, so
/// the context comes last.
pub(super) struct Inner {
    pub kernels: Kernels,
    pub stream: Stream,
    pub facts: GpuFacts,
    /// The driver's handle of the device.
    pub number: sys::CUdevice,
    pub scrub: Scrub,
    /// The word on which the gate kernel waits, allocated at the first timing.
    pub gate: Mutex<Option<LockedBuffer<u32>>>,
    management: Option<Management>,
    context: Context,
}

impl Inner {
    /// Makes the context current on the calling thread.
    pub fn bind(&self) -> Result<(), Failure> {
        check("cuCtxSetCurrent", CurrentContext::set_current(&self.context))
    }

    /// Waits for all queued work.
    pub fn synchronize(&self) -> Result<(), Failure> {
        self.bind()?;
        check("cuStreamSynchronize", self.stream.synchronize())
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Streams and kernels are destroyed in the current context; if it cannot be made current, their
        // destruction fails, and nothing can be done about it.
        let _ = self.bind();
    }
}

impl Gpu {
    /// Loads the driver and opens device 0.
    pub fn open() -> Result<Gpu, Unavailable> {
        Gpu::open_device(0)
    }

    /// Loads the driver and opens the device with this number.
    pub fn open_device(number: u32) -> Result<Gpu, Unavailable> {
        let count = count()?;
        if number >= count {
            let reason = format!("no CUDA device {number}: there are {count}, counted from 0");
            return Err(unavailable(&reason, ""));
        }
        let open = || -> Result<Gpu, Step> {
            let device = code(Device::get_device(number)).map_err(step("cuDeviceGet"))?;
            let context = code(Context::new(device)).map_err(step("cuDevicePrimaryCtxRetain"))?;
            code(CurrentContext::set_current(&context)).map_err(step("cuCtxSetCurrent"))?;
            let stream =
                code(Stream::new(StreamFlags::DEFAULT, None)).map_err(step("cuStreamCreateWithPriority"))?;
            let (facts, management) = known(device)?;
            Ok(Gpu {
                inner: Arc::new(Inner {
                    kernels: Kernels::default(),
                    stream,
                    facts,
                    number: device.as_raw(),
                    scrub: Scrub::default(),
                    gate: Mutex::default(),
                    management,
                    context,
                }),
            })
        };
        open().map_err(failed)
    }

    /// Number of the driver's devices.
    pub fn count() -> Result<u32, Unavailable> {
        count()
    }

    /// The facts of all devices, without opening any of them.
    pub fn all() -> Result<Vec<GpuFacts>, Unavailable> {
        let facts = |number| {
            let device = code(Device::get_device(number)).map_err(step("cuDeviceGet"))?;
            known(device).map(|(facts, _)| facts)
        };
        (0..count()?).map(|number| facts(number).map_err(failed)).collect()
    }

    /// The facts of the device.
    pub fn device(&self) -> &GpuFacts {
        &self.inner.facts
    }

    /// Current clocks, power, temperature and throttling of the device.
    pub fn conditions(&self) -> GpuConditions {
        self.inner.management.as_ref().map(Management::conditions).unwrap_or_default()
    }

    /// Bytes of device memory that are currently free.
    pub fn free_memory(&self) -> Result<u64, Failure> {
        self.inner.bind()?;
        let (free, _total) = check("cuMemGetInfo", cust::memory::mem_get_info())?;
        Ok(free as u64)
    }

    /// `NotApplicable` unless `bytes` of device memory are free. Called once with the total of a case, before
    /// its first allocation.
    pub fn require(&self, bytes: u64) -> Result<(), Failure> {
        let free = self.free_memory()?;
        if bytes <= free { Ok(()) } else { Err(super::buffer::too_large(bytes, Some(free))) }
    }

    /// The kernels of `kernels/*/NAME.cu`, each compiled by the driver when it is requested.
    ///
    /// # Errors
    /// `Failed` if this build has no such module, `NotApplicable` if the driver or the device is too old for
    /// it.
    pub fn module(&self, name: &str) -> Result<Module, Failure> {
        Module::new(self.inner.clone(), name)
    }

    /// Waits for all queued work and reports its errors.
    pub fn synchronize(&self) -> Result<(), Failure> {
        self.inner.synchronize()
    }

    /// Waits until earlier queued work and freed memory no longer interfere with timing.
    pub fn wait_for_own_work(&self) -> Result<(), Failure> {
        self.synchronize()?;
        self.inner.scrub.wait();
        Ok(())
    }
}

type Step = (&'static str, Code);

fn step(call: &'static str) -> impl Fn(Code) -> Step {
    move |code| (call, code)
}

/// Loads the driver and returns its number of devices, at least one.
fn count() -> Result<u32, Unavailable> {
    driver::library().map_err(|why| unavailable("no CUDA driver", why))?;
    let ask = || {
        code(cust::init(CudaFlags::empty())).map_err(step("cuInit"))?;
        match code(Device::num_devices()).map_err(step("cuDeviceGetCount"))? {
            0 => Err(("cuDeviceGetCount", Code(driver::NO_DEVICE))),
            count => Ok(count),
        }
    };
    ask().map_err(failed)
}

fn failed((call, code): Step) -> Unavailable {
    match code {
        Code(driver::NO_DEVICE) => unavailable("no CUDA device", &format!("{call} found none")),
        Code(other) => unavailable(driver::name(other), &format!("{call} answered {other}")),
    }
}

/// The facts of a device, and the management library's view of it.
fn known(device: Device) -> Result<(GpuFacts, Option<Management>), Step> {
    let mut facts = code(facts(device)).map_err(step("cuDeviceGetAttribute"))?;
    let uuid = facts.uuid.clone();
    let management = facts.pci_bus_id.as_deref().and_then(|bus_id| Management::open(bus_id, uuid));
    facts.managed = management.as_ref().map(Management::facts).unwrap_or_default();
    Ok((facts, management))
}

/// An [`Unavailable`] with this text.
fn unavailable(reason: &str, detail: &str) -> Unavailable {
    Unavailable { reason: reason.to_owned(), detail: detail.to_owned() }
}

/// Queries the facts of a device.
fn facts(device: Device) -> CudaResult<GpuFacts> {
    let number = |attribute| device.get_attribute(attribute).map(|v| u32::try_from(v).unwrap_or(0));
    let version = cust::CudaApiVersion::get()?;
    let version_part = |part: i32| u32::try_from(part).unwrap_or(0);
    Ok(GpuFacts {
        name: device.name()?,
        sms: number(DeviceAttribute::MultiprocessorCount)?,
        l2_bytes: number(DeviceAttribute::L2CacheSize)?.into(),
        persisting_l2: unnamed(device, Unnamed::CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE)
            .map_or(0, u64::from),
        policy_window: unnamed(device, Unnamed::CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE)
            .map_or(0, u64::from),
        memory: device.total_memory()? as u64,
        shared_per_block: unnamed(device, Unnamed::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)
            .map_or_else(|| number(DeviceAttribute::MaxSharedMemoryPerBlock), Ok)?,
        shared_per_sm: number(DeviceAttribute::MaxSharedMemoryPerMultiprocessor)?,
        threads_per_sm: number(DeviceAttribute::MaxThreadsPerMultiprocessor)?,
        compute_capability: (
            number(DeviceAttribute::ComputeCapabilityMajor)?,
            number(DeviceAttribute::ComputeCapabilityMinor)?,
        ),
        driver_cuda: (version_part(version.major()), version_part(version.minor())),
        driver_release: driver_release(),
        ecc: number(DeviceAttribute::EccEnabled).ok().map(|enabled| enabled != 0),
        memory_clock_khz: number(DeviceAttribute::MemoryClockRate).ok().filter(|&v| v > 0),
        memory_bus_bits: number(DeviceAttribute::GlobalMemoryBusWidth).ok().filter(|&v| v > 0),
        pci_bus_id: pci_bus_id(device),
        uuid: uuid(device),
        managed: ManagedFacts::default(),
    })
}

/// `00000000:19:00.0`: domain, bus, device and function, in NVML's format.
fn pci_bus_id(device: Device) -> Option<String> {
    let number = |attribute| device.get_attribute(attribute).ok();
    let (domain, bus) = (number(DeviceAttribute::PciDomainId)?, number(DeviceAttribute::PciBusId)?);
    let slot = number(DeviceAttribute::PciDeviceId)?;
    Some(format!("{domain:08X}:{bus:02X}:{slot:02X}.0"))
}

/// A positive attribute for which `cust` has no name.
fn unnamed(device: Device, attribute: Unnamed) -> Option<u32> {
    let mut value = 0;
    // SAFETY: `value` outlives the call, which writes one integer to it.
    let result = unsafe { sys::cuDeviceGetAttribute(&mut value, attribute, device.as_raw()) };
    super::raw(result).ok()?;
    u32::try_from(value).ok().filter(|&value| value > 0)
}

/// The driver's release, as reported by its kernel module.
fn driver_release() -> Option<String> {
    let text = crate::files::system("/proc/driver/nvidia/version")?;
    let dotted = |word: &&str| word.contains('.') && word.chars().all(|c| c.is_ascii_digit() || c == '.');
    text.lines().next()?.split_whitespace().find(dotted).map(str::to_owned)
}

/// The UUID of the device, or of the MIG instance that CUDA sees as a device; `None` for drivers before CUDA
/// 11.4.
fn uuid(device: Device) -> Option<String> {
    let address = driver::symbol(c"cuDeviceGetUuid_v2").ok()?;
    // SAFETY: the driver's function of this name has this type (CUDA driver API).
    let ask: unsafe extern "C" fn(*mut [u8; 16], c_int) -> u32 = unsafe { transmute(address) };
    let mut bytes = [0; 16];
    // SAFETY: the call writes 16 bytes to `bytes`.
    let code = unsafe { ask(&mut bytes, device.as_raw()) };
    (code == 0).then(|| written(&bytes))
}

/// The UUID in NVML's format, without the prefix `GPU-` or `MIG-`.
fn written(bytes: &[u8; 16]) -> String {
    let groups = [&bytes[..4], &bytes[4..6], &bytes[6..8], &bytes[8..10], &bytes[10..]];
    let hex = |group: &[u8]| group.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    groups.map(hex).join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_bytes_are_five_groups() {
        let bytes = std::array::from_fn(|at| 0x10 * at as u8);
        assert_eq!(written(&bytes), "00102030-4050-6070-8090-a0b0c0d0e0f0");
    }
}
