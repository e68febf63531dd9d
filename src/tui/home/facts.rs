//! What is known of a recipe before it runs. It is found out by others, off the way of
//! drawing, and kept.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::recipe::plan::Plan;
use crate::report::series::ChartData;
use crate::run::estimate::{Estimate, Paces};
use crate::tui::chart::baseline::Baseline;
use crate::tui::recipes::Recipes;

/// What somebody else finds out.
#[derive(Clone, Debug, Default)]
pub enum Known<T> {
    /// Nobody was asked.
    #[default]
    Unknown,
    /// Somebody is at it.
    Asked,
    Is(T),
}

/// The newest stored run of a recipe.
#[derive(Clone, Debug)]
pub struct LastRun {
    pub folder: PathBuf,
    /// `YYYY-MM-DD HH:MM:SS` UTC.
    pub started: String,
    /// What the command line changed of the recipe.
    pub overrides: Vec<String>,
    /// Cases with a result, and all.
    pub done: (usize, usize),
    /// The chart of the first experiment.
    pub chart: ChartData,
    /// What lies under the chart of the next run.
    pub baseline: Arc<Baseline>,
}

/// The newest run of a recipe, if there is one.
pub type Last = Option<Arc<LastRun>>;

#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Whether there is somebody who finds things out.
    pub found_out: bool,
    /// How fast each backend copies, or why nobody can tell.
    pub paces: Known<Result<Paces, String>>,
    /// By the recipe's index.
    estimates: BTreeMap<usize, Estimate>,
    last: BTreeMap<usize, Known<Last>>,
}

impl Facts {
    /// What a recipe costs, once its plan and the paces are known.
    pub fn estimate(&self, recipe: usize) -> Option<&Estimate> {
        self.estimates.get(&recipe)
    }

    pub fn last(&self, recipe: usize) -> &Known<Last> {
        self.last.get(&recipe).unwrap_or(&Known::Unknown)
    }

    /// The results of the newest run, where they are known.
    pub fn baseline(&self, recipe: usize) -> Option<Arc<Baseline>> {
        match self.last(recipe) {
            Known::Is(last) => last.as_ref().map(|last| Arc::clone(&last.baseline)),
            Known::Unknown | Known::Asked => None,
        }
    }

    pub fn put_last(&mut self, recipe: usize, last: Known<Last>) {
        self.last.insert(recipe, last);
    }

    /// A recipe means this now.
    pub fn resolved(&mut self, recipe: usize, plan: &Plan) {
        if let Known::Is(Ok(paces)) = &self.paces {
            self.estimates.insert(recipe, Estimate::of(plan, paces));
        }
    }

    /// The backends are this fast.
    pub fn measured(&mut self, paces: Result<Paces, String>, recipes: &Recipes) {
        self.paces = Known::Is(paces);
        for index in 0..recipes.entries().len() {
            if let Some(Ok(plan)) = recipes.plan_of(index) {
                self.resolved(index, plan);
            }
        }
    }

    /// A recipe no longer means what it meant.
    pub fn forget(&mut self, recipe: usize) {
        self.estimates.remove(&recipe);
        self.last.remove(&recipe);
    }

    /// A recipe has been run again.
    pub fn ran(&mut self, recipe: usize) {
        self.last.remove(&recipe);
    }
}
