//! The terminal user interface: a client of a run, like the headless one.
//!
//! An event becomes an `Input`, `update` applies it to the `State`, and `view` draws the state; nothing else changes
//! either. The screen shows only the content of the run's [`Record`](crate::run::Record)s.
//!
//! The modules use each other in one direction: a screen's data (`recipes`, `home`, `runs`, `session`, `pattern`,
//! `whatif`) knows no application state; `state` holds all of it; `commands` has a row for each key; `panel` draws;
//! `update` and `app` carry out.

mod app;
pub mod calibration;
mod chart;
mod clip;
mod commands;
pub mod config;
mod field;
mod focus;
mod frame_limiter;
mod glossary;
mod home;
mod key;
mod layout;
mod log;
mod machine;
pub(crate) mod palette;
mod panel;
mod pattern;
mod plot;
mod recipes;
mod runs;
mod session;
mod state;
mod terminal;
mod theme;
mod update;
mod view;
mod waker;
mod whatif;
mod widgets;
mod words;

#[cfg(test)]
pub(crate) mod tests;

use std::io::stdout;
use std::mem::ManuallyDrop;
use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;

pub use chart::overlay::Baseline;
pub use home::background_lookups::{Greeting, Lookups};
pub use home::facts::LastRun;
pub use home::jobs::{Resolve, Wanted};
pub use recipes::{OWN, RecipeEntry};
pub use session::Mode;
pub use state::Remote;
pub use whatif::SaveProfile;

use app::App;
use calibration::MakeCalibrator;
use config::Config;
use session::Session;
use state::State;
use terminal::{Guard, TerminalSource};

use crate::model::Profile;
use crate::run::layout::MANIFEST;
use crate::run::runner::Runner;

/// Inputs of the user interface.
pub struct Options {
    /// The recipes in the order of the list; recipes of a group are adjacent.
    pub recipes: Vec<RecipeEntry>,
    /// Further recipes, which are still being read.
    pub more_recipes: Option<Receiver<RecipeEntry>>,
    /// Resolves a recipe's text: that of each recipe that is viewed, and again when it is started.
    pub resolve: Resolve,
    pub runner: Box<dyn Runner>,
    /// The backends' devices, in one line.
    pub devices: String,
    /// The kind of run. In [`Mode::Watch`], whose runner plays a stored run, the first recipe starts at once.
    pub mode: Mode,
    /// The engine, if it is remote.
    pub remote: Option<Remote>,
    pub config: Config,
    /// Estimates a recipe's cost and finds its last run. Without it the preview omits both.
    pub lookups: Option<Lookups>,
    /// The folder below which runs are stored, if they can be viewed.
    pub root: Option<PathBuf>,
    /// The known profiles.
    pub profiles: Vec<Profile>,
    /// Saves a profile that the user has changed.
    pub save_profile: SaveProfile,
    /// Makes what calibrates the devices of an engine.
    pub calibrator: Option<MakeCalibrator>,
}

/// Takes over the terminal until the user leaves, and gives it back even after a panic or a signal. Takes the
/// terminal's capabilities from the environment. Returns a final message for the terminal, if there is one.
///
/// # Errors
/// If there is no terminal, if the terminal goes away, after a signal, or after a panic.
pub fn run(options: Options) -> anyhow::Result<Option<String>> {
    let Config { keymap, mouse, .. } = options.config.clone();
    let theme = options.config.theme(|key| std::env::var(key).ok());
    let Options { mode, remote, profiles, .. } = options;
    let state = State { keymap, mode, remote, profiles, ..State::new(options.recipes, options.devices) };
    let mut app = App::new(state, theme, options.runner, options.resolve);
    app.save_profile = options.save_profile;
    app.make_calibrator = options.calibrator;
    if let Some(lookups) = options.lookups {
        app.find_out_by(lookups);
    }
    options.root.into_iter().for_each(|root| app.look_below(root));
    let mut source = TerminalSource::new(mouse).context("listening for signals")?;
    app.wake_by(source.waker());
    if let Some(recipes) = options.more_recipes {
        let recipes = waker::forwarded(recipes, source.waker());
        app.more_recipes = Some(recipes.context("starting the thread that reads the folder's recipes")?);
    }
    if mode == Mode::Watch {
        app.begin(Duration::ZERO);
    }
    let guard = Guard::new(mouse).context("taking over the terminal")?;
    // The guard shows the cursor again. If the terminal is gone, ratatui's own attempt to do so would panic.
    let terminal = Terminal::new(CrosstermBackend::new(stdout())).context("opening the terminal")?;
    let mut terminal = ManuallyDrop::new(terminal);
    // After a panic the state is only used to find and end the run.
    let ended = panic::catch_unwind(AssertUnwindSafe(|| app.run(&mut terminal, &mut source)));
    app.abandon();
    let left = farewell(&app);
    match ended {
        Ok(ended) => ended?,
        Err(caught) => bail!("the user interface failed: {}{}", guard.in_words(&*caught), whereabouts(&app)),
    }
    ensure!(!source.terminated, "ended by a signal{}", whereabouts(&app));
    Ok(left)
}

/// The final message for the terminal: where an incomplete run is stored and how to resume it.
fn farewell(app: &App) -> Option<String> {
    let lasts = |run: &&Session| run.mode == Mode::Run && run.calibrates.is_none();
    let run = app.state.run().filter(lasts).filter(|run| !run.ledger.is_complete())?;
    // A run that never reached its first case has left no manifest.
    let there = run.folder.join(MANIFEST).exists();
    let (folder, advice) = (run.folder.display(), app.advice(&run.folder));
    there.then(|| format!("the run in {folder} is not complete; to resume it:\n{advice}"))
}

/// Names the folder with the run's results.
fn whereabouts(app: &App) -> String {
    // The user knows where the results of a watched run are.
    let lasts = |session: &&Session| session.mode == Mode::Run && session.calibrates.is_none();
    let run = app.state.session.as_ref().filter(lasts);
    let folder = run.map(|session| session.folder.display());
    folder.map(|folder| format!("; the results so far are in {folder}")).unwrap_or_default()
}
