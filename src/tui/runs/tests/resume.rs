//! Resuming runs on disk.

use std::fs;
use std::path::Path;
use std::time::Duration;

use ratatui::crossterm::event::{KeyCode, KeyEvent};

use super::{NOW, over, plan, press, script, stored_runs, typed};
use crate::engine::protocol::Event;
use crate::run::events;
use crate::run::folder::Folder;
use crate::run::runner::{Control, Message};
use crate::tui::app::{App, Incoming};
use crate::tui::panel::Focus;
use crate::tui::runs::Listing;
use crate::tui::session::{Mode, Phase, Session};
use crate::tui::tests::allows;
use crate::tui::theme::Theme;

const RESUME: &str = "resume";

/// Cuts the newest run off in the middle of its rounds.
fn cut(root: &Path) -> std::path::PathBuf {
    let folder = root.join("deep/20261121-080000-passes");
    let events = fs::read_to_string(folder.join("events.ndjson")).expect("events");
    let kept: Vec<&str> = events.lines().take(12).collect();
    fs::write(folder.join("events.ndjson"), kept.join("\n") + "\n").expect("written");
    folder
}

fn session(app: &App) -> &Session {
    app.state.session.as_ref().expect("a run")
}

fn notice(app: &App) -> &str {
    app.state.notice.as_deref().unwrap_or_default()
}

#[test]
fn a_run_that_was_cut_short_goes_on_from_the_list() {
    let root = stored_runs();
    let folder = cut(root.path());
    // A packed run is listed like any other, and is unpacked when it is resumed.
    Folder::reopen(&folder).expect("nobody writes it").pack().expect("packed");
    let (mut app, runner) = over(root.path(), Theme::PLAIN);
    typed(&mut app, "o");
    assert!(allows(&app.state, RESUME), "it is not complete");
    assert!(events::is_packed(&folder));
    typed(&mut app, "r");
    assert!(!events::is_packed(&folder));
    assert_eq!((runner.starts(), &session(&app).folder), (1, &folder), "{}", notice(&app));
    assert_eq!((session(&app).mode, app.state.focus), (Mode::Run, Focus::Cases));
    let (done, all) = session(&app).progress(Duration::ZERO);
    assert!(0 < done && done < all && app.state.measuring(), "what it had is there: {done}/{all}");
    typed(&mut app, "r");
    assert_eq!(runner.starts(), 1, "once");
    let rest = script::messages(&plan(), Some(4)).into_iter().skip(12);
    rest.for_each(|message| runner.say(message));
    runner.say(Message::Over);
    app.receive(NOW);
    assert_eq!(session(&app).phase, Phase::Over { cancelled: false });
    press(&mut app, KeyCode::Esc);
    assert_eq!((app.state.focus, app.state.runs.listing), (Focus::Runs, Listing::Done { more: 0 }));
}

/// The screen does not wait for the disk, and a second request does not delay the first.
#[test]
fn a_run_that_goes_on_is_read_at_the_desk() {
    let root = stored_runs();
    cut(root.path());
    let (mut app, runner) = over(root.path(), Theme::PLAIN);
    typed(&mut app, "o");
    app.io_worker.as_mut().expect("a desk").at_once = false;
    let key = |app: &mut App| app.take(Incoming::Key(KeyEvent::from(KeyCode::Char('r'))), NOW);
    key(&mut app);
    assert_eq!((notice(&app), runner.starts()), ("reading the run …", 0));
    key(&mut app);
    assert_eq!((notice(&app), runner.starts()), ("the run is already being read", 0));
    for _ in 0..6000 {
        app.receive(NOW);
        if runner.starts() > 0 {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!((notice(&app), runner.starts(), app.state.measuring()), ("", 1, true));
}

#[test]
fn a_complete_run_and_one_that_vanished_do_not_go_on() {
    let root = stored_runs();
    let folder = cut(root.path());
    let (mut app, runner) = over(root.path(), Theme::PLAIN);
    typed(&mut app, "ojr");
    assert_eq!(runner.starts(), 0);
    assert!(notice(&app).contains("complete"), "{}", notice(&app));
    fs::remove_dir_all(folder).expect("removed");
    typed(&mut app, "kr");
    assert!(notice(&app).starts_with("not started: "), "{}", notice(&app));
    assert!(app.state.session.is_none());
}

#[test]
fn an_opened_run_goes_on_and_only_our_own_has_cases_measured_again() {
    let root = stored_runs();
    cut(root.path());
    let (mut app, runner) = over(root.path(), Theme::PLAIN);
    typed(&mut app, "o");
    press(&mut app, KeyCode::Enter);
    assert_eq!(session(&app).mode, Mode::Stored);
    typed(&mut app, "R");
    assert_eq!(runner.starts(), 0, "it may be another machine's");
    assert!(notice(&app).contains("stored run"), "{}", notice(&app));
    typed(&mut app, "r");
    assert_eq!((runner.starts(), session(&app).mode), (1, Mode::Run), "{}", notice(&app));
}

#[test]
fn further_rounds_of_a_run_that_is_over_go_into_its_folder() {
    let root = stored_runs();
    let folder = root.path().join("20261120-223758-passes");
    let (mut app, runner) = over(root.path(), Theme::PLAIN);
    typed(&mut app, "oj");
    press(&mut app, KeyCode::Enter);
    app.state.session.as_mut().expect("a run").mode = Mode::Run;
    assert!(!allows(&app.state, RESUME), "nothing is left");
    typed(&mut app, "R");
    assert_eq!((runner.starts(), &session(&app).folder), (1, &folder), "{}", notice(&app));
    assert_eq!(session(&app).progress(Duration::ZERO), (21, 24), "as many rounds as each case had");
    typed(&mut app, "xx");
    assert_eq!(runner.told(), [Control::Cancel]);
    runner.say(Message::Event(Event::Finished { cancelled: true }));
    runner.say(Message::Over);
    app.receive(NOW);
    assert!(allows(&app.state, RESUME), "cut short");
    let said = crate::tui::panel::banner::text(&app.state).map(|(text, _)| text);
    assert_eq!(said.as_deref(), Some("The run is not complete. r: resume it."));
}
