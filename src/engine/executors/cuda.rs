//! The GPU as the engine sees it.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use super::fetching;
use crate::backend::cuda::{DeviceBuffer, Gpu, GpuFacts, ManagedFacts, Unavailable};
use crate::backend::{Availability, Cancel, Device, Executor, Failure, Fault, Prepared};
use crate::indices::Store;
use crate::measure;
use crate::measure::noise::GpuConditions;
use crate::plan::Case;
use crate::primitives::{gather_scatter, pattern, stream};
use crate::units;

/// Bytes that the quick copy moves one way.
const PROBE_BYTES: usize = 256 << 20;
/// Copies in one timing, so that it takes long beside an event.
const PROBE_COPIES: u32 = 8;
/// Timings of which the median counts.
const PROBE_TIMINGS: usize = 5;

/// What an eviction writes.
const EVICTION: u32 = 0xE71C_7E0F;

/// The devices of the CUDA driver, each opened when a case first asks for it.
#[derive(Default)]
pub struct CudaExecutor {
    gpus: RefCell<BTreeMap<u32, Result<Gpu, Unavailable>>>,
    /// The device turned to last.
    current: Cell<u32>,
    /// Written over to empty a device's L2 cache; allocated at its first eviction.
    others: RefCell<BTreeMap<u32, DeviceBuffer<u32>>>,
    indices: Arc<Store>,
}

impl CudaExecutor {
    fn gpu(&self, number: u32) -> Result<Gpu, Unavailable> {
        self.gpus.borrow_mut().entry(number).or_insert_with(|| Gpu::open_device(number)).clone()
    }

    /// The device turned to last; without one, a case is not applicable here.
    fn needed(&self) -> Result<Gpu, Failure> {
        self.gpu(self.current.get()).map_err(|why| Failure::NotApplicable(why.reason))
    }

    fn opened(&self, number: u32) -> Device {
        let gpu = match self.gpu(number) {
            Ok(gpu) => gpu,
            Err(why) => return self.unavailable(why.reason),
        };
        match gpu.free_memory() {
            Ok(free) => self.described(gpu.device(), Some(free)),
            Err(failure) => self.unavailable(failure.to_string()),
        }
    }

    fn described(&self, facts: &GpuFacts, free: Option<u64>) -> Device {
        Device {
            backend: self.backend().to_owned(),
            name: facts.name.clone(),
            facts: shown(facts, free),
            memory: free,
            availability: Availability::Available,
        }
    }

    fn unavailable(&self, reason: String) -> Device {
        Device {
            backend: self.backend().to_owned(),
            name: String::new(),
            facts: Vec::new(),
            memory: None,
            availability: Availability::Unavailable { reason },
        }
    }
}

fn numbered(number: usize, mut device: Device) -> Device {
    device.facts.insert(0, ("number".to_owned(), number.to_string()));
    device
}

impl Executor for CudaExecutor {
    fn backend(&self) -> &'static str {
        "cuda"
    }

    fn device(&self) -> Device {
        self.opened(self.current.get())
    }

    /// Several by their numbers.
    fn devices(&self) -> Vec<Device> {
        match Gpu::all() {
            Ok(all) if all.len() > 1 => {
                let described = |(number, facts)| numbered(number, self.described(facts, None));
                all.iter().enumerate().map(described).collect()
            }
            _ => vec![self.opened(0)],
        }
    }

    fn turn_to(&self, device: u64) {
        self.current.set(u32::try_from(device).unwrap_or(u32::MAX));
    }

    fn prepare(
        &self,
        case: &Case,
        fault: Option<Fault>,
        cancel: &Cancel,
    ) -> Result<Box<dyn Prepared>, Failure> {
        self.turn_to(case.device());
        let gpu = &self.needed()?;
        fetching::prepared(gpu, case, || match case.primitive.as_str() {
            "stream" => stream::cuda::prepare(gpu, case, fault, cancel),
            "gather" | "scatter" => gather_scatter::cuda::prepare(gpu, case, &self.indices, fault, cancel),
            "pattern" => pattern::cuda::prepare(gpu, case, fault, cancel),
            other => Err(Failure::NotApplicable(format!("{other} has no CUDA kernels"))),
        })
    }

    fn bring(&mut self, indices: &Arc<Store>) {
        self.indices = indices.clone();
    }

    fn copy_probe(&self) -> Result<f64, Failure> {
        let gpu = self.needed()?;
        gpu.require(2 * PROBE_BYTES as u64)?;
        let elements = PROBE_BYTES / size_of::<u64>();
        let mut from = gpu.alloc::<u64>(elements)?;
        let mut to = gpu.alloc::<u64>(elements)?;
        gpu.memset32(&mut from, 1)?;
        gpu.copy(&from, 0..elements, &mut to, 0)?;
        let mut copies = || (0..PROBE_COPIES).try_for_each(|_| gpu.copy(&from, 0..elements, &mut to, 0));
        let timings: Vec<f64> =
            (0..PROBE_TIMINGS).map(|_| gpu.timed(&mut copies)).collect::<Result<_, _>>()?;
        let seconds = measure::median(&timings).filter(|seconds| *seconds > 0.0);
        let seconds = seconds.ok_or_else(|| Failure::Failed("the GPU's clock stands still".to_owned()))?;
        Ok(2.0 * PROBE_BYTES as f64 * f64::from(PROBE_COPIES) / seconds / 1e9)
    }

    /// By a fill of twice the L2 cache, as NVBench does it by a fill of once its size. The
    /// lines that it leaves are dirty, so that a sample that takes their places waits for
    /// them to be written back: all 60 MB of an H200 take 14 µs.
    fn evict(&self) -> Result<u64, Failure> {
        let gpu = self.needed()?;
        let mut others = self.others.borrow_mut();
        let other = match others.entry(self.current.get()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(gpu.alloc(words_to_evict(gpu.device()))?),
        };
        gpu.memset32(other, EVICTION)?;
        gpu.synchronize()?;
        Ok(other.bytes())
    }

    fn gpu_conditions(&self) -> Option<GpuConditions> {
        Some(self.needed().ok()?.conditions())
    }
}

/// 32-bit words in twice the L2 cache.
fn words_to_evict(gpu: &GpuFacts) -> usize {
    (2 * gpu.l2_bytes).div_ceil(4) as usize
}

/// What is known of the device, in the order to show it.
fn shown(gpu: &GpuFacts, free: Option<u64>) -> Vec<(String, String)> {
    let (major, minor) = gpu.compute_capability;
    let (cuda_major, cuda_minor) = gpu.driver_cuda;
    let release = gpu.driver_release.as_deref().map(|release| format!("{release}, "));
    let ecc = gpu.ecc.map(|on| if on { "on" } else { "off" });
    let clock = gpu.memory_clock_khz.map(|khz| format!("{} MHz", khz / 1000));
    let all = [
        ("SMs", Some(gpu.sms.to_string())),
        ("L2", Some(units::fmt_bytes(gpu.l2_bytes))),
        ("memory", Some(units::fmt_bytes(gpu.memory))),
        ("free", free.map(units::fmt_bytes)),
        ("compute capability", Some(format!("{major}.{minor}"))),
        ("driver", Some(format!("{}CUDA {cuda_major}.{cuda_minor}", release.unwrap_or_default()))),
        ("ECC", ecc.map(str::to_owned)),
        ("memory clock", clock),
        ("memory bus", gpu.memory_bus_bits.map(|bits| format!("{bits} bit"))),
        ("PCI bus id", gpu.pci_bus_id.clone()),
    ];
    let managed = managed(&gpu.managed).into_iter();
    all.into_iter().chain(managed).filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// What only the management library tells.
fn managed(facts: &ManagedFacts) -> [(&'static str, Option<String>); 7] {
    let megahertz = |clock: Option<u32>| clock.map(|mhz| format!("{mhz} MHz"));
    let switch = |on: Option<bool>| on.map(|on| if on { "on" } else { "off" }.to_owned());
    [
        ("highest SM clock", megahertz(facts.highest_sm_clock)),
        ("highest memory clock", megahertz(facts.highest_memory_clock)),
        ("application SM clock", megahertz(facts.application_sm_clock)),
        ("power limit", facts.power_limit.map(|milliwatts| format!("{} W", milliwatts / 1000))),
        ("MIG", switch(facts.mig)),
        ("persistence", switch(facts.persistence)),
        ("VBIOS", facts.vbios.clone()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn h200() -> GpuFacts {
        GpuFacts {
            name: "NVIDIA H200".into(),
            sms: 132,
            l2_bytes: 60 << 20,
            persisting_l2: 0,
            policy_window: 0,
            memory: 140 << 30,
            shared_per_block: 227 << 10,
            shared_per_sm: 228 << 10,
            threads_per_sm: 2048,
            compute_capability: (9, 0),
            driver_cuda: (13, 0),
            driver_release: Some("580.65.06".into()),
            ecc: Some(true),
            memory_clock_khz: None,
            memory_bus_bits: Some(6144),
            pci_bus_id: Some("00000000:19:00.0".into()),
            managed: ManagedFacts {
                highest_sm_clock: Some(1980),
                power_limit: Some(700_000),
                mig: Some(false),
                ..ManagedFacts::default()
            },
        }
    }

    #[test]
    fn shows_what_the_driver_tells_and_nothing_else() {
        let facts = shown(&h200(), Some(139 << 30));
        let value = |name| facts.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
        assert_eq!(value("driver"), Some("580.65.06, CUDA 13.0"));
        assert_eq!(value("L2"), Some("60.0 MiB"));
        assert_eq!(value("memory bus"), Some("6144 bit"));
        assert_eq!(value("memory clock"), None);
        assert_eq!(value("highest SM clock"), Some("1980 MHz"));
        assert_eq!(value("power limit"), Some("700 W"));
        assert_eq!((value("MIG"), value("persistence")), (Some("off"), None));
    }

    #[test]
    fn an_eviction_covers_twice_the_l2_cache() {
        assert_eq!(words_to_evict(&h200()) as u64 * 4, 120 << 20);
    }
}
