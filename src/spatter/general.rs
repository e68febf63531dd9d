//! Formats numbers as C++ streams do by default, which is C's `%g`.

/// Formats a number with this many significant digits and no trailing zeros, in whichever of its two notations
/// `%g` chooses.
pub fn general(value: f64, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".to_owned() } else { value.to_string().to_lowercase() };
    }
    let digits = digits.max(1);
    // Round before choosing the notation: 999999.5 rounds to seven digits before the point.
    let scientific = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if exponent < -4 || exponent >= digits as i32 {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", without_zeros(mantissa), exponent.abs());
    }
    let behind = (digits as i32 - 1 - exponent).max(0) as usize;
    without_zeros(&format!("{value:.behind$}")).to_owned()
}

fn without_zeros(number: &str) -> &str {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number }
}

/// Left-aligns the text in a column of this width, without truncating longer text.
pub fn column(text: &str, width: usize) -> String {
    format!("{text:<width$}")
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;

    use proptest::prelude::*;

    use super::*;

    /// The number as C prints it.
    fn printed(value: f64) -> String {
        let (format, mut buffer) = (CString::new("%g").expect("no NUL"), [0u8; 64]);
        // SAFETY: the buffer has the length that is passed, and `%g` takes one double.
        let length =
            unsafe { libc::snprintf(buffer.as_mut_ptr().cast(), buffer.len(), format.as_ptr(), value) };
        String::from_utf8_lossy(&buffer[..length as usize]).into_owned()
    }

    #[test]
    fn known_numbers() {
        for (value, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (0.1, "0.1"),
            (0.000104, "0.000104"),
            (0.0000104, "1.04e-05"),
            (123456.0, "123456"),
            (1234567.0, "1.23457e+06"),
            (999999.5, "1e+06"),
            (0.00099999995, "0.001"),
            (8388.608, "8388.61"),
            (1e100, "1e+100"),
            (-2.5, "-2.5"),
        ] {
            assert_eq!(general(value, 6), text);
            assert_eq!(printed(value), text);
        }
    }

    proptest! {
        #[test]
        fn it_writes_what_c_writes(value in prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL) {
            prop_assert_eq!(general(value, 6), printed(value));
        }

        #[test]
        fn also_of_everyday_size(mantissa in -1_000_000_000i64..1_000_000_000, power in -12i32..6) {
            let value = mantissa as f64 * 10f64.powi(power);
            prop_assert_eq!(general(value, 6), printed(value));
        }
    }
}
