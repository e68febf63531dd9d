//! Commands that belong to no panel, or to several: the ways between panels and out, and moves in lists.

use super::leave::quit;
use super::{Allowed, Effect, Hint, always, chart, in_session, only_if, recipes, runs, step_in};
use crate::tui::focus::Focus;
use crate::tui::session::Session;
use crate::tui::state::{Leaving, Overlay, State};

/// Rows of a page.
const PAGE: isize = 10;

rows! {
    DEVICES = ("devices", 0,
        "show or hide device clocks, power and load around the time of the newest rounds") {
        "devices" "D": |state| {
            only_if(state.focus.is_run() && state.session.is_some(), "the devices are shown beside a run")
        } => |state| state.devices_panel.wanted = Some(!state.devices_panel.shown)
    }
    TAB = ("next panel", 1, "go to the next or the previous panel", |state| {
        if state.panels().len() > 1 { Hint::Usual } else { Hint::Never }
    }) {
        "next-panel" "Tab": other_panel => |state| focus(state, 1),
        "previous-panel" "Shift-Tab": other_panel => |state| focus(state, -1)
    }
    BACK = ("back", 1, "go back, at last to the unfiltered recipes; an active run continues", |state| {
        let open = state.home.filter.shows() || state.overlay.is_some() || state.leaving == Leaving::Asked;
        if open || state.focus != Focus::Recipes { Hint::Usual } else { Hint::Never }
    }) {
        "back" "Esc": always => back
    }
    HELP = ("help", 1, "show this help; pressed again, explain the words of the panel") {
        "help" "?": always => |state| state.overlay = Some(Overlay::Help { scroll: None })
    }
    WORDS = ("words", 1, "explain the words of the panel, such as doubtful, cv or sector") {
        "words" "?": always => |state| state.overlay = Some(Overlay::Words { scroll: None })
    }
    CLOSE_HELP = ("close", 2, "close the help") {
        "close-help" "Esc q": always => |state| state.overlay = None
    }
    QUIT = ("quit", 1, "quit; while a run is active, it asks first: pressed again, it cancels the run and quits") {
        "quit" "q ctrl-c": always => quit
    }
    QUIT_WATCHING = ("quit", 1, "quit") {
        "quit" "q ctrl-c": always => quit
    }
    QUIT_OVERLAY = ("quit", 1, "quit") {
        "quit" "ctrl-c": always => quit
    }
    QUIT_FIELD = ("quit", 1, "quit; while a run is active, it asks first") {
        "quit" "ctrl-c": always => quit
    }
    SUSPEND = ("suspend", 0,
        "suspend this program until the shell's fg; the engine finishes its round, then waits") {
        "suspend" "ctrl-z": always => |_| Some(Effect::Suspend)
    }
    SUSPEND_FIELD = ("suspend", 0, "suspend this program until the shell's fg") {
        "suspend" "ctrl-z": always => |_| Some(Effect::Suspend)
    }
    MOVE = ("move", 2, "move down or up") {
        "down" "j Down": moves => |state| step(state, 1),
        "up" "k Up": moves => |state| step(state, -1)
    }
    MOVE_FIELD = ("move", 2, "move down or up") {
        "down" "Down": moves => |state| step(state, 1),
        "up" "Up": moves => |state| step(state, -1)
    }
    ENDS = ("ends", 0, "go to the first or the last") {
        "first" "g Home": moves => |state| step(state, isize::MIN),
        "last" "G End": moves => |state| step(state, isize::MAX)
    }
    PAGES = ("page", 0, "move by a page") {
        "page-up" "PgUp": moves => |state| step(state, -PAGE),
        "page-down" "PgDn": moves => |state| step(state, PAGE)
    }
    PANELS = ("chart panel", 2, "go to the previous or next chart panel") {
        "previous-chart" "[": several_charts => |state| in_session(state, |session| session.step_panel(-1)),
        "next-chart" "]": several_charts => |state| in_session(state, |session| session.step_panel(1))
    }
    EXPERIMENTS = ("experiment", 2, "go to the previous or next experiment of the recipe") {
        "previous-experiment" "{": several_experiments
            => |state| in_session(state, |session| session.step_experiment(-1)),
        "next-experiment" "}": several_experiments
            => |state| in_session(state, |session| session.step_experiment(1))
    }
    FOLLOW = ("follow", 1, "let the selection follow the running case again") {
        "follow" "f": |state| match state.active() {
            _ if state.session.as_ref().is_some_and(|s| s.active() && !s.follow) => Ok(()),
            true => Err("the selection already follows the running case".into()),
            false => Err("no case is being measured".into()),
        } => |state| in_session(state, Session::follow)
    }
}

fn several_charts(state: &State) -> Allowed {
    let several = state.session.as_ref().is_some_and(|session| session.chart().panels.len() > 1);
    only_if(several, "the chart has only one panel")
}

fn several_experiments(state: &State) -> Allowed {
    let several = state.session.as_ref().is_some_and(|s| s.ledger.plan().experiments.len() > 1);
    only_if(several, "the recipe has only one experiment")
}

fn other_panel(state: &State) -> Allowed {
    only_if(state.panels().iter().any(|panel| *panel != state.focus), "there is no other panel")
}

fn focus(state: &mut State, by: isize) {
    state.focus = state.focus.neighbour(by, &state.panels());
}

/// Closes whatever was opened last.
fn back(state: &mut State) -> Option<Effect> {
    if state.overlay.take().is_some() || chart::leave(state) || state.home.preparing.take().is_some() {
        return None;
    }
    let before = state.focus;
    // An answer must not bring back a user who has moved on.
    state.runs.give_up();
    let stored = state.runs.there
        && state.session.as_ref().is_some_and(|s| s.recipe.is_none() && s.calibrates.is_none());
    state.focus = match state.focus {
        Focus::Details | Focus::Comparison => Focus::Runs,
        Focus::Pattern => state.pattern.as_ref().map_or(Focus::Recipes, |view| view.back),
        Focus::Live => Focus::Cases,
        Focus::WhatIf => state.whatif.take().map_or(Focus::Recipes, |view| view.back),
        Focus::Runs if !state.runs.search().is_empty() => {
            state.runs.set_search("");
            Focus::Runs
        }
        Focus::Cases | Focus::Chart | Focus::Samples | Focus::Log if stored => Focus::Runs,
        Focus::Recipes => {
            recipes::clear_filter(state);
            Focus::Recipes
        }
        Focus::Cases | Focus::Chart | Focus::Samples | Focus::Log => Focus::Recipes,
        Focus::Runs | Focus::Editor | Focus::Queue => Focus::Recipes,
    };
    // The list may be outdated after a run was resumed.
    let stale = before.is_run() && state.focus == Focus::Runs && !state.measuring();
    if stale { runs::list(state) } else { None }
}

fn moves(state: &State) -> Allowed {
    let still = state.pattern.as_ref().is_some_and(|view| !view.scrolls());
    let moves = state.focus != Focus::Pattern || state.overlay.is_some() || !still;
    only_if(moves, "the matrix is shown whole")
}

/// Moves in whatever has the focus; extreme values go to the ends.
pub fn step(state: &mut State, by: isize) {
    match &mut state.overlay {
        Some(Overlay::Help { scroll } | Overlay::Words { scroll }) => {
            *scroll = Some(scroll.unwrap_or(0).saturating_add_signed(by))
        }
        Some(Overlay::Export { selected }) => *selected = selected.saturating_add_signed(by).min(2),
        None => step_in(state, state.focus, by),
    }
}
