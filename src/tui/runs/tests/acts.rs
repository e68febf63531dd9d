//! Effects of keys on stored runs.

use std::fs;
use std::time::Duration;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::KeyCode;

use super::{NOW, listed, names, over, plan, press, screens, stored_runs, typed, write, write_plan};
use crate::run::note;
use crate::run::runner::Control;
use crate::tui::app::App;
use crate::tui::commands::Effect;
use crate::tui::panel::samples;
use crate::tui::panel::{Focus, hints};
use crate::tui::runs::Listing;
use crate::tui::session::{Mode, Phase};
use crate::tui::state::Overlay;
use crate::tui::tests::act;
use crate::tui::tests::fixture;
use crate::tui::theme::Theme;

const PLAIN: Theme = Theme::PLAIN;

fn notice(app: &App) -> &str {
    app.state.notice.as_deref().unwrap_or_default()
}

/// The text that the copy key asks the terminal to copy.
fn copied(app: &mut App) -> String {
    match act(&mut app.state, "copy") {
        Some(Effect::Copy(text)) => text,
        Some(Effect::CopyValues) => {
            app.state.session.as_ref().and_then(samples::text).expect("the values of a case")
        }
        other => panic!("nothing is copied but {other:?}"),
    }
}

#[test]
fn runs_are_listed_newest_first_wherever_they_lie() {
    let root = stored_runs();
    let app = listed(root.path(), PLAIN);
    let expected =
        ["deep/20261121-080000-passes", "20261120-223758-passes", "20261119-101500-passes", "somebody-else"];
    assert_eq!(names(&app), expected);
    assert_eq!((app.state.focus, app.state.runs.listing), (Focus::Runs, Listing::Done { more: 0 }));
    let tally = app.state.runs.selected().and_then(|entry| Some(entry.summary()?.tally)).expect("a run");
    assert_eq!((tally.done, tally.failed, tally.absent, tally.possible()), (6, 1, 7, 7));
}

#[test]
fn runs_that_follow_each_other_can_be_told_apart() {
    let root = stored_runs();
    let of = |words: &str, hash: &str| {
        let (mut plan, words) = (plan(), words.split_whitespace().map(str::to_owned).collect());
        plan.overrides = words;
        if !hash.is_empty() {
            plan.recipe_hash = hash.to_owned();
        }
        plan
    };
    let (changed, elsewhere) = (of("--set tuples=1Ki", ""), of("", "another recipe"));
    write_plan(changed, root.path(), "changed", "2026-11-22 00:00:03", 1.0, None);
    write_plan(elsewhere, root.path(), "elsewhere", "2026-11-22 00:00:02", 1.0, None);
    let mut app = listed(root.path(), PLAIN);
    let mut terminal = Terminal::new(TestBackend::new(100, 24)).expect("a terminal");
    app.draw(&mut terminal, NOW).expect("a frame");
    let screen = terminal.backend().to_string();
    let row = |at: usize| screen.lines().nth(2 + at).expect("a row");
    assert!(row(0).contains("2026-11-22 00:00:03 he2007/fig09-passes --set tuples=1Ki · Mul"), "{screen}");
    assert!(row(1).contains("2026-11-22 00:00:02 Multi-pass scatter  "), "no recipe here: {screen}");
    assert!(row(2).contains("08:00:00 he2007/fig09-passes · after the kernel up"), "{screen}");
    typed(&mut app, "/fig09 TUPLES=");
    assert_eq!(names(&app), ["changed"], "what is shown can be searched");
}

#[test]
fn the_list_follows_the_disk_and_keeps_the_selection() {
    let root = stored_runs();
    let mut app = listed(root.path(), PLAIN);
    typed(&mut app, "j");
    let selected = |app: &App| app.state.runs.selected().map(|entry| entry.name.clone());
    let before = selected(&app);
    write(root.path(), "newest", "2026-11-22 00:00:00", 1.0, None);
    fs::remove_dir_all(root.path().join("20261119-101500-passes")).expect("removed");
    typed(&mut app, "R");
    assert_eq!(names(&app)[0], "newest");
    assert!(!names(&app).contains(&"20261119-101500-passes".to_owned()));
    assert_eq!(selected(&app), before);
}

#[test]
fn a_search_narrows_while_it_is_typed_and_can_be_withdrawn() {
    let root = stored_runs();
    let mut app = listed(root.path(), PLAIN);
    typed(&mut app, "/KERNEL q");
    assert_eq!(names(&app), [""; 0], "q is a letter here");
    press(&mut app, KeyCode::Backspace);
    assert_eq!(names(&app), ["deep/20261121-080000-passes"], "a word of its note");
    press(&mut app, KeyCode::Enter);
    assert_eq!((app.state.runs.search(), names(&app).len()), ("KERNEL ", 1));
    typed(&mut app, "/x");
    press(&mut app, KeyCode::Esc);
    assert_eq!(app.state.runs.search(), "KERNEL ", "as it was before");
    press(&mut app, KeyCode::Esc);
    assert_eq!((names(&app).len(), app.state.focus), (4, Focus::Runs), "first the search goes");
    press(&mut app, KeyCode::Esc);
    assert_eq!(app.state.focus, Focus::Recipes);
}

#[test]
fn a_run_is_opened_read_only_in_the_run_screen() {
    let root = stored_runs();
    let mut app = listed(root.path(), PLAIN);
    press(&mut app, KeyCode::Enter);
    let session = app.state.session.as_ref().expect("a run");
    assert_eq!((session.mode, &session.phase), (Mode::Stored, &Phase::Over { cancelled: false }));
    assert_eq!(
        (app.state.focus, session.active(), session.progress(Duration::ZERO)),
        (Focus::Cases, false, (18, 18))
    );
    assert!(session.log.says("3 % of the time was stolen"));
    typed(&mut app, "x");
    assert!(!app.state.active(), "there is nothing to cancel");
    press(&mut app, KeyCode::Esc);
    assert_eq!(app.state.focus, Focus::Runs, "back where it was opened");
}

#[test]
fn nothing_is_read_while_something_is_timed() {
    let root = stored_runs();
    let (mut app, runner) = over(root.path(), PLAIN);
    press(&mut app, KeyCode::Enter);
    assert!(app.state.measuring());
    press(&mut app, KeyCode::Esc);
    typed(&mut app, "o");
    assert_eq!((app.state.focus, names(&app).len()), (Focus::Runs, 0));
    assert!(notice(&app).contains("a run is active"), "{}", notice(&app));
    runner.say(crate::run::runner::Message::Over);
    app.receive(NOW);
    typed(&mut app, "R");
    assert_eq!(names(&app).len(), 4);
    press(&mut app, KeyCode::Esc);
    press(&mut app, KeyCode::Enter);
    press(&mut app, KeyCode::Esc);
    typed(&mut app, "o");
    for key in ['e', 'w'] {
        typed(&mut app, &key.to_string());
        assert!(notice(&app).contains("a run is active"), "{key}: {}", notice(&app));
    }
    press(&mut app, KeyCode::Enter);
    assert_eq!(app.state.session.as_ref().map(|s| s.mode), Some(Mode::Run), "the run stays");
    assert_eq!(runner.told(), [] as [Control; 0]);
}

#[test]
fn an_answer_that_nobody_waits_for_takes_nobody_anywhere() {
    let root = stored_runs();
    let mut app = listed(root.path(), PLAIN);
    let open = |app: &mut App| act(&mut app.state, "open-run");
    let Some(Effect::Request(ticket, job)) = open(&mut app) else { panic!("it is read") };
    press(&mut app, KeyCode::Esc);
    let io_worker = app.io_worker.as_mut().expect("a desk");
    io_worker.ask(ticket, job, None).expect("asked");
    app.receive(NOW);
    assert!(app.state.session.is_none());
    assert_eq!(app.state.focus, Focus::Recipes);
}

#[test]
fn a_note_is_kept_in_the_folder_and_shown_in_the_list() {
    let root = stored_runs();
    let mut app = listed(root.path(), PLAIN);
    typed(&mut app, "n, twice");
    press(&mut app, KeyCode::Enter);
    let entry = app.state.runs.selected().expect("a run");
    assert_eq!(entry.note.as_deref(), Some("after the kernel update, twice"));
    assert_eq!(note::read(&entry.path), entry.note);
    typed(&mut app, "nlost");
    press(&mut app, KeyCode::Esc);
    assert_eq!(
        app.state.runs.selected().and_then(|e| e.note.clone()).as_deref(),
        Some("after the kernel update, twice")
    );
    let path = app.state.runs.selected().expect("a run").path.clone();
    fs::remove_dir_all(path).expect("removed");
    typed(&mut app, "n!");
    press(&mut app, KeyCode::Enter);
    assert!(notice(&app).starts_with("cannot write"), "{}", notice(&app));
}

#[test]
fn a_note_waits_for_the_end_of_what_is_timed() {
    let root = stored_runs();
    let (mut app, _runner) = over(root.path(), PLAIN);
    typed(&mut app, "o");
    press(&mut app, KeyCode::Esc);
    press(&mut app, KeyCode::Enter);
    press(&mut app, KeyCode::Esc);
    typed(&mut app, "on");
    assert_eq!((notice(&app).contains("a run is active"), &app.state.runs.typing), (true, &None));
}

#[test]
fn a_run_is_compared_with_the_marked_one() {
    let root = stored_runs();
    let mut app = listed(root.path(), PLAIN);
    typed(&mut app, "c");
    assert!(notice(&app).contains("mark a baseline first: m"), "{}", notice(&app));
    typed(&mut app, "jjmc");
    assert!(notice(&app).contains("the baseline itself"), "{}", notice(&app));
    typed(&mut app, "kc");
    assert_eq!(app.state.focus, Focus::Comparison);
    let comparison = app.state.runs.comparison.as_ref().expect("a comparison");
    assert_eq!(comparison.key[0].split_whitespace().nth(1), Some("20261119-101500-passes"));
    let cells = &comparison.judged.rows[0].cells;
    assert_eq!((cells[0].as_str(), cells[4].as_str()), ("passes 1 · cpu", "differ: slower"), "{cells:?}");
    assert!(cells[3].starts_with("×1.200 ["), "{cells:?}");
    typed(&mut app, "j");
    assert!(copied(&mut app).starts_with("passes 1 · cuda; A GB/s: –; "));
    typed(&mut app, "G");
    assert_eq!(
        app.state.runs.comparison.as_ref().map(|s| s.selected + 1),
        app.state.runs.comparison.as_ref().map(|s| s.count())
    );
    press(&mut app, KeyCode::Esc);
    assert_eq!(app.state.focus, Focus::Runs);
    typed(&mut app, "jm");
    assert_eq!(app.state.runs.baseline, None, "once more takes the mark away");
}

#[test]
fn an_export_writes_and_says_how_to_repeat() {
    let root = stored_runs();
    let mut app = listed(root.path(), PLAIN);
    let folder = app.state.runs.selected().expect("a run").path.clone();
    typed(&mut app, "e");
    assert!(matches!(app.state.overlay, Some(Overlay::Export { selected: 0 })));
    let files = &app.state.runs.exported.as_ref().expect("written").files;
    assert_eq!(files.len(), 4, "two tables, a chart and the claims: {files:?}");
    assert!(files.iter().all(|name| folder.join(name).is_file()), "{files:?}");
    assert_eq!(copied(&mut app), format!("scatterlab replay {}", folder.display()));
    typed(&mut app, "j");
    assert_eq!(copied(&mut app), "scatterlab run he2007/fig09-passes");
    typed(&mut app, "jj");
    assert_eq!(copied(&mut app), folder.display().to_string());
    press(&mut app, KeyCode::Esc);
    assert_eq!(app.state.overlay, None);
    press(&mut app, KeyCode::Enter);
    typed(&mut app, "e");
    assert!(matches!(app.state.overlay, Some(Overlay::Export { .. })), "in the run screen too");
}

#[test]
fn what_is_under_the_cursor_is_copied() {
    let root = stored_runs();
    let mut app = listed(root.path(), PLAIN);
    let folder = app.state.runs.selected().expect("a run").path.clone();
    assert_eq!(copied(&mut app), folder.display().to_string());
    assert!(notice(&app).contains("if the terminal allows it"), "{}", notice(&app));
    press(&mut app, KeyCode::Tab);
    assert_eq!(
        (app.state.focus, copied(&mut app).as_str()),
        (Focus::Details, "scatterlab run he2007/fig09-passes")
    );
    press(&mut app, KeyCode::Enter);
    let text = copied(&mut app);
    let wanted = ["Multi-pass scatter, by number of passes: 1 cpu", "certified", "effective", "passes 1"];
    assert!(wanted.iter().all(|word| text.contains(word)), "{text}");
    assert!(text.lines().count() > 3 && !text.contains('\u{1b}'), "{text}");
}

#[test]
fn a_matrix_is_shown_whole_and_no_key_moves_it() {
    let mut app = screens::of_matrices(PLAIN, "p");
    let at = |app: &App| app.state.pattern.as_ref().map(|view| view.pattern.at).expect("a pattern");
    assert_eq!((app.state.focus, at(&app)), (Focus::Pattern, 0));
    for key in ["j", "G", "h", "b", "s", "t", "["] {
        typed(&mut app, key);
        assert!(app.state.notice.is_some(), "{key} says why it does nothing");
    }
    let hints: Vec<&str> = hints::hints(&app.state).iter().map(|(command, _)| command.name).collect();
    assert_eq!(hints, ["case", "back", "help", "quit"]);
    typed(&mut app, "]");
    assert_eq!((at(&app), app.state.notice.clone()), (1, None));
    // The help is moved through as ever.
    typed(&mut app, "?j");
    assert!(matches!(app.state.overlay, Some(Overlay::Help { scroll: Some(1) })), "{:?}", app.state.overlay);
    press(&mut app, KeyCode::Esc);
    press(&mut app, KeyCode::Esc);
    assert_eq!(app.state.focus, Focus::Recipes);
}

#[test]
fn a_case_of_a_recipe_or_a_run_shows_what_it_touches() {
    let root = stored_runs();
    let (mut app, _runner) = over(root.path(), PLAIN);
    typed(&mut app, "p");
    assert_eq!(app.state.focus, Focus::Recipes, "streams go through no indices");
    typed(&mut app, "jp");
    assert_eq!(app.state.focus, Focus::Pattern);
    let at = |app: &App| app.state.pattern.as_ref().map(|view| view.pattern.at).expect("a pattern");
    assert_eq!(at(&app), 0);
    typed(&mut app, "]]");
    assert_eq!(at(&app), 2);
    typed(&mut app, "[");
    assert_eq!(at(&app), 1);
    typed(&mut app, "jjllsb");
    let view = app.state.pattern.as_ref().expect("a pattern");
    assert_eq!(
        (view.row, view.column, view.whole, view.line),
        (2, 0, true, 1),
        "other lines begin at the left"
    );
    press(&mut app, KeyCode::Esc);
    assert_eq!(app.state.focus, Focus::Recipes);
    typed(&mut app, "o");
    press(&mut app, KeyCode::Enter);
    typed(&mut app, "jjp");
    assert_eq!((app.state.focus, at(&app)), (Focus::Pattern, 4), "the selected case");
    press(&mut app, KeyCode::Esc);
    assert_eq!(app.state.focus, Focus::Cases);
    assert_eq!(fixture::passes().cases.len(), plan().cases.len());
}
