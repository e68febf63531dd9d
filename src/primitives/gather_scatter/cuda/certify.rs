//! The certificate of gather and scatter: each L[i] is its closed form, and each moved
//! tuple the one that L says. Random partitions have no closed form: there each L[i]
//! lies inside its partition and a bitmap proves that L is a permutation.

use super::Move;
use super::kernels::Claim;
use crate::backend::cuda::{DeviceBuffer, DevicePtr};
use crate::backend::{Failure, Verdict};
use crate::patterns::mix::key64;
use crate::primitives::cuda::finding::{Finding, find};
use crate::primitives::cuda::length;
use crate::primitives::gather_scatter::spec::Kernel;

/// Bytes of the bitmap.
pub fn scratch(partitions: u64, tuples: u64) -> u64 {
    if partitions == 0 { 0 } else { 4 * tuples.div_ceil(32) }
}

/// Judges what the last execution left.
pub fn verdict(case: &Move) -> Result<Verdict, Failure> {
    let partitions = case.locations.partitions();
    let mut bitmap: Option<DeviceBuffer<u32>> = match scratch(partitions, case.spec.tuples) {
        0 => None,
        bytes => Some(case.gpu.alloc(length(bytes / 4)?)?),
    };
    let finding = find(&case.gpu, |report| {
        if let Some(bitmap) = &mut bitmap {
            case.gpu.memset32(bitmap, 0)?;
        }
        let claim = claim(case, bitmap.as_ref());
        case.kernels.certify(&case.gpu, &case.locations.values, &claim, report)
    })?;
    Ok(judge(&finding, case.spec.tuples, partitions > 0))
}

fn claim(case: &Move, bitmap: Option<&DeviceBuffer<u32>>) -> Claim {
    Claim {
        output: case.output.pointer(),
        key: key64(case.spec.seed),
        n: case.spec.tuples,
        tuple: case.spec.tuple as u32,
        scatter: u32::from(case.spec.kernel == Kernel::Scatter),
        starts: case.locations.starts.as_ref().map_or(DevicePtr::null(), DeviceBuffer::pointer),
        partitions: case.locations.partitions(),
        partition_key: key64(case.spec.seed),
        bitmap: bitmap.map_or(DevicePtr::null(), DeviceBuffer::pointer),
        locations: case.locations.closed,
    }
}

fn judge(finding: &Finding, tuples: u64, counted: bool) -> Verdict {
    let wrong = |mistake| Verdict::Wrong { mistake };
    match finding.mistake("R_out") {
        Some(mistake) => wrong(mistake),
        None if finding.checked != tuples => {
            wrong(format!("{} of {tuples} tuples were checked", finding.checked))
        }
        None if counted && finding.touched != tuples => {
            wrong(format!("L is no permutation: {} of {tuples} locations are distinct", finding.touched))
        }
        None => Verdict::Certified { checked: tuples },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kernels' struct: 72 bytes and the locations' 80.
    #[test]
    fn the_layout_is_the_kernels() {
        assert_eq!((size_of::<Claim>(), std::mem::offset_of!(Claim, locations)), (152, 72));
    }

    #[test]
    fn bitmaps_only_where_they_are_needed() {
        assert_eq!((scratch(0, 100), scratch(1, 100), scratch(4, 128)), (0, 16, 16));
    }
}
