//! The terminal user interface: a client of a run like the headless one.
//!
//! An event becomes an `Action`, `update` applies it to the `State`, `view` draws the
//! state; nothing else changes either. The screen shows only what the run's [`Record`](crate::run::Record)s say.
//! Each panel lists its commands; dispatch, hint bar and help read the same lists.

mod app;
mod command;

mod layout;
mod log;
mod pacer;
mod panel;
mod plot;
mod recipes;
pub mod rehearsal;
mod session;
mod state;
mod terminal;
mod theme;
mod update;
mod view;
mod words;

#[cfg(test)]
mod tests;

use std::io::stdout;
use std::time::Duration;

use anyhow::Context;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;

pub use app::Resolve;
pub use recipes::RecipeEntry;
pub use state::Mode;

use app::App;
use state::State;
use terminal::{Guard, TerminalSource};
use theme::Theme;

use crate::run::runner::Runner;

/// What the user interface works with.
pub struct Options {
    /// The recipes in the order of the list; those of a group stand together.
    pub recipes: Vec<RecipeEntry>,
    /// Resolves a recipe's text. Called on the user interface's thread, for each
    /// recipe that is looked at and again when it is started.
    pub resolve: Resolve,
    pub runner: Box<dyn Runner>,
    /// What the backends run on, in one line.
    pub devices: String,
    /// Whether the runner measures; one that plays a stored run starts with the first
    /// recipe at once.
    pub mode: Mode,
}

/// Takes the terminal over until the person leaves; gives it back also after a panic
/// or a signal. Reads `NO_COLOR` and the locale.
///
/// # Errors
/// When there is no terminal, when it goes away, or after a signal.
pub fn run(options: Options) -> anyhow::Result<()> {
    let theme = Theme::from_environment(|key| std::env::var(key).ok());
    let state = State { mode: options.mode, ..State::new(options.recipes, options.devices) };
    let mut app = App::new(state, theme, options.runner, options.resolve);
    let mut source = TerminalSource::new().context("listening for signals")?;
    if options.mode == Mode::Watch {
        app.begin(Duration::ZERO);
    }
    let _guard = Guard::new().context("taking over the terminal")?;
    let mut terminal = Terminal::new(CrosstermBackend::new(stdout())).context("opening the terminal")?;
    let ended = app.run(&mut terminal, &mut source);
    app.abandon();
    ended?;
    anyhow::ensure!(!source.terminated, "ended by a signal");
    Ok(())
}
