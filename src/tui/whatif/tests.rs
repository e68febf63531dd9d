//! Predictions on the chart, while the profile behind them is changed.

use std::path::PathBuf;
use std::sync::Arc;

use ratatui::crossterm::event::KeyCode;

use crate::engine::protocol::{Event, Stage};
use crate::model::{DeviceProfile, Profile, Profiles, held_fixture as profile};
use crate::recipe::plan::Plan;
use crate::run::Ledger;
use crate::run::runner::Message;
use crate::tui::app::App;
use crate::tui::home::facts::{Known, Last};
use crate::tui::panel::Focus;
use crate::tui::session::Session;
use crate::tui::tests::home::last_run;
use crate::tui::tests::loops::press;
use crate::tui::tests::screens::{at, draw, finished};
use crate::tui::tests::{fixture, script};
use crate::tui::theme::Theme;
use crate::tui::whatif::{Knob, WhatIf};

fn known() -> Vec<Profile> {
    vec![profile("bench", 150e9, 32 << 20), profile("g80", 63.9e9, 392 << 10)]
}

/// The script's hello, with a profile.
fn hello() -> Message {
    let mut hello = script::hello();
    if let Event::Hello { profiles, .. } = &mut hello {
        let held = DeviceProfile {
            backends: vec!["cpu".to_owned()],
            device: 0,
            profile: known().remove(0),
            notices: Vec::new(),
        };
        profiles.push(held);
    }
    Message::Event(hello)
}

fn on_screen(app: &mut App, size: (u16, u16)) -> String {
    draw(app, size, at(10)).backend().to_string()
}

/// A run whose chart requests he2007's predictions.
fn run(theme: Theme, recipe: usize, messages: usize) -> App {
    let mut plan = [fixture::stream, fixture::passes, fixture::passes, fixture::applications][recipe]();
    plan.experiments.iter_mut().for_each(|e| e.chart.models = Some(vec!["he2007".to_owned()]));
    let all = script::messages(&plan, Some(4));
    played(theme, recipe, &plan, all, messages)
}

/// The first `messages` of a run's messages, starting with a hello that contains a profile.
fn played(theme: Theme, recipe: usize, plan: &Plan, all: Vec<Message>, messages: usize) -> App {
    let mut session = Session::new(recipe, Ledger::new(plan.clone()), script::FOLDER.into(), at(0));
    let started = Message::Event(script::progress(plan, 0, 0, Stage::WarmUp));
    let over = all.len() < messages;
    let first = [hello(), all[1].clone(), started];
    let rest = all.into_iter().skip(2).take(messages.saturating_sub(2));
    first.into_iter().chain(rest).for_each(|message| session.receive(message, at(1)));
    if over {
        session.receive(Message::Over, at(9));
    }
    let mut app = finished(theme, 1);
    app.state.session = Some(session);
    app.state.profiles = known();
    app
}

/// A sweep of the number of buckets, half-way: points, the model's predictions for all of them, and the speed
/// of light, which is lower for pairs.
pub fn bucket_sweep(theme: Theme) -> App {
    let recipe = "title: Multisplit, by number of buckets\nmultisplit: {keys: 128Mi, values: [none, 4B], \
        buckets: 2..256 x2, method: [direct, write-combining]}\nbackend: cpu\n\
        chart: {x: buckets, y: throughput, lines: method, panels: values, ceiling: speed-of-light, model: he2007}\n\
        measure: {rounds: 2}\n";
    let recipe = crate::recipe::parse("a.yaml", recipe).expect("a recipe");
    let plan =
        crate::recipe::plan::resolve(&recipe, &crate::recipe::plan::Overrides::default()).expect("a plan");
    let slower = |message| match message {
        Message::Event(Event::Round { seq, mut result }) => {
            result.samples.iter_mut().for_each(|sample| *sample *= 3.0);
            Message::Event(Event::Round { seq, result })
        }
        other => other,
    };
    let mut all: Vec<Message> = script::messages(&plan, None).into_iter().map(slower).collect();
    let half = all.len() / 2 - 4;
    let copied = Event::Reference { pass: 0, backend: "cpu".to_owned(), copy: 180.0, ranked: Vec::new() };
    all.insert(2, Message::Event(copied));
    looked_at(played(theme, 1, &plan, all, half), "")
}

fn typed(app: &mut App, keys: &str) {
    for key in keys.chars() {
        let code = match key {
            '←' => KeyCode::Left,
            '→' => KeyCode::Right,
            '⏎' => KeyCode::Enter,
            key => KeyCode::Char(key),
        };
        press(app, code, at(9));
    }
    app.tick(at(10));
}

fn looked_at(mut app: App, keys: &str) -> App {
    typed(&mut app, keys);
    app
}

/// Before anything is measured, the chart shows the model's line.
pub fn predicted_first(theme: Theme) -> App {
    looked_at(run(theme, 1, 2), "")
}

/// The measurements over the model's line, and their differences from it.
pub fn predicted(theme: Theme) -> App {
    looked_at(run(theme, 1, usize::MAX), "zv→")
}

pub fn shown(theme: Theme) -> App {
    looked_at(run(theme, 1, usize::MAX), "vm")
}

/// A smaller cache and twice the bandwidth.
pub fn changed(theme: Theme) -> App {
    looked_at(run(theme, 1, usize::MAX), "vmll←lllj←←←←")
}

/// If x has names, each prediction is a short stroke.
pub fn of_names(theme: Theme) -> App {
    looked_at(run(theme, 3, usize::MAX), "vml")
}

/// Without a run, on another device.
pub fn of_a_recipe(theme: Theme) -> App {
    let mut app = finished(theme, 1);
    app.state.profiles = known();
    app.state.session = None;
    app.state.focus = Focus::Recipes;
    looked_at(app, "mn")
}

pub fn saving(theme: Theme) -> App {
    looked_at(run(theme, 1, usize::MAX), "vmls../")
}

fn prediction(app: &App, case: usize) -> f64 {
    app.state.whatif.as_ref().expect("it is open").chart().prediction(0, case).expect("a prediction")
}

#[test]
fn arrows_move_the_prediction_and_what_was_measured_stays() {
    let mut app = run(Theme::PLAIN, 1, usize::MAX);
    typed(&mut app, "vm");
    let view = app.state.whatif.clone().expect("it is open");
    assert_eq!(app.state.focus, Focus::WhatIf);
    assert_eq!(view.knobs[0].name, "cpu he2007 B_seq");
    let measured: Vec<f64> = view.chart().measured().map(|m| m.y).collect();
    assert!(!measured.is_empty());
    let before = prediction(&app, 0);
    typed(&mut app, "llll");
    let view = app.state.whatif.as_ref().expect("it is open");
    assert_eq!(view.knobs[0].value, "300 GB/s", "four steps are twice as much");
    assert!(prediction(&app, 0) > 1.2 * before, "more bandwidth, less time");
    assert_eq!(view.chart().measured().map(|m| m.y).collect::<Vec<_>>(), measured);
    let lines = &view.chart().panels[0].models;
    assert!(lines.iter().any(|line| line.before) && lines.iter().any(|line| !line.before));
    typed(&mut app, "hhhh");
    assert_eq!(prediction(&app, 0), before, "steps are exact: there and back is nowhere");
    assert!(!app.state.whatif.as_ref().expect("it").is_changed());
    press(&mut app, KeyCode::Esc, at(10));
    assert_eq!((app.state.focus, app.state.whatif.is_some()), (Focus::Chart, false));
}

#[test]
fn another_profile_is_looked_at_over_the_runs_own() {
    let mut app = run(Theme::PLAIN, 1, usize::MAX);
    typed(&mut app, "vm");
    let own = prediction(&app, 0);
    typed(&mut app, "n");
    let view = app.state.whatif.as_ref().expect("it is open");
    assert_eq!(view.profile().name, "g80");
    assert!(view.chart().panels[0].models.iter().any(|line| line.before), "the run's own stays");
    assert!(prediction(&app, 0) < own / 1.5);
    typed(&mut app, "n");
    assert_eq!(prediction(&app, 0), own);
}

#[test]
fn it_opens_the_profile_that_predicts_the_selected_case() {
    let mut app = run(Theme::PLAIN, 1, usize::MAX);
    let held = |backend: &str, name| DeviceProfile {
        backends: vec![backend.to_owned()],
        device: 0,
        profile: profile(name, 1e11, 32 << 20),
        notices: Vec::new(),
    };
    let session = app.state.session.as_mut().expect("a run");
    session.learn(&[held("cuda", "a-gpu"), held("cpu", "calibrated")]);
    session.follow = false;
    for (backend, name) in [("cpu", "calibrated"), ("cuda", "a-gpu")] {
        let session = app.state.session.as_mut().expect("a run");
        let records = session.ledger.records();
        let case = records.iter().position(|record| record.case.backend() == backend).expect("a case");
        session.select(case);
        typed(&mut app, "m");
        assert_eq!(app.state.whatif.as_ref().expect("it is open").profile().name, name);
        press(&mut app, KeyCode::Esc, at(10));
    }
}

#[test]
fn on_a_recipe_it_opens_the_profile_of_the_chart_there_or_else_the_one_that_predicts_here() {
    let mut app = run(Theme::PLAIN, 1, usize::MAX);
    app.state.focus = Focus::Recipes;
    app.tick(at(10));
    let recipe = app.state.recipes.selected().expect("a recipe");
    let opened = |app: &mut App, last: Last| {
        app.state.home.facts.put_last(recipe, Known::Is(last));
        typed(app, "m");
        let name = app.state.whatif.as_ref().expect("it is open").profile().name.clone();
        press(app, KeyCode::Esc, at(10));
        name
    };
    let here = DeviceProfile {
        backends: vec!["cpu".to_owned()],
        device: 0,
        profile: profile("here", 1e11, 32 << 20),
        notices: Vec::new(),
    };
    app.state.calibration.standing.predicting = vec![here];
    let drawn = Profiles::given(vec![profile("drawn", 1e11, 32 << 20)]);
    assert_eq!(opened(&mut app, Some(Arc::new(last_run(drawn)))), "drawn");
    assert_eq!(opened(&mut app, Some(Arc::new(last_run(Profiles::default())))), "here");
    assert_eq!(opened(&mut app, None), "here");
}

#[test]
fn a_changed_profile_is_saved_under_its_name_and_known_from_then_on() {
    let mut app = run(Theme::PLAIN, 1, usize::MAX);
    app.save_profile = |profile| match profile.he2007["cpu"].b_seq > 150e9 {
        true => Ok(PathBuf::from(format!("/data/{}.yaml", profile.name))),
        false => Err("nothing is changed".to_owned()),
    };
    typed(&mut app, "vmls⏎");
    assert_eq!(app.state.notice.as_deref(), Some("saved as bench-what-if: /data/bench-what-if.yaml"));
    let saved = app.state.profiles.last().expect("it");
    assert_eq!((saved.name.as_str(), saved.source.as_str()), ("bench-what-if", "bench, changed by hand"));
    typed(&mut app, "s../x⏎");
    let view = app.state.whatif.as_ref().expect("it is open");
    assert!(view.error.as_deref().is_some_and(|why| why.contains("letters")), "{:?}", view.error);
}

#[test]
fn nothing_is_predicted_while_something_is_measured() {
    let mut app = run(Theme::PLAIN, 1, 2);
    let footer =
        |app: &mut App| on_screen(app, (120, 40)).lines().last().map(str::to_owned).unwrap_or_default();
    assert!(!footer(&mut app).contains("what if"), "{}", footer(&mut app));
    typed(&mut app, "vm");
    assert!(app.state.whatif.is_none());
    assert!(app.state.notice.as_deref().is_some_and(|notice| notice.contains("a run is active")));
    let mut over = run(Theme::PLAIN, 1, usize::MAX);
    assert!(footer(&mut over).contains("m what if"), "{}", footer(&mut over));
}

#[test]
fn the_help_begins_with_the_commands_of_this_panel() {
    for size in [(60, 15), (80, 24), (120, 40)] {
        let mut app = run(Theme::PLAIN, 1, usize::MAX);
        typed(&mut app, "vm?");
        let screen = on_screen(&mut app, size);
        assert!(screen.lines().nth(2).is_some_and(|row| row.contains("│What if ")), "{size:?}: {screen}");
    }
}

#[test]
fn values_that_change_nothing_here_are_marked() {
    let mut app = run(Theme::PLAIN, 1, usize::MAX);
    typed(&mut app, "vm");
    let view = app.state.whatif.as_ref().expect("it is open");
    let (idle, others): (Vec<&Knob>, Vec<&Knob>) = view.knobs.iter().partition(|knob| view.is_idle(knob));
    assert!(others.iter().any(|knob| knob.name == "cpu he2007 B_seq"), "{others:?}");
    // Whatever is marked leaves every prediction as it is, and whatever is not moves one.
    let predictions =
        |view: &WhatIf| (0..14).map(|case| view.chart().prediction(0, case)).collect::<Vec<_>>();
    let names = |knobs: &[&Knob]| knobs.iter().map(|knob| knob.name.clone()).collect::<Vec<_>>();
    let (idle, others) = (names(&idle), names(&others));
    for (names, moves) in [(idle, false), (others, true)] {
        for name in names {
            let moved = ["llll", "hhhh"].iter().any(|keys| {
                let mut app: WhatIf = app.state.whatif.clone().expect("it is open");
                let before = predictions(&app);
                app.selected = app.knobs.iter().position(|knob| knob.name == name).expect("the value");
                let by = if keys.starts_with('l') { 1 } else { -1 };
                keys.chars().for_each(|_| app.change(by));
                predictions(&app) != before
            });
            assert_eq!(moved, moves, "{name}");
        }
    }
}
