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
mod table;
pub mod values;

pub use methods::Method;

use super::{Definition, Primitive, Problem};
use crate::case::table::{choice, count, float, parameters, words};
use crate::case::{BlockCost, Fault, Params, Refusal, Work, params};
use crate::inputs::mix::{scale, word64};
use crate::inputs::zipf::MAX_EXPONENT;

/// Bits of a value k · 2^-14 with k < 2^24, so that every value is an f32.
pub const BITS: u32 = 24;
/// Values lie in [0, DOMAIN).
pub const DOMAIN: f32 = 1024.0;
/// Upper limit on the number of bins.
pub const MAX_BINS: u64 = 4096;
const TAG: u64 = 0x5350_4C49_5454_4552;

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
        /// everywhere alike
        Uniform = "uniform",
        /// 15 of 16 in one 4096th of the domain, the others everywhere
        Skewed = "skewed",
        /// 4096ths of the domain by Zipf's law
        Zipf = "zipf" main "exponent" {
            /// the 4096th of rank r is drawn in proportion to r^-exponent
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
        /// even: bins of the same width; range: between random splitters
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
                Err(Refusal::NotApplicable("ballots are a method of GPUs".to_owned()))
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

    /// The splitters s_1 … s_(m-1) in units of 2^-14, ascending, each in [1, 2^24); for even bins, s_j is the
    /// least such value in bin j.
    pub fn splitters(&self) -> Vec<u32> {
        let top = 1u64 << BITS;
        let all = 1..self.bins;
        let mut splitters: Vec<u32> = match self.by {
            By::Even => all.map(|j| (j * top).div_ceil(self.bins) as u32).collect(),
            By::Range => all.map(|j| 1 + scale(word64(self.seed ^ TAG, j), top - 1) as u32).collect(),
        };
        splitters.sort_unstable();
        splitters
    }

    /// The least f32 of each bin from the second on: any f32 x lies in bin j or above if and only if x is at
    /// least entry j − 1.
    pub fn bounds(&self) -> Vec<f32> {
        match self.by {
            By::Even => (1..self.bins).map(|j| least(j, self.bins)).collect(),
            By::Range => self.splitters().into_iter().map(real).collect(),
        }
    }
}

/// The least f32 that is at least 1024 · j / m.
fn least(j: u64, m: u64) -> f32 {
    let nearest = (f64::from(DOMAIN) * j as f64 / m as f64) as f32;
    // The product is exact in f64: 24 bits times 13 bits.
    if f64::from(nearest) * (m as f64) < f64::from(DOMAIN) * j as f64 { nearest.next_up() } else { nearest }
}

/// k · 2^-14, exactly.
#[inline(always)]
pub fn real(k: u32) -> f32 {
    k as f32 * (DOMAIN / (1u32 << BITS) as f32)
}

impl Definition for Spec {
    const PRIMITIVES: &'static [Primitive] = &[Primitive::of::<Spec>(
        "histogram",
        "how many of the values lie in each bin, bins of the same width or between splitters",
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

    /// With an even number of values, a worker that counts its neighbour's values instead of its own counts
    /// equally many, which may lie in the same bins.
    fn fault_is_detectable(&self, fault: Fault) -> bool {
        fault != Fault::WrongChunk || !self.elements.is_multiple_of(2)
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

    #[test]
    fn a_mistake_shows_where_it_changes_the_number_of_values() {
        let fault_is_detectable = |n: u64| {
            Fault::ELEMENTS
                .map(|fault| self::spec(&format!("elements={n} bins=2")).fault_is_detectable(fault))
        };
        assert_eq!(fault_is_detectable(33), [true; 4]);
        assert_eq!(fault_is_detectable(34), [true, true, false, true]);
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
        assert!(refusal("elements=4 bins=2 method=ballot backend=cpu").starts_with("n/a: ballots"));
        let items = params("elements=4 bins=2 backend=cuda backend.cuda.items=2");
        assert!(
            Spec::tunables("histogram", &items).is_err_and(|refused| refused.to_string().contains("items"))
        );
    }

    #[test]
    fn splitters_ascend_within_the_domain() {
        for words in ["bins=2", "bins=3", "bins=4096", "bins=4096 by=range", "bins=2 by=range"] {
            let spec = spec(&format!("elements=1 {words}"));
            let splitters = spec.splitters();
            assert_eq!(splitters.len() as u64, spec.bins - 1);
            assert!(splitters.is_sorted() && splitters.iter().all(|s| (1..1 << BITS).contains(s)), "{words}");
        }
    }

    proptest! {
        /// Comparing f32 values with the bounds agrees with the integer definition, also next to the bounds.
        #[test]
        fn bounds_are_the_bins(bins in 2u64..=4096, range: bool, at in 0usize..4095, beside in 0u32..3) {
            let spec = spec(&format!("elements=1 bins={bins} by={}", if range { "range" } else { "even" }));
            let (splitters, bounds) = (spec.splitters(), spec.bounds());
            let k = (splitters[at % splitters.len()] + beside).saturating_sub(1).min((1 << BITS) - 1);
            let above = bounds.iter().filter(|&&bound| bound <= real(k)).count();
            prop_assert_eq!(above, bin(&spec, &splitters, k));
        }

        /// The truncated product of a value and m / 1024, which the kernels compute, is the bin.
        #[test]
        fn an_exact_product_is_the_bin(bins in 2u64..=4096, k in 0u32..1 << BITS) {
            let spec = spec(&format!("elements=1 bins={bins}"));
            let product = f64::from(real(k)) * (bins as f64 / f64::from(DOMAIN));
            prop_assert_eq!(product as usize, bin(&spec, &[], k));
        }
    }
}
