//! Figure 3: CPU bandwidth over uniform stride; several runs are several platforms. Drawn from
//! `lavin2020/fig03-cpu-stride`.

use crate::report::figures::Figure;
use crate::report::figures::platform::Kind;

const NAME: &str = "lavin2020/fig03";
const CLAIM: &str = "lavin2020, figure 3: bandwidth halves with each doubling of the stride up to 8, where a line \
                     holds one double of use; peak bandwidth does not tell which platform is best at moderate strides";

pub const FIGURE: Figure = Figure {
    name: NAME,
    about: "CPU bandwidth over uniform stride, gather and scatter, a line for each platform",
    recipes: &["lavin2020/fig03-cpu-stride"],
    extension: "svg",
    pictures: false,
    draw: |runs| super::strides(NAME, Kind::Cpu, "CPU gather and scatter over uniform stride", CLAIM, runs),
};
