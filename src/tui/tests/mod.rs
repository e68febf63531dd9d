//! Tests of the user interface as a whole, on a terminal in memory.

mod charts;
mod controls;
mod demo;
mod devices;
mod docs;
pub mod fixture;
pub mod home;
mod lists;
mod live;
pub mod loops;
mod panic;
mod random;
mod recording;
mod refusals;
mod scenes;
pub mod screens;
pub mod script;
mod updates;

use super::commands::{self, Action, Effect};
use super::state::State;
use super::update::{Input, update};

/// The action of this name in the configuration.
pub fn named(name: &str) -> Action {
    commands::actions().into_iter().find(|action| action.name == name).expect(name)
}

/// Does what the key of this action does.
pub fn act(state: &mut State, name: &str) -> Option<Effect> {
    let now = state.now;
    update(state, Input::Act(named(name)), now)
}

/// Whether the action is possible now.
pub fn allows(state: &State, name: &str) -> bool {
    named(name).is_allowed(state)
}
