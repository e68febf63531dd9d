//! Lists that stay readable, keys that cannot be hit by mistake, and an engine that says nothing.

use std::time::Duration;

use ratatui::crossterm::event::KeyCode;

use super::loops::press;
use super::screens::{at, draw, finished, played};
use super::{fixture, script};
use crate::report::claims::Outcome;
use crate::run::runner::{Control, Message};
use crate::tui::app::{App, Incoming};
use crate::tui::panel::Focus;
use crate::tui::session::{Claimed, Phase, Row};
use crate::tui::theme::Theme;

fn shown(app: &mut App, size: (u16, u16), now: Duration) -> String {
    draw(app, size, now).backend().to_string()
}

fn key(app: &mut App, key: char, now: Duration) {
    press(app, KeyCode::Char(key), now);
}

#[test]
fn cases_that_cannot_run_share_a_row_until_a_key_lists_them() {
    let mut app = finished(Theme::PLAIN, 1);
    let screen = shown(&mut app, (120, 24), at(10));
    assert!(screen.contains("7 n/a: no CUDA driver"), "{screen}");
    assert_eq!(
        screen.matches("n/a: no CUDA").count(),
        1 + usize::from(screen.contains("cuda n/a: no CUDA")),
        "{screen}"
    );
    let session = app.state.session.as_ref().expect("a run");
    let rows = session.rows();
    assert_eq!(rows.len(), 1 + 7 + 1, "a heading, the cases of cpu, and one row for those of cuda");
    assert_eq!(rows.last(), Some(&Row::Absent { first: 1 }));
    // The selection goes through what is listed.
    key(&mut app, 'g', at(10));
    (0..20).for_each(|_| key(&mut app, 'j', at(10)));
    let session = app.state.session.as_ref().expect("a run");
    assert_eq!((session.selected, session.selected_row(&rows)), (1, 8));
    key(&mut app, 'k', at(10));
    assert_eq!(app.state.session.as_ref().expect("a run").selected, 12);
    key(&mut app, 'n', at(10));
    let session = app.state.session.as_ref().expect("a run");
    assert_eq!(session.rows().len(), 15);
    let screen = shown(&mut app, (120, 34), at(10));
    assert!(screen.matches("n/a: no CUDA").count() >= 7, "{screen}");
    key(&mut app, 'n', at(10));
    assert_eq!(app.state.session.as_ref().expect("a run").rows(), rows);
}

#[test]
fn claims_are_the_last_rows_of_their_experiment_and_cannot_be_selected() {
    let mut app = finished(Theme::PLAIN, 1);
    // The chart is made, and with it the claims are judged.
    shown(&mut app, (120, 40), at(10));
    let session = app.state.session.as_mut().expect("a run");
    let before = session.rows().len();
    let claimed = |outcomes: &str, outcome| Claimed {
        outcomes: outcomes.to_owned(),
        says: "§3.5, Fig. 9: 16 passes are best".to_owned(),
        outcome,
    };
    session.claims =
        vec![vec![claimed("holds, size fails", Outcome::Holds), claimed("fails", Outcome::Fails)]];
    let rows = session.rows();
    assert_eq!(rows.len(), before + 2);
    assert_eq!(rows.last(), Some(&Row::Claim { experiment: 0, at: 1 }));
    (0..40).for_each(|_| key(&mut app, 'j', at(10)));
    let session = app.state.session.as_ref().expect("a run");
    assert_eq!(session.selected_row(&rows), before - 1, "the last case");
    for (size, words) in [((120, 40), "holds, size fails"), ((80, 24), "holds, size fails")] {
        let screen = shown(&mut app, size, at(10));
        assert!(screen.contains(words), "{screen}");
    }
}

#[test]
fn a_series_that_cannot_run_is_not_in_the_legend() {
    let mut app = finished(Theme::PLAIN, 1);
    let screen = shown(&mut app, (120, 30), at(10));
    assert!(
        screen.contains("1 ● cpu") && !screen.contains("2 ■ cuda") && !screen.contains(" cuda  "),
        "{screen}"
    );
}

#[test]
fn the_heading_of_the_list_stays_where_the_list_scrolls() {
    // Two experiments with 6 and 36 cases.
    let mut app = finished(Theme::PLAIN, 0);
    for keys in ["g", "G", "Gkkkkkkkkkk"] {
        keys.chars().for_each(|c| key(&mut app, c, at(10)));
        let screen = shown(&mut app, (80, 24), at(10));
        let second = app.state.session.as_ref().is_some_and(|session| session.experiment() == 1);
        assert_eq!(second, keys != "g");
        let heading = screen.lines().nth(2).unwrap_or_default().to_owned();
        assert!(heading.contains(if second { "kernel elem" } else { "kernel backend" }), "{keys}: {screen}");
        assert!(screen.contains('>'), "the selected case is visible: {screen}");
    }
}

#[test]
fn rows_keep_what_tells_them_apart_on_small_screens() {
    for size in [(80, 24), (60, 15)] {
        let mut app = finished(Theme::PLAIN, 3);
        let screen = shown(&mut app, size, at(10));
        let rows: Vec<String> = screen.lines().map(|line| line.chars().skip(4).take(16).collect()).collect();
        let cases: Vec<&String> =
            rows.iter().filter(|row| row.contains("cpu") || row.contains("scalar")).collect();
        assert!(cases.len() >= 5, "{screen}");
        let mut distinct = cases.clone();
        distinct.sort();
        distinct.dedup();
        assert_eq!(distinct.len(), cases.len(), "{cases:?}");
    }
}

#[test]
fn cancelling_asks_and_another_key_takes_the_question_back() {
    let (mut app, runner) = played(Theme::PLAIN, 1, None, 11);
    key(&mut app, 'x', at(4));
    let screen = shown(&mut app, (80, 24), at(4));
    assert!(screen.contains("Cancel the run? Press x again"), "{screen}");
    key(&mut app, 'j', at(4));
    key(&mut app, 'x', at(4));
    assert_eq!(runner.told(), Vec::new(), "it is asked again");
    key(&mut app, 'x', at(4));
    assert_eq!(runner.told(), [Control::Cancel]);
    assert_eq!(app.state.session.as_ref().expect("a run").phase, Phase::Cancelling);
}

#[test]
fn pasted_text_is_no_key_and_goes_into_text_fields_only() {
    let (mut app, runner) = played(Theme::PLAIN, 1, None, 11);
    let before = app.state.session.as_ref().expect("a run").selected;
    let paste = |app: &mut App, text: &str| app.take(Incoming::Paste(text.to_owned()), at(4));
    paste(&mut app, "xxXX sss 123 jjj q\nq\n");
    assert_eq!(runner.told(), Vec::new());
    assert_eq!(app.state.session.as_ref().expect("a run").selected, before);
    assert!(shown(&mut app, (80, 24), at(4)).contains("text can be pasted only where a text is typed"));
    press(&mut app, KeyCode::Esc, at(4));
    key(&mut app, '/', at(4));
    paste(&mut app, "multi\tpass\n");
    assert_eq!(app.state.home.filter.field.text(), "multi pass", "one line, without controls");
    assert!(app.state.home.filter.typing, "the end of the line does not accept it");
    assert_eq!(app.state.recipes.shown().len(), 1);
}

#[test]
fn a_silent_engine_is_told_from_a_slow_case() {
    let (mut app, runner) = played(Theme::PLAIN, 1, None, 12);
    let header =
        |app: &mut App, now| shown(app, (100, 24), now).lines().next().unwrap_or_default().to_owned();
    assert!(header(&mut app, at(9)).contains("RUN "), "{}", header(&mut app, at(9)));
    let silent = header(&mut app, at(15));
    assert!(silent.contains("no word from the engine for 12 s"), "{silent}");
    let small = shown(&mut app, (50, 12), at(15));
    assert!(small.contains("no word from the engine"), "{small}");
    // It speaks again; from now on as long a silence is nothing special.
    runner.say(Message::Event(script::progress(
        &fixture::passes(),
        8,
        0,
        crate::engine::protocol::Stage::WarmUp,
    )));
    app.receive(at(16));
    assert!(header(&mut app, at(30)).contains("RUN "), "{}", header(&mut app, at(30)));
    assert!(header(&mut app, at(46)).contains("no word from the engine for 30 s"));
    // A run that is held says nothing for good reason.
    runner.say(Message::Event(crate::engine::protocol::Event::Paused));
    app.receive(at(47));
    assert!(header(&mut app, at(99)).contains("PAUSED"));
}

#[test]
fn keys_typed_ahead_of_the_pattern_view_are_for_it() {
    let runner = script::Scripted::default();
    let mut app = super::loops::app(&runner, Theme::PLAIN);
    app.tick(at(0));
    "jjj".chars().for_each(|c| key(&mut app, c, at(0)));
    app.tick(at(0));
    // All in one burst, before the indices are there.
    "pbs".chars().for_each(|c| key(&mut app, c, at(1)));
    let deadline = std::time::Instant::now() + Duration::from_secs(20);
    while app.state.focus != Focus::Pattern && std::time::Instant::now() < deadline {
        app.receive(at(2));
        std::thread::yield_now();
    }
    let view = app.state.pattern.as_ref().expect("the view");
    assert_eq!(
        (view.line, view.whole),
        (1, true),
        "a processor's lines of 64 bytes, changed by b; s for whole lines"
    );
}

#[test]
fn the_queue_shows_all_that_waits() {
    for size in [(80, 24), (120, 40), (60, 15)] {
        let (mut app, _) = played(Theme::PLAIN, 1, None, 11);
        press(&mut app, KeyCode::Esc, at(4));
        "akaka".chars().for_each(|c| key(&mut app, c, at(4)));
        let waiting = app.state.home.queue.items().len();
        assert_eq!(waiting, 3);
        let screen = shown(&mut app, size, at(5));
        for at in 1..=waiting {
            assert!(screen.contains(&format!("   {at} ")), "{size:?}: {screen}");
        }
    }
}
