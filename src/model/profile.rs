//! A device's measured characteristics: the only input of a model besides the declared accesses.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Curve;

/// The version of the file format.
pub const SCHEMA: u32 = 1;

/// Characteristics of a device, measured by `calibrate` or stated in a paper. SI units: seconds, bytes, bytes
/// per second, operations per second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    pub schema: u32,
    /// The profile's name: `h200`, `g80`.
    pub name: String,
    /// Where the figures are from: a date and a command, or a paper and its table.
    pub source: String,
    /// Program, machine and time of the measurement; `None` for figures from a paper.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made: Option<Made>,
    pub device: Device,
    /// Caches, from the one nearest to the processor outwards.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub caches: Vec<Cache>,
    /// Rates of each backend on the device: `cuda`, or `cpu` and `scalar`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub rates: BTreeMap<String, Rates>,
    /// Parameters of he2007 by backend, where they are known.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub he2007: BTreeMap<String, He2007>,
}

/// How a profile was measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Made {
    /// `YYYY-MM-DD HH:MM:SS` UTC.
    pub at: String,
    /// Name of the machine.
    pub host: String,
    /// The GPU's UUID.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// Version and revision of scatterlab.
    pub version: String,
    pub revision: String,
    /// Counts of cases with doubtful rounds, by reason: `spread 9, steal 1`; `None` if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubtful: Option<String>,
}

/// The device that a profile describes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// `NVIDIA H200`, or the name of the processor.
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
    /// Bytes of device memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<u64>,
    /// Multiprocessors of a GPU, or processors in the affinity mask of a CPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processors: Option<u64>,
}

/// A cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// `L1`, `L2` …
    pub name: String,
    /// Measured capacity: bytes in which random reads hit.
    pub capacity: u64,
    /// Bytes as stated by the vendor or the driver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stated: Option<u64>,
    /// Bytes of a line: the unit that has one tag.
    pub line: u64,
    /// Bytes of a sector: the unit that is filled at a time.
    pub sector: u64,
}

/// Measured rates of a backend.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rates {
    /// Threads of a CPU; `None` for a GPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u64>,
    /// Seconds of a nearly empty execution, back to back.
    pub launch: f64,
    /// Seconds of a pattern kernel that uses its pattern once, in the last cache; `None`: `launch`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<f64>,
    /// Seconds that one more, nearly empty pass adds to an execution; `None`: `launch`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass: Option<f64>,
    /// Consecutive accesses issued together: the threads of a warp, 1 on a CPU.
    pub group: u64,
    /// Consecutive accesses performed by one processor, whose lines its first cache can keep: the tile of a
    /// block of threads. `None` if the accesses are not tiled (a thread of a CPU has one contiguous part).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tile: Option<u64>,
    /// Start rates of blocks of threads; empty if the backend has no blocks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<Start>,
    /// Number of lines that one answer of the first cache can combine; `None`: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_lines: Option<u64>,
    /// Bytes that one miss fetches from memory.
    pub fetch: u64,
    /// Bytes per second of a sequential read, write and copy (read plus written), by total bytes of all
    /// arrays.
    pub read: Curve,
    pub write: Curve,
    pub copy: Curve,
    /// Elements per second of a pass that inspects each element of an array, one per thread, and skips nearly
    /// all, by bytes of the array. The loads in flight limit this rate, not bandwidth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scan: Option<Curve>,
    /// Independent random accesses per second, by footprint in bytes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub random: Vec<Random>,
    /// Elements per second that processors move one by one through an index (gather or scatter), while their
    /// first caches hold everything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moves: Vec<Moves>,
    /// Strided accesses per second, by stride in bytes: over a footprint far greater than the caches, and
    /// repeatedly over one that a cache holds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub strided: Vec<Strided>,
    /// Accesses per second to ascending streams that lie side by side, visited in turn one element each, by
    /// number of streams.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interleaved: Vec<Strided>,
    /// Seconds of a random read that depends on the one before it (pointer chase), by footprint in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Curve>,
    /// Bytes of a page, and bytes beyond which random accesses miss the TLB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tlb_reach: Option<u64>,
}

/// Random access rates for one direction and one element size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Random {
    pub direction: crate::case::Direction,
    /// Bytes of an element.
    pub element: u64,
    pub rate: Curve,
}

/// Rates for one direction, one element size and one total footprint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Strided {
    pub direction: crate::case::Direction,
    /// Bytes of an element.
    pub element: u64,
    /// Bytes of the footprint.
    pub footprint: u64,
    pub rate: Curve,
}

/// Rate at which processors move elements of one size through an index.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Moves {
    /// The indexed side: reads for a gather, writes for a scatter.
    pub direction: crate::case::Direction,
    /// Bytes of an element.
    pub element: u64,
    /// Elements per second.
    pub rate: f64,
}

/// Rate at which blocks of threads start one after another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Start {
    /// Whether the block gathers or scatters.
    pub direction: crate::case::Direction,
    /// Seconds per additional block, without its accesses.
    pub seconds: f64,
}

/// The parameters of he2007 §3.3 and §3.5.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct He2007 {
    /// B_seq, bytes per second (Eq. 1).
    pub b_seq: f64,
    /// Bytes of the cache; N is this over l.
    pub cache: u64,
    /// l: bytes of a memory block.
    pub block: u64,
    /// l': bytes that the cache delivers at a time.
    pub transfer: u64,
    /// δ: seconds to fetch a line from the cache.
    pub delta: f64,
    /// w: threads of a warp.
    pub warp: u64,
}

impl Profile {
    /// Whether it follows from a calibration of fewer rounds and wider steps.
    pub fn is_quick(&self) -> bool {
        self.made.is_some() && self.source.contains("--quick")
    }

    /// The share of the cases of its calibration that had doubtful rounds; 1 if it says only that there were some.
    pub fn doubtful_share(&self) -> f64 {
        let Some(doubtful) = self.made.as_ref().and_then(|made| made.doubtful.as_ref()) else { return 0.0 };
        let counts = || {
            let (some, rest) = doubtful.split_once(" of ")?;
            let (all, _) = rest.split_once(" cases")?;
            Some(some.parse::<f64>().ok()? / all.parse::<f64>().ok()?)
        };
        counts().filter(|share| (0.0..=1.0).contains(share)).unwrap_or(1.0)
    }

    /// Causes of doubt about its figures, in a legend's few words: `quick, 38 % doubtful`; `None` without any.
    pub fn doubt(&self) -> Option<String> {
        let share = self.doubtful_share();
        let quick = self.is_quick().then(|| "quick".to_owned());
        let noisy = (share > 0.0).then(|| format!("{:.0} % doubtful", share * 100.0));
        let words: Vec<String> = quick.into_iter().chain(noisy).collect();
        (!words.is_empty()).then(|| words.join(", "))
    }

    /// The name, with what makes the figures doubtful.
    pub fn described(&self) -> String {
        described(&self.name, self.doubt().as_deref())
    }

    /// Rank of its figures on file, the best first, so that none takes a better one's place: a full calibration before a quick
    /// one, then the noise in steps that differ in kind: hardly any, up to a quarter of its cases, up to half, more.
    pub fn worth(&self) -> (bool, usize) {
        let share = self.doubtful_share();
        (self.is_quick(), [0.05, 0.25, 0.5].iter().filter(|step| share > **step).count())
    }

    /// Figures that a calibration of these backends measures and that this profile, of an older version or cut by
    /// hand, does not have: `rates.cpu.scan`.
    pub fn lacks(&self) -> Vec<String> {
        let of = |(backend, rates): (&String, &Rates)| {
            let gpu = backend == "cuda";
            let all = [
                ("pass", rates.pass.is_none()),
                ("pattern", gpu && rates.pattern.is_none()),
                ("tile", gpu && rates.tile.is_none()),
                ("blocks", gpu && rates.blocks.is_empty()),
                ("scan", rates.scan.is_none()),
                ("random", rates.random.is_empty()),
                ("moves", !gpu && rates.moves.is_empty()),
                ("strided", rates.strided.is_empty()),
                ("interleaved", rates.interleaved.is_empty()),
                ("latency", rates.latency.is_none()),
            ];
            let lacking = all.into_iter().filter(|(_, lacks)| *lacks);
            lacking.map(|(name, _)| format!("rates.{backend}.{name}")).collect::<Vec<_>>()
        };
        self.rates.iter().flat_map(of).collect()
    }
}

/// `amd-epyc-2 (quick, 38 % doubtful)`.
pub(super) fn described(name: &str, doubt: Option<&str>) -> String {
    doubt.map_or_else(|| name.to_owned(), |doubt| format!("{name} ({doubt})"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{processors_fixture as epyc, shipped, shipped_text};

    fn with(source: &str, doubtful: Option<&str>) -> Profile {
        let doubtful = doubtful.map(str::to_owned);
        let made = epyc().made.map(|made| Made { doubtful, ..made });
        Profile { source: source.into(), made, ..epyc() }
    }

    #[test]
    fn a_profile_says_how_far_to_trust_it() {
        assert_eq!(epyc().doubt().as_deref(), Some("87 % doubtful"));
        assert_eq!(with("scatterlab calibrate", None).doubt(), None);
        let quick = with("scatterlab calibrate --quick", Some("75 of 200 cases: spread 75"));
        assert_eq!(quick.doubt().as_deref(), Some("quick, 38 % doubtful"));
        assert_eq!(with("scatterlab calibrate", Some("spread 9, steal 1")).doubtful_share(), 1.0);
        let worth = |source, doubtful| with(source, doubtful).worth();
        let (full, quick) = ("scatterlab calibrate", "scatterlab calibrate --quick");
        assert!(worth(full, None) < worth(full, Some("75 of 200 cases: spread 75")));
        assert!(worth(full, Some("200 of 200 cases: spread 200")) < worth(quick, None));
        assert_eq!(worth(full, Some("75 of 200 cases: x")), worth(full, Some("80 of 200 cases: x")));
    }

    #[test]
    fn what_an_older_calibration_did_not_measure_is_named() {
        for name in shipped() {
            let text = shipped_text(name).expect("shipped");
            let profile = crate::model::profiles::read(name, text).expect("a profile");
            assert_eq!(profile.lacks(), [""; 0], "{name}");
        }
        let mut old = epyc();
        let rates = old.rates.get_mut("cpu").expect("rates");
        (rates.scan, rates.moves) = (None, Vec::new());
        assert_eq!(old.lacks(), ["rates.cpu.scan", "rates.cpu.moves"]);
    }
}
