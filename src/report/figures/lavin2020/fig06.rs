//! Figure 6: gain of vector instructions over scalar ones, in per cent, over uniform stride (§5.3). Drawn
//! from `lavin2020/fig06-simd`.

use anyhow::{Result, bail};

use crate::case::{Params, Value};
use crate::inputs::applications::Use;
use crate::recipe::plan::Quantity;
use crate::report::figures::caption::caption;
use crate::report::figures::lookup::{Found, Missing, Subject};
use crate::report::figures::mark::{Mark, table};
use crate::report::figures::platform::{Kind, Platform, separate};
use crate::report::figures::sweep::{self, SIDES};
use crate::report::figures::{Drawn, Figure, some_point};
use crate::report::series::YAxis;
use crate::report::svg::{POINTS, render};
use crate::report::unit::Unit;
use crate::report::verdicts::NamedRun;

const NAME: &str = "lavin2020/fig06";
const TITLE: &str = "Improvement of SIMD gathers and scatters over scalar ones";
const CLAIM: &str = "lavin2020, figure 6: Skylake and Knights Landing need vector instructions for their best \
                     bandwidth; on Broadwell they can be detrimental";
const ISA: &str = "backend.cpu.isa";
const SCALAR: &str = "scalar";

pub const FIGURE: Figure = Figure {
    name: NAME,
    about: "what SIMD gathers and scatters gain over scalar ones, in per cent, over uniform stride",
    recipes: &["lavin2020/fig06-simd"],
    extension: "svg",
    pictures: false,
    draw,
};

fn draw(runs: &[NamedRun]) -> Result<Drawn> {
    let platforms = separate(runs);
    let isa = |p: &&Platform| p.settings.text(ISA).map(|isa| isa == SCALAR);
    let vector: Vec<Platform> = platforms
        .iter()
        .filter(|p| p.kind == Kind::Cpu && isa(p) == Some(false) && has_strides(p))
        .cloned()
        .collect();
    let scalar: Vec<&Platform> =
        platforms.iter().filter(|p| isa(p) == Some(true) && has_strides(p)).collect();
    if vector.is_empty() || scalar.is_empty() {
        bail!(
            "these runs have no uniform strides of the cpu backend both with isa scalar and with another isa"
        );
    }
    let marks: Vec<Mark> =
        SIDES.iter().flat_map(|side| vector.iter().flat_map(|p| improvements(p, &scalar, *side))).collect();
    some_point(&marks, "uniform strides with isa scalar and another isa")?;
    let how =
        "Improvement: bandwidth over that of isa scalar with the same threads, less 1. isa scalar is the \
               paper's Scalar backend: its OpenMP backend without vectorisation (§3.2), not one thread"
            .to_owned();
    let data = sweep::chart(TITLE, improvement(), &marks);
    let document = render(&data, &caption(CLAIM, &super::sampled(POINTS), &vector, &marks, &[how]))?;
    Ok(Drawn { document, table: table(NAME, &marks)?, text: None })
}

fn has_strides(platform: &Platform) -> bool {
    SIDES.iter().any(|side| !platform.strides(*side).is_empty())
}

fn improvements(platform: &Platform, scalar: &[&Platform], side: Use) -> Vec<Mark> {
    let same =
        scalar.iter().find(|s| std::ptr::eq(s.runs[0], platform.runs[0]) && is_counterpart(s, platform));
    let base = |stride| -> Found {
        let same = same.ok_or_else(|| Missing::not_applicable("not in this run"))?;
        same.find(Subject::Uniform { side, stride })
    };
    let improved = |mark: Mark| match mark.x {
        Some(stride) => mark.against(&base(stride as u64), "isa scalar", "%", |ratio| (ratio - 1.0) * 100.0),
        None => mark,
    };
    sweep::marks(&sweep::title(side), platform, side).into_iter().map(improved).collect()
}

/// Whether two platforms differ only in the instruction set.
fn is_counterpart(scalar: &Platform, other: &Platform) -> bool {
    let alike = |p: &Platform| Params::with(p.settings.clone(), ISA, Value::Text(String::new()));
    alike(scalar) == alike(other)
}

fn improvement() -> YAxis {
    let named = Some("Improvement over isa scalar".to_owned());
    let relative_to = Some("isa scalar".to_owned());
    YAxis { quantity: Quantity::Bandwidth, relative_to, unit: Unit::Percent, named, spacing: None }
}
