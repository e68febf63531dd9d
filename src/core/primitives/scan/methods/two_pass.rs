//! Two passes on CPUs: each worker reduces a part of the array, all meet, and each scans its part from the total of the
//! parts before. Memory is read twice and written once.

use super::scanned;
use crate::case::{Access, Pass};
use crate::primitives::Costs;
use crate::primitives::scan::Spec;
use crate::primitives::scan::segments::Lengths;

/// The first pass reads all elements, or in a segmented scan only those from the last head of a thread's part on. The
/// number of threads is not known here, so one thread is counted.
pub fn costs(spec: &Spec) -> Costs<'_> {
    let reduced = match spec.lengths {
        None => spec.elements,
        Some(Lengths::Constant { length: mean } | Lengths::Random { mean } | Lengths::Geometric { mean }) => {
            mean.min(spec.elements)
        }
    };
    Costs::of(vec![Pass::once([Access::reads("in", spec.element(), reduced)]), scanned(spec)])
}

pub mod cpu {
    use crate::primitives::cpu::prelude::*;
    use crate::primitives::scan::cpu::Scan;
    use crate::primitives::scan::cpu::chain::{Chain, Total};

    /// A worker's tiles are consecutive in the order of the scan.
    pub fn method(workers: usize) -> PoolMethod<Scan> {
        let chain = Chain::new(workers);
        Box::new(move |scan, worker| {
            let at = |k: usize| scan.tiles() * k / worker.count;
            let mine = at(worker.index)..at(worker.index + 1);
            chain.leave(worker, total(scan, mine.clone(), worker));
            worker.meet();
            let prefix =
                chain.before(worker).fold(scan.identity(), |prefix, total| scan.behind(prefix, total));
            scan.scan_tiles(mine, prefix, worker);
            worker.meet();
        })
    }

    /// The total of consecutive tiles; tiles before the last head are not read.
    fn total(scan: &Scan, tiles: Range<usize>, worker: Worker) -> Total {
        let mut behind = Total { value: scan.identity(), begun: false };
        for t in tiles.rev() {
            let range = scan.tile_at(t);
            let total = scan.total(&scan.arrays(&range, worker), range);
            behind = Total { value: scan.combine(total.value, behind.value), begun: total.begun };
            if behind.begun {
                break;
            }
        }
        behind
    }
}
