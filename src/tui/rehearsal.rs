//! The screen of a run with invented results, to measure the cost of drawing. The event loop, the drawing and
//! the frame rate are those of a real run.

mod pseudo;
mod script;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, Write, stdout};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use anyhow::Context;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{KeyCode, KeyModifiers};
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};

use super::app::{App, Incoming, Source};
use super::panel::Focus;
use super::recipes::RecipeEntry;
use super::state::{Mode, State};
use super::terminal::{Guard, TerminalSource};
use super::theme::Theme;
use crate::engine::protocol::Environment;
use crate::recipe::plan::Plan;
use crate::run::runner::{Control, Message, Runner, Running};

/// Columns and rows of the pseudo-terminal.
pub const UNSEEN: (u16, u16) = (160, 48);

/// Interval between results, as in a run of short cases: each frame contains something new.
const RESULTS: Duration = Duration::from_millis(50);

/// The terminal that the screen is drawn on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surface {
    /// The terminal of this process, which is taken over temporarily.
    Terminal,
    /// A pseudo-terminal of [`UNSEEN`] columns and rows.
    Pseudo,
}

/// A simulated run. Dropping it gives the terminal back.
pub struct Rehearsal {
    app: App,
    terminal: Terminal<CrosstermBackend<Box<dyn Write>>>,
    source: Filtered,
    script: VecDeque<[Message; 2]>,
    messages: Sender<Message>,
    due: Duration,
    /// The number of the next live picture, if pictures are drawn instead of panels.
    picture: Option<u32>,
    _control: Receiver<Control>,
    _guard: Option<Guard>,
}

impl Rehearsal {
    /// Opens the screen of `plan`, which `entry` describes, for a machine with this environment.
    ///
    /// # Errors
    /// If the terminal cannot be taken over, or no pseudo-terminal can be opened.
    pub fn open(
        entry: RecipeEntry,
        plan: Plan,
        environment: Environment,
        surface: Surface,
    ) -> anyhow::Result<Rehearsal> {
        let ((messages, receiver), (control, controls)) = (channel(), channel());
        let folder = PathBuf::from("none: these results are invented");
        let running = Running { messages: receiver, control, folder };
        let script = script::results(&plan);
        for message in script::opening(&plan, environment) {
            messages.send(message).context("the rehearsal's own channel")?;
        }
        let theme = Theme::from_environment(|key| std::env::var(key).ok());
        let state = State { mode: Mode::Rehearsal, ..State::new(vec![entry], String::new()) };
        let runner = Box::new(Played(RefCell::new(Some(running))));
        let mut app = App::new(state, theme, runner, Arc::new(move |_, _, _| Ok(plan.clone())));
        app.begin(Duration::ZERO);
        let (terminal, source, guard) = match surface {
            Surface::Terminal => on_terminal()?,
            Surface::Pseudo => on_pseudo_terminal()?,
        };
        let source = Filtered { inner: source, stopped: false };
        Ok(Rehearsal {
            app,
            terminal,
            source,
            script,
            messages,
            due: Duration::ZERO,
            picture: None,
            _control: controls,
            _guard: guard,
        })
    }

    /// Draws live pictures of waves from now on.
    #[must_use]
    pub fn with_pictures(self) -> Rehearsal {
        Rehearsal { picture: Some(0), ..self }
    }

    /// Delivers results and draws them for `time`, as in a run.
    ///
    /// # Errors
    /// If the terminal is gone.
    pub fn draw_for(&mut self, time: Duration) -> anyhow::Result<()> {
        let end = self.source.now() + time;
        self.due = self.due.max(self.source.now());
        while let Some(left) = end.checked_sub(self.source.now()).filter(|_| !self.source.stopped) {
            self.play();
            if self.picture.is_some() && self.app.state.session.is_some() {
                self.app.state.focus = Focus::Live;
            }
            if !self.app.turn(&mut self.terminal, &mut self.source, left)? {
                break;
            }
        }
        Ok(())
    }

    /// Draws nothing for `time`; the screen keeps its content.
    ///
    /// # Errors
    /// If the terminal is gone.
    pub fn rest_for(&mut self, time: Duration) -> anyhow::Result<()> {
        let end = self.source.now() + time;
        while let Some(left) = end.checked_sub(self.source.now()).filter(|_| !self.source.stopped) {
            self.source.next(left).context("reading the terminal")?;
        }
        Ok(())
    }

    /// Shows a line below the panels from the next frame on.
    pub fn notify(&mut self, text: &str) {
        self.app.notify(text);
    }

    /// Whether the user asked to stop.
    pub fn stopped(&self) -> bool {
        self.source.stopped
    }

    /// Frames drawn so far.
    pub fn frames(&mut self) -> usize {
        self.terminal.get_frame().count()
    }

    /// Sends the messages that are due by now, and repeats the script after its end. The app receives them when
    /// it polls, as from a run's thread.
    fn play(&mut self) {
        while self.due <= self.source.now() {
            self.due += RESULTS;
            let Some(step) = self.script.pop_front() else { return };
            let picture = self.picture.as_mut().and_then(|number| {
                *number += 1;
                script::picture(&step, *number)
            });
            for message in step.iter().cloned().chain(picture) {
                // The app holds the receiver until the run is over, and this run never ends.
                let _ = self.messages.send(message);
            }
            self.script.push_back(step);
        }
    }
}

type Opened = (Terminal<CrosstermBackend<Box<dyn Write>>>, Box<dyn Source>, Option<Guard>);

fn on_terminal() -> anyhow::Result<Opened> {
    let source = TerminalSource::new(false).context("listening for signals")?;
    let guard = Guard::new(false).context("taking over the terminal")?;
    let backend = CrosstermBackend::new(Box::new(stdout()) as Box<dyn Write>);
    Ok((Terminal::new(backend).context("opening the terminal")?, Box::new(source), Some(guard)))
}

fn on_pseudo_terminal() -> anyhow::Result<Opened> {
    let (columns, rows) = UNSEEN;
    let side = pseudo::open(columns, rows).context("opening a pseudo-terminal")?;
    let backend = CrosstermBackend::new(Box::new(side) as Box<dyn Write>);
    // The size is fixed, because crossterm would ask the process' own terminal.
    let viewport = Viewport::Fixed(Rect::new(0, 0, columns, rows));
    let terminal = Terminal::with_options(backend, TerminalOptions { viewport });
    Ok((terminal.context("opening the pseudo-terminal")?, Box::new(Unattended(Instant::now())), None))
}

/// A runner for a run that the rehearsal plays.
struct Played(RefCell<Option<Running>>);

impl Runner for Played {
    fn start(&self, _plan: Plan, _recipe: &str) -> anyhow::Result<Running> {
        self.0.borrow_mut().take().context("it is played already")
    }
}

/// A source without input.
struct Unattended(Instant);

impl Source for Unattended {
    fn next(&mut self, timeout: Duration) -> io::Result<Option<Incoming>> {
        std::thread::sleep(timeout);
        Ok(None)
    }

    fn now(&self) -> Duration {
        self.0.elapsed()
    }
}

/// Ignores all keys except those that stop the rehearsal.
struct Filtered {
    inner: Box<dyn Source>,
    stopped: bool,
}

impl Source for Filtered {
    fn next(&mut self, timeout: Duration) -> io::Result<Option<Incoming>> {
        let incoming = self.inner.next(timeout)?;
        self.stopped |= match incoming {
            Some(Incoming::Terminate) => true,
            Some(Incoming::Key(key)) => {
                let control = key.modifiers.contains(KeyModifiers::CONTROL);
                matches!(key.code, KeyCode::Char('q') | KeyCode::Esc)
                    || control && key.code == KeyCode::Char('c')
            }
            _ => false,
        };
        Ok(incoming.filter(|i| *i == Incoming::Resized))
    }

    fn now(&self) -> Duration {
        self.inner.now()
    }
}

#[cfg(test)]
mod tests;
