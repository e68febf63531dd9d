//! The certificate of the scans: each element of out by the recurrence of the definition, with
//! elements of in and heads as functions of the seed.

use super::Case;
use super::forms::{Inputs, Segments};
use crate::case::{Failure, Verdict};
use crate::primitives::cuda::finding::find;
use crate::primitives::cuda::launch_over;
use crate::primitives::scan::spec::Kind;

/// Judges what the last execution left.
pub fn verdict(case: &Case) -> Result<Verdict, Failure> {
    let (spec, gpu) = (&case.spec, &case.gpu);
    let (inputs, segments) = (Inputs::new(spec), Segments::new(spec));
    let inclusive = u32::from(spec.kind == Kind::Inclusive);
    let finding = find(gpu, |report| {
        let args =
            [(&case.output).into(), (&inputs).into(), (&segments).into(), (&inclusive).into(), report.into()];
        launch_over(gpu, &case.certify, spec.elements, &args)
    })?;
    Ok(match finding.mistake("out") {
        Some(mistake) => Verdict::Wrong { mistake },
        None if finding.checked != spec.elements => Verdict::Wrong {
            mistake: format!("{} of {} elements were checked", finding.checked, spec.elements),
        },
        None => Verdict::Certified { checked: finding.checked },
    })
}
