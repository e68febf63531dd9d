//! Primes below 2^32, the counterpart of `is_prime` in `kernels/multisplit/inputs.cuh`.

use std::iter::successors;

/// The greatest prime below 2^32.
pub const LAST: u32 = 4_294_967_291;

/// The least strong pseudoprime to all of these bases is 4 759 123 141 (G. Jaeschke, *On strong pseudoprimes to
/// several bases*, 1993).
const BASES: [u32; 3] = [2, 7, 61];

fn power(base: u32, mut exponent: u32, modulus: u32) -> u32 {
    let modulo = |x: u64| x % u64::from(modulus);
    let (mut square, mut product) = (modulo(u64::from(base)), 1);
    while exponent > 0 {
        if exponent & 1 == 1 {
            product = modulo(product * square);
        }
        square = modulo(square * square);
        exponent >>= 1;
    }
    product as u32
}

/// Whether an odd n > 2 is a prime or a strong pseudoprime to `base`.
fn passes(n: u32, base: u32) -> bool {
    let twos = (n - 1).trailing_zeros();
    let first = power(base, (n - 1) >> twos, n);
    let square = |x: &u32| Some((u64::from(*x) * u64::from(*x) % u64::from(n)) as u32);
    let mut squares = successors(Some(first), square).take(twos as usize);
    first == 1 || base.is_multiple_of(n) || squares.any(|x| x == n - 1)
}

/// Whether n is a prime: trial division by small divisors, then the Miller–Rabin test.
pub fn is_prime(n: u32) -> bool {
    if n < 2 {
        return false;
    }
    for divisor in [2, 3, 5, 7, 11, 13] {
        if n.is_multiple_of(divisor) {
            return n == divisor;
        }
    }
    BASES.into_iter().all(|base| passes(n, base))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_agrees_with_a_sieve() {
        const N: usize = 1 << 17;
        let mut composite = vec![false; N];
        for d in 2..N {
            if !composite[d] {
                (d * d..N).step_by(d).for_each(|k| composite[k] = true);
            }
        }
        for (n, &composite) in composite.iter().enumerate() {
            assert_eq!(is_prime(n as u32), n > 1 && !composite, "{n}");
        }
    }

    /// Strong pseudoprimes to base 2, to 2 and 7, and the ends of the range.
    #[test]
    fn large_ones_are_told_apart() {
        assert!([2_147_483_647, LAST, 4_294_967_279].into_iter().all(is_prime));
        assert!((LAST + 1..=u32::MAX).all(|n| !is_prime(n)));
        assert!(
            ![2047, 3_215_031_751, 2_284_453, 314_821, 65_535 * 65_537, 65_521 * 65_521]
                .into_iter()
                .any(is_prime)
        );
    }
}
