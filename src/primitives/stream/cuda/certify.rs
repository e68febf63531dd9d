//! The certificate of stream: every element of the destination against its closed form;
//! for read the sum against the integers' own sum, which f64 holds exactly.

use super::Arrays;
use super::kernels::Kernels;
use crate::case::{Failure, Verdict};
use crate::device::cuda::Gpu;
use crate::primitives::cuda::finding::find;
use crate::primitives::stream::spec::Spec;

/// Judges what the last execution left.
pub fn verdict(gpu: &Gpu, kernels: &Kernels, spec: &Spec, arrays: &Arrays) -> Result<Verdict, Failure> {
    if let Some(sum) = &arrays.sum {
        let expected = find(gpu, |report| kernels.expected_sum(gpu, spec, report))?;
        return Ok(judge_sum(sum.value()?, expected.sum, expected.checked));
    }
    let Some(destination) = &arrays.destination else {
        return Err(Failure::Failed("stream has no output".to_owned()));
    };
    let finding = find(gpu, |report| kernels.certify(gpu, spec, destination, report))?;
    let name = spec.kernel.destination().map_or("", |array| array.name());
    Ok(match finding.mistake(name) {
        Some(mistake) => Verdict::Wrong { mistake },
        None if finding.checked != spec.elements => Verdict::Wrong {
            mistake: format!("{} of {} elements were checked", finding.checked, spec.elements),
        },
        None => Verdict::Certified { checked: finding.checked },
    })
}

/// `expected` is below 2^53, so the comparison is exact.
fn judge_sum(found: f64, expected: u64, checked: u64) -> Verdict {
    if found == expected as f64 {
        return Verdict::Certified { checked };
    }
    Verdict::Wrong { mistake: format!("the sum is {found} instead of {expected}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_must_be_equal() {
        assert_eq!(judge_sum(9007199254740991.0, (1 << 53) - 1, 4), Verdict::Certified { checked: 4 });
        assert!(matches!(judge_sum(9007199254740990.0, (1 << 53) - 1, 4), Verdict::Wrong { .. }));
        assert!(matches!(judge_sum(f64::NAN, 0, 4), Verdict::Wrong { .. }));
    }
}
