//! What cases launch on GPUs, known without one: for profilers, and for compiling ahead.

use crate::case::{Case, Failure};
use crate::device::cuda::GpuFacts;
use crate::primitives::cuda::Named;
use crate::primitives::{
    atop_scan, gather_scatter, histogram, multisplit, pattern, random_access, scan, stream,
};

pub use crate::primitives::cuda::Launched;

/// What an execution of a case launches.
///
/// # Errors
/// A primitive without CUDA kernels, and a case that does not exist.
pub fn launched(case: &Case) -> Result<Launched, Failure> {
    match case.primitive.as_str() {
        "stream" => stream::cuda::launched(case),
        "gather" | "scatter" => gather_scatter::cuda::launched(case),
        "pattern" => pattern::cuda::launched(case),
        "random-access" => random_access::cuda::launched(case),
        "scan" | "segmented-scan" => scan::cuda::launched(case),
        "histogram" => histogram::cuda::launched(case),
        "multisplit" => multisplit::cuda::launched(case),
        other if atop_scan::operation(other).is_some() => atop_scan::cuda::launched(case),
        other => Err(Failure::NotApplicable(format!("{other} has no CUDA kernels"))),
    }
}

/// The kernels that a case asks for on such a GPU: those that make its inputs, those that are timed, and
/// those that certify.
///
/// # Errors
/// A primitive without CUDA kernels, and a case that does not exist.
pub fn kernels(case: &Case, gpu: &GpuFacts) -> Result<Vec<Named>, Failure> {
    match case.primitive.as_str() {
        "stream" => stream::cuda::kernels(case),
        "gather" | "scatter" => gather_scatter::cuda::kernels(case),
        "pattern" => pattern::cuda::kernels(case),
        "random-access" => random_access::cuda::kernels(case),
        "scan" | "segmented-scan" => scan::cuda::kernels(case),
        "histogram" => histogram::cuda::kernels(case),
        "multisplit" => multisplit::cuda::kernels(case, gpu),
        other if atop_scan::operation(other).is_some() => atop_scan::cuda::kernels(case),
        other => Err(Failure::NotApplicable(format!("{other} has no CUDA kernels"))),
    }
}
