//! Before a run: the filter of the list, changes to a recipe, what waits to be run, and
//! what is known of a recipe before it runs. The state is changed here; what needs the
//! world is asked for as an [`Errand`].

mod ask;
pub mod background_lookups;
pub mod editor;
mod edits;
pub mod entering;
pub mod facts;
pub mod filter;
mod news;
pub mod queue;
pub mod save;

pub use ask::{Ask, allows, apply};
pub use edits::Edits;
pub use entering::{Entering, typed};
pub use news::{Errand, News, not_started, resolved, take, wanted};

use editor::Editor;
use facts::Facts;
use filter::Filter;
use queue::Queue;
use save::Saving;

/// Everything about recipes that is not a run.
#[derive(Clone, Debug, Default)]
pub struct Home {
    pub filter: Filter,
    pub edits: Edits,
    pub editor: Editor,
    /// The question under which name a recipe is to be saved.
    pub saving: Option<Saving>,
    pub queue: Queue,
    pub facts: Facts,
}

impl Home {
    /// Ends whatever is being typed: the filter stays, a value and a file's name go.
    pub fn stop_typing(&mut self) {
        self.filter.typing = false;
        self.editor.close();
        self.saving = None;
    }
}
