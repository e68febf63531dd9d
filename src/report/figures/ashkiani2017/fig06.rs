//! Figure 6: the time of each multisplit over the number of buckets, keys and pairs (§6.2.1). Drawn from
//! `ashkiani2017/table05-speedups`.

use anyhow::Result;

use super::chart::chart;
use super::{KEYS, Panel, RECIPES, drawn, gpus, how, panels};
use crate::recipe::plan::Quantity;
use crate::report::figures::mark::Mark;
use crate::report::figures::splits::Line;
use crate::report::figures::{Drawn, Figure, some_point};
use crate::report::series::YAxis;
use crate::report::unit::Unit;
use crate::report::verdicts::NamedRun;

const NAME: &str = "ashkiani2017/fig06";
const TITLE: &str = "Time of a multisplit, by number of buckets";
const CLAIM: &str = "ashkiani2017, figure 6: WMS is the fastest for few buckets (up to 2 for keys on a GeForce GTX 1080), \
                     BMS for more of them; both are generally faster than RB-sort";

pub const FIGURE: Figure = Figure {
    name: NAME,
    about: "times of multisplit's methods over the number of buckets, keys and pairs, beside the paper's GTX 1080",
    recipes: RECIPES,
    extension: "svg",
    pictures: false,
    draw,
};

fn draw(runs: &[NamedRun]) -> Result<Drawn> {
    let platforms = gpus(runs);
    let panels = panels(&platforms);
    let measured = panels.iter().flat_map(|panel| Line::ALL.into_iter().flat_map(|line| panel.times(line)));
    let mut marks: Vec<Mark> = measured.collect();
    some_point(&marks, "multisplits of uniform keys among delta-buckets on GPUs")?;
    for panel in &panels {
        marks.extend(papers(panel)?);
    }
    let dashed = match marks.iter().any(|mark| mark.published) {
        true => {
            "Dashed and hollow: 2^25 keys or pairs over Table 5's rates of a GeForce GTX 1080, not measured here"
        }
        false => "Table 5 is of 2^25 keys, which these runs do not have: nothing of it is drawn beside",
    };
    let lines = [how(&panels), dashed.to_owned()];
    drawn((NAME, CLAIM), &chart(TITLE, time(), &marks), &platforms, &marks, &lines)
}

/// Table 5's rates converted to times, for the paper's number of keys only.
fn papers(panel: &Panel) -> Result<Vec<Mark>> {
    match panel.keys {
        KEYS => panel.published("s", |row| KEYS as f64 / (row.g_per_s * 1e9)),
        _ => Ok(Vec::new()),
    }
}

fn time() -> YAxis {
    YAxis { quantity: Quantity::Time, relative_to: None, unit: Unit::Seconds, named: None, spacing: None }
}
