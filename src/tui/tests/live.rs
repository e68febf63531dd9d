//! Live pictures: their screens, and what is said to the engine.

use std::time::Duration;

use ratatui::crossterm::event::{KeyCode, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};

use super::loops::press;
use super::screens::{COLOURED, at, draw, finished, played, watching};
use super::{fixture, script};
use crate::case::Snapshot;
use crate::engine::protocol::{Event, Pictures, Stage};
use crate::run::runner::{Control, Message};
use crate::tui::app::{App, Incoming};
use crate::tui::panel::Focus;
use crate::tui::theme::Theme;

/// A ring of waves around the centre, and a corner of dry land.
fn pond() -> Snapshot {
    let height = |x: u32, y: u32| {
        let far = f64::hypot(f64::from(x) - 40.0, f64::from(y) - 24.0);
        let dry = x < 12 && y < 8;
        if dry { f32::NAN } else { ((far / 3.0).cos() * (-far / 25.0).exp()) as f32 }
    };
    let values = (0..48).flat_map(|y| (0..80).map(move |x| height(x, y))).collect();
    let (what, when) = ("height of the water, m".to_owned(), "step 1200".to_owned());
    Snapshot::Field { what, when, columns: 80, rows: 48, values }
}

/// The frontier of a search in a random graph.
fn frontier() -> Snapshot {
    let sizes = [1, 16, 250, 3800, 52_000, 410_000, 880_000, 120_000, 900, 12, 1];
    Snapshot::curve("step", "vertices in the frontier", sizes.map(f64::from).to_vec())
}

/// The message of a picture of the case at this position.
fn of(case: usize, picture: Snapshot) -> Message {
    let case = fixture::passes().cases[case].id.clone();
    Message::Event(Event::Snapshot { case, round: 0, picture })
}

/// A run whose case 8 is being sampled, after this picture of it.
fn running(theme: Theme, picture: Option<Snapshot>) -> (App, script::Scripted) {
    let (mut app, runner) = played(theme, 1, None, 10);
    runner.say(Message::Event(script::progress(&fixture::passes(), 8, 0, Stage::Sample)));
    picture.into_iter().for_each(|picture| runner.say(of(8, picture)));
    app.receive(at(3));
    press(&mut app, KeyCode::Char('I'), at(4));
    app.tick(at(5));
    (app, runner)
}

pub fn field(theme: Theme) -> App {
    running(theme, Some(pond())).0
}

pub fn curve(theme: Theme) -> App {
    running(theme, Some(frontier())).0
}

pub fn none(theme: Theme) -> App {
    running(theme, None).0
}

pub fn watched(theme: Theme) -> App {
    let mut app = watching(theme);
    let case = app.state.session.as_ref().expect("a run").selected;
    if let Some(session) = &mut app.state.session {
        session.receive(of(case, pond()), at(4));
    }
    press(&mut app, KeyCode::Char('I'), at(4));
    app.tick(at(5));
    app
}

fn shown(app: &mut App) -> String {
    draw(app, (80, 24), at(5)).backend().to_string()
}

#[test]
fn pictures_are_asked_for_while_somebody_looks() {
    let (mut app, runner) = running(COLOURED, Some(pond()));
    assert_eq!(runner.told(), [Control::Show(Pictures::Live)]);
    assert!(shown(&mut app).contains("height of the water, m"));
    press(&mut app, KeyCode::Esc, at(5));
    assert_eq!((app.state.focus, runner.told()), (Focus::Cases, vec![Control::Show(Pictures::Few)]));
    press(&mut app, KeyCode::Char('I'), at(5));
    press(&mut app, KeyCode::Char('I'), at(6));
    assert_eq!(runner.told(), [Control::Show(Pictures::Live), Control::Show(Pictures::Few)]);
    runner.say(Message::Over);
    app.receive(at(7));
    press(&mut app, KeyCode::Char('I'), at(8));
    app.tick(at(9));
    assert!(app.state.focus == Focus::Live && shown(&mut app).contains("Picture"), "it stays");
}

#[test]
fn a_stone_falls_into_the_field_that_is_being_sampled() {
    let (mut app, runner) = running(COLOURED, Some(pond()));
    runner.told();
    press(&mut app, KeyCode::Char('c'), at(5));
    assert_eq!(runner.told(), [Control::Disturb([0.5, 0.5])]);
    assert!(shown(&mut app).contains("a stone falls at (0.50, 0.50)"));
    let anywhere = |app: &mut App, now| {
        press(app, KeyCode::Char('d'), now);
        match runner.told()[..] {
            [Control::Disturb(at)] => at,
            ref other => panic!("{other:?}"),
        }
    };
    let places = [5, 6, 7].map(|second| anywhere(&mut app, at(second)));
    assert!(places.iter().flatten().all(|share| (0.0..1.0).contains(share)), "{places:?}");
    assert!(places[0] != places[1] && places[1] != places[2]);
    press(&mut app, KeyCode::Char('k'), at(8));
    press(&mut app, KeyCode::Char('c'), at(8));
    assert_eq!(runner.told(), [], "another case");
    assert!(shown(&mut app).contains("there is no picture of this case"));
}

#[test]
fn a_click_drops_a_stone_where_the_pointer_is() {
    let (mut app, runner) = running(COLOURED, Some(pond()));
    shown(&mut app);
    runner.told();
    let mut click = |column, row| {
        let kind = MouseEventKind::Down(MouseButton::Left);
        app.take(Incoming::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE }), at(5));
        runner.told()
    };
    let [Control::Disturb([x, y])] = click(40, 12)[..] else { panic!("no stone") };
    assert!((x - 0.5).abs() < 0.05 && (y - 0.5).abs() < 0.1, "({x}, {y})");
    assert_eq!(click(0, 12), [], "beside the field");
}

#[test]
fn a_curve_has_no_place_for_a_stone_and_a_stored_run_no_water() {
    let (mut app, runner) = running(COLOURED, Some(frontier()));
    runner.told();
    press(&mut app, KeyCode::Char('d'), at(5));
    assert_eq!(runner.told(), []);
    assert!(shown(&mut app).contains("a stone cannot be dropped on a curve"));
    let mut app = watched(COLOURED);
    press(&mut app, KeyCode::Char('d'), at(5));
    assert!(shown(&mut app).contains("a stored run is read-only"));
}

#[test]
fn a_run_without_any_picture_has_nothing_to_show_in_the_end() {
    let mut app = finished(COLOURED, 1);
    press(&mut app, KeyCode::Char('I'), at(9));
    assert_ne!(app.state.focus, Focus::Live);
    let screen = draw(&mut app, (120, 40), at(10)).backend().to_string();
    assert!(screen.contains("nothing of it can be shown"), "{screen}");
}

/// Whatever arrives between two frames, no more than four are drawn in a second.
#[test]
fn each_picture_is_drawn_but_not_more_often_than_four_times_a_second() {
    let (mut app, runner) = running(COLOURED, Some(pond()));
    let mut frames = 0;
    let mut terminal = draw(&mut app, (80, 24), at(6));
    let before = terminal.get_frame().count();
    let mut source = Clock(at(7));
    for _ in 0..100 {
        runner.say(of(8, pond()));
        assert!(app.turn(&mut terminal, &mut source, Duration::from_millis(10)).expect("a turn"));
        frames = terminal.get_frame().count() - before;
    }
    assert!((4..=5).contains(&frames), "{frames}");
}

/// Time passes as it is waited for.
struct Clock(Duration);

impl crate::tui::app::Source for Clock {
    fn next(&mut self, timeout: Duration) -> std::io::Result<Option<Incoming>> {
        self.0 += timeout.max(Duration::from_millis(1)).min(Duration::from_millis(10));
        Ok(None)
    }

    fn now(&self) -> Duration {
        self.0
    }
}
