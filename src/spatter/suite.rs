//! A suite: a JSON file with a list of configurations.

use std::cell::Cell;
use std::collections::BTreeMap;

use super::Refused;
use super::json::{Node, Source};
use super::options::{Given, Options};
use super::pattern::Written;
use super::table::{self, Kind, Opt};
use super::value::{self, LARGEST, Value};
use crate::case::units::shown;
use crate::primitives::pattern::LONGEST_PATTERN;
use crate::recipe::{MAX_CASES, Nearest};

/// The configurations of a suite, with notes for the user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Suite {
    pub configurations: Vec<Configuration>,
    /// Notes of one line each.
    pub notes: Vec<String>,
}

/// One configuration as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Configuration {
    /// The configuration's place, such as `suite.json:3:5`.
    pub place: String,
    pub options: Options,
    /// A remark about the first key that does not exist.
    pub unknown: Option<String>,
}

/// Keys that do not exist, and those that stand twice: for each a remark about the first one, and how many there are.
type Remarks = BTreeMap<(String, bool), (String, usize)>;

impl Suite {
    /// Reads a suite.
    ///
    /// # Errors
    /// The first mistake, with its place.
    pub fn read(file: &str, text: &str) -> Result<Suite, Refused> {
        let (text, last) = (text.strip_prefix('\u{feff}').unwrap_or(text), Cell::default());
        let root = Source { file, text, last: &last }.root()?;
        let expected =
            || wrong(&root, format!("expected a list of configurations, found {}", root.describe()));
        if let Some(count) = root.more_items_than(MAX_CASES) {
            let message = format!("{count} configurations are too many; accepted: at most {MAX_CASES}");
            return Err(wrong(&root, message));
        }
        let items = root.items().ok_or_else(expected)?;
        if items.is_empty() {
            return Err(wrong(&root, "the list holds no configuration".to_owned()));
        }
        let (mut suite, mut remarks) = (Suite::default(), Remarks::new());
        for item in items {
            suite.configurations.push(configuration(&item, &mut suite.notes, &mut remarks)?);
        }
        suite.notes.extend(remarks.into_values().map(|(remark, times)| match times {
            1 => remark,
            _ => format!("{remark}; it occurs {times} times"),
        }));
        Ok(suite)
    }
}

/// Whether a text is meant as a suite, well-formed or not: a list that begins with an object.
pub fn looks_like_a_suite(text: &str) -> bool {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).trim_start();
    text.strip_prefix('[').is_some_and(|rest| rest.trim_start().starts_with('{'))
}

fn configuration(
    node: &Node,
    notes: &mut Vec<String>,
    remarks: &mut Remarks,
) -> Result<Configuration, Refused> {
    let expected = || wrong(node, format!("expected an object of options, found {}", node.describe()));
    let (place, mut options, mut first) = (node.place(), Options::default(), None);
    let entries = node.entries().ok_or_else(expected)?;
    let last: BTreeMap<&str, usize> =
        (0..).zip(&entries).map(|(at, (name, ..))| (name.as_str(), at)).collect();
    for (at, (name, key, value)) in entries.iter().enumerate() {
        let mut remark = |again: bool, words: &dyn Fn() -> String| {
            remarks.entry((name.clone(), again)).or_insert_with(|| (words(), 0)).1 += 1;
        };
        let Some(option) = table::by_json(name) else {
            first = first.or_else(|| Some(ignored(name, key)));
            remark(false, &|| ignored(name, key));
            continue;
        };
        if last.get(name.as_str()) != Some(&at) {
            remark(true, &|| overridden(name, key));
            continue;
        }
        let called = format!("{}: {name}", value.place());
        let value = read(option, value, notes)?;
        options.0.push(Given { option, value, called });
    }
    Ok(Configuration { place, options, unknown: first })
}

/// Reads the value of a key according to the kind of its option.
fn read(option: &Opt, node: &Node, notes: &mut Vec<String>) -> Result<Value, Refused> {
    let name = option.json.unwrap_or_default();
    let is_list = matches!(option.kind, Kind::Pattern | Kind::Deltas);
    if let Some(count) = node.more_items_than(LONGEST_PATTERN).filter(|_| is_list) {
        let message = format!("{name}: {count} numbers are too many; accepted: at most {LONGEST_PATTERN}");
        return Err(wrong(node, message));
    }
    let number = |node: &Node, least: u64, notes: &mut Vec<String>| {
        let number =
            node.number().filter(|n| (i128::from(least)..=i128::from(LARGEST)).contains(&n.value))?;
        if number.cut {
            notes.push(format!(
                "{}: {name}: {} is cut to {}, as Spatter does",
                node.place(),
                node.describe(),
                number.value
            ));
        }
        u64::try_from(number.value).ok()
    };
    let mut list = |least| {
        let numbers: Option<Vec<u64>> = node.items()?.iter().map(|item| number(item, least, notes)).collect();
        numbers.filter(|numbers| !numbers.is_empty())
    };
    let value = match option.kind {
        Kind::Count(least) | Kind::Int(least) => number(node, least, notes).map(Value::Count),
        Kind::Seed | Kind::CountOr(_) => number(node, 0, notes).map(Value::Count),
        Kind::Deltas => list(0).map(value::deltas).or_else(|| number(node, 0, notes).map(Value::Count)),
        Kind::Pattern => match node.text() {
            Some(text) => Some(Value::Pattern(Written::Notation(text))),
            None => list(0).map(|indices| Value::Pattern(Written::List(indices))),
        },
        Kind::Word(words) => node.text().and_then(|text| value::word(words, &text)).map(Value::Word),
        Kind::Text => node.text().map(Value::Text),
        Kind::Flag | Kind::Switch => None,
    };
    value.ok_or_else(|| mistaken(option, node))
}

/// Where a list is accepted, the message names the invalid item.
fn mistaken(option: &Opt, node: &Node) -> Refused {
    let name = option.json.unwrap_or_default();
    let sound = |item: &Node| item.number().is_some_and(|n| (0..=i128::from(LARGEST)).contains(&n.value));
    let items = if matches!(option.kind, Kind::Pattern | Kind::Deltas) { node.items() } else { None };
    match items.and_then(|items| items.into_iter().find(|item| !sound(item))) {
        Some(item) => {
            let most = most(Kind::Count(0), &item);
            wrong(
                &item,
                format!("{name}: expected an integer of at least 0{most}, found {}", item.describe()),
            )
        }
        None => {
            let (expected, most) = (in_json(option.kind), most(option.kind, node));
            wrong(node, format!("{name}: expected {expected}{most}, found {}", found(node)))
        }
    }
}

/// What is added to the accepted values if the number is too large.
fn most(kind: Kind, node: &Node) -> String {
    value::at_most(kind, node.number().is_some_and(|number| number.value > i128::from(LARGEST)))
}

fn found(node: &Node) -> String {
    match node.items() {
        Some(items) if items.is_empty() => "an empty list".to_owned(),
        _ => node.describe(),
    }
}

/// Describes the accepted values in JSON terms.
fn in_json(kind: Kind) -> String {
    match kind {
        Kind::Deltas => "an integer of at least 0, or a list of them".to_owned(),
        Kind::Pattern => "a text such as \"UNIFORM:8:1\", or a list of indices".to_owned(),
        Kind::Seed => "an integer of at least 0".to_owned(),
        other => other.expected(),
    }
}

/// A remark about a key that stands once more behind this one.
fn overridden(name: &str, key: &Node) -> String {
    format!("{}: this `{name}` is overridden by a later one, as in Spatter", key.place())
}

/// A remark about a key that does not exist, and the one that may be meant.
fn ignored(name: &str, key: &Node) -> String {
    let option = table::OPTIONS.iter().find(|option| option.long == name);
    let nearest = match option.map(|option| option.json) {
        // An option such as `runs` is called `nruns` in a file.
        Some(Some(json)) => format!(" (did you mean `{json}`?)"),
        Some(None) => format!(" (--{name} is for the command line)"),
        None => Nearest::among(name, table::json_keys()).to_string(),
    };
    format!("{}: unknown key `{}` is ignored, as by Spatter{nearest}", key.place(), shown(name))
}

fn wrong(node: &Node, message: String) -> Refused {
    Refused::usage(format!("{}: {message}", node.place()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suite_is_told_from_other_json() {
        assert!(looks_like_a_suite(" [\n{\"pattern\": 3"));
        assert!(looks_like_a_suite("\u{feff}[{}]"));
        assert!(!looks_like_a_suite("{\"pattern\": []}"));
        assert!(!looks_like_a_suite("[1, 2]"));
        assert!(!looks_like_a_suite(""));
    }

    /// As nlohmann's JSON does, of which Spatter reads the result; what is overridden is not even looked at.
    #[test]
    fn the_last_of_several_equal_keys_counts() {
        let suite = |text: &str| Suite::read("s.json", text).expect("a suite");
        let read = suite(r#"[{"pattern": [0], "count": 16, "count": 32}]"#);
        assert_eq!(read.configurations[0].options.count(table::Key::Count), Some(32));
        assert_eq!(read.notes, ["s.json:1:19: this `count` is overridden by a later one, as in Spatter"]);
        let odd =
            suite(r#"[{"pattern": "UNIFORM:0:x", "delta": 2.5, "pattern": [8], "delta": 1, "delta": 4}]"#);
        assert_eq!(odd.configurations[0].options.count(table::Key::Delta), Some(4));
        assert_eq!(odd.notes.len(), 2, "{:?}", odd.notes);
        assert!(odd.notes[0].ends_with("as in Spatter; it occurs 2 times"), "{:?}", odd.notes);
        let escaped =
            suite(r#"[{"pattern": [0], "count": 1, "co\u0075nt": 2}, {"pattern": [0], "count": 3}]"#);
        assert_eq!(escaped.configurations[0].options.count(table::Key::Count), Some(2));
        assert_eq!(escaped.notes.len(), 1);
        let error =
            Suite::read("s.json", r#"[{"pattern": [0], "count": 1, "count": "x"}]"#).expect_err("refused");
        assert!(
            error.message.starts_with("s.json:1:40: count: expected an integer of at least 1"),
            "{}",
            error.message
        );
    }
}
