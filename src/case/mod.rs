//! The vocabulary that everybody shares: cases and their parameters, what they do to memory, and
//! what may come of them. Pure.

pub mod backends;
pub mod block_cost;
mod device;
pub mod gpus;
mod index_file;
pub mod listed;
pub mod measure;
mod models;
mod outcome;
mod params;
pub mod peers;
pub mod reader;
pub mod schema;
pub mod table;
pub mod tuning;
pub mod units;
pub mod work;

use serde::{Deserialize, Serialize};

pub use backends::{BACKENDS, Backend, LAST_GPU};
pub use block_cost::BlockCost;
pub use device::{Availability, Device};
pub use index_file::{IndexFile, IndexFiles, NoFiles};
pub use measure::{Cache, Measure};
pub use models::MODELS;
pub use outcome::{Cancel, Failure, Fault, Refusal, Verdict};
pub use params::{Params, Value};
pub use work::{Access, Concurrency, Direction, Pass, SpeedOfLight, Walk, Work};

use peers::{Peer, of_backend};

/// One measurement with every parameter fixed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// Twelve hexadecimal digits: the hash of everything below that decides what is
    /// computed (primitive, parameters, seed), and of nothing else ([`case_id`](crate::recipe::plan::case_id)). Unique
    /// in a plan: where a later experiment repeats a case, or another file holds the same
    /// indices, `-` and the experiment's number, counted from 1, follow; a greater number
    /// where that is taken.
    pub id: String,
    /// Index into [`Plan::experiments`](crate::recipe::plan::Plan::experiments).
    pub experiment: usize,
    /// Registry name of the primitive.
    pub primitive: String,
    /// Every parameter, the backend's among them.
    pub params: Params,
    /// Seed of all inputs.
    pub seed: u64,
    /// Set when the plan already knows that this case cannot run: the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_applicable: Option<String>,
}

/// A backend and the number of its device.
pub type Place<'a> = (&'a str, u64);

impl Case {
    /// The backend's name: `scalar`, `cpu` or `cuda`; `peer:NAME` of a peer.
    pub fn backend(&self) -> &str {
        self.params.text("backend").unwrap_or("?")
    }

    /// The peer whose case it is.
    pub fn peer(&self) -> Option<&'static Peer> {
        of_backend(self.backend())
    }

    /// Where it runs: a peer on the device of the backend that it stands beside.
    pub fn place(&self) -> Place<'_> {
        (self.peer().map_or(self.backend(), |peer| peer.beside), self.device())
    }

    /// The number of the device among those of its backend, from 0.
    pub fn device(&self) -> u64 {
        self.params.int(gpus::DEVICE_KEY).unwrap_or(0)
    }
}
