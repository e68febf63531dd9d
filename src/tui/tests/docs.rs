//! The keys in the documentation agree with the commands.

use std::fs;
use std::path::Path;

use crate::tui::commands::{self, Command, typing};
use crate::tui::key::{Key, Keymap};

const BEGIN: &str = "<!-- keys: written by the test that compares them -->\n";
const END: &str = "<!-- end of keys -->";

/// The commands of text fields, which have fixed keys.
const FIELDS: [(&str, &[Command]); 6] = [
    ("Typing a filter", typing::FILTER),
    ("Typing a value", typing::VALUE),
    ("Typing a file's name", typing::FILE_NAME),
    ("Typing a search or a note", typing::OF_RUNS),
    ("Typing a profile's name", typing::PROFILE_NAME),
    ("Typing", typing::FIELD),
];

/// The table, generated from the lists that dispatch the keys.
fn table() -> String {
    let mut text =
        String::from("\n| where | keys | what they do | names in the configuration |\n|---|---|---|---|\n");
    let mut last = "";
    let fields = FIELDS.iter().flat_map(|(title, list)| list.iter().map(move |c| (*title, c)));
    for (title, command) in commands::listed().into_iter().chain(fields) {
        let bindings = command.bindings(&Keymap::default());
        let keys: Vec<String> = bindings.iter().map(|(key, _)| key_cell(*key)).collect();
        let fixed = FIELDS.iter().any(|(field, _)| *field == title);
        let names: Vec<String> = match fixed {
            true => vec!["fixed".to_owned()],
            false => command.actions.iter().map(|action| format!("`{}`", action.name)).collect(),
        };
        let place = if title == last { "" } else { title };
        text += &format!("| {place} | {} | {} | {} |\n", keys.join(" "), command.help, names.join(" "));
        last = title;
    }
    text + "\n"
}

fn key_cell(key: Key) -> String {
    format!("`{}`", key.name().replace('|', "\\|"))
}

/// `SCATTERLAB_WRITE_DOCS=1 cargo test tui::tests::docs` writes the table.
#[test]
fn the_table_of_keys_agrees_with_the_commands() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/tui.md");
    let text = fs::read_to_string(&path).expect("docs/tui.md");
    let (before, rest) = text.split_once(BEGIN).expect("the beginning of the table");
    let (found, after) = rest.split_once(END).expect("the end of the table");
    let wanted = table();
    if std::env::var_os("SCATTERLAB_WRITE_DOCS").is_some() {
        return fs::write(&path, format!("{before}{BEGIN}{wanted}{END}{after}")).expect("written");
    }
    assert_eq!(found, wanted, "SCATTERLAB_WRITE_DOCS=1 cargo test tui::tests::docs writes it");
}
