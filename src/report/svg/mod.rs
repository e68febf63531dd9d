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

pub use caption::{BARE_POINTS, Caption, POINTS, device_name};

use super::series::ChartData;

/// Draws a chart. The same data and caption give the same bytes.
pub fn render(data: &ChartData, caption: &Caption) -> Result<String> {
    paint::svg(&layout::scene(data, caption))
}
