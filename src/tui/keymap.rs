//! Maps actions to keys: the defaults of the commands, unless the configuration replaces them.

use super::command::{self, Action, Command};
use super::key::Key;

/// Bindings that replace the default ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keymap {
    replaced: Vec<(Action, Vec<Key>)>,
}

/// Two actions on one key in the same scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clash {
    pub key: Key,
    /// The more specific action comes first.
    pub actions: [Action; 2],
    /// Title of the panel in which the clash occurs.
    pub scope: &'static str,
    /// Letters that are free in that panel.
    pub free: Vec<char>,
}

impl Keymap {
    /// Binds `action` to exactly these keys, in every command with that action.
    pub fn bind(&mut self, action: Action, keys: Vec<Key>) {
        self.replaced.retain(|(other, _)| *other != action);
        self.replaced.push((action, keys));
    }

    /// The keys that replace an action's default keys.
    pub fn replaced(&self, action: Action) -> Option<&[Key]> {
        self.replaced.iter().find(|(other, _)| *other == action).map(|(_, keys)| keys.as_slice())
    }

    /// A command's keys with their actions: the first key of each action, then the second key of each, and so
    /// on.
    pub fn bindings(&self, command: &Command) -> Vec<(Key, Action)> {
        let lists: Vec<(Action, Vec<Key>)> =
            command.actions().into_iter().map(|action| (action, self.keys(command, action))).collect();
        let most = lists.iter().map(|(_, keys)| keys.len()).max().unwrap_or(0);
        let row = |at: usize| lists.iter().filter_map(move |(action, keys)| Some((*keys.get(at)?, *action)));
        (0..most).flat_map(row).collect()
    }

    fn keys(&self, command: &Command, action: Action) -> Vec<Key> {
        let own = || command.bindings.iter().filter(|(_, a)| *a == action).map(|(key, _)| *key).collect();
        self.replaced(action).map_or_else(own, <[Key]>::to_vec)
    }

    /// The key to name in a sentence. If the action has no key, its name: the mouse still reaches it in the
    /// hint bar.
    pub fn name(&self, action: Action) -> String {
        let commands = command::scopes().into_iter().flat_map(|scope| scope.lists).flatten();
        let mut keys = commands.flat_map(|command| self.bindings(command));
        let key = keys.find(|(_, a)| *a == action).map(|(key, _)| key.name());
        key.unwrap_or_else(|| action.name().to_owned())
    }

    /// The first key that has two meanings in one panel.
    pub fn clash(&self) -> Option<Clash> {
        command::scopes().into_iter().find_map(|scope| self.clash_in(&scope))
    }

    fn clash_in(&self, scope: &command::Scope) -> Option<Clash> {
        let commands = scope.lists.iter().copied().flatten();
        let bindings: Vec<(Key, Action)> = commands.flat_map(|c| self.bindings(c)).collect();
        let twice = |(at, (key, action)): (usize, &(Key, Action))| {
            let (_, other) = bindings[..at].iter().find(|(k, a)| k == key && a != action)?;
            // In the help, closing it takes precedence over leaving the program.
            (!(*other == Action::CloseHelp && *action == Action::Quit)).then_some((*key, [*other, *action]))
        };
        let (key, actions) = bindings.iter().enumerate().find_map(twice)?;
        let taken = |c: &char| bindings.iter().any(|(key, _)| key.letter() == Some(*c));
        let free = ('a'..='z').filter(|c| !taken(c)).collect();
        Some(Clash { key, actions, scope: scope.title, free })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::command::MOVE;
    use crate::tui::controls::Request;
    use crate::tui::key::{char, control};

    #[test]
    fn without_a_configuration_a_command_has_its_own_keys_in_their_order() {
        for scope in command::scopes() {
            for command in scope.lists.into_iter().flatten() {
                assert_eq!(Keymap::default().bindings(command), command.bindings, "{}", command.name);
            }
        }
        assert_eq!(Keymap::default().clash(), None);
    }

    #[test]
    fn keys_of_several_actions_alternate() {
        let mut keymap = Keymap::default();
        keymap.bind(Action::Down, vec![char('n'), control('n'), char('s')]);
        keymap.bind(Action::Up, vec![char('p')]);
        let keys: Vec<String> = keymap.bindings(&MOVE).iter().map(|(key, _)| key.name()).collect();
        assert_eq!(keys, ["n", "p", "Ctrl-n", "s"]);
        assert_eq!(keymap.name(Action::Up), "p");
        keymap.bind(Action::Up, Vec::new());
        assert_eq!(keymap.name(Action::Up), "up");
    }

    #[test]
    fn one_key_for_two_actions_of_a_panel_is_a_clash_and_a_swap_is_not() {
        let mut keymap = Keymap::default();
        keymap.bind(Action::Control(Request::Cancel), vec![char('j')]);
        let clash = keymap.clash().expect("j moves");
        assert_eq!((clash.key, clash.actions), (char('j'), [Action::Down, Action::Control(Request::Cancel)]));
        assert!(clash.free.contains(&'y') && !clash.free.contains(&'j'));
        keymap.bind(Action::Control(Request::Cancel), vec![char('q')]);
        assert!(keymap.clash().is_some());
        keymap.bind(Action::Quit, vec![char('x'), control('c')]);
        assert_eq!(keymap.clash(), None);
    }
}
