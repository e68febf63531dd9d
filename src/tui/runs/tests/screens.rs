//! The screens of stored runs in all their states.

use std::path::Path;

use ratatui::crossterm::event::KeyCode;
use tempfile::TempDir;

use super::{NOW, listed, over, press, stored_runs, typed};
use crate::run::repeat::Repeat;
use crate::run::runner::Message;
use crate::tui::app::App;
use crate::tui::recipes::Recipes;
use crate::tui::runs::Exported;
use crate::tui::state::Overlay;
use crate::tui::tests::{fixture, script};
use crate::tui::theme::Theme;

fn after(theme: Theme, keys: &str) -> (App, TempDir) {
    let root = stored_runs();
    let mut app = listed(root.path(), theme);
    typed(&mut app, keys);
    (app, root)
}

/// With a baseline for comparisons.
pub fn runs(theme: Theme) -> (App, TempDir) {
    after(theme, "jjmk")
}

pub fn none(theme: Theme) -> (App, TempDir) {
    let root = tempfile::tempdir().expect("temporary folder");
    (listed(root.path(), theme), root)
}

pub fn search(theme: Theme) -> (App, TempDir) {
    after(theme, "/kernel")
}

pub fn note(theme: Theme) -> (App, TempDir) {
    let (mut app, root) = after(theme, "n");
    press(&mut app, KeyCode::Home);
    (app, root)
}

pub fn broken_folder(theme: Theme) -> (App, TempDir) {
    after(theme, "G")
}

pub fn details(theme: Theme) -> (App, TempDir) {
    let (mut app, root) = after(theme, "");
    press(&mut app, KeyCode::Tab);
    (app, root)
}

pub fn opened(theme: Theme) -> (App, TempDir) {
    let (mut app, root) = after(theme, "");
    press(&mut app, KeyCode::Enter);
    app.state.session.as_mut().expect("a run").folder = "reports/20261121-080000-passes".into();
    (app, root)
}

/// A stored run under the chart of a run that was started afterwards.
pub fn under_a_chart(theme: Theme) -> (App, TempDir) {
    let root = stored_runs();
    let (mut app, runner) = over(root.path(), theme);
    typed(&mut app, "ojb");
    press(&mut app, KeyCode::Esc);
    typed(&mut app, "j");
    press(&mut app, KeyCode::Enter);
    script::messages(&fixture::passes(), Some(4)).into_iter().for_each(|said| runner.say(said));
    runner.say(Message::Over);
    app.receive(super::NOW);
    typed(&mut app, "z");
    (app, root)
}

/// The folder's name differs between test runs, so it is replaced.
pub fn comparison(theme: Theme) -> (App, TempDir) {
    let (mut app, root) = after(theme, "jjmkkc");
    let comparison = app.state.runs.comparison.as_mut().expect("a comparison");
    let folder = root.path().display().to_string();
    comparison.judged.remarks.iter_mut().for_each(|line| *line = line.replace(&folder, "reports"));
    (app, root)
}

pub fn export(theme: Theme) -> (App, TempDir) {
    let (mut app, root) = after(theme, "");
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
    (app, root)
}

/// The sectors that the first iterations of a recipe touch.
pub fn pattern(theme: Theme) -> App {
    touched(theme, "jjjp")
}

/// The lines that random locations touch, with another line size.
pub fn pattern_in_lines(theme: Theme) -> App {
    touched(theme, "jpsl")
}

fn touched(theme: Theme, keys: &str) -> App {
    let mut app = over(Path::new("reports/nowhere"), theme).0;
    typed(&mut app, keys);
    app
}

/// A matrix of which all rows are looked at.
pub fn matrix(theme: Theme) -> App {
    of_matrices(theme, "p")
}

/// A matrix of which a sample is looked at.
pub fn matrix_sampled(theme: Theme) -> App {
    of_matrices(theme, "p]]")
}

/// The app over a recipe of sparse matrices.
pub fn of_matrices(theme: Theme, keys: &str) -> App {
    let mut app = over(Path::new("reports/nowhere"), theme).0;
    app.state.recipes = Recipes::new(vec![fixture::of_matrices()]);
    app.tick(NOW);
    typed(&mut app, keys);
    app
}
