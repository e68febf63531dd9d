//! The certificates of the primitives atop scan: each element of out, and what is beside it, by
//! the elements, flags and segments as functions of the seed.

use super::Case;
use super::forms::Given;
use crate::case::{Failure, Verdict};
use crate::device::cuda::{Arg, Kernel, Module};
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
pub fn verdict(case: &Case) -> Result<Verdict, Failure> {
    let (spec, certificate) = (&case.spec, &case.certificate);
    let number = if spec.operation == Operation::Compact { case.number()? } else { spec.written() };
    if number != spec.written() {
        return Ok(Verdict::Wrong {
            mistake: format!("out has {number} elements instead of {}", spec.written()),
        });
    }
    let finding = find(&case.gpu, |report| {
        let args = [(&case.output).into(), (&certificate.given).into(), report.into()];
        launch_over(&case.gpu, &certificate.out, spec.elements, &args)
    })?;
    let words = spec.beside() / 4;
    let mistake = match (finding.mistake("out"), spec.operation) {
        (Some(mistake), _) => Some(mistake),
        _ if words == 0 => None,
        (None, Operation::Compact) => beside(case, &certificate.pointers, words)?.mistake("pointers"),
        (None, _) => beside(case, &certificate.heads, words)?.mistake("new heads"),
    };
    Ok(match mistake {
        Some(mistake) => Verdict::Wrong { mistake },
        None if finding.checked != spec.elements => Verdict::Wrong {
            mistake: format!("{} of {} elements were checked", finding.checked, spec.elements),
        },
        None => Verdict::Certified { checked: finding.checked },
    })
}

/// Judges the words beside out.
fn beside(case: &Case, kernel: &Kernel, words: u64) -> Result<Finding, Failure> {
    find(&case.gpu, |report| {
        let args: [Arg; 5] = [
            (&case.beside).into(),
            (&case.output).into(),
            (&case.certificate.given).into(),
            (&words).into(),
            report.into(),
        ];
        launch_over(&case.gpu, kernel, words, &args)
    })
}
