//! Quantities as regular expressions (ECMA-262), for the JSON Schema of recipes. Each is
//! the source of a group without anchors, made from the units that the parsers know.

use super::{BYTE_UNITS, COUNT_UNITS, SECOND_UNITS};

/// Any digits; of a number that must not be 0, those that are not.
fn digits(min: u64) -> &'static str {
    if min == 0 { "[0-9]+" } else { "0*[1-9][0-9]*" }
}

/// The units of which a number in `min..=max` may be a multiple, as alternatives.
fn units(table: &[(&'static str, u64)], min: u64, max: u64) -> String {
    let possible = |factor: u64| min == 0 || factor <= max;
    let names = table.iter().filter(|(_, factor)| possible(*factor)).map(|(name, _)| *name);
    format!("({})", names.collect::<Vec<_>>().join("|"))
}

/// A count that [`parse_count`](super::parse_count) reads. Limits take away the suffixes
/// that none of the counts has, and 0; they say nothing of the digits.
pub fn count(min: u64, max: u64) -> String {
    // The empty suffix stands first in the table and may be left out.
    digits(min).to_owned() + &units(COUNT_UNITS, min, max)
}

/// A size that [`parse_bytes`](super::parse_bytes) reads; limits as for [`count`].
pub fn bytes(min: u64, max: u64) -> String {
    digits(min).to_owned() + &units(BYTE_UNITS, min, max)
}

/// A time that [`parse_seconds`](super::parse_seconds) reads.
pub fn seconds() -> String {
    let names: Vec<&str> = SECOND_UNITS.iter().map(|(name, _)| *name).collect();
    format!("[0-9]+(\\.[0-9]+)?({})", names.join("|"))
}

/// A share that [`parse_percent`](super::parse_percent) reads.
pub fn percent() -> String {
    "([0-9]+\\.?[0-9]*|\\.[0-9]+)%".to_owned()
}

/// Every way to write this size with one of the units, the shortest first.
pub fn spellings(bytes: u64) -> Vec<String> {
    let exact = BYTE_UNITS.iter().filter(|(_, factor)| bytes.is_multiple_of(*factor));
    let mut all: Vec<String> = exact.map(|(name, factor)| format!("{}{name}", bytes / factor)).collect();
    all.sort_by_key(String::len);
    all
}
