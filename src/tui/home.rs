//! The home screen before a run: the filter of the list, changes to a recipe, the queue, and facts about a
//! recipe. Whatever needs the outside world is requested as an [`Errand`].

pub mod background_lookups;
pub mod editor;
pub mod facts;
pub mod jobs;
pub mod queue;
pub mod save;

pub use background_lookups::{BackgroundResult, Errand};
pub use editor::Edits;

use super::recipes::Filter;
use editor::Editor;
use facts::Facts;
use queue::Queue;
use save::Saving;

/// Everything about recipes other than a run.
#[derive(Clone, Debug, Default)]
pub struct Home {
    pub filter: Filter,
    pub edits: Edits,
    pub editor: Editor,
    /// The dialog for the file name under which a recipe is saved.
    pub saving: Option<Saving>,
    pub queue: Queue,
    pub facts: Facts,
    /// The run whose cases are being resolved before it starts.
    pub preparing: Option<String>,
}

impl Home {
    /// Closes every text field: the filter keeps its text, a value or a file name is dropped.
    pub fn stop_typing(&mut self) {
        self.filter.typing = false;
        self.editor.close();
        self.saving = None;
    }
}
