//! Calibration: the cases that reveal a device's characteristics, and the derivation of a profile from their
//! times. Pure; the command line runs the cases through an engine like any other recipe.
//!
//! | file | contents |
//! |---|---|
//! | `cuda.yaml`, `cpu.yaml` | the cases |
//! | `rates` | curves, and the figures of one backend |
//! | `levels` | capacities of caches and reach of the TLB from latencies; lines and sectors from strides |
//! | `derive` | the whole profile |
//! | `profile_diff` | comparison of two profiles |
//! | `table` | detected figures beside the vendor's stated ones |

mod derive;
mod levels;
mod profile_diff;
mod rates;
mod table;
#[cfg(test)]
mod tests;

pub use derive::{Subject, derive};
pub use profile_diff::{Difference, differences};
pub use table::{Row, rows};

use crate::case::{Params, Work};
use crate::stats;

const CUDA: &str = include_str!("cuda.yaml");
const CPU: &str = include_str!("cpu.yaml");

/// Log₂ of the greatest number of streams side by side.
const MOST_STREAMS: u32 = 12;

/// The device to calibrate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The CPU: backends `cpu` and `scalar`.
    Processors,
    /// The GPU with this number.
    Gpu(u64),
}

impl Target {
    /// The recipe; with `quick`, fewer rounds and steps.
    pub fn recipe(self, quick: bool) -> String {
        let (text, backend, blocks) = match self {
            Target::Processors => (CPU, String::new(), String::new()),
            Target::Gpu(device) => (
                CUDA,
                format!("cuda: {{device: {device}}}"),
                format!("cuda: {{device: {device}, items: 1, grid: tiles}}"),
            ),
        };
        let [step, rounds, samples, many] = match (self, quick) {
            (Target::Gpu(_), false) => ["x2", "7", "7", "120"],
            (Target::Gpu(_), true) => ["x4", "1", "5", "15"],
            (Target::Processors, false) => ["x2", "4", "3", "15"],
            (Target::Processors, true) => ["x4", "1", "2", "3"],
        };
        let [near, far, area, streamed, scanned, side_by_side] = if quick {
            ["16MiB", "128MiB", "128MiB", "8Mi", "4Mi", "4Mi"]
        } else {
            ["64MiB", "[256MiB, 1GiB]", "256MiB", "32Mi", "16Mi", "16Mi"]
        };
        let [few, again, often] = if quick { [rounds; 3] } else { ["3", "5", "7"] };
        let tokens = [
            ("BACKEND", backend.as_str()),
            ("BLOCKS", blocks.as_str()),
            ("STEP", step),
            ("ROUNDS", rounds),
            ("SAMPLES", samples),
            ("MANY", many),
            ("NEAR_STREAMS", &streams(128 << 20)),
            ("FAR_STREAMS", &streams(4 << 30)),
            ("SIDE_BY_SIDE", side_by_side),
            ("NEAR", near),
            ("FAR", far),
            ("AREA", area),
            ("STREAMED", streamed),
            ("SCANNED", scanned),
            ("FEW", few),
            ("AGAIN", again),
            ("OFTEN", often),
        ];
        tokens.iter().fold(text.to_owned(), |text, (token, value)| text.replace(token, value))
    }

    /// The backend of the device.
    pub fn backend(self) -> &'static str {
        match self {
            Target::Processors => "cpu",
            Target::Gpu(_) => "cuda",
        }
    }

    /// Every backend that the profile covers.
    pub fn backends(self) -> &'static [&'static str] {
        match self {
            Target::Processors => &["scalar", "cpu"],
            Target::Gpu(_) => &["cuda"],
        }
    }
}

/// Patterns of 1, 2, 4 … streams of words, visited in turn, which together fill `footprint` bytes.
fn streams(footprint: u64) -> String {
    let one = |bits: u32| {
        let (streams, words) = (1u64 << bits, (footprint / 8) >> bits);
        format!("{{uniform: {{length: {streams}, stride: {words}}}, count: {words}}}")
    };
    format!("[{}]", (0..=MOST_STREAMS).map(one).collect::<Vec<_>>().join(", "))
}

/// A case with its times.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    pub backend: String,
    pub primitive: String,
    pub params: Params,
    pub work: Work,
    /// Seconds of one execution: the median of each round.
    pub rounds: Vec<f64>,
    /// Number of CPU threads.
    pub threads: Option<u64>,
}

impl Measured {
    /// Seconds of one execution. On a GPU: the median of the rounds' medians. Processors share caches, memory
    /// and often cores with others, who only slow a round down, some for minutes: for them the lower quartile
    /// is taken.
    pub fn seconds(&self) -> f64 {
        let q = if self.backend == "cuda" { 0.5 } else { 0.25 };
        stats::quantile_of(&self.rounds, q).unwrap_or(f64::NAN)
    }

    /// The text of a parameter; empty if it is missing.
    pub fn word(&self, key: &str) -> &str {
        self.params.text(key).unwrap_or("")
    }

    pub fn is(&self, primitive: &str, method: &str) -> bool {
        self.primitive == primitive && self.word("method") == method
    }
}
