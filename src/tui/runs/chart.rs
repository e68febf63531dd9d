//! A stored run that the user laid under the charts.

use std::sync::Arc;

use super::Runs;
use crate::tui::chart::baseline::Baseline;
use crate::tui::session::Session;
use crate::tui::state::State;
use crate::tui::words::number_of;

/// Whether the selected run is already under the charts; choosing it again removes it.
pub(super) fn is_laid(runs: &Runs) -> bool {
    let laid = runs.laid.as_ref().map(|baseline| &baseline.folder);
    laid.is_some_and(|folder| runs.selected().is_some_and(|entry| entry.path == *folder))
}

/// Lays this run under the current chart and the charts of later runs.
pub(super) fn choose(state: &mut State, baseline: Arc<Baseline>) {
    let name = baseline.name();
    state.runs.laid = Some(baseline);
    state.notice = Some(match &mut state.session {
        None => format!("baseline: {name}, under the chart of the next run"),
        Some(session) => lay_chosen(&state.runs, session)
            .unwrap_or_else(|| format!("baseline: {name}, under other runs; it is the one that is shown")),
    });
}

/// Removes the chosen run from under the charts.
pub(super) fn withdraw(state: &mut State) {
    let laid = state.runs.laid.take();
    let lies = |session: &&mut Session| {
        let own = session.view.baseline.as_ref().map(|baseline| &baseline.folder);
        own.is_some_and(|folder| laid.as_ref().is_some_and(|laid| laid.folder == *folder))
    };
    if let Some(session) = state.session.as_mut().filter(lies) {
        session.clear_baseline();
        session.view.baseline = None;
    }
    state.notice = Some("baseline removed from the chart".to_owned());
}

/// Lays the chosen run under a session, and returns a message with the number of matching cases. If no case
/// matches, restores the previous overlay.
pub fn lay_chosen(runs: &Runs, session: &mut Session) -> Option<String> {
    let baseline = runs.laid.as_ref().filter(|baseline| baseline.folder != session.folder)?;
    let (before, name) = (session.view.overlay().cloned(), baseline.name());
    let matched = session.lay(baseline);
    if matched == 0 {
        session.view.set_overlay(before);
        return Some(format!("{name} has none of these cases"));
    }
    session.view.baseline = Some(Arc::clone(baseline));
    Some(format!("baseline: {name}, {} in common", number_of(matched, "case")))
}
