//! Keys and what they do. The hint bar, the help and the dispatch all read the same
//! lists, so they cannot disagree.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::panel::{self, Focus};
use super::state::{Mode, Overlay, State};
use super::theme::Theme;

/// What a person can ask for with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Quit,
    Help,
    Back,
    FocusNext,
    FocusPrevious,
    /// Start the selected recipe.
    Start,
    /// Cancel the run, or end it after its engine died.
    Cancel,
    /// Go on in a fresh engine.
    Resume,
    /// Hold the stored run that is being watched, or let it go on.
    Pause,
    Up,
    Down,
    PageUp,
    PageDown,
    First,
    Last,
    PreviousPanel,
    NextPanel,
    PreviousExperiment,
    NextExperiment,
    /// Let the selection follow the running case.
    Follow,
}

/// A key as it is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    code: KeyCode,
    control: bool,
}

impl Key {
    /// Whether `event` is this key. Shift does not count: characters carry it.
    fn matches(self, event: KeyEvent) -> bool {
        let control = event.modifiers.contains(KeyModifiers::CONTROL);
        self.code == event.code && self.control == control && !event.modifiers.contains(KeyModifiers::ALT)
    }

    /// Its name on the screen.
    pub fn label(self, theme: Theme) -> String {
        let name = match self.code {
            KeyCode::Char(' ') => "Space".to_owned(),
            KeyCode::Char(c) => c.to_string(),
            KeyCode::Up => theme.symbol("↑", "Up").to_owned(),
            KeyCode::Down => theme.symbol("↓", "Down").to_owned(),
            KeyCode::PageUp => "PgUp".to_owned(),
            KeyCode::PageDown => "PgDn".to_owned(),
            KeyCode::BackTab => "Shift-Tab".to_owned(),
            other => other.to_string(),
        };
        if self.control { format!("Ctrl-{name}") } else { name }
    }
}

/// A key for one character.
pub const fn char(c: char) -> Key {
    Key { code: KeyCode::Char(c), control: false }
}

/// A character with the control key held.
pub const fn control(c: char) -> Key {
    Key { code: KeyCode::Char(c), control: true }
}

/// A key that is not a character.
pub const fn key(code: KeyCode) -> Key {
    Key { code, control: false }
}

/// One or two related actions, with their keys and what they are called.
#[derive(Debug)]
pub struct Command {
    /// Keys and their actions, the one to show first in front.
    pub bindings: &'static [(Key, Action)],
    /// How many of the keys the hint bar shows; 0 keeps the command out of it.
    pub hinted: usize,
    /// A word or two for the hint bar.
    pub name: &'static str,
    /// One line for the help.
    pub help: &'static str,
}

impl Command {
    /// The first `count` keys, joined by strokes.
    pub fn keys(&self, count: usize, theme: Theme) -> String {
        let labels: Vec<String> = self.bindings.iter().take(count).map(|(k, _)| k.label(theme)).collect();
        labels.join("/")
    }

    /// Whether it would do something now.
    pub fn enabled(&self, state: &State) -> bool {
        self.bindings.iter().any(|(_, action)| state.allows(*action))
    }
}

/// Commands that every panel knows.
pub const GLOBAL: &[Command] = &[
    Command {
        bindings: &[(char('r'), Action::Resume)],
        hinted: 1,
        name: "resume",
        help: "after the engine died: go on in a fresh one; the lost case counts as failed",
    },
    Command {
        bindings: &[(char('x'), Action::Cancel)],
        hinted: 1,
        name: "cancel",
        help: "cancel the run at the next sample, or end it after the engine died; finished results stay",
    },
    TAB,
    BACK,
    HELP,
    Command {
        bindings: &[(char('q'), Action::Quit), (control('c'), Action::Quit)],
        hinted: 1,
        name: "quit",
        help: "quit; asks while a run is active, and a second q cancels the run and quits",
    },
];

/// The same where a stored run is watched: there is nothing to cancel.
pub const WATCHING: &[Command] = &[
    Command {
        bindings: &[(char(' '), Action::Pause)],
        hinted: 1,
        name: "pause",
        help: "hold the stored run, or let it go on",
    },
    Command {
        bindings: &[(char('x'), Action::Cancel)],
        hinted: 1,
        name: "end",
        help: "end watching; the stored run is not touched",
    },
    TAB,
    BACK,
    HELP,
    Command {
        bindings: &[(char('q'), Action::Quit), (control('c'), Action::Quit)],
        hinted: 1,
        name: "quit",
        help: "quit",
    },
];

/// While results are invented there is nothing to do but to stop; who invents them looks for
/// the key.
const REHEARSING: &[Command] = &[Command {
    bindings: &[(char('q'), Action::Quit), (key(KeyCode::Esc), Action::Quit)],
    hinted: 2,
    name: "stop",
    help: "measure no more pairs",
}];

const TAB: Command = Command {
    bindings: &[(key(KeyCode::Tab), Action::FocusNext), (key(KeyCode::BackTab), Action::FocusPrevious)],
    hinted: 1,
    name: "next panel",
    help: "go to the next or the previous panel",
};

const BACK: Command = Command {
    bindings: &[(key(KeyCode::Esc), Action::Back)],
    hinted: 1,
    name: "back",
    help: "back to the recipes; a run goes on",
};

const HELP: Command = Command {
    bindings: &[(char('?'), Action::Help)],
    hinted: 1,
    name: "help",
    help: "show or hide this help",
};

/// What every panel knows in this mode.
pub fn global(mode: Mode) -> &'static [Command] {
    if mode == Mode::Watch { WATCHING } else { GLOBAL }
}

/// Moving in a list or a text: the same keys everywhere.
pub const MOVE: Command = Command {
    bindings: &[
        (char('j'), Action::Down),
        (char('k'), Action::Up),
        (key(KeyCode::Down), Action::Down),
        (key(KeyCode::Up), Action::Up),
    ],
    hinted: 2,
    name: "move",
    help: "one down or up",
};

/// To the ends of a list or a text.
pub const ENDS: Command = Command {
    bindings: &[
        (char('g'), Action::First),
        (char('G'), Action::Last),
        (key(KeyCode::Home), Action::First),
        (key(KeyCode::End), Action::Last),
    ],
    hinted: 0,
    name: "ends",
    help: "to the first or the last",
};

/// By pages.
pub const PAGES: Command = Command {
    bindings: &[(key(KeyCode::PageUp), Action::PageUp), (key(KeyCode::PageDown), Action::PageDown)],
    hinted: 0,
    name: "page",
    help: "a page up or down",
};

/// The lists that are in force, the most specific first.
pub fn in_force(state: &State) -> [&'static [Command]; 2] {
    match state.overlay {
        Some(Overlay::Help { .. }) => [panel::help::COMMANDS, &[]],
        None if state.mode == Mode::Rehearsal => [&[], REHEARSING],
        None => [state.focus.commands(), global(state.mode)],
    }
}

/// What `event` asks for in this state; `None` for a key without a meaning here.
pub fn action(state: &State, event: KeyEvent) -> Option<Action> {
    let bindings = in_force(state).into_iter().flatten().flat_map(|command| command.bindings);
    bindings.copied().find(|(key, _)| key.matches(event)).map(|(_, action)| action)
}

/// Every list of commands with its heading, for the help.
pub fn every(mode: Mode) -> Vec<(&'static str, &'static [Command])> {
    let panels = Focus::ALL.iter().map(|f| (f.title(), f.commands()));
    std::iter::once(("Everywhere", global(mode))).chain(panels).collect()
}

/// Which of several small charts is shown.
pub const PANELS: Command = Command {
    bindings: &[(char('['), Action::PreviousPanel), (char(']'), Action::NextPanel)],
    hinted: 2,
    name: "chart panel",
    help: "the previous or next of several chart panels",
};

/// Which experiment of the recipe is shown.
pub const EXPERIMENTS: Command = Command {
    bindings: &[(char('{'), Action::PreviousExperiment), (char('}'), Action::NextExperiment)],
    hinted: 2,
    name: "experiment",
    help: "the previous or next experiment of the recipe",
};

/// Back to the running case.
pub const FOLLOW: Command = Command {
    bindings: &[(char('f'), Action::Follow)],
    hinted: 1,
    name: "follow",
    help: "let the selection follow the running case again",
};
