//! The commands that belong to no panel, or to several.

use ratatui::crossterm::event::KeyCode;

use super::{Action, Command, char, control, key};
use crate::tui::chart;
use crate::tui::controls;
use crate::tui::live;

/// Commands available in every panel.
pub const GLOBAL: &[Command] = &[
    RESUME,
    Command {
        bindings: &[(char('x'), Action::Control(controls::Request::Cancel))],
        hinted: 1,
        name: "cancel",
        help: "cancel the run at the next sample, or end it after the engine died; finished results stay",
    },
    Command {
        bindings: &[(char('X'), Action::Control(controls::Request::CancelAll))],
        hinted: 0,
        name: "cancel all",
        help: "cancel the run and everything that waits for its end",
    },
    Command {
        bindings: &[(char(' '), Action::Control(controls::Request::Pause))],
        hinted: 1,
        name: "pause",
        help: "hold the run at the next sample, or go on; the round begins again with its warm-up",
    },
    CURSOR,
    FULL,
    FREEZE,
    live::SHOW,
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

/// Like [`GLOBAL`], while a stored run is watched: there is nothing to cancel.
pub const WATCHING: &[Command] = &[
    Command {
        bindings: &[(char(' '), Action::Control(controls::Request::Pause))],
        hinted: 1,
        name: "pause",
        help: "pause or continue the stored run",
    },
    Command {
        bindings: &[(char('x'), Action::Control(controls::Request::Cancel))],
        hinted: 1,
        name: "end",
        help: "end watching; the stored run is not touched",
    },
    CURSOR,
    FULL,
    FREEZE,
    live::SHOW,
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

/// Like [`GLOBAL`], while a recipe's values are changed: the editor uses the letters itself.
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

const RESUME: Command = Command {
    bindings: &[(char('r'), Action::Control(controls::Request::Resume))],
    hinted: 1,
    name: "resume",
    help: "continue in a fresh engine after a crash (the lost case counts as failed), or resume a run that was cut short",
};

const CURSOR: Command = Command {
    bindings: &[(char('v'), Action::Chart(chart::Request::Cursor))],
    hinted: 1,
    name: "cursor",
    help: "put a cursor on the chart, or take it away; the arrows move it along and between lines",
};

const FULL: Command = Command {
    bindings: &[(char('z'), Action::Chart(chart::Request::Full))],
    hinted: 1,
    name: "full",
    help: "give the chart the whole screen, with all its panels where they fit; Esc takes it back",
};

const FREEZE: Command = Command {
    bindings: &[(char('F'), Action::Control(controls::Request::Freeze))],
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

/// Available everywhere, including the help.
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
    help: "go back, finally to the unfiltered recipes; a run continues",
};

const HELP: Command = Command {
    bindings: &[(char('?'), Action::Help)],
    hinted: 1,
    name: "help",
    help: "show or hide this help",
};

/// Moves in a list or a text, with the same keys everywhere.
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

/// Moves to the ends of a list or a text.
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

/// Moves by pages.
pub const PAGES: Command = Command {
    bindings: &[(key(KeyCode::PageUp), Action::PageUp), (key(KeyCode::PageDown), Action::PageDown)],
    hinted: 0,
    name: "page",
    help: "a page up or down",
};

/// Cancels the remaining rounds of the selected case.
pub const SKIP: Command = Command {
    bindings: &[(char('s'), Action::Control(controls::Request::Skip))],
    hinted: 1,
    name: "skip",
    help: "measure no further rounds of the selected case; a resumed run measures them",
};

/// Retries the selected case, or measures further rounds of it.
pub const AGAIN: Command = Command {
    bindings: &[(char('R'), Action::Control(controls::Request::Again))],
    hinted: 1,
    name: "again",
    help: "retry the selected case after a failure or a skip, or measure further rounds; all rounds count",
};

/// Selects one of several small charts.
pub const PANELS: Command = Command {
    bindings: &[(char('['), Action::PreviousPanel), (char(']'), Action::NextPanel)],
    hinted: 2,
    name: "chart panel",
    help: "the previous or next of several chart panels",
};

/// Selects the experiment of the recipe to show.
pub const EXPERIMENTS: Command = Command {
    bindings: &[(char('{'), Action::PreviousExperiment), (char('}'), Action::NextExperiment)],
    hinted: 2,
    name: "experiment",
    help: "the previous or next experiment of the recipe",
};

/// Returns the selection to the running case.
pub const FOLLOW: Command = Command {
    bindings: &[(char('f'), Action::Follow)],
    hinted: 1,
    name: "follow",
    help: "let the selection follow the running case again",
};
