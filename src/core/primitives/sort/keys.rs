//! Digits of keys, and the keys and values of a sort as integer functions of (seed, i), which have their twins in
//! `kernels/sort/inputs.cuh`.
//!
//! With w = word64(seed, i), W the bits of a key, and K(x) the W highest bits of word64(seed, x), key i is
//!
//! ```text
//! uniform    K(i)
//! zipf       K(draw i of Zipf over [0, n))
//! sorted     i · ⌊(2^W − 1) / n⌋
//! reversed   (n − 1 − i) · ⌊(2^W − 1) / n⌋
//! equal      K(0)
//! few        K(⌊mix64(w) · distinct / 2^64⌋)
//! entropy    K(i) & K(i + n) & … & K(i + (words − 1) · n)
//! file       as it is there
//! ```
//!
//! Key n, which only a deliberate mistake reads, is the complement of key 0. Value i is a bijection of i, so that a
//! certificate finds the place in the input from which a key has come.

use std::sync::Arc;

use super::{Distribution, Spec};
use crate::inputs::Zipf;
use crate::inputs::mix::{index_of_word, mix64, scale, word, word64};

/// Separates the seeds of values and of keys.
pub const VALUE: u64 = 0x534F_5254_5641_4C55;

/// The input of a case.
#[derive(Clone, Debug)]
pub struct Keys {
    pub seed: u64,
    pub n: u64,
    pub distribution: Distribution,
    /// The draws of Zipf-distributed keys.
    pub zipf: Option<Box<Zipf>>,
    /// The difference of neighbours that are sorted.
    pub step: u64,
    /// Bits by which a key is narrower than 64.
    pub drop: u32,
    /// The keys of a file.
    pub given: Option<Arc<Vec<u64>>>,
}

impl Keys {
    /// The input of a case. Takes about a millisecond.
    pub fn new(spec: &Spec) -> Keys {
        let drop = 64 - 8 * spec.key_bytes() as u32;
        let zipf = match spec.distribution {
            Distribution::Zipf { exponent } => Zipf::new(spec.keys, exponent, spec.seed).map(Box::new),
            _ => None,
        };
        Keys {
            seed: spec.seed,
            n: spec.keys,
            distribution: spec.distribution,
            zipf,
            step: (u64::MAX >> drop) / spec.keys.max(1),
            drop,
            given: None,
        }
    }

    fn random(&self, x: u64) -> u64 {
        word64(self.seed, x) >> self.drop
    }

    /// Key `i`, at most n.
    #[inline]
    pub fn at(&self, i: u64) -> u64 {
        if i < self.n {
            return self.inside(i);
        }
        let first = if self.n > 0 { self.inside(0) } else { 0 };
        !first & u64::MAX >> self.drop
    }

    #[inline]
    fn inside(&self, i: u64) -> u64 {
        match self.distribution {
            Distribution::Uniform => self.random(i),
            Distribution::Zipf { .. } => self.random(self.zipf.as_ref().map_or(0, |zipf| zipf.draw(i))),
            Distribution::Sorted => i * self.step,
            Distribution::Reversed => (self.n - 1 - i) * self.step,
            Distribution::Equal => self.random(0),
            Distribution::Entropy { words } => {
                (0..words).fold(u64::MAX >> self.drop, |key, w| key & self.random(i + w * self.n))
            }
            Distribution::File { .. } => self.given.as_ref().map_or(0, |given| given[i as usize]),
            Distribution::Few { distinct } => self.random(scale(mix64(word64(self.seed, i)), distinct)),
        }
    }

    /// Value `i` as an integer of `bytes` bytes; 0 if there are no values.
    #[inline]
    pub fn value(&self, i: u64, bytes: u64) -> u64 {
        word(self.seed ^ VALUE, i, bytes)
    }
}

/// The i whose value of `bytes` bytes this is.
#[inline]
pub fn index(seed: u64, value: u64, bytes: u64) -> u64 {
    index_of_word(seed ^ VALUE, value, bytes)
}

/// Bits of the digits of most methods.
pub const DIGIT_BITS: u32 = 8;

/// Keys that an AVX-512 network sorts at once, so many fewer than it holds that hardly a range of uniform keys exceeds it.
pub const AT_ONCE: usize = 200;

/// The digits of a field of keys, the lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digits {
    /// The lowest bit of the field.
    pub begin: u32,
    /// The bit behind the highest.
    pub end: u32,
    /// Bits of a digit; the highest digit may have fewer.
    pub radix: u32,
}

/// A digit of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digit {
    /// The lowest bit.
    pub shift: u32,
    /// The number of bits.
    pub bits: u32,
}

impl Digits {
    /// The number of digits.
    pub fn count(self) -> u32 {
        (self.end - self.begin).div_ceil(self.radix)
    }

    /// Digit `d`.
    pub fn digit(self, d: u32) -> Digit {
        let shift = self.begin + d * self.radix;
        Digit { shift, bits: self.radix.min(self.end - shift) }
    }

    /// All digits.
    pub fn all(self) -> impl DoubleEndedIterator<Item = Digit> {
        (0..self.count()).map(move |d| self.digit(d))
    }

    /// True if the field is not a whole key of `width` bits.
    pub fn is_field(self, width: u64) -> bool {
        (self.begin, u64::from(self.end)) != (0, width)
    }

    /// The bits of the field in a key: keys masked by them are in the order of their fields.
    pub fn mask(self) -> u64 {
        self.field(u64::MAX) << self.begin
    }

    /// The field of a key; 0 if it has no bits.
    #[inline(always)]
    pub fn field(self, key: u64) -> u64 {
        let bits = self.end - self.begin;
        if bits == 0 { 0 } else { key >> self.begin & u64::MAX >> (64 - bits) }
    }
}

impl Digit {
    /// The number of values of the digit.
    pub fn values(self) -> usize {
        1 << self.bits
    }

    /// The digit of a key.
    #[inline(always)]
    pub fn of(self, key: u64) -> usize {
        (key >> self.shift) as usize & (self.values() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::spec;
    use super::*;

    #[test]
    fn values_lead_back_to_their_places() {
        let keys = spec("keys=1000 values=8B").source();
        for i in [0, 1, 999] {
            assert_eq!([4, 8].map(|bytes| index(keys.seed, keys.value(i, bytes), bytes)), [i, i]);
        }
    }

    #[test]
    fn distributions_are_what_they_say() {
        let of = |words: &str| {
            let keys = spec(&format!("keys=4096 {words}")).source();
            (0..4096).map(|i| keys.at(i)).collect::<Vec<_>>()
        };
        let count = |words: &str| {
            let mut keys = of(words);
            keys.sort_unstable();
            keys.dedup();
            keys.len()
        };
        assert!(
            of("distribution=sorted").is_sorted() && of("distribution=reversed").is_sorted_by(|a, b| a > b)
        );
        assert!(of("distribution=sorted")[4095] > u64::from(u32::MAX) / 2);
        assert_eq!(count("distribution=equal"), 1);
        assert_eq!(count("distribution=few distribution.few.distinct=7 key=u64"), 7);
        let ones =
            |words: &str| of(words).iter().map(|key| f64::from(key.count_ones())).sum::<f64>() / 4096.0;
        for (and, share) in [(1, 0.5), (2, 0.25), (3, 0.125), (5, 1.0 / 32.0)] {
            for (key, bits) in [("u32", 32.0), ("u64", 64.0)] {
                let found = ones(&format!("key={key} distribution=entropy distribution.entropy.words={and}"));
                assert!((found / bits - share).abs() < 0.004, "{found} of {bits} bits by {and} words");
            }
        }
        let one = of("distribution=entropy distribution.entropy.words=1");
        assert_eq!(one, of("distribution=uniform"), "one word leaves all bits random");
        assert!(count("key=u64") == 4096 && (100..3000).contains(&count("distribution=zipf")));
        for words in ["", "key=u64 distribution=equal"] {
            let keys = spec(&format!("keys=4096 {words}")).source();
            assert_eq!(keys.at(4096), !keys.at(0) & u64::MAX >> keys.drop);
        }
    }

    /// The CUDA counterpart must give the same keys and values.
    #[test]
    fn golden() {
        let distributions = ["uniform", "zipf", "sorted", "reversed", "equal", "few", "entropy"];
        let of = |(key, distribution): (&str, &str)| {
            let distribution = match distribution {
                "entropy" => "entropy distribution.entropy.words=3",
                other => other,
            };
            let keys = spec(&format!("keys=100000 key={key} distribution={distribution}")).source();
            [0, 1, 2, 99_999, 100_000].map(|i| keys.at(i))
        };
        let all: Vec<_> =
            ["u32", "u64"].into_iter().flat_map(|key| distributions.map(|d| (key, d))).map(of).collect();
        let keys = spec("keys=9").source();
        insta::assert_debug_snapshot!((
            all,
            [4, 8].map(|bytes| [0, 1, 1 << 29].map(|i| keys.value(i, bytes)))
        ));
    }

    /// Table 8's digits of 5 bits: six of them, and one of two.
    #[test]
    fn the_last_digit_has_the_rest() {
        let digits = Digits { begin: 0, end: 32, radix: 5 };
        let bits: Vec<u32> = digits.all().map(|digit| digit.bits).collect();
        assert_eq!(bits, [5, 5, 5, 5, 5, 5, 2]);
        let field = Digits { begin: 3, end: 13, radix: 8 };
        assert_eq!((field.count(), field.digit(1)), (2, Digit { shift: 11, bits: 2 }));
        assert_eq!((field.field(u64::MAX), field.digit(1).of(1 << 12)), (1023, 2));
        assert_eq!(Digits { begin: 0, end: 64, radix: 8 }.field(u64::MAX), u64::MAX);
        assert_eq!((field.mask(), Digits { begin: 0, end: 64, radix: 1 }.mask()), (0x1FF8, u64::MAX));
        let none = Digits { begin: 4, end: 4, radix: 8 };
        assert_eq!((none.count(), none.field(u64::MAX)), (0, 0));
    }
}
