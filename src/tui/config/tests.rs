//! Valid and invalid configurations.

use std::collections::HashMap;

use proptest::prelude::*;

use super::read::clash;
use super::*;
use crate::tui::commands::{self, everywhere::MOVE};
use crate::tui::key::Key;
use crate::tui::key::tests::{char, control};
use crate::tui::tests::named;

fn mistake(text: &str) -> String {
    let error = parse("c.yaml", text).expect_err("a mistake").to_string();
    assert!(!error.contains('\n'), "{error}");
    error
}

#[test]
fn an_empty_file_and_one_of_comments_are_the_defaults() {
    for text in ["", "\n", "# nothing\n", "keys:\n", "keys: {}\n", "keys:\n  # cancel: x\n"] {
        assert_eq!(parse("c.yaml", text), Ok(Config::default()), "{text:?}");
    }
}

#[test]
fn everything_can_be_set() {
    let text = "theme: light\nsymbols: ascii\nmouse: false\n\
        keys: {cancel: C, next-panel: [Tab, ctrl-n], line-1: [], follow: 1, help: [], suspend: \"ctrl-y\"}\n";
    let config = parse("c.yaml", text).expect("a configuration");
    assert_eq!((config.theme, config.symbols, config.mouse), (ThemeChoice::Light, Symbols::Ascii, false));
    let keys = |action| config.keymap.replaced(action).map(<[Key]>::to_vec);
    assert_eq!(keys("cancel"), Some(vec![char('C')]));
    assert_eq!(keys("next-panel").map(|keys| keys[1]), Some(control('n')));
    assert_eq!((keys("follow"), keys("help")), (Some(vec![char('1')]), Some(Vec::new())));
    assert_eq!(keys("quit"), None);
}

#[test]
fn mistakes_have_their_place_their_key_and_what_is_accepted() {
    let table = [
        ("theme: drak", "c.yaml:1:8: theme: unknown word `drak`; accepted: auto, dark, light, mono"),
        ("theme: 3", "c.yaml:1:8: theme: expected one of auto, dark, light, mono, found the number `3`"),
        (
            "\nmous: true",
            "c.yaml:2:1: unknown key `mous` in the configuration; accepted: theme, symbols, mouse, keys",
        ),
        ("mouse: on", "c.yaml:1:8: mouse: expected true or false, found `on`"),
        ("keys: 3", "c.yaml:1:7: keys: expected a map of keys, found the number `3`"),
        ("- a", "c.yaml:1:1: the configuration: expected a map of keys, found a list"),
        ("keys:\n  cancle: x", "c.yaml:2:3: unknown key `cancle` in keys; accepted: start, "),
        (
            "keys:\n  cancel: [x, hyper-x]",
            "c.yaml:2:15: keys.cancel: `hyper-x` is not a key; accepted: one character, Tab, ",
        ),
        ("keys:\n  cancel: ctrl-i", "c.yaml:2:11: keys.cancel: a terminal sends `ctrl-i` as Tab; accepted: "),
        (
            "keys:\n  cancel: ~",
            "c.yaml:2:11: keys.cancel: expected a key or a list of keys, found nothing; what YAML",
        ),
        ("keys:\n  quit: []", "c.yaml:2:9: keys.quit: needs a key; accepted: "),
        (
            "keys:\n  cancel: q",
            "c.yaml:2:3: keys.cancel: `q` is already quit in Recipes; accepted: a free key such as b d",
        ),
        ("keys:\n  up: z\n  cancel: z", "c.yaml:3:3: keys.cancel: `z` is already up in Recipes; "),
        ("keys:\n  up: z\n  up: u", "c.yaml:3:3: duplicate key `up` in keys"),
        ("mouse: true\nmouse: false", "c.yaml:2:1: duplicate key `mouse` in the configuration"),
        ("mouse: !no true", "c.yaml:1:8: YAML tags (`!name`) are not part of the configuration"),
        ("keys: [", "c.yaml:"),
    ];
    for (text, wanted) in table {
        let said = mistake(text);
        assert!(said.starts_with(wanted), "{text:?}:\n{said}\n{wanted}");
    }
    assert!(mistake("keys: {cancle: x}").contains("did you mean `cancel`?"));
}

#[test]
fn it_is_looked_for_where_the_user_keeps_such_files() {
    let path = |pairs: &[(&str, &str)]| {
        let pairs: HashMap<&str, &str> = pairs.iter().copied().collect();
        default_path(|key| pairs.get(key).map(Into::into)).map(|p| p.display().to_string())
    };
    let home = ("HOME", "/home/u");
    assert_eq!(path(&[home]).as_deref(), Some("/home/u/.config/scatterlab/config.yaml"));
    assert_eq!(path(&[home, ("XDG_CONFIG_HOME", "/x")]).as_deref(), Some("/x/scatterlab/config.yaml"));
    assert_eq!(path(&[home, ("XDG_CONFIG_HOME", "x")]), path(&[home]), "relative ones do not count");
    assert_eq!(path(&[]), None);
}

#[test]
fn a_file_that_was_asked_for_must_be_there() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("c.yaml");
    let error = format!("{:#}", load(Some(&path)).expect_err("not there"));
    assert!(error.contains("c.yaml") && !error.contains('\n'), "{error}");
    std::fs::write(&path, "mouse: false\n").expect("written");
    let (config, found) = load(Some(&path)).expect("read");
    assert_eq!((config.mouse, found), (false, Some(path)));
}

#[test]
fn every_action_has_a_name_of_its_own() {
    let mut names: Vec<&str> = commands::actions().iter().map(|action| action.name).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
    let plain = |name: &&str| name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    assert!(names.iter().all(plain), "{names:?}");
}

fn key() -> impl Strategy<Value = Key> {
    let characters = any::<char>().prop_filter("not a control character", |c| !c.is_control()).prop_map(char);
    let named = proptest::sample::select(vec![
        "Tab",
        "Shift-Tab",
        "PgUp",
        "F5",
        "ctrl-e",
        "alt-#",
        "Space",
        "0",
        "\"",
    ]);
    prop_oneof![characters, named.prop_map(|name| Key::parse(name).expect("a key"))]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Every configuration survives printing and parsing, with and without the `#` before its defaults.
    #[test]
    fn what_is_printed_is_read_as_the_same(
        bound in proptest::collection::vec((0usize..30, proptest::collection::vec(key(), 1..3)), 0..4),
        theme in proptest::sample::select(vec![ThemeChoice::Auto, ThemeChoice::Dark, ThemeChoice::Light, ThemeChoice::Mono]),
        mouse: bool,
    ) {
        let mut config = Config { theme, mouse, ..Config::default() };
        let actions = commands::actions();
        for (at, keys) in bound {
            config.keymap.bind(actions[at % actions.len()].name, keys);
        }
        prop_assume!(clash(&config.keymap).is_none());
        let text = print(&config, Some(Path::new("/c.yaml")), false);
        let read = parse("c.yaml", &text).map_err(|e| TestCaseError::fail(format!("{e}\n{text}")))?;
        prop_assert_eq!((read.theme, read.mouse), (config.theme, config.mouse));
        for action in actions {
            prop_assert_eq!(read.keymap.replaced(action.name), config.keymap.replaced(action.name));
        }
    }
}

#[test]
fn the_defaults_without_their_signs_are_the_defaults_too() {
    let text = print(&Config::default(), None, false);
    let settings: Vec<String> =
        text.lines()
            .map(|line| match line.trim_start().strip_prefix("# ") {
                Some(rest)
                    if rest.split(' ').next().is_some_and(|word| {
                        word.ends_with(':') && word != "Colours:" && word != "Symbols:"
                    }) =>
                {
                    line.replacen("# ", "", 1)
                }
                _ => line.to_owned(),
            })
            .collect();
    let read = parse("c.yaml", &settings.join("\n")).expect("a configuration");
    assert_eq!(clash(&read.keymap), None);
    // Overlays have fewer keys that quit.
    let over = ["Help", "Typing", "Export"];
    for (_, command) in commands::listed().into_iter().filter(|(title, _)| !over.contains(title)) {
        assert_eq!(command.bindings(&read.keymap), command.bindings(&Keymap::default()), "{}", command.name);
    }
}

#[test]
fn the_default_keys_are_keys_and_none_has_two_meanings() {
    for command in commands::scopes().into_iter().flat_map(|scope| scope.lists).flatten() {
        for action in command.actions {
            assert_eq!(action.own_keys().len(), action.keys.split(' ').count(), "{}", action.name);
        }
    }
    assert_eq!(clash(&Keymap::default()), None);
}

#[test]
fn keys_of_several_actions_alternate() {
    let mut keymap = Keymap::default();
    keymap.bind("down", vec![char('n'), control('n'), char('s')]);
    keymap.bind("up", vec![char('p')]);
    let keys: Vec<String> = MOVE.bindings(&keymap).iter().map(|(key, _)| key.name()).collect();
    assert_eq!(keys, ["n", "p", "Ctrl-n", "s"]);
    assert_eq!(named("up").key(&keymap), "p");
    keymap.bind("up", Vec::new());
    assert_eq!(named("up").key(&keymap), "up");
}

#[test]
fn one_key_for_two_actions_of_a_panel_is_a_clash_and_a_swap_is_not() {
    let mut keymap = Keymap::default();
    keymap.bind("cancel", vec![char('j')]);
    let found = clash(&keymap).expect("j moves");
    assert_eq!((found.key, found.actions), (char('j'), [named("down"), named("cancel")]));
    assert!(found.free.contains(&'y') && !found.free.contains(&'j'));
    keymap.bind("cancel", vec![char('q')]);
    assert!(clash(&keymap).is_some());
    keymap.bind("quit", vec![char('x'), control('c')]);
    assert_eq!(clash(&keymap), None);
}
