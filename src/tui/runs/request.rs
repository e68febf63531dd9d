//! Requests about stored runs.

use ratatui::crossterm::event::KeyCode;

use crate::tui::command::{self, Action, Command, char, control, key};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// Show the list.
    Browse,
    /// Read the list again.
    Reload,
    /// Show the selected run in the run screen.
    Open,
    /// Play the selected run.
    Watch,
    /// Run the plan of the selected run, or of the one in view, again and judge the new results.
    Replay,
    /// Type a search.
    Search,
    /// Type a note on the selected run.
    Note,
    /// Mark the selected run as the baseline of comparisons.
    Mark,
    /// Lay the selected run under the chart.
    Lay,
    /// Compare the selected run with the marked one.
    Compare,
    /// Write the run's tables and charts.
    Export,
    /// Copy the item under the cursor.
    Copy,
    /// Close the dialog.
    Close,
}

impl Request {
    /// Name in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            Request::Browse => "runs",
            Request::Reload => "reload-runs",
            Request::Open => "open-run",
            Request::Watch => "watch-run",
            Request::Replay => "replay-run",
            Request::Search => "search-runs",
            Request::Note => "note",
            Request::Mark => "mark-run",
            Request::Lay => "chart-baseline",
            Request::Compare => "compare",
            Request::Export => "export",
            Request::Copy => "copy",
            Request::Close => "close-dialog",
        }
    }
}

macro_rules! command {
    ($key:expr, $ask:ident, $name:literal, $help:literal) => {
        Command { bindings: &[($key, Action::Runs(Request::$ask))], hinted: 1, name: $name, help: $help }
    };
}

pub const BROWSE: Command = command!(char('o'), Browse, "runs", "list the stored runs");
pub const EXPORT: Command =
    command!(char('e'), Export, "export", "write its charts and tables, and say how to run it again");
pub const COPY: Command = command!(
    char('y'),
    Copy,
    "copy",
    "copy what is under the cursor: a folder, a case's values, a command line (by OSC 52)"
);
/// [`COPY`] without a hint, because a run needs the row of hints.
pub const COPY_ASIDE: Command = Command { hinted: 0, ..COPY };
pub const REPLAY: Command = command!(
    char('P'),
    Replay,
    "replay",
    "run it again here and judge the new results against it, as `scatterlab replay`"
);
/// [`REPLAY`] without a hint.
pub const REPLAY_ASIDE: Command = Command { hinted: 0, ..REPLAY };
pub const EXPORT_ASIDE: Command = Command { hinted: 0, ..EXPORT };
const OPEN: Command =
    command!(key(KeyCode::Enter), Open, "open", "show the run as it was when it ended; nothing is measured");
const SEARCH: Command = command!(
    char('/'),
    Search,
    "search",
    "list only runs with these words: recipe, title, folder, machine, note, date"
);
const MARK: Command = command!(char('m'), Mark, "mark", "make it the baseline that others are compared with");
const LAY: Command = command!(
    char('b'),
    Lay,
    "on chart",
    "lay it under the chart of the run that is shown and of those to come, or no longer"
);
const COMPARE: Command = command!(
    char('c'),
    Compare,
    "compare",
    "compare it with the baseline, case by case, as `scatterlab compare`"
);
const WATCH: Command = command!(char('w'), Watch, "watch", "play the run as it went, in a minute at most");
const NOTE: Command = command!(char('n'), Note, "note", "write a line about it, into its folder's note.txt");
const RELOAD: Command = command!(char('R'), Reload, "reload", "read the list anew");

/// Commands in the list.
pub const LIST: &[Command] = &[
    OPEN,
    SEARCH,
    MARK,
    COMPARE,
    LAY,
    EXPORT,
    WATCH,
    REPLAY,
    NOTE,
    COPY,
    command::MOVE,
    RELOAD,
    command::PAGES,
    command::ENDS,
];

/// Commands in the details of the selected run.
pub const DETAILS: &[Command] = &[
    OPEN,
    COPY,
    EXPORT,
    WATCH,
    REPLAY,
    NOTE,
    MARK,
    COMPARE,
    LAY,
    command::MOVE,
    command::PAGES,
    command::ENDS,
];

/// Commands in a comparison.
pub const SHEET: &[Command] = &[command::MOVE, COPY, command::PAGES, command::ENDS];

/// Commands while the export dialog is open.
pub const DIALOG: &[Command] = &[
    command::MOVE,
    COPY,
    Command {
        bindings: &[
            (key(KeyCode::Esc), Action::Runs(Request::Close)),
            (key(KeyCode::Enter), Action::Runs(Request::Close)),
        ],
        hinted: 1,
        name: "close",
        help: "close the dialog",
    },
    Command { bindings: &[(control('c'), Action::Quit)], hinted: 1, name: "quit", help: "quit" },
    command::SUSPEND,
];
