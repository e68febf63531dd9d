//! Clicks and the wheel.

use std::time::Duration;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};

use super::loops::{app, press};
use super::{fixture, script};
use crate::run::runner::Control;
use crate::tui::app::{App, Incoming};
use crate::tui::panel::Focus;
use crate::tui::session::Session;
use crate::tui::state::Overlay;
use crate::tui::theme::Theme;

const NOW: Duration = Duration::from_secs(4);

fn screen(app: &mut App) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(120, 40)).expect("a terminal");
    app.draw(&mut terminal, NOW).expect("a frame");
    let text = terminal.backend().to_string();
    text.lines().map(|line| line.trim_matches('"').to_owned()).collect()
}

/// The cell at which a text begins, in the last row that contains it.
fn find(app: &mut App, text: &str) -> (u16, u16) {
    let rows = screen(app);
    let place = |(row, line): (usize, &String)| {
        let column = line.split(text).next().filter(|_| line.contains(text))?.chars().count();
        Some((column as u16, row as u16))
    };
    let found = rows.iter().enumerate().filter_map(place).next_back();
    found.unwrap_or_else(|| panic!("{text:?} in\n{}", rows.join("\n")))
}

fn mouse(app: &mut App, kind: MouseEventKind, (column, row): (u16, u16)) {
    let event = MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE };
    app.take(Incoming::Mouse(event), NOW);
}

fn click(app: &mut App, text: &str) {
    let at = find(app, text);
    mouse(app, MouseEventKind::Down(MouseButton::Left), at);
    mouse(app, MouseEventKind::Up(MouseButton::Left), at);
}

/// The multi-pass recipe, measured.
fn measured() -> (App, script::Scripted) {
    let runner = script::Scripted::default();
    let mut app = app(&runner, Theme::PLAIN);
    app.tick(NOW);
    click(&mut app, "fig09-passes");
    app.tick(NOW);
    press(&mut app, KeyCode::Enter, NOW);
    script::messages(&fixture::passes(), None).into_iter().for_each(|message| runner.say(message));
    app.receive(NOW);
    (app, runner)
}

fn session(app: &App) -> &Session {
    app.state.session.as_ref().expect("a run")
}

#[test]
fn a_click_selects_the_row_and_brings_the_focus() {
    let (mut app, _runner) = measured();
    assert_eq!(session(&app).recipe, Some(1), "the recipe that was clicked was started");
    click(&mut app, "✓ 8 ");
    assert_eq!(session(&app).name(session(&app).selected), "8 cpu");
    assert!(!session(&app).follow);
    for (text, focus) in [("Log ", Focus::Log), ("Samples ", Focus::Samples), ("Recipes ", Focus::Recipes)] {
        click(&mut app, text);
        assert_eq!(app.state.focus, focus);
    }
    let before = app.state.recipes.selected();
    click(&mut app, "lavin2020");
    assert_eq!(app.state.recipes.selected(), before, "a heading is no recipe");
}

#[test]
fn a_click_in_the_chart_selects_the_nearest_point() {
    let (mut app, _runner) = measured();
    let plan = fixture::passes();
    for case in (0..plan.cases.len()).filter(|at| plan.cases[*at].backend() == "cpu") {
        app.state.session.as_mut().expect("a run").pick(case);
        let (column, row) = find(&mut app, "[●]");
        app.state.session.as_mut().expect("a run").pick(0);
        assert!(!session(&app).view.cursor);
        // A cell beside the marker is nearer to it than to any other marker.
        mouse(&mut app, MouseEventKind::Down(MouseButton::Left), (column + 2, row));
        assert_eq!((session(&app).selected, app.state.focus), (case, Focus::Chart));
        assert!(session(&app).view.cursor, "which arrows move on");
        press(&mut app, KeyCode::Char('v'), NOW);
    }
}

#[test]
fn a_click_in_the_chart_reaches_what_is_no_point() {
    let (mut app, _runner) = measured();
    let rows = screen(&mut app);
    let foot = rows.iter().position(|row| row.matches('–').count() >= 7).expect("a foot");
    let column = rows[foot].chars().collect::<Vec<_>>().iter().rposition(|c| *c == '–').expect("a mark");
    mouse(&mut app, MouseEventKind::Down(MouseButton::Left), (column as u16, foot as u16));
    let record = &session(&app).ledger.records()[session(&app).selected];
    assert_eq!(record.case.backend(), "cuda");
    assert!(matches!(record.status, crate::run::Status::NotApplicable(_)), "{:?}", record.status);
}

#[test]
fn the_wheel_zooms_the_chart_around_the_pointer() {
    let (mut app, _runner) = measured();
    let case = 6;
    app.state.session.as_mut().expect("a run").pick(case);
    let before = find(&mut app, "[●]");
    (0..4).for_each(|_| mouse(&mut app, MouseEventKind::ScrollUp, before));
    let after = find(&mut app, "[●]");
    assert!(before.0.abs_diff(after.0) <= 1 && before.1.abs_diff(after.1) <= 1, "{before:?} {after:?}");
    let look = session(&app).view.look(0);
    assert!(look.x_part.is_some() && look.y_part.is_some());
    (0..4).for_each(|_| mouse(&mut app, MouseEventKind::ScrollDown, before));
    assert_eq!(session(&app).view.look(0), &crate::tui::chart::Look::default());
}

#[test]
fn a_click_on_a_hint_is_its_key() {
    let (mut app, runner) = measured();
    (0..2).for_each(|_| click(&mut app, "x cancel"));
    assert_eq!(runner.told(), [Control::Cancel]);
    let before = session(&app).selected;
    let (column, row) = find(&mut app, "j/k move");
    mouse(&mut app, MouseEventKind::Down(MouseButton::Left), (column, row));
    assert_eq!(session(&app).selected, 1, "j: the row of the cases that cannot run");
    mouse(&mut app, MouseEventKind::Down(MouseButton::Left), (column + 2, row));
    assert_eq!(session(&app).selected, before, "k");
    click(&mut app, " help");
    assert!(app.state.overlay.is_some());
    click(&mut app, " close");
    assert!(app.state.overlay.is_none());
}

#[test]
fn the_wheel_scrolls_what_is_under_it_and_leaves_the_focus() {
    let (mut app, _runner) = measured();
    let focus = app.state.focus;
    let before = app.state.recipes.selected();
    let at = find(&mut app, "quickstart");
    mouse(&mut app, MouseEventKind::ScrollDown, at);
    assert_ne!(app.state.recipes.selected(), before);
    for text in ["Log ", "Samples ", "bandwidth"] {
        let at = find(&mut app, text);
        mouse(&mut app, MouseEventKind::ScrollUp, at);
    }
    assert_eq!(app.state.focus, focus);
    press(&mut app, KeyCode::Char('?'), NOW);
    find(&mut app, "Cases");
    let Some(Overlay::Help { scroll: Some(opened) }) = app.state.overlay else { panic!("no help") };
    mouse(&mut app, MouseEventKind::ScrollDown, (60, 20));
    assert_eq!(app.state.overlay, Some(Overlay::Help { scroll: Some(opened + 3) }));
}

#[test]
fn what_the_mouse_does_elsewhere_means_nothing() {
    let (mut app, _runner) = measured();
    press(&mut app, KeyCode::Char('q'), NOW);
    let asked = app.state.leaving;
    for kind in [
        MouseEventKind::Moved,
        MouseEventKind::Up(MouseButton::Left),
        MouseEventKind::Down(MouseButton::Right),
    ] {
        mouse(&mut app, kind, (3, 3));
    }
    mouse(&mut app, MouseEventKind::Down(MouseButton::Left), (0, 0));
    mouse(&mut app, MouseEventKind::Down(MouseButton::Left), (500, 500));
    assert_eq!(app.state.leaving, asked, "the question stays");
}
