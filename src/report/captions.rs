//! Captions of a run's charts.

use super::origin::Origin;
use super::series::Copies;
use super::speed_of_light::SpeedsOfLight;
use super::svg::Caption;
use crate::recipe::plan::Ceiling;
use crate::run::Record;

/// The caption of an experiment's chart, with the share of the lower of two roofs behind the line that says what a point
/// is.
pub fn caption(origin: &Origin, experiment: usize, records: &[Record], copies: &Copies) -> Caption {
    let mut caption = Caption::new(origin, experiment, records);
    let at = caption.lines.len().min(1);
    caption.lines.splice(at..at, roofs(origin, experiment, records, copies));
    caption
}

/// The share that the best case reaches of the lower of two roofs, where the chart draws them.
fn roofs(origin: &Origin, experiment: usize, records: &[Record], copies: &Copies) -> Option<String> {
    let drawn = origin.plan.experiments.get(experiment)?.chart.ceiling == Some(Ceiling::SpeedOfLight);
    let own = records.iter().filter(|record| record.case.experiment == experiment);
    SpeedsOfLight::new(origin.plan, copies).bound(own.filter(|_| drawn))
}
