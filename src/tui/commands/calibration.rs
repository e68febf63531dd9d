//! The command that calibrates a device. Without a profile of a device no model predicts its cases: the screen says so
//! where the model's line would be, and a key measures the device there and then, as `scatterlab calibrate --quick`
//! does. The run that was shown before comes back with its predictions.

use std::path::PathBuf;

use super::run::begin;
use super::{Allowed, Effect, Hint};
use crate::model::DeviceProfile;
use crate::recipe::plan::Plan;
use crate::run::{Ledger, Record, Status};
use crate::tui::calibration::Made;
use crate::tui::session::{Mode, Phase, Session};
use crate::tui::state::State;
use crate::tui::words;

rows! {
    CALIBRATE = ("calibrate", 1,
        "measure the characteristics of a device that these cases use, from which the models predict",
        |state| if is_wanted(state) { Hint::First("calibrate") } else { Hint::Never }) {
        "calibrate" "c": may_calibrate, question
            => |state| target(state).map(|backend| Effect::Calibrate(backend.to_owned()))
    }
}

fn may_calibrate(state: &State) -> Allowed {
    match &state.calibration.impossible {
        Some(reason) => Err(reason.clone().into()),
        None if state.busy() || state.active() => {
            Err("a run is active: devices are calibrated when it is over".into())
        }
        None if state.mode == Mode::Run && target(state).is_some() => Ok(()),
        None => Err("no device of these cases is available here".into()),
    }
}

/// The backends of the cases in view that can run.
fn shown(state: &State) -> Vec<&str> {
    let own = state.session.as_ref().filter(|_| state.focus.is_run());
    let of_recipe = || state.recipes.plan().and_then(|plan| plan.as_deref().ok());
    let mut all: Vec<&str> = match own {
        Some(session) => {
            let runs = |record: &&Record| !matches!(record.status, Status::NotApplicable(_));
            session.ledger.records().iter().filter(runs).map(|record| record.case.place().0).collect()
        }
        None => of_recipe().into_iter().flat_map(|plan| &plan.cases).map(|case| case.place().0).collect(),
    };
    all.sort_unstable();
    all.dedup();
    all
}

/// The backend to calibrate: one of the cases in view without a profile, or else another one without, or else one of
/// the cases in view.
fn target(state: &State) -> Option<&str> {
    let (shown, known) = (shown(state), &state.calibration);
    let of = |all: &[String]| shown.iter().copied().find(|backend| all.iter().any(|one| one == backend));
    let any = known.missing.first().map(String::as_str);
    of(&known.missing).or(any).or_else(|| of(&known.available))
}

/// What is asked before a device that has a profile is calibrated again.
fn question(state: &State, key: &str) -> Option<String> {
    let backend = target(state)?;
    let known = !state.calibration.missing.iter().any(|one| one == backend);
    known.then(|| {
        format!("{backend} has a profile. {key} again: a quick recalibration. Any other key cancels.")
    })
}

/// What stands where the model's line would be: that there is no profile, and the key that makes one.
pub fn offer(state: &State) -> Option<String> {
    let known = &state.calibration;
    let calibrates = state.session.as_ref().is_some_and(|s| s.calibrates.is_some() && state.focus.is_run());
    if known.impossible.is_some() || state.mode != Mode::Run || calibrates {
        return None;
    }
    let backend = shown(state).into_iter().find(|backend| known.missing.iter().any(|one| one == backend))?;
    let key = CALIBRATE.key(state);
    let when = if state.active() { ", when the run is over" } else { " (a few minutes)" };
    Some(format!("{backend} has no profile; {key}: calibrate{when}"))
}

/// Whether cases in view lack predictions for want of a profile.
pub fn is_wanted(state: &State) -> bool {
    !state.active() && offer(state).is_some()
}

/// Shows the calibration instead of the run in view.
pub fn started(state: &mut State, backend: String, plan: Plan, folder: PathBuf) {
    // A frozen screen shows its run as it is now.
    let shown = state.live.take().or(state.session.take());
    state.calibration.before = Some((shown.map(Box::new), state.focus));
    let mut session = Session::new(None, Ledger::new(plan), folder, state.now);
    session.calibrates = Some(backend);
    begin(state, session);
}

/// The calibration is over: its profile is to be derived, or the run that was shown before comes back.
pub fn over(state: &mut State) -> Option<Effect> {
    let run = state.run().filter(|run| run.calibrates.is_some())?;
    if run.phase != (Phase::Over { cancelled: false }) {
        if matches!(run.phase, Phase::Over { .. }) {
            give_back(state, None);
            state.notice = Some("the calibration was cancelled: no profile was made".to_owned());
        }
        return None;
    }
    if run
        .ledger
        .records()
        .iter()
        .any(|record| !matches!(record.status, Status::Done | Status::NotApplicable(_)))
    {
        state.notice = Some("no profile: cases failed or were not finished".to_owned());
        return None;
    }
    Some(Effect::KeepProfile)
}

/// The profile was saved, or not.
pub fn finished(state: &mut State, made: Result<Made, String>) {
    let took = state.run().map(|run| run.elapsed(state.now)).unwrap_or_default();
    match made {
        Err(reason) => state.notice = Some(format!("no profile: {reason}")),
        Ok(Made { profile, path, missing }) => {
            let own = &profile.profile;
            let doubtful = own.made.as_ref().and_then(|made| made.doubtful.as_ref());
            let doubtful = doubtful.map(|words| format!("; doubtful: {words}")).unwrap_or_default();
            let (name, took) = (own.name.clone(), words::clock(took));
            let text = format!("calibrated in {took}: profile {name} in {}{doubtful}", path.display());
            state.profiles.retain(|known| known.name != name);
            state.profiles.insert(0, own.clone());
            state.calibration.missing = missing;
            give_back(state, Some(&profile));
            state.notice = Some(text);
        }
    }
}

/// Shows what was shown before the calibration, with the predictions of its profile.
fn give_back(state: &mut State, profile: Option<&DeviceProfile>) {
    let Some((shown, focus)) = state.calibration.before.take() else { return };
    if state.focus.is_run() {
        state.focus = focus;
    }
    state.live = None;
    state.session = shown.map(|session| *session);
    if let (Some(session), Some(profile)) = (&mut state.session, profile) {
        session.learn(profile);
    }
}

#[cfg(test)]
pub mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;
    use std::time::Duration;

    use ratatui::crossterm::event::KeyCode;

    use super::*;
    use crate::model::held_fixture as profile;
    use crate::run::runner::{Message, Runner};
    use crate::tui::app::App;
    use crate::tui::calibration::Calibrator;
    use crate::tui::focus::Focus;
    use crate::tui::state::Leaving;
    use crate::tui::tests::loops::press;
    use crate::tui::tests::screens::{at, draw, played};
    use crate::tui::tests::{fixture, script};
    use crate::tui::theme::Theme;

    /// A calibrator whose runs the test plays.
    fn calibrator(runner: &script::Scripted, derived: &Rc<RefCell<usize>>) -> Calibrator {
        let (runner, derived) = (runner.clone(), derived.clone());
        let held = |name| DeviceProfile {
            backends: vec!["cpu".to_owned()],
            device: 0,
            profile: profile(name, 150e9, 32 << 20),
            notices: Vec::new(),
        };
        Calibrator {
            available: vec!["cpu".to_owned()],
            missing: vec!["cpu".to_owned()],
            impossible: None,
            start: Box::new(move |backend| {
                assert_eq!(backend, "cpu");
                let plan = fixture::stream();
                let running = runner.start(plan.clone(), "").map_err(|error| error.to_string())?;
                Ok((plan, running))
            }),
            finish: Box::new(move |records| {
                *derived.borrow_mut() += records.len();
                Ok(Made { profile: held("bench"), path: "/data/bench.yaml".into(), missing: Vec::new() })
            }),
        }
    }

    pub fn without_a_profile(theme: Theme) -> App {
        let mut app = finished_run(theme).0;
        app.tick(at(10));
        app
    }

    pub fn recipe_without_a_profile(theme: Theme) -> App {
        let mut app = finished_run(theme).0;
        app.state.session = None;
        app.state.focus = Focus::Recipes;
        app.tick(at(10));
        app
    }

    pub fn calibrating(theme: Theme) -> App {
        let (mut app, runner, _) = finished_run(theme);
        press(&mut app, KeyCode::Char('c'), at(10));
        script::messages(&fixture::stream(), None).into_iter().take(9).for_each(|said| runner.say(said));
        app.receive(at(12));
        app.tick(at(13));
        app
    }

    pub fn calibrated(theme: Theme) -> App {
        let (mut app, runner, _) = finished_run(theme);
        press(&mut app, KeyCode::Char('c'), at(10));
        play(&mut app, &runner, at(40));
        app.tick(at(41));
        app
    }

    fn finished_run(theme: Theme) -> (App, script::Scripted, Rc<RefCell<usize>>) {
        let (mut app, runner) = played(theme, 1, Some(4), usize::MAX);
        runner.say(Message::Over);
        app.receive(at(9));
        let derived = Rc::default();
        app.calibrate_by(calibrator(&runner, &derived));
        (app, runner, derived)
    }

    fn shown(app: &mut App, now: Duration) -> String {
        draw(app, (80, 24), now).backend().to_string()
    }

    fn play(app: &mut App, runner: &script::Scripted, now: Duration) {
        script::messages(&fixture::stream(), None).into_iter().for_each(|message| runner.say(message));
        runner.say(Message::Over);
        app.receive(now);
    }

    #[test]
    fn a_run_without_a_profile_is_calibrated_and_comes_back_with_a_model() {
        let (mut app, runner, derived) = finished_run(Theme::PLAIN);
        let before = shown(&mut app, at(9));
        assert!(before.contains("no model: cpu has no profile; c: calibrate"), "{before}");
        assert!(before.contains("c calibrate"), "the last row offers it: {before}");
        let folder = app.state.session.as_ref().expect("a run").folder.clone();
        press(&mut app, KeyCode::Char('c'), at(10));
        let measuring = shown(&mut app, at(11));
        assert!(measuring.contains("calibration of cpu") && measuring.contains("CALIBRATING"), "{measuring}");
        play(&mut app, &runner, at(40));
        assert_eq!(*derived.borrow(), fixture::stream().cases.len(), "the profile follows from its cases");
        let session = app.state.session.as_ref().expect("the run");
        assert!(session.calibrates.is_none() && session.folder == folder);
        assert!(session.ledger.records().iter().any(|r| r.forecasts.iter().any(|f| f.outcome.is_ok())));
        let after = shown(&mut app, at(41));
        assert!(after.contains("calibrated in 0:30: profile bench"), "{after}");
        assert!(!after.contains("has no profile"), "{after}");
        assert_eq!(app.state.profiles[0].name, "bench");
    }

    #[test]
    fn a_cancelled_calibration_makes_no_profile() {
        let (mut app, runner, derived) = finished_run(Theme::PLAIN);
        press(&mut app, KeyCode::Char('c'), at(10));
        press(&mut app, KeyCode::Char('x'), at(11));
        press(&mut app, KeyCode::Char('x'), at(12));
        runner.say(Message::Over);
        app.receive(at(13));
        assert_eq!(*derived.borrow(), 0);
        assert!(app.state.session.as_ref().is_some_and(|s| s.calibrates.is_none()));
        assert!(shown(&mut app, at(14)).contains("cancelled: no profile"));
    }

    #[test]
    fn a_device_with_a_profile_is_calibrated_when_asked_for_twice() {
        let (mut app, _, _) = finished_run(Theme::PLAIN);
        app.state.calibration.missing.clear();
        assert!(offer(&app.state).is_none());
        press(&mut app, KeyCode::Char('c'), at(10));
        assert!(app.state.session.as_ref().is_some_and(|s| s.calibrates.is_none()), "it asks first");
        assert!(shown(&mut app, at(10)).contains("cpu has a profile. c again"));
        press(&mut app, KeyCode::Char('q'), at(10));
        assert_eq!((&app.state.notice, app.state.leaving), (&None, Leaving::No), "any other key cancels");
        press(&mut app, KeyCode::Char('c'), at(10));
        press(&mut app, KeyCode::Char('c'), at(11));
        assert!(app.state.session.as_ref().is_some_and(|s| s.calibrates.is_some()));
        let (mut app, _, _) = finished_run(Theme::PLAIN);
        app.state.calibration.impossible = Some("calibrate where the engine runs".to_owned());
        press(&mut app, KeyCode::Char('c'), at(10));
        assert_eq!(app.state.notice.as_deref(), Some("calibrate where the engine runs"));
    }
}
