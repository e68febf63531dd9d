//! The values of a histogram as integer functions of (seed, i), and the splitters between its bins; the counterpart of `value_of` in
//! `kernels/histogram/histogram.cu`.
//!
//! With u = word64(seed, i), value i is k · 2^-14, where k < 2^24 is
//!
//! ```text
//! uniform  u >> 40
//! skewed   u mod 16 = 0:  u >> 40;  else  hot + (u >> 52),  hot = 4096 · (word64(seed ^ TAG, 0) >> 52)
//! zipf     4096 · draw i of Zipf over [0, 4096)  +  (u >> 52)
//! ```

use super::{BITS, By, DOMAIN, Distribution, Spec};
use crate::inputs::Zipf;
use crate::inputs::mix::{scale, word64};

const TAG: u64 = 0x484F_5450_4C41_4345;
const TAG_SPLITTERS: u64 = 0x5350_4C49_5454_4552;

/// Cells of the domain from which a draw chooses, 2^12 values each.
const CELLS: u64 = 4096;

/// The generator of the values.
#[derive(Clone, Debug)]
pub enum Values {
    Uniform { seed: u64 },
    Skewed { seed: u64, hot: u32 },
    Zipf { seed: u64, cells: Box<Zipf> },
}

impl Values {
    /// The values of a case; `None` if its exponent is invalid, which no case has.
    pub fn new(spec: &Spec) -> Option<Values> {
        let seed = spec.seed;
        Some(match spec.distribution {
            Distribution::Uniform => Values::Uniform { seed },
            Distribution::Skewed => {
                Values::Skewed { seed, hot: ((word64(seed ^ TAG, 0) >> 52) << 12) as u32 }
            }
            Distribution::Zipf { exponent } => {
                Values::Zipf { seed, cells: Box::new(Zipf::new(CELLS, exponent, seed)?) }
            }
        })
    }

    /// Value `i` in units of 2^-14, below 2^24.
    #[inline]
    pub fn at(&self, i: u64) -> u32 {
        match self {
            Values::Uniform { seed } => (word64(*seed, i) >> 40) as u32,
            Values::Skewed { seed, hot } => {
                let u = word64(*seed, i);
                if u.is_multiple_of(16) { (u >> 40) as u32 } else { hot + (u >> 52) as u32 }
            }
            Values::Zipf { seed, cells } => ((cells.draw(i) << 12) + (word64(*seed, i) >> 52)) as u32,
        }
    }
}

impl Spec {
    /// The splitters s_1 … s_(m-1) in units of 2^-14, ascending, each in [1, 2^24); for even bins, s_j is the
    /// least such value in bin j.
    pub fn splitters(&self) -> Vec<u32> {
        let top = 1u64 << BITS;
        let all = 1..self.bins;
        let mut splitters: Vec<u32> = match self.by {
            By::Even => all.map(|j| (j * top).div_ceil(self.bins) as u32).collect(),
            By::Range => {
                all.map(|j| 1 + scale(word64(self.seed ^ TAG_SPLITTERS, j), top - 1) as u32).collect()
            }
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

#[cfg(test)]
mod tests {
    use super::super::oracle::bin;
    use super::super::tests::spec;
    use super::*;
    use proptest::prelude::*;

    fn cells(words: &str) -> Vec<u64> {
        let values = Values::new(&spec(words)).expect("values");
        let mut counts = vec![0; CELLS as usize];
        (0..1 << 16).for_each(|i| counts[(values.at(i) >> 12) as usize] += 1);
        counts
    }

    #[test]
    fn values_stay_in_the_domain_and_lie_where_they_should() {
        let most = |words: &str| cells(words).into_iter().max().expect("cells");
        assert!(most("elements=1 bins=2") < 60);
        let skewed = most("elements=1 bins=2 distribution=skewed");
        assert!((60_000..62_500).contains(&skewed), "{skewed}");
        let zipf = most("elements=1 bins=2 distribution=zipf distribution.zipf.exponent=1.0");
        assert!((6_500..8_500).contains(&zipf), "{zipf}");
    }

    /// The CUDA counterpart must give the same values.
    #[test]
    fn golden() {
        let at = |words: &str| {
            let values = Values::new(&spec(words)).expect("values");
            [0, 1, 2, 1 << 40].map(|i| values.at(i))
        };
        insta::assert_debug_snapshot!([
            at("elements=1 bins=2"),
            at("elements=1 bins=2 distribution=skewed"),
            at("elements=1 bins=2 distribution=zipf distribution.zipf.exponent=1.0"),
        ]);
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
    }
}
