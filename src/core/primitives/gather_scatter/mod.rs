//! gather and scatter of tuples through a location array L (he2007 §3.1).
//!
//! gather: `R_out[i] = R_in[L[i]]`; scatter: `R_out[L[i]] = R_in[i]`. The effective bytes are those of the data
//! tuples on one side, n·z (he2007 §3.2: without L); the system bytes are both sides and L, 2·n·z + n·index.
//! With a user-provided L, n is the length of L.

mod auto;
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

use super::{Definition, IndexLookup, Primitive, Problem};
use crate::case::schema::Param;
use crate::case::{BlockCost, Fault, Params, Refusal, Value, Walk, Work};
use levels::Levels;
use partitioned::Cut;
use spec::{Kernel, Method};

const fn primitive(of: Kernel, summary: &'static str, params: &'static [Param]) -> Primitive {
    Primitive::of::<Spec>(of.name(), summary, params)
        .with_walks()
        .with_derived_params(user_indices::completed)
        .with_method_candidates(|name, params| auto::alternatives(kernel(name), params))
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

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
