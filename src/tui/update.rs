//! What each event does to the state. Pure: what the world must do is returned.

use std::path::PathBuf;
use std::time::Duration;

use ratatui::layout::Rect;

use super::chart::Ask;
use super::command::Action;
use super::controls;
use super::field::Stroke;
use super::home::{self, Errand, News};
use super::panel::{self, Focus};
use super::pattern;
use super::runs::{self, Answer, Job};
use super::session::Session;
use super::state::{Leaving, Mode, Overlay, State};
use crate::engine::protocol::Level;
use crate::plan::Plan;
use crate::run::Ledger;
use crate::run::runner::{Control, Message};

/// How long to wait for a cancelled run before leaving without it.
const PATIENCE: Duration = Duration::from_secs(10);
/// The same after a signal.
const PATIENCE_AFTER_SIGNAL: Duration = Duration::from_secs(2);
/// Rows of a page.
const PAGE: isize = 10;

/// Something that happened.
#[derive(Debug)]
pub enum Input {
    /// A key with a meaning.
    Act(Action),
    /// A key without one.
    OtherKey,
    /// A key of the text that is being typed.
    Typed(Stroke),
    /// Something that somebody was sent for.
    Home(News),
    /// What became of a request, by its number.
    Answer(u64, Answer),
    /// This stored run is played, so many times as fast as it ran.
    Played { plan: Box<Plan>, folder: PathBuf, times: f64 },
    /// The panel under the pointer, all of its area, and where in it a button was pressed.
    Click { panel: Focus, area: Rect, column: u16, row: u16 },
    /// The wheel was turned over a panel, downwards where positive; all of its area, and
    /// where in it.
    Wheel { panel: Focus, area: Rect, column: u16, row: u16, by: isize },
    /// The run says something.
    Message(Message),
    /// The run's thread is gone.
    Disconnected,
    /// A recipe was resolved.
    Resolved(usize, Result<Plan, String>),
    /// The recipe at this index was started.
    Started { recipe: usize, plan: Box<Plan>, folder: PathBuf },
    /// It could not be started.
    NotStarted(String),
    /// The process was asked to end.
    Terminate,
    /// The program had been stopped and goes on.
    Continued,
    /// Time went by.
    Tick,
}

/// Something to do outside of the state.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Start the recipe at this index.
    Start(usize),
    /// Resolve the recipe at this index.
    Resolve(usize),
    /// Tell the running plan.
    Send(Control),
    /// Give the terminal back and stop.
    Suspend,
    /// Something before a run.
    Home(Errand),
    /// Read or write something of stored runs; the answer comes with this number.
    Ask(u64, Job),
    /// Play the stored run in this folder, so many times as fast as it ran.
    Play { path: PathBuf, plan: Box<Plan>, times: f64 },
    /// Ask the terminal to copy a text.
    Copy(String),
}

/// Takes in what happened at `now`, and says what is to be done.
pub fn update(state: &mut State, input: Input, now: Duration) -> Option<Effect> {
    state.now = now;
    match input {
        Input::Act(action) => return act(state, action),
        Input::OtherKey => dismiss(state),
        Input::Typed(stroke) => {
            dismiss(state);
            home::typed(state, stroke);
        }
        Input::Home(news) => return home::take(state, news),
        Input::Answer(ticket, answer) => return runs::take(state, ticket, answer),
        Input::Click { panel, area, column, row } => click(state, panel, area, (column, row)),
        Input::Wheel { panel, area, column, row, by } => turn(state, panel, area, (column, row), by),
        Input::Continued => {
            if let Some(run) = state.run_mut() {
                run.continued();
            }
        }
        Input::Message(message) => return receive(state, message),
        Input::Disconnected => {
            if let Some(run) = state.run_mut() {
                run.disconnected(now);
            }
        }
        Input::Resolved(index, plan) => home::resolved(state, index, plan),
        Input::Started { recipe, plan, folder } => started(state, recipe, *plan, folder),
        Input::Played { plan, folder, times } => {
            begin(state, Session::new(None, Ledger::new(*plan), folder, now));
            runs::playing(state, times);
        }
        Input::NotStarted(reason) => home::not_started(state, &reason),
        Input::Terminate => return leave(state, PATIENCE_AFTER_SIGNAL),
        Input::Tick => {
            state.runs.settle();
            return unattended(state);
        }
    }
    finish_leaving(state);
    None
}

fn started(state: &mut State, recipe: usize, plan: Plan, folder: PathBuf) {
    let mut session = Session::new(recipe, Ledger::new(plan), folder, state.now);
    session.mode = state.mode;
    // Nobody asked just now to see what comes out of the queue.
    let queued = state.home.queue.starting.take().is_some();
    let frozen = state.live.take().and_then(|live| state.session.replace(live));
    let focus = state.focus;
    begin(state, session);
    if queued {
        state.focus = focus;
        state.live = frozen.and_then(|frozen| state.session.replace(frozen));
    }
}

/// The run screen shows this session from now on.
pub fn begin(state: &mut State, mut session: Session) {
    runs::stopped(&mut state.runs);
    if let Some(before) = state.run() {
        session.come_after(before);
    }
    state.live = None;
    state.session = Some(session);
    state.focus = Focus::Cases;
}

/// The recipe whose meaning the screen needs and does not have, or what else is to be done.
pub fn wanted(state: &State) -> Option<Effect> {
    let plan = state.recipes.selected().filter(|_| state.recipes.plan().is_none());
    plan.map(Effect::Resolve).or_else(|| home::wanted(state).map(Effect::Home))
}

fn act(state: &mut State, action: Action) -> Option<Effect> {
    let asked = state.leaving == Leaving::Asked;
    match action {
        Action::Quit => return quit(state),
        Action::Back if asked => dismiss(state),
        _ => {
            dismiss(state);
            return obey(state, action);
        }
    }
    None
}

/// Any other key withdraws the question and the notice.
fn dismiss(state: &mut State) {
    state.notice = None;
    if state.leaving == Leaving::Asked {
        state.leaving = Leaving::No;
    }
}

fn obey(state: &mut State, action: Action) -> Option<Effect> {
    match action {
        Action::Help => toggle_help(state),
        Action::CloseHelp => state.overlay = None,
        Action::Suspend => return Some(Effect::Suspend),
        Action::Back => back(state),
        Action::Devices if state.allows(action) => {
            state.devices_panel.wanted = Some(!state.devices_panel.shown);
        }
        Action::FocusNext => state.focus = state.focus.neighbour(1, &state.present()),
        Action::FocusPrevious => state.focus = state.focus.neighbour(-1, &state.present()),
        Action::Home(ask) => return home::obey(state, ask),
        Action::Start => return start(state),
        Action::Cancel
        | Action::CancelAll
        | Action::Resume
        | Action::Pause
        | Action::Freeze
        | Action::Skip
        | Action::Again => return controls::obey(state, action),
        Action::Up => step(state, -1),
        Action::Down => step(state, 1),
        Action::PageUp => step(state, -PAGE),
        Action::PageDown => step(state, PAGE),
        Action::First => step(state, isize::MIN),
        Action::Last => step(state, isize::MAX),
        Action::Chart(ask) => look(state, ask),
        Action::Runs(ask) => return runs::obey(state, ask),
        Action::Pattern(look) => return pattern::obey(state, look),
        _ => in_session(state, action),
    }
    None
}

fn in_session(state: &mut State, action: Action) {
    let Some(session) = &mut state.session else { return };
    match action {
        Action::PreviousPanel => session.step_panel(-1),
        Action::NextPanel => session.step_panel(1),
        Action::PreviousExperiment => session.step_experiment(-1),
        Action::NextExperiment => session.step_experiment(1),
        Action::Follow => session.follow(),
        _ => {}
    }
}

fn toggle_help(state: &mut State) {
    state.overlay = match state.overlay {
        None => Some(Overlay::Help { scroll: 0 }),
        Some(_) => None,
    };
}

/// The last thing that was opened closes first.
fn back(state: &mut State) {
    if state.overlay.take().is_some() {
        return;
    }
    if leave_chart(state) {
        return;
    }
    // Who goes away does not want to be taken back by an answer.
    state.runs.give_up();
    let stored = state.runs.there && state.session.as_ref().is_some_and(|s| s.recipe.is_none());
    state.focus = match state.focus {
        Focus::Details | Focus::Comparison => Focus::Runs,
        Focus::Pattern => state.pattern.as_ref().map_or(Focus::Recipes, |view| view.back),
        Focus::Runs if !state.runs.search().is_empty() => {
            state.runs.set_search("");
            Focus::Runs
        }
        focus if focus.is_run() && stored => Focus::Runs,
        Focus::Recipes => {
            home::entering::clear_filter(state);
            Focus::Recipes
        }
        _ => Focus::Recipes,
    };
}

/// Takes the cursor or the whole screen away from the chart, if it has the focus and one of
/// them.
fn leave_chart(state: &mut State) -> bool {
    let Some(session) = state.session.as_mut().filter(|_| state.focus == Focus::Chart) else { return false };
    let ask = match &session.view {
        view if view.cursor => Ask::Cursor,
        view if view.full => Ask::Full,
        _ => return false,
    };
    session.ask(ask);
    true
}

/// Looks at the chart in another way, and at nothing else.
fn look(state: &mut State, ask: Ask) {
    let Some(session) = state.session.as_mut().filter(|_| !state.focus.is_aside()) else { return };
    let elsewhere = state.focus != Focus::Chart;
    state.focus = Focus::Chart;
    let there = match ask {
        Ask::Cursor => session.view.cursor,
        Ask::Full => session.view.full,
        _ => false,
    };
    // From another panel, what is there already is only gone to.
    if !(elsewhere && there) {
        state.notice = session.ask(ask);
    }
}

/// Moves in whatever has the focus; the extremes go to the ends.
fn step(state: &mut State, by: isize) {
    match &mut state.overlay {
        Some(Overlay::Help { scroll }) => *scroll = scroll.saturating_add_signed(by),
        Some(Overlay::Export { selected }) => *selected = selected.saturating_add_signed(by).min(2),
        None => step_in(state, state.focus, by),
    }
}

fn step_in(state: &mut State, panel: Focus, by: isize) {
    match panel {
        Focus::Recipes => return state.recipes.step(by),
        Focus::Editor => return state.home.editor.step(by),
        Focus::Queue => return state.home.queue.step(by),
        Focus::Runs => return state.runs.step(by),
        Focus::Details => {
            state.runs.details_scroll = state.runs.details_scroll.saturating_add_signed(by);
            return;
        }
        Focus::Comparison => return state.runs.sheet.iter_mut().for_each(|sheet| sheet.step(by)),
        Focus::Pattern => return state.pattern.iter_mut().for_each(|view| view.step(by)),
        _ => {}
    }
    let Some(session) = &mut state.session else { return };
    match panel {
        Focus::Log if by == isize::MIN => session.log.first(),
        Focus::Log if by == isize::MAX => session.log.last(),
        Focus::Log => session.log.scroll(by.saturating_neg()),
        Focus::Samples => session.scroll_samples(by),
        Focus::Chart if session.view.cursor && matches!(by, -1 | 1) => session.move_cursor(by, 0),
        Focus::Chart if session.view.cursor => session.move_cursor(0, by),
        _ => session.step(by),
    }
}

/// Brings the focus to the panel, and what stands under the pointer into the selection.
fn click(state: &mut State, panel: Focus, area: Rect, at: (u16, u16)) {
    if state.runs.typing.is_some() {
        return;
    }
    dismiss(state);
    state.home.stop_typing();
    match panel {
        Focus::Editor => panel::editor::click(state, area, at.1),
        Focus::Queue => panel::queue::click(state, area, at.1),
        Focus::Runs => panel::runs::click(state, area, at.1),
        Focus::Comparison => panel::compare::click(state, area, at.1),
        Focus::Recipes => panel::recipes::click(state, area, at.1),
        Focus::Cases => panel::cases::click(state, area, at.1),
        Focus::Chart => panel::chart::click(state, area, at),
        Focus::Samples | Focus::Log | Focus::Details | Focus::Pattern => {}
    }
    state.focus = panel;
}

/// Turns the wheel: texts scroll, lists move their selection, the chart is zoomed.
fn turn(state: &mut State, panel: Focus, area: Rect, at: (u16, u16), by: isize) {
    match panel {
        _ if state.overlay.is_some() => return step(state, by),
        Focus::Chart => panel::chart::wheel(state, area, at, by),
        _ => step_in(state, panel, by),
    }
    // The form is that of the selected recipe.
    if panel == Focus::Recipes && state.focus == Focus::Editor {
        state.home.stop_typing();
        state.focus = Focus::Recipes;
    }
}

/// Starts the selected recipe, or lets it wait for the run that is active; where it is that
/// run, shows it.
pub fn start(state: &mut State) -> Option<Effect> {
    let selected = state.recipes.selected()?;
    if let Some(session) = state.run().filter(|s| s.active()) {
        let same = session.ledger.plan().overrides == state.home.edits.of(selected).words();
        if session.recipe == Some(selected) && (same || state.mode == Mode::Watch) {
            state.focus = Focus::Cases;
            return None;
        }
        return home::obey(state, home::Ask::Enqueue);
    }
    if state.busy() {
        return home::obey(state, home::Ask::Enqueue);
    }
    if let Some(Err(_)) = state.recipes.plan() {
        state.notice = Some("this recipe has a mistake and cannot be started".to_owned());
        return None;
    }
    Some(Effect::Start(selected))
}

fn quit(state: &mut State) -> Option<Effect> {
    state.home.stop_typing();
    match state.leaving {
        Leaving::No if state.measuring() => state.leaving = Leaving::Asked,
        Leaving::No | Leaving::Waiting { .. } | Leaving::Now => state.leaving = Leaving::Now,
        Leaving::Asked => return leave(state, PATIENCE),
    }
    None
}

/// Cancels what is active and leaves when that is done, or after `patience`.
fn leave(state: &mut State, patience: Duration) -> Option<Effect> {
    state.leaving = Leaving::Waiting { until: state.now + patience };
    let effect = controls::cancel(state);
    finish_leaving(state);
    effect
}

fn receive(state: &mut State, message: Message) -> Option<Effect> {
    let now = state.now;
    if let (Message::Latency(time), Some(remote)) = (&message, &mut state.remote) {
        remote.latency = Some(*time);
    }
    let over = message == Message::Over;
    if let Some(run) = state.run_mut() {
        run.receive(message, now);
        let recipe = run.recipe;
        if over {
            recipe.into_iter().for_each(|recipe| state.home.facts.ran(recipe));
        }
    }
    unattended(state)
}

/// What is done with a dead engine without asking: who leaves does not want another one, and
/// what waits must not wait for somebody to come back.
fn unattended(state: &mut State) -> Option<Effect> {
    let waits = !state.home.queue.is_empty();
    match (state.run().and_then(Session::hopeful), state.leaving) {
        (Some(_), Leaving::Waiting { .. }) => return controls::cancel(state),
        (Some(true), Leaving::No) if waits => return controls::resume(state),
        (Some(false), Leaving::No) if waits => return give_up(state),
        _ => {}
    }
    finish_leaving(state);
    None
}

/// The run makes room for the next one.
fn give_up(state: &mut State) -> Option<Effect> {
    let now = state.now;
    let run = state.run_mut()?;
    run.say(now, Level::Error, "the engine died before it did anything: the next run's turn");
    controls::cancel(state)
}

fn finish_leaving(state: &mut State) {
    if let Leaving::Waiting { until } = state.leaving
        && (!state.active() || state.now >= until)
    {
        state.leaving = Leaving::Now;
    }
}
