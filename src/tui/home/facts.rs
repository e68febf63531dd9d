//! Facts about a recipe before it runs. Background threads look them up, so that drawing never waits; the
//! results are kept here.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::engine::protocol::Environment;
use crate::model::Profiles;
use crate::report::series::ChartData;
use crate::run::estimate::{Estimate, Paces};
use crate::tui::chart::overlay::Baseline;

/// A result of a background lookup.
#[derive(Clone, Debug, Default)]
pub enum Known<T> {
    /// Not requested.
    #[default]
    Unknown,
    /// Requested, but not answered yet.
    Asked,
    Is(T),
}

/// The newest stored run of a recipe.
#[derive(Clone, Debug)]
pub struct LastRun {
    pub folder: PathBuf,
    /// `YYYY-MM-DD HH:MM:SS` UTC.
    pub started: String,
    /// Overrides of the recipe on the command line.
    pub overrides: Vec<String>,
    /// Number of cases with a result, and of all cases.
    pub done: (usize, usize),
    /// The machine that it ran on.
    pub environment: Environment,
    /// The profiles from which it was predicted.
    pub profiles: Profiles,
    /// The chart of the first experiment.
    pub chart: ChartData,
    /// The baseline to lay under the chart of the next run.
    pub baseline: Arc<Baseline>,
}

/// The newest run of a recipe, if there is one.
pub type Last = Option<Arc<LastRun>>;

#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Whether background lookups are available.
    pub found_out: bool,
    /// Copy bandwidth of each backend, or why it is unknown.
    pub paces: Known<Result<Paces, String>>,
    /// Indexed by recipe.
    estimates: BTreeMap<usize, Known<Estimate>>,
    last: BTreeMap<usize, Known<Last>>,
}

impl Facts {
    /// The cost of a recipe, once its plan and the paces are known.
    pub fn estimate(&self, recipe: usize) -> &Known<Estimate> {
        self.estimates.get(&recipe).unwrap_or(&Known::Unknown)
    }

    pub fn put_estimate(&mut self, recipe: usize, estimate: Known<Estimate>) {
        self.estimates.insert(recipe, estimate);
    }

    pub fn last(&self, recipe: usize) -> &Known<Last> {
        self.last.get(&recipe).unwrap_or(&Known::Unknown)
    }

    /// The results of the newest run, if they are known.
    pub fn baseline(&self, recipe: usize) -> Option<Arc<Baseline>> {
        match self.last(recipe) {
            Known::Is(last) => last.as_ref().map(|last| Arc::clone(&last.baseline)),
            Known::Unknown | Known::Asked => None,
        }
    }

    pub fn put_last(&mut self, recipe: usize, last: Known<Last>) {
        self.last.insert(recipe, last);
    }

    /// Forgets the facts about a recipe that has changed.
    pub fn forget(&mut self, recipe: usize) {
        self.estimates.remove(&recipe);
        self.last.remove(&recipe);
    }

    /// Forgets the last run of a recipe that has run again.
    pub fn ran(&mut self, recipe: usize) {
        self.last.remove(&recipe);
    }
}
