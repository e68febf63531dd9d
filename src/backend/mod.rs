//! What a backend offers to the engine. Buffers, pools and streams belong to each
//! backend; across backends there is only [`Prepared`].

pub mod cpu;
pub mod cuda;
pub mod gpus;
pub mod listed;
pub mod peers;
pub mod tuning;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};

use crate::indices::Store;
use crate::measure::noise::GpuConditions;
use crate::plan::Case;
use crate::primitives::schema::{Default, Kind, Param, Variant};

/// Whether something can be used here, and if not, why: data, never a panic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Availability {
    Available,
    Unavailable { reason: String },
}

/// One device of one backend, for `devices`, records and captions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// `scalar`, `cpu` or `cuda`.
    pub backend: String,
    /// Marketing name: `AMD EPYC …`, `NVIDIA H200`. Empty when unavailable.
    pub name: String,
    /// Facts in the order to show them: threads, isa, caches; SMs, L2, driver …
    pub facts: Vec<(String, String)>,
    /// Memory that a case may use, bytes, when the device was looked at.
    pub memory: Option<u64>,
    pub availability: Availability,
}

/// A request to stop, shared between the engine's threads. Generation, verification
/// and sampling poll it.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Asks everybody who holds this to stop.
    pub fn request(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether somebody asked.
    pub fn requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// `Err(Failure::Cancelled)` once somebody asked.
    pub fn check(&self) -> Result<(), Failure> {
        if self.requested() { Err(Failure::Cancelled) } else { Ok(()) }
    }
}

/// A deliberate mistake, for proving that certificates can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// Every access one element beside where it belongs.
    OffByOne,
    /// The last element (or the last partial vector) is not handled.
    MissingTail,
    /// A pass or a thread works on its neighbour's chunk.
    WrongChunk,
    /// One store in the middle is skipped.
    SkippedStore,
}

impl Fault {
    /// All of them.
    pub const ALL: [Fault; 4] = [Fault::OffByOne, Fault::MissingTail, Fault::WrongChunk, Fault::SkippedStore];
}

/// Why a case could not be prepared, sampled or certified.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// It cannot run here (`n/a: reason`): too large, no such instruction set.
    #[error("n/a: {0}")]
    NotApplicable(String),
    /// It went wrong; other cases may go on in this engine.
    #[error("{0}")]
    Failed(String),
    /// The device or its context is gone; only a fresh engine can go on.
    #[error("{0}")]
    Lost(String),
    /// Somebody asked to stop.
    #[error("cancelled")]
    Cancelled,
}

/// What a certificate found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Everything that the definition says holds; how many elements were checked.
    Certified { checked: u64 },
    /// It does not: the first mistake, in words.
    Wrong { mistake: String },
}

/// A case with its arrays in place on the device, ready to be timed.
///
/// Data stays on the device that computes it; nothing here gives access to it except
/// [`read_back`](Prepared::read_back), which the tests and `verify` use at small sizes.
pub trait Prepared {
    /// Executes the primitive `batch` times and returns the seconds of all of them
    /// together. The clock runs inside the workers (or between events), so waking
    /// a pool or a launch queue is not in it.
    fn sample(&mut self, batch: u32) -> Result<f64, Failure>;

    /// Poisons the outputs, executes the primitive once and proves the result on the
    /// device, without a host copy of the data.
    fn certify(&mut self, cancel: &Cancel) -> Result<Verdict, Failure>;

    /// Bytes that it holds on the device.
    fn memory(&self) -> u64;

    /// What `auto` and other open parameters became: full key and value, for the record.
    fn resolved(&self) -> Vec<(String, crate::plan::Value)> {
        Vec::new()
    }

    /// Poisons the outputs, executes once and copies the whole output to the host.
    fn read_back(&mut self) -> Result<Vec<u8>, Failure>;
}

/// A backend as the engine sees it.
pub trait Executor {
    /// `scalar`, `cpu` or `cuda`.
    fn backend(&self) -> &'static str;

    /// What it runs on, or why it cannot; of several devices the one that it turned to last,
    /// at first 0.
    fn device(&self) -> Device;

    /// All that it may run on. Of several none is opened, which may be another's: what is free
    /// on them is missing.
    fn devices(&self) -> Vec<Device> {
        vec![self.device()]
    }

    /// Turns to the device of this number, as the preparation of a case does.
    fn turn_to(&self, _device: u64) {}

    /// Allocates and generates the inputs of a case, where they will be used.
    /// `fault` asks for a deliberately wrong implementation.
    fn prepare(
        &self,
        case: &Case,
        fault: Option<Fault>,
        cancel: &Cancel,
    ) -> Result<Box<dyn Prepared>, Failure>;

    /// Takes the index arrays of the cases that follow.
    fn bring(&mut self, _indices: &Arc<Store>) {}

    /// GB/s of a plain copy in memory (both ways counted), the median of several: for
    /// estimates, and for the machine's own pace beside a run. Holds nothing afterwards.
    fn copy_probe(&self) -> Result<f64, Failure>;

    /// Fills the caches of the device of the case prepared last with other data, so that the next execution finds
    /// none of its own there. Returns the bytes that it holds for that, which stay held
    /// between calls.
    fn evict(&self) -> Result<u64, Failure>;

    /// Waits until nothing of its own goes on any more on the device that it turned to last,
    /// for another program that is timed there.
    fn settle(&self) -> Result<(), Failure> {
        Ok(())
    }

    /// Clocks, power, temperature and throttling right now, of the GPU of the case prepared
    /// last, with what it does not tell missing; `None` for processors.
    fn gpu_conditions(&self) -> Option<GpuConditions> {
        None
    }
}

/// The largest number that a GPU may have.
pub const LAST_GPU: u64 = 4095;

/// The backends and their parameters, for the recipe language.
pub const BACKENDS: Param = Param {
    name: "backend",
    kind: Kind::Choice(&[
        Variant::plain("scalar", "one thread, no SIMD: the baseline"),
        Variant {
            name: "cpu",
            params: &[
                Param {
                    name: "threads",
                    kind: Kind::CountOr { min: 1, max: 4096, words: &["auto"], list: 0 },
                    default: Default::Is("auto"),
                    doc: "worker threads, each pinned to one CPU of the inherited affinity mask; auto: all of them",
                },
                Param {
                    name: "isa",
                    kind: Kind::Word(&["auto", "scalar", "avx2", "avx512"]),
                    default: Default::Is("auto"),
                    doc: "instruction set of the data path; auto: by run-time detection",
                },
            ],
            main: None,
            doc: "rayon threads and SIMD",
        },
        Variant {
            name: "cuda",
            params: &[
                Param {
                    name: "device",
                    kind: Kind::Count { min: 0, max: LAST_GPU },
                    default: Default::Unset,
                    doc: "the GPU, in the order of the CUDA driver; unset: 0, the first",
                },
                gpus::COUNT,
                gpus::MEMORY,
                tuning::BLOCK,
                tuning::ITEMS,
                tuning::GRID,
                tuning::HINT,
                tuning::VECTOR,
                tuning::FETCH,
                tuning::PERSIST,
            ],
            main: None,
            doc: "an NVIDIA GPU, or several of one host",
        },
    ]),
    default: Default::Required,
    doc: "where the cases run",
};

/// The names of all backends, those among them that cannot run here.
pub fn names() -> impl Iterator<Item = &'static str> {
    let variants: &[Variant] = match BACKENDS.kind {
        Kind::Choice(variants) => variants,
        _ => &[],
    };
    variants.iter().map(|variant| variant.name)
}
