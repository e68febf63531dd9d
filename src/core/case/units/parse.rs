//! Parses counts, sizes in bytes, times in seconds and shares, and describes what it parses as regular expressions
//! (ECMA-262, unanchored) for the JSON Schema of recipes.

use super::shown;

/// Why a quantity could not be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// No digits at the start.
    #[error("`{text}` is not a number; write {example}")]
    NotANumber { text: String, example: &'static str },
    /// A number without the unit that the quantity needs.
    #[error("`{text}` has no unit; write {example}")]
    MissingUnit { text: String, example: &'static str },
    /// The text after the number is not a unit of this quantity.
    #[error("`{text}` has no known unit; accepted: {accepted}")]
    UnknownUnit { text: String, accepted: &'static str },
    /// A fraction of a count or a size.
    #[error("`{text}` is not an integer, which counts and sizes are; accepted: 1536Ki for 1.5Mi")]
    Fraction { text: String },
    /// The value does not fit into 64 bits.
    #[error("`{text}` overflows 64 bits")]
    Overflow { text: String },
}

pub(super) const COUNT_UNITS: &[(&str, u64)] = &[
    ("", 1),
    ("k", 1000),
    ("M", 1_000_000),
    ("G", 1_000_000_000),
    ("Ki", 1 << 10),
    ("Mi", 1 << 20),
    ("Gi", 1 << 30),
];
pub(super) const BYTE_UNITS: &[(&str, u64)] = &[
    ("B", 1),
    ("kB", 1000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];
/// Units of time, each as whole seconds and an exponent of ten: `3ms` is parsed as `3e-3`, without a rounding
/// multiplication.
const SECOND_UNITS: &[(&str, f64, i32)] = &[
    ("s", 1.0, 0),
    ("ms", 1.0, -3),
    ("us", 1.0, -6),
    ("µs", 1.0, -6),
    ("ns", 1.0, -9),
    ("min", 60.0, 0),
    ("m", 60.0, 0),
    ("h", 3600.0, 0),
];

/// Parses a count: an integer, optionally with `k`, `M`, `G` (powers of 1000) or `Ki`, `Mi`, `Gi` (powers of
/// 1024).
///
/// # Errors
/// When the text is anything but digits and one of these suffixes, or exceeds 64 bits.
pub fn parse_count(text: &str) -> Result<u64, UnitError> {
    let (digits, unit) =
        split_integer(text).ok_or_else(|| not_a_number(text, "a count such as `4096` or `16Mi`"))?;
    scale(text, digits, unit, COUNT_UNITS, "k, M, G (1000), Ki, Mi, Gi (1024)")
}

/// Parses a size: an integer with `B`, `kB`, `MB`, `GB`, `KiB`, `MiB` or `GiB`.
///
/// # Errors
/// When the unit is missing or unknown, or the value exceeds 64 bits.
pub fn parse_bytes(text: &str) -> Result<u64, UnitError> {
    const EXAMPLE: &str = "a size such as `8B` or `128MiB`";
    let (digits, unit) = split_integer(text).ok_or_else(|| not_a_number(text, EXAMPLE))?;
    if unit.is_empty() {
        return Err(UnitError::MissingUnit { text: shown(text), example: EXAMPLE });
    }
    scale(text, digits, unit, BYTE_UNITS, "B, kB, MB, GB (1000), KiB, MiB, GiB (1024)")
}

/// Parses a time in seconds: a decimal number with `s`, `ms`, `us` (or `µs`) or `ns`.
///
/// # Errors
/// When the unit is missing or unknown, or the number is not digits with at most one decimal point.
pub fn parse_seconds(text: &str) -> Result<f64, UnitError> {
    const EXAMPLE: &str = "a time such as `10s` or `3ms`";
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let decimal = number.starts_with(|c: char| c.is_ascii_digit()) && !number.ends_with('.');
    if !decimal || number.matches('.').count() > 1 {
        return Err(not_a_number(text, EXAMPLE));
    }
    if unit.is_empty() {
        return Err(UnitError::MissingUnit { text: shown(text), example: EXAMPLE });
    }
    let Some((_, whole, power)) = SECOND_UNITS.iter().find(|(name, ..)| *name == unit) else {
        return Err(UnitError::UnknownUnit { text: shown(text), accepted: "h, min, s, ms, us, ns" });
    };
    match format!("{number}e{power}").parse::<f64>() {
        Ok(seconds) if (whole * seconds).is_finite() => Ok(whole * seconds),
        _ => Err(UnitError::Overflow { text: shown(text) }),
    }
}

/// Parses a percentage, a decimal number with `%`, and returns it as a share: `3%` is 0.03.
///
/// # Errors
/// When `%` is missing, or the number is not digits with at most one decimal point.
pub fn parse_percent(text: &str) -> Result<f64, UnitError> {
    const EXAMPLE: &str = "a share such as `3%`";
    let Some(number) = text.strip_suffix('%') else {
        return Err(UnitError::MissingUnit { text: shown(text), example: EXAMPLE });
    };
    let digits = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit() || c == '.');
    // `3e-2` parses to exactly the same number as 0.03; 3 divided by 100 might not.
    let share = digits.then(|| format!("{number}e-2").parse::<f64>().ok()).flatten();
    match share {
        Some(share) if share.is_finite() => Ok(share),
        _ => Err(not_a_number(text, EXAMPLE)),
    }
}

/// The leading digits and the rest; `None` without a digit.
fn split_integer(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

fn scale(
    text: &str,
    digits: &str,
    unit: &str,
    units: &[(&str, u64)],
    accepted: &'static str,
) -> Result<u64, UnitError> {
    if unit.starts_with('.') {
        return Err(UnitError::Fraction { text: shown(text) });
    }
    let Some((_, factor)) = units.iter().find(|(name, _)| *name == unit) else {
        return Err(UnitError::UnknownUnit { text: shown(text), accepted });
    };
    let number = digits.parse::<u64>().ok().and_then(|n| n.checked_mul(*factor));
    number.ok_or_else(|| UnitError::Overflow { text: shown(text) })
}

fn not_a_number(text: &str, example: &'static str) -> UnitError {
    UnitError::NotANumber { text: shown(text), example }
}

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

/// A regular expression for a count accepted by [`parse_count`]. The limits exclude impossible suffixes, and 0; they
/// do not constrain the digits.
pub fn count_pattern(min: u64, max: u64) -> String {
    // The empty suffix comes first in the table and makes the unit optional.
    digits(min).to_owned() + &units(COUNT_UNITS, min, max)
}

/// A regular expression for a size accepted by [`parse_bytes`]; limits as for [`count_pattern`].
pub fn bytes_pattern(min: u64, max: u64) -> String {
    digits(min).to_owned() + &units(BYTE_UNITS, min, max)
}

/// A regular expression for a time accepted by [`parse_seconds`].
pub fn seconds_pattern() -> String {
    let names: Vec<&str> = SECOND_UNITS.iter().map(|(name, ..)| *name).collect();
    format!("[0-9]+(\\.[0-9]+)?({})", names.join("|"))
}

/// A regular expression for a percentage accepted by [`parse_percent`].
pub fn percent_pattern() -> String {
    "([0-9]+\\.?[0-9]*|\\.[0-9]+)%".to_owned()
}

/// All spellings of this size with one of the units, shortest first.
pub fn spellings(bytes: u64) -> Vec<String> {
    let exact = BYTE_UNITS.iter().filter(|(_, factor)| bytes.is_multiple_of(*factor));
    let mut all: Vec<String> = exact.map(|(name, factor)| format!("{}{name}", bytes / factor)).collect();
    all.sort_by_key(String::len);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_sizes_parse() {
        for (text, value) in
            [("0", 0), ("4096", 4096), ("16Mi", 16 << 20), ("2k", 2000), ("3G", 3_000_000_000)]
        {
            assert_eq!(parse_count(text), Ok(value), "{text}");
        }
        for (text, value) in [("8B", 8), ("128MiB", 128 << 20), ("2GB", 2_000_000_000), ("64KiB", 65536)] {
            assert_eq!(parse_bytes(text), Ok(value), "{text}");
        }
    }

    #[test]
    fn seconds_parse_without_rounding_twice() {
        for (text, value) in [
            ("10s", 10.0),
            ("3ms", 0.003),
            ("2us", 2e-6),
            ("2µs", 2e-6),
            ("1.5ns", 1.5e-9),
            ("2m", 120.0),
            ("1.5h", 5400.0),
        ] {
            assert_eq!(parse_seconds(text), Ok(value), "{text}");
        }
        for text in ["", "s", ".5s", "5.s", "1.2.3s", "-1s", "1e3s", "nans", "10", "10 s", "10d", "10sx"] {
            assert!(parse_seconds(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_not_a_quantity_says_why() {
        let message = |r: Result<u64, UnitError>| r.expect_err("malformed").to_string();
        assert_eq!(
            message(parse_count("16Q")),
            "`16Q` has no known unit; accepted: k, M, G (1000), Ki, Mi, Gi (1024)"
        );
        assert_eq!(message(parse_count("x")), "`x` is not a number; write a count such as `4096` or `16Mi`");
        assert_eq!(message(parse_count("18446744073709551616")), "`18446744073709551616` overflows 64 bits");
        let fraction = "`1.5Mi` is not an integer, which counts and sizes are; accepted: 1536Ki for 1.5Mi";
        assert_eq!(message(parse_count("1.5Mi")), fraction);
        assert!(message(parse_bytes("4.5B")).starts_with("`4.5B` is not an integer"));
        assert_eq!(message(parse_count("17179869184Gi")), "`17179869184Gi` overflows 64 bits");
        assert_eq!(message(parse_bytes("8")), "`8` has no unit; write a size such as `8B` or `128MiB`");
        assert_eq!(
            message(parse_bytes("8MiBs")),
            "`8MiBs` has no known unit; accepted: B, kB, MB, GB (1000), KiB, MiB, GiB (1024)"
        );
        for junk in ["+1", "-1", "1 ", " 1", "1.5Mi", "1_000", "0x10", "²", "1Mib", "Ki"] {
            assert!(parse_count(junk).is_err(), "{junk}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text: String) {
            let _ = (parse_count(&text), parse_bytes(&text), parse_seconds(&text), shown(&text));
        }
    }
}
