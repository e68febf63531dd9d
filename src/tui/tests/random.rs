//! No sequence of keys, messages and sizes causes a panic.

use std::time::Duration;

use proptest::prelude::*;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::loops::app;
use super::{fixture, home, script};
use crate::engine::protocol::Stage;
use crate::run::runner::Message;
use crate::tui::app::{App, Incoming};
use crate::tui::theme::Theme;

#[derive(Clone, Debug)]
enum Step {
    Key(KeyCode, bool),
    /// A message of the selected recipe's script, whether or not the messages before it were sent.
    Say(usize),
    Died(Option<usize>),
    Over,
    HangUp,
    Resize(u16, u16),
    Wait(u64),
    Terminate,
}

fn key() -> impl Strategy<Value = KeyCode> {
    let letters = "jkhlgGxXRsFDrfq?[]{}HJKLvzaAbiod+-=0123459zvv+äß/eawudU oeypcmnRst";
    let letters = letters.chars().map(KeyCode::Char).collect::<Vec<_>>();
    let named = [
        KeyCode::Enter,
        KeyCode::Tab,
        KeyCode::BackTab,
        KeyCode::Esc,
        KeyCode::PageUp,
        KeyCode::PageDown,
        KeyCode::Home,
        KeyCode::End,
        KeyCode::Null,
        KeyCode::Backspace,
        KeyCode::Delete,
        KeyCode::Left,
        KeyCode::Right,
    ];
    prop_oneof![proptest::sample::select(letters), proptest::sample::select(named.to_vec())]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (key(), any::<bool>()).prop_map(|(code, control)| Step::Key(code, control)),
        2 => Just(Step::Key(KeyCode::Enter, false)),
        8 => (0usize..120).prop_map(Step::Say),
        1 => proptest::option::of(0usize..60).prop_map(Step::Died),
        1 => Just(Step::Over),
        1 => Just(Step::HangUp),
        3 => (1u16..150, 1u16..60).prop_map(|(w, h)| Step::Resize(w, h)),
        2 => (0u64..5000).prop_map(Step::Wait),
        1 => Just(Step::Terminate),
    ]
}

/// A message of one of the recipes' scripts, possibly about an unknown case.
fn message(index: usize) -> Message {
    let plan = [fixture::passes, fixture::stream, fixture::applications][index % 3]();
    let messages = script::messages(&plan, Some(index % 7));
    match index {
        0 => Message::Broken("disk full".to_owned()),
        1 => Message::Event(script::progress(&plan, 0, 9, Stage::Certify)),
        _ => messages[index % messages.len()].clone(),
    }
}

/// Keys of a user on the home screen, with a higher probability of opening the form.
fn at_home() -> impl Strategy<Value = Step> {
    let key = |c| Step::Key(KeyCode::Char(c), false);
    prop_oneof![
        8 => step(),
        1 => Just(key('e')),
        1 => Just(key('w')),
        1 => Just(key('/')),
        2 => Just(Step::Key(KeyCode::Down, false)),
        1 => Just(Step::Key(KeyCode::Char('u'), true)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_panics(
        steps in proptest::collection::vec(step(), 1..60),
        colour: bool,
        utf8: bool,
        size in (1u16..150, 1u16..60),
    ) {
        let runner = script::Scripted::default();
        let root = crate::tui::runs::tests::stored_runs();
        let mut app = app(&runner, Theme { colour, utf8, ..Theme::PLAIN });
        app.look_below(root.path().to_owned());
        app.io_worker.iter_mut().for_each(|io_worker| io_worker.at_once = true);
        play(app, &runner, steps, size);
    }

    #[test]
    fn nothing_panics_at_home(
        steps in proptest::collection::vec(at_home(), 1..60),
        colour: bool,
        utf8: bool,
        size in (1u16..150, 1u16..60),
    ) {
        let (app, runner) = home::open(Theme { colour, utf8, ..Theme::PLAIN });
        play(app, &runner, steps, size);
    }
}

fn play(mut app: App, runner: &script::Scripted, steps: Vec<Step>, (width, height): (u16, u16)) {
    app.write = |_, _, _| Err(std::io::Error::from(std::io::ErrorKind::PermissionDenied));
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal");
    let mut now = Duration::ZERO;
    for step in steps {
        match step {
            Step::Key(code, control) => {
                let modifiers = if control { KeyModifiers::CONTROL } else { KeyModifiers::NONE };
                app.take(Incoming::Key(KeyEvent::new(code, modifiers)), now);
            }
            Step::Say(index) => runner.try_say(message(index)),
            Step::Died(case) => {
                let case = case.map(|c| format!("{c:012x}"));
                runner.try_say(Message::Died { reason: "signal 9\nand more".to_owned(), case });
            }
            Step::Over => runner.try_say(Message::Over),
            Step::HangUp => runner.hang_up(),
            Step::Resize(width, height) => terminal.backend_mut().resize(width, height),
            Step::Wait(ms) => now += Duration::from_millis(ms),
            Step::Terminate => app.take(Incoming::Terminate, now),
        }
        app.receive(now);
        app.tick(now);
        app.draw(&mut terminal, now).expect("a frame");
    }
}
