//! Ranges: `a..b xk` (geometric) and `a..b +k` (linear). The last value is `b` if the steps hit it, else the
//! last value below it.

use crate::case::chart::Scale;
use crate::case::units::UnitError;

/// Maximal number of values of one range.
const MAX_VALUES: usize = 4096;

/// The three parts of a range, as text.
pub(crate) struct Range<'t> {
    first: &'t str,
    last: &'t str,
    step: &'t str,
    pub scale: Scale,
}

/// Whether a text is intended as a range.
pub(crate) fn is_range(text: &str) -> bool {
    text.contains("..")
}

/// Splits a range into its parts.
///
/// # Errors
/// The reason, if the step is missing.
pub(crate) fn split(text: &str) -> Result<Range<'_>, String> {
    let missing = || "write the step too: `1..64 x2` or `1..64 +1`".to_owned();
    let (first, rest) = text.split_once("..").ok_or_else(missing)?;
    let at = rest.find(['x', '+']).ok_or_else(missing)?;
    let scale = if rest[at..].starts_with('x') { Scale::Log } else { Scale::Linear };
    Ok(Range { first: first.trim(), last: rest[..at].trim(), step: rest[at + 1..].trim(), scale })
}

impl Range<'_> {
    /// The values of a range of integers; `parse` reads an integer with its unit.
    pub fn integers(&self, parse: fn(&str) -> Result<u64, UnitError>) -> Result<Vec<u64>, String> {
        let read = |text| parse(text).map_err(|e| e.to_string());
        let (first, last) = (read(self.first)?, read(self.last)?);
        if first > last {
            return Err("it ends before it starts".to_owned());
        }
        let next: Box<dyn Fn(u64) -> Option<u64>> = match self.scale {
            Scale::Linear => {
                let step = read(self.step)?;
                if step == 0 {
                    return Err("the step must be more than 0".to_owned());
                }
                Box::new(move |v| v.checked_add(step))
            }
            _ => {
                let plain = self.step.bytes().all(|digit| digit.is_ascii_digit());
                let factor = self.step.parse::<u64>().ok().filter(|_| plain);
                let factor = factor.ok_or_else(|| self.bad_factor("a whole number"))?;
                if factor < 2 {
                    return Err("the factor must be at least 2".to_owned());
                }
                if first == 0 {
                    return Err("a geometric range cannot start at 0".to_owned());
                }
                Box::new(move |v| v.checked_mul(factor))
            }
        };
        collect(first, |v| next(*v).filter(|v| *v <= last))
    }

    /// The values of a range of real numbers, each rounded to twelve digits, so that
    /// `0..1 +0.1` holds 0.3 and not 0.30000000000000004.
    pub fn floats(&self) -> Result<Vec<f64>, String> {
        let (first, last, step) = (decimal(self.first)?, decimal(self.last)?, decimal(self.step)?);
        if first > last {
            return Err("it ends before it starts".to_owned());
        }
        if self.scale == Scale::Linear {
            if step <= 0.0 {
                return Err("the step must be more than 0".to_owned());
            }
            let values = collect((0u32, first), |(i, _)| {
                let next = twelve_digits(first + f64::from(i + 1) * step);
                (next <= last).then_some((i + 1, next))
            })?;
            return Ok(values.into_iter().map(|(_, v)| v).collect());
        }
        if step <= 1.0 {
            return Err("the factor must be more than 1".to_owned());
        }
        if first <= 0.0 {
            return Err("a geometric range must start above 0".to_owned());
        }
        collect(first, |v| Some(twelve_digits(v * step)).filter(|next| next > v && *next <= last))
    }

    fn bad_factor(&self, expected: &str) -> String {
        format!("the factor `{}` is not {expected}", crate::case::units::shown(self.step))
    }
}

/// A regular expression (ECMA-262) for ranges of integers: geometric from `positive` or linear from `first`,
/// up to `last`, by `step`; the arguments are regular expressions, too.
pub(crate) fn pattern(first: &str, positive: &str, last: &str, step: &str) -> String {
    let factor = "0*([2-9]|[1-9][0-9]+)";
    let geometric = format!("{positive}\\s*\\.\\.\\s*{last}\\s*x\\s*{factor}");
    let linear = format!("{first}\\s*\\.\\.\\s*{last}\\s*\\+\\s*{step}");
    format!("\\s*({geometric}|{linear})\\s*")
}

/// A regular expression for ranges of real numbers.
pub(crate) fn pattern_of_decimals(decimal: &str) -> String {
    format!("\\s*{decimal}\\s*\\.\\.\\s*{decimal}\\s*[x+]\\s*{decimal}\\s*")
}

fn collect<T>(first: T, next: impl Fn(&T) -> Option<T>) -> Result<Vec<T>, String> {
    let mut values = vec![first];
    while let Some(value) = values.last().and_then(&next) {
        if values.len() == MAX_VALUES {
            return Err(format!("it has more than {MAX_VALUES} values"));
        }
        values.push(value);
    }
    Ok(values)
}

fn decimal(text: &str) -> Result<f64, String> {
    let plain = text.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | '-'));
    let number = text.parse::<f64>().ok().filter(|v| plain && v.is_finite());
    number.ok_or_else(|| format!("`{}` is not a number", crate::case::units::shown(text)))
}

fn twelve_digits(value: f64) -> f64 {
    format!("{value:.11e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::units::{parse_bytes, parse_count};

    fn counts(text: &str) -> Result<Vec<u64>, String> {
        split(text)?.integers(parse_count)
    }

    #[test]
    fn both_ends_belong_to_a_range_that_hits_them() {
        assert_eq!(counts("1..64 x2"), Ok(vec![1, 2, 4, 8, 16, 32, 64]));
        assert_eq!(counts("1..63 x2"), Ok(vec![1, 2, 4, 8, 16, 32]));
        assert_eq!(counts("0..10 +5"), Ok(vec![0, 5, 10]));
        assert_eq!(counts("0..9 +5"), Ok(vec![0, 5]));
        assert_eq!(counts("7..7 x2"), Ok(vec![7]));
        assert_eq!(counts(" 1Ki .. 4Ki  x 2 "), Ok(vec![1024, 2048, 4096]));
    }

    #[test]
    fn units_stand_on_both_ends() {
        let bytes = |text| split(text).and_then(|r| r.integers(parse_bytes));
        assert_eq!(bytes("8B..32B x2"), Ok(vec![8, 16, 32]));
        assert_eq!(bytes("8B..32B +8B"), Ok(vec![8, 16, 24, 32]));
        assert_eq!(
            bytes("8..32B x2"),
            Err("`8` has no unit; write a size such as `8B` or `128MiB`".to_owned())
        );
    }

    #[test]
    fn the_end_of_u64_ends_a_range() {
        assert_eq!(counts("9223372036854775808..18446744073709551615 x2"), Ok(vec![1 << 63]));
        assert_eq!(counts("18446744073709551614..18446744073709551615 +3"), Ok(vec![u64::MAX - 1]));
    }

    #[test]
    fn floats_have_no_dust() {
        let floats = |text| split(text).and_then(|r| r.floats());
        assert_eq!(floats("0..0.5 +0.1"), Ok(vec![0.0, 0.1, 0.2, 0.3, 0.4, 0.5]));
        assert_eq!(floats("0.25..2 x2"), Ok(vec![0.25, 0.5, 1.0, 2.0]));
        assert_eq!(floats("1..2 x1.0000000000000001").map_err(|e| e.contains("more than 1")), Err(true));
        assert_eq!(floats("0..nan +1"), Err("`nan` is not a number".to_owned()));
    }

    #[test]
    fn mistakes_have_reasons() {
        for (text, reason) in [
            ("1..64", "write the step too: `1..64 x2` or `1..64 +1`"),
            ("64..1 x2", "it ends before it starts"),
            ("1..64 x1", "the factor must be at least 2"),
            ("1..64 x", "the factor `` is not a whole number"),
            ("1..64 x+2", "the factor `+2` is not a whole number"),
            ("1..64 x2 junk", "the factor `2 junk` is not a whole number"),
            ("1..64 +0", "the step must be more than 0"),
            ("0..64 x2", "a geometric range cannot start at 0"),
            ("0..4096 +1", "it has more than 4096 values"),
        ] {
            assert_eq!(counts(text), Err(reason.to_owned()), "{text}");
        }
        assert_eq!(counts("0..4095 +1").map(|v| v.len()), Ok(4096));
    }
}
