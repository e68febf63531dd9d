//! multisplit: n keys, alone or each with a value, permuted so that those of a bucket lie side by
//! side, bucket after bucket (ashkiani2017 §3.1).
//!
//! Keys are u32. A function gives each of them one of m buckets ([`buckets`]); the result is
//! *stable*: within a bucket the keys, and the values with them, stay in the order of the input.
//! Beside them an execution returns where each bucket begins: m + 1 offsets, 4 bytes each, of
//! which the first is 0 and the last n.
//!
//! ```text
//! delta-buckets  f(u) = ⌊u / Δ⌋,  Δ = ⌈2^32 / m⌉                  (§6)
//! identity       f(u) = the ⌈log2 m⌉ bits of u from `shift` on    (§7.1)
//! range          f(u) = how many of m − 1 splitters are ≤ u        (§6, §7.3)
//! hash           f(u) = ⌊h(u) · m / 2^32⌋, h a bijection           (§6.3)
//! prime          f(u) = 0 for primes, 1 for all others; m = 2      (Fig. 1)
//! ```
//!
//! Keys are made so that the buckets have the wanted sizes ([`keys`]), whatever the function.
//! The effective bytes are keys and values, read once and written once: 2 · n · (4 + value). The speed of
//! light counts what the paper's parallel model moves: keys three times, values twice (§6.2.2).

pub mod arrangement;
pub mod buckets;
pub mod cpu;
pub mod cuda;
pub mod keys;
pub mod labels;
mod localised;
mod near;
mod oracle;
pub mod prime;
pub mod rounds;
mod schema;
pub mod spec;
pub mod subproblems;
pub mod tiles;
mod work;

pub use spec::Spec;

use super::Primitive;
use crate::case::schema::Param;
use crate::case::{Light, Near, Params, Refusal, Walk, Work, reader};

/// The primitive `multisplit`.
pub struct Multisplit;

impl Primitive for Multisplit {
    fn name(&self) -> &'static str {
        "multisplit"
    }

    fn summary(&self) -> &'static str {
        "keys, alone or with values, permuted so that those of a bucket lie together, in their order"
    }

    fn params(&self) -> &'static [Param] {
        schema::PARAMS
    }

    fn methods(&self) -> &'static [&'static str] {
        &["best", "direct", "write-combining", "scan-split", "rb-sort", "fused", "dms", "wms", "bms"]
    }

    /// The places of the keys in the order in which methods of three kinds store them.
    fn has_walks(&self) -> bool {
        true
    }

    fn walks(
        &self,
        params: &Params,
        seed: u64,
        most: u64,
        _stored: &dyn Fn(&str) -> Result<Vec<u64>, String>,
    ) -> Result<Vec<Walk>, String> {
        Spec::from_params(params, seed)
            .map(|spec| arrangement::walks(&spec, most))
            .map_err(|refused| refused.to_string())
    }

    fn work(&self, params: &Params) -> Result<Work, Refusal> {
        Ok(work::work(&Spec::from_params(params, 0)?))
    }

    fn near(&self, params: &Params) -> Result<Vec<Near>, String> {
        let spec = Spec::from_params(params, 0).map_err(|e| e.to_string())?;
        match reader::on_cuda(params) {
            true => near::near(&spec),
            // Several times what the moves take, and no figure of a profile says it.
            false => Err("how long processors rank keys, no profile says".to_owned()),
        }
    }

    fn light(&self) -> Option<Light> {
        Some(Light {
            moves: "keys are read and counted, then keys and values are read and stored (ashkiani2017 §6.2.2)",
            bytes: |params| Ok(work::light(&Spec::from_params(params, 0)?)),
        })
    }

    fn check_against_oracle(&self, params: &Params, seed: u64, output: &[u8]) -> Result<(), String> {
        let spec = Spec::from_params(params, seed).map_err(|e| e.to_string())?;
        oracle::check(&spec, output)
    }
}

#[cfg(test)]
mod tests {
    pub(super) use super::super::words::params;
    use super::*;
    use crate::case::Value;
    use proptest::prelude::*;

    pub(super) fn spec(words: &str) -> Spec {
        Spec::from_params(&params(words), 7).expect("a case")
    }

    proptest! {
        #[test]
        fn no_parameters_make_work_panic(
            by in prop::sample::select(vec!["delta-buckets", "identity", "range", "hash", "prime", "none"]),
            values in prop::sample::select(vec!["none", "4B", "8B", "16B"]),
            method in prop::sample::select(vec![
                "best", "direct", "write-combining", "scan-split", "rb-sort", "fused", "dms", "wms", "bms", "none",
            ]),
            backend in prop::sample::select(vec!["scalar", "cpu", "cuda"]),
            keys in any::<u64>().prop_map(|v| v >> (v % 64)),
            buckets in any::<u64>().prop_map(|v| v >> (v % 64)),
        ) {
            let words = format!("by={by} values={values} method={method} backend={backend}");
            let params = params(&words).with("keys", Value::Int(keys)).with("buckets", Value::Int(buckets));
            if let Ok(work) = Multisplit.work(&params) {
                prop_assert!(work.effective_bytes >= 8 * keys);
                prop_assert!(work.declared_bytes() >= work.effective_bytes);
            }
        }
    }
}
