//! The protocol between a client and an engine: one JSON object per line.
//!
//! A client sends [`Command`]s to the engine's standard input; the engine answers with [`Event`]s on its
//! standard output. The recorded events are the run's log.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::case::{Device, Value, Verdict};
use crate::model::DeviceProfile;
use crate::recipe::plan::Plan;
use crate::stats::noise::{Conditions, Flag};

/// Version of this protocol; a client rejects an engine with another one.
pub const PROTOCOL: u32 = 4;

/// Exit status of an engine that lost its device; the client then starts a new one.
pub const DEVICE_LOST: u8 = 4;

/// From a client to the engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "kebab-case")]
pub enum Command {
    /// Run a plan, except for work already on disk.
    Run {
        plan: Box<Plan>,
        #[serde(default)]
        finished: Finished,
    },
    /// The result with this number is on disk; the next measurement may start.
    Ack { seq: u64 },
    /// Stop at the next sample boundary; finished results are kept.
    Cancel,
    /// Pause at the next sample boundary. A round interrupted while sampling restarts with its warm-up after
    /// the pause; its samples so far are dropped.
    Pause,
    /// Continue after a pause.
    Continue,
    /// Stop measuring a case at the next sample boundary. A case that had enough rounds before more were
    /// requested keeps its result.
    Skip { case: String },
    /// Retry a case that failed or was skipped; its earlier rounds count again. A finished case gets as many
    /// further rounds as its recipe gives every case, and all of them count.
    Again { case: String },
    /// Measure a quick copy on each of these backends for an estimate, on the GPU with this number.
    Probe {
        backends: Vec<String>,
        #[serde(default)]
        device: u64,
    },
    /// Answer with a pong of the same number, between cases and never while a sample is timed.
    Ping { number: u64 },
}

/// Work finished by earlier engines of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Finished {
    /// Rounds on disk.
    pub rounds: Vec<FinishedRound>,
    /// Ids of cases that failed, cannot run, or were skipped.
    pub given_up: Vec<String>,
    /// Least number of rounds requested by the user, by case id.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub wanted: BTreeMap<String, u32>,
}

/// A round on disk, reduced to the inputs of the stopping rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FinishedRound {
    /// Case id.
    pub case: String,
    /// Number of the round, from 0.
    pub round: u32,
    /// Median of the samples, seconds.
    pub median: f64,
    /// Seconds taken by all attempts, including preparation.
    pub wall: f64,
    /// Whether the only attempt is flagged, so that the second is still due.
    #[serde(default, skip_serializing_if = "is_false")]
    pub doubtful: bool,
}

/// The stage of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Allocation and input generation.
    Generate,
    /// Untimed executions, which also determine the batch size.
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

/// The samples of one case in one attempt at one round: the unit of acknowledgement, storage and resumption.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RoundResult {
    /// Case id.
    pub case: String,
    /// Number of the round, from 0.
    pub round: u32,
    /// 0, or 1 for the second attempt after a flagged one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub attempt: u32,
    /// Seconds per execution (a batch's time divided by its size).
    pub samples: Vec<f64>,
    /// Executions per timed sample.
    pub batch: u32,
    /// Present if the case was certified: the first time that an engine measures it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// Bytes allocated on the device.
    pub memory: u64,
    /// Values chosen for parameters left open.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resolved: Vec<(String, Value)>,
    /// Start of the first sample, seconds since the epoch.
    pub started: f64,
    /// Seconds from the start of preparation to the end of certification.
    #[serde(default)]
    pub wall: f64,
    /// Conditions around the samples.
    #[serde(default)]
    pub conditions: Conditions,
    /// Reasons to doubt the samples.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<Flag>,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// The machine on which the engine runs.
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
    /// `always`, `madvise` or `never`, if the kernel reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transparent_huge_pages: Option<String>,
    /// Further facts by name, in display order: caches, NUMA nodes, governor, load, hypervisor, container …
    /// Each could explain a difference between two runs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<(String, String)>,
}

/// From the engine to its client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// First line of every engine; a client skips any noise before it.
    Hello {
        protocol: u32,
        version: String,
        revision: String,
        devices: Vec<Device>,
        environment: Environment,
        /// The engine's profiles of its devices; absent from older engines.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        profiles: Vec<DeviceProfile>,
    },
    /// A plan starts.
    Started { cases: usize, rounds: usize },
    /// Progress inside one (case, round); may be coalesced.
    Progress { case: String, round: u32, stage: Stage },
    /// Bandwidth of a plain copy on a backend, GB/s, measured before a pass over the cases as a reference for
    /// the machine's performance at that time.
    Reference { pass: u32, backend: String, copy: f64 },
    /// A finished (case, round, attempt). The engine waits for the acknowledgement of `seq`.
    Round { seq: u64, result: RoundResult },
    /// The case cannot run here. The engine waits for the acknowledgement of `seq`.
    NotApplicable { seq: u64, case: String, reason: String },
    /// The case failed and has no result. The engine waits for the acknowledgement of `seq`.
    Failed {
        seq: u64,
        case: String,
        round: u32,
        error: String,
        /// The engine or its device was lost with the case. That reveals little about the case itself, so a
        /// resumed run retries it.
        #[serde(default, skip_serializing_if = "is_false")]
        lost: bool,
    },
    /// The user skipped the case; a resumed run takes it up again. If the case had enough rounds before more
    /// were requested, only the additional rounds are dropped. The engine waits for the acknowledgement of
    /// `seq`.
    Skipped { seq: u64, case: String },
    /// A case gets another try, and its earlier rounds count again: on request of the user, or in a resumed
    /// run.
    Retried {
        case: String,
        /// Least number of rounds of a case that had enough already.
        #[serde(default, skip_serializing_if = "is_zero")]
        rounds: u32,
    },
    /// The engine is paused.
    Paused,
    /// The engine continues.
    Continued,
    /// Bandwidth of a quick copy on a backend, GB/s.
    Probed {
        backend: String,
        copy: Option<f64>,
        reason: Option<String>,
        /// Bytes that a case may allocate there now; absent from older engines.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        free: Option<u64>,
    },
    /// The answer to a ping. It carries no information about the run and is not recorded.
    Pong { number: u64 },
    /// A message for the user.
    Log { level: Level, text: String },
    /// The plan is over; `cancelled` if it was stopped early.
    Finished { cancelled: bool },
}

impl Event {
    /// The number to acknowledge; `None` for events that are not results.
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
