//! Keys as they are typed, written in the configuration, and shown on the screen.

use std::collections::BTreeMap;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::theme::Theme;

/// A key with its modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    code: KeyCode,
    control: bool,
    alt: bool,
}

/// The keys that a configuration gives to actions in place of the default ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keymap(BTreeMap<&'static str, Vec<Key>>);

impl Keymap {
    /// Binds the action of this name to exactly these keys, in every command with that action.
    pub fn bind(&mut self, action: &'static str, keys: Vec<Key>) {
        self.0.insert(action, keys);
    }

    /// The keys that replace an action's default keys.
    pub fn replaced(&self, action: &str) -> Option<&[Key]> {
        self.0.get(action).map(Vec::as_slice)
    }
}

/// Keys that are not characters. The first name of a key is the one shown on the screen.
const NAMES: &[(&str, KeyCode)] = &[
    ("Tab", KeyCode::Tab),
    ("Shift-Tab", KeyCode::BackTab),
    ("Enter", KeyCode::Enter),
    ("Esc", KeyCode::Esc),
    ("Space", KeyCode::Char(' ')),
    ("Up", KeyCode::Up),
    ("Down", KeyCode::Down),
    ("Left", KeyCode::Left),
    ("Right", KeyCode::Right),
    ("PgUp", KeyCode::PageUp),
    ("PgDn", KeyCode::PageDown),
    ("Home", KeyCode::Home),
    ("End", KeyCode::End),
    ("Insert", KeyCode::Insert),
    ("Delete", KeyCode::Delete),
    ("Backspace", KeyCode::Backspace),
    ("Escape", KeyCode::Esc),
    ("Return", KeyCode::Enter),
    ("BackTab", KeyCode::BackTab),
    ("PageUp", KeyCode::PageUp),
    ("PageDown", KeyCode::PageDown),
];

/// The key names that a configuration accepts.
pub const ACCEPTED: &str = "one character, Tab, Shift-Tab, Enter, Esc, Space, Up, Down, Left, Right, PgUp, \
    PgDn, Home, End, Insert, Delete, Backspace, F1 to F12, each with ctrl- or alt- before it where a \
    terminal can tell them apart";

impl Key {
    /// Whether `event` is this key. Shift is ignored, because characters already include it.
    pub fn matches(self, event: KeyEvent) -> bool {
        let with = |modifier| event.modifiers.contains(modifier);
        self.code == event.code
            && self.control == with(KeyModifiers::CONTROL)
            && self.alt == with(KeyModifiers::ALT)
    }

    /// Parses the name of a key: `x`, `G`, `ctrl-n`, `alt-x`, `Tab`, `PgUp`, `F5`. Names are case-insensitive,
    /// characters are not.
    ///
    /// # Errors
    /// The reason why no terminal can send such a key, without the list of accepted names.
    pub fn parse(text: &str) -> Result<Key, String> {
        let (control, alt, rest) = modifiers(text);
        let code = code(rest).ok_or_else(|| format!("`{}` is not a key", crate::case::units::shown(text)))?;
        let key = Key { code, control, alt };
        if !control {
            return Ok(key);
        }
        match code {
            KeyCode::Char(c) => key.with_control(c, text),
            KeyCode::Tab | KeyCode::BackTab | KeyCode::Enter | KeyCode::Esc | KeyCode::Backspace => {
                Err(format!("a terminal cannot tell `{text}` from the key without ctrl-"))
            }
            _ => Ok(key),
        }
    }

    /// Adds the control key to a character. A terminal sends one byte for the combination, so letters have no
    /// case, and some combinations are other keys.
    fn with_control(self, c: char, text: &str) -> Result<Key, String> {
        match c.to_ascii_lowercase() {
            'i' => Err(format!("a terminal sends `{text}` as Tab")),
            'm' => Err(format!("a terminal sends `{text}` as Enter")),
            '[' => Err(format!("a terminal sends `{text}` as Esc")),
            c @ ('a'..='z' | ' ' | '4'..='7') => Ok(Key { code: KeyCode::Char(c), ..self }),
            _ => Err(format!("a terminal has no byte for `{text}`")),
        }
    }

    /// The key's name, as [`parse`](Self::parse) reads it.
    pub fn name(self) -> String {
        let named = NAMES.iter().find(|(_, code)| *code == self.code).map(|(name, _)| (*name).to_owned());
        let name = named.unwrap_or_else(|| match self.code {
            KeyCode::Char(c) => c.to_string(),
            other => other.to_string(),
        });
        let control = if self.control { "Ctrl-" } else { "" };
        let alt = if self.alt { "Alt-" } else { "" };
        format!("{control}{alt}{name}")
    }

    /// The key's name on the screen.
    pub fn label(self, theme: Theme) -> String {
        match (self.code, self.control || self.alt) {
            (KeyCode::Up, false) => theme.symbol("↑", "Up").to_owned(),
            (KeyCode::Down, false) => theme.symbol("↓", "Down").to_owned(),
            (KeyCode::Left, false) => theme.symbol("←", "Left").to_owned(),
            (KeyCode::Right, false) => theme.symbol("→", "Right").to_owned(),
            _ => self.name(),
        }
    }

    /// The key's letter, if the key has no modifier.
    pub fn letter(self) -> Option<char> {
        match self.code {
            KeyCode::Char(c) if !self.control && !self.alt => Some(c),
            _ => None,
        }
    }
}

fn modifiers(text: &str) -> (bool, bool, &str) {
    let (mut control, mut alt, mut rest) = (false, false, text);
    // A prefix with nothing after it is a character, not a prefix.
    while let Some((word, tail)) = rest.split_once('-').filter(|(_, tail)| !tail.is_empty()) {
        match word.to_ascii_lowercase().as_str() {
            "ctrl" if !control => control = true,
            "alt" if !alt => alt = true,
            _ => break,
        }
        rest = tail;
    }
    (control, alt, rest)
}

fn code(name: &str) -> Option<KeyCode> {
    let mut characters = name.chars();
    if let (Some(c), None) = (characters.next(), characters.next()) {
        return (!c.is_control()).then_some(KeyCode::Char(c));
    }
    if let Some((_, code)) = NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
        return Some(*code);
    }
    let number = name.strip_prefix(['F', 'f'])?.parse().ok()?;
    (1..=12).contains(&number).then_some(KeyCode::F(number))
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// The key of a character.
    pub fn char(c: char) -> Key {
        Key { code: KeyCode::Char(c), control: false, alt: false }
    }

    /// The key of a character with the control key held.
    pub fn control(c: char) -> Key {
        Key { code: KeyCode::Char(c), control: true, alt: false }
    }

    /// A key that is not a character.
    pub fn key(code: KeyCode) -> Key {
        Key { code, control: false, alt: false }
    }

    #[test]
    fn names_are_read_as_they_are_written() {
        let table = [
            ("x", char('x')),
            ("G", char('G')),
            ("-", char('-')),
            ("?", char('?')),
            ("Space", char(' ')),
            ("ctrl-n", control('n')),
            ("Ctrl-N", control('n')),
            ("tab", key(KeyCode::Tab)),
            ("shift-tab", key(KeyCode::BackTab)),
            ("PageUp", key(KeyCode::PageUp)),
            ("f5", key(KeyCode::F(5))),
            ("alt-x", Key { alt: true, ..char('x') }),
            ("ctrl-Left", Key { control: true, ..key(KeyCode::Left) }),
        ];
        for (text, wanted) in table {
            assert_eq!(Key::parse(text), Ok(wanted), "{text}");
            assert_eq!(Key::parse(&wanted.name()), Ok(wanted), "{}", wanted.name());
        }
    }

    #[test]
    fn what_a_terminal_cannot_send_is_refused() {
        for text in [
            "", "xy", "ctrl-", "hyper-x", "F13", "F0", "ctrl-i", "Ctrl-M", "ctrl-[", "ctrl-ä", "ctrl-Tab",
            "\n",
        ] {
            assert!(Key::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn shift_does_not_count_and_the_others_do() {
        let event = |modifiers| KeyEvent::new(KeyCode::Char('G'), modifiers);
        assert!(char('G').matches(event(KeyModifiers::SHIFT)));
        assert!(!char('G').matches(event(KeyModifiers::ALT)));
        assert!(!char('G').matches(event(KeyModifiers::CONTROL)));
        assert!(Key { alt: true, ..char('G') }.matches(event(KeyModifiers::ALT)));
    }
}
