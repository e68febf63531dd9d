//! Effects outside of the state: threads, played runs, the terminal's clipboard.

use std::io;
use std::time::Duration;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent};

use super::{NOW, listed, names, press, stored_runs, typed};
use crate::run::runner::Control;
use crate::tui::app::{Incoming, Source};
use crate::tui::commands::Effect;
use crate::tui::panel::Focus;
use crate::tui::runs::Listing;
use crate::tui::session::{Mode, Phase};
use crate::tui::tests::act;
use crate::tui::tests::{loops, script};
use crate::tui::theme::Theme;
use crate::tui::update::{Input, update};

const PLAIN: Theme = Theme::PLAIN;

#[test]
fn the_terminal_is_asked_between_two_frames() {
    struct Clip(Vec<String>, Vec<KeyCode>);
    impl Source for Clip {
        fn next(&mut self, _: Duration) -> io::Result<Option<Incoming>> {
            let key = self.1.pop().map(KeyEvent::from);
            Ok(key.map(Incoming::Key))
        }
        fn now(&self) -> Duration {
            NOW
        }
        fn copy(&mut self, text: &str) -> io::Result<()> {
            self.0.push(text.to_owned());
            Ok(())
        }
    }
    let root = stored_runs();
    let mut app = listed(root.path(), PLAIN);
    let folder = app.state.runs.selected().expect("a run").path.display().to_string();
    let mut terminal = Terminal::new(TestBackend::new(80, 24)).expect("a terminal");
    let mut source = Clip(Vec::new(), vec![KeyCode::Char('q'), KeyCode::Char('y')]);
    app.run(&mut terminal, &mut source).expect("the loop ends");
    assert_eq!(source.0, [folder]);
}

#[test]
fn a_stored_run_that_is_played_is_watched_and_not_measured() {
    let root = stored_runs();
    let mut app = listed(root.path(), PLAIN);
    let Some(Effect::Request(ticket, job)) = act(&mut app.state, "watch-run") else { panic!("it is read") };
    let io_worker = app.io_worker.as_mut().expect("a desk");
    io_worker.ask(ticket, job, None).expect("asked");
    let (ticket, answer) = io_worker.next().expect("answered");
    let Some(Effect::Play { path, plan, times }) = update(&mut app.state, Input::Answer(ticket, answer), NOW)
    else {
        panic!("it is played")
    };
    assert_eq!((path.ends_with("20261121-080000-passes"), times), (true, 1.0));
    let state = &mut app.state;
    update(state, Input::Played { plan, folder: path, times: 2.0 }, NOW);
    assert_eq!((state.mode(), state.measuring(), state.timing()), (Mode::Watch, false, false));
    assert!(state.session.as_ref().is_some_and(|s| s.mode == Mode::Watch && s.log.says(LOGGED)));
    assert_eq!(state.focus, Focus::Cases);
    assert_eq!(act(state, "pause"), Some(Effect::Send(Control::Pause)), "it can be held");
}

/// The first log line of a played run.
const LOGGED: &str = "played 2.00 times as fast as it ran";

#[test]
fn a_stored_run_is_played_through_the_running_screen() {
    let root = stored_runs();
    let mut app = listed(root.path(), PLAIN);
    typed(&mut app, "w");
    // The playback has its own pace, in its own thread.
    for _ in 0..6000 {
        app.receive(NOW);
        if !app.state.active() {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let session = app.state.session.as_ref().expect("a run");
    assert_eq!((session.mode, &session.phase), (Mode::Watch, &Phase::Over { cancelled: false }));
    assert_eq!(
        (session.progress(Duration::ZERO), app.state.mode()),
        ((18, 18), Mode::Run),
        "a recipe can be started again"
    );
    press(&mut app, KeyCode::Esc);
    assert_eq!(app.state.focus, Focus::Runs, "back where it was asked for");
}

#[test]
fn a_thread_of_its_own_reads_and_wakes_nobody_twice() {
    let root = stored_runs();
    let runner = script::Scripted::default();
    let mut app = loops::app(&runner, PLAIN);
    app.look_below(root.path().to_owned());
    app.tick(NOW);
    typed(&mut app, "o");
    for _ in 0..6000 {
        app.receive(NOW);
        if app.state.runs.listing != Listing::Reading {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!((app.state.runs.listing, names(&app).len()), (Listing::Done { more: 0 }, 4));
}
