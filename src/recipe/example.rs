//! Examples of variants for messages.

use crate::case::schema::{Kind, Param, ParamDefault, Variant};
use crate::case::units::label_bytes;

/// `multipass: {passes: 4}`: the variant with all its required parameters.
pub(super) fn example(variant: &Variant) -> String {
    let needed = |param: &&Param| !matches!(param.default, ParamDefault::Unset | ParamDefault::Is(_));
    let params: Vec<String> = variant
        .params
        .iter()
        .filter(needed)
        .map(|param| format!("{}: {}", param.name, value(&param.kind)))
        .collect();
    format!("{}: {{{}}}", variant.name, params.join(", "))
}

/// A value that the kind accepts.
fn value(kind: &Kind) -> String {
    match kind {
        Kind::Count { min, max } | Kind::CountOr { min, max, .. } => 4.clamp(*min, *max).to_string(),
        Kind::Bytes { min, max, accepted } => label_bytes(*accepted.first().unwrap_or(&8.clamp(*min, *max))),
        Kind::Float { min, max } => 1.0f64.clamp(*min, *max).to_string(),
        Kind::Word(words) => words.first().copied().unwrap_or_default().to_owned(),
        Kind::Choice(variants) | Kind::Inline(variants) => variants.first().map(example).unwrap_or_default(),
        Kind::Indices { .. } => "[0, 8, 16]".to_owned(),
        Kind::Text => "NAME".to_owned(),
    }
}
