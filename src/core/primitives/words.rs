//! Parameters for tests.

use crate::case::{Params, Value};

/// Parameters from `key=value` words: integers, floats and names.
pub fn params(words: &str) -> Params {
    words.split_whitespace().fold(Params::default(), |params, word| {
        let (key, text) = word.split_once('=').expect("key=value");
        let float = || text.parse().map_or(Value::Text(text.to_owned()), Value::Float);
        params.with(key, text.parse().map_or_else(|_| float(), Value::Int))
    })
}
