//! Calibration: which cases tell a device's characteristics, and what follows from their times.
//! Pure; the command line runs the cases through an engine like any other recipe.
//!
//! | file | what it knows |
//! |---|---|
//! | `cuda.yaml`, `cpu.yaml` | the cases |
//! | `measured` | what a run says of a case |
//! | `rates` | curves, and the figures of one backend |
//! | `levels` | capacities of caches and reach of the TLB from latencies; lines and sectors from strides |
//! | `derive` | the whole profile |
//! | `agree` | whether two profiles say the same |
//! | `table` | what was detected beside what the vendor states |

mod agree;
mod derive;
mod levels;
mod measured;
mod rates;
mod table;
#[cfg(test)]
mod tests;

pub use agree::{Difference, differences};
pub use derive::{Subject, derive};
pub use measured::Measured;
pub use table::{Row, rows};

use crate::patterns::Scramble;

const CUDA: &str = include_str!("cuda.yaml");
const CPU: &str = include_str!("cpu.yaml");

/// Most streams side by side, a power of two.
const MOST_STREAMS: u32 = 12;

/// What to calibrate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The processors: `cpu` and `scalar`.
    Processors,
    /// The GPU of this number.
    Gpu(u64),
}

impl Target {
    /// The recipe, `quick` in fewer rounds and steps.
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
            (Target::Gpu(_), true) => ["x4", "2", "5", "15"],
            (Target::Processors, false) => ["x2", "3", "3", "15"],
            (Target::Processors, true) => ["x4", "1", "2", "3"],
        };
        let [far, area, streamed, other] =
            if quick { ["128MiB", "128MiB", "8Mi", "x8"] } else { ["1GiB", "256MiB", "32Mi", "x4"] };
        let tokens = [
            ("BACKEND", backend.as_str()),
            ("BLOCKS", blocks.as_str()),
            ("STEP", step),
            ("ROUNDS", rounds),
            ("SAMPLES", samples),
            ("MANY", many),
            ("NEAR_STREAMS", &streams(128 << 20)),
            ("FAR_STREAMS", &streams(4 << 30)),
            ("SIDE_BY_SIDE", &shuffled_streams(128 << 20)),
            ("FAR", far),
            ("AREA", area),
            ("STREAMED", streamed),
            ("OTHER", other),
        ];
        tokens.iter().fold(text.to_owned(), |text, (token, value)| text.replace(token, value))
    }

    /// The backend whose device it is.
    pub fn backend(self) -> &'static str {
        match self {
            Target::Processors => "cpu",
            Target::Gpu(_) => "cuda",
        }
    }
}

/// Words by which streams on processors lie further apart than powers of two: of an odd number of
/// lines, for caches that find a line's place by some of its bits would put all of them into one,
/// and of one more, for else all would come to the end of a line at once.
const APART: u64 = 9 * 8 + 1;

/// Streams of words, one word of each in turn, which together fill so many bytes: 1, 2, 4 …
fn streams(footprint: u64) -> String {
    let one = |bits: u32| {
        let (streams, words) = (1u64 << bits, (footprint / 8) >> bits);
        format!("{{uniform: {{length: {streams}, stride: {words}}}, count: {words}}}")
    };
    format!("[{}]", (0..=MOST_STREAMS).map(one).collect::<Vec<_>>().join(", "))
}

/// The same on processors, 8, 64, 512 …, in an order from which nothing can be foretold: of streams in
/// their order a processor would fetch ahead what the next one needs.
fn shuffled_streams(footprint: u64) -> String {
    let one = |bits: u32| {
        let (order, words) = (Scramble::new(bits, 0), (footprint / 8) >> bits);
        let places = (0..1u64 << bits).map(|i| (order.apply(i) * (words + APART)).to_string());
        format!("{{custom: [{}], count: {words}}}", places.collect::<Vec<_>>().join(", "))
    };
    format!("[{}]", (3..=MOST_STREAMS).step_by(3).map(one).collect::<Vec<_>>().join(", "))
}
