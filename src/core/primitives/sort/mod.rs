//! sort: n unsigned keys in ascending order of a field of their bits, alone or each with a value.
//!
//! ```text
//! f(u)      bits begin … end − 1 of key u; by default the whole key
//! output    keys k'[0] … k'[n−1], a permutation of the input with f(k'[i]) ≤ f(k'[i+1]); a value stays with its key,
//!           and keys with values whose fields are equal stay in the order of the input
//! ```
//!
//! The effective bytes are keys and values, read once and written once: 2 · n · (key + value).
//!
//! Radix sorts order the keys digit by digit. *LSD* begins with the lowest digit, and each pass is a stable split
//! of all keys (a multisplit, ashkiani2017 §7.1); *MSD* begins with the highest digit, and then sorts each part
//! alone, in a cache (he2007 §4.1). The sorts of sengupta2007 split by one bit, or by pivots, at a time: all keys, or
//! tiles that are then merged. A *bitonic* sort is a network of comparisons, which the keys do not change.

pub mod bitonic;
pub mod cpu;
pub mod cuda;
pub mod digits;
pub mod he2007;
pub mod keys;
mod multisplits;
pub mod onesweep;
mod oracle;
pub mod spec;
pub mod tiles;
mod work;

pub use spec::Spec;

use super::{Definition, Primitive, Problem};
use crate::case::{BlockCost, Fault, Params, Ranking, Refusal, SpeedOfLight, Value, Work};
use he2007::Phases;
use keys::Keys;
use onesweep::Shape;
use spec::{Distribution, Method};

impl Definition for Spec {
    const PRIMITIVES: &'static [Primitive] = &[Primitive::of::<Spec>(
        "sort",
        "keys, alone or with values, in ascending order of their bits or of a field of them",
        Spec::TABLE,
    )
    .with_method_candidates(|_, params| Spec::candidates(params))
    .with_speed_of_light(SpeedOfLight {
        moves: "keys are read and counted, then keys and values are read and stored for each digit of 8 bits (Adinets \
                and Merrill 2022)",
        bytes: |params| Spec::from_params(params, 0).map(|spec| work::speed_of_light(&spec)),
    })];

    fn read(_name: &str, params: &Params, seed: u64) -> Result<Spec, Refusal> {
        Spec::from_params(params, seed)
    }
}

impl Problem for Spec {
    fn work(&self) -> Work {
        Work::of(self.keys, 2 * self.bytes(), work::passes(self)).footprint(work::arrays(self) * self.bytes())
    }

    /// The method that `best` resolved to, the size of onesweep's tiles, and the bits of he2007's phases.
    fn resolved(&self) -> Vec<(String, Value)> {
        let text = |key: &str, word: &str| (key.to_owned(), Value::Text(word.to_owned()));
        let method = (self.asked == Method::Best).then(|| text("method", self.method.name()));
        let sweeps = matches!(self.method, Method::Onesweep { .. }) && self.backend.is_cuda();
        let tile = sweeps.then(|| text("method.onesweep.tile", Shape::of(self).size()));
        let open = matches!(self.method, Method::He2007Msd { bits: None, .. });
        let bits = || ("method.he2007-msd.bits".to_owned(), Value::Int(Phases::of(self).bits.into()));
        method.into_iter().chain(tile).chain(open.then(bits)).collect()
    }

    fn block_costs(&self) -> Result<Vec<BlockCost>, String> {
        onesweep::block_costs(self)
    }

    fn ranking(&self) -> Option<Ranking> {
        onesweep::ranking(self)
    }

    fn open(&self) -> bool {
        self.asked == Method::Auto
    }

    fn check(&self, output: &[u8]) -> Result<(), String> {
        oracle::check(self, output)
    }

    /// Without values, equal keys stand for each other: a part in place of its neighbour does not show.
    fn fault_is_detectable(&self, fault: Fault) -> bool {
        let equal = matches!(self.distribution, Distribution::Equal | Distribution::Few { distinct: 1 });
        self.keys > 0 && !(fault == Fault::WrongChunk && equal && self.value() == 0)
    }
}

impl Spec {
    /// The keys and values of the case.
    pub fn source(&self) -> Keys {
        Keys::new(self)
    }

    /// The place in the input whose value this is.
    #[inline]
    pub fn source_index(&self, value: u64) -> u64 {
        keys::index(self.seed, value, self.value())
    }
}

#[cfg(test)]
mod tests {
    use super::super::words::params;
    use super::*;

    pub(super) fn spec(words: &str) -> Spec {
        Spec::from_params(&params(words), 7).expect("a case")
    }
}
