//! Step one: a tree of nodes that remember their places, of YAML text or of a value that is to be written as YAML.

use std::borrow::Cow;

use serde::Serialize;
use serde::de::DeserializeSeed;

use super::error::{ErrorKind, Mistake, Place, RecipeError};
use super::flow::float;
use super::seed::{NodeSeed, Reader};
use super::spelling;
use super::yaml::{self, Limits};

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
    let fail = |(place, problem)| RecipeError { origin: origin.to_owned(), place, problem };
    let mut node = yaml::node(text, limits).map_err(fail)?;
    spelling::keep(&mut node, text);
    no_duplicates(&node, "").map_err(|m| fail((locate_place(text, m.place), Box::new(m.problem))))?;
    Ok(node)
}

/// Line and column of a place in this text.
pub(crate) fn locate_place(text: &str, place: Place) -> Option<(usize, usize)> {
    let Place::Recipe(number) = place else { return None };
    yaml::locate(text, number)
}

/// The tree that a value is written as: maps in the order of its fields.
///
/// # Errors
/// More levels or nodes than [`read_within`] would read back, and maps whose keys are no words.
pub(crate) fn tree(value: &impl Serialize) -> anyhow::Result<Node> {
    let text = serde_json::to_string(value)?;
    let reader = Reader::new(None, Limits::GENERATED.nodes);
    Ok(NodeSeed::of(&reader).deserialize(&mut serde_json::Deserializer::from_str(&text))?)
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

/// Rejects keys other than `accepted`.
pub(crate) fn only(entries: &[(Key, Node)], at: &str, accepted: &[&str]) -> Result<(), Mistake> {
    match entries.iter().find(|(k, _)| !accepted.contains(&k.text.as_str())) {
        Some((key, _)) => Err(Mistake::unknown_key(key.place, at, &key.text, accepted)),
        None => Ok(()),
    }
}
