//! lavin2020: P. Lavin et al., Evaluating Gather and Scatter Performance on CPUs and GPUs,
//! MEMSYS 2020.

pub mod fig03;
pub mod fig04;
pub mod fig05;
pub mod fig06;
pub mod fig07;
pub mod fig08;
pub mod fig09;
mod radars;
pub mod table04;

use anyhow::Result;

use super::caption::caption;
use super::mark::{Mark, table};
use super::platform::{Kind, separate};
use super::sweep::{self, SIDES};
use super::{Drawn, some_point};
use crate::report::svg::{POINTS, render};
use crate::report::verdicts::NamedRun;

/// Explanation of a point, and of the paper's points.
fn sampled(points: &str) -> String {
    format!("{points}; the paper's are the fastest of 10 runs")
}

/// Figures 3 and 5: bandwidth over uniform stride, one line for each platform of a kind.
fn strides(figure: &str, kind: Kind, title: &str, claim: &str, runs: &[NamedRun]) -> Result<Drawn> {
    let mut platforms = separate(runs);
    platforms.retain(|p| p.kind == kind && SIDES.iter().any(|side| !p.strides(*side).is_empty()));
    let marks: Vec<Mark> = SIDES
        .iter()
        .flat_map(|side| platforms.iter().flat_map(|p| sweep::marks(&sweep::title(*side), p, *side)))
        .collect();
    some_point(&marks, &format!("uniform strides without reuse on {}", kind.words()))?;
    let how = "Uniform stride without reuse; bandwidth counts the doubles that are used (§3.5)".to_owned();
    let caption = caption(claim, &sampled(POINTS), &platforms, &marks, &[how]);
    let data = sweep::chart(title, sweep::bandwidth(), &marks);
    Ok(Drawn { document: render(&data, &caption)?, table: table(figure, &marks)?, text: None })
}
