//! The vocabulary shared by all modules: cases and their parameters, the memory accesses they make, and their
//! possible outcomes. Pure: it reads no file, clock or device.

pub mod backends;
pub mod block_cost;
pub mod chart;
pub mod gpus;
mod indices;
pub mod listed;
pub mod measure;
mod outcome;
pub mod params;
pub mod peers;
mod place;
pub mod published;
pub mod schema;
pub mod snapshot;
pub mod table;
pub mod tuning;
pub mod units;
pub mod work;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use backends::{BACKENDS, Backend, LAST_GPU};
pub use block_cost::BlockCost;
pub use chart::MODELS;
pub use indices::{IndexFile, IndexFiles, IndexPattern, NoFiles, PaperFolder, WHOLE_GRAPH, WHOLE_MATRIX};
pub use listed::{Availability, Device};
pub use measure::{Cache, HostMemory, Measure, Transfer};
pub use outcome::{Cancel, Failure, Fault, Refusal, Verdict};
pub use params::{Params, Value, distinct};
pub use snapshot::Snapshot;
pub use work::{Access, Concurrency, Direction, Pass, Ranking, SpeedOfLight, Walk, Work};

use backends::THREADS_KEY;
use peers::of_backend;

/// One point of a recipe's sweep: a primitive with every parameter fixed, backend included. It is the unit that
/// is timed and recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Case {
    /// Twelve hexadecimal digits: a hash of exactly the fields that determine the computation (primitive,
    /// parameters, seed) (`recipe::plan::case_id`). Unique within a plan: if a later
    /// experiment repeats a case, or another file holds the same indices, `-` and the experiment's number,
    /// counted from 1, are appended, or a greater number if that is taken.
    pub id: String,
    /// Index into `recipe::plan::Plan::experiments`.
    pub experiment: usize,
    /// Name of the primitive, as in [`registry()`](fn@crate::primitives::registry): `gather`, `scan` …
    pub primitive: String,
    /// All parameters by full dotted key, including those of the backend.
    pub params: Params,
    /// Seed from which all indices and data of the case are generated.
    pub seed: u64,
    /// Why this case cannot run, if that is known before a device is asked: the text after `n/a: `.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_applicable: Option<String>,
}

/// Where a case runs: the name of a backend, and the number of a device within it, from 0.
pub type Place<'a> = (&'a str, u64);

impl Case {
    /// Name of the backend: `scalar`, `cpu` or `cuda`, or `peer:NAME` for an external program ([`peers`]).
    pub fn backend(&self) -> &str {
        self.params.text("backend").unwrap_or("?")
    }

    /// The name of the external program that runs this case in place of our own code, if any.
    pub fn peer(&self) -> Option<&str> {
        of_backend(self.backend())
    }

    /// Backend and device on which the case runs; for a peer, those of the backend to which it is compared.
    pub fn place(&self) -> Place<'_> {
        let beside = |peer| match peers::named(peer) {
            Some(peer) => peer.beside,
            // A peer of a folder has the threads of its neighbours, if these are on processors.
            None if self.params.get(THREADS_KEY).is_some() => "cpu",
            None => "cuda",
        };
        (self.peer().map_or(self.backend(), beside), self.device())
    }

    /// Device number within the backend, from 0.
    pub fn device(&self) -> u64 {
        self.params.int(gpus::DEVICE_KEY).unwrap_or(0)
    }
}
