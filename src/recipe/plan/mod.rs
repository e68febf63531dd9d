//! A resolved recipe, called a plan: experiments, the swept parameters (axes), and one case for each combination
//! of their values. Pure.

mod case_filter;
mod catalog;
mod chart;
mod form_model;
mod identity;
mod indices;
mod inline_overrides;
mod overrides;
mod peers;
mod resolve;

use serde::{Deserialize, Serialize};

use crate::case::{Case, IndexFile};

pub use crate::case::chart::{
    Axis, Bars, Ceiling, Chart, Experiment, Paper, Published, Quantity, Scale, leads,
};
pub use form_model::{Line as FormLine, Origin, form};
pub use identity::{case_id, recomputed};
pub use indices::is_of_words;
pub use inline_overrides::{measures_the_same, with_overrides, with_title};
pub use overrides::Overrides;
pub use resolve::{resolve, resolve_until, resolve_with, slug};

/// Everything that a run will do, in the recipe's order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The recipe's title.
    pub title: String,
    /// BLAKE3 of the recipe's text, hexadecimal.
    pub recipe_hash: String,
    /// Changes made on the command line, as written there: `--set tuples=1Mi`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overrides: Vec<String>,
    /// The experiments.
    pub experiments: Vec<Experiment>,
    /// Their cases, experiment by experiment.
    pub cases: Vec<Case>,
    /// The files of indices that the cases name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub indices: Vec<IndexFile>,
}

impl Plan {
    /// The quantity on the y axis of a case's chart; the time of a case without an experiment.
    pub fn y_of(&self, case: &Case) -> Quantity {
        self.experiments.get(case.experiment).map_or(Quantity::Time, |one| one.chart.y)
    }

    /// Checks the references between the parts of a plan that somebody else wrote.
    ///
    /// # Errors
    /// Names the key and its value.
    pub fn check(&self) -> Result<(), String> {
        let count = self.experiments.len();
        match self.cases.iter().enumerate().find(|(_, case)| case.experiment >= count) {
            Some((at, case)) => {
                let wrong = case.experiment;
                Err(format!(
                    "plan.cases[{at}].experiment is {wrong}; accepted: below {count}, the number of experiments"
                ))
            }
            None => Ok(()),
        }
    }

    /// The start of the recipe's hash, enough to distinguish recipes on a chart or a line.
    pub fn short_hash(&self) -> String {
        const DIGITS: usize = 12;
        self.recipe_hash.chars().take(DIGITS).collect()
    }
}
