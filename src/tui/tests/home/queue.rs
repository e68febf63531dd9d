//! Queued runs, and lookups in the meantime.

use super::*;
use crate::engine::protocol::Event;
use crate::run::runner::{Control, Message};
use crate::tui::session::Phase;

fn over(app: &mut App, runner: &Scripted) {
    runner.say(Message::Over);
    app.receive(NOW);
    app.tick(NOW);
}

fn running(app: &App) -> Option<usize> {
    app.state.session.as_ref().filter(|session| session.active()).and_then(|session| session.recipe)
}

#[test]
fn what_is_queued_runs_one_after_another() {
    let (mut app, runner) = open(COLOURED);
    keys(&mut app, "a");
    assert_eq!((running(&app), app.state.focus), (Some(0), Focus::Recipes), "nothing ran: it starts");
    keys(&mut app, "ja/mine<enter>");
    keys(&mut app, "e");
    set(&mut app, "tuples", "4Ki");
    keys(&mut app, "a<esc>");
    assert_eq!(runner.starts(), 1);
    let labels: Vec<String> = app.state.home.queue.items().iter().map(|item| item.label()).collect();
    assert_eq!(labels, ["he2007/fig09-passes", "mine.yaml --set tuples=4Ki"]);
    over(&mut app, &runner);
    assert_eq!(running(&app), Some(1));
    over(&mut app, &runner);
    assert_eq!((running(&app), app.state.home.queue.is_empty()), (Some(4), true));
    let plan = app.state.session.as_ref().expect("a run").ledger.plan();
    assert_eq!(plan.overrides, ["--set tuples=4Ki"]);
    over(&mut app, &runner);
    assert_eq!((running(&app), runner.starts()), (None, 3));
}

#[test]
fn enter_queues_while_a_run_is_active_and_shows_the_run_that_it_is() {
    let (mut app, runner) = open(COLOURED);
    keys(&mut app, "<enter>");
    assert_eq!(app.state.focus, Focus::Cases);
    keys(&mut app, "<esc><enter>");
    assert_eq!((app.state.focus, runner.starts()), (Focus::Cases, 1), "this very run");
    keys(&mut app, "<esc>j<enter>");
    assert_eq!((app.state.focus, app.state.home.queue.items().len()), (Focus::Recipes, 1));
    assert_eq!(app.state.notice.as_deref(), Some("queued: he2007/fig09-passes"));
}

#[test]
fn one_can_be_taken_out_of_the_queue() {
    let (mut app, _) = open(COLOURED);
    keys(&mut app, "ajajaja<tab>");
    assert_eq!((app.state.focus, app.state.home.queue.items().len()), (Focus::Queue, 3));
    keys(&mut app, "jd");
    let labels: Vec<String> = app.state.home.queue.items().iter().map(|item| item.label()).collect();
    assert_eq!(labels, ["he2007/fig09-passes", "lavin2020/fig06-simd"]);
    keys(&mut app, "dd");
    assert_eq!((app.state.focus, app.state.home.queue.is_empty()), (Focus::Recipes, true));
    keys(&mut app, "d");
}

#[test]
fn a_run_that_fails_does_not_stop_the_next() {
    let (mut app, runner) = open(COLOURED);
    keys(&mut app, "aja");
    // The engine dies: while another run is queued, the run continues without being asked.
    runner.say(Message::Event(Event::Skipped { seq: 1, case: "none".to_owned() }));
    runner.say(Message::Died { reason: "killed by signal 9".to_owned(), case: None });
    app.receive(NOW);
    assert_eq!(runner.told(), [Control::Resume]);
    assert_eq!(app.state.session.as_ref().map(|s| s.phase.clone()), Some(Phase::Running));
    // An engine that makes no progress is not restarted for ever.
    runner.say(Message::Died { reason: "no such file".to_owned(), case: None });
    app.receive(NOW);
    assert_eq!(runner.told(), [Control::Stop]);
    runner.say(Message::Broken("disk full".to_owned()));
    app.receive(NOW);
    app.tick(NOW);
    assert_eq!((runner.starts(), app.state.active()), (1, false), "its thread still writes");
    keys(&mut app, "<enter>");
    assert_eq!((runner.starts(), app.state.home.queue.items().len()), (1, 2), "nor by hand");
    keys(&mut app, "<tab>jd<esc>");
    over(&mut app, &runner);
    assert_eq!(running(&app), Some(1), "a broken run is over, too");
    keys(&mut app, "ja");
    // A thread that ends without a final message.
    runner.hang_up();
    app.receive(NOW);
    app.tick(NOW);
    assert_eq!(running(&app), Some(2));
}

#[test]
fn an_engine_that_dies_while_somebody_is_asked_is_not_left_dead() {
    let (mut app, runner) = open(COLOURED);
    keys(&mut app, "ajaq");
    assert_eq!(app.state.leaving, Leaving::Asked);
    let case = app.state.session.as_ref().map(|s| s.ledger.plan().cases[0].id.clone());
    runner.say(Message::Died { reason: "killed by signal 9".to_owned(), case });
    app.receive(NOW);
    app.tick(NOW);
    assert_eq!(runner.told(), [], "the question comes first");
    keys(&mut app, "<esc>");
    assert_eq!(runner.told(), [Control::Resume]);
}

#[test]
fn a_recipe_that_is_saved_over_runs_as_it_was_when_it_was_queued() {
    let (mut app, runner) = open(COLOURED);
    keys(&mut app, "a/mine<enter>a");
    let before = app.state.recipes.entry().cloned().expect("a recipe");
    app.state.recipes.add(RecipeEntry { text: "gather: {tuples: 8}\n".to_owned(), ..before.clone() });
    over(&mut app, &runner);
    assert_eq!(runner.recipes().last(), Some(&before.text));
}

#[test]
fn what_cannot_be_started_is_named_and_the_next_starts() {
    let (mut app, runner) = open(COLOURED);
    keys(&mut app, "ajaja");
    runner.refuse(1);
    over(&mut app, &runner);
    assert_eq!(running(&app), Some(2));
    assert_eq!(app.state.notice.as_deref(), Some("not started: he2007/fig09-passes: no room"));
}

#[test]
fn who_leaves_starts_nothing_more() {
    let (mut app, runner) = open(COLOURED);
    keys(&mut app, "ajaqq");
    assert!(matches!(app.state.leaving, Leaving::Waiting { .. }));
    over(&mut app, &runner);
    assert_eq!((app.state.leaving, runner.starts()), (Leaving::Now, 1));
}

#[test]
fn nothing_is_looked_up_while_something_runs() {
    use crate::tui::home::Errand;
    let wanted = |state: &State| match crate::tui::update::wanted(state) {
        Some(crate::tui::commands::Effect::Home(errand)) => Some(errand),
        _ => None,
    };
    let (mut app, runner) = open(COLOURED);
    assert_eq!(wanted(&app.state), None, "there is nobody to ask");
    app.state.home.facts.found_out = true;
    assert_eq!(wanted(&app.state), Some(Errand::Paces));
    update(&mut app.state, Input::Home(BackgroundResult::Asked(Errand::Paces)), NOW);
    assert_eq!(wanted(&app.state), Some(Errand::Last(0)));
    update(&mut app.state, Input::Home(BackgroundResult::Asked(Errand::Last(0))), NOW);
    assert_eq!(wanted(&app.state), None);
    keys(&mut app, "<enter>");
    update(&mut app.state, Input::Home(BackgroundResult::Paces(None)), NOW);
    assert_eq!(wanted(&app.state), None, "a run is active");
    over(&mut app, &runner);
    assert!(app.state.at_home() || wanted(&app.state).is_none(), "nobody looks at a preview");
    app.state.focus = Focus::Recipes;
    assert_eq!(wanted(&app.state), Some(Errand::Paces), "the probe was given up");
    update(&mut app.state, Input::Home(BackgroundResult::Paces(Some(Err("no engine".to_owned())))), NOW);
    assert_eq!(wanted(&app.state), Some(Errand::Last(0)), "it has run since");
}

#[test]
fn a_stored_run_that_is_watched_has_nothing_to_change() {
    let (mut app, _) = open(COLOURED);
    app.state.mode = Mode::Watch;
    keys(&mut app, "/eaw");
    assert_eq!(app.state.focus, Focus::Recipes);
    assert!(!app.state.home.filter.typing && app.state.home.queue.is_empty());
    let screen = shown(&mut app, (120, 40));
    assert!(!screen.contains("/ filter") && !screen.contains("e edit"), "{screen}");
}
