//! Snapshots of the whole screen.

use std::time::Duration;

use insta::assert_snapshot;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::KeyCode;
use ratatui::style::Color;

use super::loops::{app, press};
use super::{fixture, script};
use crate::engine::protocol::{Event, Level, RoundResult};
use crate::measure::noise::Flag;
use crate::run::runner::{Control, Message};
use crate::tui::app::App;
use crate::tui::state::{Leaving, Mode};
use crate::tui::theme::Theme;

pub const COLOURED: Theme = Theme { colour: true, ..Theme::PLAIN };
pub const ASCII: Theme = Theme { utf8: false, ..Theme::PLAIN };
const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (60, 15)];

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

/// What stands at a recipe after `messages` of its run, one every quarter of a second.
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

fn died(theme: Theme) -> App {
    let (mut app, runner) = played(theme, 1, None, 13);
    let said = script::died(&fixture::passes(), 10, "killed by signal 9 (SIGKILL)");
    said.into_iter().for_each(|message| runner.say(message));
    app.receive(at(4));
    app
}

/// One snapshot for each size.
fn at_every_size(name: &str, mut app: App, now: Duration) {
    for size in SIZES {
        assert_snapshot!(format!("{name}-{}x{}", size.0, size.1), shown(&mut app, size, now));
    }
}

#[test]
fn home() {
    let mut app = app(&script::Scripted::default(), COLOURED);
    press(&mut app, KeyCode::Char('j'), Duration::ZERO);
    at_every_size("home", app, at(0));
}

#[test]
fn a_recipe_with_a_mistake() {
    let mut app = app(&script::Scripted::default(), COLOURED);
    press(&mut app, KeyCode::Char('j'), Duration::ZERO);
    press(&mut app, KeyCode::Char('j'), Duration::ZERO);
    assert_snapshot!(shown(&mut app, (80, 24), at(0)));
}

#[test]
fn running() {
    at_every_size("running", played(COLOURED, 1, Some(4), 11).0, at(4));
}

#[test]
fn done() {
    at_every_size("done", finished(COLOURED, 1), at(10));
}

#[test]
fn engine_died() {
    at_every_size("died", died(COLOURED), at(5));
}

/// A stored run of the passes, watched for `messages`.
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
    (app, runner)
}

#[test]
fn watching() {
    at_every_size("watch", watched(COLOURED, 11).0, at(4));
    let (mut app, runner) = watched(ASCII, 11);
    press(&mut app, KeyCode::Char(' '), at(4));
    assert_snapshot!("watch-paused", shown(&mut app, (80, 24), at(60)));
    press(&mut app, KeyCode::Char(' '), at(60));
    press(&mut app, KeyCode::Char('x'), at(61));
    runner.say(Message::Over);
    app.receive(at(61));
    assert_eq!(runner.told(), [Control::Pause, Control::Continue, Control::Cancel]);
    assert_snapshot!("watch-ended", shown(&mut app, (80, 24), at(62)));
}

#[test]
fn watching_is_left_at_once_and_its_help_cancels_nothing() {
    let mut app = watched(COLOURED, 11).0;
    press(&mut app, KeyCode::Char('?'), at(4));
    let help = shown(&mut app, (120, 40), at(4));
    assert!(help.contains("end watching") && !help.contains("cancel"), "{help}");
    press(&mut app, KeyCode::Char('q'), at(4));
    press(&mut app, KeyCode::Char('q'), at(4));
    assert_eq!(app.state.leaving, Leaving::Now);
}

#[test]
fn a_doubtful_case_is_not_a_failed_one() {
    let (mut app, runner) = played(COLOURED, 1, Some(2), 2);
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
    let reference = |pass, copy| Event::Reference { pass, backend: "cpu".into(), copy };
    let warning = Event::Log {
        level: Level::Warn,
        text: "1 cpu, round 2: 5 % of the CPU time stolen: kept as it is".into(),
    };
    let (case, error) = (plan.cases[2].id.clone(), "wrong result: out[7] = 3, not 4".to_owned());
    let failed = Event::Failed { seq: 2, case, round: 0, error, lost: false };
    let events = [reference(0, 34.3)].into_iter().chain(rounds).chain([warning, failed, reference(1, 27.0)]);
    events.for_each(|event| runner.say(Message::Event(event)));
    app.receive(at(3));
    assert_snapshot!("doubtful", shown(&mut app, (120, 40), at(4)));
}

#[test]
fn help() {
    let mut app = played(COLOURED, 1, None, 9).0;
    press(&mut app, KeyCode::Char('?'), at(4));
    at_every_size("help", app, at(4));
}

#[test]
fn ascii_without_colour() {
    at_every_size("ascii-done", finished(ASCII, 1), at(10));
    at_every_size("ascii-died", died(ASCII), at(5));
    let mut home = app(&script::Scripted::default(), ASCII);
    assert_snapshot!("ascii-home", shown(&mut home, (80, 24), at(0)));
    press(&mut home, KeyCode::Char('?'), at(0));
    assert_snapshot!("ascii-help", shown(&mut home, (80, 24), at(0)));
}

#[test]
fn thirty_four_names_on_an_axis() {
    let mut app = finished(COLOURED, 3);
    (0..6).for_each(|_| press(&mut app, KeyCode::Char('k'), at(9)));
    assert_snapshot!("names", shown(&mut app, (120, 40), at(10)));
    assert_snapshot!("names-narrow", shown(&mut app, (60, 15), at(10)));
}

#[test]
fn small_multiples() {
    let mut app = finished(COLOURED, 0);
    app.draw(&mut Terminal::new(TestBackend::new(80, 24)).expect("a terminal"), at(9)).expect("a frame");
    press(&mut app, KeyCode::Char(']'), at(9));
    assert_snapshot!("panels", shown(&mut app, (80, 24), at(10)));
}

#[test]
fn the_log_and_the_samples_take_the_place_of_the_chart_where_it_is_tight() {
    let mut app = finished(COLOURED, 1);
    (0..2).for_each(|_| press(&mut app, KeyCode::Tab, at(9)));
    assert_snapshot!("samples-60x15", shown(&mut app, (60, 15), at(10)));
    press(&mut app, KeyCode::Tab, at(9));
    assert_snapshot!("log-60x15", shown(&mut app, (60, 15), at(10)));
    assert_snapshot!("log-45x12", shown(&mut app, (45, 12), at(10)));
}

#[test]
fn the_question_before_quitting() {
    let mut app = played(COLOURED, 1, None, 9).0;
    press(&mut app, KeyCode::Char('q'), at(4));
    assert_snapshot!(shown(&mut app, (80, 24), at(4)));
}

/// Down to twenty columns and one row, a run is one line.
#[test]
fn a_run_in_one_line() {
    let line = |app: &mut App, size| shown(app, size, at(4)).lines().next().map(str::to_owned);
    let says = |app: &mut App, size, wanted: &str| {
        let line = line(app, size).expect("a row");
        assert!(line.contains(wanted), "{size:?}: {line} and not {wanted}");
    };
    let mut app = played(COLOURED, 1, Some(4), 11).0;
    says(&mut app, (20, 1), "▶ 5/14 ETA ");
    says(&mut app, (39, 9), "▶ 5/14 ETA 3s · 16 cpu");
    says(&mut app, (59, 24), "▶ 5/14 ETA ");
    says(&mut app, (60, 14), "▶ 5/14 ETA ");
    says(&mut app, (60, 15), "RUN 5/14 rounds");
    press(&mut app, KeyCode::Char('q'), at(4));
    says(&mut app, (20, 1), "A run is active");
    says(&mut app, (39, 4), "▶ 5/14");
    assert!(shown(&mut app, (39, 4), at(4)).contains("A run is active"));
    says(&mut died(ASCII), (39, 4), "ENGINE DIED");
    says(&mut died(ASCII), (39, 3), " ! Engine died at");
    says(&mut finished(ASCII, 1), (39, 1), "DONE 14/14 rounds | 1 failed");
}

#[test]
fn a_small_terminal_says_so() {
    let mut app = app(&script::Scripted::default(), COLOURED);
    assert!(shown(&mut app, (39, 10), at(0)).contains("40x10 or more, please; this is 39x10"));
    assert!(!shown(&mut app, (40, 10), at(0)).contains("please"));
}

#[test]
fn without_colour_every_cell_is_reset_and_ascii_is_ascii() {
    for mut app in [finished(ASCII, 1), died(ASCII), finished(ASCII, 3)] {
        press(&mut app, KeyCode::Char('g'), at(9));
        let terminal = draw(&mut app, (120, 40), at(10));
        for cell in terminal.backend().buffer().content() {
            assert_eq!((cell.fg, cell.bg, cell.modifier.bits()), (Color::Reset, Color::Reset, 0));
            assert!(cell.symbol().is_ascii(), "{}", cell.symbol());
        }
    }
    let mut app = finished(COLOURED, 1);
    let terminal = draw(&mut app, (120, 40), at(10));
    assert!(terminal.backend().buffer().content().iter().any(|c| c.fg != Color::Reset));
}
