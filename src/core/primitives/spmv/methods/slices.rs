//! Slices of 32 rows, sorted by length within 1024 rows ([`Slices`](super::super::slices::Slices)): a lane for each row.
//! One pass over the slices, in which x is gathered. GPUs only.

use crate::case::work::{Access, Pass};
use crate::primitives::Costs;
use crate::primitives::spmv::Spec;
use crate::primitives::spmv::slices::LANES;
use crate::primitives::spmv::work::{Lanes, gather, results};

/// Rows are filled up to whole groups of 16 bytes of values. Zeros at the ends of rows that are shorter than others of
/// their slice are not declared.
pub fn costs(spec: &Spec) -> Costs<'_> {
    let (rows, entries, element) = (spec.shape.rows, spec.shape.entries, spec.element());
    let filled = (entries.div_ceil(rows.max(1)).next_multiple_of(16 / element) * rows).max(entries);
    let passes = move || {
        let matrix = [
            Access::reads("values", element, filled),
            Access::reads("columns", 4, filled),
            Access::reads("starts", 4, rows.div_ceil(LANES as u64) + 1),
            Access::reads("rows", 4, rows),
            gather(spec, Lanes::Rows),
        ];
        vec![Pass::once(matrix).and(results(spec))]
    };
    Costs::of_sampled(passes).beside((element + 4) * (filled + filled / 4) + 4 * rows)
}

pub mod cuda {
    use std::mem::take;

    use crate::primitives::cuda::prelude::*;
    use crate::primitives::spmv::Spec;
    use crate::primitives::spmv::cuda::{Call, MODULE, Made, named};
    use crate::primitives::spmv::slices::cuda::SliceBuffers;
    use crate::primitives::spmv::slices::{LANES, SliceWords, Slices};

    pub fn kernels(spec: &Spec) -> KernelList {
        KernelList::default().timed(MODULE, named(spec, "slices"), 1)
    }

    pub fn method(made: &Made) -> Result<GpuMethod<Call>, Failure> {
        let columns = length(made.spec.shape.columns.max(1))?;
        let (group, bytes) = (16 / made.spec.element() as usize, made.spec.shape.entries * 12);
        let words = made.forms.get("slices", bytes, || {
            let slices = Slices::new(&made.matrix, columns, group);
            Ok(SliceWords::of(slices, |values| made.words(values), |slices| take(&mut slices.places))?)
        })?;
        let (kernel, count) = (made.kernel("slices")?, words.slices.count() as u32);
        let matrix = SliceBuffers::new(made.gpu, &words, 1)?;
        Ok(Box::new(move |gpu, &Call { x, z, y, rows, .. }| {
            let (matrix, blocks) = (matrix.pointers(), grid(count.into(), u64::from(BLOCK) / LANES as u64));
            gpu.launch(&kernel, blocks, BLOCK, 0, args![matrix, x, z, y, count, rows])
        }))
    }
}
