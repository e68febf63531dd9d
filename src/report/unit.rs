//! Formatting of numbers on axes and in labels.

use crate::case::units::{UNWIELDY, label_bytes, label_count, three_digits};

/// The unit of a number on an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A plain number.
    Number,
    /// A count; exact multiples of 1024 read `1Ki`, `16Mi`.
    Count,
    /// A size in bytes: `8 B`, `2 GiB`.
    Bytes,
    /// Seconds: `850 ns`, `1.2 ms`.
    Seconds,
    /// 1e9 bytes per second; the unit itself is in the axis title.
    GigabytesPerSecond,
    /// Elements per second: `120 M`, `7.1 G`.
    ElementsPerSecond,
    /// Floating-point operations per second: `548 G`.
    OperationsPerSecond,
    /// Per cent of change, with its sign.
    Percent,
    /// A fraction or a multiple: `1/16`, `1`, `2`.
    Fraction,
}

const TIME: [(&str, f64); 4] = [("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)];
const RATE: [(&str, f64); 5] = [("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3), ("", 1.0)];

impl Unit {
    /// The formatted value, with the most suitable prefix.
    pub fn format(self, value: f64) -> String {
        self.format_like(value, value)
    }

    /// The value with the prefix that suits `reference`, so that the ticks of a linear axis share a prefix.
    pub fn format_like(self, value: f64, reference: f64) -> String {
        self.format_to(value, reference, f64::INFINITY)
    }

    /// Like [`format_like`](Self::format_like), with enough digits to distinguish values that differ by
    /// `step`.
    pub fn format_to(self, value: f64, reference: f64, step: f64) -> String {
        let number = |value| number_to(value, step);
        match self {
            Unit::Number | Unit::GigabytesPerSecond => number(value),
            Unit::Count => whole(value).map_or_else(|| number(value), label_count),
            Unit::Bytes => whole(value).map_or_else(|| format!("{} B", number(value)), bytes),
            Unit::Seconds => prefixed(value, reference, step, &TIME),
            Unit::ElementsPerSecond | Unit::OperationsPerSecond => prefixed(value, reference, step, &RATE),
            Unit::Percent => percent(value, step),
            Unit::Fraction => fraction(value).unwrap_or_else(|| number(value)),
        }
    }
}

/// A size with a space before its unit: `8 B`, `2 GiB`, `2 GB`.
pub fn bytes(value: u64) -> String {
    let label = label_bytes(value);
    let digits = label.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = label.split_at(digits);
    format!("{number} {unit}")
}

fn whole(value: f64) -> Option<u64> {
    (value >= 0.0 && value < 2f64.powi(63) && value.fract() == 0.0).then_some(value as u64)
}

/// Up to four significant digits, without trailing zeros; with an exponent only from [`UNWIELDY`] on.
pub fn number(value: f64) -> String {
    number_to(value, f64::INFINITY)
}

/// Like [`number`], with more digits if `step` is smaller than the last of them.
fn number_to(value: f64, step: f64) -> String {
    if !value.is_finite() {
        return String::new();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    if value.abs() >= UNWIELDY {
        return three_digits(value);
    }
    let magnitude = value.abs().log10().floor() as i32;
    let fine = if step > 0.0 && step.is_finite() { (-step.log10()).ceil() as i32 } else { 0 };
    let places = (3 - magnitude).max(fine).clamp(0, 12) as usize;
    let text = format!("{value:.places$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

fn prefixed(value: f64, reference: f64, step: f64, prefixes: &[(&str, f64)]) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    // A value slightly below the prefix still counts: arithmetic may yield less than 1e-3 for 0.001.
    let fits = |p: &&(&str, f64)| reference.abs() >= p.1 * (1.0 - 1e-9);
    let chosen = prefixes.iter().find(fits).or(prefixes.last());
    let (word, scale) = chosen.copied().unwrap_or(("", 1.0));
    format!("{} {word}", number_to(value / scale, step / scale)).trim_end().to_owned()
}

/// `1/n`, if the value is the reciprocal of a whole number n > 1.
fn fraction(value: f64) -> Option<String> {
    let parts = whole(1.0 / value).filter(|parts| *parts > 1)?;
    Some(format!("1/{parts}"))
}

fn percent(value: f64, step: f64) -> String {
    let digits = number_to(value.abs(), step);
    match digits.as_str() {
        "0" => "0 %".to_owned(),
        _ if value < 0.0 => format!("−{digits} %"),
        _ => format!("+{digits} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_sizes_read_as_recipes_write_them() {
        let counts = [1.0, 512.0, 1000.0, 1024.0, 16_777_216.0, 5e7].map(|v| Unit::Count.format(v));
        assert_eq!(counts, ["1", "512", "1k", "1Ki", "16Mi", "50M"]);
        let sizes = [8, 1000, 2048, 128 << 20, 2 << 30, 2_000_000_000, 12345];
        assert_eq!(sizes.map(bytes), ["8 B", "1 kB", "2 KiB", "128 MiB", "2 GiB", "2 GB", "12345 B"]);
    }

    #[test]
    fn measured_values_keep_what_matters() {
        assert_eq!(Unit::Seconds.format(0.001), "1 ms");
        assert_eq!(Unit::Seconds.format(8.5e-7), "850 ns");
        assert_eq!(Unit::Seconds.format(3e-10), "0.3 ns");
        assert_eq!(Unit::Seconds.format_like(0.0005, 0.002), "0.5 ms");
        assert_eq!(Unit::ElementsPerSecond.format(7.1234e9), "7.123 G");
        assert_eq!(Unit::GigabytesPerSecond.format(4500.0), "4500");
        assert_eq!(Unit::GigabytesPerSecond.format(0.05), "0.05");
        assert_eq!(Unit::Number.format_to(500.05, 500.0, 0.05), "500.05");
        assert_eq!(Unit::Seconds.format_to(0.01234_5, 0.01, 1e-6), "12.345 ms");
        assert_eq!(Unit::Number.format(f64::NAN), "");
        assert_eq!([1e308, -3.4e38].map(|v| Unit::Number.format(v)), ["1.00e308", "-3.40e38"]);
        assert_eq!(Unit::Seconds.format(1e308), "1.00e308 s");
        assert_eq!(Unit::Percent.format(-1e300), "−1.00e300 %");
        assert_eq!([0.0625, 1.0, 2.0, 0.3].map(|v| Unit::Fraction.format(v)), ["1/16", "1", "2", "0.3"]);
        assert_eq!([12.5, -3.0, 0.0].map(|v| Unit::Percent.format(v)), ["+12.5 %", "−3 %", "0 %"]);
    }
}
