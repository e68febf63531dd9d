//! Stored runs under the chart.

use std::fs;

use ratatui::crossterm::event::KeyCode;

use super::{NOW, listed, over, plan, press, stored_runs, typed, write_plan};
use crate::recipe::plan::case_id;
use crate::tui::app::App;
use crate::tui::home::BackgroundResult;
use crate::tui::home::facts::{Known, LastRun};
use crate::tui::tests::{fixture, script};
use crate::tui::theme::Theme;
use crate::tui::update::{Input, update};

const PLAIN: Theme = Theme::PLAIN;

/// The name of the run under the chart, and its number of matching cases.
fn laid(app: &App) -> Option<(String, usize)> {
    let overlay = app.state.session.as_ref()?.view.overlay()?;
    Some((overlay.name.clone(), overlay.matched()))
}

fn notice(app: &App) -> &str {
    app.state.notice.as_deref().unwrap_or_default()
}

#[test]
fn a_run_that_was_chosen_lies_under_the_chart_until_it_is_withdrawn() {
    let root = stored_runs();
    let mut app = listed(root.path(), PLAIN);
    typed(&mut app, "jb");
    assert_eq!(notice(&app), "baseline: 20261120-223758-passes, behind the chart of the next run");
    typed(&mut app, "k");
    press(&mut app, KeyCode::Enter);
    assert_eq!(laid(&app), Some(("20261120-223758-passes".to_owned(), 7)));
    assert_eq!(notice(&app), "baseline: 20261120-223758-passes, 7 values");
    typed(&mut app, "vo");
    assert_eq!(laid(&app), None, "taken away");
    typed(&mut app, "o");
    assert!(laid(&app).is_some(), "and there again");
    press(&mut app, KeyCode::Esc);
    press(&mut app, KeyCode::Esc);
    typed(&mut app, "jjb");
    assert_eq!(laid(&app), Some(("20261119-101500-passes".to_owned(), 7)), "another");
    typed(&mut app, "b");
    assert_eq!((laid(&app), notice(&app)), (None, "baseline removed from the chart"));
    press(&mut app, KeyCode::Enter);
    assert_eq!(laid(&app), None, "nor under what is opened now");
}

#[test]
fn a_run_does_not_lie_under_itself_and_one_of_another_seed_is_called_so() {
    let root = stored_runs();
    let mut app = listed(root.path(), PLAIN);
    typed(&mut app, "b");
    press(&mut app, KeyCode::Enter);
    assert_eq!(laid(&app), None);
    press(&mut app, KeyCode::Esc);
    typed(&mut app, "bb");
    let under_others = "baseline: 20261121-080000-passes, behind other runs; this one is shown itself";
    assert_eq!((laid(&app), notice(&app)), (None, under_others));
    press(&mut app, KeyCode::Esc);
    let runs = ["20261119-101500-passes", "20261120-223758-passes"];
    let mut other = plan();
    for case in &mut other.cases {
        case.seed = 2;
        case.id = case_id(&case.primitive, &case.params, case.seed);
    }
    fs::remove_dir_all(root.path().join(runs[0])).expect("removed");
    write_plan(other, root.path(), runs[0], "2026-11-19 10:15:00", 1.0, None);
    let mut app = listed(root.path(), PLAIN);
    typed(&mut app, "jjb");
    typed(&mut app, "k");
    press(&mut app, KeyCode::Enter);
    assert_eq!(laid(&app), Some((runs[0].to_owned(), 7)));
    assert_eq!(notice(&app), format!("baseline: {}, 7 values; seed 2 → 1", runs[0]));
}

#[test]
fn a_folder_that_is_no_run_is_no_baseline() {
    let root = stored_runs();
    let mut app = listed(root.path(), PLAIN);
    typed(&mut app, "jjjb");
    assert_eq!(notice(&app), "this folder cannot be read as a run");
    assert!(app.state.runs.laid.is_none());
}

/// The newest stored run of the recipe, which the preview has found, is the baseline of the next run.
#[test]
fn the_newest_stored_run_of_a_recipe_can_be_laid_under_the_next() {
    let root = stored_runs();
    let mut app = over(root.path(), PLAIN).0;
    let (plan, folder) = (fixture::passes(), root.path().join("20261120-223758-passes"));
    let ledger = script::played(&plan);
    let last = LastRun {
        folder: folder.clone(),
        started: String::new(),
        overrides: Vec::new(),
        done: (7, 14),
        environment: Default::default(),
        profiles: ledger.profiles().clone(),
        chart: crate::report::series::series(&plan, 0, ledger.records()),
        baseline: crate::tui::Baseline::new(&folder, &ledger).into(),
    };
    typed(&mut app, "j");
    let index = app.state.recipes.selected().expect("a recipe");
    app.state.home.facts.put_last(index, Known::Asked);
    update(&mut app.state, Input::Home(BackgroundResult::Last(index, Known::Is(Some(last.into())))), NOW);
    press(&mut app, KeyCode::Enter);
    assert!(app.state.active());
    assert_eq!(laid(&app), None, "only when it is asked for");
    typed(&mut app, "vo");
    assert_eq!(laid(&app), Some(("20261120-223758-passes".to_owned(), 7)));
}
