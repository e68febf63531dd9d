//! Table 4: each application's harmonic mean over its patterns, and its correlation with STREAM, for stored
//! runs and as printed in the paper. Drawn from `lavin2020/app-patterns` and `lavin2020/fig09-references`.

mod rows;
mod words;

use std::borrow::Cow;

use anyhow::{Result, bail};

use self::rows::{Group, measured, published};
use super::radars::RECIPES;
use crate::inputs::applications::TABLE_5;
use crate::report::figures::lookup::Subject;
use crate::report::figures::platform::{Platform, joined};
use crate::report::figures::{Draw, Drawn, Figure};
use crate::report::verdicts::NamedRun;

pub const FIGURE: Figure = Figure {
    name: Cow::Borrowed("lavin2020/table04"),
    about: Cow::Borrowed(
        "harmonic means over the applications' patterns and Pearson's R against STREAM, beside the paper's",
    ),
    recipes: Cow::Borrowed(RECIPES),
    extension: "md",
    pictures: false,
    draw: Draw::Own(draw),
};

fn draw(runs: &[NamedRun]) -> Result<Drawn> {
    let mut platforms = joined(runs);
    platforms.retain(|p| TABLE_5.iter().any(|app| p.has(Subject::App(app))));
    let stream = stream_kernel(&platforms);
    let groups: Vec<Group> = measured(&platforms, stream).into_iter().chain(published()?).collect();
    let ours = groups.iter().filter(|group| group.is_measured()).flat_map(|group| &group.rows);
    if !ours.flat_map(|row| &row.means).any(Result::is_ok) {
        bail!("no application has a result for all of its patterns on any platform of these runs");
    }
    let sheet = words::Sheet::new(&groups, &platforms, stream)?;
    Ok(Drawn { document: sheet.markdown(), table: words::csv(&groups, stream)?, text: Some(sheet.text()) })
}

/// The kernel that represents STREAM: the first of these that all platforms with any of them have. The paper
/// does not specify its kernel.
fn stream_kernel(platforms: &[Platform]) -> &'static str {
    const KERNELS: [&str; 3] = ["triad", "copy", "read"];
    let result = |p: &Platform, kernel| p.find(Subject::Stream(kernel)).is_ok();
    let any: Vec<&Platform> = platforms.iter().filter(|p| KERNELS.iter().any(|k| result(p, k))).collect();
    let shared = KERNELS.into_iter().find(|kernel| any.iter().all(|p| result(p, kernel)));
    shared.unwrap_or(KERNELS[0])
}
