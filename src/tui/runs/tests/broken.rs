//! Folders with other or unreadable content.

use std::fs;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::KeyCode;

use super::{NOW, foreign, listed, manifest, plan, press, typed, write};
use crate::tui::app::App;
use crate::tui::theme::Theme;

fn screen(app: &mut App) -> String {
    let mut terminal = Terminal::new(TestBackend::new(120, 40)).expect("a terminal");
    app.draw(&mut terminal, NOW).expect("a frame");
    terminal.backend().to_string()
}

#[test]
fn whatever_lies_there_is_listed_with_what_is_wrong() {
    let root = tempfile::tempdir().expect("temporary folder");
    let whole = serde_json::to_string(&manifest(plan(), "2026-11-20 00:00:00")).expect("text");
    let no_experiment = whole.replace("\"experiment\":0", "\"experiment\":7");
    let table = [
        ("empty", "", "is damaged"),
        ("foreign", "{\"name\": \"an application\"}", "there is no `schema`"),
        ("list", "[1, 2]", "there is no `schema`"),
        ("newer", "{\"schema\": 99}", "newer than this program's"),
        ("half", "{\"schema\": 2, \"version\": \"0.1.0\"}", "is damaged"),
        ("binary", "\u{0}\u{1}\u{7f}", "is damaged"),
        ("without-events", &whole, "cannot read"),
        ("stray", &no_experiment, "plan.cases[0].experiment is 7"),
    ];
    for (name, text, _) in &table {
        foreign(root.path(), name, text);
    }
    let torn = write(root.path(), "torn", "2026-11-20 00:00:00", 1.0, None);
    let mut events = fs::read(torn.join("events.ndjson")).expect("events");
    events.splice(0..0, *b"nonsense\n");
    fs::write(torn.join("events.ndjson"), events).expect("written");
    let packed = write(root.path(), "packed", "2026-11-20 00:00:00", 1.0, None);
    fs::rename(packed.join("events.ndjson"), packed.join("events.ndjson.gz")).expect("renamed");
    fs::create_dir_all(root.path().join("folder/manifest.json")).expect("a folder of this name");
    let mut app = listed(root.path(), Theme::PLAIN);
    let wrong = |app: &App, name: &str| {
        let entry = app.state.runs.shown().find(|entry| entry.name == name).expect(name).clone();
        entry.content.expect_err(name)
    };
    for (name, _, reason) in &table {
        assert!(wrong(&app, name).contains(reason), "{name}: {}", wrong(&app, name));
    }
    assert!(wrong(&app, "torn").contains("events.ndjson:1: not an event"), "{}", wrong(&app, "torn"));
    assert!(wrong(&app, "packed").contains("not a complete gzip file"), "{}", wrong(&app, "packed"));
    assert!(
        wrong(&app, "folder").contains("manifest.json is a folder; accepted: a regular file"),
        "{}",
        wrong(&app, "folder")
    );
    for _ in 0..app.state.runs.count() {
        for code in [KeyCode::Enter, KeyCode::Char('w'), KeyCode::Char('e'), KeyCode::Char('m')] {
            press(&mut app, code);
            assert_eq!(app.state.notice.as_deref(), Some("this folder cannot be read as a run"), "{code:?}");
        }
        assert!(screen(&mut app).contains(" ! "), "what is wrong stands below");
        typed(&mut app, "j");
    }
    assert!(app.state.session.is_none());
}

/// Every text from a folder: its name, its manifest, its recipe, its events, its note.
#[test]
fn what_a_folder_says_does_not_steer_the_terminal() {
    const EVIL: &str = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\r\n\u{202e}x";
    let root = tempfile::tempdir().expect("temporary folder");
    let name = "evil\u{1b}[2J\u{7}\n";
    let path = write(root.path(), name, "2026-11-20 00:00:00", 1.0, None);
    let mut evil = manifest(plan(), &format!("2026{EVIL}"));
    evil.environment.host = format!("host{EVIL}");
    evil.environment.cpu = EVIL.repeat(3);
    evil.plan.title = format!("title{EVIL}");
    evil.plan.experiments[0].title = format!("experiment{EVIL}");
    evil.command_line = vec!["scatterlab".to_owned(), "run".to_owned(), EVIL.to_owned()];
    evil.revision = EVIL.to_owned();
    fs::write(path.join("manifest.json"), serde_json::to_string(&evil).expect("text")).expect("written");
    fs::write(path.join("recipe.yaml"), EVIL.repeat(5)).expect("written");
    fs::write(path.join("note.txt"), format!("note{EVIL}")).expect("written");
    let log = format!("{{\"event\":\"log\",\"level\":\"warn\",\"text\":{}}}\n", serde_json::json!(EVIL));
    let events = fs::read_to_string(path.join("events.ndjson")).expect("events");
    fs::write(path.join("events.ndjson"), log + &events).expect("written");
    let mut app = listed(root.path(), Theme::PLAIN);
    for keys in ["", "n", "\u{1b}m", "/x", "\u{1b}e", "\u{1b}\n", "p", "\u{1b}"] {
        for c in keys.chars() {
            let code = match c {
                '\u{1b}' => KeyCode::Esc,
                '\n' => KeyCode::Enter,
                c => KeyCode::Char(c),
            };
            press(&mut app, code);
        }
        let mut terminal = Terminal::new(TestBackend::new(120, 40)).expect("a terminal");
        app.draw(&mut terminal, NOW).expect("a frame");
        for cell in terminal.backend().buffer().content() {
            let bad = |c: char| c.is_control() || c == '\u{202e}';
            assert!(!cell.symbol().contains(bad), "{keys:?}: {:?}", cell.symbol());
        }
    }
    assert!(app.state.session.is_some(), "it was opened all the same");
    press(&mut app, KeyCode::Char('y'));
    assert!(app.state.notice.is_some());
    let text = crate::tui::panel::samples::text(app.state.session.as_ref().expect("a run")).expect("values");
    assert!(text.lines().all(|line| !line.contains(char::is_control)), "{text:?}");
}
