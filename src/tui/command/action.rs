//! User actions and their names.

use crate::tui::chart;
use crate::tui::controls;
use crate::tui::home;
use crate::tui::live;
use crate::tui::pattern::Look;
use crate::tui::runs;
use crate::tui::whatif;

/// An action that the user can trigger with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Quit,
    Help,
    Back,
    FocusNext,
    FocusPrevious,
    /// Start the selected recipe.
    Start,
    /// A request about the run in progress.
    Control(controls::Request),
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
    /// Show or hide the devices panel.
    Devices,
    /// Let the selection follow the running case.
    Follow,
    /// List the cases that cannot run one by one, or in one row.
    Fold,
    /// Calibrate a device that the shown cases use.
    Calibrate,
    /// A request about the view of the chart.
    Chart(chart::Request),
    /// Give the terminal back and suspend until the shell continues the program.
    Suspend,
    /// Close the help.
    CloseHelp,
    /// A request about recipes, before a run.
    Home(home::Request),
    /// A request about stored runs.
    Runs(runs::Request),
    /// A request about the lines that a case touches, or its sparse matrix.
    Pattern(Look),
    /// A request about a profile that is being changed.
    WhatIf(whatif::Request),
    /// A request about live pictures.
    Live(live::Request),
}

impl Action {
    /// Name in the configuration. Stable: configuration files depend on it.
    pub fn name(self) -> &'static str {
        match self {
            Action::Quit => "quit",
            Action::Help => "help",
            Action::CloseHelp => "close-help",
            Action::Back => "back",
            Action::FocusNext => "next-panel",
            Action::FocusPrevious => "previous-panel",
            Action::Start => "start",
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
            Action::Fold => "fold",
            Action::Calibrate => "calibrate",
            Action::Devices => "devices",
            Action::Suspend => "suspend",
            Action::Control(ask) => ask.name(),
            Action::Chart(ask) => ask.name(),
            Action::Home(ask) => ask.name(),
            Action::Runs(ask) => ask.name(),
            Action::Pattern(look) => look.name(),
            Action::WhatIf(ask) => ask.name(),
            Action::Live(ask) => ask.name(),
        }
    }
}
