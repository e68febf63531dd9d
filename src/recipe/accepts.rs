//! Descriptions of the values that a key accepts, for forms.

use super::measure::{AUTO, Form, MeasureKey, NONE};
use crate::case::measure::Order;
use crate::case::schema::{Kind, Param, Variant};
use crate::case::units::{label_bytes, label_count};
use crate::case::{Cache, HostMemory};

/// The values of a parameter: `1 to 64, a list, or a range such as 1..8 x2`; `direct, {multipass: {passes}},
/// or a list`.
pub(crate) fn accepts(kind: &Kind) -> String {
    match kind {
        Kind::Count { min, max } => swept(&limits(*min, *max, label_count)),
        Kind::Bytes { accepted: [], min, max } => swept(&limits(*min, *max, label_bytes)),
        Kind::Bytes { accepted, .. } => {
            let sizes: Vec<String> = accepted.iter().map(|size| label_bytes(*size)).collect();
            format!("{}, or a list", sizes.join(", "))
        }
        Kind::Float { min, max } => swept(&format!("{min} to {max}")),
        Kind::CountOr { min, max, words, list } => {
            let list = if *list > 0 { ", {list: [8, 16]}" } else { "" };
            format!("{}{list}, or {}", words.join(", "), swept(&limits(*min, *max, label_count)))
        }
        Kind::Word(words) => format!("{}, or a list", words.join(", ")),
        Kind::Choice(variants) => format!("{}, or a list", all(variants)),
        Kind::Inline(variants) => all(variants),
        Kind::Indices { max_length } => format!("indices such as [0, 8, 16], at most {max_length}"),
        Kind::Text => "a text in one line".to_owned(),
    }
}

/// The values of a key of `measure:`.
pub(crate) fn measure_accepts(key: &MeasureKey) -> String {
    match key.form {
        Form::Count(Kind::Count { min, max }) => limits(min, max, label_count),
        Form::Count(Kind::CountOr { min, max, words, .. }) => {
            format!("{}, or {}", words.join(", "), limits(min, max, label_count))
        }
        Form::Count(kind) => accepts(&kind),
        Form::Width => format!("a share such as 3%, or {NONE}"),
        Form::Time => "a time such as 10s".to_owned(),
        Form::TimeOrNone => format!("a time such as 2min, or {NONE}"),
        Form::TimeOrAuto => format!("a time such as 600s, or {AUTO}"),
        Form::Order => Order::NAMES.map(|(name, _)| name).join(", "),
        Form::Cache => Cache::NAMES.map(|(name, _)| name).join(", "),
        Form::Transfer => HostMemory::NAMES.map(|(name, _)| name).join(", "),
        Form::Either(words) => words.map(|(name, _)| name).join(", "),
    }
}

fn swept(limits: &str) -> String {
    format!("{limits}, a list, or a range such as 1..8 x2")
}

fn limits(min: u64, max: u64, label: fn(u64) -> String) -> String {
    match max {
        u64::MAX => format!("at least {}", label(min)),
        _ => format!("{} to {}", label(min), label(max)),
    }
}

fn all(variants: &[Variant]) -> String {
    variants.iter().map(variant).collect::<Vec<_>>().join(", ")
}

/// `{multipass: {passes}}`: the variant with the parameters that its map may hold.
fn variant(variant: &Variant) -> String {
    let params: Vec<&str> = variant.params.iter().map(|param: &Param| param.name).collect();
    match params.as_slice() {
        [] => variant.name.to_owned(),
        _ => format!("{{{}: {{{}}}}}", variant.name, params.join(", ")),
    }
}
