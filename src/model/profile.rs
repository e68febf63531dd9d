//! A device's measured characteristics: all that a model knows of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Curve;

/// The version of the file.
pub const SCHEMA: u32 = 1;

/// A device, as `calibrate` found it or as a paper states it. SI units: seconds, bytes,
/// bytes per second, operations per second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    pub schema: u32,
    /// What a user calls it: `h200`, `g80`.
    pub name: String,
    /// Where it is from: a date and a command, or a paper and its table.
    pub source: String,
    /// By which program, where and when; `None` for what a paper states.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made: Option<Made>,
    pub device: Device,
    /// From the one nearest to the processor outwards.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub caches: Vec<Cache>,
    /// What each backend reaches on it: `cuda`, or `cpu` and `scalar`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub rates: BTreeMap<String, Rates>,
    /// he2007's parameters by backend, where they are known.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub he2007: BTreeMap<String, He2007>,
}

/// How a profile was measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Made {
    /// `YYYY-MM-DD HH:MM:SS` UTC.
    pub at: String,
    /// Name of the machine.
    pub host: String,
    /// The GPU's UUID.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// Version and revision of the lab.
    pub version: String,
    pub revision: String,
    /// Cases whose rounds were doubtful, by why: `spread 9, steal 1`; `None` where none were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubtful: Option<String>,
}

/// What it is the profile of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// `NVIDIA H200`, or the processor's name.
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
    /// Bytes of its memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<u64>,
    /// Multiprocessors of a GPU, processors of the affinity mask of a CPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processors: Option<u64>,
}

/// A cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// `L1`, `L2` …
    pub name: String,
    /// Bytes that random reads find in it, as measured.
    pub capacity: u64,
    /// Bytes, as the vendor or the driver states them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stated: Option<u64>,
    /// Bytes of a line: what has one tag.
    pub line: u64,
    /// Bytes of a sector: what is filled at a time.
    pub sector: u64,
}

/// What a backend reaches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rates {
    /// Threads of a CPU; `None` for a GPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u64>,
    /// Seconds of an execution that does next to nothing, one after another.
    pub launch: f64,
    /// Seconds of an execution of a pattern's kernel that visits it once, in the last cache; `None`: `launch`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<f64>,
    /// Seconds that one more pass over nothing adds to an execution; `None`: `launch`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass: Option<f64>,
    /// Consecutive accesses that are issued together: the threads of a warp, 1 of a CPU.
    pub group: u64,
    /// Consecutive accesses that one processor performs and whose lines its first cache can
    /// keep: what one block of threads handles at a time, `None` where nothing interrupts
    /// it (a thread of a CPU has a contiguous part).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tile: Option<u64>,
    /// How fast blocks of threads start; none where nothing is handed out in blocks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<Start>,
    /// Of how many lines one answer of the first cache can have parts; `None`: of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_lines: Option<u64>,
    /// Bytes that one miss fetches from memory.
    pub fetch: u64,
    /// Bytes per second of a sequential read, write and copy (both ways), by bytes of all
    /// arrays together.
    pub read: Curve,
    pub write: Curve,
    pub copy: Curve,
    /// Elements per second of a pass that looks at each element of an array, one a thread,
    /// and skips nearly all, by bytes of the array: what is in flight bounds it, not bandwidth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scan: Option<Curve>,
    /// Accesses per second of independent random accesses, by bytes from which they are drawn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub random: Vec<Random>,
    /// Elements per second that processors move one by one, each to or from where an index leads,
    /// while their first caches hold everything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moves: Vec<Moves>,
    /// Accesses per second of strided ones, by bytes from one to the next: over a footprint
    /// far greater than the caches, and again and again over one that a cache holds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub strided: Vec<Strided>,
    /// Accesses per second to ascending streams that lie side by side, an element of each in
    /// turn, by their number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interleaved: Vec<Strided>,
    /// Seconds of a random read that needs the one before it, by bytes from which they are drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Curve>,
    /// Bytes of a page, and bytes beyond which random accesses miss the translation buffers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tlb_reach: Option<u64>,
}

/// Rates of one direction and one size of an element.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Random {
    pub direction: crate::case::Direction,
    /// Bytes of an element.
    pub element: u64,
    pub rate: Curve,
}

/// Rates of one direction, one size of an element and the footprint of all that is visited.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Strided {
    pub direction: crate::case::Direction,
    /// Bytes of an element.
    pub element: u64,
    /// Bytes over which they go.
    pub footprint: u64,
    pub rate: Curve,
}

/// How fast processors move elements of one size that an index leads to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Moves {
    /// The side that the index leads: where elements are read, or where they are written.
    pub direction: crate::case::Direction,
    /// Bytes of an element.
    pub element: u64,
    /// Elements per second.
    pub rate: f64,
}

/// How fast blocks of threads start one after another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Start {
    /// Whether the block gathers or scatters.
    pub direction: crate::case::Direction,
    /// Seconds that one more block takes, without its accesses.
    pub seconds: f64,
}

/// The parameters of he2007 §3.3 and §3.5.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct He2007 {
    /// B_seq, bytes per second (Eq. 1).
    pub b_seq: f64,
    /// Bytes of the cache; N is this over l.
    pub cache: u64,
    /// l: bytes of a memory block.
    pub block: u64,
    /// l': bytes that the cache hands over at a time.
    pub transfer: u64,
    /// δ: seconds to fetch a line from the cache.
    pub delta: f64,
    /// w: threads of a warp.
    pub warp: u64,
}
