//! The values of a histogram as integer functions of (seed, i), the counterpart of `value_of` in
//! `kernels/histogram/histogram.cu`.
//!
//! With u = word64(seed, i), value i is k · 2^-14, where k < 2^24 is
//!
//! ```text
//! uniform  u >> 40
//! skewed   u mod 16 = 0:  u >> 40;  else  hot + (u >> 52),  hot = 4096 · (word64(seed ^ TAG, 0) >> 52)
//! zipf     4096 · draw i of Zipf over [0, 4096)  +  (u >> 52)
//! ```

use super::{Distribution, Spec};
use crate::inputs::Zipf;
use crate::inputs::mix::word64;

const TAG: u64 = 0x484F_5450_4C41_4345;

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

#[cfg(test)]
mod tests {
    use super::super::tests::spec;
    use super::*;

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
}
