//! Figure 8: application scatters relative to the platform's stride-1 scatter, as radars. Drawn from
//! `lavin2020/app-patterns` and `lavin2020/fig09-references`.

use std::borrow::Cow;

use super::radars::{self, RECIPES};
use crate::inputs::applications::Use;
use crate::report::figures::{Draw, Figure};

const NAME: &str = "lavin2020/fig08";
const CLAIM: &str = "lavin2020, figure 8: LULESH-S3, a scatter with delta 0, is very slow except on ThunderX2; \
                     Cascade Lake improves on Skylake in LULESH's scatters";

pub const FIGURE: Figure = Figure {
    name: Cow::Borrowed(NAME),
    about: Cow::Borrowed("application scatters relative to the platform's stride-1 scatter, as radars"),
    recipes: Cow::Borrowed(RECIPES),
    extension: "svg",
    pictures: false,
    draw: Draw::Own(|runs| {
        radars::draw(NAME, Use::Scatter, "Application scatters, relative to stride 1", CLAIM, runs)
    }),
};
