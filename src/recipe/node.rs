//! Step one: parses YAML text to a tree of nodes that remember their places.
//!
//! serde_yaml reports places only for errors, not for nodes. So nodes are numbered in reading order, and the
//! place of a node is found by reading the text again with a seed that fails at that number.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::error::{ErrorKind, Mistake, Place, RecipeError};
use super::flow::float;
use super::spelling;

/// How much is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Maximal length of the text, MiB.
    pub text: usize,
    /// Maximal number of nodes after aliases are expanded; a long text counts as several.
    pub nodes: usize,
}

impl Limits {
    /// For what users write: some texts take libyaml a time that grows faster than their length.
    pub const WRITTEN: Limits = Limits { text: 1, nodes: 200_000 };
    /// For what the program writes itself.
    pub const GENERATED: Limits = Limits { text: 32, nodes: 2_000_000 };
}

/// Maximal nesting depth of maps and lists.
const MAX_DEPTH: usize = 16;

/// A value as written in the YAML.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub place: Place,
    pub content: Content,
    /// A number as it is written, if [`flow`](super::flow::flow) would write its value otherwise: `3.10`, `0x10`.
    pub spelling: Option<Box<str>>,
}

/// The content of a node.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Content {
    Null,
    Bool(bool),
    Int(i128),
    Float(f64),
    Text(String),
    List(Vec<Node>),
    Map(Vec<(Key, Node)>),
}

/// A key of a map.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Key {
    pub place: Place,
    pub text: String,
}

impl Node {
    pub fn of(place: Place, content: Content) -> Node {
        Node { place, content, spelling: None }
    }

    /// A number or a text as it is written; `None` of anything else.
    pub fn written(&self) -> Option<Cow<'_, str>> {
        Some(match (&self.spelling, &self.content) {
            (Some(spelling), _) => Cow::Borrowed(spelling),
            (None, Content::Text(text)) => Cow::Borrowed(text),
            (None, Content::Int(number)) => Cow::Owned(number.to_string()),
            (None, Content::Float(number)) => Cow::Owned(float(*number)),
            _ => return None,
        })
    }

    /// A description of the value for messages.
    pub fn describe(&self) -> String {
        use crate::case::units::shown;
        let written = self.written().unwrap_or_default();
        match &self.content {
            Content::Null => "nothing".to_owned(),
            Content::Bool(b) => format!("the boolean `{b}` (quote it to make it a word)"),
            Content::Int(_) | Content::Float(_) => format!("the number `{}`", shown(&written)),
            Content::Text(_) => format!("`{}`", shown(&written)),
            Content::List(items) if items.is_empty() => "an empty list".to_owned(),
            Content::List(_) => "a list".to_owned(),
            Content::Map(_) => "a map".to_owned(),
        }
    }

    /// The entries of a map.
    pub fn map(&self, at: &str, expected: &str) -> Result<&[(Key, Node)], Mistake> {
        match &self.content {
            Content::Map(entries) => Ok(entries),
            _ => Err(Mistake::wrong_type(self.place, at, expected, self.describe())),
        }
    }

    /// The same node with all its places replaced.
    pub fn placed(mut self, place: Place) -> Node {
        self.place = place;
        match &mut self.content {
            Content::List(items) => items.iter_mut().for_each(|n| *n = std::mem::take(n).placed(place)),
            Content::Map(entries) => entries.iter_mut().for_each(|(k, n)| {
                k.place = place;
                *n = std::mem::take(n).placed(place);
            }),
            _ => {}
        }
        self
    }
}

impl Default for Node {
    fn default() -> Node {
        Node::of(Place::Nowhere, Content::Null)
    }
}

/// Reads one document that a user may have written.
///
/// # Errors
/// As for [`read_within`], with [`Limits::WRITTEN`].
pub(crate) fn read(origin: &str, text: &str) -> Result<Node, RecipeError> {
    read_within(origin, text, Limits::WRITTEN)
}

/// Reads one document within these limits.
///
/// # Errors
/// Text that is not YAML, tags, keys that are not plain words, repeated keys, more than one document, or more
/// than 16 levels or the limits.
pub(crate) fn read_within(origin: &str, text: &str, limits: Limits) -> Result<Node, RecipeError> {
    let fail = |place, problem| RecipeError { origin: origin.to_owned(), place, problem: Box::new(problem) };
    if text.len() > limits.text << 20 {
        return Err(fail(None, ErrorKind::Unsupported(format!("larger than {} MiB", limits.text))));
    }
    let text = without_mark(text);
    if let Some(place) = too_deep(text) {
        return Err(fail(Some(place), ErrorKind::Unsupported(nesting())));
    }
    let reader = Reader::new(None, limits.nodes);
    let seed = NodeSeed { reader: &reader, depth: 0 };
    let mut node = seed.deserialize(serde_yaml::Deserializer::from_str(text)).map_err(|error| {
        let place = error.location().map(|l| (l.line(), l.column()));
        match reader.complaint.take() {
            Some(complaint) => fail(place, ErrorKind::Unsupported(complaint)),
            None => yaml_error(origin, text, &error, place),
        }
    })?;
    spelling::keep(&mut node, text);
    no_duplicates(&node, "").map_err(|m| fail(locate_place(text, m.place), m.problem))?;
    Ok(node)
}

/// Line and column of a place in this text.
pub(crate) fn locate_place(text: &str, place: Place) -> Option<(usize, usize)> {
    let Place::Recipe(number) = place else { return None };
    locate(serde_yaml::Deserializer::from_str(without_mark(text)), number)
}

/// The text after a byte order mark, which libyaml would take for a document of its own.
pub(super) fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

fn locate(deserializer: serde_yaml::Deserializer<'_>, number: u32) -> Option<(usize, usize)> {
    // The text was within its limits when it was read.
    let reader = Reader::new(Some(number), Limits::GENERATED.nodes);
    let error = NodeSeed { reader: &reader, depth: 0 }.deserialize(deserializer).err()?;
    error.location().map(|l| (l.line(), l.column()))
}

fn yaml_error(
    origin: &str,
    text: &str,
    error: &serde_yaml::Error,
    place: Option<(usize, usize)>,
) -> RecipeError {
    let message = error.to_string();
    if message.contains("more than one document") {
        let second = serde_yaml::Deserializer::from_str(text).nth(1).and_then(|d| locate(d, 0));
        let problem = ErrorKind::Unsupported("holds more than one YAML document".to_owned());
        return RecipeError { origin: origin.to_owned(), place: second, problem: Box::new(problem) };
    }
    // libyaml does not say where.
    let control = || text.find(|c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{85}'));
    let place = match message.contains("control characters") {
        true => control().map(|at| line_and_column(text, at)).or(place),
        false => place,
    };
    let cut = [" at line ", " at position ", ", while "].iter().filter_map(|s| message.find(s)).min();
    let message = crate::case::units::shown(&message[..cut.unwrap_or(message.len())]);
    let cause = CAUSES.iter().find(|(words, _)| message.contains(words));
    let message = cause.map_or(message.clone(), |(_, question)| format!("{message} ({question})"));
    RecipeError { origin: origin.to_owned(), place, problem: Box::new(ErrorKind::Syntax(message)) }
}

/// What libyaml says, and the mistake that usually causes it.
const CAUSES: [(&str, &str); 6] = [
    ("did not find expected key", "is this line indented like those before it?"),
    ("did not find expected '-' indicator", "are the items of the list indented alike?"),
    ("did not find expected ',' or", "is a bracket still open, or a comma missing?"),
    ("mapping values are not allowed", "is the indentation right? a value that contains `: ` needs quotes"),
    ("could not find expected ':'", "does the key lack its colon?"),
    (
        "cannot start any token",
        "indent with spaces, not tabs; a value that begins with @, ` or % needs quotes",
    ),
];

/// Line and column, counted from 1, of the byte at `at`.
fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..at];
    let line = before.rfind('\n').map_or(before, |end| &before[end + 1..]);
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}

/// The first bracket that is certainly nested too deeply. libyaml's time grows with the square of the depth
/// of brackets, so they are counted beforehand. Brackets in quotes and comments count too; the limit leaves
/// room for them.
fn too_deep(text: &str) -> Option<(usize, usize)> {
    const BRACKETS: i64 = 256;
    let mut open = 0i64;
    for (number, line) in text.lines().enumerate() {
        for (column, c) in line.chars().enumerate() {
            match c {
                '[' | '{' => open += 1,
                ']' | '}' => open = (open - 1).max(0),
                _ => {}
            }
            if open > BRACKETS {
                return Some((number + 1, column + 1));
            }
        }
    }
    None
}

fn nesting() -> String {
    format!("nested deeper than {MAX_DEPTH} levels")
}

fn no_duplicates(node: &Node, at: &str) -> Result<(), Mistake> {
    match &node.content {
        Content::List(items) => items.iter().try_for_each(|item| no_duplicates(item, at)),
        Content::Map(entries) => {
            let mut seen = std::collections::HashSet::new();
            for (key, value) in entries {
                if !seen.insert(key.text.as_str()) {
                    let at = if at.is_empty() { "the recipe" } else { at }.to_owned();
                    return Err(Mistake::new(
                        key.place,
                        ErrorKind::DuplicateKey { key: key.text.clone(), at },
                    ));
                }
                let below = if at.is_empty() { key.text.clone() } else { format!("{at}.{}", key.text) };
                no_duplicates(value, &below)?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Numbers the nodes, enforces the limits, and fails at the node that is looked for.
struct Reader {
    next: Cell<u32>,
    weight: Cell<usize>,
    most: usize,
    stop_at: Option<u32>,
    complaint: RefCell<Option<String>>,
}

impl Reader {
    fn new(stop_at: Option<u32>, most: usize) -> Reader {
        Reader { next: Cell::new(0), weight: Cell::new(0), most, stop_at, complaint: RefCell::new(None) }
    }

    fn complain<E: de::Error>(&self, message: impl Into<String>) -> E {
        let message = message.into();
        let error = E::custom(&message);
        self.complaint.replace(Some(message));
        error
    }

    /// The next number, for a node that holds `bytes` of text.
    fn enter<E: de::Error>(&self, bytes: usize) -> Result<Place, E> {
        let number = self.next.get();
        self.next.set(number + 1);
        self.weight.set(self.weight.get() + 1 + bytes / 64);
        if self.stop_at == Some(number) {
            return Err(E::custom("here"));
        }
        if self.weight.get() > self.most {
            return Err(self.complain(format!("more than {} values with its aliases followed", self.most)));
        }
        Ok(Place::Recipe(number))
    }
}

#[derive(Clone, Copy)]
struct NodeSeed<'r> {
    reader: &'r Reader,
    depth: usize,
}

impl NodeSeed<'_> {
    fn scalar<E: de::Error>(self, content: Content) -> Result<Node, E> {
        let bytes = if let Content::Text(text) = &content { text.len() } else { 0 };
        Ok(Node::of(self.reader.enter(bytes)?, content))
    }

    fn below<E: de::Error>(self) -> Result<Self, E> {
        if self.depth >= MAX_DEPTH {
            return Err(self.reader.complain(nesting()));
        }
        Ok(NodeSeed { depth: self.depth + 1, ..self })
    }
}

impl<'de> DeserializeSeed<'de> for NodeSeed<'_> {
    type Value = Node;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for NodeSeed<'_> {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a value")
    }
    fn visit_unit<E: de::Error>(self) -> Result<Node, E> {
        self.scalar(Content::Null)
    }
    fn visit_none<E: de::Error>(self) -> Result<Node, E> {
        self.scalar(Content::Null)
    }
    fn visit_bool<E: de::Error>(self, v: bool) -> Result<Node, E> {
        self.scalar(Content::Bool(v))
    }
    fn visit_u64<E: de::Error>(self, v: u64) -> Result<Node, E> {
        self.scalar(Content::Int(v.into()))
    }
    fn visit_i64<E: de::Error>(self, v: i64) -> Result<Node, E> {
        self.scalar(Content::Int(v.into()))
    }
    fn visit_i128<E: de::Error>(self, v: i128) -> Result<Node, E> {
        self.scalar(Content::Int(v))
    }
    fn visit_u128<E: de::Error>(self, v: u128) -> Result<Node, E> {
        self.scalar(i128::try_from(v).map_or(Content::Float(v as f64), Content::Int))
    }
    fn visit_f64<E: de::Error>(self, v: f64) -> Result<Node, E> {
        self.scalar(Content::Float(v))
    }
    fn visit_str<E: de::Error>(self, v: &str) -> Result<Node, E> {
        self.scalar(Content::Text(v.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Node, A::Error> {
        let place = self.reader.enter(0)?;
        let below = self.below()?;
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(below)? {
            items.push(item);
        }
        Ok(Node::of(place, Content::List(items)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let place = self.reader.enter(0)?;
        let below = self.below()?;
        let mut entries = Vec::new();
        while let Some(key) = map.next_key_seed(KeySeed(self.reader))? {
            entries.push((key, map.next_value_seed(below)?));
        }
        Ok(Node::of(place, Content::Map(entries)))
    }

    fn visit_enum<A: de::EnumAccess<'de>>(self, _: A) -> Result<Node, A::Error> {
        Err(self.reader.complain("YAML tags (`!name`) are not part of the recipe language"))
    }
}

struct KeySeed<'r>(&'r Reader);

impl KeySeed<'_> {
    fn key<E: de::Error>(self, text: String) -> Result<Key, E> {
        Ok(Key { place: self.0.enter(text.len())?, text })
    }

    fn refuse<E: de::Error>(self) -> E {
        self.0.complain("a key must be a plain word")
    }
}

impl<'de> DeserializeSeed<'de> for KeySeed<'_> {
    type Value = Key;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Key, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for KeySeed<'_> {
    type Value = Key;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a key")
    }
    fn visit_unit<E: de::Error>(self) -> Result<Key, E> {
        Err(self.refuse())
    }
    fn visit_bool<E: de::Error>(self, v: bool) -> Result<Key, E> {
        self.key(v.to_string())
    }
    fn visit_u64<E: de::Error>(self, v: u64) -> Result<Key, E> {
        self.key(v.to_string())
    }
    fn visit_i64<E: de::Error>(self, v: i64) -> Result<Key, E> {
        self.key(v.to_string())
    }
    fn visit_i128<E: de::Error>(self, v: i128) -> Result<Key, E> {
        self.key(v.to_string())
    }
    fn visit_u128<E: de::Error>(self, v: u128) -> Result<Key, E> {
        self.key(v.to_string())
    }
    fn visit_f64<E: de::Error>(self, v: f64) -> Result<Key, E> {
        self.key(v.to_string())
    }
    fn visit_str<E: de::Error>(self, v: &str) -> Result<Key, E> {
        self.key(v.to_owned())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<Key, A::Error> {
        Err(self.refuse())
    }
    fn visit_map<A: MapAccess<'de>>(self, _: A) -> Result<Key, A::Error> {
        Err(self.refuse())
    }
    fn visit_enum<A: de::EnumAccess<'de>>(self, _: A) -> Result<Key, A::Error> {
        Err(self.refuse())
    }
}

/// Rejects keys other than `accepted`.
pub(crate) fn only(entries: &[(Key, Node)], at: &str, accepted: &[&str]) -> Result<(), Mistake> {
    match entries.iter().find(|(k, _)| !accepted.contains(&k.text.as_str())) {
        Some((key, _)) => Err(Mistake::unknown_key(key.place, at, &key.text, accepted)),
        None => Ok(()),
    }
}
