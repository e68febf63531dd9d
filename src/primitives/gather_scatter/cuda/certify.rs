//! The certificate of gather and scatter: each L[i] is its closed form, and each moved
//! tuple the one that L says. Random partitions have no closed form: there each L[i]
//! lies inside its partition and a bitmap proves that L is a permutation. An L that
//! somebody brought is known by a checksum; where it scatters, each word of R_out is that
//! of a tuple that goes there, or untouched where a bitmap says that none does.

use super::Move;
use super::kernels::Claim;
use crate::case::{Failure, Verdict};
use crate::device::cuda::{DeviceBuffer, DevicePtr};
use crate::inputs::mix::key64;
use crate::primitives::cuda::finding::{Finding, find};
use crate::primitives::cuda::length;
use crate::primitives::gather_scatter::spec::{Kernel, Locations, Spec};

/// Bytes of the bitmap, 0 where there is none.
pub fn bitmap(spec: &Spec) -> u64 {
    let counted = matches!(spec.locations, Locations::Partitions { .. });
    if counted || spec.overwrites() { 4 * spec.tuples.div_ceil(32) } else { 0 }
}

/// Judges what the last execution left.
pub fn verdict(case: &Move) -> Result<Verdict, Failure> {
    let mut bitmap: Option<DeviceBuffer<u32>> = match bitmap(&case.spec) {
        0 => None,
        bytes => Some(case.gpu.alloc(length(bytes / 4)?)?),
    };
    let finding = find(&case.gpu, |report| {
        if let Some(bitmap) = &mut bitmap {
            case.gpu.memset32(bitmap, 0)?;
        }
        let claim = claim(case, bitmap.as_ref());
        let (gpu, values) = (&case.gpu, &case.locations.values);
        match case.locations.checksum {
            Some(_) => case.kernels.certify_given(gpu, values, &claim, case.spec.tuples, report),
            None => case.kernels.certify(gpu, values, &claim, report),
        }
    })?;
    if case.locations.checksum.is_some_and(|sum| sum != finding.sum) {
        let mistake = "L on the device is not the array that was brought: its checksum differs".to_owned();
        return Ok(Verdict::Wrong { mistake });
    }
    Ok(judge(&finding, case.spec.output(), case.locations.partitions() > 0))
}

fn claim(case: &Move, bitmap: Option<&DeviceBuffer<u32>>) -> Claim {
    Claim {
        output: case.output.pointer(),
        key: key64(case.spec.seed),
        n: case.spec.moves(),
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
    use crate::case::Backend;
    use crate::case::tuning::Tuning;

    /// The kernels' struct: 64 bytes and the locations' 80.
    #[test]
    fn the_layout_is_the_kernels() {
        assert_eq!((size_of::<Claim>(), std::mem::offset_of!(Claim, locations)), (144, 64));
    }

    #[test]
    fn bitmaps_only_where_they_are_needed() {
        let bytes = |kernel, locations| {
            let method = crate::primitives::gather_scatter::spec::Method::Direct;
            bitmap(&Spec {
                kernel,
                method,
                tuples: 100,
                tuple: 8,
                index: 4,
                locations,
                seed: 0,
                backend: Backend::Cuda,
                tuning: Tuning::default(),
            })
        };
        let given = Locations::Given { count: 7, end: 100 };
        assert_eq!(bytes(Kernel::Scatter, Locations::Random), 0);
        assert_eq!(bytes(Kernel::Gather, Locations::Partitions { count: 4 }), 16);
        assert_eq!((bytes(Kernel::Gather, given), bytes(Kernel::Scatter, given)), (0, 16));
    }
}
