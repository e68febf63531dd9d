//! gather and scatter of tuples through a location array L (he2007 §3.1).
//!
//! gather: `R_out[i] = R_in[L[i]]`; scatter: `R_out[L[i]] = R_in[i]`. The effective bytes are those of the data
//! tuples on one side, n·z (he2007 §3.2: without L); the system bytes are both sides and L, 2·n·z + n·index.
//! With a user-provided L, n is the length of L.

mod block_costs;
pub mod cpu;
pub mod cuda;
pub mod levels;
mod oracle;
pub mod partitioned;
pub mod spec;
mod tuned;
pub mod user_indices;
pub mod work;

pub use spec::Spec;

use super::{Definition, IndexLookup, Primitive, Problem, candidates};
use crate::case::schema::Param;
use crate::case::{BlockCost, Fault, Params, Refusal, Value, Walk, Work};
use levels::Levels;
use partitioned::Cut;
use spec::{Kernel, Method};

const fn primitive(of: Kernel, summary: &'static str, params: &'static [Param]) -> Primitive {
    Primitive::of::<Spec>(of.name(), summary, params)
        .with_walks()
        .with_derived_params(user_indices::completed)
        .with_method_candidates(|name, params| alternatives(kernel(name), params))
}

fn kernel(name: &str) -> Kernel {
    if name == Kernel::Scatter.name() { Kernel::Scatter } else { Kernel::Gather }
}

impl Definition for Spec {
    const PRIMITIVES: &'static [Primitive] = &[
        primitive(
            Kernel::Gather,
            "R_out[i] = R_in[L[i]]: tuples read through a location array (he2007)",
            spec::GATHER,
        ),
        primitive(
            Kernel::Scatter,
            "R_out[L[i]] = R_in[i]: tuples written through a location array (he2007)",
            spec::SCATTER,
        ),
    ];

    fn read(name: &str, params: &Params, seed: u64) -> Result<Spec, Refusal> {
        Spec::from_params(kernel(name), params, seed)
    }

    fn tunables(name: &str, params: &Params) -> Result<(), Refusal> {
        tuned::offered(name, params)
    }
}

impl Problem for Spec {
    fn work(&self) -> Work {
        work::work(self)
    }

    fn check(&self, output: &[u8]) -> Result<(), String> {
        oracle::check(self, output)
    }

    fn open(&self) -> bool {
        self.method == Method::Auto
    }

    fn resolved(&self) -> Vec<(String, Value)> {
        self.cut.as_ref().map_or_else(Vec::new, Cut::resolved)
    }

    fn blocks(&self) -> Option<u64> {
        tuned::blocks(self).filter(|_| self.backend.is_cuda())
    }

    fn block_costs(&self) -> Result<Vec<BlockCost>, String> {
        Ok(Levels::of(self).map_or_else(Vec::new, |levels| block_costs::block_costs(self, &levels)))
    }

    fn fault_is_detectable(&self, fault: Fault) -> bool {
        user_indices::fault_is_detectable(self, fault)
    }

    fn walks(&self, most: u64, stored: IndexLookup) -> Result<Vec<Walk>, String> {
        user_indices::walk(self, most, stored).map(|walk| vec![walk])
    }
}

/// Maximum passes of `multipass`, as log2.
const PASSES: u32 = 6;

/// Segments and passes of the `segmented` candidates.
const SEGMENTED: [(u64, u64); 4] = [(4, 4), (4, 16), (16, 4), (16, 16)];

/// The parameters with each method that the case could use, the simplest first: `direct`, 2 to 64 passes,
/// segments, partitions sized by rule. Empty if the method is not `auto`. Methods that do not exist for the
/// case (more passes than tuples, no kernels) are omitted.
fn alternatives(kernel: Kernel, params: &Params) -> Vec<Params> {
    let multipass = (1..=PASSES).map(|power| ("multipass", vec![("passes", 1 << power)]));
    let segmented = SEGMENTED
        .into_iter()
        .map(|(segments, passes)| ("segmented", vec![("segments", segments), ("passes", passes)]));
    let all = [("direct", vec![])].into_iter().chain(multipass).chain(segmented);
    let exists = |params: &Params| Spec::from_params(kernel, params, 0).is_ok();
    candidates::of(params, all.chain([("partitioned", vec![])]), exists)
}

#[cfg(test)]
mod auto_tests {
    use super::*;

    fn methods(kernel: Kernel, method: &str, tuples: u64) -> Vec<String> {
        let params = Params::default()
            .with("tuples", Value::Int(tuples))
            .with("method", Value::Text(method.to_owned()))
            .with("backend", Value::Text("cpu".to_owned()));
        let told = |params: Params| {
            let words = params.0.iter().filter(|(key, _)| key.starts_with("method"));
            words.map(|(_, value)| value.to_string()).collect::<Vec<_>>().join(" ")
        };
        alternatives(kernel, &params).into_iter().map(told).collect()
    }

    #[test]
    fn what_exists_is_an_alternative() {
        let all = methods(Kernel::Scatter, "auto", 1 << 20);
        assert_eq!(all[..4], ["direct", "multipass 2", "multipass 4", "multipass 8"]);
        assert_eq!((all.len(), all[11].as_str()), (12, "partitioned"));
        assert_eq!(methods(Kernel::Gather, "auto", 1 << 20), all[..11]);
        assert_eq!(methods(Kernel::Scatter, "auto", 3), ["direct", "multipass 2", "partitioned"]);
        assert!(methods(Kernel::Scatter, "direct", 1 << 20).is_empty());
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
