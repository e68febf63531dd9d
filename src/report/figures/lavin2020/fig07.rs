//! Figure 7: application gathers relative to the platform's stride-1 gather, as radars. Drawn from
//! `lavin2020/app-patterns` and `lavin2020/fig09-references`.

use std::borrow::Cow;

use super::radars::{self, RECIPES};
use crate::inputs::applications::Use;
use crate::report::figures::{Draw, Figure};

const NAME: &str = "lavin2020/fig07";
const CLAIM: &str = "lavin2020, figure 7: beyond 100 % caches are at work; GPUs are largely unable to outperform \
                     their stride-1 bandwidth, newer ones less so; the delta decides most (PENNANT from G5 on)";

pub const FIGURE: Figure = Figure {
    name: Cow::Borrowed(NAME),
    about: Cow::Borrowed("application gathers relative to the platform's stride-1 gather, as radars"),
    recipes: Cow::Borrowed(RECIPES),
    extension: "svg",
    pictures: false,
    draw: Draw::Own(|runs| {
        radars::draw(NAME, Use::Gather, "Application gathers, relative to stride 1", CLAIM, runs)
    }),
};
