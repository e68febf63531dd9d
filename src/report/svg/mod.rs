//! Charts as SVG files whose text stays text.

mod caption;
mod layout;
mod paint;
mod panel;
mod scene;
mod style;
#[cfg(test)]
pub(crate) mod tests;

use anyhow::Result;

pub use caption::{Caption, device_name};

use super::series::ChartData;

/// Draws a chart. The same data and caption give the same bytes.
pub fn render(data: &ChartData, caption: &Caption) -> Result<String> {
    paint::svg(&layout::scene(data, caption))
}
