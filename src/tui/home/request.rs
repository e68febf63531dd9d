//! Requests of the user before a run.

use super::entering::{abandon, accept};
use super::{Entering, editor, queue, save};
use crate::tui::controls::revive;
use crate::tui::panel::Focus;
use crate::tui::session::Phase;
use crate::tui::state::{Mode, State};
use crate::tui::update::{Effect, start};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
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

impl Request {
    /// Name in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            Request::Filter => "filter",
            Request::Edit => "edit",
            Request::Change => "change",
            Request::Run => "run-edited",
            Request::Enqueue => "queue",
            Request::Remove => "remove",
            Request::SaveAs => "save-as",
            Request::Undo => "undo",
            Request::UndoAll => "undo-all",
            Request::Accept => "accept",
            Request::Abandon => "abandon",
        }
    }
}

/// Whether the request is possible now.
pub fn allows(state: &State, ask: Request) -> bool {
    let whole = matches!(state.recipes.plan(), Some(Ok(_)));
    let edited = state.recipes.selected().is_some_and(|index| state.home.edits.any(index));
    match ask {
        Request::Accept | Request::Abandon => Entering::now(state).is_some(),
        _ if state.mode != Mode::Run => false,
        Request::Filter => state.recipes.entries().len() > 1,
        // The mistake may be in a change, so an edited recipe stays editable.
        Request::Edit => whole || edited,
        Request::Change => state.home.editor.line().is_some(),
        Request::Run | Request::Enqueue | Request::SaveAs => whole,
        Request::Remove => !state.home.queue.is_empty(),
        Request::Undo | Request::UndoAll => edited,
    }
}

/// Carries out a request, or explains in a notice why it cannot.
pub fn apply(state: &mut State, ask: Request) -> Option<Effect> {
    if state.mode != Mode::Run {
        return None;
    }
    match ask {
        Request::Filter => {
            state.focus = Focus::Recipes;
            state.home.filter.typing = true;
        }
        Request::Edit => editor::open(state),
        Request::Change => editor::change(state),
        Request::Run => return start(state),
        Request::Enqueue => return enqueue(state),
        Request::Remove => queue::remove(state),
        Request::SaveAs => save::ask(state),
        Request::Undo => editor::undo(state),
        Request::UndoAll => editor::undo_all(state),
        Request::Accept => return accept(state),
        Request::Abandon => abandon(state),
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
