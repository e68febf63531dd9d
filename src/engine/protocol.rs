//! The protocol between a client and an engine: one JSON object per line.
//!
//! A client sends [`Command`]s to the engine's standard input; the engine answers with [`Event`]s on its
//! standard output. The client stores the events in the run's folder, as the only record of the measurement.
//!
//! A *round* of a case is one allocation, a warm-up, and a fixed number of timed samples. A *pass* is one
//! traversal of the cases that still need rounds. (In [`Work`](crate::case::Work), a pass is over memory.)

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::output_sampling::Judged;
use crate::case::{Device, Snapshot, Transfer, Value, Verdict};
use crate::model::DeviceProfile;
use crate::recipe::plan::Plan;
use crate::stats::noise::{Conditions, Flag};

/// Version of this protocol; a client rejects an engine with another one.
pub const PROTOCOL: u32 = 4;

/// Exit status of an engine that lost its device; the client then starts a new one.
pub const DEVICE_LOST: u8 = 4;

/// A request from a client to the engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "kebab-case")]
pub enum Command {
    /// Run a plan, except for work already on disk.
    Run {
        plan: Box<Plan>,
        #[serde(default)]
        finished: Finished,
        /// Which pictures of the computation to send; absent from older clients.
        #[serde(default, skip_serializing_if = "Pictures::is_none")]
        pictures: Pictures,
    },
    /// From now on, send these pictures of what the running plan computes.
    Show { pictures: Pictures },
    /// Disturb what is computed, between samples: a stone falls into the water at this place of the picture, `[x, y]`
    /// in [0, 1)². Without effect where no case is being sampled, or the one that is has nothing to disturb.
    Disturb { at: [f64; 2] },
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
    /// Measure a quick copy on each of these backends, from which the client estimates a plan's duration. On the
    /// backend `cuda`, use the GPU with number `device`.
    Probe {
        backends: Vec<String>,
        #[serde(default)]
        device: u64,
    },
    /// Answer with a pong of the same number: between cases, and never while a sample is timed.
    Ping { number: u64 },
}

/// Which pictures of what is computed ([`Event::Snapshot`]) a client wants. They are taken between samples only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pictures {
    /// None.
    #[default]
    None,
    /// A few of each case, for the record: from its first round, after the last sample, or as many as its recipe wants
    /// ([`Measure::snapshots`](crate::case::Measure::snapshots)).
    Few,
    /// Those, and at most four a second of the case that is being sampled.
    Live,
}

impl Pictures {
    fn is_none(&self) -> bool {
        *self == Pictures::None
    }
}

/// Work finished by earlier engines of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Finished {
    /// Rounds whose results are on disk.
    pub rounds: Vec<FinishedRound>,
    /// Ids of cases that failed, cannot run, or were skipped.
    pub given_up: Vec<String>,
    /// By case id, the rounds that the case must get at least because the user requested more of them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub wanted: BTreeMap<String, u32>,
    /// Seconds that the run has taken so far ([`RoundResult::elapsed`]).
    pub elapsed: f64,
    /// Those of them that lie before the run was last resumed, which its time bound does not count.
    pub before: f64,
}

/// A round whose result is on disk, reduced to what decides whether its case gets another round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FinishedRound {
    /// Case id.
    pub case: String,
    /// Number of the round, from 0.
    pub round: u32,
    /// Median of the samples, seconds per execution.
    pub median: f64,
    /// Wall-clock seconds taken by all attempts at this round, including preparation.
    pub wall: f64,
    /// Those of the longest attempt.
    #[serde(default)]
    pub longest: f64,
    /// Whether the round had only one attempt and this was flagged as noisy, so that a second is still due.
    #[serde(default, skip_serializing_if = "is_false")]
    pub doubtful: bool,
}

/// The engine's present activity on a case in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Allocation and input generation.
    Generate,
    /// Untimed executions, which also determine the batch size.
    WarmUp,
    /// Timed samples.
    Sample,
    /// Checking the output on the device that computed it.
    Certify,
}

impl Stage {
    /// The stage as a participle: `generating`, `sampling` …
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    Info,
    Warn,
    Error,
}

/// The samples of one case in one attempt at one round: the unit of acknowledgement, storage and resumption.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RoundResult {
    /// Case id.
    pub case: String,
    /// Number of the round, from 0.
    pub round: u32,
    /// 0, or 1 for the second attempt, which follows a first one that was flagged as noisy.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub attempt: u32,
    /// Seconds per execution (a batch's time divided by its size).
    pub samples: Vec<f64>,
    /// Executions per timed sample.
    pub batch: u32,
    /// The outcome of certification. Each engine certifies a case once, the first time that it measures the case;
    /// later rounds have `None`, unless the output of their last sample is wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// The largest error that the certificate lets pass ([`Prepared::tolerance`](crate::device::Prepared::tolerance)). Missing
    /// without a certificate, and in folders from before it was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    /// Whether the output of the last sample was judged; `None` if the recipe wants no certificates, for peers, and
    /// in folders from before outputs were judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged: Option<Judged>,
    /// Bytes allocated on the device.
    pub memory: u64,
    /// The transfer of inputs and results, if the recipe asks for it and the case's device has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transfer: Option<Transfer>,
    /// Full keys and chosen values of the parameters that the recipe left open, such as `method: auto`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resolved: Vec<(String, Value)>,
    /// Start of the first sample, seconds since the Unix epoch.
    pub started: f64,
    /// Seconds that preparation took: making inputs, or finding those that are shared, and copying them into fresh arrays on the
    /// device. Missing in folders from before it was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generate: Option<f64>,
    /// Wall-clock seconds from the start of preparation to the end of judging and certification.
    #[serde(default)]
    pub wall: f64,
    /// Seconds that the run had taken at the end of this attempt: those of its engines from their start, without
    /// pauses. Missing in folders from before it was told.
    #[serde(default, skip_serializing_if = "is_none")]
    pub elapsed: f64,
    /// State of the machine around the samples, such as clocks and load.
    #[serde(default)]
    pub conditions: Conditions,
    /// Signs of noise: reasons to doubt the samples.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<Flag>,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

fn is_none(seconds: &f64) -> bool {
    *seconds <= 0.0
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// The rate at which keys of one kind are ranked on chip where nothing else takes time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ranked {
    /// The kind of keys and values ([`Ranking::kind`](crate::case::Ranking::kind)).
    pub kind: String,
    /// Keys per second, each ranked by one digit.
    pub rate: f64,
}

/// The machine on which the engine runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Environment {
    pub host: String,
    pub os: String,
    pub kernel: String,
    pub cpu: String,
    /// Numbers of the CPUs in the affinity mask that the engine inherited.
    pub affinity: Vec<usize>,
    /// Total main memory, bytes.
    pub memory: u64,
    /// Setting of transparent huge pages, `always`, `madvise` or `never`, if the operating system reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transparent_huge_pages: Option<String>,
    /// Further facts by name, in display order: caches, NUMA nodes, governor, load, hypervisor, container …
    /// Each could explain a difference between two runs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<(String, String)>,
}

/// A message from the engine to its client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "kebab-case")]
#[expect(
    clippy::large_enum_variant,
    reason = "most events are rounds, the largest ones, and few are held at a time"
)]
pub enum Event {
    /// The engine's first event. A client skips lines before it that are not events, such as a login banner.
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
    /// A plan starts: its number of cases, and the largest minimum number of rounds of its experiments.
    Started { cases: usize, rounds: usize },
    /// Progress inside one (case, round); may be coalesced.
    Progress {
        case: String,
        round: u32,
        stage: Stage,
        /// The input in host memory that is made now and kept for other cases.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        making: Option<String>,
    },
    /// A picture of what the case computes, taken between samples or after the last one. Sent only to clients that ask
    /// for [`Pictures`]; may be dropped, and is not acknowledged.
    Snapshot { case: String, round: u32, picture: Snapshot },
    /// Bandwidth of a plain copy on a backend, GB/s, measured before pass number `pass` over the cases, as a
    /// reference for the machine's performance at that time; and how fast the backend ranks keys on chip, where cases
    /// do.
    Reference {
        pass: u32,
        backend: String,
        copy: f64,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ranked: Vec<Ranked>,
    },
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
        /// Whether the engine or its device was lost while it worked on the case. That reveals little about the
        /// case itself, so a resumed run retries it.
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
        /// The rounds that the case must now get at least, if it had enough already; else 0.
        #[serde(default, skip_serializing_if = "is_zero")]
        rounds: u32,
    },
    /// The rounds of a case so far count nowhere, because what was measured them with is not what measures now.
    /// They stay on file, and the case is measured anew. Written by the client, never by an engine.
    SetAside { case: String, reason: String },
    /// The engine is paused.
    Paused,
    /// The engine continues.
    Continued,
    /// The answer to [`Command::Probe`]: bandwidth of a quick copy on a backend, GB/s, or the reason why there is
    /// none, which is [`NO_DEVICE`](crate::case::peers::NO_DEVICE) of a peer that has its program.
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
    /// The run's time bound leaves no room for the rounds that are left; the end of the plan follows.
    OutOfTime,
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

    /// The id of the case whose result this is; `None` for events that are not results.
    pub fn result_of(&self) -> Option<&str> {
        match self {
            Event::Round { result, .. } => Some(&result.case),
            Event::NotApplicable { case, .. } | Event::Failed { case, .. } | Event::Skipped { case, .. } => {
                Some(case)
            }
            _ => None,
        }
    }
}
