//! Requests of the user about the run in progress.

use std::time::Duration;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::KeyCode;

use super::allows;
use super::loops::{app, press};
use super::{fixture, script};
use crate::engine::protocol::{Event, Stage};
use crate::run::Status;
use crate::run::runner::{Control, Message};
use crate::tui::app::App;
use crate::tui::session::{Mode, Phase, Session};
use crate::tui::theme::Theme;

fn at(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// The multi-pass recipe, running.
fn running() -> (App, script::Scripted) {
    let runner = script::Scripted::default();
    let mut app = app(&runner, Theme::PLAIN);
    app.tick(at(0));
    press(&mut app, KeyCode::Char('j'), at(0));
    app.tick(at(0));
    press(&mut app, KeyCode::Enter, at(0));
    said(&mut app, &runner, at(0), script::hello());
    (app, runner)
}

fn said(app: &mut App, runner: &script::Scripted, now: Duration, event: Event) {
    runner.say(Message::Event(event));
    app.receive(now);
}

fn round(case: usize, round: u32) -> Event {
    Event::Round { seq: 1, result: script::result(&fixture::passes(), case, round) }
}

fn id(case: usize) -> String {
    fixture::passes().cases[case].id.clone()
}

fn key(app: &mut App, key: char, now: Duration) {
    press(app, KeyCode::Char(key), now);
}

fn session(app: &App) -> &Session {
    app.state.session.as_ref().expect("a run")
}

fn screen(app: &mut App, now: Duration) -> String {
    let mut terminal = Terminal::new(TestBackend::new(120, 40)).expect("a terminal");
    app.tick(now);
    app.draw(&mut terminal, now).expect("a frame");
    terminal.backend().to_string()
}

fn header(app: &mut App, now: Duration) -> String {
    screen(app, now).lines().next().expect("a row").to_owned()
}

#[test]
fn a_pause_is_asked_for_held_and_ended_and_its_time_does_not_count() {
    let (mut app, runner) = running();
    said(&mut app, &runner, at(2), round(0, 0));
    key(&mut app, ' ', at(3));
    assert_eq!(runner.told(), [Control::Pause]);
    assert!(header(&mut app, at(3)).contains("PAUSING 1/14"), "{}", header(&mut app, at(3)));
    said(&mut app, &runner, at(4), Event::Paused);
    assert!(header(&mut app, at(90)).contains("PAUSED 1/14 rounds · 0:04"), "{}", header(&mut app, at(90)));
    key(&mut app, ' ', at(100));
    assert_eq!(runner.told(), [Control::Continue]);
    said(&mut app, &runner, at(104), Event::Continued);
    assert_eq!(session(&app).elapsed(at(105)), at(5));
    said(&mut app, &runner, at(106), round(2, 0));
    // The finished rounds took two and four seconds, and the other cases are about as large.
    let [low, high] = session(&app).remaining(at(106)).expect("timed").seconds();
    assert!((18.0..60.0).contains(&low) && low < high && high < 120.0, "{low} to {high} s");
}

#[test]
fn what_stands_still_says_first_how_it_goes_on() {
    let (mut app, runner) = running();
    let first = |app: &mut App| {
        let hints = screen(app, at(1)).lines().last().expect("a row").to_owned();
        hints.trim_matches(['"', ' ']).split("  ").next().expect("a hint").to_owned()
    };
    assert_eq!(first(&mut app), "j/k move");
    key(&mut app, ' ', at(1));
    assert_eq!(first(&mut app), "Space go on", "also before the engine holds");
    said(&mut app, &runner, at(1), Event::Paused);
    assert_eq!(first(&mut app), "Space go on");
    said(&mut app, &runner, at(1), Event::Continued);
    key(&mut app, 'F', at(1));
    assert_eq!(first(&mut app), "F unfreeze");
}

#[test]
fn a_fresh_engine_does_not_hold() {
    let (mut app, runner) = running();
    key(&mut app, ' ', at(1));
    said(&mut app, &runner, at(2), Event::Paused);
    script::died(&fixture::passes(), 0, "gone").into_iter().for_each(|message| runner.say(message));
    app.receive(at(12));
    assert_eq!((session(&app).paused(), session(&app).elapsed(at(12))), (None, at(2)));
    key(&mut app, 'r', at(13));
    assert!(!session(&app).pausing());
    key(&mut app, ' ', at(14));
    assert_eq!(runner.told(), [Control::Pause, Control::Resume, Control::Pause]);
}

#[test]
fn a_pause_that_is_asked_for_before_the_engine_says_hello_is_ended_by_one_key() {
    let (mut app, runner) = running();
    key(&mut app, ' ', at(1));
    said(&mut app, &runner, at(2), script::hello());
    said(&mut app, &runner, at(3), Event::Paused);
    key(&mut app, ' ', at(4));
    assert_eq!(runner.told(), [Control::Pause, Control::Continue]);
}

/// A stored run reports its own pauses, and its playback can be paused as well.
#[test]
fn a_watched_pause_and_one_of_our_own_are_two() {
    let (mut app, runner) = running();
    app.state.mode = Mode::Watch;
    app.state.session.as_mut().expect("a run").mode = Mode::Watch;
    said(&mut app, &runner, at(1), Event::Paused);
    assert!(header(&mut app, at(1)).contains("PAUSED"));
    key(&mut app, ' ', at(2));
    said(&mut app, &runner, at(3), Event::Continued);
    assert_eq!(session(&app).paused(), Some(at(1)), "held still");
    key(&mut app, ' ', at(4));
    assert_eq!(session(&app).paused(), None);
    assert_eq!(runner.told(), [Control::Pause, Control::Continue]);
}

#[test]
fn only_what_is_not_done_is_skipped_and_only_what_is_is_repeated() {
    let (mut app, runner) = running();
    let allowed = |app: &App| ["skip", "again"].map(|name| allows(&app.state, name));
    said(&mut app, &runner, at(1), script::progress(&fixture::passes(), 2, 0, Stage::Sample));
    assert_eq!((session(&app).selected, allowed(&app)), (2, [true, false]));
    key(&mut app, 's', at(1));
    assert_eq!(runner.told(), [Control::Skip(2)]);
    assert!(screen(&mut app, at(1)).contains("2 cpu: to be skipped"), "{}", screen(&mut app, at(1)));
    said(&mut app, &runner, at(1), Event::Skipped { seq: 1, case: id(2) });
    assert_eq!(session(&app).ledger.records()[2].status, Status::NotApplicable("skipped".into()));
    assert_eq!((session(&app).progress(Duration::ZERO), allowed(&app)), ((0, 12), [false, true]));
    key(&mut app, 's', at(1));
    key(&mut app, 'R', at(1));
    assert_eq!(runner.told(), [Control::Again(2)]);
    said(&mut app, &runner, at(1), Event::Retried { case: id(2), rounds: 0 });
    for number in 0..2 {
        said(&mut app, &runner, at(2), round(2, number));
    }
    assert_eq!((session(&app).progress(Duration::ZERO), allowed(&app)), ((2, 14), [false, true]));
    said(&mut app, &runner, at(2), Event::Retried { case: id(2), rounds: 4 });
    assert_eq!((session(&app).progress(Duration::ZERO), allowed(&app)), ((2, 16), [true, false]));
    said(&mut app, &runner, at(3), script::progress(&fixture::passes(), 4, 0, Stage::Sample));
    said(&mut app, &runner, at(3), Event::Skipped { seq: 1, case: id(6) });
    assert_eq!(session(&app).current.map(|current| current.case), Some(4), "it goes on");
    // A case that the plan knows cannot run can be neither skipped nor repeated.
    app.state.session.as_mut().expect("a run").pick(1);
    assert_eq!(allowed(&app), [false, false]);
}

#[test]
fn a_case_that_keeps_its_result_is_not_called_skipped() {
    let (mut app, runner) = running();
    (0..2).for_each(|number| said(&mut app, &runner, at(1), round(2, number)));
    said(&mut app, &runner, at(2), Event::Retried { case: id(2), rounds: 4 });
    for case in [2, 4] {
        said(&mut app, &runner, at(3), Event::Skipped { seq: 1, case: id(case) });
    }
    let says = |text: &str| session(&app).log.says(text);
    assert_eq!(session(&app).ledger.records()[2].status, Status::Done);
    assert!(says("2 cpu: no further rounds") && !says("2 cpu: skipped") && says("4 cpu: skipped"));
}

#[test]
fn what_was_measured_of_a_skipped_case_is_shown_and_is_no_result() {
    let (mut app, runner) = running();
    said(&mut app, &runner, at(1), round(2, 0));
    said(&mut app, &runner, at(1), Event::Skipped { seq: 1, case: id(2) });
    app.state.session.as_mut().expect("a run").pick(2);
    let screen = screen(&mut app, at(1));
    assert_eq!(screen.matches("skipped after 1 round").count(), 2, "in its row and in its panel: {screen}");
    assert!(screen.contains(" GB/s in round 1") && !screen.contains(" median "), "{screen}");
}

#[test]
fn a_frozen_screen_stays_while_results_arrive() {
    let (mut app, runner) = running();
    said(&mut app, &runner, at(1), round(0, 0));
    key(&mut app, 'F', at(2));
    let frozen = screen(&mut app, at(2));
    assert!(frozen.contains("FROZEN 1/14 rounds · 0:02"), "{frozen}");
    said(&mut app, &runner, at(3), round(2, 0));
    said(&mut app, &runner, at(3), script::progress(&fixture::passes(), 4, 0, Stage::Sample));
    assert_eq!(screen(&mut app, at(3)), frozen);
    assert!(app.state.timing(), "drawing must not disturb what is timed behind it");
    // The selection still moves, and requests apply to the live run.
    key(&mut app, 'j', at(3));
    key(&mut app, 'j', at(3));
    assert!(allows(&app.state, "skip"));
    key(&mut app, 's', at(3));
    key(&mut app, ' ', at(3));
    assert_eq!(runner.told(), [Control::Skip(4), Control::Pause]);
    assert!(header(&mut app, at(3)).contains("FROZEN 1/14 rounds · 0:02 · PAUSING"), "it is not forgotten");
    key(&mut app, 'F', at(4));
    let session = session(&app);
    assert_eq!((session.progress(Duration::ZERO), session.selected, session.follow), ((2, 14), 4, false));
    assert!(header(&mut app, at(4)).contains("PAUSING 2/14"), "{}", header(&mut app, at(4)));
}

#[test]
fn what_needs_an_answer_shows_on_a_frozen_screen_too() {
    let (mut app, runner) = running();
    key(&mut app, 'F', at(1));
    script::died(&fixture::passes(), 0, "gone").into_iter().for_each(|message| runner.say(message));
    app.receive(at(2));
    assert!(screen(&mut app, at(2)).contains("Engine died"), "{}", screen(&mut app, at(2)));
    key(&mut app, 'r', at(3));
    assert_eq!(runner.told(), [Control::Resume]);
    runner.say(Message::Over);
    app.receive(at(4));
    assert!(!app.state.active() && allows(&app.state, "freeze"), "until it is asked for");
    key(&mut app, 'F', at(5));
    assert!(matches!(session(&app).phase, Phase::Over { .. }));
    assert!(!allows(&app.state, "freeze"), "nothing changes any more");
}

#[test]
fn cancelling_everything_drops_what_waits_too() {
    let (mut app, runner) = running();
    let waiting = |app: &App| app.state.home.queue.items().len();
    press(&mut app, KeyCode::Esc, at(1));
    key(&mut app, 'a', at(1));
    assert_eq!((waiting(&app), allows(&app.state, "skip")), (1, false), "no case is looked at");
    key(&mut app, 'X', at(1));
    assert_eq!((waiting(&app), runner.told()), (1, Vec::new()), "it asks first");
    key(&mut app, 'X', at(1));
    assert_eq!((waiting(&app), runner.told()), (0, vec![Control::Cancel]));
    assert_eq!(session(&app).phase, Phase::Cancelling);
    assert!(!allows(&app.state, "cancel-all"));
    // Also while the run is being cancelled.
    key(&mut app, 'a', at(2));
    key(&mut app, 'X', at(2));
    key(&mut app, 'X', at(2));
    assert_eq!((waiting(&app), runner.told()), (0, Vec::new()));
}

#[test]
fn a_frozen_screen_outlasts_its_run() {
    let (mut app, runner) = running();
    press(&mut app, KeyCode::Esc, at(1));
    key(&mut app, 'a', at(1));
    press(&mut app, KeyCode::Tab, at(1));
    press(&mut app, KeyCode::Tab, at(1));
    said(&mut app, &runner, at(1), round(0, 0));
    key(&mut app, 'F', at(2));
    runner.say(Message::Over);
    app.receive(at(3));
    app.tick(at(3));
    assert_eq!(runner.starts(), 2, "the next one has begun");
    assert!(header(&mut app, at(4)).contains("FROZEN 1/14"), "{}", header(&mut app, at(4)));
    key(&mut app, 'F', at(5));
    assert!(header(&mut app, at(5)).contains("RUN 0/14"), "{}", header(&mut app, at(5)));
}
