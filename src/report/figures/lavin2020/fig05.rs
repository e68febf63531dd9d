//! Figure 5: GPU bandwidth over uniform stride; several runs are several platforms. Drawn from
//! `lavin2020/fig05-gpu-stride`.

use crate::report::figures::Figure;
use crate::report::figures::platform::Kind;

const NAME: &str = "lavin2020/fig05";
const CLAIM: &str = "lavin2020, figure 5: gathers plateau from stride 4 to 8 at a quarter of the peak (P100, Titan \
                     Xp), scatters at an eighth; newer GPUs use more of their bandwidth at intermediate strides";

pub const FIGURE: Figure = Figure {
    name: NAME,
    about: "GPU bandwidth over uniform stride, gather and scatter, a line for each platform",
    recipes: &["lavin2020/fig05-gpu-stride"],
    extension: "svg",
    pictures: false,
    draw: |runs| super::strides(NAME, Kind::Gpu, "GPU gather and scatter over uniform stride", CLAIM, runs),
};
