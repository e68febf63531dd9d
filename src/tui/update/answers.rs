//! Effects of answers about stored runs on the state.

use std::path::PathBuf;
use std::sync::Arc;

use crate::case::units::three_digits;
use crate::engine::protocol::Level;
use crate::recipe::plan::Plan;
use crate::report::replay::VERDICTS;
use crate::run::Ledger;
use crate::tui::chart::overlay::Baseline;
use crate::tui::commands::run::begin;
use crate::tui::commands::{Effect, pattern, runs};
use crate::tui::focus::Focus;
use crate::tui::runs::{Answer, Comparison, Job, Listing};
use crate::tui::session::{Mode, Phase, Session};
use crate::tui::state::{Leaving, Overlay, State};

/// Processes an answer. An answer that is no longer awaited has no effect.
pub fn take(state: &mut State, ticket: u64, answer: Answer) -> Option<Effect> {
    match answer {
        Answer::Found(entry) => state.runs.insert(entry.named_by(&state.recipes)),
        Answer::Listed { paths, more } => {
            state.runs.settle();
            state.runs.keep(&paths);
            state.runs.listing = Listing::Done { more };
        }
        Answer::Refused(reason) if ticket == 0 => {
            state.runs.listing = Listing::Done { more: 0 };
            state.notice = Some(reason);
        }
        Answer::Noted { path, note } => {
            state.runs.set_note(&path, note);
            state.runs.awaited(ticket);
        }
        awaited => {
            if state.runs.awaited(ticket) {
                state.notice = None;
                return show(state, awaited);
            }
        }
    }
    None
}

fn show(state: &mut State, answer: Answer) -> Option<Effect> {
    match answer {
        // Something may have been started since the request.
        Answer::Opened(opened) if !state.busy() => {
            begin(state, opened.session());
        }
        Answer::Playable { path, plan, times } if !state.busy() => {
            return Some(Effect::Play { path, plan, times });
        }
        Answer::Laid(baseline) => runs::choose(state, baseline),
        Answer::Compared(comparison) => {
            state.runs.comparison = Some(*comparison);
            state.focus = Focus::Comparison;
        }
        Answer::Judged(comparison) => judged(state, *comparison),
        Answer::Exported(exported) => {
            state.runs.exported = Some(*exported);
            state.overlay = Some(Overlay::Export { selected: 0 });
        }
        Answer::Pattern(pattern) => pattern::show(state, *pattern),
        Answer::Refused(reason) => state.notice = Some(reason),
        _ => {}
    }
    None
}

/// Marks the session as a stored run that is being played.
pub fn playing(state: &mut State, times: f64) {
    let Some(session) = &mut state.session else { return };
    session.mode = Mode::Watch;
    if times > 1.0 {
        let text = format!("played {} times as fast as it ran", three_digits(times));
        session.say(state.now, Level::Info, &text);
    }
}

/// Shows the replay, with the stored results under its charts.
pub fn replaying(
    state: &mut State,
    plan: Plan,
    folder: PathBuf,
    baseline: &Arc<Baseline>,
    remark: Option<&str>,
) {
    let now = state.now;
    begin(state, Session::new(None, Ledger::new(plan), folder, now));
    let Some(session) = &mut state.session else { return };
    // A replay has the cases of the run that it repeats.
    let _ = session.lay(baseline);
    session.view.baseline = Some(Arc::clone(baseline));
    session.replays = Some(baseline.folder.clone());
    session.say(now, Level::Info, &format!("replays {}", baseline.folder.display()));
    remark.into_iter().for_each(|remark| session.say(now, Level::Warn, remark));
}

/// A replay that is over is to be judged.
pub fn replayed(state: &mut State) -> Option<Effect> {
    let run = state.run_mut().filter(|run| matches!(run.phase, Phase::Over { .. }))?;
    let (stored, replayed) = (run.replays.take()?, run.folder.clone());
    if state.leaving != Leaving::No {
        return None;
    }
    state.notice = Some("judging the replay …".to_owned());
    Some(Effect::Request(state.runs.ticket(), Job::Judge { stored, replayed }))
}

/// Shows the judgement; who has turned to other things is only told.
fn judged(state: &mut State, comparison: Comparison) {
    let shows = state.focus.is_run();
    state.notice = Some(match shows {
        true => format!("the verdicts are in {VERDICTS} in the run's folder"),
        false => format!("the replay was judged: {}", comparison.judged.summary),
    });
    state.runs.comparison = Some(comparison);
    if shows {
        state.focus = Focus::Comparison;
    }
}
