//! multisplit: n keys, alone or each with a value, permuted so that the keys of a bucket are contiguous, bucket
//! after bucket (ashkiani2017 §3.1).
//!
//! Keys are u32. A function assigns each of them to one of m buckets ([`buckets`]); the result is *stable*:
//! within a bucket the keys, and the values with them, stay in the order of the input. An execution also
//! returns where each bucket begins: m + 1 offsets of 4 bytes each, the first 0 and the last n.
//!
//! ```text
//! delta-buckets  f(u) = ⌊u / Δ⌋,  Δ = ⌈2^32 / m⌉                  (§6)
//! identity       f(u) = the ⌈log2 m⌉ bits of u from `shift` on    (§7.1)
//! range          f(u) = how many of m − 1 splitters are ≤ u        (§6, §7.3)
//! hash           f(u) = ⌊h(u) · m / 2^32⌋, h a bijection           (§6.3)
//! prime          f(u) = 0 for primes, 1 for all others; m = 2      (Fig. 1)
//! ```
//!
//! Keys are generated so that the buckets have the wanted sizes ([`keys`]), whatever the function. The
//! effective bytes are keys and values, read once and written once: 2 · n · (4 + value). The speed of light
//! counts the traffic of the paper's parallel model: keys three times, values twice (§6.2.2).

pub mod arrangement;
pub mod block_costs;
pub mod buckets;
pub mod cpu;
pub mod cuda;
pub mod keys;
pub mod labels;
mod localised;
mod oracle;
pub mod rounds;
pub mod spec;
pub mod subproblems;
pub mod tiles;
mod work;

pub use work::back;

pub use block_costs::scattered;
pub use spec::Spec;

use super::{Definition, IndexLookup, Primitive, Problem};
use crate::case::{BlockCost, Params, Refusal, SpeedOfLight, Value, Walk, Work};
use rounds::Rounds;
use spec::Method;
use subproblems::Subproblems;

impl Definition for Spec {
    const PRIMITIVES: &'static [Primitive] = &[Primitive::of::<Spec>(
        "multisplit",
        "keys, alone or with values, permuted so that those of a bucket lie together, in their order",
        Spec::TABLE,
    )
    .with_walks()
    .with_speed_of_light(SpeedOfLight {
        moves: "keys are read and counted, then keys and values are read and stored (ashkiani2017 §6.2.2)",
        bytes: |params| Spec::from_params(params, 0).map(|spec| work::speed_of_light(&spec)),
    })];

    fn read(_name: &str, params: &Params, seed: u64) -> Result<Spec, Refusal> {
        Spec::from_params(params, seed)
    }
}

impl Problem for Spec {
    fn work(&self) -> Work {
        Work::of(self.keys, 2 * self.input(), work::passes(self))
            .footprint(self.input() + self.output() + work::between(self))
    }

    /// The method that `best` resolved to, and the further parameters of methods that choose some.
    fn resolved(&self) -> Vec<(String, Value)> {
        let name = self.asked.name();
        let method = self.open.then(|| ("method".to_owned(), Value::Text(name.to_owned())));
        let further = match self.method {
            Method::Localised(Subproblems { warps, windows, .. }) => {
                vec![(format!("method.{name}.warps"), warps), (format!("method.{name}.windows"), windows)]
            }
            Method::Fused => Rounds::of(self).map_or(Vec::new(), |Rounds { supers, .. }| {
                vec![("split.rounds".to_owned(), 2), ("split.super-buckets".to_owned(), supers)]
            }),
            _ => Vec::new(),
        };
        method.into_iter().chain(further.into_iter().map(|(key, value)| (key, Value::Int(value)))).collect()
    }

    fn block_costs(&self) -> Result<Vec<BlockCost>, String> {
        if self.backend.is_cuda() {
            return block_costs::block_costs(self);
        }
        // Ranking takes several times as long as moving, and no figure of a profile covers it.
        Err("no profile gives the time that CPUs take to rank keys".to_owned())
    }

    /// The places of the keys in the order in which methods of three kinds store them: `dms`, `wms` and `bms`.
    fn walks(&self, most: u64, _stored: IndexLookup) -> Result<Vec<Walk>, String> {
        Ok(arrangement::walks(self, most))
    }

    fn check(&self, output: &[u8]) -> Result<(), String> {
        oracle::check(self, output)
    }
}

#[cfg(test)]
mod tests {
    pub(super) use super::super::words::params;
    use super::*;

    pub(super) fn spec(words: &str) -> Spec {
        Spec::from_params(&params(words), 7).expect("a case")
    }

    pub(super) fn work(words: &str) -> Work {
        self::spec(words).work()
    }
}
