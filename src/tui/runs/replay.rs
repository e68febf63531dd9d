//! Replays: the plan of a stored run is run again, with the stored results under its charts, and the new results are
//! judged against them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Awaited, Job, Sheet};
use crate::engine::protocol::Level;
use crate::recipe::plan::Plan;
use crate::report::replay::{self, VERDICTS};
use crate::run::Ledger;
use crate::run::stored::Stored;
use crate::tui::chart::baseline::Baseline;
use crate::tui::panel::Focus;
use crate::tui::session::{Phase, Session};
use crate::tui::state::{Leaving, Mode, State};
use crate::tui::update::{Effect, begin};

/// A stored run whose plan can be run again.
#[derive(Debug)]
pub struct Replayable {
    pub plan: Plan,
    /// The recipe's text.
    pub recipe: String,
    pub baseline: Arc<Baseline>,
    /// The cases that cannot be judged, if there are some.
    pub remark: Option<String>,
}

impl Replayable {
    /// Reads a run, as long as `wanted` returns true.
    ///
    /// # Errors
    /// If the folder cannot be read, or nothing can be judged against it.
    pub fn read(path: &Path, wanted: &dyn Fn() -> bool) -> anyhow::Result<Replayable> {
        let stored = Stored::open_while(path, wanted)?;
        Ok(Replayable {
            remark: replay::enough(&stored)?,
            recipe: replay::own_text(&stored).to_owned(),
            baseline: Arc::new(Baseline::new(path, &stored.ledger)),
            plan: stored.manifest.plan,
        })
    }
}

/// Whether a run is in view that can be replayed, and nothing else is in progress.
pub fn allows(state: &State) -> bool {
    let shown = state.focus.is_run() && state.session.as_ref().is_some_and(|run| run.calibrates.is_none());
    state.mode == Mode::Run && !state.busy() && !state.active() && (state.focus.is_runs() || shown)
}

/// Has the selected run read, or the one in view.
pub fn read(state: &mut State) -> Option<Effect> {
    let path = match state.focus.is_runs() {
        true => state.runs.selected()?.path.clone(),
        false => state.session.as_ref()?.folder.clone(),
    };
    state.notice = Some("reading the run …".to_owned());
    Some(Effect::Request(state.runs.ticket_for(Awaited::Reopening), Job::Replay(path)))
}

/// Shows the replay, with the stored results under its charts.
pub fn started(
    state: &mut State,
    plan: Plan,
    folder: PathBuf,
    baseline: &Arc<Baseline>,
    remark: Option<&str>,
) {
    let now = state.now;
    begin(state, Session::new(None, Ledger::new(plan), folder, now));
    let Some(session) = &mut state.session else { return };
    session.lay(baseline);
    session.view.baseline = Some(Arc::clone(baseline));
    session.replays = Some(baseline.folder.clone());
    session.say(now, Level::Info, &format!("replays {}", baseline.folder.display()));
    remark.into_iter().for_each(|remark| session.say(now, Level::Warn, remark));
}

/// A replay that is over is to be judged.
pub fn over(state: &mut State) -> Option<Effect> {
    let run = state.run_mut().filter(|run| matches!(run.phase, Phase::Over { .. }))?;
    let (stored, replayed) = (run.replays.take()?, run.folder.clone());
    if state.leaving != Leaving::No {
        return None;
    }
    state.notice = Some("judging the replay …".to_owned());
    Some(Effect::Request(state.runs.ticket(), Job::Judge { stored, replayed }))
}

/// Shows the judgement; who has turned to other things is only told.
pub fn judged(state: &mut State, sheet: Sheet) {
    let shows = state.focus.is_run();
    state.notice = Some(match shows {
        true => format!("the verdicts are in {VERDICTS} in the run's folder"),
        false => format!("the replay was judged: {}", sheet.judged.summary),
    });
    state.runs.sheet = Some(sheet);
    if shows {
        state.focus = Focus::Comparison;
    }
}
