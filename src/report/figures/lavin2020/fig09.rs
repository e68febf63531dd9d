//! Figure 9: bandwidth-bandwidth plots of selected patterns (§5.4.3). Drawn from `lavin2020/app-patterns` and
//! `lavin2020/fig09-references`.

use std::borrow::Cow;

use anyhow::Result;

use super::radars::RECIPES;
use super::{SIDES, title};
use crate::inputs::applications::{self, Use};
use crate::report::figures::caption::caption;
use crate::report::figures::lookup::{Missing, Subject};
use crate::report::figures::mark::{Mark, table};
use crate::report::figures::platform::{Kind, Platform, joined};
use crate::report::figures::rating::{self, Dot, Plot};
use crate::report::figures::{Draw, Drawn, Figure, lettered, some_point};
use crate::report::svg::paint;
use crate::report::verdicts::NamedRun;

const NAME: &str = "lavin2020/fig09";
const TITLE: &str = "Bandwidth of selected patterns over stride-1 bandwidth";
const CLAIM: &str = "lavin2020, figure 9 claims: PENNANT-G12 runs at about 1/16 of the peak on Broadwell; CPUs gain in \
                     relative terms from one generation to the next, GPUs use a decreasing part of their bandwidth";
/// Patterns of Table 5: the two of LULESH that the paper's text discusses, and four of PENNANT. It draws four and names
/// G12 alone; the others here have other orders of magnitude of its delta, which the text is about.
const APPLICATIONS: [&str; 6] =
    ["PENNANT-G0", "PENNANT-G6", "PENNANT-G9", "PENNANT-G12", "LULESH-S1", "LULESH-S3"];

pub const FIGURE: Figure = Figure {
    name: Cow::Borrowed(NAME),
    about: Cow::Borrowed("bandwidth-bandwidth plot: selected patterns over stride 1, lines of constant part"),
    recipes: Cow::Borrowed(RECIPES),
    extension: "svg",
    pictures: false,
    draw: Draw::Own(draw),
};

fn draw(runs: &[NamedRun]) -> Result<Drawn> {
    let mut platforms = joined(runs);
    platforms.retain(|p| SIDES.iter().any(|side| patterns(*side).iter().any(|wanted| p.has(*wanted))));
    let letters = lettered(&mut platforms);
    let marks: Vec<Mark> =
        SIDES.iter().flat_map(|side| platforms.iter().flat_map(|p| placed(p, *side))).collect();
    some_point(&marks, "stride 1 and selected patterns of the same platform")?;
    let legend: Vec<String> = {
        let names = SIDES.iter().flat_map(|side| patterns(*side)).map(name);
        let mut kept: Vec<String> = Vec::new();
        names.for_each(|name| kept.extend((!kept.contains(&name)).then_some(name)));
        kept
    };
    let plots: Vec<Plot> = SIDES
        .iter()
        .map(|side| Plot { title: title(*side), points: dots(*side, &marks, &platforms, &letters, &legend) })
        .filter(|plot| !plot.points.is_empty())
        .collect();
    let how = [
        "On the diagonal: stride 1. Dots of one platform share an x. Dashed: fixed fractions of stride-1 bandwidth; \
         solid lines join CPUs with CPUs and GPUs with GPUs",
        "The paper draws four patterns of PENNANT and names G12; the others here have deltas of 2, 480 and 388,852",
    ]
    .map(str::to_owned);
    let scene = rating::draw(
        TITLE,
        &plots,
        &legend,
        &caption(CLAIM, &super::sampled("; bars: to the slowest"), &platforms, &marks, &how),
    );
    Ok(Drawn { document: paint::svg(&scene)?, table: table(NAME, &marks)?, text: None })
}

/// Strides 1 and 16, and the applications' patterns of this kernel.
fn patterns(side: Use) -> Vec<Subject> {
    let strides = [1, 16].map(|stride| Subject::Uniform { side, stride });
    let apps = APPLICATIONS.iter().filter_map(|name| applications::find(name));
    strides.into_iter().chain(apps.filter(|app| app.kernel == side).map(Subject::App)).collect()
}

/// Name of a pattern without its kernel, which the panel names.
fn name(wanted: Subject) -> String {
    match wanted {
        Subject::Uniform { stride, .. } => format!("stride {stride}"),
        other => other.words(),
    }
}

/// The platform's patterns of one kernel, over its stride-1 bandwidth.
fn placed(platform: &Platform, side: Use) -> Vec<Mark> {
    let base = platform.find(Subject::Uniform { side, stride: 1 });
    let x = base.as_ref().ok().map(|value| value.y);
    let mark = |wanted: Subject| {
        let mark = Mark::of(&title(side), platform, name(wanted), x, wanted);
        match &base {
            Ok(base) => Mark { baseline: base.record.case.id.clone(), ..mark },
            Err(_) if mark.y.is_ok() => {
                Mark { y: Err(Missing::no_baseline("stride 1 of this kernel has no result")), ..mark }
            }
            Err(_) => mark,
        }
    };
    patterns(side).into_iter().map(mark).collect()
}

fn dots(
    side: Use,
    marks: &[Mark],
    platforms: &[Platform],
    letters: &[String],
    legend: &[String],
) -> Vec<Dot> {
    let own = marks.iter().filter(|mark| mark.panel == title(side));
    let dot = |mark: &Mark| {
        let at = platforms.iter().position(|p| p.label == mark.platform)?;
        let (spread, letter) = (mark.y.as_ref().ok()?, letters[at].clone());
        let family = usize::from(platforms[at].kind == Kind::Gpu);
        let pattern = legend.iter().position(|name| *name == mark.pattern)?;
        Some(Dot { pattern, letter, family, x: mark.x?, y: spread.y, low: spread.low, high: spread.high })
    };
    own.filter_map(dot).collect()
}
