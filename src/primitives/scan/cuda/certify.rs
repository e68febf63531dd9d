//! The certificate of the scans: each element of out by the recurrence of the definition, with
//! elements of in and heads as functions of the seed.

use super::Scan;
use super::forms::{Inputs, Segments};
use crate::case::{Failure, Verdict};
use crate::device::cuda::{Gpu, args};
use crate::primitives::cuda::finding::find;
use crate::primitives::cuda::launch_over;
use crate::primitives::scan::spec::Kind;

/// Judges what the last execution left.
pub fn verdict(case: &Scan, gpu: &Gpu) -> Result<Verdict, Failure> {
    let spec = &case.spec;
    let (inputs, segments) = (Inputs::new(spec), Segments::new(spec));
    let inclusive = u32::from(spec.kind == Kind::Inclusive);
    let finding = find(gpu, |report| {
        let args = args![case.output, inputs, segments, inclusive, report];
        launch_over(gpu, &case.certify, spec.elements, args)
    })?;
    let mistake = finding.mistake("out").or_else(|| finding.unchecked(spec.elements, "elements"));
    Ok(Verdict::of(mistake, spec.elements))
}
