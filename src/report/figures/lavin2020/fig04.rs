//! Figure 4: the same uniform-stride gathers in two runs, with and without hardware prefetchers, absolute and
//! relative to stride 1. Drawn from two runs of `lavin2020/fig04-prefetch`.

use anyhow::{Result, bail};

use crate::engine::environment::fact_names::PREFETCHERS;
use crate::inputs::applications::Use;
use crate::recipe::plan::Quantity;
use crate::report::figures::caption::caption;
use crate::report::figures::lookup::Subject;
use crate::report::figures::mark::{Mark, table};
use crate::report::figures::platform::{Kind, Platform, separate};
use crate::report::figures::{Drawn, Figure, some_point, sweep};
use crate::report::names::letter;
use crate::report::scale::Spacing;
use crate::report::series::YAxis;
use crate::report::svg::{POINTS, layout, paint};
use crate::report::unit::Unit;
use crate::report::verdicts::NamedRun;

const NAME: &str = "lavin2020/fig04";
const TITLE: &str = "Uniform-stride gather, with the prefetchers on and off";
/// Title if the runs do not record the state of the prefetchers: it may still differ.
const UNKNOWN: &str = "Uniform-stride gather in two runs, the state of whose prefetchers is not known";
const CLAIM: &str = "lavin2020, figure 4: without prefetchers Broadwell bottoms out after stride 8; Skylake always \
                     fetches two lines and drops to 1/16 of its peak";

pub const FIGURE: Figure = Figure {
    name: NAME,
    about: "two runs of uniform-stride gathers, prefetchers on and off, absolute and relative to stride 1",
    recipes: &["lavin2020/fig04-prefetch"],
    extension: "svg",
    pictures: false,
    draw,
};

fn draw(runs: &[NamedRun]) -> Result<Drawn> {
    let [_, _] = runs else {
        bail!("it takes two runs, one with the prefetchers on and one with them off; given: {}", runs.len());
    };
    let mut platforms: Vec<Platform> = Vec::new();
    for (at, run) in runs.iter().enumerate() {
        let own = separate(std::slice::from_ref(run)).into_iter();
        let mut own: Vec<Platform> =
            own.filter(|p| p.kind == Kind::Cpu && !p.strides(Use::Gather).is_empty()).collect();
        if own.is_empty() {
            bail!("{} has no uniform-stride gathers of a CPU", run.name);
        }
        own.iter_mut().for_each(|p| p.label = format!("{}: {}", state(at, run), p.label));
        platforms.extend(own);
    }
    let absolute: Vec<Mark> =
        platforms.iter().flat_map(|p| sweep::marks("Bandwidth", p, Use::Gather)).collect();
    let normalised: Vec<Mark> = platforms.iter().flat_map(relative).collect();
    some_point(&absolute, "uniform-stride gathers of CPUs")?;
    let marks = [absolute.clone(), normalised.clone()].concat();
    let states: Vec<String> = runs.iter().enumerate().map(|(at, run)| told(at, run)).collect();
    let caption = caption(CLAIM, &super::sampled(POINTS), &platforms, &marks, &states);
    let charts =
        [sweep::chart(title(runs), sweep::bandwidth(), &absolute), sweep::chart("", parts(), &normalised)];
    let document = paint::svg(&layout::stacked(&charts, &caption))?;
    Ok(Drawn { document, table: table(NAME, &marks)?, text: None })
}

fn relative(platform: &Platform) -> Vec<Mark> {
    let base = platform.find(Subject::Uniform { side: Use::Gather, stride: 1 });
    let marks = sweep::marks("Relative to stride 1", platform, Use::Gather).into_iter();
    marks.map(|mark| mark.against(&base, "stride 1", "of stride 1", |ratio| ratio)).collect()
}

fn parts() -> YAxis {
    let named = Some("Bandwidth relative to stride 1".to_owned());
    let (quantity, spacing) = (Quantity::Bandwidth, Some(Spacing::Log2));
    YAxis { quantity, relative_to: None, unit: Unit::Fraction, named, spacing }
}

fn title(runs: &[NamedRun]) -> &'static str {
    let states: Vec<Option<&str>> = runs.iter().map(known).collect();
    let switched = states.iter().all(Option::is_some) && states.windows(2).all(|pair| pair[0] != pair[1]);
    if switched { TITLE } else { UNKNOWN }
}

/// `A, prefetchers on`; if the state is not known, the run's name.
fn state(at: usize, run: &NamedRun) -> String {
    let words = known(run).map_or_else(|| run.name.clone(), |state| format!("prefetchers {state}"));
    format!("{}, {words}", letter(at))
}

/// State of the prefetchers, if the run's engine could read it.
fn known<'a>(run: &NamedRun<'a>) -> Option<&'a str> {
    prefetchers(run).filter(|state| !state.contains("n/a"))
}

/// The prefetcher fact of the run's environment, as read by the engine.
fn prefetchers<'a>(run: &NamedRun<'a>) -> Option<&'a str> {
    let facts = &run.side.manifest.environment.facts;
    facts.iter().find(|(name, _)| name == PREFETCHERS).map(|(_, value)| value.as_str())
}

fn told(at: usize, run: &NamedRun) -> String {
    let state = prefetchers(run).unwrap_or("n/a: the run does not say");
    format!("Prefetchers in {}, {}: {state}", letter(at), run.name)
}
