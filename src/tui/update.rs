//! Effects of each event on the state. Pure: actions on the outside world are returned.

mod act;
mod leave;
mod pointer;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::Rect;

use super::calibration::{self, Made};
use super::chart::baseline::Baseline;
use super::command::Action;
use super::field::Stroke;
use super::home::{self, Errand, News};
use super::live;
use super::panel::Focus;
use super::refusal;
use super::resume;
use super::runs::{self, Answer, Job};
use super::session::Session;
use super::state::State;
use super::whatif;
use crate::model::Profile;
use crate::recipe::plan::Plan;
use crate::run::Ledger;
use crate::run::runner::{Control, Message};

use act::{act, dismiss};
pub use act::{shows_run, start};
use leave::{PATIENCE_AFTER_SIGNAL, finish_leaving, leave, unattended};
use pointer::{click, turn};

/// An event. Moved once, so its size does not matter.
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
    /// News from background work.
    Home(News),
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
    /// The process was asked to end.
    Terminate,
    /// The program was suspended and continues.
    Continued,
    /// Time has passed.
    Tick,
}

/// An action on the world outside the state.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Start the recipe at this index.
    Start(usize),
    /// Send a control message to the run.
    Send(Control),
    /// Give the terminal back and suspend.
    Suspend,
    /// Carry out a request of the home screen.
    Home(Errand),
    /// Read or write stored runs; the answer comes with this number.
    Request(u64, Job),
    /// Play the stored run in this folder, `times` times faster than it ran.
    Play { path: PathBuf, plan: Box<Plan>, times: f64 },
    /// Measure the device of this backend.
    Calibrate(String),
    /// Derive and save the profile of the device that was measured.
    KeepProfile,
    /// Ask the terminal to copy a text.
    Copy(String),
    /// Save a profile that the user has changed.
    SaveProfile(Box<Profile>),
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
            state.notice = refusal::elsewhere(state, key);
        }
        Input::Typed(stroke) => {
            dismiss(state);
            home::typed(state, stroke);
        }
        Input::Pasted(text) => {
            dismiss(state);
            pasted(state, &text);
        }
        Input::Home(news) => return home::take(state, news),
        Input::Answer(ticket, answer) => return runs::take(state, ticket, answer),
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
            runs::playing(state, times);
        }
        Input::Replaying { plan, folder, baseline, remark } => {
            runs::replay::started(state, *plan, folder, &baseline, remark.as_deref());
        }
        Input::Calibrating { backend, plan, folder } => calibration::started(state, backend, *plan, folder),
        Input::Calibrated(made) => calibration::finished(state, made),
        Input::NotStarted(reason) => home::not_started(state, &reason),
        Input::WentOn { ledger, folder } => resume::went_on(state, *ledger, folder),
        Input::Terminate => return leave(state, PATIENCE_AFTER_SIGNAL),
        Input::Tick => {
            state.runs.settle();
            return unattended(state);
        }
    }
    finish_leaving(state);
    None
}

/// Types a pasted line into the open text field. Without one nothing happens: letters of a text are no keys.
fn pasted(state: &mut State, text: &str) {
    if home::Entering::now(state).is_none() {
        state.notice = Some("pasted text is taken only where a text is typed".to_owned());
        return;
    }
    let line = text.trim_end().chars().map(|c| if c.is_control() { ' ' } else { c });
    line.for_each(|c| home::typed(state, Stroke::Char(c)));
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

/// Shows this session on the run screen from now on.
pub fn begin(state: &mut State, mut session: Session) {
    runs::stopped(&mut state.runs);
    let stored = session.recipe.and_then(|recipe| state.home.facts.baseline(recipe));
    session.come_after(state.run(), stored);
    if let Some(text) = runs::chart::lay_chosen(&state.runs, &mut session) {
        state.notice = Some(text);
    }
    state.live = None;
    state.session = Some(session);
    state.focus = Focus::Cases;
}

/// The next request of the home screen.
pub fn wanted(state: &State) -> Option<Effect> {
    home::wanted(state).map(Effect::Home)
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
    if over && let Some(effect) = calibration::over(state).or_else(|| runs::replay::over(state)) {
        return Some(effect);
    }
    unattended(state)
}
