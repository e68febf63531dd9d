//! The command that calibrates a device. Without a profile of a device no model predicts its cases: the screen says so
//! where the model's line would be, and a key measures the device there and then, as `scatterlab calibrate` does. The
//! run that was shown before comes back with its predictions, and a line says what they are worth beside those before;
//! another key takes the calibration back.

use std::path::PathBuf;

use super::run::begin;
use super::{Allowed, Effect, Hint};
use crate::engine::protocol::Level;
use crate::model::{Profile, Profiles};
use crate::recipe::plan::Plan;
use crate::report::accuracy::median_errors;
use crate::run::{Ledger, Record, Status};
use crate::tui::calibration::{Made, Standing};
use crate::tui::home::facts::Known;
use crate::tui::session::{Mode, Phase, Session};
use crate::tui::state::State;
use crate::tui::words;

rows! {
    CALIBRATE = ("calibrate", 1,
        "calibrate a device so that the models can predict these cases, or go back to its previous profile",
        |state| if is_wanted(state) { Hint::First("calibrate") } else { Hint::Never }) {
        "calibrate" "c": may_calibrate, question
            => |state| target(state).map(|backend| Effect::Calibrate(backend.to_owned())),
        "calibrate-back" "B": may_take_back => |_| Some(Effect::TakeBack)
    }
}

fn may_calibrate(state: &State) -> Allowed {
    match &state.calibration.impossible {
        Some(reason) => Err(reason.clone().into()),
        None if state.busy() || state.active() => {
            Err("a run is active: devices can be calibrated when it is over".into())
        }
        None if state.mode == Mode::Run && target(state).is_some() => Ok(()),
        None => Err("no device of these cases is available here".into()),
    }
}

fn may_take_back(state: &State) -> Allowed {
    match &state.calibration.former {
        None => Err("no calibration replaced a profile here".into()),
        Some(_) if state.busy() || state.active() => {
            Err("a run is active: a calibration can be taken back when it is over".into())
        }
        Some(_) => Ok(()),
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
    let (shown, standing) = (shown(state), &state.calibration.standing);
    let of = |all: &[String]| shown.iter().copied().find(|backend| all.iter().any(|one| one == backend));
    let any = standing.missing.first().map(String::as_str);
    of(&standing.missing).or(any).or_else(|| of(&state.calibration.available))
}

/// What is asked before a device that has a profile is calibrated again.
fn question(state: &State, key: &str) -> Option<String> {
    let backend = target(state)?;
    let standing = &state.calibration.standing;
    let known = standing.of(backend)?;
    let again = match standing.full.iter().any(|one| one == backend) {
        true => "a full calibration (a few minutes)",
        false => "a quick calibration (about 15 s)",
    };
    Some(format!("{} predicts {backend}. {key} again: {again}. Any other key cancels.", known.name))
}

/// What stands where the model's line would be: that there is no profile, and the key that makes one.
pub fn offer(state: &State) -> Option<String> {
    let known = &state.calibration;
    let calibrates = state.session.as_ref().is_some_and(|s| s.calibrates.is_some() && state.focus.is_run());
    if known.impossible.is_some() || state.mode != Mode::Run || calibrates {
        return None;
    }
    let backend =
        shown(state).into_iter().find(|one| known.standing.missing.iter().any(|missing| missing == one))?;
    let key = CALIBRATE.key(state);
    let when = if state.active() { ", when the run is over" } else { " (about 15 s)" };
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
            give_back(state);
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
    let took = words::clock(state.run().map(|run| run.elapsed(state.now)).unwrap_or_default());
    let backend = state.run().and_then(|run| run.calibrates.clone()).unwrap_or_default();
    let Made { name, path, standing } = match made {
        Err(reason) => return state.notice = Some(format!("no profile: {reason}")),
        Ok(made) => made,
    };
    give_back(state);
    let (former, now) = (state.calibration.standing.of(&backend).cloned(), standing.of(&backend).cloned());
    let changed = changed(state, &standing, &backend);
    stand(state, standing);
    if let Some(session) = &mut state.session {
        session.say(state.now, Level::Info, &format!("profile {name}: {}", path.display()));
    }
    state.calibration.former = former.as_ref().map(|former| match former.name == name {
        true => format!("the former {name}"),
        false => former.name.clone(),
    });
    let now = now.as_ref().map_or(name, Profile::described);
    let changed = changed.unwrap_or_else(|| "nothing has been measured here to compare".to_owned());
    let back = state.calibration.former.as_ref();
    let back = back.map(|former| format!(". {}: back to {former}", CALIBRATE.actions[1].key(&state.keymap)));
    let back = back.unwrap_or_default();
    state.notice = Some(format!("calibrated in {took}: {now} predicts now; {changed}{back}"));
}

/// The last calibration was taken back, or could not be.
pub fn taken_back(state: &mut State, standing: Result<Standing, String>) {
    state.notice = Some(match standing {
        Err(reason) => reason,
        Ok(standing) => {
            stand(state, standing);
            let former = state.calibration.former.take().unwrap_or_default();
            format!("the calibration was taken back: {former} predicts again")
        }
    });
}

/// Predicts from other profiles from now on, also the run in view if it is this machine's.
fn stand(state: &mut State, standing: Standing) {
    let here = state.session.as_ref().and_then(|session| session.environment.as_ref());
    if here.is_some_and(|environment| state.calibration.is_here(environment))
        && let Some(session) = &mut state.session
    {
        session.learn(&standing.predicting);
    }
    state.profiles.clone_from(&standing.known);
    state.calibration.standing = standing;
}

/// What other profiles change for the cases that were measured on this machine, in the run in view or else in the
/// recipe's last one: `median error 45 → 19 % (scalar), 61 → 55 % (cpu)`.
fn changed(state: &State, standing: &Standing, backend: &str) -> Option<String> {
    let (records, before) = measured(state)?;
    let mut after = before.clone();
    after.replace(&standing.predicting);
    let (before, after) = (median_errors(records, before), median_errors(records, &after));
    let covered = standing.predicting.iter().find(|held| held.backends.iter().any(|one| one == backend))?;
    let percent = |share: &f64| format!("{:.0}", share * 100.0);
    let one = |backend: &String| {
        let after = percent(after.get(backend)?);
        let before = before.get(backend).map(|share| format!("{} → ", percent(share))).unwrap_or_default();
        Some(format!("{before}{after} % ({backend})"))
    };
    let all: Vec<String> = covered.backends.iter().filter_map(one).collect();
    (!all.is_empty()).then(|| format!("median error {}", all.join(", ")))
}

/// The measured cases of this machine that are in view, and the profiles that predicted them.
fn measured(state: &State) -> Option<(&[Record], &Profiles)> {
    let here = |environment| state.calibration.is_here(environment);
    let run = state.session.as_ref().filter(|session| session.environment.as_ref().is_some_and(here));
    let run = run.map(|session| (session.ledger.records(), session.ledger.profiles()));
    run.filter(|(records, _)| records.iter().any(|record| record.statistics.is_some())).or_else(|| {
        let Known::Is(Some(last)) = state.home.facts.last(state.recipes.selected()?) else { return None };
        here(&last.environment).then_some((last.baseline.records.as_slice(), &last.profiles))
    })
}

/// Shows what was shown before the calibration.
fn give_back(state: &mut State) {
    let Some((shown, focus)) = state.calibration.before.take() else { return };
    if state.focus.is_run() {
        state.focus = focus;
    }
    state.live = None;
    state.session = shown.map(|session| *session);
}

#[cfg(test)]
pub mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;
    use std::time::Duration;

    use ratatui::crossterm::event::KeyCode;

    use super::*;
    use crate::engine::protocol::Event;
    use crate::model::{Curve, DeviceProfile, processors_fixture};
    use crate::run::runner::{Message, Runner};
    use crate::tui::app::App;
    use crate::tui::calibration::Calibrator;
    use crate::tui::focus::Focus;
    use crate::tui::state::Leaving;
    use crate::tui::tests::loops::press;
    use crate::tui::tests::screens::{at, draw, played};
    use crate::tui::tests::{fixture, script};
    use crate::tui::theme::Theme;

    /// The profile of two processors under another name, whose rates are `times` as high.
    fn profile(name: &str, times: f64) -> Profile {
        let mut profile = processors_fixture();
        name.clone_into(&mut profile.name);
        for rates in profile.rates.values_mut() {
            let by_place =
                rates.strided.iter_mut().chain(&mut rates.interleaved).map(|curve| &mut curve.rate);
            let random = rates.random.iter_mut().map(|curve| &mut curve.rate);
            let streams = [&mut rates.read, &mut rates.write, &mut rates.copy];
            for curve in streams.into_iter().chain(by_place).chain(random) {
                let higher = curve.points().iter().map(|(place, rate)| (*place, rate * times)).collect();
                *curve = Curve::new(higher).expect("a curve");
            }
        }
        profile
    }

    /// What predicts the processors: this profile.
    fn standing(profile: Option<Profile>) -> Standing {
        let held = |profile| DeviceProfile {
            backends: vec!["scalar".to_owned(), "cpu".to_owned()],
            device: 0,
            profile,
            notices: Vec::new(),
        };
        Standing {
            missing: if profile.is_some() { Vec::new() } else { vec!["cpu".to_owned()] },
            full: Vec::new(),
            known: profile.iter().cloned().collect(),
            predicting: profile.map(held).into_iter().collect(),
        }
    }

    /// A calibrator whose runs the test plays, on a machine with this profile.
    fn calibrator(
        runner: &script::Scripted,
        derived: &Rc<RefCell<usize>>,
        own: Option<Profile>,
    ) -> Calibrator {
        let (runner, derived) = (runner.clone(), derived.clone());
        let Event::Hello { environment, .. } = script::hello() else { unreachable!("it is a hello") };
        let former = standing(own);
        Calibrator {
            available: vec!["cpu".to_owned()],
            environment,
            standing: former.clone(),
            impossible: None,
            start: Box::new(move |backend| {
                assert_eq!(backend, "cpu");
                let plan = fixture::stream();
                let running = runner.start(plan.clone(), "").map_err(|error| error.to_string())?;
                Ok((plan, running))
            }),
            finish: Box::new(move |records| {
                *derived.borrow_mut() += records.len();
                let (name, path) = ("bench".to_owned(), "/data/bench.yaml".into());
                Ok(Made { standing: standing(Some(profile(&name, 8.0))), name, path })
            }),
            take_back: Box::new(move || Ok(former.clone())),
        }
    }

    pub fn without_a_profile(theme: Theme) -> App {
        let mut app = finished_run(theme, None).0;
        app.tick(at(10));
        app
    }

    pub fn recipe_without_a_profile(theme: Theme) -> App {
        let mut app = finished_run(theme, None).0;
        app.state.session = None;
        app.state.focus = Focus::Recipes;
        app.tick(at(10));
        app
    }

    pub fn calibrating(theme: Theme) -> App {
        let (mut app, runner, _) = finished_run(theme, None);
        press(&mut app, KeyCode::Char('c'), at(10));
        script::messages(&fixture::stream(), None).into_iter().take(9).for_each(|said| runner.say(said));
        app.receive(at(12));
        app.tick(at(13));
        app
    }

    pub fn calibrated(theme: Theme) -> App {
        let (mut app, runner, _) = finished_run(theme, Some(profile("shipped", 1.0)));
        press(&mut app, KeyCode::Char('c'), at(10));
        press(&mut app, KeyCode::Char('c'), at(10));
        play(&mut app, &runner, at(40));
        app.tick(at(41));
        app
    }

    /// A run that is over, on a machine with this profile.
    fn finished_run(theme: Theme, own: Option<Profile>) -> (App, script::Scripted, Rc<RefCell<usize>>) {
        let (mut app, runner) = played(theme, 1, Some(4), usize::MAX);
        runner.say(Message::Over);
        app.receive(at(9));
        let derived = Rc::default();
        app.calibrate_by(calibrator(&runner, &derived, own));
        let standing = app.state.calibration.standing.clone();
        app.state.session.as_mut().expect("a run").learn(&standing.predicting);
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

    /// The profile that predicts the run's cases.
    fn predicting(app: &App) -> Option<String> {
        let session = app.state.session.as_ref()?;
        let records = session.ledger.records();
        let case = records.iter().map(|record| &record.case).find(|case| case.backend() == "cpu")?;
        session.ledger.profiles().of(case).ok().map(|profile| profile.name.clone())
    }

    #[test]
    fn a_run_without_a_profile_is_calibrated_and_comes_back_with_a_model() {
        let (mut app, runner, derived) = finished_run(Theme::PLAIN, None);
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
        assert!(
            after.contains("calibrated in 0:30: bench (87 % doubtful) predicts now; median error"),
            "{after}"
        );
        assert!(!after.contains("has no profile") && !after.contains("B: back"), "{after}");
        assert_eq!(
            (app.state.profiles[0].name.as_str(), predicting(&app).as_deref()),
            ("bench", Some("bench"))
        );
        press(&mut app, KeyCode::Char('B'), at(42));
        assert_eq!(app.state.notice.as_deref(), Some("no calibration replaced a profile here"));
    }

    /// The errors are those of the profile before and of the new one; the run is predicted from the one that is chosen.
    #[test]
    fn a_calibration_says_what_it_changes_and_can_be_taken_back() {
        let (mut app, runner, _) = finished_run(Theme::PLAIN, Some(profile("shipped", 1.0)));
        assert_eq!(predicting(&app).as_deref(), Some("shipped"));
        let errors = |app: &App| {
            let session = app.state.session.as_ref().expect("a run");
            let median = median_errors(session.ledger.records(), session.ledger.profiles())["cpu"];
            format!("{:.0}", median * 100.0)
        };
        let before = errors(&app);
        press(&mut app, KeyCode::Char('c'), at(10));
        press(&mut app, KeyCode::Char('c'), at(10));
        play(&mut app, &runner, at(40));
        let after = errors(&app);
        let told = format!("predicts now; median error {before} → {after} % (cpu). B: back to shipped");
        let notice = app.state.notice.clone().unwrap_or_default();
        assert!(notice.ends_with(&told) && before != after, "{notice}");
        assert_eq!(predicting(&app).as_deref(), Some("bench"));
        press(&mut app, KeyCode::Char('B'), at(42));
        let notice = app.state.notice.clone().unwrap_or_default();
        assert_eq!(notice, "the calibration was taken back: shipped predicts again");
        assert_eq!((predicting(&app).as_deref(), errors(&app)), (Some("shipped"), before));
        press(&mut app, KeyCode::Char('m'), at(43));
        let view = app.state.whatif.as_ref().expect("what if");
        assert_eq!(view.profile().name, "shipped", "it opens what the chart uses");
    }

    /// A stored run of another machine keeps its predictions, and says nothing about this one's profiles.
    #[test]
    fn another_machine_s_run_is_not_predicted_from_this_one_s_calibration() {
        let (mut app, runner, _) = finished_run(Theme::PLAIN, Some(profile("shipped", 1.0)));
        let session = app.state.session.as_mut().expect("a run");
        session.environment.as_mut().expect("a machine").host = "elsewhere".to_owned();
        press(&mut app, KeyCode::Char('c'), at(10));
        press(&mut app, KeyCode::Char('c'), at(10));
        play(&mut app, &runner, at(40));
        assert_eq!(predicting(&app).as_deref(), Some("shipped"));
        let notice = app.state.notice.clone().unwrap_or_default();
        assert!(
            notice.contains("predicts now; nothing has been measured here to compare. B: back"),
            "{notice}"
        );
    }

    #[test]
    fn a_cancelled_calibration_makes_no_profile() {
        let (mut app, runner, derived) = finished_run(Theme::PLAIN, None);
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
        let own = || Some(profile("own", 1.0));
        let (mut app, _, _) = finished_run(Theme::PLAIN, own());
        assert!(offer(&app.state).is_none());
        press(&mut app, KeyCode::Char('c'), at(10));
        assert!(app.state.session.as_ref().is_some_and(|s| s.calibrates.is_none()), "it asks first");
        assert!(
            shown(&mut app, at(10)).contains("own predicts cpu. c again: a quick calibration (about 15 s).")
        );
        press(&mut app, KeyCode::Char('q'), at(10));
        assert_eq!(app.state.leaving, Leaving::No, "any other key cancels");
        press(&mut app, KeyCode::Char('c'), at(10));
        press(&mut app, KeyCode::Char('c'), at(11));
        assert!(app.state.session.as_ref().is_some_and(|s| s.calibrates.is_some()));
        let (mut app, _, _) = finished_run(Theme::PLAIN, own());
        app.state.calibration.standing.full = vec!["cpu".to_owned()];
        press(&mut app, KeyCode::Char('c'), at(10));
        let asked = app.state.notice.clone().unwrap_or_default();
        assert!(
            asked.contains("a full calibration (a few minutes)"),
            "as full as the one it replaces: {asked}"
        );
        app.state.calibration.impossible = Some("calibrate where the engine runs".to_owned());
        press(&mut app, KeyCode::Char('c'), at(10));
        assert_eq!(app.state.notice.as_deref(), Some("calibrate where the engine runs"));
    }
}
