//! Results of background work for the home screen, and requests for more of it.

use std::sync::Arc;

use super::facts::{Known, Last};
use super::save::NotSaved;
use crate::recipe::plan::Plan;
use crate::run::estimate::{Estimate, Paces};
use crate::tui::recipes::RecipeEntry;

/// A request that needs the outside world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Errand {
    /// Take the first run out of the queue.
    Next,
    /// Start the run that was taken out of the queue.
    Begin,
    /// Resolve the recipe at this index.
    Resolve(usize),
    /// Add up the cost of the recipe at this index.
    Estimate(usize),
    /// Save the recipe under the given name.
    Save,
    /// Measure how fast the backends copy.
    Paces,
    /// Find the newest run of the recipe at this index.
    Last(usize),
}

/// The result of an [`Errand`].
#[derive(Debug)]
pub enum BackgroundResult {
    /// The first run of the queue is about to start.
    Next,
    /// The lookup was requested.
    Asked(Errand),
    /// The backends' copy bandwidths; `None` if the measurement was stopped.
    Paces(Option<Result<Paces, String>>),
    /// The newest run of the recipe at this index; unknown if the search was stopped.
    Last(usize, Known<Last>),
    /// The plan of the recipe at this index.
    Resolved(usize, Result<Arc<Plan>, String>),
    /// The cost of the recipe at this index.
    Estimated(usize, Estimate),
    /// The recipe was saved, or why not.
    Saved(Result<RecipeEntry, NotSaved>),
}
