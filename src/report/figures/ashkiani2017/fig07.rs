//! Figure 7: the speed-up of each multisplit over a radix sort of the whole keys, over the number of buckets,
//! keys and pairs (§6.2.1). Drawn from `ashkiani2017/table05-speedups`.

use anyhow::Result;

use super::chart::chart;
use super::{Panel, RECIPES, drawn, gpus, how, panels};
use crate::recipe::plan::Quantity;
use crate::report::figures::mark::Mark;
use crate::report::figures::splits::Line;
use crate::report::figures::{Drawn, Figure, some_point};
use crate::report::scale::Spacing;
use crate::report::series::{ChartData, Guide, YAxis};
use crate::report::unit::Unit;
use crate::report::verdicts::NamedRun;

const NAME: &str = "ashkiani2017/fig07";
const TITLE: &str = "Speed-up of multisplits over a radix sort of whole keys, by number of buckets";
const CLAIM: &str = "ashkiani2017, figure 7: up to 9.7 times as fast as the radix sort with keys and 10.8 times with pairs \
                     on a Tesla K40c, 5.6 and 6.1 times on a GeForce GTX 1080";
/// Unit of y.
const TIMES: &str = "of the sort";

pub const FIGURE: Figure = Figure {
    name: NAME,
    about: "speed-ups of multisplit's methods over a radix sort, keys and pairs, beside the paper's GTX 1080",
    recipes: RECIPES,
    extension: "svg",
    pictures: false,
    draw,
};

fn draw(runs: &[NamedRun]) -> Result<Drawn> {
    let platforms = gpus(runs);
    let panels = panels(&platforms);
    let mut marks: Vec<Mark> = panels.iter().flat_map(speed_ups).collect();
    some_point(&marks, "multisplits on GPUs beside the peer cub-sort")?;
    let mut lines = vec![how(&panels)];
    lines.extend(panels.iter().filter_map(|panel| best(panel, &marks)));
    for panel in &panels {
        marks.extend(panel.published(TIMES, |row| row.speed_up)?);
    }
    lines.push(
        "Dashed and hollow: Table 5's speed-ups of a GeForce GTX 1080 over CUB's sort of 2017, not measured here"
            .to_owned(),
    );
    let data = level(chart(TITLE, speed_up(), &marks));
    drawn((NAME, CLAIM), &data, &platforms, &marks, &lines)
}

/// Speed-ups: each line's time against the sort's for the same number of buckets.
fn speed_ups(panel: &Panel) -> Vec<Mark> {
    let against = |mark: Mark| {
        let buckets = mark.x.unwrap_or_default() as u64;
        let sort = panel.platform.find(panel.wanted(Line::Whole, buckets));
        mark.against(&sort, Line::Whole.name(), TIMES, |part| 1.0 / part)
    };
    let lines = Line::ALL.into_iter().filter(|line| *line != Line::Whole);
    lines.flat_map(|line| panel.times(line)).map(against).collect()
}

/// `NVIDIA H200, keys: at best 5.3 (fused, 2 buckets)`: the best of the panel's measured marks.
fn best(panel: &Panel, marks: &[Mark]) -> Option<String> {
    let own = marks.iter().filter(|mark| mark.panel == panel.title && mark.pattern != Line::Bits.name());
    let known = own.filter_map(|mark| Some((mark.y.as_ref().ok()?.y, mark)));
    let (most, mark) = known.max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(format!("{}: at best {most:.1} times ({}, {} buckets)", panel.title, mark.pattern, mark.x?))
}

/// Adds a guide at the level where a multisplit takes as long as the sort.
fn level(mut data: ChartData) -> ChartData {
    let guide = Guide {
        label: "1: the radix sort".to_owned(),
        style: data.labels.len(),
        level: Some(1.0),
        per_byte: false,
        unit: Unit::Number,
        lacks: "",
        about: "1: as fast as CUB's radix sort of the whole keys in the same run".to_owned(),
    };
    data.panels.iter_mut().for_each(|panel| panel.guides.push(guide.clone()));
    data
}

fn speed_up() -> YAxis {
    YAxis {
        quantity: Quantity::Time,
        relative_to: None,
        unit: Unit::Number,
        named: Some("Speed-up over the radix sort".to_owned()),
        spacing: Some(Spacing::Linear),
    }
}
