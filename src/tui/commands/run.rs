//! Commands about the run in view: it is cancelled, paused, frozen, resumed, or one of its cases is measured further.

use std::path::PathBuf;

use super::{Allowed, Effect, Hint, in_session, only_if, recipes, runs};
use crate::run::runner::Control;
use crate::run::{Ledger, SKIPPED, Status};
use crate::tui::focus::Focus;
use crate::tui::runs::{Awaited, Job, Unfinished};
use crate::tui::session::{Mode, Phase, Session};
use crate::tui::state::State;

rows! {
    RESUME = ("resume", 1,
        "continue in a fresh engine after a crash (the lost case counts as failed), or resume a run that was \
         cut short", |_| Hint::First("resume")) {
        "resume" "r": may_resume => |state| match cut_short(state) {
            Some(run) => Some(reopen(state, run)),
            None => revive(state),
        }
    }
    CANCEL = ("cancel", 1,
        "cancel the run at the next sample, or end it if the engine has died; finished results are kept") {
        "cancel" "x": may_cancel, ask_to_cancel => cancel
    }
    CANCEL_ALL = ("cancel all", 0, "cancel the run and everything that is queued behind it") {
        "cancel-all" "X": |state| if state.home.queue.is_empty() { may_cancel(state) } else { Ok(()) },
            |state, key| (works(state) || !state.home.queue.is_empty()).then(|| {
                format!("Cancel the run and the queue? Press {key} again to cancel them. Any other key keeps them.")
            })
            => |state| {
                recipes::clear_queue(state);
                cancel(state)
            }
    }
    PAUSE = ("pause", 1,
        "pause the run at the next sample, or continue it; the round starts over with its warm-up", held) {
        "pause" "Space": may_pause => pause
    }
    PAUSE_WATCHING = ("pause", 1, "pause or continue the stored run", held) {
        "pause" "Space": may_pause => pause
    }
    END_WATCHING = ("end", 1, "stop watching; the stored run stays as it is") {
        "cancel" "x": may_cancel, ask_to_cancel => cancel
    }
    FREEZE = ("freeze", 1, "freeze the screen while results arrive, or unfreeze it",
        |state| if state.live.is_some() { Hint::First("unfreeze") } else { Hint::Usual }) {
        "freeze" "F": may_freeze => |state| state.freeze()
    }
    SKIP = ("skip", 1, "measure no further rounds of the selected case; resuming the run measures them") {
        "skip" "s": |state| case_of_work(state, Ledger::may_skip).ok_or_else(|| not_this_case(state, true).into())
            => |state| about(state, "skipped", Control::Skip)
    }
    AGAIN = ("again", 1,
        "retry the selected case after a failure or a skip, or measure further rounds; all rounds count",
        |state| if state.active() { Hint::Usual } else { Hint::Never }) {
        "again" "R": |state| match repeatable(state) {
            Some(_) => Ok(()),
            None => case_of_work(state, Ledger::may_repeat).ok_or_else(|| not_this_case(state, false).into()),
        } => |state| match repeatable(state).filter(|_| !state.active()) {
            Some(run) => Some(reopen(state, run)),
            None => about(state, "measured again", Control::Again),
        }
    }
    FOLD = ("n/a", 1, "list the cases that cannot run here one by one, or in a single row") {
        "fold" "n": |state| {
            only_if(state.session.as_ref().is_some_and(Session::may_fold), "all cases can run here")
        } => |state| in_session(state, Session::fold)
    }
}

/// A key that stops or changes a run does nothing without one.
fn active(state: &State) -> Allowed {
    only_if(state.active(), "no run is active")
}

fn may_cancel(state: &State) -> Allowed {
    active(state)?;
    let cancels = state.run().is_some_and(|run| run.phase == Phase::Cancelling);
    only_if(!cancels, "the run is already being cancelled")
}

/// Whether cancelling would lose something.
fn works(state: &State) -> bool {
    state.measuring() && state.run().is_some_and(|run| run.phase == Phase::Running)
}

fn ask_to_cancel(state: &State, key: &str) -> Option<String> {
    works(state).then(|| {
        format!("Cancel the run? Press {key} again to cancel it; finished results stay. Any other key keeps it running.")
    })
}

/// Cancels the run.
pub fn cancel(state: &mut State) -> Option<Effect> {
    let run = state.run_mut().filter(|run| run.active() && run.phase != Phase::Cancelling)?;
    let control = if matches!(run.phase, Phase::Dead { .. }) { Control::Stop } else { Control::Cancel };
    run.phase = Phase::Cancelling;
    Some(Effect::Send(control))
}

fn may_pause(state: &State) -> Allowed {
    active(state)?;
    only_if(state.run().is_some_and(|run| run.phase == Phase::Running), "the engine is not working now")
}

fn pause(state: &mut State) -> Option<Effect> {
    let now = state.now;
    let on = state.run_mut()?.ask_to_pause(now);
    Some(Effect::Send(if on { Control::Pause } else { Control::Continue }))
}

fn held(state: &State) -> Hint {
    let held = state.run().is_some_and(|run| run.paused().is_some() || run.pausing());
    if held { Hint::First("go on") } else { Hint::Usual }
}

fn may_freeze(state: &State) -> Allowed {
    if state.live.is_some() {
        return Ok(());
    }
    active(state)?;
    only_if(state.focus.is_run(), "go to the run to freeze it")
}

/// The selected case of the run that works. Only while the run is in view: a case that the user does not see must not
/// be skipped by mistake.
fn case_of_work(state: &State, may: fn(&Ledger, usize) -> bool) -> Option<()> {
    let (run, shown) = (state.run()?, state.session.as_ref()?);
    let working = matches!(run.phase, Phase::Running | Phase::Dead { .. }) && run.mode == Mode::Run;
    (working && state.focus.is_run() && may(&run.ledger, shown.selected)).then_some(())
}

const PLAYED: &str = "a run that is played back is read-only";
const COMPLETE: &str = "this run is complete: nothing is left to measure";

/// The reason why the selected case cannot be skipped, or measured again.
fn not_this_case(state: &State, skip: bool) -> String {
    let Some(shown) = &state.session else { return String::new() };
    let Some(record) = shown.ledger.records().get(shown.selected) else { return String::new() };
    let reason = match &record.status {
        Status::NotApplicable(reason) if reason != SKIPPED => return format!("this case is n/a: {reason}"),
        _ if shown.mode == Mode::Stored => "a stored run is read-only",
        _ if shown.mode == Mode::Watch => PLAYED,
        _ if skip && !shown.active() => "the run is over",
        Status::Done => "this case is done: it has no further rounds",
        Status::NotApplicable(_) => "this case is already skipped",
        Status::Failed(_) if skip => "this case failed: it has no further rounds",
        Status::Failed(_) => "a wrong result stays wrong, whatever a repetition gives",
        Status::Pending | Status::Partial => match shown.phase {
            Phase::Over { .. } | Phase::Broken(_) => "this case is not measured yet: resume the run",
            _ => "this case still has rounds to come",
        },
    };
    reason.to_owned()
}

/// Sends a request about the selected case. The engine acts on it only at the next sample boundary, so a notice
/// acknowledges it at once.
fn about(state: &mut State, what: &str, control: fn(usize) -> Control) -> Option<Effect> {
    let shown = state.session.as_ref()?;
    let at = shown.selected;
    state.notice = Some(format!("{}: to be {what}", shown.name(at)));
    Some(Effect::Send(control(at)))
}

/// Continues in a fresh engine.
pub fn revive(state: &mut State) -> Option<Effect> {
    let now = state.now;
    state.run_mut().filter(|run| matches!(run.phase, Phase::Dead { .. }))?.resumed(now);
    Some(Effect::Send(Control::Resume))
}

fn may_resume(state: &State) -> Allowed {
    let dead = state.run().is_some_and(|run| matches!(run.phase, Phase::Dead { .. }));
    if dead || cut_short(state).is_some() {
        return Ok(());
    }
    let why = match state.run() {
        _ if state.busy() => "a run is active",
        _ if state.runs.awaits(Awaited::Reopening) => "the run is already being read",
        _ if state.focus.is_runs() => match state.runs.selected().map(|entry| entry.summary()) {
            Some(Some(_)) => COMPLETE,
            Some(None) => "this folder cannot be read as a run",
            None => "no run is selected",
        },
        Some(run) if state.focus.is_run() && run.mode == Mode::Watch => PLAYED,
        Some(_) if state.focus.is_run() => COMPLETE,
        _ => "no incomplete run is on screen",
    };
    Err(why.into())
}

/// The run in view, if it was cut short and nothing else is in progress.
pub fn cut_short(state: &State) -> Option<Unfinished> {
    if state.busy() || state.runs.awaits(Awaited::Reopening) || state.mode != Mode::Run {
        return None;
    }
    let folder = match state.focus.is_runs() {
        true => {
            let entry = state.runs.selected()?;
            (!entry.summary()?.complete).then_some(&entry.path)?
        }
        false => &over(state).filter(|run| run.phase != Phase::Over { cancelled: false })?.folder,
    };
    Some(Unfinished { folder: folder.clone(), case: None })
}

/// The run that has just ended, to measure its selected case again. Stored runs are excluded: they may be from
/// another machine.
fn repeatable(state: &State) -> Option<Unfinished> {
    let idle = !state.busy() && !state.runs.awaits(Awaited::Reopening);
    let run = over(state).filter(|run| idle && run.mode == Mode::Run)?;
    let case = state.session.as_ref()?.selected;
    run.ledger.may_repeat(case).then(|| Unfinished { folder: run.folder.clone(), case: Some(case) })
}

/// The run on the screen, once it is over.
fn over(state: &State) -> Option<&Session> {
    let over = |run: &&Session| matches!(run.phase, Phase::Over { .. } | Phase::Broken(_));
    let lasts = |run: &&Session| run.mode != Mode::Watch && run.calibrates.is_none();
    state.run().filter(|_| state.focus.is_run()).filter(lasts).filter(over)
}

/// Has the run read, so that it can be resumed.
fn reopen(state: &mut State, run: Unfinished) -> Effect {
    state.notice = Some("reading the run …".to_owned());
    Effect::Request(state.runs.ticket_for(Awaited::Reopening), Job::Reopen(run))
}

/// Shows the resumed run, starting with the content of its folder.
pub fn went_on(state: &mut State, ledger: Ledger, folder: PathBuf) {
    let recipe = state.run().filter(|run| run.folder == folder).and_then(|run| run.recipe);
    let mut session = Session::new(recipe, ledger, folder, state.now);
    session.mode = state.mode;
    begin(state, session);
}

/// Shows this session on the run screen from now on.
pub fn begin(state: &mut State, mut session: Session) {
    runs::stopped(&mut state.runs);
    let stored = session.recipe.and_then(|recipe| state.home.facts.baseline(recipe));
    session.come_after(state.run(), stored);
    if let Some(text) = runs::lay_chosen(&state.runs, &mut session) {
        state.notice = Some(text);
    }
    state.live = None;
    state.session = Some(session);
    state.focus = Focus::Cases;
}
