//! Makes nodes of whatever a deserialiser yields, within limits of depth and of number.

use std::cell::{Cell, RefCell};
use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::error::Place;
use super::node::{Content, Key, Node};

/// Maximal nesting depth of maps and lists.
const MAX_DEPTH: usize = 16;

/// What a tree of more levels is called.
pub(super) fn nesting() -> String {
    format!("nested deeper than {MAX_DEPTH} levels")
}

/// Numbers the nodes, enforces the limits, and fails at the node that is looked for.
pub(super) struct Reader {
    next: Cell<u32>,
    weight: Cell<usize>,
    most: usize,
    stop_at: Option<u32>,
    pub complaint: RefCell<Option<String>>,
}

impl Reader {
    pub fn new(stop_at: Option<u32>, most: usize) -> Reader {
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

/// Reads a node with all below it.
#[derive(Clone, Copy)]
pub(super) struct NodeSeed<'r> {
    reader: &'r Reader,
    depth: usize,
}

impl<'r> NodeSeed<'r> {
    /// Reads the root.
    pub fn of(reader: &'r Reader) -> NodeSeed<'r> {
        NodeSeed { reader, depth: 0 }
    }

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
