//! Equal shares of the entries, however many rows they belong to. On GPUs y is z or 0 at first; then a warp sums entries that
//! follow each other, and adds the sums of rows that it shares with others atomically. On CPUs a worker computes the rows
//! that end in its share, and what shares have of rows that end in later ones is added when all are done.

use crate::case::work::{Access, Pass};
use crate::primitives::Costs;
use crate::primitives::spmv::Spec;
use crate::primitives::spmv::tiles::Share;
use crate::primitives::spmv::work::{Lanes, gather, in_one_pass, matrix, results};

/// On GPUs y is written twice: all of it, and in the rows that have entries. The few rows that warps share do not count.
pub fn costs(spec: &Spec) -> Costs {
    if spec.backend.is_cpu() {
        return Costs::of(in_one_pass(spec));
    }
    let entries = spec.shape.entries;
    let sums = results(spec).map(|all| Access { count: all.count.min(entries), ..all });
    let products = Pass::once(matrix(spec)).and([gather(spec, Lanes::Entries)]).and(sums);
    Costs::of(vec![Pass::once(results(spec)), products])
}

/// Share `index` of `count`, by entries alone. A row that ends at a cut, and rows without entries behind it, are in the share
/// before.
pub fn share(starts: &[u32], index: usize, count: usize) -> Share {
    let (ends, all) = (&starts[1..], starts[starts.len() - 1]);
    let at = |index: usize| {
        let entry = (u128::from(all) * index as u128 / count as u128) as u32;
        let row = match index {
            0 => 0,
            _ if index == count => ends.len(),
            _ => ends.partition_point(|&end| end <= entry),
        };
        (row, entry as usize)
    };
    let ((row, entry), (end, last)) = (at(index), at(index + 1));
    Share { rows: row..end, entries: entry..last }
}

pub mod cpu {
    use crate::primitives::cpu::prelude::*;
    use crate::primitives::spmv::cpu::Spmv;

    pub fn method() -> PoolMethod<Spmv> {
        Box::new(|product, worker| {
            product.in_shares(worker, &product.call(), &product.timed.gathered, None);
        })
    }
}

pub mod cuda {
    use crate::primitives::cuda::prelude::*;
    use crate::primitives::spmv::Spec;
    use crate::primitives::spmv::cuda::{Call, MODULE, Made, named};

    /// Entries of a block of threads (`THREADS * ENTRIES` in the kernel).
    const PER_BLOCK: u64 = 2048;

    pub fn kernels(spec: &Spec) -> KernelList {
        KernelList::default().timed_all(MODULE, ["layers", "entries"].map(|word| (named(spec, word), 1)))
    }

    pub fn method(made: &Made) -> Result<GpuMethod<Call>, Failure> {
        let (begin, sum) = (made.kernel("layers")?, made.kernel("entries")?);
        let blocks = grid(made.spec.shape.entries, PER_BLOCK);
        Ok(Box::new(move |gpu, &Call { a, x, z, y, rows }| {
            // The sum of no layers, and z.
            let (none, layers, n) = (DevicePtr::<u32>::null(), 0u32, rows);
            launch_over(gpu, &begin, rows.into(), args![none, z, y, layers, n, rows])?;
            gpu.launch(&sum, blocks, BLOCK, 0, args![a, x, z, y, rows])
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_cover_rows_and_entries_once() {
        for starts in [&[0][..], &[0, 0, 0], &[0, 0, 1, 3, 3, 90, 90], &[0, 7, 7, 14, 21, 21]] {
            for count in 1..9 {
                let shares: Vec<Share> = (0..count).map(|index| share(starts, index, count)).collect();
                let (rows, entries) = (starts.len() - 1, starts[starts.len() - 1] as usize);
                assert_eq!((shares[0].rows.start, shares[0].entries.start), (0, 0));
                assert_eq!((shares[count - 1].rows.end, shares[count - 1].entries.end), (rows, entries));
                for pair in shares.windows(2) {
                    let [before, after] = [&pair[0], &pair[1]];
                    assert_eq!(
                        (before.rows.end, before.entries.end),
                        (after.rows.start, after.entries.start)
                    );
                }
                for share in &shares {
                    assert!(share.entries.len() <= entries.div_ceil(count));
                    let ends = &starts[1..][share.rows.clone()];
                    assert!(
                        ends.iter()
                            .all(|&end| (share.entries.start..=share.entries.end).contains(&(end as usize)))
                    );
                }
            }
        }
    }
}
