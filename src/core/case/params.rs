//! Parameter values, the set of them that determines a case, and readers of single parameters.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{IndexPattern, Refusal};

/// The values in the order in which they first appear, without repetitions. Quadratic in their number: for the few values of
/// an axis, or names of machines.
pub fn distinct<T: PartialEq>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    for value in values {
        if !found.contains(&value) {
            found.push(value);
        }
    }
    found
}

/// The value of a parameter. Counts and sizes are both integers; the unit follows from the parameter's
/// [`Kind`](crate::case::schema::Kind).
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A count, a size in bytes or a plain integer.
    Int(u64),
    /// A real number, such as the exponent of a Zipf distribution.
    Float(f64),
    /// A name: a variant of a choice, `auto`, a pattern of an application.
    Text(String),
    /// A list of indices, such as a custom pattern.
    Indices(IndexPattern),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Int(v) => write!(f, "{v}"),
            Value::Float(v) => write!(f, "{v}"),
            Value::Text(v) => f.write_str(v),
            Value::Indices(v) => {
                let words: Vec<String> = v.iter().map(u64::to_string).collect();
                f.write_str(&words.join(","))
            }
        }
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Int(v) => serializer.serialize_u64(*v),
            Value::Float(v) => serializer.serialize_f64(*v),
            Value::Text(v) => serializer.serialize_str(v),
            Value::Indices(v) => v[..].serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Value;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a number, a string or a list of indices")
            }
            fn visit_u64<E: de::Error>(self, v: u64) -> Result<Value, E> {
                Ok(Value::Int(v))
            }
            fn visit_f64<E: de::Error>(self, v: f64) -> Result<Value, E> {
                Ok(Value::Float(v))
            }
            fn visit_str<E: de::Error>(self, v: &str) -> Result<Value, E> {
                Ok(Value::Text(v.to_owned()))
            }
            fn visit_seq<A: de::SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
                let mut indices = Vec::new();
                while let Some(v) = seq.next_element()? {
                    indices.push(v);
                }
                Ok(Value::Indices(indices.into()))
            }
        }
        deserializer.deserialize_any(Any)
    }
}

impl JsonSchema for Value {
    fn schema_name() -> Cow<'static, str> {
        "Value".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "The value of a parameter; a list is one of indices.",
            "type": ["number", "string", "array"],
            "items": { "type": "integer", "minimum": 0 },
        })
    }
}

/// All parameters of a case, by full dotted key.
///
/// A choice is stored under its own key (`method` = `multipass`), with the parameters of the chosen variant
/// below it (`method.multipass.passes` = 4). The backend and its parameters are stored the same way (`backend`,
/// `backend.cpu.threads`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Params(pub BTreeMap<String, Value>);

impl Params {
    /// The value under a full dotted key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    /// The integer under `key`; `None` when it is absent or not an integer.
    pub fn int(&self, key: &str) -> Option<u64> {
        match self.0.get(key) {
            Some(Value::Int(v)) => Some(*v),
            _ => None,
        }
    }

    /// The real number under `key`; integers are converted.
    pub fn float(&self, key: &str) -> Option<f64> {
        match self.0.get(key) {
            Some(Value::Float(v)) => Some(*v),
            Some(Value::Int(v)) => Some(*v as f64),
            _ => None,
        }
    }

    /// The name under `key`; `None` when it is absent or not a name.
    pub fn text(&self, key: &str) -> Option<&str> {
        match self.0.get(key) {
            Some(Value::Text(v)) => Some(v),
            _ => None,
        }
    }

    /// The list of indices under `key`.
    pub fn indices(&self, key: &str) -> Option<&IndexPattern> {
        match self.0.get(key) {
            Some(Value::Indices(v)) => Some(v),
            _ => None,
        }
    }

    /// Builder-style insertion.
    pub fn with(mut self, key: &str, value: Value) -> Self {
        self.0.insert(key.to_owned(), value);
        self
    }
}

/// Largest size of one array of a case, bytes.
pub const MAX_BYTES: u64 = 1 << 48;

/// The integer under `key`.
pub fn int(params: &Params, key: &str) -> Result<u64, Refusal> {
    params.int(key).ok_or_else(|| missing(params, key, "an integer"))
}

/// The integer under `key`, at least 1.
pub fn positive(params: &Params, key: &str) -> Result<u64, Refusal> {
    match int(params, key)? {
        0 => Err(Refusal::invalid(key, "must be at least 1")),
        value => Ok(value),
    }
}

/// The meaning of the word under `key`.
pub fn word<T: Copy>(params: &Params, key: &str, meanings: &[(&str, T)]) -> Result<T, Refusal> {
    let text = params.text(key).ok_or_else(|| missing(params, key, "a word"))?;
    meanings.iter().find(|(name, _)| *name == text).map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = meanings.iter().map(|(name, _)| *name).collect();
        Refusal::invalid(key, format!("`{text}` is not one of {}", names.join(", ")))
    })
}

fn missing(params: &Params, key: &str, wanted: &str) -> Refusal {
    match params.get(key) {
        None => Refusal::Missing { key: key.to_owned() },
        Some(value) => Refusal::invalid(key, format!("`{value}` is not {wanted}")),
    }
}

/// The product of these factors, in bytes; refused with `key` if it exceeds [`MAX_BYTES`].
pub fn bytes(key: &str, factors: &[u64]) -> Result<u64, Refusal> {
    let product = factors.iter().try_fold(1u64, |product, &f| product.checked_mul(f));
    match product {
        Some(bytes) if bytes <= MAX_BYTES => Ok(bytes),
        _ => Err(Refusal::invalid(key, "an array would exceed 2^48 bytes")),
    }
}

/// True if the case requests AVX2, which has no scatter instruction.
pub fn asks_for_avx2(params: &Params) -> bool {
    params.text("backend.cpu.isa") == Some("avx2")
}

/// The refusal for [`asks_for_avx2`].
pub fn avx2_cannot_scatter() -> Refusal {
    Refusal::NotApplicable("AVX2 has no scatter instruction".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Value;

    #[test]
    fn what_is_wrong_is_said_at_its_key() {
        let p = Params::default().with("w", Value::Text("x".into()));
        assert_eq!(int(&p, "b").unwrap_err().to_string(), "b: is missing");
        assert_eq!(int(&p, "w").unwrap_err().to_string(), "w: `x` is not an integer");
        assert_eq!(
            word(&p, "w", &[("y", 1), ("z", 2)]).unwrap_err().to_string(),
            "w: `x` is not one of y, z"
        );
    }

    #[test]
    fn sizes_do_not_overflow() {
        assert_eq!(bytes("n", &[1 << 45, 8]), Ok(MAX_BYTES));
        assert!(bytes("n", &[1 << 45, 9]).is_err());
        assert!(bytes("n", &[u64::MAX, u64::MAX]).is_err());
    }
}
