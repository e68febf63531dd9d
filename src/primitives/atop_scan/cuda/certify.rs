//! The certificates of the primitives atop scan: each element of out, and what is beside it, by
//! the elements, flags and segments as functions of the seed.

use super::AtopScan;
use super::forms::Given;
use crate::case::{Failure, Verdict};
use crate::device::cuda::{Gpu, Kernel, Module, args};
use crate::primitives::atop_scan::spec::Operation;
use crate::primitives::cuda::finding::{Finding, find};
use crate::primitives::cuda::launch_over;

/// Its kernels.
pub struct Certificate {
    out: Kernel,
    pointers: Kernel,
    heads: Kernel,
    given: Given,
}

impl Certificate {
    /// Their names.
    pub const KERNELS: [&str; 3] =
        ["atop_scan_certify", "atop_scan_certify_pointers", "atop_scan_certify_heads"];

    /// That of a case.
    pub fn new(module: &Module, given: Given) -> Result<Certificate, Failure> {
        let [out, pointers, heads] = module.kernels(Certificate::KERNELS)?;
        Ok(Certificate { out, pointers, heads, given })
    }
}

/// Judges what the last execution left.
pub fn verdict(case: &AtopScan, gpu: &Gpu) -> Result<Verdict, Failure> {
    let (spec, certificate) = (&case.spec, &case.certificate);
    let number = if spec.operation == Operation::Compact { case.number()? } else { spec.written() };
    if number != spec.written() {
        let mistake = format!("out has {number} elements instead of {}", spec.written());
        return Ok(Verdict::Wrong { mistake });
    }
    let finding = find(gpu, |report| {
        launch_over(gpu, &certificate.out, spec.elements, args![case.output, certificate.given, report])
    })?;
    let words = spec.beside() / 4;
    let mistake = match (finding.mistake("out"), spec.operation) {
        (Some(mistake), _) => Some(mistake),
        _ if words == 0 => None,
        (None, Operation::Compact) => beside(case, gpu, &certificate.pointers, words)?.mistake("pointers"),
        (None, _) => beside(case, gpu, &certificate.heads, words)?.mistake("new heads"),
    };
    Ok(Verdict::of(mistake.or_else(|| finding.unchecked(spec.elements, "elements")), spec.elements))
}

/// Judges the words beside out.
fn beside(case: &AtopScan, gpu: &Gpu, kernel: &Kernel, words: u64) -> Result<Finding, Failure> {
    find(gpu, |report| {
        let args = args![case.beside, case.output, case.certificate.given, words, report];
        launch_over(gpu, kernel, words, args)
    })
}
