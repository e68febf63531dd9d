//! The backend `cuda`.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use super::fetching;
use crate::case::gpus::Gpus;
use crate::case::{Availability, Cancel, Case, Device, Failure, Fault, units};
use crate::device::cuda::{
    Ahead, DeviceBuffer, GATE, Gpu, GpuFacts, GpuSetup, ManagedFacts, Several, Unavailable,
};
use crate::engine::{Executor, Preparation};
use crate::inputs::indices::Store;
use crate::primitives::{self, implementations::implementation};
use crate::stats;
use crate::stats::noise::GpuConditions;

/// Bytes moved by the quick copy in each direction.
const PROBE_BYTES: usize = 256 << 20;
/// Copies per timing, so that the time is long compared with an event's resolution.
const PROBE_COPIES: u32 = 8;
/// Number of timings, of which the median counts.
const PROBE_TIMINGS: usize = 5;

/// The word written by an eviction.
const EVICTION: u32 = 0xE71C_7E0F;

/// The devices of the CUDA driver, each opened when a case or a plan first needs it.
#[derive(Default)]
pub struct CudaExecutor {
    gpus: RefCell<BTreeMap<u32, Result<Gpu, Unavailable>>>,
    /// The device selected last.
    current: Cell<u32>,
    /// Further devices of the case prepared last.
    beside: RefCell<Vec<u32>>,
    /// Buffers overwritten to evict a device's L2 cache, allocated at the first eviction.
    others: RefCell<BTreeMap<u32, DeviceBuffer<u32>>>,
    indices: Arc<Store>,
    /// Compiles the kernels of upcoming cases.
    ahead: RefCell<Option<Ahead>>,
}

/// The kernels needed on these GPUs by a case, or by each of its alternatives, and the gate kernel used for
/// timing.
fn asked(gpus: &[Gpu], case: &Case) -> Vec<(Gpu, &'static str, String)> {
    let others =
        primitives::method_candidates(case).into_iter().map(|params| Case { params, ..case.clone() });
    let cases: Vec<Case> = if others.len() == 0 { vec![case.clone()] } else { others.collect() };
    let on = |gpu: &Gpu, case: &Case| {
        let kernels = super::kernels(case, gpu.device().compute_capability).unwrap_or_default();
        let (gpu, timing) = (gpu.clone(), (GATE.0, GATE.1.to_owned()));
        kernels.names().chain([timing]).map(move |(module, name)| (gpu.clone(), module, name))
    };
    cases.iter().flat_map(|case| gpus.iter().flat_map(move |gpu| on(gpu, case))).collect()
}

impl CudaExecutor {
    fn gpu(&self, number: u32) -> Result<Gpu, Unavailable> {
        self.gpus.borrow_mut().entry(number).or_insert_with(|| Gpu::open_device(number)).clone()
    }

    /// The current device; an unavailable one makes the case not applicable.
    fn needed(&self) -> Result<Gpu, Failure> {
        self.gpu(self.current.get()).map_err(not_applicable)
    }

    /// The numbers of all devices of the case prepared last.
    fn taking_part(&self) -> Vec<u32> {
        [self.current.get()].into_iter().chain(self.beside.borrow().iter().copied()).collect()
    }

    /// Selects and opens the GPUs of a case.
    fn turn_to_all(&self, gpus: Gpus) -> Result<Vec<Gpu>, Failure> {
        self.select_device(gpus.first);
        self.beside.replace(numbers(gpus)?.into_iter().skip(1).collect());
        self.taking_part().into_iter().map(|number| self.gpu(number).map_err(not_applicable)).collect()
    }

    /// Overwrites twice a GPU's L2 cache; returns the bytes allocated for that.
    fn evict_one(&self, number: u32) -> Result<u64, Failure> {
        let gpu = self.gpu(number).map_err(not_applicable)?;
        let mut others = self.others.borrow_mut();
        let other = match others.entry(number) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(gpu.alloc(words_to_evict(gpu.device()))?),
        };
        gpu.memset32(other, EVICTION)?;
        gpu.synchronize()?;
        Ok(other.bytes())
    }

    fn opened(&self, number: u32) -> Device {
        let gpu = match self.gpu(number) {
            Ok(gpu) => gpu,
            Err(why) => return Device::unavailable(self.backend(), why.reason),
        };
        match gpu.free_memory() {
            Ok(free) => self.described(gpu.device(), Some(free)),
            Err(failure) => Device::unavailable(self.backend(), failure.to_string()),
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

    /// Several devices are listed with their numbers.
    fn devices(&self) -> Vec<Device> {
        match Gpu::all() {
            Ok(all) if all.len() > 1 => {
                let described = |(number, facts)| numbered(number, self.described(facts, None));
                all.iter().enumerate().map(described).collect()
            }
            _ => vec![self.opened(0)],
        }
    }

    fn select_device(&self, device: u64) {
        self.current.set(u32::try_from(device).unwrap_or(u32::MAX));
        self.beside.take();
    }

    fn prepare(&self, case: &Case, fault: Option<Fault>, cancel: &Cancel) -> Preparation {
        let gpus = Gpus::of(&case.params);
        let all = self.turn_to_all(gpus)?;
        let stored = |hash: &str| self.indices.get(hash);
        let part = |gpu: &Gpu, others: &[Gpu], fault| {
            let shared = self.indices.shared();
            let setup = GpuSetup { gpu, others, fault, cancel, stored: &stored, shared };
            let all = [gpu].into_iter().chain(others);
            fetching::prepared(all, case, || implementation(case)?.on_gpu(case, &setup))
        };
        match (all.split_first(), gpus.count) {
            (Some((gpu, others)), _) if gpus.spanning => Ok(part(gpu, others, fault)?),
            (Some((gpu, _)), None) => Ok(part(gpu, &[], fault)?),
            _ => {
                // An injected fault goes to the last one only, so that it is detected only if all results are checked.
                let last = all.len().saturating_sub(1);
                let independent = |(at, gpu): (usize, Gpu)| {
                    let part = part(&gpu, &[], fault.filter(|_| at == last))?;
                    Ok((gpu, part))
                };
                let parts = all.into_iter().enumerate().map(independent).collect::<Result<_, Failure>>()?;
                Ok(Box::new(Several::new(parts)))
            }
        }
    }

    fn compile_ahead(&self, cases: &[&Case]) {
        // Stop compiling for previous cases first.
        self.ahead.replace(None);
        let opened = |case: &&&Case| {
            let numbers = numbers(Gpus::of(&case.params)).ok()?;
            let gpus = numbers.into_iter().map(|number| self.gpu(number).ok());
            Some((gpus.collect::<Option<Vec<Gpu>>>()?, Case::clone(case)))
        };
        let ours = cases.iter().filter(|case| case.backend() == self.backend());
        let coming: Vec<_> = ours.filter_map(|case| opened(&case)).collect();
        if !coming.is_empty() {
            let kernels = coming.into_iter().flat_map(|(gpus, case)| asked(&gpus, &case));
            self.ahead.replace(Some(Ahead::new(kernels)));
        }
    }

    fn set_index_store(&mut self, indices: &Arc<Store>) {
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
        let seconds = stats::median(&timings).filter(|seconds| *seconds > 0.0);
        let seconds = seconds.ok_or_else(|| Failure::Failed("the GPU's clock stands still".to_owned()))?;
        Ok(2.0 * PROBE_BYTES as f64 * f64::from(PROBE_COPIES) / seconds / 1e9)
    }

    fn ranking_probe(&self, case: &Case) -> Result<f64, Failure> {
        implementation(case)?.ranking(case, &self.needed()?)
    }

    /// Fills twice the size of the L2 cache; NVBench fills it once. The remaining lines are dirty, so a sample
    /// that replaces them has to wait for the write-backs: all 60 MB of an H200 take 14 µs.
    fn evict(&self) -> Result<u64, Failure> {
        self.taking_part().into_iter().map(|number| self.evict_one(number)).sum()
    }

    fn wait_for_own_work(&self) -> Result<(), Failure> {
        self.needed()?.wait_for_own_work()
    }

    fn gpu_conditions(&self) -> Option<GpuConditions> {
        let gpus = self.taking_part().into_iter().map(|number| self.gpu(number).ok());
        let conditions = gpus.map(|gpu| Some(gpu?.conditions())).collect::<Option<Vec<_>>>()?;
        conditions.into_iter().reduce(GpuConditions::beside)
    }
}

/// The device numbers of a case, at least one.
fn numbers(gpus: Gpus) -> Result<Vec<u32>, Failure> {
    let there = if gpus.count.is_some() { Gpu::count().map_err(not_applicable)?.into() } else { u64::MAX };
    let numbers = gpus.numbers(there).map_err(Failure::NotApplicable)?;
    // A number beyond `u32` is reported as unavailable when it is opened.
    Ok(numbers.into_iter().map(|number| u32::try_from(number).unwrap_or(u32::MAX)).collect())
}

/// Number of 32-bit words in twice the L2 cache.
fn words_to_evict(gpu: &GpuFacts) -> usize {
    (2 * gpu.l2_bytes).div_ceil(4) as usize
}

/// An unavailable GPU makes a case not applicable; it is not a failure.
fn not_applicable(why: Unavailable) -> Failure {
    Failure::NotApplicable(why.reason)
}

/// The known facts of a device, in display order.
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
        ("UUID", gpu.managed.uuid.clone().or_else(|| gpu.uuid.clone())),
    ];
    let managed = managed(&gpu.managed).into_iter();
    all.into_iter().chain(managed).filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// Facts available only from the management library.
fn managed(facts: &ManagedFacts) -> [(&'static str, Option<String>); 8] {
    let megahertz = |clock: Option<u32>| clock.map(|mhz| format!("{mhz} MHz"));
    let switch = |on: Option<bool>| on.map(|on| if on { "on" } else { "off" }.to_owned());
    [
        ("highest SM clock", megahertz(facts.highest_sm_clock)),
        ("highest memory clock", megahertz(facts.highest_memory_clock)),
        ("application SM clock", megahertz(facts.application_sm_clock)),
        ("power limit", facts.power_limit.map(|milliwatts| format!("{} W", milliwatts / 1000))),
        ("MIG", switch(facts.mig)),
        ("MIG instance", facts.instance.clone()),
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
            uuid: Some("00102030-4050-6070-8090-a0b0c0d0e0f0".into()),
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
        assert_eq!(value("UUID"), Some("00102030-4050-6070-8090-a0b0c0d0e0f0"));
    }

    #[test]
    fn an_eviction_covers_twice_the_l2_cache() {
        assert_eq!(words_to_evict(&h200()) as u64 * 4, 120 << 20);
    }
}
