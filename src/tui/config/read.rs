//! Converts the text of a configuration to its settings. The recipe's parser reads the text, so that mistakes
//! have their places.

use super::Config;
use crate::recipe::{Content, ErrorKind, Key as Word, Mistake, Node, Place, RecipeError, locate_place, read};
use crate::tui::commands::everywhere::{CLOSE_HELP, QUIT};
use crate::tui::commands::{self, Action, Scope};
use crate::tui::key::{ACCEPTED, Key, Keymap};
use crate::tui::theme::{Symbols, ThemeChoice};

/// The keys at the top level.
const SETTINGS: [&str; 4] = ["theme", "symbols", "mouse", "keys"];

pub(super) const THEMES: [(&str, ThemeChoice); 4] = [
    ("auto", ThemeChoice::Auto),
    ("dark", ThemeChoice::Dark),
    ("light", ThemeChoice::Light),
    ("mono", ThemeChoice::Mono),
];

pub(super) const SYMBOLS: [(&str, Symbols); 3] =
    [("auto", Symbols::Auto), ("unicode", Symbols::Unicode), ("ascii", Symbols::Ascii)];

/// Reads a configuration; messages name `origin`.
///
/// # Errors
/// The first mistake, in one line with its place, the key and the accepted values.
pub fn parse(origin: &str, text: &str) -> Result<Config, RecipeError> {
    let root = read(origin, text).map_err(of_the_configuration)?;
    interpret(&root).map_err(|mistake| RecipeError {
        origin: origin.to_owned(),
        place: locate_place(text, mistake.place),
        problem: Box::new(mistake.problem),
    })
}

/// The recipe's parser refers to its input as a recipe; renames that in its messages.
fn of_the_configuration(mut error: RecipeError) -> RecipeError {
    match &mut *error.problem {
        ErrorKind::DuplicateKey { at, .. } if at == "the recipe" => *at = "the configuration".to_owned(),
        ErrorKind::Unsupported(what) => *what = what.replace("the recipe language", "the configuration"),
        _ => {}
    }
    error
}

fn interpret(root: &Node) -> Result<Config, Mistake> {
    let mut config = Config::default();
    for (key, node) in entries(root, "the configuration")? {
        match key.text.as_str() {
            "theme" => config.theme = one_of(node, "theme", &THEMES)?,
            "symbols" => config.symbols = one_of(node, "symbols", &SYMBOLS)?,
            "mouse" => config.mouse = truth(node, "mouse")?,
            "keys" => keys(node, &mut config)?,
            other => return Err(Mistake::unknown_key(key.place, "the configuration", other, &SETTINGS)),
        }
    }
    Ok(config)
}

/// The entries of a map; none if the file contains only comments.
fn entries<'a>(node: &'a Node, at: &str) -> Result<&'a [(Word, Node)], Mistake> {
    match node.content {
        Content::Null => Ok(&[]),
        _ => node.map(at, "a map of keys"),
    }
}

fn one_of<T: Copy>(node: &Node, at: &str, words: &[(&str, T)]) -> Result<T, Mistake> {
    let accepted: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
    let Content::Text(text) = &node.content else {
        let expected = format!("one of {}", accepted.join(", "));
        return Err(Mistake::wrong_type(node.place, at, &expected, node.describe()));
    };
    let found = words.iter().find(|(word, _)| word == text).map(|(_, value)| *value);
    found.ok_or_else(|| Mistake::unknown_word(node.place, at, text, &accepted))
}

fn truth(node: &Node, at: &str) -> Result<bool, Mistake> {
    match node.content {
        Content::Bool(truth) => Ok(truth),
        _ => Err(Mistake::wrong_type(node.place, at, "true or false", node.describe())),
    }
}

fn keys(node: &Node, config: &mut Config) -> Result<(), Mistake> {
    let actions = commands::actions();
    let names: Vec<&str> = actions.iter().map(|action| action.name).collect();
    let mut places = Vec::new();
    for (word, node) in entries(node, "keys")? {
        let action = actions.iter().copied().find(|action| action.name == word.text);
        let action = action.ok_or_else(|| Mistake::unknown_key(word.place, "keys", &word.text, &names))?;
        let bound = bound(action, node)?;
        config.keymap.bind(action.name, bound);
        places.push((action, word.place));
    }
    match clash(&config.keymap) {
        Some(clash) => Err(clashing(&clash, &places)),
        None => Ok(()),
    }
}

/// One key or a list of keys; an empty list leaves the action without a key.
fn bound(action: Action, node: &Node) -> Result<Vec<Key>, Mistake> {
    let at = format!("keys.{}", action.name);
    let keys = match &node.content {
        Content::List(items) => items.iter().map(|item| one(item, &at)).collect::<Result<Vec<_>, _>>()?,
        _ => vec![one(node, &at)?],
    };
    if keys.is_empty() && QUIT.is(&action) {
        return Err(Mistake::invalid(node.place, &at, format!("needs a key; accepted: {ACCEPTED}")));
    }
    Ok(keys)
}

fn one(node: &Node, at: &str) -> Result<Key, Mistake> {
    let text = match &node.content {
        Content::Text(text) => text.clone(),
        Content::Int(0..=9) => node.written().unwrap_or_default().into_owned(),
        _ => {
            let found = format!("{}; what YAML reads as something else needs quotes", node.describe());
            return Err(Mistake::wrong_type(node.place, at, "a key or a list of keys", found));
        }
    };
    let no_key = |reason: String| Mistake::invalid(node.place, at, format!("{reason}; accepted: {ACCEPTED}"));
    Key::parse(&text).map_err(no_key)
}

/// Reports the clash at the binding that comes last in the file.
fn clashing(clash: &Clash, places: &[(Action, Place)]) -> Mistake {
    let written = places.iter().rev().find(|(action, _)| clash.actions.contains(action));
    let (blamed, place) = written.copied().unwrap_or((clash.actions[1], Place::Nowhere));
    let other = clash.actions.iter().find(|action| **action != blamed).unwrap_or(&blamed);
    let free: Vec<String> = clash.free.iter().map(char::to_string).collect();
    let message = format!(
        "`{}` is already {} in {}; accepted: a free key such as {}, or another one for {}",
        clash.key.name(),
        other.name,
        clash.scope,
        free.join(" "),
        other.name
    );
    Mistake::new(place, ErrorKind::Invalid { at: format!("keys.{}", blamed.name), message })
}

/// Two actions on one key in the same scope.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Clash {
    pub key: Key,
    /// The more specific action comes first.
    pub actions: [Action; 2],
    /// Title of the panel in which the clash occurs.
    pub scope: &'static str,
    /// Letters that are free in that panel.
    pub free: Vec<char>,
}

/// The first key that has two meanings in one panel.
pub(super) fn clash(keymap: &Keymap) -> Option<Clash> {
    commands::scopes().into_iter().find_map(|scope| clash_in(keymap, &scope))
}

fn clash_in(keymap: &Keymap, scope: &Scope) -> Option<Clash> {
    let commands = scope.lists.iter().copied().flatten();
    let bindings: Vec<(Key, Action)> = commands.flat_map(|c| c.bindings(keymap)).collect();
    let twice = |(at, (key, action)): (usize, &(Key, Action))| {
        let (_, other) = bindings[..at].iter().find(|(k, a)| k == key && a != action)?;
        // In the help, closing it takes precedence over leaving the program.
        let closes = CLOSE_HELP.actions.contains(other) && QUIT.is(action);
        (!closes).then_some((*key, [*other, *action]))
    };
    let (key, actions) = bindings.iter().enumerate().find_map(twice)?;
    let taken = |c: &char| bindings.iter().any(|(key, _)| key.letter() == Some(*c));
    let free = ('a'..='z').filter(|c| !taken(c)).collect();
    Some(Clash { key, actions, scope: scope.title, free })
}
