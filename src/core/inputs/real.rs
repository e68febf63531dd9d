//! ln and exp from additions, multiplications and divisions only, which IEEE 754 rounds identically everywhere.
//! Relative error below 1e-15 (for ln, relative to max(1, |ln|)).

const LN_2: f64 = std::f64::consts::LN_2;

/// Natural logarithm of a positive, normal number.
pub fn ln(x: f64) -> f64 {
    let bits = x.to_bits();
    let mut exponent = (bits >> 52) as i64 - 1023;
    let mut m = f64::from_bits((bits & ((1 << 52) - 1)) | (1023 << 52));
    if m > std::f64::consts::SQRT_2 {
        m /= 2.0;
        exponent += 1;
    }
    // ln m = 2·artanh(t) = 2·(t + t³/3 + t⁵/5 + …), |t| ≤ 0.172.
    let t = (m - 1.0) / (m + 1.0);
    let square = t * t;
    let mut series = 0.0;
    for k in (0..12).rev() {
        series = series * square + 1.0 / (2 * k + 1) as f64;
    }
    exponent as f64 * LN_2 + 2.0 * t * series
}

/// e^x; 0 if the result is below the normal numbers, infinite if it is above them.
pub fn exp(x: f64) -> f64 {
    let half = if x < 0.0 { -0.5 } else { 0.5 };
    let k = (x / LN_2 + half) as i64;
    if k < -1021 {
        return 0.0;
    }
    if k > 1022 {
        return f64::INFINITY;
    }
    // e^r = 1 + r·(1 + r/2·(1 + r/3·(…))), |r| ≤ 0.35.
    let r = x - k as f64 * LN_2;
    let mut series = 1.0;
    for n in (1..18).rev() {
        series = 1.0 + r / n as f64 * series;
    }
    series * f64::from_bits(((k + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn close_to_libm(x in 1e-3f64..1e15, y in -600f64..600.0) {
            prop_assert!((ln(x) - x.ln()).abs() <= 2e-15 * x.ln().abs().max(1.0));
            // The rounding error of the argument is |y|·2^-53.
            prop_assert!((exp(y) / y.exp() - 1.0).abs() <= 4e-16 * y.abs().max(4.0));
        }
    }

    #[test]
    fn ends() {
        assert_eq!(ln(1.0), 0.0);
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp(-800.0), 0.0);
        assert_eq!(exp(800.0), f64::INFINITY);
    }
}
