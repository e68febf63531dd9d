//! The home screen before a run: the filter, the form, saving, the queue.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

mod queue;
pub mod screens;

use super::script::{self, Scripted};
use super::{fixture, loops};
use crate::engine::protocol::Environment;
use crate::model::Profiles;
use crate::recipe::plan::{self, Overrides, Plan};
use crate::recipe::{self, shipped};
use crate::report::series::series;
use crate::run::estimate::{Pace, Paces};
use crate::tui::Baseline;
use crate::tui::app::{App, Incoming};
use crate::tui::home::BackgroundResult;
use crate::tui::home::facts::{Known, LastRun};
use crate::tui::home::jobs::Wanted;
use crate::tui::panel::Focus;
use crate::tui::recipes::{OWN, RecipeEntry};
use crate::tui::session::Mode;
use crate::tui::state::{Leaving, State};
use crate::tui::theme::Theme;
use crate::tui::update::{Input, update};

const COLOURED: Theme = Theme { colour: true, ..Theme::PLAIN };
const NOW: Duration = Duration::ZERO;

/// Recipes that resolve to their real plans.
fn recipes() -> Vec<RecipeEntry> {
    let own = "# Mine.\ntitle: Gather by size\ngather: {tuples: [1Ki, 2Ki], locations: random} # sizes\nbackend: cpu\n\
        chart: {x: tuples, y: time}\nmeasure: {rounds: 2, samples: 2}\n";
    let shipped = ["quickstart", "he2007/fig09-passes", "he2007/fig12-tuple-size", "lavin2020/fig06-simd"];
    let entry = |group: &str, path: &str, text: &str| RecipeEntry {
        group: group.to_owned(),
        path: path.to_owned(),
        title: path.to_owned(),
        text: text.to_owned(),
        problem: None,
    };
    let found = shipped.iter().map(|path| {
        let text = shipped::find(path).expect("shipped").text;
        entry(path.split_once('/').map_or("", |(group, _)| group), path, text)
    });
    found.chain([entry(OWN, "mine.yaml", own), entry(OWN, "wrong.yaml", "gather: {tupels: 1}\n")]).collect()
}

fn resolve(entry: &RecipeEntry, overrides: &Overrides, _: Wanted) -> Result<Plan, String> {
    let recipe = recipe::parse(&entry.path, &entry.text).map_err(|error| error.to_string())?;
    plan::resolve(&recipe, overrides).map_err(|error| error.to_string())
}

pub fn open(theme: Theme) -> (App, Scripted) {
    let runner = Scripted::default();
    let state = State::new(recipes(), fixture::DEVICES.to_owned());
    let mut app = App::new(state, theme, Box::new(runner.clone()), Arc::new(resolve));
    app.tick(NOW);
    (app, runner)
}

/// Types the letters; `<name>` stands for a key.
fn keys(app: &mut App, text: &str) {
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let (code, length) = match rest.strip_prefix('<').and_then(|rest| rest.split_once('>')) {
            Some((name, _)) => (named(name), name.len() + 2),
            None => (KeyCode::Char(c), c.len_utf8()),
        };
        loops::press(app, code, NOW);
        app.receive(NOW);
        app.tick(NOW);
        rest = &rest[length..];
    }
}

fn named(name: &str) -> KeyCode {
    match name {
        "enter" => KeyCode::Enter,
        "esc" => KeyCode::Esc,
        "tab" => KeyCode::Tab,
        "up" => KeyCode::Up,
        "down" => KeyCode::Down,
        "left" => KeyCode::Left,
        "back" => KeyCode::Backspace,
        _ => panic!("no key {name}"),
    }
}

/// Selects a line of the form.
fn line(app: &mut App, name: &str) {
    let at = app.state.home.editor.lines.iter().position(|line| line.name == name).expect("the line");
    app.state.home.editor.selected = at;
}

/// Replaces the value of a line.
fn set(app: &mut App, name: &str, value: &str) {
    line(app, name);
    keys(app, "<enter>");
    let control = KeyEvent::new(KeyCode::Char('u'), KeyModifiers::CONTROL);
    app.take(Incoming::Key(control), NOW);
    keys(app, value);
    keys(app, "<enter>");
}

fn shown(app: &mut App, (width, height): (u16, u16)) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal");
    app.draw(&mut terminal, NOW).expect("a frame");
    terminal.backend().to_string()
}

fn listed(app: &App) -> Vec<&str> {
    app.state.recipes.shown().iter().map(|at| app.state.recipes.entries()[*at].path.as_str()).collect()
}

fn selected(app: &App) -> Option<&str> {
    app.state.recipes.entry().map(|entry| entry.path.as_str())
}

/// A stored run of the passes, predicted from these profiles.
pub fn last_run(profiles: Profiles) -> LastRun {
    let plan = fixture::passes();
    let ledger = script::played(&plan);
    LastRun {
        folder: "reports/before".into(),
        started: "2026-11-20 22:37:58".to_owned(),
        overrides: vec!["--set passes=1..64 x2".to_owned()],
        done: (7, 14),
        environment: Environment::default(),
        profiles,
        chart: series(&plan, 0, ledger.records()),
        baseline: Arc::new(Baseline::new(Path::new("reports/before"), &ledger)),
    }
}

/// Reports copy rates for every backend but the missing GPU, and an earlier run of the recipe.
fn tell(app: &mut App) {
    let paces = Paces::from([
        ("scalar".to_owned(), Ok(Pace { copy: 8.0, free: None })),
        ("cpu".to_owned(), Ok(Pace { copy: 16.0, free: None })),
        ("cuda".to_owned(), Err("no CUDA driver".to_owned())),
    ]);
    app.state.home.facts.found_out = true;
    app.tick(NOW);
    update(&mut app.state, Input::Home(BackgroundResult::Paces(Some(Ok(paces)))), NOW);
    let index = app.state.recipes.selected().expect("a recipe");
    let run = last_run(Profiles::default());
    update(&mut app.state, Input::Home(BackgroundResult::Last(index, Known::Is(Some(Arc::new(run))))), NOW);
}

#[test]
fn the_filter_narrows_the_list_as_it_is_typed() {
    let (mut app, _) = open(COLOURED);
    keys(&mut app, "/scat");
    assert_eq!(listed(&app), ["he2007/fig09-passes", "he2007/fig12-tuple-size", "lavin2020/fig06-simd"]);
    assert_eq!(selected(&app), Some("he2007/fig09-passes"), "what is listed is selected");
    keys(&mut app, " fig12<enter>");
    assert_eq!(listed(&app), ["he2007/fig12-tuple-size"]);
    assert!(shown(&mut app, (80, 24)).contains("/ scat fig12"), "it stays in sight");
    keys(&mut app, "j");
    assert_eq!(selected(&app), Some("he2007/fig12-tuple-size"), "keys are commands again");
    keys(&mut app, "<esc>");
    assert_eq!(listed(&app).len(), 6, "Esc shows all");
    assert_eq!(selected(&app), Some("he2007/fig12-tuple-size"));
}

#[test]
fn while_a_filter_is_typed_letters_are_letters_and_arrows_move() {
    let (mut app, _) = open(COLOURED);
    keys(&mut app, "/q");
    assert_eq!(app.state.leaving, Leaving::No);
    keys(&mut app, "<back>he2<down>");
    assert_eq!(selected(&app), Some("he2007/fig12-tuple-size"));
    keys(&mut app, "nothing has this");
    assert_eq!((listed(&app).len(), selected(&app)), (0, None));
    assert!(shown(&mut app, (80, 24)).contains("no match"));
    keys(&mut app, "<esc>");
    assert_eq!(listed(&app).len(), 6);
    let control = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    keys(&mut app, "/");
    app.take(Incoming::Key(control), NOW);
    assert_eq!(app.state.leaving, Leaving::Now);
}

#[test]
fn a_changed_recipe_runs_with_its_changes() {
    let (mut app, runner) = open(COLOURED);
    keys(&mut app, "/fig09<enter>e");
    assert_eq!(app.state.focus, Focus::Editor);
    set(&mut app, "passes", "[1, 4]");
    set(&mut app, "backend", "cpu");
    set(&mut app, "measure.rounds", "1");
    keys(&mut app, "r");
    let session = app.state.session.as_ref().expect("a run");
    let plan = session.ledger.plan();
    let wanted = ["--set method.multipass.passes=[1, 4]", "--set backend=cpu", "--set measure.rounds=1"];
    assert_eq!(plan.overrides, wanted);
    assert_eq!(plan.cases.len(), 4, "two passes, two experiments");
    assert_eq!(runner.recipes(), [shipped::find("he2007/fig09-passes").expect("shipped").text]);
    assert!(shown(&mut app, (200, 60)).contains("--set backend=cpu"), "the header says so");
}

#[test]
fn a_bad_value_stays_in_its_field_with_what_would_be_accepted() {
    let (mut app, _) = open(COLOURED);
    keys(&mut app, "/fig09<enter>e");
    set(&mut app, "passes", "0");
    let editor = &app.state.home.editor;
    assert!(editor.field.is_some(), "it can be corrected");
    assert!(editor.error.as_ref().is_some_and(|error| error.contains("accepted: ")), "{:?}", editor.error);
    assert!(shown(&mut app, (80, 24)).contains("! 0 is out of range; accepted: 1 to 4Ki"));
    keys(&mut app, "<back>8");
    assert_eq!(app.state.home.editor.error, None);
    keys(&mut app, "<enter>");
    assert_eq!(app.state.home.edits.of(1).words(), ["--set method.multipass.passes=8"]);
    keys(&mut app, "<enter><back>nonsense<esc>");
    assert_eq!(app.state.home.edits.of(1).words(), ["--set method.multipass.passes=8"], "as it was");
}

#[test]
fn a_recipe_with_a_mistake_is_marked_in_the_list_before_anybody_looks_at_it() {
    let (mut app, _) = open(COLOURED);
    let marked = |app: &mut App, name: &str| {
        let screen = shown(app, (120, 40));
        let row = screen.lines().find(|row| row.contains(name)).expect("the recipe");
        row.split(name).nth(1).is_some_and(|rest| rest.trim_start().starts_with('✗'))
    };
    assert!(marked(&mut app, " wrong") && !marked(&mut app, " mine"));
    keys(&mut app, "/mine<enter>e");
    set(&mut app, "chart.x", "nothing");
    assert!(marked(&mut app, " mine *"), "its changes are refused");
    keys(&mut app, "u");
    assert!(!marked(&mut app, " mine"));
}

#[test]
fn what_is_typed_replaces_a_value_or_a_list_unless_the_cursor_was_moved() {
    let (mut app, _) = open(COLOURED);
    keys(&mut app, "/mine<enter>e");
    let mut typed = |name: &str, text: &str| {
        line(&mut app, name);
        keys(&mut app, &format!("<enter>{text}<enter>"));
        app.state.home.editor.line().map(|line| line.value.clone()).unwrap_or_default()
    };
    assert_eq!(typed("measure.rounds", "5"), "5");
    assert_eq!(typed("measure.rounds", "<left>1"), "15", "the cursor was moved");
    assert_eq!(typed("measure.rounds", ""), "15", "nothing was typed");
    assert_eq!(typed("tuples", "4Ki"), "4Ki");
}

#[test]
fn the_form_says_how_much_of_it_is_not_shown() {
    let (mut app, _) = open(COLOURED);
    keys(&mut app, "e");
    let heading = |app: &mut App, size| {
        let screen = shown(app, size);
        screen.lines().find(|row| row.contains("Editing quickstart")).expect("the heading").to_owned()
    };
    let count = |heading: &str, word: &str| {
        let before = heading.split(word).next().filter(|before| before.len() < heading.len());
        before.and_then(|words| words.split_whitespace().next_back()?.parse::<usize>().ok())
    };
    let lines = app.state.home.editor.lines.len();
    let top = heading(&mut app, (80, 24));
    let below = count(&top, " below").expect("the form is longer");
    assert_eq!(count(&top, " above"), None, "{top}");
    keys(&mut app, "G");
    let end = heading(&mut app, (80, 24));
    assert_eq!(count(&end, " below"), None, "{end}");
    assert!(count(&end, " above").is_some_and(|above| (1..lines).contains(&above)), "{end}");
    app.state.home.editor.selected = lines / 2;
    let middle = heading(&mut app, (80, 24));
    assert!(count(&middle, " above").is_some() && count(&middle, " below").is_some(), "{middle}");
    assert!((1..lines).contains(&below));
    let large = heading(&mut app, (120, 70));
    assert!(!large.contains("above") && !large.contains("below"), "{large}");
}

#[test]
fn each_form_opens_at_the_line_that_was_left() {
    let (mut app, _) = open(COLOURED);
    keys(&mut app, "ejjj<esc>");
    let left = app.state.home.editor.line().cloned().expect("a line");
    keys(&mut app, "jej<esc>ke");
    assert_eq!(app.state.home.editor.line(), Some(&left));
    keys(&mut app, "<esc>je");
    assert_eq!(app.state.home.editor.selected, 1, "as in the other form");
}

#[test]
fn a_list_needs_no_brackets_where_one_is_accepted() {
    let (mut app, _) = open(COLOURED);
    keys(&mut app, "/mine<enter>e");
    set(&mut app, "backend", "cpu, scalar");
    assert_eq!(app.state.home.edits.of(4).words(), ["--set backend=[cpu, scalar]"]);
    set(&mut app, "tuples", "1Ki, 2Ki..8Ki x2");
    assert!(matches!(app.state.recipes.plan(), Some(Ok(plan)) if plan.cases.len() == 8));
    set(&mut app, "measure.rounds", "2, 3");
    let error = app.state.home.editor.error.as_deref().unwrap_or_default();
    assert!(error.contains("2, 3") && !error.contains('['), "what was typed is what is wrong: {error}");
}

#[test]
fn what_only_the_plan_can_refuse_is_shown_and_cannot_run() {
    let (mut app, runner) = open(COLOURED);
    keys(&mut app, "/fig09<enter>e");
    set(&mut app, "chart.x", "nothing");
    assert!(matches!(app.state.recipes.plan(), Some(Err(_))));
    assert!(shown(&mut app, (120, 40)).contains("no parameter `nothing`"));
    keys(&mut app, "ra");
    assert_eq!((runner.starts(), app.state.home.queue.items().len()), (0, 0));
    keys(&mut app, "u");
    assert!(matches!(app.state.recipes.plan(), Some(Ok(_))));
}

#[test]
fn a_value_in_which_experiments_differ_is_set_for_all() {
    let (mut app, _) = open(COLOURED);
    keys(&mut app, "/fig09<enter>e");
    line(&mut app, "tuples");
    assert!(shown(&mut app, (80, 24)).contains("16Mi / 256Mi"));
    keys(&mut app, "<enter><enter>");
    assert!(!app.state.home.edits.any(1), "nothing was typed");
    keys(&mut app, "<enter>1Mi<enter>");
    assert_eq!(app.state.home.edits.of(1).words(), ["--set tuples=1Mi"]);
}

#[test]
fn turning_the_wheel_over_the_list_leaves_the_form() {
    let (mut app, _) = open(COLOURED);
    let wheel = |panel, by| Input::Wheel { panel, area: ratatui::layout::Rect::ZERO, column: 0, row: 0, by };
    keys(&mut app, "e<enter>x");
    update(&mut app.state, wheel(Focus::Recipes, 1), NOW);
    assert_eq!((app.state.focus, selected(&app)), (Focus::Recipes, Some("he2007/fig09-passes")));
    keys(&mut app, "e");
    assert_eq!(app.state.home.editor.lines[0].name, "method", "the form of what is selected now");
    update(&mut app.state, wheel(Focus::Editor, 3), NOW);
    assert_eq!(app.state.home.editor.selected, 3);
}

#[test]
fn a_click_selects_a_value_and_a_run_that_waits() {
    let click = |app: &mut App, panel: Focus, row: u16| {
        let screen = ratatui::layout::Rect::new(0, 0, 120, 40);
        let areas = crate::tui::layout::Areas::new(&app.state, screen).expect("large enough");
        let area = areas.panel(panel).expect("the panel");
        update(&mut app.state, Input::Click { panel, area, column: area.x, row: area.y + row }, NOW);
    };
    let (mut app, _) = open(COLOURED);
    keys(&mut app, "e");
    click(&mut app, Focus::Editor, 3);
    assert_eq!(app.state.home.editor.selected, 2, "under the heading");
    click(&mut app, Focus::Editor, 38);
    assert_eq!(app.state.home.editor.selected, 2, "that is no value");
    keys(&mut app, "<esc>ajaja");
    click(&mut app, Focus::Queue, 2);
    assert_eq!((app.state.focus, app.state.home.queue.selected), (Focus::Queue, 1));
}

#[test]
fn a_value_as_the_recipe_has_it_is_no_change() {
    let (mut app, _) = open(COLOURED);
    keys(&mut app, "/fig09<enter>e");
    set(&mut app, "passes", "2");
    set(&mut app, "passes", "1..64 x2");
    assert!(!app.state.home.edits.any(1));
    set(&mut app, "passes", "2");
    set(&mut app, "measure.rounds", "2");
    keys(&mut app, "U");
    assert!(!app.state.home.edits.any(1));
    set(&mut app, "passes", "2");
    set(&mut app, "passes", "");
    assert!(!app.state.home.edits.any(1), "an empty value is the recipe's");
}

#[test]
fn a_recipe_with_a_mistake_is_neither_edited_nor_queued_nor_saved() {
    let (mut app, runner) = open(COLOURED);
    keys(&mut app, "Geaw");
    assert_eq!(app.state.focus, Focus::Recipes);
    assert!(app.state.home.saving.is_none() && app.state.home.queue.is_empty());
    assert_eq!(runner.starts(), 0);
}

#[test]
fn a_changed_recipe_is_saved_with_its_comments_and_means_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("other.yaml");
    let (mut app, _) = open(COLOURED);
    keys(&mut app, "/mine<enter>e");
    set(&mut app, "tuples", "[4Ki, 8Ki]");
    set(&mut app, "measure.budget", "1s");
    let wanted = app.state.recipes.plan().and_then(|plan| plan.as_ref().ok()).cloned().expect("a plan");
    keys(&mut app, "w");
    assert!(shown(&mut app, (80, 24)).contains("Save as: mine-edited.yaml"));
    save_as(&mut app, path.to_str().expect("a path"));
    let text = fs::read_to_string(&path).expect("the file");
    assert_eq!(
        text,
        "# Mine.\ntitle: 'Gather by size (tuples=[4Ki, 8Ki], measure.budget=1s)'\ngather: {tuples: [4Ki, 8Ki], locations: random}\nbackend: cpu\n\
         chart: {x: tuples, y: time}\nmeasure: {rounds: 2, samples: 2, budget: 1s}\n"
    );
    assert_eq!(selected(&app), path.to_str(), "it is in the list");
    let plan = app.state.recipes.plan().and_then(|plan| plan.as_ref().ok()).expect("a plan");
    assert_eq!(plan.title, "Gather by size (tuples=[4Ki, 8Ki], measure.budget=1s)");
    let cases = |plan: &Plan| plan.cases.iter().map(|case| case.id.clone()).collect::<Vec<_>>();
    assert!(cases(plan) == cases(&wanted) && plan.overrides.is_empty());
    assert!(!app.state.home.edits.any(4), "the changes are in the file now");
}

/// Types the name and confirms it.
fn save_as(app: &mut App, name: &str) {
    app.take(Incoming::Key(KeyEvent::new(KeyCode::Char('u'), KeyModifiers::CONTROL)), NOW);
    keys(app, name);
    keys(app, "<enter>");
}

#[test]
fn a_file_that_exists_is_only_overwritten_when_somebody_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("own.yaml");
    fs::write(&path, "precious").expect("written");
    let (mut app, _) = open(COLOURED);
    let name = path.to_str().expect("a path").trim_end_matches(".yaml");
    keys(&mut app, "/mine<enter>w");
    save_as(&mut app, name);
    assert!(shown(&mut app, (200, 24)).contains("exists. Enter: overwrite it"));
    keys(&mut app, "<esc>");
    assert_eq!(fs::read_to_string(&path).expect("it"), "precious");
    keys(&mut app, "w");
    save_as(&mut app, name);
    assert_eq!(fs::read_to_string(&path).expect("it"), "precious", "another question, another answer");
    keys(&mut app, "<enter>");
    assert!(fs::read_to_string(&path).expect("it").contains("Gather by size"));
    let left: Vec<_> = fs::read_dir(folder.path()).expect("a folder").flatten().collect();
    assert_eq!(left.len(), 1, "nothing else is left");
}

#[test]
fn what_cannot_be_written_is_said() {
    let (mut app, _) = open(COLOURED);
    keys(&mut app, "/mine<enter>w");
    save_as(&mut app, "/nowhere/at/all.yaml");
    let screen = shown(&mut app, (200, 24));
    let asked = "Save as: /nowhere/at/all.yaml▏  not saved: cannot write /nowhere/at/all.yaml";
    assert!(screen.contains(asked), "the question stays: {screen}");
    keys(&mut app, "x");
    assert!(shown(&mut app, (200, 24)).contains("Save as: /nowhere/at/all.yamlx▏  "));
    save_as(&mut app, "  ");
    assert!(shown(&mut app, (200, 24)).contains("not saved: a file needs a name"));
    keys(&mut app, "<esc>");
    assert_eq!(app.state.home.saving, None);
}

#[test]
fn the_offered_name_is_replaced_by_what_is_typed() {
    let (mut app, _) = open(COLOURED);
    keys(&mut app, "/mine<enter>w");
    assert!(shown(&mut app, (80, 24)).contains("Save as: mine-edited.yaml▏  (what is typed replaces it"));
    keys(&mut app, "a");
    assert!(shown(&mut app, (80, 24)).contains("Save as: a▏  "));
    keys(&mut app, "<esc>w<back>");
    assert!(shown(&mut app, (80, 24)).contains("Save as: mine-edited.yam▏  "));
}

#[test]
fn comments_that_are_lost_are_told_of() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("own.yaml");
    let text = "# Mine.\ngather:\n  tuples: # why these\n    - 1Ki\n    - 2Ki\n  locations: random\nbackend: cpu\n\
        chart: {x: tuples, y: time}\n";
    let (mut app, _) = open(COLOURED);
    let entry = RecipeEntry {
        group: "mine".into(),
        path: "b.yaml".into(),
        title: "b".into(),
        text: text.into(),
        problem: None,
    };
    let index = app.state.recipes.add(entry);
    app.state.home.filter.apply(&mut app.state.recipes);
    app.state.recipes.select(index);
    keys(&mut app, "e");
    set(&mut app, "tuples", "[4Ki, 8Ki]");
    fs::write(&path, "precious").expect("written");
    keys(&mut app, "w");
    save_as(&mut app, path.to_str().expect("a path"));
    assert!(shown(&mut app, (200, 24)).contains("overwrite it (some comments are left out)"));
    keys(&mut app, "<enter>");
    let notice = app.state.notice.clone().expect("a notice");
    assert!(
        notice.starts_with("saved as ") && notice.ends_with("; comments that no longer fit are left out"),
        "{notice}"
    );
    let saved = fs::read_to_string(&path).expect("it");
    assert!(saved.starts_with("# Mine.\n") && !saved.contains("why these"), "{saved}");
}

/// The recipe of this folder takes for ever to resolve, until nobody waits for it.
fn stuck(entry: &RecipeEntry, overrides: &Overrides, wanted: Wanted) -> Result<Plan, String> {
    while entry.path == "mine.yaml" && wanted() {
        std::thread::yield_now();
    }
    resolve(entry, overrides, wanted)
}

#[test]
fn keys_are_answered_while_a_recipe_is_resolved() {
    let runner = Scripted::default();
    let state = State::new(recipes(), fixture::DEVICES.to_owned());
    let mut app = App::new(state, Theme::PLAIN, Box::new(runner.clone()), Arc::new(stuck));
    let (waker, _wakes) = crate::tui::waker::pair().expect("a pipe");
    app.wake_by(waker);
    app.tick(NOW);
    keys(&mut app, "/mine<enter>");
    let screen = shown(&mut app, (120, 40));
    assert!(screen.contains("being resolved"), "{screen}");
    // It is not started before its cases are resolved, and not at all if the user goes back.
    keys(&mut app, "<enter>");
    let screen = shown(&mut app, (120, 40));
    assert!(screen.contains("Resolving the cases of mine.yaml before it starts"), "{screen}");
    assert!(app.state.busy());
    keys(&mut app, "<esc>");
    assert!(!app.state.busy() && runner.starts() == 0);
    keys(&mut app, "<enter>q");
    assert_eq!(app.state.leaving, crate::tui::state::Leaving::Now, "q leaves at once");
}
