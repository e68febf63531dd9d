//! Snapshots of the screens about stored runs.

use insta::assert_snapshot;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::KeyCode;
use ratatui::style::Color;

use super::{NOW, listed, over, press, shelf, typed};
use crate::run::repeat::Repeat;
use crate::tui::app::App;
use crate::tui::runs::Exported;
use crate::tui::state::Overlay;
use crate::tui::theme::Theme;

const SIZES: [(u16, u16); 4] = [(80, 24), (120, 40), (200, 60), (60, 15)];
const THEMES: [(&str, Theme); 3] = [
    ("colour", Theme { colour: true, ..Theme::PLAIN }),
    ("no-colour", Theme::PLAIN),
    ("ascii", Theme { utf8: false, ..Theme::PLAIN }),
];

fn draw(app: &mut App, (width, height): (u16, u16)) -> Terminal<TestBackend> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal");
    app.draw(&mut terminal, NOW).expect("a frame");
    terminal
}

/// A snapshot for each theme and size. The letters of a colourful screen say nothing of its
/// colours: those are looked at here.
fn everywhere(name: &str, make: impl Fn(Theme) -> App) {
    for (word, theme) in THEMES {
        let mut app = make(theme);
        for size in SIZES {
            let terminal = draw(&mut app, size);
            assert_snapshot!(format!("{name}-{word}-{}x{}", size.0, size.1), terminal.backend().to_string());
            let cells = terminal.backend().buffer().content();
            let coloured = cells.iter().any(|cell| cell.fg != Color::Reset || !cell.modifier.is_empty());
            assert_eq!(coloured, theme.colour, "{name} {word}");
            assert!(theme.utf8 || cells.iter().all(|cell| cell.symbol().is_ascii()), "{name} {word}");
        }
    }
}

#[test]
fn the_list() {
    let root = shelf();
    everywhere("runs", |theme| listed(root.path(), theme));
}

#[test]
fn a_search_and_a_note_are_typed_below() {
    let root = shelf();
    let mut app = listed(root.path(), THEMES[0].1);
    typed(&mut app, "/kernel");
    assert_snapshot!("search-80x24", draw(&mut app, (80, 24)).backend().to_string());
    press(&mut app, KeyCode::Esc);
    typed(&mut app, "n");
    press(&mut app, KeyCode::Home);
    assert_snapshot!("note-80x24", draw(&mut app, (80, 24)).backend().to_string());
}

#[test]
fn a_broken_folder() {
    let root = shelf();
    let mut app = listed(root.path(), THEMES[2].1);
    typed(&mut app, "G");
    assert_snapshot!("broken-80x24", draw(&mut app, (80, 24)).backend().to_string());
}

#[test]
fn no_runs() {
    let root = tempfile::tempdir().expect("temporary folder");
    let mut app = listed(root.path(), THEMES[0].1);
    assert_snapshot!("runs-empty-80x24", draw(&mut app, (80, 24)).backend().to_string());
}

#[test]
fn a_stored_run() {
    let root = shelf();
    let mut app = listed(root.path(), THEMES[0].1);
    press(&mut app, KeyCode::Enter);
    app.state.session.as_mut().expect("a run").folder = "reports/20261121-080000-passes".into();
    assert_snapshot!("opened-120x40", draw(&mut app, (120, 40)).backend().to_string());
}

#[test]
fn a_comparison() {
    let root = shelf();
    everywhere("compare", |theme| {
        let mut app = listed(root.path(), theme);
        typed(&mut app, "jjmkkc");
        let sheet = app.state.runs.sheet.as_mut().expect("a comparison");
        // The folder has another name in each test run.
        let folder = root.path().display().to_string();
        sheet.judged.remarks.iter_mut().for_each(|line| *line = line.replace(&folder, "reports"));
        app
    });
}

#[test]
fn the_dialog_of_an_export() {
    let root = shelf();
    everywhere("export", |theme| {
        let mut app = listed(root.path(), theme);
        let files = ["results.csv", "samples.csv", "multi-pass-scatter-by-number-of-passes.svg"];
        app.state.runs.exported = Some(Exported {
            folder: "reports/20261121-080000-passes".to_owned(),
            files: files.map(str::to_owned).to_vec(),
            repeat: Repeat {
                replay: "scatterlab replay reports/20261121-080000-passes".to_owned(),
                run: "scatterlab run he2007/fig09-passes".to_owned(),
            },
        });
        app.state.overlay = Some(Overlay::Export { selected: 1 });
        app
    });
}

#[test]
fn what_a_pattern_touches() {
    let root = shelf();
    everywhere("pattern", |theme| {
        let mut app = over(root.path(), theme).0;
        typed(&mut app, "jjjp");
        app
    });
    let mut app = over(root.path(), THEMES[0].1).0;
    typed(&mut app, "jpsl");
    assert_snapshot!("pattern-random-lines", draw(&mut app, (120, 40)).backend().to_string());
}
