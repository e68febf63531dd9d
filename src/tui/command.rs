//! Keys and their commands. The hint bar, the help and the dispatch all read the same lists, so they cannot
//! disagree.

mod action;
mod lists;

use ratatui::crossterm::event::KeyEvent;

use super::home::{Entering, entering};
pub use super::key::{Key, char, control, key};
use super::panel::{self, Focus};
use super::runs;
use super::state::{Mode, Overlay, State};
use super::theme::Theme;

pub use action::Action;
pub use lists::{
    AGAIN, EDITING, ENDS, EXPERIMENTS, FOLLOW, GLOBAL, MOVE, PAGES, PANELS, SKIP, SUSPEND, WATCHING,
};

/// One or two related actions, with their keys and names.
#[derive(Debug)]
pub struct Command {
    /// Keys and their actions; the key to display comes first.
    pub bindings: &'static [(Key, Action)],
    /// Number of keys that the hint bar shows; 0 keeps the command out of the bar.
    pub hinted: usize,
    /// A word or two for the hint bar.
    pub name: &'static str,
    /// One line for the help.
    pub help: &'static str,
}

impl Command {
    /// The command's distinct actions, in the order of their first keys.
    pub fn actions(&self) -> Vec<Action> {
        let mut actions = Vec::new();
        for (_, action) in self.bindings {
            if !actions.contains(action) {
                actions.push(*action);
            }
        }
        actions
    }

    /// Whether at least one action of the command is possible now.
    pub fn enabled(&self, state: &State) -> bool {
        self.bindings.iter().any(|(_, action)| state.allows(*action))
    }
}

/// The labels of the first `count` keys, joined by slashes.
pub fn labels(bindings: &[(Key, Action)], count: usize, theme: Theme) -> String {
    let labels: Vec<String> = bindings.iter().take(count).map(|(k, _)| k.label(theme)).collect();
    labels.join("/")
}

/// The commands that are available in every panel in this mode.
pub fn global(mode: Mode) -> &'static [Command] {
    if mode == Mode::Watch { WATCHING } else { GLOBAL }
}

/// The commands that are in force in addition to the panel's own.
fn around(focus: Focus, mode: Mode) -> &'static [Command] {
    if focus == Focus::Editor { EDITING } else { global(mode) }
}

/// The command lists in force, the most specific first.
pub fn in_force(state: &State) -> [&'static [Command]; 2] {
    if let Some(entering) = Entering::now(state) {
        return [entering.commands(), entering::FIELD];
    }
    match state.overlay {
        Some(Overlay::Export { .. }) => [runs::request::DIALOG, &[]],
        Some(Overlay::Help { .. }) => [panel::help::COMMANDS, &[]],
        None => [state.focus.commands(), around(state.focus, state.mode())],
    }
}

/// The commands in force, each with the keys that trigger it in this state. A key belongs to the most specific
/// command that binds it.
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

/// The action that `event` triggers in this state; `None` for an unbound key.
pub fn action(state: &State, event: KeyEvent) -> Option<Action> {
    let mut bindings = bound(state).into_iter().flat_map(|(_, bindings)| bindings);
    bindings.find(|(key, _)| key.matches(event)).map(|(_, action)| action)
}

/// Command lists that are in force together, the most specific first.
#[derive(Debug)]
pub struct Scope {
    pub title: &'static str,
    pub lists: Vec<&'static [Command]>,
}

/// Every combination of lists that can be in force; within a scope no key may mean two things.
pub fn scopes() -> Vec<Scope> {
    let panel = |f: &Focus, mode| Scope { title: f.title(), lists: vec![f.commands(), around(*f, mode)] };
    let running = Focus::ALL.iter().map(|f| panel(f, Mode::Run));
    let watching = Focus::ALL.iter().map(|f| panel(f, Mode::Watch));
    let help = Scope { title: "Help", lists: vec![panel::help::COMMANDS] };
    let dialog = Scope { title: "Export", lists: vec![runs::request::DIALOG] };
    running.chain(watching).chain([help, dialog]).collect()
}

/// Every command whose keys can be configured, with the title of the first list that contains it.
pub fn listed() -> Vec<(&'static str, &'static Command)> {
    let others =
        [("While watching", WATCHING), ("Help", panel::help::COMMANDS), ("Export", runs::request::DIALOG)];
    let lists = every(Mode::Run).into_iter().chain(others);
    lists.flat_map(|(title, list)| list.iter().map(move |command| (title, command))).collect()
}

/// Every action of a command, without duplicates.
pub fn actions() -> Vec<Action> {
    let mut actions = Vec::new();
    for action in scopes().into_iter().flat_map(|s| s.lists).flatten().flat_map(Command::actions) {
        if !actions.contains(&action) {
            actions.push(action);
        }
    }
    actions
}

/// Every command list with its heading, for the help.
pub fn every(mode: Mode) -> Vec<(&'static str, &'static [Command])> {
    let panels = Focus::ALL.iter().map(|f| (f.title(), f.commands()));
    std::iter::once(("Everywhere", global(mode))).chain(panels).collect()
}
