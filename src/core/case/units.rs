//! Parses and formats counts, sizes in bytes, times in seconds, rates and shares.
//!
//! There are two kinds of output. `label_*` is exact and short and parses back to the same value (`16Mi`, `8B`),
//! for axis labels and recipes. `fmt_*` is rounded, mostly to three significant digits, with a space before the
//! unit (`1.50 GiB`, `45.6 µs`), for display. Displayed sizes are binary (`MiB`), rates are decimal: GB/s = 1e9
//! B/s.

mod parse;

use std::fmt::Write;

use parse::{BYTE_UNITS, COUNT_UNITS};
pub use parse::{
    UnitError, bytes_pattern, count_pattern, parse_bytes, parse_count, parse_percent, parse_seconds,
    percent_pattern, seconds_pattern, spellings,
};

/// `text` for quotation in a message: truncated, with control characters escaped.
pub fn shown(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => escaped(&text[..end]) + "…",
        None => escaped(text),
    }
}

/// True for a character that acts on a terminal or is not seen on it: controls, line separators, and format characters,
/// which change the direction of text or have no width.
pub fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{fffe}'..='\u{ffff}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e007f}')
}

/// `text` in a single line, with the characters escaped that [`is_unseen`] names.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_unseen(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}

/// A count for an axis or a recipe, exact and short: 4096 is `4Ki`, 1000 is `1k`, 1500 is `1500`.
/// [`parse_count`] reads it back.
pub fn label_count(count: u64) -> String {
    shortest(count, COUNT_UNITS)
}

/// A size for an axis or a recipe, exact and short: `8B`, `128MiB`, `2GB`.
/// [`parse_bytes`] reads it back.
pub fn label_bytes(bytes: u64) -> String {
    shortest(bytes, BYTE_UNITS)
}

/// The exact form with the fewest digits; ties go to the binary unit.
fn shortest(value: u64, units: &[(&str, u64)]) -> String {
    let exact =
        units.iter().filter(|(_, factor)| value.is_multiple_of(*factor) && (value > 0 || *factor == 1));
    let best = exact
        .min_by_key(|(_, factor)| ((value / factor).to_string().len(), !factor.is_power_of_two(), *factor));
    best.map_or_else(|| value.to_string(), |(name, factor)| format!("{}{name}", value / factor))
}

/// Bytes for display: `8 B`, `1.50 GiB`.
pub fn fmt_bytes(bytes: u64) -> String {
    const STEPS: &[(f64, &str)] = &[
        ((1u64 << 40) as f64, "TiB"),
        ((1u64 << 30) as f64, "GiB"),
        ((1u64 << 20) as f64, "MiB"),
        (1024.0, "KiB"),
    ];
    if bytes < 1024 { format!("{bytes} B") } else { stepped(bytes as f64, STEPS, "B") }
}

/// A memory size for display, without trailing zeros: `12 GiB`.
pub fn fmt_size(bytes: u64) -> String {
    let units = [(1u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let (unit, name) = units.into_iter().find(|u| bytes >= u.0).unwrap_or((1, "B"));
    let value = bytes as f64 / unit as f64;
    let digits = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    let text = format!("{value:.digits$}");
    let text = if digits > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} {name}")
}

/// A count for display: `999`, `16.8 M`.
pub fn fmt_count(count: u64) -> String {
    if count < 1000 { count.to_string() } else { stepped(count as f64, &DECIMAL, "").trim_end().to_owned() }
}

/// An exact count for display, with thousands separators: `1,048,576`.
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Ascending numbers as a list of ranges, `0-3,8`: the format in which Linux lists CPUs.
pub fn ranges(numbers: &[usize]) -> String {
    let mut parts: Vec<(usize, usize)> = Vec::new();
    for &number in numbers {
        match parts.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => parts.push((number, number)),
        }
    }
    let part = |(first, last): &(usize, usize)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    parts.iter().map(part).collect::<Vec<_>>().join(",")
}

const DECIMAL: [(f64, &str); 4] = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];

/// A count with its noun, whose plural ends in `s`: `1 case`, `2 cases`.
pub fn number_of(count: usize, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}

/// Seconds for display: `512 ns`, `45.6 µs`, `1.23 s`, `2 min 05 s`, `1 h 02 min`, `1.00e308 s`. Infinite, NaN and negative
/// values are `n/a`.
pub fn fmt_seconds(seconds: f64) -> String {
    const STEPS: &[(f64, &str)] = &[(1.0, "s"), (1e-3, "ms"), (1e-6, "µs")];
    if !seconds.is_finite() || seconds < 0.0 {
        return "n/a".to_owned();
    }
    if seconds < 59.95 {
        return if seconds == 0.0 { "0 s".to_owned() } else { stepped_small(seconds, STEPS) };
    }
    if seconds >= UNWIELDY {
        return format!("{} s", three_digits(seconds));
    }
    let whole = seconds.round() as u64;
    let (hours, minutes) = (whole / 3600, whole / 60 % 60);
    if hours > 0 {
        format!("{hours} h {minutes:02} min")
    } else {
        format!("{minutes} min {:02} s", whole % 60)
    }
}

/// A bandwidth for display, from GB/s (1e9 bytes per second): `12.3 GB/s`, `4501 GB/s`.
pub fn fmt_rate(gigabytes_per_second: f64) -> String {
    with_unit(gigabytes_per_second, "GB/s")
}

/// A throughput for display, from elements per second: `1.23 Gelem/s`, `512 Melem/s`.
pub fn fmt_throughput(elements_per_second: f64) -> String {
    let (factor, unit) = match elements_per_second {
        v if v >= 0.9995e9 => (1e9, "Gelem/s"),
        v if v >= 0.9995e6 => (1e6, "Melem/s"),
        v if v >= 0.9995e3 => (1e3, "kelem/s"),
        _ => (1.0, "elem/s"),
    };
    with_unit(elements_per_second / factor, unit)
}

/// Floating-point operations per second for display: `548 GFLOPS`, `1.23 TFLOPS`.
pub fn fmt_flops(operations_per_second: f64) -> String {
    let (factor, unit) = match operations_per_second {
        v if v >= 0.9995e12 => (1e12, "TFLOPS"),
        v if v >= 0.9995e9 => (1e9, "GFLOPS"),
        v if v >= 0.9995e6 => (1e6, "MFLOPS"),
        v if v >= 0.9995e3 => (1e3, "kFLOPS"),
        _ => (1.0, "FLOPS"),
    };
    with_unit(operations_per_second / factor, unit)
}

/// A relative change for display, from a share: 0.111 is `+11.1 %`, −0.4 is `−40.0 %`.
pub fn fmt_change(share: f64) -> String {
    let sign = if share < 0.0 { '−' } else { '+' };
    match share.abs() * 100.0 {
        percent if !percent.is_finite() => "n/a".to_owned(),
        percent if percent >= UNWIELDY => format!("{sign}{} %", three_digits(percent)),
        percent => format!("{sign}{percent:.1} %"),
    }
}

fn with_unit(value: f64, unit: &str) -> String {
    if value.is_finite() { format!("{} {unit}", three_digits(value)) } else { "n/a".to_owned() }
}

/// Formats in the first of these units, which are in descending order, in which the rounded value is at least 1;
/// else in `smallest`.
fn stepped(value: f64, steps: &[(f64, &str)], smallest: &str) -> String {
    let step = steps.iter().find(|(factor, _)| value >= factor * 0.9995);
    let (factor, unit) = step.copied().unwrap_or((1.0, smallest));
    format!("{} {unit}", three_digits(value / factor))
}

fn stepped_small(seconds: f64, steps: &[(f64, &str)]) -> String {
    match steps.iter().find(|(factor, _)| seconds >= factor * 0.9995) {
        Some((factor, unit)) => format!("{} {unit}", three_digits(seconds / factor)),
        None => format!("{} ns", three_digits(seconds * 1e9)),
    }
}

/// From here on a number has an exponent: it has more digits than an `f64` holds, and up to 309.
pub const UNWIELDY: f64 = 1e15;

/// Three significant digits, but never fewer than the integer part has: `1.23`, `45.6`, `789`, `2718`,
/// `0.00123`; `1.00e308` from [`UNWIELDY`] on.
pub fn three_digits(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".to_owned() } else { "n/a".to_owned() };
    }
    if value.abs() >= UNWIELDY {
        return format!("{value:.2e}");
    }
    let rounded = rounded_to_three(value);
    let decimals = (2 - rounded.abs().log10().floor() as i32).clamp(0, 12) as usize;
    let mut out = String::new();
    // Writing into a String cannot fail.
    let _ = write!(out, "{rounded:.decimals$}");
    out
}

/// Rounds to three significant digits, or to an integer if that has more.
fn rounded_to_three(value: f64) -> f64 {
    if value.abs() >= 1000.0 {
        return value.round();
    }
    format!("{value:.2e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_nobody_reads_to_the_end_have_an_exponent() {
        assert_eq!([1e308, -1e308, 1e15].map(three_digits), ["1.00e308", "-1.00e308", "1.00e15"]);
        assert_eq!(three_digits(999_999_999_999_999.0), "999999999999999");
        assert_eq!([1e308, 1e15, 7200.0].map(fmt_seconds), ["1.00e308 s", "1.00e15 s", "2 h 00 min"]);
        assert_eq!([1e308, -1e300, 0.5].map(fmt_change), ["n/a", "−1.00e302 %", "+50.0 %"]);
        assert_eq!(fmt_rate(-1e300), "-1.00e300 GB/s");
    }

    #[test]
    fn digits_stand_in_groups() {
        let groups = [0, 999, 1000, 1_048_576, u64::MAX].map(grouped);
        assert_eq!(groups, ["0", "999", "1,000", "1,048,576", "18,446,744,073,709,551,615"]);
    }

    #[test]
    fn numbers_are_listed_as_ranges() {
        assert_eq!(ranges(&[0, 1, 2, 5, 7, 8]), "0-2,5,7-8");
        assert_eq!(ranges(&[]), "");
    }

    #[test]
    fn labels_are_short_and_exact() {
        let counts = [(0, "0"), (1, "1"), (1000, "1k"), (1024, "1Ki"), (1500, "1500"), (16 << 20, "16Mi")];
        for (value, label) in counts {
            assert_eq!(label_count(value), label);
        }
        let sizes = [(0, "0B"), (8, "8B"), (128 << 20, "128MiB"), (2_000_000_000, "2GB"), (1 << 30, "1GiB")];
        for (value, label) in sizes {
            assert_eq!(label_bytes(value), label);
        }
    }

    #[test]
    fn people_read_three_digits() {
        assert_eq!([fmt_bytes(0), fmt_bytes(1023), fmt_bytes(1536 << 20)], ["0 B", "1023 B", "1.50 GiB"]);
        assert_eq!([fmt_count(999), fmt_count(16 << 20), fmt_count(999_999)], ["999", "16.8 M", "1.00 M"]);
        assert_eq!(
            [fmt_rate(12.345), fmt_rate(4501.4), fmt_rate(f64::NAN)],
            ["12.3 GB/s", "4501 GB/s", "n/a"]
        );
        assert_eq!([fmt_throughput(1.234e9), fmt_throughput(5e8)], ["1.23 Gelem/s", "500 Melem/s"]);
        let flops = [1.234e12, 5.48e11, 2.15e8, 12e3, 7.0].map(fmt_flops);
        assert_eq!(flops, ["1.23 TFLOPS", "548 GFLOPS", "215 MFLOPS", "12.0 kFLOPS", "7.00 FLOPS"]);
        let times = [0.0, 5.12e-7, 4.5678e-5, 1.5e-3, 1.234, 125.0, 3725.0, f64::INFINITY].map(fmt_seconds);
        assert_eq!(
            times,
            ["0 s", "512 ns", "45.7 µs", "1.50 ms", "1.23 s", "2 min 05 s", "1 h 02 min", "n/a"]
        );
        assert_eq!(
            [three_digits(999.6), three_digits(0.001_234), three_digits(-9.999)],
            ["1000", "0.00123", "-10.0"]
        );
    }

    proptest::proptest! {
        #[test]
        fn a_label_parses_back(value: u64) {
            proptest::prop_assert_eq!(parse_count(&label_count(value)), Ok(value));
            proptest::prop_assert_eq!(parse_bytes(&label_bytes(value)), Ok(value));
        }
    }
}
