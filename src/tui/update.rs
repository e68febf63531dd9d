//! Effects of each event on the state. Pure: actions on the outside world are returned.

mod answers;
mod background_results;
mod pointer;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::Rect;

use super::calibration::{Made, Standing};
use super::chart::overlay::Baseline;
use super::commands::everywhere::{BACK, QUIT};
use super::commands::leave::{PATIENCE_AFTER_SIGNAL, finish_leaving, leave, unattended};
use super::commands::run::{self, begin};
use super::commands::typing::{self, TextInput};
use super::commands::{self, Action, Effect, calibration, live, whatif};
use super::field::Stroke;
use super::focus::Focus;
use super::home::BackgroundResult;
use super::runs::Answer;
use super::session::Session;
use super::state::{Leaving, State};
use crate::model::Profile;
use crate::recipe::plan::Plan;
use crate::run::Ledger;
use crate::run::runner::Message;

use pointer::{click, turn};

/// An event.
#[derive(Debug)]
pub enum Input {
    /// A key that is bound to an action.
    Act(Action),
    /// A key without a binding.
    OtherKey(KeyEvent),
    /// A key of the text that is being typed.
    Typed(Stroke),
    /// A pasted text.
    Pasted(String),
    /// BackgroundResult from background work.
    Home(BackgroundResult),
    /// The answer to the request with this number.
    Answer(u64, Answer),
    /// This stored run is being played, `times` times faster than it ran.
    Played { plan: Box<Plan>, folder: PathBuf, times: f64 },
    /// A button was pressed in a panel: the panel's whole area, and the position of the pointer.
    Click { panel: Focus, area: Rect, column: u16, row: u16 },
    /// The wheel was turned over a panel, downwards if `by` is positive: the panel's whole area, and the
    /// position of the pointer.
    Wheel { panel: Focus, area: Rect, column: u16, row: u16, by: isize },
    /// A message of the run.
    Message(Message),
    /// The run's thread is gone.
    Disconnected,
    /// This run will start when its cases are resolved.
    Preparing(String),
    /// The recipe at this index was started.
    Started { recipe: usize, plan: Box<Plan>, folder: PathBuf },
    /// The run could not be started.
    NotStarted(String),
    /// The run in this folder was resumed, with the results so far.
    WentOn { ledger: Box<Ledger>, folder: PathBuf },
    /// A stored run is being replayed in this folder.
    Replaying { plan: Box<Plan>, folder: PathBuf, baseline: Arc<Baseline>, remark: Option<String> },
    /// The outcome of saving a profile: the file's path, or the error.
    ProfileSaved(Box<Profile>, Result<PathBuf, String>),
    /// The device of this backend is being measured by these cases.
    Calibrating { backend: String, plan: Box<Plan>, folder: PathBuf },
    /// The outcome of a calibration.
    Calibrated(Result<Made, String>),
    /// The last calibration was taken back, or could not be.
    TakenBack(Result<Standing, String>),
    /// The process was asked to end.
    Terminate,
    /// The program was suspended and continues.
    Continued,
    /// Time has passed.
    Tick,
}

/// Processes an event that happened at `now`, and returns what remains to be done.
pub fn update(state: &mut State, input: Input, now: Duration) -> Option<Effect> {
    process(state, input, now).or_else(|| live::wanted(state))
}

fn process(state: &mut State, input: Input, now: Duration) -> Option<Effect> {
    state.now = now;
    match input {
        Input::Act(action) => return act(state, action),
        Input::OtherKey(key) => {
            dismiss(state);
            state.notice = commands::elsewhere(state, key);
        }
        Input::Typed(stroke) => {
            dismiss(state);
            typing::typed(state, stroke);
        }
        Input::Pasted(text) => {
            dismiss(state);
            pasted(state, &text);
        }
        Input::Home(result) => return background_results::take(state, result),
        Input::Answer(ticket, answer) => return answers::take(state, ticket, answer),
        Input::Click { panel, area, column, row } => {
            if let Some(effect) = click(state, panel, area, (column, row)) {
                return Some(effect);
            }
        }
        Input::Wheel { panel, area, column, row, by } => turn(state, panel, area, (column, row), by),
        Input::ProfileSaved(profile, outcome) => whatif::saved(state, *profile, outcome),
        Input::Continued => {
            if let Some(run) = state.run_mut() {
                run.continued(now);
            }
        }
        Input::Message(message) => return receive(state, message),
        Input::Disconnected => {
            if let Some(run) = state.run_mut() {
                run.disconnected(now);
            }
        }
        Input::Preparing(name) => state.home.preparing = Some(name),
        Input::Started { recipe, plan, folder } => started(state, recipe, *plan, folder),
        Input::Played { plan, folder, times } => {
            begin(state, Session::new(None, Ledger::new(*plan), folder, now));
            answers::playing(state, times);
        }
        Input::Replaying { plan, folder, baseline, remark } => {
            answers::replaying(state, *plan, folder, &baseline, remark.as_deref());
        }
        Input::Calibrating { backend, plan, folder } => calibration::started(state, backend, *plan, folder),
        Input::Calibrated(made) => calibration::finished(state, made),
        Input::TakenBack(standing) => calibration::taken_back(state, standing),
        Input::NotStarted(reason) => background_results::not_started(state, &reason),
        Input::WentOn { ledger, folder } => run::went_on(state, *ledger, folder),
        Input::Terminate => return leave(state, PATIENCE_AFTER_SIGNAL),
        Input::Tick => {
            state.runs.settle();
            return unattended(state);
        }
    }
    finish_leaving(state);
    None
}

/// Does what a key is bound to, or tells why that is not possible.
fn act(state: &mut State, action: Action) -> Option<Effect> {
    let (leaves, confirmed) = (state.leaving == Leaving::Asked, state.asked == Some(action.name));
    // The key that quits withdraws an open question first, as every other key does.
    if QUIT.is(&action) && state.asked.is_none() {
        return (action.run)(state);
    }
    dismiss(state);
    // The first press only withdraws the question.
    if (BACK.is(&action) && leaves) || QUIT.is(&action) {
        return None;
    }
    // What a key of the chart can do depends on the newest results.
    state.session.iter_mut().for_each(Session::refresh);
    match (action.allowed)(state) {
        Err(why) => state.notice = Some(why.into_owned()).filter(|why| !why.is_empty()),
        Ok(()) => match (action.asks)(state, &action.key(&state.keymap)).filter(|_| !confirmed) {
            None => return (action.run)(state),
            question => (state.asked, state.notice) = (Some(action.name), question),
        },
    }
    None
}

/// Withdraws the notice, and the questions whether to quit or to cancel.
fn dismiss(state: &mut State) {
    state.notice = None;
    state.asked = None;
    if state.leaving == Leaving::Asked {
        state.leaving = Leaving::No;
    }
}

/// Types a pasted line into the open text field. Without one nothing happens: letters of a text are no keys.
fn pasted(state: &mut State, text: &str) {
    if TextInput::now(state).is_none() {
        state.notice = Some("text can be pasted only where a text is typed".to_owned());
        return;
    }
    let line = text.trim_end().chars().map(|c| if c.is_control() { ' ' } else { c });
    line.for_each(|c| typing::typed(state, Stroke::Char(c)));
}

fn started(state: &mut State, recipe: usize, plan: Plan, folder: PathBuf) {
    let mut session = Session::new(recipe, Ledger::new(plan), folder, state.now);
    session.mode = state.mode;
    state.home.preparing = None;
    // A run from the queue was not requested just now, so it must not take over the screen.
    let queued = state.home.queue.starting.take().is_some();
    let frozen = state.live.take().and_then(|live| state.session.replace(live));
    let focus = state.focus;
    begin(state, session);
    if queued {
        state.focus = focus;
        state.live = frozen.and_then(|frozen| state.session.replace(frozen));
    }
}

/// The next request of the home screen.
pub fn wanted(state: &State) -> Option<Effect> {
    background_results::wanted(state).map(Effect::Home)
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
    if over && let Some(effect) = calibration::over(state).or_else(|| answers::replayed(state)) {
        return Some(effect);
    }
    unattended(state)
}
