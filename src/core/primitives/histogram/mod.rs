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

mod block_costs;
pub mod cpu;
pub mod cuda;
mod layout;
mod oracle;
pub mod spec;
mod table;
pub mod values;

pub use spec::Spec;

use super::{Definition, Primitive, Problem};
use crate::case::{Access, BlockCost, Fault, Params, Pass, Refusal, Work};
use spec::{Ending, Method};

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
        Work::of(self.elements, self.input(), passes(self))
            .footprint(self.input() + self.output() + self.stored())
            .scratch(self.output())
    }

    fn block_costs(&self) -> Result<Vec<BlockCost>, String> {
        Ok(if self.backend.is_cuda() { block_costs::block_costs(self) } else { Vec::new() })
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

/// The final counts of all methods are not counted as accesses: m is small compared with n. On GPUs a separate
/// launch clears them if they are added to.
fn passes(spec: &Spec) -> Vec<Pass> {
    let values = Access::reads("x", 4, spec.elements);
    let counts = Access::writes("counts", 8, spec.bins);
    let stored = spec.bins * spec.subproblems();
    let counted = match spec.method {
        Method::Best => Pass::once([values]),
        Method::Ballot { ending: Ending::Atomics } => {
            Pass::once([values, Access { count: stored, ..counts.clone() }])
        }
        Method::Ballot { ending: Ending::Reduction } => {
            let counted = Pass::once([values, Access::writes("h", 4, stored)]);
            return vec![counted, Pass::once([Access::reads("h", 4, stored)])];
        }
    };
    let cleared = spec.backend.is_cuda().then(|| Pass::once([counts]));
    cleared.into_iter().chain([counted]).collect()
}

#[cfg(test)]
mod tests {
    pub(super) use super::super::words::params;
    use super::*;

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
}
