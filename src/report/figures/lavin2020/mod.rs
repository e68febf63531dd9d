//! lavin2020: P. Lavin et al., Evaluating Gather and Scatter Performance on CPUs and GPUs,
//! MEMSYS 2020.

pub mod fig09;
pub mod radars;
pub mod table04;

use super::lookup::word;
use crate::inputs::applications::Use;
use crate::report::svg::FASTEST_POINTS;

const SIDES: [Use; 2] = [Use::Gather, Use::Scatter];

/// The panel of a kernel: `Gather`.
fn title(side: Use) -> String {
    let word = word(side);
    word[..1].to_uppercase() + &word[1..]
}

/// Explanation of a point and of the `bars` through it, if there are any.
fn sampled(bars: &str) -> String {
    format!("{FASTEST_POINTS}{bars}; the paper's are the fastest of 10 runs")
}
