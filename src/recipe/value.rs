//! Reads the values of a parameter from one node, as its kind allows.

use std::borrow::Cow;
use std::collections::HashSet;

use super::error::{ErrorKind, Mistake, Place};
use super::node::{Content, Key, Node, only};
use super::range;
use crate::case::Value;
use crate::case::chart::Scale;
use crate::case::schema::Kind;
use crate::case::units::{UnitError, label_bytes, label_count, parse_bytes, parse_count};

/// Values with their places, and the scale if a single range gave all of them.
pub(crate) type Swept = (Vec<(Value, Place)>, Option<Scale>);

/// The values of a scalar, a range, or a list of both.
pub(crate) fn sweep(kind: &Kind, node: &Node, at: &str) -> Result<Swept, Mistake> {
    if let Kind::Indices { max_length } = kind {
        return Ok((index_lists(*max_length, node, at)?, None));
    }
    let items = match &node.content {
        Content::List(items) if !items.is_empty() => items.as_slice(),
        _ => std::slice::from_ref(node),
    };
    let mut values = Vec::new();
    let mut scale = None;
    let mut once = Once::default();
    for item in items {
        let (more, found) = one_or_range(kind, item, at)?;
        // Ranges may overlap: in `[1..8 +1, 8..64 x2]` each value is meant once.
        if let (None, [value]) = (found, more.as_slice()) {
            once.take(format!("{value:?}"), item.place, &item.describe(), at)?;
        }
        scale = found;
        values.extend(more.into_iter().map(|v| (v, item.place)));
        if values.len() > super::MAX_CASES {
            return Err(super::too_many(item.place, at));
        }
    }
    Ok((values, scale.filter(|_| items.len() == 1)))
}

/// Detects repeated items of a list. A repetition would be dropped silently and is probably a mistake.
#[derive(Default)]
pub(super) struct Once(HashSet<String>);

impl Once {
    /// Records an item by its canonical text `says`; `words` describe it in the error message.
    pub fn take(&mut self, says: String, place: Place, words: &str, at: &str) -> Result<(), Mistake> {
        match self.0.insert(says) {
            true => Ok(()),
            false => Err(Mistake::invalid(place, at, format!("{words} repeats an item of the list"))),
        }
    }
}

fn one_or_range(kind: &Kind, node: &Node, at: &str) -> Result<(Vec<Value>, Option<Scale>), Mistake> {
    match &node.content {
        Content::Text(text) if sweeps(kind) && range::is_range(text) => {
            let values = ranged(kind, text).map_err(|reason| {
                let problem = ErrorKind::Range { at: at.to_owned(), text: text.clone(), reason };
                Mistake::new(node.place, problem)
            })?;
            for value in &values.0 {
                within(kind, value, node, at)?;
            }
            Ok((values.0, Some(values.1)))
        }
        _ => Ok((vec![scalar(kind, node, at)?], None)),
    }
}

fn sweeps(kind: &Kind) -> bool {
    matches!(kind, Kind::Count { .. } | Kind::Bytes { .. } | Kind::Float { .. } | Kind::CountOr { .. })
}

fn ranged(kind: &Kind, text: &str) -> Result<(Vec<Value>, Scale), String> {
    let range = range::split(text)?;
    let values = match kind {
        Kind::Float { .. } => range.floats()?.into_iter().map(Value::Float).collect(),
        Kind::Bytes { .. } => range.integers(parse_bytes)?.into_iter().map(Value::Int).collect(),
        _ => range.integers(parse_count)?.into_iter().map(Value::Int).collect(),
    };
    Ok((values, range.scale))
}

/// One value of a kind that is neither a choice nor a list of indices.
pub(crate) fn scalar(kind: &Kind, node: &Node, at: &str) -> Result<Value, Mistake> {
    let value = match kind {
        Kind::Bytes { .. } => Value::Int(bytes(node, at)?),
        Kind::Float { .. } => Value::Float(float(node, at)?),
        Kind::Word(words) => Value::Text(word(node, at, words)?),
        Kind::Text => Value::Text(line(node, at)?),
        Kind::CountOr { words, list, .. } => return count_or(kind, words, *list, node, at),
        Kind::Count { .. } | Kind::Indices { .. } => Value::Int(count(node, at)?),
        Kind::Choice(variants) | Kind::Inline(variants) => {
            let names: Vec<&str> = variants.iter().map(|v| v.name).collect();
            Value::Text(word(node, at, &names)?)
        }
    };
    within(kind, &value, node, at)?;
    Ok(value)
}

fn count_or(kind: &Kind, words: &[&str], list: usize, node: &Node, at: &str) -> Result<Value, Mistake> {
    match &node.content {
        Content::Map(entries) if list > 0 => listed(kind, list, entries, node.place, at),
        Content::Text(text) if !text.starts_with(|c: char| c.is_ascii_digit()) => {
            let mut accepted = vec!["a count"];
            accepted.extend(words);
            match words.contains(&text.as_str()) {
                true => Ok(Value::Text(text.clone())),
                false => Err(Mistake::unknown_word(node.place, at, text, &accepted)),
            }
        }
        Content::Text(_) | Content::Int(_) => {
            let value = Value::Int(count(node, at)?);
            within(kind, &value, node, at)?;
            Ok(value)
        }
        _ => {
            let also = if list > 0 { " or a list as `{list: [8, 16]}`" } else { "" };
            let expected = format!("a count or one of {}{also}", words.join(", "));
            Err(Mistake::wrong_type(node.place, at, &expected, node.describe()))
        }
    }
}

/// `{list: [8, 8, 16]}`: a list of counts as a single value.
fn listed(
    kind: &Kind,
    longest: usize,
    entries: &[(Key, Node)],
    place: Place,
    at: &str,
) -> Result<Value, Mistake> {
    only(entries, at, &[LIST])?;
    let Some((_, node)) = entries.first() else {
        return Err(Mistake::missing_key(place, at, LIST));
    };
    let at = format!("{at}.{LIST}");
    let value = indices(longest, node, &at)?;
    if let Value::Indices(counts) = &value {
        counts.iter().try_for_each(|&count| within(kind, &Value::Int(count), node, &at))?;
    }
    Ok(value)
}

/// The key for a list of counts as a single value.
const LIST: &str = "list";

/// A text on one line; a number counts as text, as it is written.
fn line(node: &Node, at: &str) -> Result<String, Mistake> {
    match node.written() {
        Some(text) if !text.trim().is_empty() && !text.chars().any(char::is_control) => Ok(text.into_owned()),
        _ => Err(Mistake::wrong_type(node.place, at, "a text in one line", node.describe())),
    }
}

/// An integer, with or without a suffix.
pub(crate) fn count(node: &Node, at: &str) -> Result<u64, Mistake> {
    let overflow = |text: String| quantity(node, at, UnitError::Overflow { text });
    match &node.content {
        Content::Int(v) if *v < 0 => Err(Mistake::wrong_type(node.place, at, COUNT, node.describe())),
        Content::Int(v) => {
            u64::try_from(*v).map_err(|_| overflow(node.written().unwrap_or_default().into_owned()))
        }
        Content::Text(text) => parse_count(text).map_err(|e| quantity(node, at, e)),
        _ => Err(Mistake::wrong_type(node.place, at, COUNT, node.describe())),
    }
}

const COUNT: &str = "a count such as `4096` or `16Mi`";

fn bytes(node: &Node, at: &str) -> Result<u64, Mistake> {
    match &node.content {
        Content::Int(_) | Content::Text(_) => {
            parse_bytes(&node.written().unwrap_or_default()).map_err(|e| quantity(node, at, e))
        }
        _ => Err(Mistake::wrong_type(node.place, at, "a size such as `8B` or `128MiB`", node.describe())),
    }
}

fn quantity(node: &Node, at: &str, reason: UnitError) -> Mistake {
    Mistake::new(node.place, ErrorKind::Quantity { at: at.to_owned(), reason })
}

fn float(node: &Node, at: &str) -> Result<f64, Mistake> {
    match &node.content {
        Content::Int(v) => Ok(*v as f64),
        // Minus zero becomes zero: the two must not be different cases.
        Content::Float(v) if v.is_finite() => Ok(if *v == 0.0 { 0.0 } else { *v }),
        _ => Err(Mistake::wrong_type(node.place, at, "a number", node.describe())),
    }
}

fn word(node: &Node, at: &str, words: &[&str]) -> Result<String, Mistake> {
    match &node.content {
        Content::Text(text) if words.contains(&text.as_str()) => Ok(text.clone()),
        Content::Text(text) => Err(Mistake::unknown_word(node.place, at, text, words)),
        _ => {
            Err(Mistake::wrong_type(node.place, at, &format!("one of {}", words.join(", ")), node.describe()))
        }
    }
}

/// Checks a number of a node against the limits of its kind.
fn within(kind: &Kind, value: &Value, node: &Node, at: &str) -> Result<(), Mistake> {
    let (inside, shown, accepted) = match (kind, value) {
        (Kind::Count { min, max } | Kind::CountOr { min, max, .. }, Value::Int(v)) => {
            ((min..=max).contains(&v), label_count(*v), limits(*min, *max, label_count))
        }
        (Kind::Bytes { accepted: [], min, max }, Value::Int(v)) => {
            ((min..=max).contains(&v), label_bytes(*v), limits(*min, *max, label_bytes))
        }
        (Kind::Bytes { accepted, .. }, Value::Int(v)) => {
            let names: Vec<String> = accepted.iter().map(|v| label_bytes(*v)).collect();
            (accepted.contains(v), label_bytes(*v), names.join(", "))
        }
        (Kind::Float { min, max }, Value::Float(v)) => {
            ((min..=max).contains(&v), v.to_string(), format!("{min} to {max}"))
        }
        _ => return Ok(()),
    };
    if inside {
        return Ok(());
    }
    // A range holds more values than the one that is out of it.
    let written = node.written().filter(|written| !range::is_range(written));
    let value = crate::case::units::shown(&written.map_or(shown, Cow::into_owned));
    Err(Mistake::new(node.place, ErrorKind::OutOfRange { at: at.to_owned(), value, accepted }))
}

fn limits(min: u64, max: u64, label: fn(u64) -> String) -> String {
    match max {
        u64::MAX => format!("at least {}", label(min)),
        _ => format!("{} to {}", label(min), label(max)),
    }
}

/// `[0, 8]` is one list, `[[0], [8]]` two, `8` a list of one.
fn index_lists(max_length: usize, node: &Node, at: &str) -> Result<Vec<(Value, Place)>, Mistake> {
    match &node.content {
        Content::List(lists) if lists.first().is_some_and(|n| matches!(n.content, Content::List(_))) => {
            let mut once = Once::default();
            let one = |list: &Node| {
                let value = indices(max_length, list, at)?;
                once.take(value.to_string(), list.place, "this list", at)?;
                Ok((value, list.place))
            };
            lists.iter().map(one).collect()
        }
        _ => Ok(vec![(indices(max_length, node, at)?, node.place)]),
    }
}

fn indices(max_length: usize, node: &Node, at: &str) -> Result<Value, Mistake> {
    let items = match &node.content {
        Content::List(items) => items.as_slice(),
        Content::Int(_) | Content::Text(_) => std::slice::from_ref(node),
        _ => &[],
    };
    if items.is_empty() {
        return Err(Mistake::wrong_type(
            node.place,
            at,
            "a list of indices such as `[0, 8, 16]`",
            node.describe(),
        ));
    }
    if items.len() > max_length {
        let (value, accepted) =
            (format!("a list of {}", items.len()), format!("at most {max_length} indices"));
        return Err(Mistake::new(node.place, ErrorKind::OutOfRange { at: at.to_owned(), value, accepted }));
    }
    let indices: Vec<u64> = items.iter().map(|item| count(item, at)).collect::<Result<_, _>>()?;
    Ok(Value::Indices(indices.into()))
}
