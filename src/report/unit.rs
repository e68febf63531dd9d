//! How a number reads on an axis or in a label.

/// What a number on an axis counts.
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
    /// 1e9 bytes a second; the unit itself stands in the axis' title.
    GigabytesPerSecond,
    /// Elements a second: `120 M`, `7.1 G`.
    ElementsPerSecond,
    /// Per cent of change, with its sign.
    Percent,
}

const BINARY: [(&str, u64); 4] = [("Ti", 1 << 40), ("Gi", 1 << 30), ("Mi", 1 << 20), ("Ki", 1 << 10)];
const DECIMAL: [(&str, u64); 4] =
    [("T", 1_000_000_000_000), ("G", 1_000_000_000), ("M", 1_000_000), ("k", 1_000)];
const TIME: [(&str, f64); 4] = [("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)];
const RATE: [(&str, f64); 5] = [("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3), ("", 1.0)];

impl Unit {
    /// The value in words, with the prefix that suits it best.
    pub fn format(self, value: f64) -> String {
        self.format_like(value, value)
    }

    /// The value with the prefix that suits `reference` best, so that the ticks of a
    /// linear axis share one.
    pub fn format_like(self, value: f64, reference: f64) -> String {
        match self {
            Unit::Number | Unit::GigabytesPerSecond => number(value),
            Unit::Count => whole(value).map_or_else(|| number(value), count),
            Unit::Bytes => whole(value).map_or_else(|| format!("{} B", number(value)), bytes),
            Unit::Seconds => prefixed(value, reference, &TIME),
            Unit::ElementsPerSecond => prefixed(value, reference, &RATE),
            Unit::Percent => percent(value),
        }
    }
}

/// A count as recipes write it: `1Ki`, `16Mi`, `50M`; otherwise all its digits.
pub fn count(value: u64) -> String {
    prefix_of(value).map_or_else(|| value.to_string(), |(word, scale)| format!("{}{word}", value / scale))
}

/// A size: `8 B`, `2 GiB`, `2 GB`; otherwise all its digits.
pub fn bytes(value: u64) -> String {
    prefix_of(value)
        .map_or_else(|| format!("{value} B"), |(word, scale)| format!("{} {word}B", value / scale))
}

/// The largest binary prefix that divides the value, or else a decimal one where the
/// value is long enough to need it.
fn prefix_of(value: u64) -> Option<(&'static str, u64)> {
    let divides = |&(_, scale): &(&str, u64)| value >= scale && value.is_multiple_of(scale);
    let decimal = || (value >= 10_000).then(|| DECIMAL.into_iter().find(divides)).flatten();
    let binary = BINARY.into_iter().find(divides);
    match (binary, decimal()) {
        // 2,000,000,000 is also 1,953,125 Ki: the shorter number is the one meant.
        (Some((_, b)), Some((word, d))) if value / d < value / b => Some((word, d)),
        (Some(found), _) => Some(found),
        (None, found) => found,
    }
}

fn whole(value: f64) -> Option<u64> {
    (value >= 0.0 && value < 2f64.powi(63) && value.fract() == 0.0).then_some(value as u64)
}

/// Up to four significant digits, without trailing zeros or an exponent.
pub fn number(value: f64) -> String {
    if !value.is_finite() {
        return String::new();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    let magnitude = value.abs().log10().floor() as i32;
    let places = (3 - magnitude).clamp(0, 12) as usize;
    let text = format!("{value:.places$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

fn prefixed(value: f64, reference: f64, prefixes: &[(&str, f64)]) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    // A hair below the prefix still counts: 0.001 is not quite 1e-3 after arithmetic.
    let fits = |p: &&(&str, f64)| reference.abs() >= p.1 * (1.0 - 1e-9);
    let chosen = prefixes.iter().find(fits).or(prefixes.last());
    let (word, scale) = chosen.copied().unwrap_or(("", 1.0));
    format!("{} {word}", number(value / scale)).trim_end().to_owned()
}

fn percent(value: f64) -> String {
    let digits = number(value.abs());
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
        let counts = [1, 512, 1000, 1024, 3072, 4096, 16 << 20, 1 << 30, 50_000_000, 250_000_000];
        let texts = ["1", "512", "1000", "1Ki", "3Ki", "4Ki", "16Mi", "1Gi", "50M", "250M"];
        assert_eq!(counts.map(count), texts);
        let sizes = [8, 1000, 2048, 128 << 20, 2 << 30, 2_000_000_000, 12345];
        assert_eq!(sizes.map(bytes), ["8 B", "1000 B", "2 KiB", "128 MiB", "2 GiB", "2 GB", "12345 B"]);
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
        assert_eq!(Unit::Number.format(f64::NAN), "");
        assert_eq!([12.5, -3.0, 0.0].map(|v| Unit::Percent.format(v)), ["+12.5 %", "−3 %", "0 %"]);
    }
}
