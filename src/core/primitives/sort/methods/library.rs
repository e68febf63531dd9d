//! The standard library's unstable sort of keys alone, which one thread computes. CPUs only.

use crate::case::work::Order;
use crate::primitives::Costs;
use crate::primitives::sort::Spec;
use crate::primitives::sort::work::moved;

/// The library sorts in place: what it reads again is in caches.
pub fn costs(spec: &Spec) -> Costs<'_> {
    Costs::of(vec![moved(spec, Order::Sequential)])
}

pub mod cpu {
    use crate::primitives::sort::cpu::prelude::*;

    pub fn method(made: &Made) -> PoolMethod<Sort> {
        let run = if made.spec.key_bytes() == 4 { run::<u32> } else { run::<u64> };
        // SAFETY: the pool's workers all execute.
        Box::new(move |sort, worker| unsafe { run(sort, worker) })
    }

    /// All workers copy, and the first one sorts.
    unsafe fn run<K: Key>(sort: &Sort, worker: Worker) {
        let (first, beside) = (worker.index == 0, usize::from(sort.fault == Some(Fault::OffByOne)));
        for piece in sort.pieces(worker) {
            // SAFETY: by the caller's promise; the workers' pieces are disjoint, and the input has a further key.
            let (from, to) = unsafe {
                let from = sort.input.keys.read::<K>(piece.start + beside..piece.end + beside);
                (from, sort.output.keys.write::<K>(piece))
            };
            to.copy_from_slice(from);
        }
        worker.meet();
        if first {
            // SAFETY: the others have copied, and wait for the end of the execution.
            unsafe { sort.output.keys.write::<K>(0..sort.n()) }.sort_unstable();
        }
    }
}
