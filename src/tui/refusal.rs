//! Explains in a few words why a key has no effect.

use ratatui::crossterm::event::KeyEvent;

use super::calibration;
use super::command::{Action, Command};
use super::controls::Request as Control;
use super::home;
use super::live::{self, Request as Live};
use super::panel::Focus;
use super::pattern::Look;
use super::runs;
use super::session::{Phase, Session};
use super::state::{Mode, State};
use super::whatif::Request as WhatIf;
use crate::run::{SKIPPED, Status};

/// The reason why a command is not possible now; `None` if no explanation is needed.
pub fn why(state: &State, action: Action) -> Option<String> {
    let run = state.run().filter(|run| run.active());
    let text = match action {
        Action::Control(ask) => return control(state, ask),
        Action::Follow if run.is_none() => "no case is being measured",
        Action::Follow => "the selection follows the running case already",
        Action::Fold => "all cases can run here",
        Action::Calibrate => return Some(calibration::why_not(state)),
        Action::PreviousPanel | Action::NextPanel => "the chart has one panel only",
        Action::PreviousExperiment | Action::NextExperiment => "the recipe has one experiment only",
        Action::FocusNext | Action::FocusPrevious => "there is no other panel",
        Action::Devices => "the devices are shown beside a run",
        Action::Chart(_) => chart(state),
        Action::Home(ask) => home(ask),
        Action::Live(Live::Show) => "there is no run, or nothing of it can be shown",
        Action::Live(_) => return live::why_no_stone(state).map(str::to_owned),
        Action::WhatIf(WhatIf::Open) => "no known profile covers these backends",
        Action::WhatIf(WhatIf::Previous | WhatIf::Next) => "no other profile is known",
        Action::WhatIf(WhatIf::Undo | WhatIf::UndoAll) => "nothing is changed",
        Action::WhatIf(WhatIf::PreviousChart | WhatIf::NextChart) => "the chart has one panel only",
        Action::WhatIf(WhatIf::PreviousExperiment | WhatIf::NextExperiment) => {
            "the recipe has one experiment only"
        }
        Action::WhatIf(_) => "a stored run is read-only",
        Action::Up | Action::Down | Action::PageUp | Action::PageDown | Action::First | Action::Last => {
            "the matrix is shown whole"
        }
        Action::Pattern(Look::Left | Look::Right) => "the matrix is shown whole",
        Action::Pattern(Look::Length | Look::Sectors) => "a matrix is not drawn by lines",
        Action::Pattern(Look::Show) => "there are no indices and no sparse matrix to show",
        Action::Pattern(Look::Side) => "this case has one side only",
        Action::Pattern(Look::Previous | Look::Next) => "no other case has indices or a sparse matrix",
        _ => return None,
    };
    Some(text.to_owned())
}

fn control(state: &State, ask: Control) -> Option<String> {
    let text = match ask {
        Control::Skip | Control::Again => return of_case(state, ask),
        Control::Resume => resume(state),
        _ if !state.active() => "no run is active",
        Control::Cancel | Control::CancelAll => "the run is being cancelled already",
        Control::Pause => "the engine does not work now",
        Control::Freeze => "look at the run to freeze it",
    };
    Some(text.to_owned())
}

const PLAYED: &str = "a run that is played back is read-only";

fn resume(state: &State) -> &'static str {
    match state.run() {
        _ if state.busy() => "a run is active",
        _ if state.runs.awaits(runs::Awaited::Reopening) => "the run is being read already",
        _ if state.focus.is_runs() => match state.runs.selected().map(|entry| entry.summary()) {
            Some(Some(_)) => "this run is complete: nothing is left to measure",
            Some(None) => "this folder cannot be read as a run",
            None => "no run is selected",
        },
        Some(run) if state.focus.is_run() && run.mode == Mode::Watch => PLAYED,
        Some(_) if state.focus.is_run() => "this run is complete: nothing is left to measure",
        _ => "no incomplete run is on screen",
    }
}

/// The reason why the selected case cannot be skipped or measured again.
fn of_case(state: &State, ask: Control) -> Option<String> {
    let shown = state.session.as_ref()?;
    let record = shown.ledger.records().get(shown.selected)?;
    Some(match (&record.status, ask) {
        (Status::NotApplicable(reason), _) if reason != SKIPPED => format!("this case is n/a: {reason}"),
        _ if shown.mode == Mode::Stored => "a stored run is read-only".to_owned(),
        _ if shown.mode == Mode::Watch => PLAYED.to_owned(),
        _ if ask == Control::Skip && !shown.active() => "the run is over".to_owned(),
        (Status::Done, _) => "this case is done: it has no rounds to come".to_owned(),
        (Status::NotApplicable(_), _) => "this case is skipped already".to_owned(),
        (Status::Failed(_), Control::Skip) => "this case failed: it has no rounds to come".to_owned(),
        (Status::Failed(_), _) => "a wrong result stays wrong, whatever a repetition gives".to_owned(),
        (Status::Pending | Status::Partial, _) => pending(shown).to_owned(),
    })
}

fn pending(shown: &Session) -> &'static str {
    match shown.phase {
        Phase::Over { .. } | Phase::Broken(_) => "this case is not measured yet: resume the run",
        _ => "this case still has rounds to come",
    }
}

/// For other requests the chart itself gives the reason.
fn chart(state: &State) -> &'static str {
    if state.session.is_none() { "there is no chart here" } else { "the whole chart is shown" }
}

fn home(ask: home::Request) -> &'static str {
    match ask {
        home::Request::Undo | home::Request::UndoAll => "nothing is changed",
        home::Request::Filter => "there is one recipe only",
        home::Request::Remove => "nothing waits",
        _ => "this recipe has a mistake",
    }
}

/// For a key without a meaning in this panel: the panels in which it has one.
pub fn elsewhere(state: &State, key: KeyEvent) -> Option<String> {
    if state.overlay.is_some() {
        return None;
    }
    let own =
        |command: &Command| state.keymap.bindings(command).into_iter().find(|(own, _)| own.matches(key));
    let named = |focus: &Focus| {
        let found = focus.commands().iter().find_map(|command| Some((command.name, own(command)?.0)));
        found.map(|(name, key)| (key.name(), format!("{} ({name})", focus.title())))
    };
    let panels: Vec<(String, String)> = Focus::ALL.iter().filter_map(named).collect();
    let (key, _) = panels.first()?;
    let panels: Vec<&str> = panels.iter().map(|(_, panel)| panel.as_str()).collect();
    Some(format!("{key} does nothing here; it is a key of {}", panels.join(", ")))
}
