//! The candidates among which the method `auto` is chosen.

use crate::case::{Params, Value};

/// The parameters with each of these methods and its own integer parameters, as far as they exist for the case; empty if
/// the method is not `auto`.
pub fn of<'a>(
    params: &Params,
    methods: impl IntoIterator<Item = (&'a str, Vec<(&'a str, u64)>)>,
    exists: impl Fn(&Params) -> bool,
) -> Vec<Params> {
    if params.text("method") != Some("auto") {
        return Vec::new();
    }
    let with = |(method, numbers): (&str, Vec<(&str, u64)>)| {
        let params = params.clone().with("method", Value::Text(method.to_owned()));
        let full = |key: &str| format!("method.{method}.{key}");
        numbers.into_iter().fold(params, |params, (key, value)| params.with(&full(key), Value::Int(value)))
    };
    methods.into_iter().map(with).filter(exists).collect()
}
