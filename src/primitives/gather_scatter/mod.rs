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

use super::Primitive;
use crate::case::schema::Param;
use crate::case::{Fault, Near, Params, Refusal, Walk, Work, reader};
use spec::Kernel;

/// The primitive `gather`.
pub struct Gather;

/// The primitive `scatter`.
pub struct Scatter;

fn work_of(kernel: Kernel, params: &Params) -> Result<Work, Refusal> {
    let spec = Spec::from_params(kernel, params, 0)?;
    Ok(if reader::on_cuda(params) { work::on_gpu(&spec) } else { work::work(&spec) })
}

fn blocks_of(kernel: Kernel, params: &Params) -> Option<u64> {
    let spec = Spec::from_params(kernel, params, 0).ok().filter(|_| reader::on_cuda(params))?;
    tuned::blocks(&spec, params)
}

fn check(kernel: Kernel, params: &Params, seed: u64, output: &[u8]) -> Result<(), String> {
    let spec = Spec::from_params(kernel, params, seed).map_err(|e| e.to_string())?;
    oracle::check(&spec, given::list(params), output)
}

fn walks(
    kernel: Kernel,
    params: &Params,
    seed: u64,
    most: u64,
    stored: &dyn Fn(&str) -> Result<Vec<u64>, String>,
) -> Result<Vec<Walk>, String> {
    let spec = Spec::from_params(kernel, params, seed).map_err(|e| e.to_string())?;
    given::walk(&spec, params, most, stored).map(|walk| vec![walk])
}

fn shows(kernel: Kernel, params: &Params, fault: Fault) -> bool {
    Spec::from_params(kernel, params, 0).is_ok_and(|spec| given::shows(&spec, params, fault))
}

impl Primitive for Gather {
    fn name(&self) -> &'static str {
        "gather"
    }

    fn summary(&self) -> &'static str {
        "R_out[i] = R_in[L[i]]: tuples read through a location array (he2007)"
    }

    fn params(&self) -> &'static [Param] {
        schema::GATHER
    }

    fn methods(&self) -> &'static [&'static str] {
        &["direct", "streaming", "multipass", "segmented", "auto"]
    }

    fn alternatives(&self, params: &Params) -> Vec<Params> {
        auto::alternatives(Kernel::Gather, params)
    }

    fn work(&self, params: &Params) -> Result<Work, Refusal> {
        work_of(Kernel::Gather, params)
    }

    fn blocks(&self, params: &Params) -> Option<u64> {
        blocks_of(Kernel::Gather, params)
    }

    fn check_against_oracle(&self, params: &Params, seed: u64, output: &[u8]) -> Result<(), String> {
        check(Kernel::Gather, params, seed, output)
    }

    fn completed(&self, params: Params) -> Params {
        given::completed(params)
    }

    fn shows(&self, params: &Params, fault: Fault) -> bool {
        shows(Kernel::Gather, params, fault)
    }

    fn has_walks(&self) -> bool {
        true
    }

    fn walks(
        &self,
        params: &Params,
        seed: u64,
        most: u64,
        stored: &dyn Fn(&str) -> Result<Vec<u64>, String>,
    ) -> Result<Vec<Walk>, String> {
        walks(Kernel::Gather, params, seed, most, stored)
    }
}

impl Primitive for Scatter {
    fn name(&self) -> &'static str {
        "scatter"
    }

    fn summary(&self) -> &'static str {
        "R_out[L[i]] = R_in[i]: tuples written through a location array (he2007)"
    }

    fn params(&self) -> &'static [Param] {
        schema::SCATTER
    }

    fn methods(&self) -> &'static [&'static str] {
        &["direct", "multipass", "segmented", "partitioned", "auto"]
    }

    fn alternatives(&self, params: &Params) -> Vec<Params> {
        auto::alternatives(Kernel::Scatter, params)
    }

    fn work(&self, params: &Params) -> Result<Work, Refusal> {
        work_of(Kernel::Scatter, params)
    }

    fn blocks(&self, params: &Params) -> Option<u64> {
        blocks_of(Kernel::Scatter, params)
    }

    fn near(&self, params: &Params) -> Result<Vec<Near>, String> {
        let spec = Spec::from_params(Kernel::Scatter, params, 0).map_err(|e| e.to_string())?;
        let cut = spec.cut().filter(|_| reader::on_cuda(params));
        Ok(cut.map_or_else(Vec::new, |cut| near::near(&spec, &levels::Levels::new(&spec, &cut))))
    }

    fn check_against_oracle(&self, params: &Params, seed: u64, output: &[u8]) -> Result<(), String> {
        check(Kernel::Scatter, params, seed, output)
    }

    fn completed(&self, params: Params) -> Params {
        given::completed(params)
    }

    fn shows(&self, params: &Params, fault: Fault) -> bool {
        shows(Kernel::Scatter, params, fault)
    }

    fn has_walks(&self) -> bool {
        true
    }

    fn walks(
        &self,
        params: &Params,
        seed: u64,
        most: u64,
        stored: &dyn Fn(&str) -> Result<Vec<u64>, String>,
    ) -> Result<Vec<Walk>, String> {
        walks(Kernel::Scatter, params, seed, most, stored)
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
