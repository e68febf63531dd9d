//! Formats ratios of times.

use crate::case::units;
use crate::stats::Ratio;

/// Beyond this factor from the ratio or from 1, the digits of a limit are meaningless.
const FAR: f64 = 10.0;

/// `×1.111 [1.102, 1.120]`: the factor of the time, with its interval. A distant limit is only bounded:
/// `×1.300 [< ×0.1, > ×10]`.
pub fn change(ratio: Ratio) -> String {
    let Ratio { value, low, high } = ratio;
    let (least, most) = (value.min(1.0) / FAR, value.max(1.0) * FAR);
    let low = if low < least { format!("< ×{}", power(least.log10().ceil())) } else { times(low) };
    let high = if high > most { format!("> ×{}", power(most.log10().floor())) } else { times(high) };
    format!("×{} [{low}, {high}]", times(value))
}

/// Three decimals near 1, otherwise three significant digits.
fn times(ratio: f64) -> String {
    match ratio {
        0.1..10.0 => format!("{ratio:.3}"),
        _ => units::three_digits(ratio),
    }
}

/// `0.1`, `10`, `1000`.
fn power(exponent: f64) -> String {
    let decimals = (-exponent).max(0.0) as usize;
    format!("{:.decimals$}", 10f64.powf(exponent))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(value: f64, low: f64, high: f64) -> String {
        change(Ratio { value, low, high })
    }

    #[test]
    fn there_is_one_notation() {
        assert_eq!(of(1.011, 0.998, 1.024), "×1.011 [0.998, 1.024]");
        assert_eq!(of(0.5, 0.497, 0.503), "×0.500 [0.497, 0.503]");
        assert_eq!(of(42.1, 40.2, 44.0), "×42.1 [40.2, 44.0]");
        assert_eq!(of(0.0123, 0.0121, 0.0125), "×0.0123 [0.0121, 0.0125]");
    }

    #[test]
    fn what_is_far_away_has_no_digits() {
        assert_eq!(of(1.3, 1e-9, 16_958.6), "×1.300 [< ×0.1, > ×10]");
        assert_eq!(of(0.05, 1e-9, 9.0), "×0.0500 [< ×0.01, 9.000]");
        assert_eq!(of(200.0, 0.5, 1e9), "×200 [0.500, > ×1000]");
    }
}
