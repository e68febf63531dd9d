//! Actions that the user triggers with a key.

use super::Effect;
use super::leave::quit;
use crate::tui::chart::Request;
use crate::tui::command::Action;
use crate::tui::panel::Focus;
use crate::tui::session::Phase;
use crate::tui::state::{Leaving, Mode, Overlay, State};
use crate::tui::{calibration, controls, home, live, pattern, refusal, runs, whatif};

/// Rows of a page.
const PAGE: isize = 10;

pub(super) fn act(state: &mut State, action: Action) -> Option<Effect> {
    let asked = state.leaving == Leaving::Asked;
    let confirmed = state.asked == Some(action);
    match action {
        Action::Quit => return quit(state),
        Action::Back if asked => dismiss(state),
        _ => {
            dismiss(state);
            if let Some(question) = question(state, action).filter(|_| !confirmed) {
                state.asked = Some(action);
                state.notice = Some(question);
                return None;
            }
            let refused = if state.allows(action) { None } else { refusal::why(state, action) };
            let effect = apply(state, action);
            state.notice = state.notice.take().or(refused.filter(|_| effect.is_none()));
            return effect;
        }
    }
    None
}

/// What is asked before an action that cannot be taken back.
fn question(state: &State, action: Action) -> Option<String> {
    let key = state.keymap.name(action);
    let works = state.measuring() && state.run().is_some_and(|run| run.phase == Phase::Running);
    match action {
        _ if !state.allows(action) => None,
        Action::Control(controls::Request::Cancel) if works => Some(format!(
            "Cancel the run? {key} again: cancel it; finished results stay. Any other key: go on."
        )),
        Action::Control(controls::Request::CancelAll) if works || !state.home.queue.is_empty() => {
            Some(format!("Cancel the run and all that waits? {key} again: cancel. Any other key: go on."))
        }
        Action::Calibrate => calibration::question(state, &key),
        _ => None,
    }
}

/// Withdraws the notice, and the questions whether to quit or to cancel.
pub(super) fn dismiss(state: &mut State) {
    state.notice = None;
    state.asked = None;
    if state.leaving == Leaving::Asked {
        state.leaving = Leaving::No;
    }
}

fn apply(state: &mut State, action: Action) -> Option<Effect> {
    match action {
        Action::Help => toggle_help(state),
        Action::CloseHelp => state.overlay = None,
        Action::Suspend => return Some(Effect::Suspend),
        Action::Back => return back(state),
        Action::Devices if state.allows(action) => {
            state.devices_panel.wanted = Some(!state.devices_panel.shown);
        }
        Action::FocusNext => state.focus = state.focus.neighbour(1, &state.panels()),
        Action::FocusPrevious => state.focus = state.focus.neighbour(-1, &state.panels()),
        Action::Home(ask) => return home::apply(state, ask),
        Action::Start => return start(state),
        Action::Control(ask) => return controls::apply(state, ask),
        Action::Up => step(state, -1),
        Action::Down => step(state, 1),
        Action::PageUp => step(state, -PAGE),
        Action::PageDown => step(state, PAGE),
        Action::First => step(state, isize::MIN),
        Action::Last => step(state, isize::MAX),
        Action::Chart(ask) => look(state, ask),
        Action::Runs(ask) => return runs::apply(state, ask),
        Action::Pattern(look) => return pattern::apply(state, look),
        Action::WhatIf(ask) => return whatif::apply(state, ask),
        Action::Live(ask) => return live::apply(state, ask),
        Action::Calibrate => return calibration::start(state),
        _ => in_session(state, action),
    }
    None
}

fn in_session(state: &mut State, action: Action) {
    let Some(session) = &mut state.session else { return };
    match action {
        Action::PreviousPanel => session.step_panel(-1),
        Action::NextPanel => session.step_panel(1),
        Action::PreviousExperiment => session.step_experiment(-1),
        Action::NextExperiment => session.step_experiment(1),
        Action::Follow => session.follow(),
        Action::Fold if session.may_fold() => session.fold(),
        _ => {}
    }
}

fn toggle_help(state: &mut State) {
    state.overlay = match state.overlay {
        None => Some(Overlay::Help { scroll: None }),
        Some(_) => None,
    };
}

/// Closes whatever was opened last.
fn back(state: &mut State) -> Option<Effect> {
    if state.overlay.take().is_some() || leave_chart(state) || state.home.preparing.take().is_some() {
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
        focus if focus.is_run() && stored => Focus::Runs,
        Focus::Recipes => {
            home::entering::clear_filter(state);
            Focus::Recipes
        }
        _ => Focus::Recipes,
    };
    // The list may be outdated after a run was resumed.
    let stale = before.is_run() && state.focus == Focus::Runs && !state.measuring();
    if stale { runs::list(state) } else { None }
}

/// Removes the cursor or leaves full screen, if the chart has the focus and either is active.
fn leave_chart(state: &mut State) -> bool {
    let Some(session) = state.session.as_mut().filter(|_| state.focus == Focus::Chart) else { return false };
    let ask = match &session.view {
        view if view.cursor => Request::Cursor,
        view if view.full => Request::Full,
        _ => return false,
    };
    session.ask(ask);
    true
}

/// Changes the view of the chart, and nothing else.
fn look(state: &mut State, ask: Request) {
    let Some(session) = state.session.as_mut().filter(|_| !state.focus.has_own_screen()) else { return };
    let elsewhere = state.focus != Focus::Chart;
    state.focus = Focus::Chart;
    let there = match ask {
        Request::Cursor => session.view.cursor,
        Request::Full => session.view.full,
        _ => false,
    };
    // From another panel, a cursor or full screen that is already active is only focused, not switched off.
    if !(elsewhere && there) {
        state.notice = session.ask(ask);
    }
}

/// Moves in whatever has the focus; extreme values go to the ends.
pub(super) fn step(state: &mut State, by: isize) {
    match &mut state.overlay {
        Some(Overlay::Help { scroll }) => *scroll = Some(scroll.unwrap_or(0).saturating_add_signed(by)),
        Some(Overlay::Export { selected }) => *selected = selected.saturating_add_signed(by).min(2),
        None => step_in(state, state.focus, by),
    }
}

pub(super) fn step_in(state: &mut State, panel: Focus, by: isize) {
    match panel {
        Focus::Recipes => return state.recipes.step(by),
        Focus::Editor => return state.home.editor.step(by),
        Focus::Queue => return state.home.queue.step(by),
        Focus::Runs => return state.runs.step(by),
        Focus::Details => {
            state.runs.details_scroll = state.runs.details_scroll.saturating_add_signed(by);
            return;
        }
        Focus::Comparison => return state.runs.sheet.iter_mut().for_each(|sheet| sheet.step(by)),
        Focus::Pattern => return state.pattern.iter_mut().for_each(|view| view.step(by)),
        Focus::WhatIf => return state.whatif.iter_mut().for_each(|view| view.step(by)),
        _ => {}
    }
    let Some(session) = &mut state.session else { return };
    match panel {
        Focus::Log if by == isize::MIN => session.log.first(),
        Focus::Log if by == isize::MAX => session.log.last(),
        Focus::Log => session.log.scroll(by.saturating_neg()),
        Focus::Samples => session.scroll_samples(by),
        Focus::Chart if session.view.cursor && matches!(by, -1 | 1) => session.move_cursor(by, 0),
        Focus::Chart if session.view.cursor => session.move_cursor(0, by),
        _ => session.step(by),
    }
}

/// Whether the active run is a run of the selected recipe with its current changes.
pub fn shows_run(state: &State) -> bool {
    let (Some(selected), Some(run)) = (state.recipes.selected(), state.run().filter(|run| run.active()))
    else {
        return false;
    };
    let same = run.ledger.plan().overrides == state.home.edits.of(selected).words();
    run.recipe == Some(selected) && (same || state.mode == Mode::Watch)
}

/// Starts the selected recipe, or queues it behind the active run. If the recipe is the one running, shows that
/// run.
pub fn start(state: &mut State) -> Option<Effect> {
    let selected = state.recipes.selected()?;
    if shows_run(state) {
        state.focus = Focus::Cases;
        return None;
    }
    if state.active() || state.busy() {
        return home::apply(state, home::Request::Enqueue);
    }
    if let Some(Err(_)) = state.recipes.plan() {
        state.notice = Some("this recipe has a mistake and cannot be started".to_owned());
        return None;
    }
    Some(Effect::Start(selected))
}
