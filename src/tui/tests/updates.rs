//! Effects of each action and message on the state.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::{act, fixture, script};
use crate::engine::protocol::Stage;
use crate::run::Status;
use crate::run::runner::{Control, Message};
use crate::tui::commands::{Effect, action, actions, labels, scopes};
use crate::tui::key::Keymap;
use crate::tui::panel::{Focus, hints};
use crate::tui::session::{Mode, Phase};
use crate::tui::state::{Leaving, Overlay, State};
use crate::tui::theme::Theme;
use crate::tui::update::{Input, update, wanted};

fn home() -> State {
    let mut state = State::new(fixture::recipes(), fixture::DEVICES.to_owned());
    for (index, entry) in fixture::recipes().iter().enumerate() {
        state.recipes.resolved(index, fixture::resolve(entry).map(Arc::new));
    }
    state
}

fn at(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// The state after starting the multi-pass recipe.
fn started() -> State {
    let mut state = home();
    state.recipes.select(1);
    let plan = Box::new(fixture::passes());
    update(&mut state, Input::Started { recipe: 1, plan, folder: PathBuf::from("run") }, at(0));
    state
}

fn say(state: &mut State, message: Message) -> Option<Effect> {
    let now = state.now;
    update(state, Input::Message(message), now)
}

fn die(state: &mut State, case: usize) -> Option<Effect> {
    let [failed, died] = script::died(&fixture::passes(), case, "killed by signal 9");
    say(state, failed);
    say(state, died)
}

fn phase(state: &State) -> &Phase {
    &state.session.as_ref().expect("a run").phase
}

#[test]
fn keys_mean_what_their_panel_says() {
    let table = [
        (Focus::Recipes, KeyCode::Enter, Some("start")),
        (Focus::Cases, KeyCode::Enter, None),
        (Focus::Cases, KeyCode::Char('j'), Some("down")),
        (Focus::Recipes, KeyCode::Up, Some("up")),
        (Focus::Chart, KeyCode::Char(']'), Some("next-chart")),
        (Focus::Chart, KeyCode::Char('{'), Some("previous-experiment")),
        (Focus::Log, KeyCode::Char(']'), None),
        (Focus::Log, KeyCode::PageUp, Some("page-up")),
        (Focus::Samples, KeyCode::Char('G'), Some("last")),
        (Focus::Samples, KeyCode::Char('x'), Some("cancel")),
        (Focus::Log, KeyCode::BackTab, Some("previous-panel")),
        (Focus::Log, KeyCode::F(5), None),
    ];
    for (focus, code, wanted) in table {
        let state = State { focus, ..started() };
        assert_eq!(
            action(&state, KeyEvent::from(code)).map(|action| action.name),
            wanted,
            "{focus:?} {code:?}"
        );
    }
    let control = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    let name = |state: &State, event| action(state, event).map(|action| action.name);
    assert_eq!(name(&home(), control), Some("quit"));
    let alt = KeyEvent::new(KeyCode::Char('q'), KeyModifiers::ALT);
    assert_eq!(name(&home(), alt), None);
    assert_eq!(name(&home(), KeyEvent::new(KeyCode::Char('G'), KeyModifiers::SHIFT)), Some("last"));
}

#[test]
fn no_key_means_two_things_at_once() {
    for scope in scopes().into_iter().filter(|scope| scope.title != "Help") {
        let commands = scope.lists.iter().copied().flatten();
        let keys: Vec<_> = commands.flat_map(|c| c.bindings(&Keymap::default())).map(|b| b.0).collect();
        for (index, key) in keys.iter().enumerate() {
            assert!(!keys[..index].contains(key), "{}: {key:?} twice", scope.title);
        }
    }
}

#[test]
fn a_refused_key_changes_nothing_but_the_notice() {
    let mut refused = 0;
    for (focus, state) in Focus::ALL.iter().flat_map(|&focus| [(focus, home()), (focus, started())]) {
        for action in actions() {
            let mut state = State { focus, ..state.clone() };
            state.session.iter_mut().for_each(|session| session.refresh());
            update(&mut state, Input::Tick, at(0));
            let before = format!("{state:?}");
            let Err(why) = (action.allowed)(&state) else { continue };
            assert_eq!(act(&mut state, action.name), None, "{focus:?} {}", action.name);
            assert_eq!(state.notice.take().unwrap_or_default(), why, "{focus:?} {}", action.name);
            assert_eq!(format!("{state:?}"), before, "{focus:?} {}", action.name);
            refused += 1;
        }
    }
    assert!(refused > 500, "{refused}");
}

#[test]
fn the_help_has_every_hint() {
    let theme = Theme::PLAIN;
    let help: Vec<String> = crate::tui::panel::help::text(Mode::Run, &Keymap::default(), 200, theme)
        .iter()
        .map(|line| line.to_string())
        .collect();
    for &focus in Focus::ALL {
        let state = State { focus, ..started() };
        let hints = hints::hints(&state);
        assert!(hints.len() > 3, "{focus:?}");
        for (hint, bindings) in hints {
            let keys = labels(&bindings, theme);
            let found = help.iter().any(|line| line.contains(&keys) && line.contains(hint.help));
            assert!(found, "{focus:?}: {keys} {}", hint.name);
        }
    }
}

#[test]
fn hints_show_only_what_would_do_something() {
    let names = |state: &State| hints::hints(state).iter().map(|(c, _)| c.name).collect::<Vec<_>>();
    assert_eq!(names(&home()), ["start", "filter", "move", "edit", "queue", "save as", "help", "quit"]);
    let mut state = home();
    state.recipes.select(1);
    state.runs.there = true;
    let at_home = ["start", "filter", "move", "edit", "queue", "runs", "pattern", "save as", "help", "quit"];
    assert_eq!(names(&state), at_home, "there are runs, and it goes through indices");
    let mut state = home();
    state.recipes.select(2);
    assert_eq!(
        names(&state),
        ["filter", "move", "help", "quit"],
        "a recipe with a mistake cannot be started"
    );
    let mut state = started();
    assert_eq!(
        names(&state),
        [
            "move",
            "skip",
            "n/a",
            "cancel",
            "pause",
            "cursor",
            "full",
            "freeze",
            "next panel",
            "back",
            "help",
            "quit"
        ]
    );
    die(&mut state, 0);
    let dead = [
        "resume",
        "move",
        "again",
        "n/a",
        "cancel",
        "cursor",
        "full",
        "freeze",
        "next panel",
        "back",
        "help",
        "quit",
    ];
    assert_eq!(names(&state), dead, "the lost case is selected");
    say(&mut state, Message::Over);
    let over = ["resume", "move", "n/a", "export", "cursor", "full", "next panel", "back", "help", "quit"];
    assert_eq!(names(&state), over, "it was cut short");
}

#[test]
fn enter_starts_only_what_can_be_started() {
    let mut state = home();
    assert_eq!(act(&mut state, "start"), Some(Effect::Start(0)));
    state.recipes.select(2);
    assert_eq!(act(&mut state, "start"), None);
    assert!(state.notice.as_ref().is_some_and(|n| n.contains("mistake")));
    let mut state = started();
    act(&mut state, "back");
    assert_eq!((act(&mut state, "start"), state.focus), (None, Focus::Cases), "back to the run");
    act(&mut state, "back");
    act(&mut state, "up");
    assert_eq!((act(&mut state, "start"), state.focus), (None, Focus::Recipes));
    assert!(state.notice.is_some());
    let mut empty = State::new(Vec::new(), String::new());
    assert_eq!((act(&mut empty, "start"), wanted(&empty)), (None, None));
}

#[test]
fn quitting_asks_while_a_run_is_active() {
    let mut state = home();
    act(&mut state, "quit");
    assert_eq!(state.leaving, Leaving::Now);
    let mut state = started();
    assert_eq!((act(&mut state, "quit"), state.leaving), (None, Leaving::Asked));
    act(&mut state, "back");
    assert_eq!((state.leaving, state.focus), (Leaving::No, Focus::Cases), "Esc only withdraws the question");
    act(&mut state, "quit");
    assert_eq!(act(&mut state, "quit"), Some(Effect::Send(Control::Cancel)));
    assert!(matches!(state.leaving, Leaving::Waiting { .. }));
    say(&mut state, Message::Over);
    assert_eq!(state.leaving, Leaving::Now);
}

#[test]
fn leaving_does_not_wait_for_ever() {
    let leaving = |seconds| {
        let mut state = started();
        act(&mut state, "quit");
        act(&mut state, "quit");
        update(&mut state, Input::Tick, at(seconds));
        state.leaving
    };
    assert!(matches!(leaving(9), Leaving::Waiting { .. }));
    assert_eq!(leaving(10), Leaving::Now);
    let mut state = started();
    assert_eq!(update(&mut state, Input::Terminate, at(1)), Some(Effect::Send(Control::Cancel)));
    update(&mut state, Input::Tick, at(3));
    assert_eq!(state.leaving, Leaving::Now);
}

#[test]
fn a_dead_engine_is_resumed_or_the_run_ended() {
    let mut state = started();
    assert_eq!(act(&mut state, "resume"), None, "nothing to resume");
    die(&mut state, 4);
    let session = state.session.as_ref().expect("a run");
    assert_eq!((session.selected, session.timing(at(60))), (4, false));
    assert!(matches!(&session.ledger.records()[4].status, Status::Failed(e) if e.contains("signal 9")));
    assert_eq!(act(&mut state, "resume"), Some(Effect::Send(Control::Resume)));
    assert_eq!(phase(&state), &Phase::Running);
    die(&mut state, 6);
    assert_eq!(act(&mut state, "cancel"), Some(Effect::Send(Control::Stop)));
    say(&mut state, Message::Over);
    assert_eq!(phase(&state), &Phase::Over { cancelled: true });
}

#[test]
fn an_engine_that_dies_while_we_leave_ends_the_run() {
    let mut state = started();
    act(&mut state, "quit");
    act(&mut state, "quit");
    assert_eq!(die(&mut state, 0), Some(Effect::Send(Control::Stop)));
}

#[test]
fn a_run_that_ends_without_a_word_is_broken() {
    let mut state = started();
    update(&mut state, Input::Disconnected, at(1));
    assert!(matches!(phase(&state), Phase::Broken(_)));
    let mut state = started();
    say(&mut state, Message::Broken("disk full".to_owned()));
    say(&mut state, Message::Over);
    assert_eq!(phase(&state), &Phase::Broken("disk full".to_owned()), "the reason stays");
}

#[test]
fn the_selection_follows_until_somebody_moves() {
    let mut state = started();
    let plan = fixture::passes();
    let selected = |state: &State| state.session.as_ref().expect("a run").selected;
    say(&mut state, Message::Event(script::progress(&plan, 6, 0, Stage::Sample)));
    assert_eq!((selected(&state), state.timing()), (6, true));
    act(&mut state, "up");
    say(&mut state, Message::Event(script::progress(&plan, 8, 0, Stage::WarmUp)));
    assert_eq!((selected(&state), state.timing()), (4, true), "it may go on at once");
    update(&mut state, Input::Tick, at(1));
    assert!(!state.timing());
    act(&mut state, "follow");
    assert_eq!(selected(&state), 8);
    for (action, wanted) in [("last", 1), ("down", 1), ("first", 0), ("up", 0)] {
        act(&mut state, action);
        assert_eq!(selected(&state), wanted, "{action:?}");
    }
}

#[test]
fn experiments_and_panels_stop_at_the_ends() {
    let mut state = home();
    let plan = Box::new(fixture::stream());
    update(&mut state, Input::Started { recipe: 0, plan, folder: PathBuf::new() }, at(0));
    let look = |state: &mut State| {
        let session = state.session.as_mut().expect("a run");
        session.refresh();
        (session.experiment(), session.panel, session.chart().panels.len())
    };
    assert_eq!(look(&mut state), (0, 0, 1));
    let steps = [
        ("previous-experiment", (0, 0, 1)),
        ("next-experiment", (1, 0, 3)),
        ("next-experiment", (1, 0, 3)),
        ("next-chart", (1, 1, 3)),
        ("next-chart", (1, 2, 3)),
        ("next-chart", (1, 2, 3)),
        ("previous-chart", (1, 1, 3)),
        ("previous-experiment", (0, 0, 1)),
    ];
    for (action, wanted) in steps {
        act(&mut state, action);
        assert_eq!(look(&mut state), wanted, "{action:?}");
    }
}

#[test]
fn progress_and_time_left_come_from_finished_rounds() {
    let (mut state, plan) = (started(), fixture::passes());
    let look = |state: &State| {
        let session = state.session.as_ref().expect("a run");
        let middle = session.remaining(state.now).map(|left| left.seconds().iter().sum::<f64>() / 2.0);
        (session.progress(Duration::ZERO), middle)
    };
    assert_eq!(look(&state), ((0, 14), None), "seven cases of two rounds; n/a does not count");
    let round = |at, round| {
        Input::Message(Message::Event(crate::engine::protocol::Event::Round {
            seq: 0,
            result: script::result(&plan, at, round),
        }))
    };
    update(&mut state, round(0, 0), at(2));
    let ((done, all), first) = look(&state);
    assert_eq!((done, all), (1, 14));
    update(&mut state, round(2, 0), at(6));
    let ((done, all), second) = look(&state);
    assert_eq!((done, all), (2, 14));
    let (first, second) = (first.expect("timed"), second.expect("timed"));
    assert!(second > first, "case 2 took longer: {first} s, then {second} s");
    update(&mut state, Input::Tick, at(7));
    let third = look(&state).1.expect("timed");
    assert!((second - third - 1.0).abs() < 1e-6, "{second} s, a second later {third} s");
    die(&mut state, 4);
    assert_eq!(look(&state), ((2, 12), None), "the lost case has nothing left");
}

#[test]
fn the_help_opens_scrolls_and_closes() {
    let mut state = started();
    act(&mut state, "help");
    assert_eq!(state.overlay, Some(Overlay::Help { scroll: None }), "drawing knows where");
    state.overlay = Some(Overlay::Help { scroll: Some(7) });
    act(&mut state, "down");
    assert_eq!(state.overlay, Some(Overlay::Help { scroll: Some(8) }));
    let closes = action(&state, KeyEvent::from(KeyCode::Char('q')));
    assert_eq!(closes.map(|action| action.name), Some("close-help"));
    act(&mut state, "close-help");
    assert_eq!(state.overlay, None);
}

#[test]
fn the_clock_stands_still_while_every_core_is_timed() {
    let plan = fixture::passes();
    let on = |backend: &str| plan.cases.iter().position(|c| c.backend() == backend).expect("a case");
    let mut state = started();
    say(&mut state, Message::Event(script::hello()));
    say(&mut state, Message::Event(script::progress(&plan, on("cpu"), 0, Stage::Sample)));
    assert!(state.drawing_paused(), "two threads on two cores");
    say(&mut state, Message::Event(script::progress(&plan, on("cpu"), 0, Stage::Certify)));
    assert!(!state.drawing_paused(), "nothing is timed");
    say(&mut state, Message::Event(script::progress(&plan, on("cuda"), 0, Stage::Sample)));
    assert!(!state.drawing_paused(), "a core is free");
}
