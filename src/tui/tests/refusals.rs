//! A key without an effect explains why, and hints name the current effects of keys.

use std::time::Duration;

use ratatui::crossterm::event::KeyCode;

use super::loops::{app, press};
use super::screens::{at, draw, finished, played};
use super::script;
use crate::run::runner::Message;
use crate::tui::app::App;
use crate::tui::session::{Mode, Phase};
use crate::tui::theme::Theme;

const PLAIN: Theme = Theme::PLAIN;

/// The notice after these keys.
fn said(app: &mut App, keys: &str) -> String {
    keys.chars().for_each(|c| press(app, KeyCode::Char(c), at(10)));
    app.state.notice.clone().unwrap_or_default()
}

fn hints(app: &mut App, width: u16) -> String {
    let screen = draw(app, (width, 40), at(10)).backend().to_string();
    screen.lines().last().expect("a row").to_owned()
}

#[test]
fn a_key_that_does_nothing_says_why() {
    let mut app = finished(PLAIN, 1);
    let table = [
        ("gs", "the run is over"),
        ("Gs", "this case is n/a: no CUDA driver"),
        ("x", "no run is active"),
        (" ", "no run is active"),
        ("r", "this run is complete: nothing is left to measure"),
        ("f", "no case is being measured"),
        ("o", "o does nothing here; it is a key of Recipes (runs), Chart (baseline)"),
        ("]", "the chart has only one panel"),
        ("}", "the recipe has only one experiment"),
        ("v9", "there is no line 9"),
        ("0", "the whole chart is shown"),
    ];
    for (keys, wanted) in table {
        let said = said(&mut app, keys);
        assert!(said.contains(wanted), "{keys}: {said} and not {wanted}");
    }
    assert_eq!(said(&mut app, "j"), "", "the next key takes it away");
    assert_eq!(said(&mut app, "#"), "", "a key that nobody has");
    let (mut app, _runner) = played(PLAIN, 1, None, 6);
    let table = [("gR", "this case still has rounds to come"), ("d", "key of Queue (remove), Chart (diff")];
    for (keys, wanted) in table {
        let said = said(&mut app, keys);
        assert!(said.contains(wanted), "{keys}: {said} and not {wanted}");
    }
}

#[test]
fn a_played_run_that_was_cut_short_is_only_looked_at() {
    let mut app = finished(PLAIN, 1);
    let session = app.state.session.as_mut().expect("a run");
    (session.mode, session.phase) = (Mode::Watch, Phase::Over { cancelled: true });
    for key in ["r", "gs", "R"] {
        assert_eq!(said(&mut app, key), "a run that is played back is read-only", "{key}");
    }
}

#[test]
fn keys_at_home_say_why_too() {
    let mut app = app(&script::Scripted::default(), PLAIN);
    app.tick(Duration::ZERO);
    assert_eq!(said(&mut app, "p"), "there are no indices and no sparse matrix to show");
    said(&mut app, "jj");
    app.tick(at(10));
    assert!(said(&mut app, "w").starts_with("this recipe has a mistake"));
    assert!(said(&mut app, "e").starts_with("this recipe cannot be edited"));
    press(&mut app, KeyCode::Tab, at(10));
    assert_eq!(said(&mut app, ""), "there is no other panel");
}

#[test]
fn hints_say_what_the_keys_do_now() {
    let (mut app, runner) = played(PLAIN, 1, None, 6);
    assert!(hints(&mut app, 160).contains(" Space pause "), "{}", hints(&mut app, 160));
    said(&mut app, " ");
    assert!(hints(&mut app, 160).contains(" Space go on "), "{}", hints(&mut app, 160));
    press(&mut app, KeyCode::Esc, at(10));
    assert!(hints(&mut app, 160).contains(" Enter show run "), "{}", hints(&mut app, 160));
    said(&mut app, "k");
    assert!(hints(&mut app, 160).contains(" Enter queue "), "{}", hints(&mut app, 160));
    runner.say(Message::Over);
    app.receive(at(10));
    assert!(hints(&mut app, 160).contains(" Enter start "), "{}", hints(&mut app, 160));
}

#[test]
fn the_way_back_is_always_among_the_hints() {
    let mut app = finished(PLAIN, 1);
    for width in [40, 60, 80, 120] {
        let hints = hints(&mut app, width);
        assert!(hints.contains(" Esc back  ? help  q quit "), "{width}: {hints}");
    }
}

#[test]
fn as_many_lines_as_there_are_can_be_hidden() {
    let mut app = finished(PLAIN, 3);
    said(&mut app, "v");
    assert!(hints(&mut app, 200).contains(" 1/2 hide "), "{}", hints(&mut app, 200));
}
