//! histogram: counts how many of n values lie in each of m bins (ashkiani2017 §7.3).
//!
//! Values are f32 in [0, 1024): k · 2^-14 with a pseudo-random k < 2^24 ([`values`]). With the splitters
//! s_0 = 0 < s_1 ≤ … ≤ s_(m-1) < s_m = 1024, bin j counts the x with s_j ≤ x < s_(j+1):
//!
//! ```text
//! even    s_j = 1024 · j / m: the bin of x is ⌊x · m / 1024⌋, without rounding
//! range   s_1 … s_(m-1) random: the bin of x is the number of them that are ≤ x
//! ```
//!
//! The counts are 64-bit integers. An execution starts from zero counts and includes building any tables of the
//! splitters. The effective bytes are the values, read once: 4 · n.

pub mod cpu;
pub mod cuda;
mod layout;
mod methods;
mod oracle;
pub mod values;

pub use methods::Method;
pub use values::real;

use super::{Definition, Primitive, Problem};
use crate::case::table::{choice, count, float, parameters, words};
use crate::case::{BlockCost, Params, Refusal, Work, params};
use crate::inputs::zipf::MAX_EXPONENT;

/// Bits of a value k · 2^-14 with k < 2^24, so that every value is an f32.
pub const BITS: u32 = 24;
/// Values lie in [0, DOMAIN).
pub const DOMAIN: f32 = 1024.0;
/// Upper limit on the number of bins.
pub const MAX_BINS: u64 = 4096;

words! {
    /// The placement of the bounds between bins.
    pub enum By {
        /// Evenly spaced splitters.
        Even = "even",
        /// Random ones.
        Range = "range",
    }
}

choice! {
    /// Where the values lie.
    pub enum Distribution {
        /// evenly everywhere
        Uniform = "uniform",
        /// 15 of 16 values in one 4096th of the domain, the others anywhere in it
        Skewed = "skewed",
        /// Zipf's law over 4096ths of the domain
        Zipf = "zipf" main "exponent" {
            /// the 4096th of rank r is drawn with a probability proportional to r^-exponent
            exponent: f64 [float(0.0, MAX_EXPONENT)],
        },
    }
}

parameters! {
    /// A histogram case, typed.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Spec {
        /// f32 values (ashkiani2017's n)
        elements: u64 [count(1, 1 << 45)],
        /// bins (ashkiani2017's m)
        bins: u64 [count(2, MAX_BINS)],
        /// even: bins of equal width; range: bins delimited by random splitters
        by: By = "even",
        /// where in [0, 1024) the values lie
        distribution: Distribution = "uniform",
        /// how it is computed
        method: Method = "best",
    }
}

impl Spec {
    /// Reads and checks a case's parameters.
    pub fn from_params(params: &Params, seed: u64) -> Result<Spec, Refusal> {
        let spec = Spec::of_table(params, seed)?;
        params::bytes("elements", &[spec.elements, 4])?;
        match spec.method {
            Method::Ballot { .. } if spec.backend.is_cpu() => {
                Err(Refusal::NotApplicable("ballot is a method of GPUs".to_owned()))
            }
            Method::Ballot { .. } if spec.bins > methods::MAX_BALLOT_BINS => Err(Refusal::NotApplicable(
                format!("the lanes of a warp keep the counts of at most {} bins", methods::MAX_BALLOT_BINS),
            )),
            _ => Ok(spec),
        }
    }

    /// Bytes of the values.
    pub fn input(&self) -> u64 {
        self.elements * 4
    }

    /// Bytes of the counts, 8 per bin.
    pub fn output(&self) -> u64 {
        self.bins * 8
    }
}

impl Definition for Spec {
    const PRIMITIVES: &'static [Primitive] = &[Primitive::of::<Spec>(
        "histogram",
        "how many values fall in each bin; bins are either of equal width or delimited by splitters",
        Spec::TABLE,
    )];

    fn read(_name: &str, params: &Params, seed: u64) -> Result<Spec, Refusal> {
        Spec::from_params(params, seed)
    }
}

impl Problem for Spec {
    fn work(&self) -> Work {
        let costs = methods::costs(self);
        let footprint = self.input() + self.output() + costs.own_bytes;
        Work::of(self.elements, self.input(), costs.passes()).footprint(footprint).scratch(self.output())
    }

    fn block_costs(&self) -> Result<Vec<BlockCost>, String> {
        if self.backend.is_cuda() { methods::costs(self).block_costs() } else { Ok(Vec::new()) }
    }

    fn check(&self, output: &[u8]) -> Result<(), String> {
        oracle::check(self, output)
    }
}

#[cfg(test)]
mod tests {
    use super::super::words::params;
    use super::oracle::bin;
    use super::*;
    use proptest::prelude::*;

    pub(super) fn spec(words: &str) -> Spec {
        Spec::from_params(&params(words), 7).expect("a case")
    }

    fn work(words: &str) -> Work {
        self::spec(words).work()
    }

    #[test]
    fn what_counts_is_the_values() {
        let best = work("elements=1000000 bins=64");
        assert_eq!(
            (best.effective_bytes, best.declared_bytes(), best.footprint),
            (4_000_000, 4_000_000, 4_000_512)
        );
        let stored = work("elements=1000000 bins=64 method=ballot method.ballot.ending=reduction");
        assert_eq!(stored.declared_bytes() - stored.effective_bytes, 2 * 16 * 64 * 4);
        let added = work("elements=1000000 bins=64 method=ballot");
        assert_eq!((added.effective_bytes, added.declared_bytes()), (4_000_000, 4_000_000 + 16 * 64 * 8));
    }

    fn refusal(words: &str) -> String {
        Spec::from_params(&params(words), 1).expect_err("refused").to_string()
    }

    #[test]
    fn what_does_not_exist_is_refused_at_its_key() {
        assert!(refusal("elements=4 bins=1").starts_with("bins: "));
        assert!(refusal("elements=4 bins=4097").starts_with("bins: "));
        assert!(refusal("elements=4611686018427387904 bins=2").starts_with("elements: "));
        assert!(
            refusal("elements=4 bins=2 distribution=zipf")
                .starts_with("distribution.zipf.exponent: is missing")
        );
        assert!(refusal("elements=4 bins=257 method=ballot backend=cuda").starts_with("n/a: "));
        assert!(
            refusal("elements=4 bins=2 method=ballot backend=cpu")
                .starts_with("n/a: ballot is a method of GPUs")
        );
        let items = params("elements=4 bins=2 backend=cuda backend.cuda.items=2");
        assert!(
            Spec::tunables("histogram", &items).is_err_and(|refused| refused.to_string().contains("items"))
        );
    }

    proptest! {
        /// The truncated product of a value and m / 1024, which the kernels compute, is the bin.
        #[test]
        fn an_exact_product_is_the_bin(bins in 2u64..=4096, k in 0u32..1 << BITS) {
            let spec = spec(&format!("elements=1 bins={bins}"));
            let product = f64::from(real(k)) * (bins as f64 / f64::from(DOMAIN));
            prop_assert_eq!(product as usize, bin(&spec, &[], k));
        }
    }
}
