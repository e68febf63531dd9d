//! JSON values that know their places in the text.
//!
//! serde_json reports no places, but `RawValue` borrows a value's text from the whole text, so the offset of
//! the one within the other is the value's place.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::Refused;
use crate::case::units::{escaped, shown};

/// A file's name and text.
#[derive(Clone, Copy, Debug)]
pub struct Source<'t> {
    pub file: &'t str,
    pub text: &'t str,
    /// The place last asked for. Every value of a suite is asked for its place in order, so counting resumes
    /// from here.
    pub last: &'t Cell<Mark>,
}

/// A place in a text: offset in bytes, number of preceding lines, and characters before it on its line.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mark {
    offset: usize,
    lines: usize,
    characters: usize,
}

impl Mark {
    /// The place after a piece of text that begins here.
    fn after(self, piece: &str) -> Mark {
        let offset = self.offset + piece.len();
        match piece.rsplit_once('\n') {
            None => Mark { offset, characters: self.characters + piece.chars().count(), ..self },
            Some((before, line)) => {
                let lines = self.lines + before.matches('\n').count() + 1;
                Mark { offset, lines, characters: line.chars().count() }
            }
        }
    }
}

/// A value in a text.
#[derive(Clone, Copy, Debug)]
pub struct Node<'t> {
    source: Source<'t>,
    /// A part of the source's text.
    raw: &'t str,
}

/// A number as Spatter reads it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number {
    pub value: i128,
    /// Whether a fractional part was dropped.
    pub cut: bool,
}

impl<'t> Source<'t> {
    /// Reads the whole text.
    ///
    /// # Errors
    /// The text is not JSON; the message gives the place.
    pub fn root(self) -> Result<Node<'t>, Refused> {
        let raw = serde_json::from_str::<&RawValue>(self.text).map_err(|error| {
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default();
            let (line, column) = (error.line(), error.column());
            Refused::usage(format!("{}:{line}:{column}: not JSON: {}", escaped(self.file), shown(message)))
        })?;
        Ok(Node { source: self, raw: raw.get() })
    }

    /// Line and column, from 1, of a part of the text.
    fn place(self, part: &str) -> (usize, usize) {
        let at = (part.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        let from = Some(self.last.get()).filter(|last| last.offset <= at).unwrap_or_default();
        let mark = from.after(self.text.get(from.offset..at).unwrap_or_default());
        self.last.set(mark);
        (mark.lines + 1, mark.characters + 1)
    }
}

impl<'t> Node<'t> {
    /// `suite.json:3:14`.
    pub fn place(&self) -> String {
        let (line, column) = self.source.place(self.raw);
        format!("{}:{line}:{column}", escaped(self.source.file))
    }

    /// Describes the value for a message.
    pub fn describe(&self) -> String {
        match self.raw.as_bytes().first() {
            Some(b'[') => "a list".to_owned(),
            Some(b'{') => "an object".to_owned(),
            Some(b'n') => "null".to_owned(),
            _ => format!("`{}`", shown(self.raw)),
        }
    }

    /// The items of a list.
    pub fn items(&self) -> Option<Vec<Node<'t>>> {
        let items = serde_json::from_str::<Vec<&RawValue>>(self.raw).ok()?;
        Some(items.into_iter().map(|raw| Node { raw: raw.get(), ..*self }).collect())
    }

    /// The number of items of a list with more than `most`: they are counted without being kept, because a text of some
    /// megabytes can hold millions.
    pub fn more_items_than(&self, most: usize) -> Option<usize> {
        let items = serde_json::from_str::<Vec<IgnoredAny>>(self.raw).ok()?;
        Some(items.len()).filter(|count| *count > most)
    }

    /// The entries of an object in order; each key with its place.
    pub fn entries(&self) -> Option<Vec<(String, Node<'t>, Node<'t>)>> {
        let mut deserializer = serde_json::Deserializer::from_str(self.raw);
        Entries(*self).deserialize(&mut deserializer).ok()
    }

    /// The text of a string.
    pub fn text(&self) -> Option<String> {
        serde_json::from_str(self.raw).ok()
    }

    /// A number without its fractional part.
    pub fn number(&self) -> Option<Number> {
        let number: serde_json::Number = serde_json::from_str(self.raw).ok()?;
        if let Some(value) = number.as_i128() {
            return Some(Number { value, cut: false });
        }
        let float = number.as_f64()?;
        // Too large a float saturates to the largest integer, which is out of range as well.
        Some(Number { value: float.trunc() as i128, cut: float.fract() != 0.0 })
    }
}

/// Reads an object's entries.
struct Entries<'t>(Node<'t>);

impl<'t> DeserializeSeed<'t> for Entries<'t> {
    type Value = Vec<(String, Node<'t>, Node<'t>)>;

    fn deserialize<D: Deserializer<'t>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'t> Visitor<'t> for Entries<'t> {
    type Value = Vec<(String, Node<'t>, Node<'t>)>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'t>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(key) = map.next_key::<&RawValue>()? {
            let key = Node { raw: key.get(), ..self.0 };
            let value = map.next_value::<&RawValue>()?;
            entries.push((key.text().unwrap_or_default(), key, Node { raw: value.get(), ..self.0 }));
        }
        Ok(entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(text: &str) -> Result<Node<'_>, String> {
        let last = Box::leak(Box::default());
        Source { file: "s.json", text, last }.root().map_err(|refused| refused.message)
    }

    #[test]
    fn every_value_and_key_knows_its_place() {
        let root = root("[\n {\"a\": 1,\n  \"µ\\n\": [2, \"x\"]}]").expect("JSON");
        let items = root.items().expect("a list");
        let entries = items[0].entries().expect("an object");
        let places: Vec<_> =
            entries.iter().map(|(name, key, value)| (name.as_str(), key.place(), value.place())).collect();
        let place = |place: &str| format!("s.json:{place}");
        assert_eq!(places, [("a", place("2:3"), place("2:8")), ("µ\n", place("3:3"), place("3:10"))]);
        let inner: Vec<String> = entries[1].2.items().expect("a list").iter().map(Node::place).collect();
        assert_eq!(inner, [place("3:11"), place("3:14")]);
        assert_eq!((entries[0].2.place(), root.place()), (place("2:8"), place("1:1")), "back again");
    }

    #[test]
    fn numbers_lose_what_is_behind_the_point() {
        let number = |text| root(text).expect("JSON").number();
        let whole = |value| Some(Number { value, cut: false });
        assert_eq!(number("10"), whole(10));
        assert_eq!(number("-3"), whole(-3));
        assert_eq!(number("1e6"), whole(1_000_000));
        assert_eq!(number("10.9"), Some(Number { value: 10, cut: true }));
        assert_eq!(number("18446744073709551615"), whole(u64::MAX.into()));
        assert_eq!(number("1e300"), whole(i128::MAX));
        assert_eq!(number("\"10\""), None);
        assert_eq!(number("true"), None);
    }

    #[test]
    fn what_is_no_json_has_a_place() {
        assert_eq!(root("[\n {\"a\": }]").expect_err("no JSON"), "s.json:2:8: not JSON: expected value");
        assert!(root("").expect_err("nothing").starts_with("s.json:1:0: not JSON: EOF"));
        assert!(root("[] []").expect_err("two").starts_with("s.json:1:4: not JSON: trailing characters"));
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        let _ = root(&deep).map(|node| node.items().map(|items| items.len()));
    }
}
