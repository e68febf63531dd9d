//! The moving picture of the README is of this program: its first frame lists these recipes and these keys. Otherwise
//! record it again, as `tests/support/record` says.

use super::fixture;
use crate::recipe::shipped::{Shipped, shipped};
use crate::tui::commands::{self, everywhere, recipes, runs};
use crate::tui::panel::Focus;
use crate::tui::recipes::{RecipeEntry, Recipes, Row};
use crate::tui::state::State;
use crate::tui::theme::Theme;

const RECORDING: &str = include_str!("../../../docs/recording.svg");
const AGAIN: &str = "cargo run -p scatterlab-tests --bin record docs/recording.keys docs/recording.svg target/release/scatterlab";

/// The rows of each frame that is not empty as texts, without the blanks between them.
fn frames() -> Vec<Vec<String>> {
    let after =
        |text: &'static str, begin: &str| text.split_once(begin).map(|(_, rest)| rest).unwrap_or_default();
    let definitions = RECORDING.lines().filter_map(|line| line.strip_prefix("<g id=\"r"));
    let text = |row: &'static str| {
        let runs = row.split("<text ").skip(1);
        let runs = runs.map(|run| after(run, ">").split("</text>").next().unwrap_or_default().trim());
        let text = runs.collect::<Vec<_>>().join(" ");
        text.replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&")
    };
    let rows: Vec<String> = definitions.map(text).collect();
    let frames = RECORDING.lines().filter(|line| line.starts_with("<g transform=\"translate("));
    let number = |used: &str| used.split('"').next().and_then(|number| number.parse::<usize>().ok());
    let row = |used: &str| Some(rows.get(number(used)?)?.clone());
    let frames = frames.map(|frame| frame.split("#r").skip(1).filter_map(row).collect::<Vec<String>>());
    frames.filter(|frame| !frame.is_empty()).collect()
}

fn shipped_recipes() -> Vec<RecipeEntry> {
    let entry = |recipe: &Shipped| RecipeEntry {
        group: recipe.path.split_once('/').map_or("", |(group, _)| group).to_owned(),
        path: recipe.path.to_owned(),
        title: String::new(),
        text: recipe.text.to_owned(),
        problem: None,
    };
    shipped().iter().map(entry).collect()
}

#[test]
fn its_recipes_are_those_that_come_with_the_program() {
    let frames = frames();
    let first = frames.first().expect("a frame");
    let entries = shipped_recipes();
    let recipes = Recipes::new(entries.clone());
    let name = |row: &Row| match row {
        Row::Group(name) => (*name).to_owned(),
        Row::Entry(index) => entries[*index].name().to_owned(),
    };
    // Beside the list, each row has what its width leaves of the preview.
    let listed = first.iter().skip(2).map(|row| row.trim_start_matches(['>', ' ']));
    let listed = listed.map(|row| row.split(['│', ' ']).next().unwrap_or_default());
    let listed: Vec<&str> = listed.take_while(|name| !name.is_empty() && *name != "Enter").collect();
    let expected: Vec<String> = recipes.rows().iter().map(name).take(listed.len()).collect();
    assert!(listed.len() > 20, "{first:?}");
    assert_eq!(listed, expected, "{AGAIN}");
    let count = format!("1/{}", shipped().len());
    let counts = |row: &String| row.starts_with('/') && row.split_whitespace().any(|word| word == count);
    assert!(frames.iter().flatten().any(counts), "{count}: {AGAIN}");
}

#[test]
fn its_keys_are_those_of_the_program() {
    let frames = frames();
    let state = State::new(Vec::new(), fixture::DEVICES.to_owned());
    let hint = |command: &commands::Command| {
        let bindings = command.bindings(&state.keymap);
        let keys = commands::labels(&bindings[..command.hinted.min(bindings.len())], Theme::PLAIN);
        format!("{keys} {}", command.name)
    };
    let bar = frames.first().and_then(|frame| frame.last()).expect("a row of hints");
    for command in
        [recipes::START, recipes::FILTER, everywhere::MOVE, recipes::EDIT, runs::BROWSE, everywhere::HELP]
    {
        assert!(bar.contains(&hint(&command)), "{} is not in {bar}: {AGAIN}", hint(&command));
    }
    let hints = commands::of(Focus::Recipes).iter().map(hint).filter(|hint| bar.contains(hint.as_str()));
    let places: Vec<Option<usize>> = hints.map(|hint| bar.find(&hint)).collect();
    assert!(places.is_sorted(), "the hints of {bar} stand in another order: {AGAIN}");
    for word in ["RUN ", "PAUSED", "DONE"] {
        assert!(frames.iter().flatten().any(|row| row.contains(word)), "no frame shows {word}: {AGAIN}");
    }
}
