//! What a person can ask for, and its name.

use crate::tui::chart;
use crate::tui::controls;
use crate::tui::home;
use crate::tui::pattern::Look;
use crate::tui::runs;
use crate::tui::whatif;

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
    /// Something about the run that is on its way.
    Control(controls::Ask),
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
    Runs(runs::Ask),
    /// Something about the lines that a case touches.
    Pattern(Look),
    /// Something about a profile that is being changed.
    WhatIf(whatif::Ask),
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
            Action::Suspend => "suspend",
            Action::Control(ask) => ask.name(),
            Action::Chart(ask) => ask.name(),
            Action::Home(ask) => ask.name(),
            Action::Runs(ask) => ask.name(),
            Action::Pattern(look) => look.name(),
            Action::WhatIf(ask) => ask.name(),
        }
    }
}
