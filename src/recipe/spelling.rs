//! Numbers as they are written. YAML reads values, but a key that holds a text means `3.10` and not 3.1, and a message quotes
//! what the recipe says. So the text is read a second time, in step with the nodes, and where those are numbers, as texts.

use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::node::{Content, Node};
use super::yaml;

/// Adds their spelling to the numbers of a text that was read as `root`, and gives keys that are numbers theirs.
pub(super) fn keep(root: &mut Node, text: &str) {
    let whole = ["0x", "0o", "0b", "+", "-0"].iter().any(|begins| text.contains(begins));
    if differs(root, whole) {
        // A text that was read once is read again; without its spelling, a number is written as its value.
        let _ = yaml::again(text, InStep(root));
    }
}

/// Whether a number may be written otherwise than its value; an integer only if the text has one that begins unusually.
fn differs(node: &Node, whole: bool) -> bool {
    let begins = |text: &str| text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    match &node.content {
        Content::Float(_) => true,
        Content::Int(_) => whole,
        Content::List(items) => items.iter().any(|item| differs(item, whole)),
        Content::Map(entries) => entries.iter().any(|(key, node)| begins(&key.text) || differs(node, whole)),
        _ => false,
    }
}

/// A node, beside which the text is read.
struct InStep<'n>(&'n mut Node);

impl<'de> DeserializeSeed<'de> for InStep<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self.0.content {
            Content::Int(_) | Content::Float(_) => deserializer.deserialize_str(self),
            Content::List(_) => deserializer.deserialize_seq(self),
            Content::Map(_) => deserializer.deserialize_map(self),
            _ => deserializer.deserialize_ignored_any(IgnoredAny).map(|_| ()),
        }
    }
}

impl<'de> Visitor<'de> for InStep<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("what was read before")
    }

    fn visit_str<E: de::Error>(self, written: &str) -> Result<(), E> {
        // A tag (`!!float 1`) is not part of the spelling, without which the text would be another value.
        let same = match self.0.content {
            Content::Float(number) => written.contains(['.', 'e', 'E']) || number.abs() >= 2f64.powi(127),
            _ => true,
        };
        self.0.spelling =
            same.then(|| written.into()).filter(|_| self.0.written().as_deref() != Some(written));
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        if let Content::List(items) = &mut self.0.content {
            for item in items {
                seq.next_element_seed(InStep(item))?;
            }
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        if let Content::Map(entries) = &mut self.0.content {
            for (key, node) in entries {
                key.text = map.next_key()?.unwrap_or_else(|| std::mem::take(&mut key.text));
                map.next_value_seed(InStep(node))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::flow::flow;
    use super::super::node::read;

    #[test]
    fn numbers_are_written_as_they_were() {
        for text in [
            "{figure: 3.10, title: 1.10, n: 010, x: 0x1F, y: +3, z: -0, big: 1e3, w: 3.0}",
            "[1.0, 1.00, .5, 5., -0.0, 1E+2, 170141183460469231731687303715884105728000]",
            "{a: [{b: 3.10}, 7], c: 3, d: text}",
        ] {
            assert_eq!(flow(&read("", text).expect("YAML")), text, "{text}");
        }
        let keys = read("", "{1.10: 2, 1.1: 3.30, 0x10: a}").expect("YAML");
        assert_eq!(flow(&keys), "{'1.10': 2, '1.1': 3.30, '0x10': a}");
        let aliased = read("", "[&a 3.10, *a, {b: *a}]").expect("YAML");
        assert_eq!(flow(&aliased), "[3.10, 3.10, {b: 3.10}]");
    }
}
