//! The host's CPUs: a pool of threads pinned to CPUs, aligned buffers, the SIMD instruction sets, and facts
//! about them.
//!
//! Both backends, `scalar` and `cpu`, use this module; `scalar` has one thread without SIMD. The timed loops are with
//! their primitives (`primitives/*/cpu`), which implement [`PoolJob`].

pub mod affinity;
mod buffer;
pub mod caches;
pub mod check;
mod evict;
mod isa;
mod job;
pub mod memory;
mod pool;
pub mod simd;

pub use buffer::{Buffer, POISON};
pub use evict::Evictor;
pub use isa::Isa;
pub(crate) use isa::of_isa;
pub use job::{CacheLineSlot, Context, InputArray, OutputArray, PoolJob, PoolMethod, fence, on_pool};
pub use pool::{Barrier, Blocks, Pool, Worker, part, pieces};

use crate::case::units::fmt_size;
use crate::case::{Availability, Device};
use crate::files;

/// The device of the backend `scalar` or `cpu`.
pub fn device(backend: &str) -> Device {
    let scalar = backend == "scalar";
    let cpus = affinity::allowed();
    let threads = if scalar { "1".to_owned() } else { cpus.len().to_string() };
    let isa: Vec<_> = Isa::ALL.iter().filter(|isa| isa.present()).map(|isa| isa.name()).collect();
    let isa = if scalar { "scalar".to_owned() } else { isa.join(" ") };
    let mut facts = vec![("threads".to_owned(), threads), ("isa".to_owned(), isa)];
    facts.extend(caches(&cpus));
    facts.extend(caches::line(&cpus).map(|bytes| ("cache line".to_owned(), fmt_size(bytes))));
    if let Some(total) = memory::total() {
        facts.push(("memory".to_owned(), fmt_size(total)));
    }
    Device {
        backend: backend.to_owned(),
        name: name(),
        facts,
        memory: memory::available(),
        availability: Availability::Available,
    }
}

/// The CPU's marketing name, or the architecture if the system does not report one.
pub fn name() -> String {
    cpuinfo("model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}

/// The CPU's vendor id: `GenuineIntel`, `AuthenticAMD`; empty if it is unknown.
pub fn vendor() -> String {
    cpuinfo("vendor_id").unwrap_or_default()
}

/// The first value of a key in `/proc/cpuinfo`.
pub fn cpuinfo(key: &str) -> Option<String> {
    let text = files::system("/proc/cpuinfo")?;
    let line = text.lines().find(|l| l.split(':').next().is_some_and(|k| k.trim() == key))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// Data and unified caches of the first CPU in the affinity mask, as described by the system.
fn caches(cpus: &[usize]) -> Vec<(String, String)> {
    let caches = caches::of(cpus.get(..1).unwrap_or_default());
    caches.iter().map(|cache| (cache.name(), fmt_size(cache.bytes))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scalar_device_is_one_thread_without_simd() {
        let device = device("scalar");
        assert_eq!(&device.facts[..2], [("threads".into(), "1".into()), ("isa".into(), "scalar".into())]);
        assert!(!device.name.is_empty());
    }
}
