//! Charts as SVG files whose text stays text.

mod caption;
pub(super) mod layout;
pub(super) mod page;
pub(super) mod paint;
mod panel;
pub(super) mod scene;
pub(super) mod style;
#[cfg(test)]
pub(crate) mod tests;

use anyhow::Result;

pub use caption::{Caption, FASTEST_POINTS, device_name};
pub use page::TICK as PRINTED;

use super::series::ChartData;

/// Draws a chart. The same data and caption give the same bytes.
pub fn render(data: &ChartData, caption: &Caption) -> Result<String> {
    paint::svg(&layout::scene(data, caption))
}

/// Draws charts with their captions, one below the other. A single one is drawn as by [`render`].
pub fn render_all(charts: &[(ChartData, Caption)]) -> Result<String> {
    if let [(data, caption)] = charts {
        return render(data, caption);
    }
    let (mut inner, mut width, mut height) = (String::new(), 0.0_f64, 0.0);
    for (data, caption) in charts {
        let scene = layout::scene(data, caption);
        let chart = paint::svg(&scene)?;
        inner += &chart.replacen("<svg ", &format!("<svg y=\"{height}\" "), 1);
        (width, height) = (width.max(scene.width.ceil()), height + scene.height.ceil());
    }
    Ok(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\">{inner}</svg>"
    ))
}

/// Margins of the page that a chart in print does not need, pixels: left, top, right, bottom.
const CUT: [f64; 4] = [page::MARGIN - 3.0, page::MARGIN - 3.0, 4.0, 20.0];

/// A chart without title, notes and caption, for print: `width` is in units of which [`PRINTED`] are the size of a tick
/// label. The same data give the same bytes.
///
/// # Errors
/// When the chart cannot be drawn.
pub fn printed(data: &ChartData, width: f64) -> Result<String> {
    let [left, top, right, bottom] = CUT;
    let scene = layout::printed(data, width + left + right);
    let height = scene.height - top - bottom;
    let inner = paint::svg(&scene)?;
    Ok(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"{left} {top} {width} {height}\">{inner}</svg>"
    ))
}

/// What stands around a chart, for the caption that a paper gives it: title, claim, notes, what the run is worth, how to
/// read the points and where they were measured.
pub fn words(data: &ChartData, caption: &Caption) -> String {
    let above = caption.recipe.iter().chain(&caption.paper).chain(&caption.changes).cloned();
    let below = layout::notes(&layout::with_residual(data)).into_iter().chain(caption.notes.iter().cloned());
    let below = below.chain(caption.verdict.clone()).chain(caption.lines.iter().cloned());
    let lines = std::iter::once(data.title.clone()).chain(above).chain(below);
    lines.map(|line| line + "\n").collect()
}
