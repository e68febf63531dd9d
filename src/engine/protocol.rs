//! What a client and an engine say to each other: one JSON object a line.
//!
//! A client sends [`Command`]s on the engine's standard input; the engine answers
//! with [`Event`]s on its standard output. The recorded events are the run's log.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::case::{Device, Value, Verdict};
use crate::model::DeviceProfile;
use crate::recipe::plan::Plan;
use crate::stats::noise::{Conditions, Flag};

/// Version of this protocol; a client refuses an engine of another one.
pub const PROTOCOL: u32 = 4;

/// Exit status of an engine that lost its device; its client starts a fresh one.
pub const DEVICE_LOST: u8 = 4;

/// From a client to the engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "kebab-case")]
pub enum Command {
    /// Run a plan, but for what is on disk already.
    Run {
        plan: Box<Plan>,
        #[serde(default)]
        finished: Finished,
    },
    /// The result with this number is on disk: the next one may start.
    Ack { seq: u64 },
    /// Stop at the next boundary of a sample; finished results stay.
    Cancel,
    /// Hold at the next boundary of a sample. A round that is being sampled begins again with
    /// its warm-up after the pause: its samples so far are dropped.
    Pause,
    /// Go on after a pause.
    Continue,
    /// Measure a case no further, from the next boundary of a sample on. One that had enough
    /// rounds before more of them were wanted keeps its result.
    Skip { case: String },
    /// Try a case again that failed or was skipped; its rounds count again. One that has
    /// been measured gets as many rounds more as its recipe gives every case, and all count.
    Again { case: String },
    /// Measure a quick copy on each of these backends, for an estimate; on the GPU of this
    /// number.
    Probe {
        backends: Vec<String>,
        #[serde(default)]
        device: u64,
    },
    /// Answer with a pong of the same number, between cases and never while one is timed.
    Ping { number: u64 },
}

/// What earlier engines of a run have finished.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Finished {
    /// Rounds on disk.
    pub rounds: Vec<FinishedRound>,
    /// Ids of cases that failed, cannot run or were skipped.
    pub given_up: Vec<String>,
    /// By case id, how many rounds a person wants of it at least.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub wanted: BTreeMap<String, u32>,
}

/// A round on disk: what the rule about further rounds needs of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FinishedRound {
    /// Case id.
    pub case: String,
    /// From 0.
    pub round: u32,
    /// Median of its samples, seconds.
    pub median: f64,
    /// Seconds that all its attempts took, with preparation.
    pub wall: f64,
    /// Its only attempt is flagged: the second look is still due.
    #[serde(default, skip_serializing_if = "is_false")]
    pub doubtful: bool,
}

/// What a case is going through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Memory is allocated and inputs are generated.
    Generate,
    /// Untimed executions; the batch is chosen.
    WarmUp,
    /// Timed samples.
    Sample,
    /// The certificate.
    Certify,
}

impl Stage {
    /// `generating`, `sampling` …
    pub fn doing(self) -> &'static str {
        match self {
            Stage::Generate => "generating",
            Stage::WarmUp => "warming up",
            Stage::Sample => "sampling",
            Stage::Certify => "certifying",
        }
    }
}

/// Severity of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    Info,
    Warn,
    Error,
}

/// The samples of one case in one attempt at one round: the unit of acknowledgement, of
/// the file and of resuming.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RoundResult {
    /// Case id.
    pub case: String,
    /// From 0.
    pub round: u32,
    /// 0, and 1 for the second look at a flagged one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub attempt: u32,
    /// Seconds of one execution each (a batch's time over the batch).
    pub samples: Vec<f64>,
    /// Executions in one timed sample.
    pub batch: u32,
    /// Present where the case was certified: the first time that an engine measured it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// Bytes held on the device.
    pub memory: u64,
    /// What open parameters became.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resolved: Vec<(String, Value)>,
    /// Seconds since the epoch when the first sample started.
    pub started: f64,
    /// Seconds from the start of the preparation to the end of the certificate.
    #[serde(default)]
    pub wall: f64,
    /// What went on around the samples.
    #[serde(default)]
    pub conditions: Conditions,
    /// What makes them doubtful.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<Flag>,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// Where the engine runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Environment {
    pub host: String,
    pub os: String,
    pub kernel: String,
    pub cpu: String,
    /// CPUs of the inherited affinity mask.
    pub affinity: Vec<usize>,
    /// Total memory, bytes.
    pub memory: u64,
    /// `always`, `madvise` or `never`, where the kernel says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transparent_huge_pages: Option<String>,
    /// Further facts by name, in the order to show them: caches, NUMA nodes, governor,
    /// load, hypervisor, container … Each could explain a difference between two runs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<(String, String)>,
}

/// From the engine to its client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// First line of every engine; a client skips whatever noise comes before it.
    Hello {
        protocol: u32,
        version: String,
        revision: String,
        devices: Vec<Device>,
        environment: Environment,
        /// The profiles that it has of its devices; older engines do not say.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        profiles: Vec<DeviceProfile>,
    },
    /// A plan starts.
    Started { cases: usize, rounds: usize },
    /// Progress inside one (case, round); may be coalesced.
    Progress { case: String, round: u32, stage: Stage },
    /// GB/s of a plain copy on a backend, measured before a pass over the cases: what the
    /// machine gave at that time.
    Reference { pass: u32, backend: String, copy: f64 },
    /// A finished (case, round, attempt). The engine waits for the acknowledgement of `seq`.
    Round { seq: u64, result: RoundResult },
    /// The case cannot run here. Waits for its acknowledgement.
    NotApplicable { seq: u64, case: String, reason: String },
    /// The case went wrong; nothing of it is a result. Waits for its acknowledgement.
    Failed {
        seq: u64,
        case: String,
        round: u32,
        error: String,
        /// It took the engine or its device with it, which says little about the case: a
        /// resumed run tries it again.
        #[serde(default, skip_serializing_if = "is_false")]
        lost: bool,
    },
    /// A person skipped the case; a resumed run takes it up again. One that had enough rounds
    /// before more of them were wanted goes without those, and that is all. Waits for its
    /// acknowledgement.
    Skipped { seq: u64, case: String },
    /// A case gets another try, and its rounds count again: because a person asked, or in a
    /// resumed run.
    Retried {
        case: String,
        /// How many rounds it gets at least, where it had enough already.
        #[serde(default, skip_serializing_if = "is_zero")]
        rounds: u32,
    },
    /// The engine holds.
    Paused,
    /// It goes on.
    Continued,
    /// GB/s of a quick copy on a backend.
    Probed {
        backend: String,
        copy: Option<f64>,
        reason: Option<String>,
        /// Bytes that a case may take there now; older engines do not say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        free: Option<u64>,
    },
    /// The answer to a ping. It says nothing about the run and is not recorded.
    Pong { number: u64 },
    /// Something a person may want to know.
    Log { level: Level, text: String },
    /// The plan is over; `cancelled` says whether it was stopped early.
    Finished { cancelled: bool },
}

impl Event {
    /// The number to acknowledge, for events that are results.
    pub fn seq(&self) -> Option<u64> {
        match self {
            Event::Round { seq, .. }
            | Event::NotApplicable { seq, .. }
            | Event::Failed { seq, .. }
            | Event::Skipped { seq, .. } => Some(*seq),
            _ => None,
        }
    }
}
