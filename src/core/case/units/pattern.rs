//! Quantities as regular expressions (ECMA-262), for the JSON Schema of recipes. Each is an unanchored pattern
//! that is built from the parsers' unit tables.

use super::{BYTE_UNITS, COUNT_UNITS, SECOND_UNITS};

/// A number of any digits, or a nonzero one if `min` is not 0.
fn digits(min: u64) -> &'static str {
    if min == 0 { "[0-9]+" } else { "0*[1-9][0-9]*" }
}

/// Alternatives for the units of which a number in `min..=max` may be a multiple.
fn units(table: &[(&'static str, u64)], min: u64, max: u64) -> String {
    let possible = |factor: u64| min == 0 || factor <= max;
    let names = table.iter().filter(|(_, factor)| possible(*factor)).map(|(name, _)| *name);
    format!("({})", names.collect::<Vec<_>>().join("|"))
}

/// A count accepted by [`parse_count`](super::parse_count). The limits exclude impossible suffixes, and 0; they
/// do not constrain the digits.
pub fn count(min: u64, max: u64) -> String {
    // The empty suffix comes first in the table and makes the unit optional.
    digits(min).to_owned() + &units(COUNT_UNITS, min, max)
}

/// A size accepted by [`parse_bytes`](super::parse_bytes); limits as for [`count`].
pub fn bytes(min: u64, max: u64) -> String {
    digits(min).to_owned() + &units(BYTE_UNITS, min, max)
}

/// A time accepted by [`parse_seconds`](super::parse_seconds).
pub fn seconds() -> String {
    let names: Vec<&str> = SECOND_UNITS.iter().map(|(name, ..)| *name).collect();
    format!("[0-9]+(\\.[0-9]+)?({})", names.join("|"))
}

/// A percentage accepted by [`parse_percent`](super::parse_percent).
pub fn percent() -> String {
    "([0-9]+\\.?[0-9]*|\\.[0-9]+)%".to_owned()
}

/// All spellings of this size with one of the units, shortest first.
pub fn spellings(bytes: u64) -> Vec<String> {
    let exact = BYTE_UNITS.iter().filter(|(_, factor)| bytes.is_multiple_of(*factor));
    let mut all: Vec<String> = exact.map(|(name, factor)| format!("{}{name}", bytes / factor)).collect();
    all.sort_by_key(String::len);
    all
}
