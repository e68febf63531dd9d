//! Replaying a stored run.

use super::{NOW, names, over, plan, press, script, stored_runs, typed, write};
use crate::report::replay::VERDICTS;
use crate::run::runner::Message;
use crate::tui::panel::Focus;
use crate::tui::tests::allows;
use crate::tui::theme::Theme;
use ratatui::crossterm::event::KeyCode;

const REPLAY: &str = "replay-run";

#[test]
fn a_stored_run_is_run_again_above_its_old_results_and_judged_against_them() {
    let root = stored_runs();
    let (mut app, runner) = over(root.path(), Theme::PLAIN);
    typed(&mut app, "ojP");
    let session = app.state.session.as_ref().expect("a run");
    let stored = session.replays.clone().expect("it replays a run");
    assert!(stored.ends_with("20261120-223758-passes"), "{stored:?}");
    assert_eq!((runner.starts(), session.ledger.plan()), (1, &plan()));
    let baseline = session.view.baseline.as_ref().expect("the old results lie under the chart");
    assert_eq!(baseline.folder, stored);
    assert!(session.view.overlay().is_some() && app.state.measuring());
    assert!(!allows(&app.state, REPLAY), "one at a time");

    // The scripted runner writes no files, so the new results are put in a folder here.
    let fresh = write(root.path(), "fresh", "2026-11-22 08:00:00", 1.6, None);
    app.state.session.as_mut().expect("a run").folder.clone_from(&fresh);
    script::messages(&plan(), None).into_iter().for_each(|message| runner.say(message));
    runner.say(Message::Over);
    app.receive(NOW);
    app.receive(NOW);
    assert_eq!(app.state.focus, Focus::Comparison, "{:?}", app.state.notice);
    let comparison = app.state.runs.comparison.as_ref().expect("a judgement");
    assert!(
        comparison.judged.summary.starts_with("0 agree, 6 differ (slower), "),
        "{}",
        comparison.judged.summary
    );
    assert!(
        comparison.key[0].starts_with("then  ") && comparison.key[1].ends_with("fresh"),
        "{:?}",
        comparison.key
    );
    assert!(fresh.join(VERDICTS).is_file());
    let told = app.state.notice.as_deref().unwrap_or_default();
    assert!(told.contains(VERDICTS), "{told}");
    press(&mut app, KeyCode::Esc);
    assert_eq!(app.state.focus, Focus::Runs);
}

#[test]
fn a_run_against_which_nothing_can_be_judged_is_not_replayed() {
    let root = stored_runs();
    let events = root.path().join("20261120-223758-passes/events.ndjson");
    let text = std::fs::read_to_string(&events).expect("events");
    let first: Vec<&str> = text.lines().take(1).collect();
    std::fs::write(&events, first.join("\n") + "\n").expect("written");
    let (mut app, runner) = over(root.path(), Theme::PLAIN);
    typed(&mut app, "ojP");
    assert_eq!(runner.starts(), 0);
    let told = app.state.notice.as_deref().unwrap_or_default();
    assert!(told.contains("holds no result to judge against"), "{told}");
    // Nor can a folder be replayed that is no run.
    let at = names(&app).iter().position(|name| name == "somebody-else").expect("listed");
    app.state.runs.select(at);
    typed(&mut app, "P");
    assert_eq!(app.state.notice.as_deref(), Some("this folder cannot be read as a run"));
}
