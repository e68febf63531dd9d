//! Requests of the user before a run.

use super::entering::{abandon, accept};
use super::{Entering, editor, queue, save};
use crate::tui::controls::revive;
use crate::tui::panel::Focus;
use crate::tui::session::Phase;
use crate::tui::state::{Mode, State};
use crate::tui::update::{Effect, start};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Type a filter.
    Filter,
    /// Open the recipe's form.
    Edit,
    /// Type the value of the form's line.
    Change,
    /// Run the recipe with its changes.
    Run,
    /// Add the recipe to the queue.
    Enqueue,
    /// Remove the selected run from the queue.
    Remove,
    /// Save the recipe as a file.
    SaveAs,
    /// Undo the change of the form's line.
    Undo,
    /// Undo all changes of the recipe.
    UndoAll,
    /// Accept the text of a text field.
    Accept,
    /// Discard the text of a text field.
    Abandon,
}

impl Ask {
    /// Name in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            Ask::Filter => "filter",
            Ask::Edit => "edit",
            Ask::Change => "change",
            Ask::Run => "run-edited",
            Ask::Enqueue => "queue",
            Ask::Remove => "remove",
            Ask::SaveAs => "save-as",
            Ask::Undo => "undo",
            Ask::UndoAll => "undo-all",
            Ask::Accept => "accept",
            Ask::Abandon => "abandon",
        }
    }
}

/// Whether the request is possible now.
pub fn allows(state: &State, ask: Ask) -> bool {
    let whole = matches!(state.recipes.plan(), Some(Ok(_)));
    let edited = state.recipes.selected().is_some_and(|index| state.home.edits.any(index));
    match ask {
        Ask::Accept | Ask::Abandon => Entering::now(state).is_some(),
        _ if state.mode != Mode::Run => false,
        Ask::Filter => state.recipes.entries().len() > 1,
        // The mistake may be in a change, so an edited recipe stays editable.
        Ask::Edit => whole || edited,
        Ask::Change => state.home.editor.line().is_some(),
        Ask::Run | Ask::Enqueue | Ask::SaveAs => whole,
        Ask::Remove => !state.home.queue.is_empty(),
        Ask::Undo | Ask::UndoAll => edited,
    }
}

/// Carries out a request, or explains in a notice why it cannot.
pub fn apply(state: &mut State, ask: Ask) -> Option<Effect> {
    if state.mode != Mode::Run {
        return None;
    }
    match ask {
        Ask::Filter => {
            state.focus = Focus::Recipes;
            state.home.filter.typing = true;
        }
        Ask::Edit => editor::open(state),
        Ask::Change => editor::change(state),
        Ask::Run => return start(state),
        Ask::Enqueue => return enqueue(state),
        Ask::Remove => queue::remove(state),
        Ask::SaveAs => save::ask(state),
        Ask::Undo => editor::undo(state),
        Ask::UndoAll => editor::undo_all(state),
        Ask::Accept => return accept(state),
        Ask::Abandon => abandon(state),
    }
    None
}

/// Queues the recipe. If the engine of the current run is dead, continues that run as it would without a
/// terminal: the queue must not wait for the user to come back.
fn enqueue(state: &mut State) -> Option<Effect> {
    queue::add(state);
    let dead = state.run().is_some_and(|run| matches!(run.phase, Phase::Dead { .. }));
    if dead { revive(state) } else { None }
}
