//! Deserialises a tree of nodes with serde so that errors keep their place.

use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{
    self, DeserializeSeed, Deserializer, Expected, IntoDeserializer, MapAccess, SeqAccess, Unexpected,
    Visitor,
};
use serde::forward_to_deserialize_any;

use crate::recipe::{Content, Key, Mistake, Node, Place};

/// The name of the whole document in messages.
const WHOLE: &str = "the profile";

/// A node and its dotted path.
pub(super) struct Located<'n> {
    node: &'n Node,
    at: String,
}

impl<'n> Located<'n> {
    pub(super) fn whole(node: &'n Node) -> Located<'n> {
        Located { node, at: String::new() }
    }

    fn settled<T>(&self, result: Result<T, Wrong>) -> Result<T, Wrong> {
        result.map_err(|wrong| wrong.settle(self.node.place, &self.at, Some(self.node)))
    }
}

/// An error, which serde raises without a place.
#[derive(Debug)]
pub(super) enum Wrong {
    Loose(Loose),
    Placed(Mistake),
}

#[derive(Debug)]
pub(super) enum Loose {
    Said(String),
    Type(String),
    UnknownField(String, &'static [&'static str]),
    UnknownWord(String, &'static [&'static str]),
    Missing(&'static str),
}

impl Wrong {
    fn settle(self, place: Place, at: &str, node: Option<&Node>) -> Wrong {
        let Wrong::Loose(loose) = self else { return self };
        let at = if at.is_empty() { WHOLE } else { at };
        Wrong::Placed(match loose {
            Loose::Said(message) => Mistake::invalid(place, at, message),
            Loose::Type(expected) => {
                Mistake::wrong_type(place, at, &expected, node.map(Node::describe).unwrap_or_default())
            }
            Loose::UnknownField(key, accepted) => Mistake::unknown_key(place, at, &key, accepted),
            Loose::UnknownWord(word, accepted) => Mistake::unknown_word(place, at, &word, accepted),
            Loose::Missing(key) => Mistake::missing_key(place, at, key),
        })
    }

    pub(super) fn mistake(self) -> Mistake {
        match self.settle(Place::Nowhere, "", None) {
            Wrong::Placed(mistake) => mistake,
            Wrong::Loose(_) => Mistake::invalid(Place::Nowhere, WHOLE, "cannot be read"),
        }
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl std::error::Error for Wrong {}

impl de::Error for Wrong {
    fn custom<T: fmt::Display>(message: T) -> Wrong {
        Wrong::Loose(Loose::Said(message.to_string()))
    }

    fn invalid_type(_: Unexpected<'_>, expected: &dyn Expected) -> Wrong {
        Wrong::Loose(Loose::Type(plain(&expected.to_string())))
    }

    fn invalid_value(_: Unexpected<'_>, expected: &dyn Expected) -> Wrong {
        Wrong::Loose(Loose::Type(plain(&expected.to_string())))
    }

    fn invalid_length(_: usize, expected: &dyn Expected) -> Wrong {
        Wrong::Loose(Loose::Type(plain(&expected.to_string())))
    }

    fn unknown_variant(word: &str, accepted: &'static [&'static str]) -> Wrong {
        Wrong::Loose(Loose::UnknownWord(word.to_owned(), accepted))
    }

    fn unknown_field(key: &str, accepted: &'static [&'static str]) -> Wrong {
        Wrong::Loose(Loose::UnknownField(key.to_owned(), accepted))
    }

    fn missing_field(key: &'static str) -> Wrong {
        Wrong::Loose(Loose::Missing(key))
    }
}

/// Rust's type names in the words of someone who writes YAML.
fn plain(expected: &str) -> String {
    match expected {
        "f64" => "a number".to_owned(),
        "u64" | "u32" | "usize" => "a whole number, at least 0".to_owned(),
        "a string" => "a word".to_owned(),
        "a sequence" => "a list".to_owned(),
        "a tuple of size 2" => "two numbers: [place, value]".to_owned(),
        _ if expected.starts_with("struct ") => "a map".to_owned(),
        _ if expected.starts_with("enum ") => "a word".to_owned(),
        other => other.to_owned(),
    }
}

impl<'de> Deserializer<'de> for Located<'_> {
    type Error = Wrong;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        let result = match &self.node.content {
            Content::Null => visitor.visit_unit(),
            Content::Bool(truth) => visitor.visit_bool(*truth),
            Content::Int(number) => match (u64::try_from(*number), i64::try_from(*number)) {
                (Ok(number), _) => visitor.visit_u64(number),
                (_, Ok(number)) => visitor.visit_i64(number),
                _ => visitor.visit_f64(*number as f64),
            },
            Content::Float(number) => visitor.visit_f64(*number),
            Content::Text(text) => visitor.visit_str(text),
            Content::List(items) => {
                let mut left = Items { items, number: 0, at: &self.at };
                visitor.visit_seq(&mut left).and_then(|value| left.end().map(|()| value))
            }
            Content::Map(entries) => visitor.visit_map(Entries { entries, value: None, at: &self.at }),
        };
        self.settled(result)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match self.node.content {
            Content::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        let result = match &self.node.content {
            Content::Text(text) => {
                let word: StrDeserializer<'_, Wrong> = text.as_str().into_deserializer();
                word.deserialize_enum(name, variants, visitor)
            }
            _ => Err(Wrong::Loose(Loose::Type(format!("one of {}", variants.join(", "))))),
        };
        self.settled(result)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

struct Items<'n> {
    items: &'n [Node],
    number: usize,
    at: &'n str,
}

impl Items<'_> {
    /// Items left over are an error.
    fn end(&self) -> Result<(), Wrong> {
        let (wanted, found) = (self.number, self.items.len());
        if found == wanted {
            return Ok(());
        }
        Err(Wrong::Loose(Loose::Said(format!("{found} items where {wanted} belong"))))
    }
}

impl<'de> SeqAccess<'de> for Items<'_> {
    type Error = Wrong;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Wrong> {
        let Some(node) = self.items.get(self.number) else { return Ok(None) };
        let at = format!("{}[{}]", self.at, self.number);
        self.number += 1;
        below(seed, node, at).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len() - self.number)
    }
}

struct Entries<'n> {
    entries: &'n [(Key, Node)],
    value: Option<(&'n Key, &'n Node)>,
    at: &'n str,
}

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = Wrong;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Wrong> {
        let Some(((key, node), rest)) = self.entries.split_first() else { return Ok(None) };
        (self.entries, self.value) = (rest, Some((key, node)));
        let word: StrDeserializer<'_, Wrong> = key.text.as_str().into_deserializer();
        seed.deserialize(word).map(Some).map_err(|wrong| wrong.settle(key.place, self.at, None))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Wrong> {
        let Some((key, node)) = self.value.take() else {
            return Err(de::Error::custom("a value without a key"));
        };
        let at = if self.at.is_empty() { key.text.clone() } else { format!("{}.{}", self.at, key.text) };
        below(seed, node, at)
    }
}

/// Also attributes errors raised after a value was read to the value's place.
fn below<'de, T: DeserializeSeed<'de>>(seed: T, node: &Node, at: String) -> Result<T::Value, Wrong> {
    let result = seed.deserialize(Located { node, at: at.clone() });
    result.map_err(|wrong| wrong.settle(node.place, &at, Some(node)))
}
