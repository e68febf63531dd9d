//! A run on the screen in all its states.

use std::time::Duration;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::KeyCode;

use super::loops::{app, press};
use super::{fixture, script};
use crate::engine::protocol::{Event, Level, RoundResult};
use crate::run::runner::{Control, Message};
use crate::stats::noise::Flag;
use crate::tui::app::App;
use crate::tui::session::Mode;
use crate::tui::state::{Leaving, Overlay, Remote};
use crate::tui::theme::Theme;

pub const COLOURED: Theme = Theme { colour: true, ..Theme::PLAIN };
pub const ASCII: Theme = Theme { utf8: false, ..Theme::PLAIN };

pub fn at(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Draws the app on a terminal in memory.
pub fn draw(app: &mut App, (width, height): (u16, u16), now: Duration) -> Terminal<TestBackend> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal");
    app.tick(now);
    app.draw(&mut terminal, now).expect("a frame");
    terminal
}

fn shown(app: &mut App, size: (u16, u16), now: Duration) -> String {
    draw(app, size, now).backend().to_string()
}

/// The app after starting a recipe and receiving `messages` of its messages, one every quarter of a second.
pub fn played(theme: Theme, recipe: usize, fails: Option<usize>, messages: usize) -> (App, script::Scripted) {
    let runner = script::Scripted::default();
    let mut app = app(&runner, theme);
    app.tick(Duration::ZERO);
    (0..recipe).for_each(|_| press(&mut app, KeyCode::Char('j'), Duration::ZERO));
    app.tick(Duration::ZERO);
    press(&mut app, KeyCode::Enter, Duration::ZERO);
    let plan = fixture::resolve(&fixture::recipes()[recipe]).expect("a plan");
    for (index, message) in script::messages(&plan, fails).into_iter().take(messages).enumerate() {
        runner.say(message);
        app.receive(Duration::from_millis(250 * index as u64));
    }
    (app, runner)
}

pub fn finished(theme: Theme, recipe: usize) -> App {
    let (mut app, runner) = played(theme, recipe, Some(4), usize::MAX);
    runner.say(Message::Reported("reports/scripted".into()));
    runner.say(Message::Over);
    app.receive(at(9));
    app
}

pub fn died(theme: Theme) -> App {
    let (mut app, runner) = played(theme, 1, None, 13);
    let said = script::died(&fixture::passes(), 10, "killed by signal 9 (SIGKILL)");
    said.into_iter().for_each(|message| runner.say(message));
    app.receive(at(4));
    seen(app, at(5))
}

/// The app after a tick at `now`.
fn seen(mut app: App, now: Duration) -> App {
    app.tick(now);
    app
}

/// Presses these keys; a space pauses.
fn pressed(mut app: App, keys: &str) -> App {
    keys.chars().for_each(|key| press(&mut app, KeyCode::Char(key), at(4)));
    app
}

/// A running app after these keys and these messages.
fn asked(theme: Theme, keys: &str, says: impl IntoIterator<Item = Message>) -> App {
    let (app, runner) = played(theme, 1, Some(4), 11);
    let mut app = pressed(app, keys);
    says.into_iter().for_each(|message| runner.say(message));
    app.receive(at(4));
    seen(app, at(5))
}

pub fn starting(theme: Theme) -> App {
    seen(played(theme, 1, None, 0).0, at(1))
}

pub fn running(theme: Theme) -> App {
    asked(theme, "", [])
}

/// On a remote machine, with overrides on the command line.
pub fn elsewhere(theme: Theme) -> App {
    let mut app = running(theme);
    let latency = Some(Duration::from_millis(23));
    app.state.remote = Some(Remote { name: "ssh gpuhost".to_owned(), latency });
    app
}

pub fn with_a_queue(theme: Theme) -> App {
    let mut app = running(theme);
    press(&mut app, KeyCode::Esc, at(4));
    let mut app = pressed(app, "akak");
    (0..2).for_each(|_| press(&mut app, KeyCode::Tab, at(4)));
    seen(app, at(5))
}

pub fn samples(theme: Theme) -> App {
    let mut app = finished(theme, 1);
    (0..2).for_each(|_| press(&mut app, KeyCode::Tab, at(9)));
    app
}

pub fn log(theme: Theme) -> App {
    let mut app = samples(theme);
    press(&mut app, KeyCode::Tab, at(9));
    app
}

pub fn pausing(theme: Theme) -> App {
    asked(theme, " ", [])
}

pub fn paused(theme: Theme) -> App {
    asked(theme, " ", [Message::Event(Event::Paused)])
}

pub fn frozen(theme: Theme) -> App {
    asked(theme, "F", script::messages(&fixture::passes(), Some(4)).into_iter().skip(11).take(3))
}

pub fn frozen_and_paused(theme: Theme) -> App {
    asked(theme, "F ", [Message::Event(Event::Paused)])
}

pub fn skipped(theme: Theme) -> App {
    let case = fixture::passes().cases[10].id.clone();
    asked(theme, "jjs", [Message::Event(Event::Skipped { seq: 9, case })])
}

pub fn asked_to_cancel(theme: Theme) -> App {
    asked(theme, "x", [])
}

/// The engine was stopped, or hangs.
pub fn silent(theme: Theme) -> App {
    let mut app = asked(theme, "", []);
    app.tick(at(17));
    app
}

/// The cases that cannot run, one by one.
pub fn unfolded(theme: Theme) -> App {
    let mut app = finished(theme, 1);
    press(&mut app, KeyCode::Char('n'), at(9));
    seen(app, at(10))
}

pub fn cancelling(theme: Theme) -> App {
    asked(theme, "xx", [])
}

pub fn cancelled(theme: Theme) -> App {
    asked(theme, "xx", [Message::Event(Event::Finished { cancelled: true }), Message::Over])
}

pub fn broken(theme: Theme) -> App {
    let reason = "cannot write reports/scripted/events.jsonl: No space left on device (os error 28)";
    asked(theme, "", [Message::Broken(reason.to_owned()), Message::Over])
}

pub fn done(theme: Theme) -> App {
    seen(finished(theme, 1), at(10))
}

pub fn quitting(theme: Theme) -> App {
    asked(theme, "q", [])
}

pub fn leaving(theme: Theme) -> App {
    asked(theme, "qq", [])
}

pub fn help(theme: Theme) -> App {
    asked(theme, "?", [])
}

pub fn words(theme: Theme) -> App {
    asked(theme, "??", [])
}

pub fn help_to_its_end(theme: Theme) -> App {
    asked(theme, "?G", [])
}

/// An axis with thirty-four names.
pub fn names(theme: Theme) -> App {
    let mut app = finished(theme, 3);
    (0..6).for_each(|_| press(&mut app, KeyCode::Char('k'), at(9)));
    seen(app, at(10))
}

pub fn small_multiples(theme: Theme) -> App {
    let mut app = finished(theme, 0);
    press(&mut app, KeyCode::Char('}'), at(9));
    draw(&mut app, (80, 24), at(9));
    press(&mut app, KeyCode::Char(']'), at(9));
    seen(app, at(10))
}

/// A stored run of the passes, watched for `messages` messages.
fn watched(theme: Theme, messages: usize) -> (App, script::Scripted) {
    let runner = script::Scripted::default();
    let mut app = app(&runner, theme);
    app.state.mode = Mode::Watch;
    press(&mut app, KeyCode::Char('j'), Duration::ZERO);
    app.tick(Duration::ZERO);
    press(&mut app, KeyCode::Enter, Duration::ZERO);
    let said = script::messages(&fixture::passes(), None).into_iter().take(messages);
    said.for_each(|message| runner.say(message));
    app.receive(at(2));
    app.tick(at(4));
    (app, runner)
}

pub fn watching(theme: Theme) -> App {
    watched(theme, 11).0
}

pub fn watching_held(theme: Theme) -> App {
    seen(pressed(watching(theme), " "), at(60))
}

pub fn watching_ended(theme: Theme) -> App {
    let (app, runner) = watched(theme, 11);
    let mut app = pressed(app, "  x");
    runner.say(Message::Over);
    app.receive(at(5));
    assert_eq!(runner.told(), [Control::Pause, Control::Continue, Control::Cancel]);
    seen(app, at(6))
}

pub fn watching_broken(theme: Theme) -> App {
    let (mut app, runner) = watched(theme, 11);
    let reason = "reports/scripted/events.jsonl: line 12 is no event: expected value at line 1 column 1";
    runner.say(Message::Broken(reason.to_owned()));
    app.receive(at(5));
    seen(app, at(6))
}

pub fn watching_help(theme: Theme) -> App {
    pressed(watching(theme), "?")
}

/// One case has every kind of noise flag, another a wrong result.
pub fn doubtful(theme: Theme) -> App {
    let (mut app, runner) = played(theme, 1, Some(2), 2);
    let plan = fixture::passes();
    let flags = vec![Flag::Steal, Flag::Background];
    let noisy = |at, round| RoundResult { flags: flags.clone(), ..script::result(&plan, at, round) };
    let again = |result: RoundResult| RoundResult { attempt: 1, ..result };
    let results = [
        noisy(0, 0),
        again(script::result(&plan, 0, 0)),
        noisy(0, 1),
        again(noisy(0, 1)),
        script::result(&plan, 4, 0),
    ];
    let rounds = results.into_iter().map(|result| Event::Round { seq: 1, result });
    let reference = |pass, copy| Event::Reference { pass, backend: "cpu".into(), copy, ranked: Vec::new() };
    let warning = Event::Log {
        level: Level::Warn,
        text: "1 cpu, round 2: 5 % of the CPU time stolen: kept as it is".into(),
    };
    let (case, error) = (plan.cases[2].id.clone(), "wrong result: out[7] = 3, not 4".to_owned());
    let failed = Event::Failed { seq: 2, case, round: 0, error, lost: false };
    let events = [reference(0, 34.3)].into_iter().chain(rounds).chain([warning, failed, reference(1, 27.0)]);
    events.for_each(|event| runner.say(Message::Event(event)));
    app.receive(at(3));
    seen(app, at(4))
}

#[test]
fn watching_is_left_at_once_and_its_help_cancels_nothing() {
    let mut app = watched(COLOURED, 11).0;
    press(&mut app, KeyCode::Char('?'), at(4));
    press(&mut app, KeyCode::Home, at(4));
    let help = shown(&mut app, (120, 40), at(4));
    assert!(help.contains("stop watching") && !help.contains("cancel"), "{help}");
    press(&mut app, KeyCode::Char('q'), at(4));
    press(&mut app, KeyCode::Char('q'), at(4));
    assert_eq!(app.state.leaving, Leaving::Now);
}

#[test]
fn the_help_opens_where_the_panel_has_its_keys() {
    let mut app = played(COLOURED, 1, None, 9).0;
    let opened = |app: &mut App| {
        press(app, KeyCode::Char('?'), at(4));
        let screen = shown(app, (80, 24), at(4));
        press(app, KeyCode::Esc, at(4));
        screen.lines().nth(2).expect("a row").trim_matches(['"', '│', ' ']).to_owned()
    };
    assert_eq!(opened(&mut app), "Cases");
    press(&mut app, KeyCode::Tab, at(4));
    assert_eq!(opened(&mut app), "Chart");
    press(&mut app, KeyCode::Esc, at(4));
    assert_eq!(opened(&mut app), "Recipes");
}

#[test]
fn the_words_open_at_those_of_the_panel_and_the_key_goes_between_help_and_words() {
    let mut app = played(COLOURED, 1, None, 9).0;
    press(&mut app, KeyCode::Tab, at(4));
    (0..2).for_each(|_| press(&mut app, KeyCode::Char('?'), at(4)));
    let screen = shown(&mut app, (80, 24), at(4));
    let first = screen.lines().nth(2).expect("a row").trim_matches(['"', '│', ' ']).to_owned();
    assert_eq!(first, "Chart", "{screen}");
    assert!(screen.contains("effective bandwidth"), "{screen}");
    press(&mut app, KeyCode::Char('?'), at(4));
    assert!(matches!(app.state.overlay, Some(Overlay::Help { .. })), "{:?}", app.state.overlay);
    press(&mut app, KeyCode::Char('q'), at(4));
    assert_eq!((app.state.overlay, app.state.leaving), (None, Leaving::No));
}

/// Down to twenty columns and one row, a run is shown as one line.
#[test]
fn a_run_in_one_line() {
    let line = |app: &mut App, size| shown(app, size, at(4)).lines().next().map(str::to_owned);
    let says = |app: &mut App, size, wanted: &str| {
        let line = line(app, size).expect("a row");
        assert!(line.contains(wanted), "{size:?}: {line} and not {wanted}");
    };
    let mut app = played(COLOURED, 1, Some(4), 11).0;
    says(&mut app, (20, 1), "▶ 3/12, ");
    says(&mut app, (39, 9), "▶ 3/12, ");
    says(&mut app, (59, 24), "▶ 3/12, ");
    says(&mut app, (60, 14), "▶ 3/12, ");
    says(&mut app, (60, 15), "RUN 3/12 rounds");
    press(&mut app, KeyCode::Char('q'), at(4));
    says(&mut app, (20, 1), "A run is active");
    says(&mut app, (39, 4), "▶ 3/12");
    assert!(shown(&mut app, (39, 4), at(4)).contains("A run is active"));
    says(&mut died(ASCII), (39, 4), "ENGINE DIED");
    says(&mut died(ASCII), (39, 3), " ! Engine died at");
    says(&mut finished(ASCII, 1), (39, 1), "DONE | 0:09 | Incomplete: 1 failed");
}

#[test]
fn a_small_terminal_says_so() {
    let mut app = app(&script::Scripted::default(), COLOURED);
    assert!(shown(&mut app, (39, 10), at(0)).contains("40x10 or more, please; this is 39x10"));
    assert!(!shown(&mut app, (40, 10), at(0)).contains("please"));
}
