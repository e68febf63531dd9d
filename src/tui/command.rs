//! Keys and what they do. The hint bar, the help and the dispatch all read the same
//! lists, so they cannot disagree.

use ratatui::crossterm::event::{KeyCode, KeyEvent};

use super::chart;
use super::home::{self, Entering, entering};
pub use super::key::{Key, char, control, key};
use super::panel::{self, Focus};
use super::pattern::Look;
use super::runs::{self, Ask as RunsAsk};
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
    /// The same, and nothing else is started after it.
    CancelAll,
    /// Go on in a fresh engine.
    Resume,
    /// Hold the run, or let it go on.
    Pause,
    /// Keep the screen as it is while results arrive, or show them again.
    Freeze,
    /// Measure the selected case no further.
    Skip,
    /// Try the selected case again, or measure further rounds of it.
    Again,
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
    /// Show or hide the panel of the devices.
    Devices,
    /// Let the selection follow the running case.
    Follow,
    /// Look at the chart in another way.
    Chart(chart::Ask),
    /// Give the terminal back and stop, until the shell lets the program go on.
    Suspend,
    /// Close the help.
    CloseHelp,
    /// Something before a run.
    Home(home::Ask),
    /// Something about stored runs.
    Runs(RunsAsk),
    /// Something about the lines that a case touches.
    Pattern(Look),
}

impl Action {
    /// Its name in the configuration. It stays, whatever becomes of the rest.
    pub fn name(self) -> &'static str {
        match self {
            Action::Quit => "quit",
            Action::Help => "help",
            Action::CloseHelp => "close-help",
            Action::Back => "back",
            Action::FocusNext => "next-panel",
            Action::FocusPrevious => "previous-panel",
            Action::Start => "start",
            Action::Cancel => "cancel",
            Action::CancelAll => "cancel-all",
            Action::Resume => "resume",
            Action::Up => "up",
            Action::Down => "down",
            Action::PageUp => "page-up",
            Action::PageDown => "page-down",
            Action::First => "first",
            Action::Last => "last",
            Action::PreviousPanel => "previous-chart",
            Action::NextPanel => "next-chart",
            Action::PreviousExperiment => "previous-experiment",
            Action::NextExperiment => "next-experiment",
            Action::Follow => "follow",
            Action::Devices => "devices",
            Action::Pause => "pause",
            Action::Freeze => "freeze",
            Action::Skip => "skip",
            Action::Again => "again",
            Action::Suspend => "suspend",
            Action::Chart(ask) => ask.name(),
            Action::Home(ask) => ask.name(),
            Action::Runs(ask) => ask.name(),
            Action::Pattern(look) => look.name(),
        }
    }
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
    /// Its actions, each once, in the order of their first keys.
    pub fn actions(&self) -> Vec<Action> {
        let mut actions = Vec::new();
        for (_, action) in self.bindings {
            if !actions.contains(action) {
                actions.push(*action);
            }
        }
        actions
    }

    /// Whether it would do something now.
    pub fn enabled(&self, state: &State) -> bool {
        self.bindings.iter().any(|(_, action)| state.allows(*action))
    }
}

/// The first `count` keys, joined by strokes.
pub fn labels(bindings: &[(Key, Action)], count: usize, theme: Theme) -> String {
    let labels: Vec<String> = bindings.iter().take(count).map(|(k, _)| k.label(theme)).collect();
    labels.join("/")
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
    Command {
        bindings: &[(char('X'), Action::CancelAll)],
        hinted: 0,
        name: "cancel all",
        help: "cancel the run and everything that waits for its end",
    },
    Command {
        bindings: &[(char(' '), Action::Pause)],
        hinted: 1,
        name: "pause",
        help: "hold the run at the next sample, or go on; the round begins again with its warm-up",
    },
    CURSOR,
    FULL,
    FREEZE,
    DEVICES,
    TAB,
    BACK,
    HELP,
    Command {
        bindings: &[(char('q'), Action::Quit), (control('c'), Action::Quit)],
        hinted: 1,
        name: "quit",
        help: "quit; asks while a run is active, and once more cancels the run and quits",
    },
    SUSPEND,
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
    CURSOR,
    FULL,
    FREEZE,
    DEVICES,
    TAB,
    BACK,
    HELP,
    Command {
        bindings: &[(char('q'), Action::Quit), (control('c'), Action::Quit)],
        hinted: 1,
        name: "quit",
        help: "quit",
    },
    SUSPEND,
];

/// The same where a recipe's values are changed, whose letters are taken.
pub const EDITING: &[Command] = &[
    TAB,
    BACK,
    HELP,
    Command {
        bindings: &[(char('q'), Action::Quit), (control('c'), Action::Quit)],
        hinted: 1,
        name: "quit",
        help: "quit; asks while a run is active, and once more cancels the run and quits",
    },
    SUSPEND,
];

/// While results are invented there is nothing to do but to stop; who invents them looks for
/// the key.
const REHEARSING: &[Command] = &[Command {
    bindings: &[(char('q'), Action::Quit), (key(KeyCode::Esc), Action::Quit)],
    hinted: 2,
    name: "stop",
    help: "measure no more pairs",
}];

const CURSOR: Command = Command {
    bindings: &[(char('v'), Action::Chart(chart::Ask::Cursor))],
    hinted: 1,
    name: "cursor",
    help: "put a cursor on the chart, or take it away; the arrows move it along and between lines",
};

const FULL: Command = Command {
    bindings: &[(char('z'), Action::Chart(chart::Ask::Full))],
    hinted: 1,
    name: "full",
    help: "give the chart the whole screen, with all its panels where they fit; Esc takes it back",
};

const FREEZE: Command = Command {
    bindings: &[(char('F'), Action::Freeze)],
    hinted: 1,
    name: "freeze",
    help: "keep the screen as it is while results arrive, or show them",
};

const DEVICES: Command = Command {
    bindings: &[(char('D'), Action::Devices)],
    hinted: 0,
    name: "devices",
    help: "show or hide the clocks, power and load of the devices around the newest rounds",
};

const TAB: Command = Command {
    bindings: &[(key(KeyCode::Tab), Action::FocusNext), (key(KeyCode::BackTab), Action::FocusPrevious)],
    hinted: 1,
    name: "next panel",
    help: "go to the next or the previous panel",
};

/// Everywhere, the help not excepted.
pub const SUSPEND: Command = Command {
    bindings: &[(control('z'), Action::Suspend)],
    hinted: 0,
    name: "suspend",
    help: "stop this program until the shell's fg; the engine ends its round meanwhile, then waits",
};

const BACK: Command = Command {
    bindings: &[(key(KeyCode::Esc), Action::Back)],
    hinted: 1,
    name: "back",
    help: "back, in the end to the recipes, and there to all of them; a run goes on",
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

/// What is in force beside a panel's own commands.
fn around(focus: Focus, mode: Mode) -> &'static [Command] {
    if focus == Focus::Editor { EDITING } else { global(mode) }
}

/// The lists that are in force, the most specific first.
pub fn in_force(state: &State) -> [&'static [Command]; 2] {
    if let Some(entering) = Entering::now(state) {
        return [entering.commands(), entering::FIELD];
    }
    match state.overlay {
        Some(Overlay::Export { .. }) => [runs::ask::DIALOG, &[]],
        Some(Overlay::Help { .. }) => [panel::help::COMMANDS, &[]],
        None if state.mode == Mode::Rehearsal => [&[], REHEARSING],
        None => [state.focus.commands(), around(state.focus, state.mode())],
    }
}

/// The commands that are in force with the keys that mean them here: a key goes to the
/// most specific command that has it.
pub fn bound(state: &State) -> Vec<(&'static Command, Vec<(Key, Action)>)> {
    let mut taken: Vec<Key> = Vec::new();
    let typing = Entering::now(state).is_some();
    let mut own = |command: &'static Command| {
        let mut bindings = match typing {
            true => command.bindings.to_vec(),
            false => state.keymap.bindings(command),
        };
        bindings.retain(|(key, _)| !taken.contains(key));
        taken.extend(bindings.iter().map(|(key, _)| *key));
        (command, bindings)
    };
    in_force(state).into_iter().flatten().map(&mut own).collect()
}

/// What `event` asks for in this state; `None` for a key without a meaning here.
pub fn action(state: &State, event: KeyEvent) -> Option<Action> {
    let mut bindings = bound(state).into_iter().flat_map(|(_, bindings)| bindings);
    bindings.find(|(key, _)| key.matches(event)).map(|(_, action)| action)
}

/// The commands that are in force together, the most specific list first.
#[derive(Debug)]
pub struct Scope {
    pub title: &'static str,
    pub lists: Vec<&'static [Command]>,
}

/// Everything that can be in force: within a scope no key may mean two things.
pub fn scopes() -> Vec<Scope> {
    let panel = |f: &Focus, mode| Scope { title: f.title(), lists: vec![f.commands(), around(*f, mode)] };
    let running = Focus::ALL.iter().map(|f| panel(f, Mode::Run));
    let watching = Focus::ALL.iter().map(|f| panel(f, Mode::Watch));
    let help = Scope { title: "Help", lists: vec![panel::help::COMMANDS] };
    let dialog = Scope { title: "Export", lists: vec![runs::ask::DIALOG] };
    running.chain(watching).chain([help, dialog]).collect()
}

/// Every command whose keys can be set, with the title of the first list that has it.
pub fn listed() -> Vec<(&'static str, &'static Command)> {
    let others =
        [("While watching", WATCHING), ("Help", panel::help::COMMANDS), ("Export", runs::ask::DIALOG)];
    let lists = every(Mode::Run).into_iter().chain(others);
    lists.flat_map(|(title, list)| list.iter().map(move |command| (title, command))).collect()
}

/// Every action that is a command, each once.
pub fn actions() -> Vec<Action> {
    let mut actions = Vec::new();
    for action in scopes().into_iter().flat_map(|s| s.lists).flatten().flat_map(Command::actions) {
        if !actions.contains(&action) {
            actions.push(action);
        }
    }
    actions
}

/// Every list of commands with its heading, for the help.
pub fn every(mode: Mode) -> Vec<(&'static str, &'static [Command])> {
    let panels = Focus::ALL.iter().map(|f| (f.title(), f.commands()));
    std::iter::once(("Everywhere", global(mode))).chain(panels).collect()
}

/// No more rounds of the selected case.
pub const SKIP: Command = Command {
    bindings: &[(char('s'), Action::Skip)],
    hinted: 1,
    name: "skip",
    help: "measure the selected case no further; a resumed run takes it up again",
};

/// Another try or more rounds of it.
pub const AGAIN: Command = Command {
    bindings: &[(char('R'), Action::Again)],
    hinted: 1,
    name: "again",
    help: "the selected case: another try after a failure or a skip, else further rounds; all count",
};

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
