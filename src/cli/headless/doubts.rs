//! Warnings, each once: what is said again, of the same case or of another one, is counted.

use std::collections::BTreeMap;

use crate::case::units::number_of;
use crate::engine::protocol::RoundResult;
use crate::stats::noise::preamble;

/// The warnings of a run so far.
#[derive(Debug, Default)]
pub struct Doubts {
    /// The beginning of the engine's warning about the noise of the latest round. The assessment at the end of the
    /// run names all noise, so that such a warning is not printed.
    noise: Option<String>,
    /// The number of times each warning has come, without the case that it names.
    told: BTreeMap<String, usize>,
}

impl Doubts {
    /// Notes that a round has arrived for a case with this label within its experiment. The engine's warning about
    /// the round comes later.
    pub fn round(&mut self, label: &str, result: &RoundResult) {
        self.noise = (!result.flags.is_empty()).then(|| preamble(label, result.round));
    }

    /// The first warning of its kind, which may name one of these cases, is to be printed; those about noise are not.
    pub fn is_news<'a>(&mut self, warning: &str, labels: impl Iterator<Item = &'a str>) -> bool {
        if self.noise.as_ref().is_some_and(|start| warning.starts_with(start)) {
            return false;
        }
        let mut names = labels.filter_map(|label| warning.strip_prefix(label));
        let kind = names.find(|rest| rest.starts_with([':', ','])).unwrap_or(warning);
        let count = self.told.entry(kind.to_owned()).or_default();
        *count += 1;
        *count == 1
    }

    /// A line for each warning that came more than once.
    pub fn summary(&self) -> impl Iterator<Item = String> {
        let again = self.told.iter().filter(|(_, count)| **count > 1);
        again.map(|(warning, count)| {
            let warning = warning.trim_start_matches([':', ',']).trim_start();
            format!("{} more: {warning}", number_of(count - 1, "warning"))
        })
    }
}
