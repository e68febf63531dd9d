//! The devices panel.

use std::time::Duration;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::KeyCode;

use super::loops::{app, press};
use super::{fixture, script};
use crate::case::{Availability, Device};
use crate::engine::protocol::{Event, RoundResult};
use crate::run::runner::Message;
use crate::stats::noise::{Conditions, GpuConditions};
use crate::tui::app::App;
use crate::tui::theme::Theme;

const ASCII: Theme = Theme { utf8: false, ..Theme::PLAIN };

fn gpu() -> Device {
    Device {
        backend: "cuda".to_owned(),
        name: "NVIDIA H200".to_owned(),
        facts: Vec::new(),
        memory: None,
        availability: Availability::Available,
    }
}

/// A run whose engine has these devices and whose rounds reported these conditions.
fn seen(theme: Theme, with: Vec<Device>, conditions: Vec<Conditions>) -> App {
    let runner = script::Scripted::default();
    let mut app = app(&runner, theme);
    app.tick(Duration::ZERO);
    press(&mut app, KeyCode::Char('j'), Duration::ZERO);
    app.tick(Duration::ZERO);
    press(&mut app, KeyCode::Enter, Duration::ZERO);
    let mut hello = script::hello();
    if let Event::Hello { devices, .. } = &mut hello {
        *devices = with;
    }
    runner.say(Message::Event(hello));
    for (round, conditions) in (0..).zip(conditions) {
        let result = RoundResult { conditions, ..script::result(&fixture::passes(), 0, round) };
        runner.say(Message::Event(Event::Round { seq: 1, result }));
    }
    app.receive(Duration::ZERO);
    app
}

fn on_cpu() -> Conditions {
    Conditions { steal: Some(0.031), background: Some(0.04), clock: Some(2.914), ..Conditions::default() }
}

fn on_gpu() -> Conditions {
    let gpu = GpuConditions {
        sm_clock: Some(1980),
        memory_clock: Some(3201),
        power: Some(412.4),
        temperature: Some(46),
        memory_used: Some(12 << 30),
        memory_total: Some(140 << 30),
        throttle: vec!["power cap".to_owned()],
        ..GpuConditions::default()
    };
    Conditions { steal: Some(0.0), background: Some(0.3), gpu: Some(gpu), ..Conditions::default() }
}

/// The panel was requested, so it is shown on a small screen too.
pub fn shown(theme: Theme) -> App {
    let mut app = seen(theme, vec![gpu()], vec![on_cpu(), on_gpu()]);
    app.state.devices_panel.wanted = Some(true);
    app
}

fn screen(app: &mut App, (width, height): (u16, u16)) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal");
    app.draw(&mut terminal, Duration::ZERO).expect("a frame");
    terminal.backend().to_string()
}

/// The rows of the panel.
fn panel(app: &mut App, size: (u16, u16)) -> Vec<String> {
    let text = screen(app, size);
    let own =
        text.lines().map(|line| line.split(['│', '|']).next().unwrap_or_default().trim_end().to_owned());
    let rows = own.skip_while(|line| !line.contains("Devices")).skip(1);
    rows.take_while(|line| !line.contains("move")).filter(|line| line.len() > 1).collect()
}

#[test]
fn the_newest_rounds_figures_with_their_devices() {
    let rows = panel(&mut seen(ASCII, vec![gpu()], vec![on_gpu(), on_cpu()]), (120, 40));
    assert!(rows.iter().any(|row| row.contains("power 412 W  temperature 46 C")), "{rows:?}");
    assert!(rows.iter().any(|row| row.contains("steal 3.1 %")), "the newest of all: {rows:?}");
}

#[test]
fn a_figure_that_is_missing_stays_missing() {
    let rows = panel(&mut seen(ASCII, vec![gpu()], Vec::new()), (120, 40));
    let wanted = [
        "Some CPU",
        "clock n/a  steal n/a",
        "background n/a",
        "NVIDIA H200",
        "throttle n/a",
        "SM n/a  memory n/a",
        "power n/a  temperature n/a",
        "memory used n/a",
    ];
    let trimmed: Vec<&str> = rows.iter().map(|row| row.trim_matches(['"', ' '])).collect();
    assert_eq!(trimmed, wanted);
    let rows = panel(&mut seen(ASCII, Vec::new(), vec![Conditions::default()]), (120, 40));
    assert_eq!(rows.len(), 3, "no GPU, no rows of it: {rows:?}");
}

#[test]
fn it_is_there_where_there_is_room_or_somebody_wants_it() {
    let mut app = seen(Theme::PLAIN, vec![gpu()], vec![on_gpu()]);
    let shown = |app: &mut App, size| screen(app, size).contains("Devices");
    assert_eq!([(120, 40), (80, 24), (60, 15)].map(|size| shown(&mut app, size)), [true, false, false]);
    press(&mut app, KeyCode::Char('D'), Duration::ZERO);
    assert_eq!([(60, 15), (120, 40)].map(|size| shown(&mut app, size)), [true, true]);
    press(&mut app, KeyCode::Char('D'), Duration::ZERO);
    assert_eq!([(60, 15), (120, 40)].map(|size| shown(&mut app, size)), [false, false]);
    let mut home = app_at_home();
    press(&mut home, KeyCode::Char('D'), Duration::ZERO);
    assert!(!shown(&mut home, (120, 40)), "without a run there is nothing to say");
}

fn app_at_home() -> App {
    app(&script::Scripted::default(), Theme::PLAIN)
}

#[test]
fn files_of_earlier_versions_lack_the_memory() {
    let old: Conditions = serde_json::from_str(r#"{"gpu":{"sm-clock":1980}}"#).expect("conditions");
    let gpu = old.gpu.expect("a GPU's");
    assert_eq!((gpu.sm_clock, gpu.memory_used, gpu.memory_total), (Some(1980), None, None));
    assert_eq!(serde_json::to_string(&gpu).expect("text"), r#"{"sm-clock":1980}"#);
}
