//! The configuration in force, as a file that can be saved: settings that differ from the defaults as settings,
//! the others as comments.

use std::fmt::Write;
use std::path::Path;

use super::Config;
use super::read::{SYMBOLS, THEMES};
use crate::tui::commands;
use crate::tui::key::Key;

/// YAML that [`parse`](super::parse) reads as the same configuration. `place` is the path that the file is
/// looked for at, and `found` is whether it exists.
pub fn print(config: &Config, place: Option<&Path>, found: bool) -> String {
    let mut text = heading(place, found);
    let default = Config::default();
    text += "# Colours: auto (light if COLORFGBG says so, dark if not), dark, light, or mono (bold and\n\
             # reversed text only). NO_COLOR switches them off, whatever is set here.\n";
    setting(&mut text, "theme", word(&THEMES, config.theme), config.theme == default.theme);
    text += "\n# Symbols: auto (by the locale), unicode or ascii.\n";
    setting(&mut text, "symbols", word(&SYMBOLS, config.symbols), config.symbols == default.symbols);
    text += "\n# Clicks and the wheel. Selecting text in the terminal needs Shift while this is true.\n";
    setting(&mut text, "mouse", &config.mouse.to_string(), config.mouse == default.mouse);
    text += "\n# One key or a list of keys for each action; an empty list for none. Keys are characters,\n\
             # ctrl-x, alt-x, Tab, Shift-Tab, Enter, Esc, Space, Up, PgDn, Home, F5 and the like.\nkeys:\n";
    keys(&mut text, config);
    text
}

fn word<T: PartialEq>(words: &[(&'static str, T)], value: T) -> &'static str {
    words.iter().find(|(_, known)| *known == value).map_or("auto", |(word, _)| *word)
}

fn heading(place: Option<&Path>, found: bool) -> String {
    let Some(place) = place.map(|path| path.display()) else {
        return "# scatterlab looks for no configuration: neither XDG_CONFIG_HOME nor HOME is set.\n\n"
            .into();
    };
    match found {
        true => format!("# {place}\n# Lines with a # show the defaults.\n\n"),
        false => format!(
            "# {place} is not there: these are the defaults.\n\
             # Save this text there, and take the # off the lines that you change.\n\n"
        ),
    }
}

fn setting(text: &mut String, key: &str, value: &str, default: bool) {
    let sign = if default { "# " } else { "" };
    // Writing into a string does not fail.
    let _ = writeln!(text, "{sign}{key}: {value}");
}

fn keys(text: &mut String, config: &Config) {
    let mut seen = Vec::new();
    for (title, command) in commands::listed() {
        for action in command.actions {
            if seen.contains(action) {
                continue;
            }
            seen.push(*action);
            let replaced = config.keymap.replaced(action.name);
            let keys = replaced.map_or_else(|| action.own_keys(), <[Key]>::to_vec);
            let sign = if replaced.is_some() { "" } else { "# " };
            let setting = format!("  {sign}{}: {}", action.name, listed(&keys));
            let _ = writeln!(text, "{setting:<38} # {title}: {}", command.name);
        }
    }
}

fn listed(keys: &[Key]) -> String {
    let names: Vec<String> = keys.iter().map(|key| quoted(&key.name())).collect();
    match names.as_slice() {
        [one] => one.clone(),
        _ => format!("[{}]", names.join(", ")),
    }
}

/// A key's name, quoted if YAML would not read it as a string otherwise.
fn quoted(name: &str) -> String {
    match name {
        "\"" | "\\" => format!("'{name}'"),
        _ if name.chars().all(|c| c.is_ascii_alphabetic() || c == '-')
            && name != "-"
            && name != "y"
            && name != "n" =>
        {
            name.to_owned()
        }
        _ => format!("\"{name}\""),
    }
}
