//! gather and scatter of tuples through a location array L (he2007 §3.1).
//!
//! gather: `R_out[i] = R_in[L[i]]`; scatter: `R_out[L[i]] = R_in[i]`. The effective bytes
//! are those of the data tuples on one side, n·z (he2007 §3.2: without L); the system
//! bytes are both sides and L, 2·n·z + n·index. With an L that somebody brought, n is its
//! length.

mod auto;
pub mod cpu;
pub mod cuda;
pub mod given;
pub mod levels;
mod near;
mod offered;
mod oracle;
pub mod partitioned;
mod schema;
pub mod spec;
mod tuned;
pub mod work;

pub use spec::Spec;

use super::{Definition, Primitive, Problem, Stored};
use crate::case::{Fault, Near, Params, Refusal, Value, Walk, Work};
use spec::{Kernel, Method};

/// A gather or scatter: what it computes, and the locations that the recipe itself lists.
#[derive(Clone, Debug)]
pub struct Moves {
    pub spec: Spec,
    pub params: Params,
}

const fn primitive(
    name: &'static str,
    summary: &'static str,
    params: &'static [crate::case::schema::Param],
) -> Primitive {
    Primitive::of::<Moves>(name, summary, params)
        .with_walks()
        .completed_by(given::completed)
        .choosing(|name, params| auto::alternatives(kernel(name), params))
}

fn kernel(name: &str) -> Kernel {
    if name == "scatter" { Kernel::Scatter } else { Kernel::Gather }
}

impl Definition for Moves {
    const PRIMITIVES: &'static [Primitive] = &[
        primitive(
            "gather",
            "R_out[i] = R_in[L[i]]: tuples read through a location array (he2007)",
            schema::GATHER,
        ),
        primitive(
            "scatter",
            "R_out[L[i]] = R_in[i]: tuples written through a location array (he2007)",
            schema::SCATTER,
        ),
    ];

    fn read(name: &str, params: &Params, seed: u64) -> Result<Moves, Refusal> {
        Ok(Moves { spec: Spec::from_params(kernel(name), params, seed)?, params: params.clone() })
    }

    fn tunables(name: &str, params: &Params) -> Result<(), Refusal> {
        offered::check(kernel(name), params)
    }
}

impl Problem for Moves {
    fn work(&self) -> Work {
        if self.spec.backend.is_cuda() { work::on_gpu(&self.spec) } else { work::work(&self.spec) }
    }

    fn check(&self, output: &[u8]) -> Result<(), String> {
        oracle::check(&self.spec, given::list(&self.params), output)
    }

    fn open(&self) -> bool {
        self.spec.method == Method::Auto
    }

    fn resolved(&self) -> Vec<(String, Value)> {
        self.spec.resolved()
    }

    fn blocks(&self) -> Option<u64> {
        tuned::blocks(&self.spec).filter(|_| self.spec.backend.is_cuda())
    }

    fn near(&self) -> Result<Vec<Near>, String> {
        let cut = self.spec.cut().filter(|_| self.spec.backend.is_cuda());
        let near = |cut| near::near(&self.spec, &levels::Levels::new(&self.spec, &cut));
        Ok(cut.filter(|_| self.spec.kernel == Kernel::Scatter).map_or_else(Vec::new, near))
    }

    fn shows(&self, fault: Fault) -> bool {
        given::shows(&self.spec, &self.params, fault)
    }

    fn walks(&self, most: u64, stored: Stored) -> Result<Vec<Walk>, String> {
        given::walk(&self.spec, &self.params, most, stored).map(|walk| vec![walk])
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
