//! Calibration: the cases that reveal a device's characteristics, and the derivation of a profile from their
//! times. Pure; the command line runs the cases through an engine like any other recipe.
//!
//! | file | contents |
//! |---|---|
//! | `cuda.yaml`, `cpu.yaml` | the cases |
//! | `measured` | cases and their times |
//! | `rates` | curves, and the figures of one backend |
//! | `levels` | capacities of caches and reach of the TLB from latencies; lines and sectors from strides |
//! | `derive` | the whole profile |
//! | `agree` | comparison of two profiles |
//! | `table` | detected figures beside the vendor's stated ones |

mod derive;
mod levels;
mod measured;
mod profile_diff;
mod rates;
mod table;
#[cfg(test)]
mod tests;

pub use derive::{Subject, derive};
pub use measured::Measured;
pub use profile_diff::{Difference, differences};
pub use table::{Row, rows};

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
}

/// Patterns of 1, 2, 4 … streams of words, visited in turn, which together fill `footprint` bytes.
fn streams(footprint: u64) -> String {
    let one = |bits: u32| {
        let (streams, words) = (1u64 << bits, (footprint / 8) >> bits);
        format!("{{uniform: {{length: {streams}, stride: {words}}}, count: {words}}}")
    };
    format!("[{}]", (0..=MOST_STREAMS).map(one).collect::<Vec<_>>().join(", "))
}
