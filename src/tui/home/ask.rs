//! What a person can ask for before a run.

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
    /// Open the form of the recipe.
    Edit,
    /// Type the value of the form's line.
    Change,
    /// Run the recipe as it is changed.
    Run,
    /// Let the recipe wait for its turn.
    Enqueue,
    /// Take the selected run out of the queue.
    Remove,
    /// Save the recipe as a file.
    SaveAs,
    /// Take back what was changed of the form's line.
    Undo,
    /// Take back everything that was changed of the recipe.
    UndoAll,
    /// In a text field: take what was typed.
    Accept,
    /// In a text field: throw it away.
    Abandon,
}

impl Ask {
    /// Its name in the configuration.
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

/// Whether it would do something now.
pub fn allows(state: &State, ask: Ask) -> bool {
    let whole = matches!(state.recipes.plan(), Some(Ok(_)));
    let edited = state.recipes.selected().is_some_and(|index| state.home.edits.any(index));
    match ask {
        Ask::Accept | Ask::Abandon => Entering::now(state).is_some(),
        _ if state.mode != Mode::Run => false,
        Ask::Filter => state.recipes.entries().len() > 1,
        // A change may be what is wrong.
        Ask::Edit => whole || edited,
        Ask::Change => state.home.editor.line().is_some(),
        Ask::Run | Ask::Enqueue | Ask::SaveAs => whole,
        Ask::Remove => !state.home.queue.is_empty(),
        Ask::Undo | Ask::UndoAll => edited,
    }
}

/// Does it, or says in a notice why not.
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

/// What waits behind a dead engine's run must not wait for somebody to come back: the run
/// goes on as it would without a terminal.
fn enqueue(state: &mut State) -> Option<Effect> {
    queue::add(state);
    let dead = state.run().is_some_and(|run| matches!(run.phase, Phase::Dead { .. }));
    if dead { revive(state) } else { None }
}
