//! The event loop, with the test's own clock and keys.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent};

use super::{fixture, script};
use crate::engine::protocol::Stage;
use crate::run::runner::{Control, Message};
use crate::tui::app::{App, Incoming, Source};
use crate::tui::home::jobs::Wanted;
use crate::tui::session::Phase;
use crate::tui::state::{Leaving, State};
use crate::tui::theme::Theme;

pub fn app(runner: &script::Scripted, theme: Theme) -> App {
    let state = State::new(fixture::recipes(), fixture::DEVICES.to_owned());
    let mut app = App::new(state, theme, Box::new(runner.clone()), Arc::new(fixture::changed));
    // Whatever is typed, no test leaves a file behind.
    app.write = |_, _, _| Err(io::Error::from(io::ErrorKind::PermissionDenied));
    app
}

pub fn press(app: &mut App, code: KeyCode, now: Duration) {
    app.take(Incoming::Key(KeyEvent::from(code)), now);
}

const PLAIN: Theme = Theme::PLAIN;

/// Types keys at given times; each wait takes as long as it may.
struct Typist {
    keys: VecDeque<(Duration, KeyCode)>,
    now: Duration,
    waits: usize,
}

impl Source for Typist {
    fn next(&mut self, timeout: Duration) -> io::Result<Option<Incoming>> {
        self.waits += 1;
        assert!(self.waits < 10_000, "the loop spins");
        let until = self.now + timeout.max(Duration::from_millis(1));
        match self.keys.front() {
            Some((at, _)) if *at <= until => {
                let (at, code) = self.keys.pop_front().expect("a key");
                self.now = at.max(self.now);
                Ok(Some(Incoming::Key(KeyEvent::from(code))))
            }
            _ => {
                self.now = until;
                Ok(None)
            }
        }
    }

    fn now(&self) -> Duration {
        self.now
    }
}

/// Number of frames for a second of typing, in this stage of a case.
fn frames(stage: Stage) -> usize {
    let runner = script::Scripted::default();
    let mut app = app(&runner, PLAIN);
    press(&mut app, KeyCode::Enter, Duration::ZERO);
    runner.say(Message::Event(script::progress(&fixture::stream(), 0, 0, stage)));
    app.receive(Duration::ZERO);
    let mut terminal = Terminal::new(TestBackend::new(80, 24)).expect("a terminal");
    app.draw(&mut terminal, Duration::ZERO).expect("a frame");
    let keys = (1..1000).map(|ms| (Duration::from_millis(ms), KeyCode::Char('j')));
    let last = [(Duration::from_secs(1), KeyCode::Char('q')), (Duration::from_secs(1), KeyCode::Char('q'))];
    let patience = (Duration::from_secs(1), KeyCode::Char('q'));
    let keys = keys.chain(last).chain([patience]).collect();
    let mut typist = Typist { keys, now: Duration::ZERO, waits: 0 };
    app.run(&mut terminal, &mut typist).expect("the loop ends");
    terminal.get_frame().count()
}

#[test]
fn typing_while_a_case_is_timed_costs_at_most_four_frames_a_second() {
    let timed = frames(Stage::Sample);
    assert!((3..=6).contains(&timed), "{timed} frames in a second, and one at either end");
    assert!(frames(Stage::Generate) > 20);
}

/// A run of cases that take a few milliseconds each, for a second; then the user leaves.
struct ShortCases {
    runner: script::Scripted,
    typist: Typist,
}

impl Source for ShortCases {
    fn next(&mut self, timeout: Duration) -> io::Result<Option<Incoming>> {
        let (plan, before) = (fixture::stream(), self.typist.now);
        let incoming = self.typist.next(timeout);
        for ms in before.as_millis()..self.typist.now.as_millis() {
            let stage = if ms % 4 == 1 { Stage::Sample } else { Stage::Generate };
            self.runner.try_say(Message::Event(script::progress(&plan, 0, 0, stage)));
        }
        incoming
    }

    fn now(&self) -> Duration {
        self.typist.now
    }
}

#[test]
fn short_cases_are_not_drawn_in_between() {
    let runner = script::Scripted::default();
    let mut app = app(&runner, PLAIN);
    press(&mut app, KeyCode::Enter, Duration::ZERO);
    runner.say(Message::Event(script::progress(&fixture::stream(), 0, 0, Stage::Sample)));
    let mut terminal = Terminal::new(TestBackend::new(80, 24)).expect("a terminal");
    let second = Duration::from_secs(1);
    let keys = [second; 3].map(|at| (at, KeyCode::Char('q'))).into();
    let mut source = ShortCases { runner, typist: Typist { keys, now: Duration::ZERO, waits: 0 } };
    app.run(&mut terminal, &mut source).expect("the loop ends");
    let frames = terminal.get_frame().count();
    assert!((3..=6).contains(&frames), "{frames} frames in a second");
}

/// A terminal that shrinks and grows back between two frames loses part of its content.
#[test]
fn a_terminal_that_has_its_old_size_again_is_drawn_anew() {
    let mut app = app(&script::Scripted::default(), PLAIN);
    let mut terminal = Terminal::new(TestBackend::new(80, 24)).expect("a terminal");
    app.draw(&mut terminal, Duration::ZERO).expect("a frame");
    let whole = terminal.backend().buffer().clone();
    terminal.backend_mut().resize(20, 5);
    terminal.backend_mut().resize(80, 24);
    assert_ne!(terminal.backend().buffer(), &whole, "something is lost");
    app.take(Incoming::Resized, Duration::ZERO);
    app.draw(&mut terminal, Duration::ZERO).expect("a frame");
    assert_eq!(terminal.backend().buffer(), &whole);
}

#[test]
fn an_idle_screen_is_not_drawn_again() {
    let runner = script::Scripted::default();
    let mut app = app(&runner, PLAIN);
    let mut terminal = Terminal::new(TestBackend::new(80, 24)).expect("a terminal");
    let keys = VecDeque::from([(Duration::from_secs(60), KeyCode::Char('q'))]);
    let mut typist = Typist { keys, now: Duration::ZERO, waits: 0 };
    app.run(&mut terminal, &mut typist).expect("the loop ends");
    assert_eq!(terminal.get_frame().count(), 1);
}

#[test]
fn a_run_is_started_watched_and_ended_through_the_runner() {
    let runner = script::Scripted::default();
    let mut app = app(&runner, PLAIN);
    let now = Duration::from_secs(1);
    app.tick(now);
    press(&mut app, KeyCode::Enter, now);
    assert_eq!(runner.starts(), 1);
    let plan = fixture::stream();
    for message in script::messages(&plan, None) {
        runner.say(message);
    }
    app.receive(now);
    let session = app.state.session.as_ref().expect("a run");
    assert_eq!(session.progress(Duration::ZERO), (42, 42));
    press(&mut app, KeyCode::Char('x'), now);
    press(&mut app, KeyCode::Char('x'), now);
    assert_eq!(runner.told(), [Control::Cancel]);
    runner.say(Message::Over);
    app.receive(now);
    assert!(!app.state.active());
    press(&mut app, KeyCode::Char('q'), now);
    assert_eq!(app.state.leaving, Leaving::Now);
}

#[test]
fn a_lost_thread_and_a_runner_that_refuses_are_shown() {
    let runner = script::Scripted::default();
    let mut app = app(&runner, PLAIN);
    app.tick(Duration::ZERO);
    press(&mut app, KeyCode::Enter, Duration::ZERO);
    runner.hang_up();
    app.receive(Duration::ZERO);
    let phase = app.state.session.as_ref().map(|s| s.phase.clone());
    assert!(matches!(phase, Some(Phase::Broken(_))));

    let state = State::new(fixture::recipes(), String::new());
    let empty =
        |_: &_, _: &_, _: Wanted| Ok(crate::recipe::plan::Plan { cases: Vec::new(), ..fixture::passes() });
    let mut app = App::new(state, PLAIN, Box::new(runner), Arc::new(empty));
    app.tick(Duration::ZERO);
    press(&mut app, KeyCode::Enter, Duration::ZERO);
    assert_eq!(app.state.notice.as_deref(), Some("not started: the plan is empty"));
}
