//! Values that a paper prints of the cases of a chart.

use super::Panel;
use crate::recipe::plan::{Chart, Published};
use crate::recipe::published::drawn;
use crate::run::Record;

/// Values that a paper prints of the cases of one line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PublishedLine {
    /// Style of the line that these cases belong to.
    pub of: usize,
    /// Values, ascending in x.
    pub points: Vec<PublishedPoint>,
}

/// A printed value, in the unit of y.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PublishedPoint {
    /// As in a point.
    pub x: f64,
    pub y: f64,
}

impl PublishedLine {
    /// The values of y.
    pub fn values(&self) -> impl Iterator<Item = f64> + '_ {
        self.points.iter().map(|point| point.y)
    }
}

impl Panel {
    /// Adds a value to those of the line with this style.
    pub(in crate::report) fn publish(&mut self, of: usize, point: PublishedPoint) {
        let at = self.published.iter().position(|line| line.of == of).unwrap_or_else(|| {
            self.published.push(PublishedLine { of, points: Vec::new() });
            self.published.len() - 1
        });
        self.published[at].points.push(point);
    }
}

/// The seconds that the chart's table has of a case, or those of the rate or of the bandwidth that it has.
pub(super) fn seconds(chart: &Chart, record: &Record) -> Option<f64> {
    let overlay = chart.overlay.as_ref()?;
    let row = drawn(overlay)?.row(&overlay.platform, &record.case)?;
    let work = record.work.as_ref();
    let of_rate = || Some(work?.elements as f64 / row.rate()?);
    let of_bandwidth = || Some(work?.effective_bytes as f64 / row.bandwidth()? / 1e9);
    row.seconds().or_else(of_rate).or_else(of_bandwidth)
}

/// `GTX 1080 (ashkiani2017)`.
pub(super) fn source(Published { file, platform, .. }: &Published) -> String {
    format!("{platform} ({})", file.split('/').next().unwrap_or_default())
}
