//! Cyclic reduction: half of the rows remain after each step (sengupta2007 §4.3). On GPUs a block has a system of up to 512 rows
//! in shared memory; longer ones are halved across memory until they are as short. CPUs solve one system after another, in
//! place in a copy of its rows.

use super::{INPUTS, REDUCED, across_memory, by_blocks, reads, solved, writes};
use crate::case::Pass;
use crate::case::block_cost::{LANES, WARPS, wavefronts};
use crate::primitives::Costs;
use crate::primitives::tridiagonal::Spec;

/// Rows of a system up to which a block holds it in shared memory.
const ROWS: u64 = 512;

/// Down: each level reads its rows and leaves half of them; the last is solved, and up, each level finds the other half.
pub fn costs(spec: &Spec) -> Costs<'_> {
    if !spec.backend.is_cuda() {
        return Costs::of(vec![solved(spec)]);
    }
    if spec.rows <= ROWS {
        return on_chip(spec);
    }
    let smaller = |rows: &u64| (*rows > ROWS).then(|| rows / 2);
    let levels: Vec<u64> = std::iter::successors(Some(spec.rows), smaller).collect();
    let counts: Vec<u64> = levels.iter().map(|rows| rows * spec.systems).collect();
    let down =
        counts.windows(2).map(|n| Pass::once(reads(spec, INPUTS, n[0])).and(writes(spec, REDUCED, n[1])));
    let last = counts.last().map(|n| Pass::once(reads(spec, REDUCED, *n)).and(writes(spec, ["x'"], *n)));
    let up = counts.windows(2).rev().map(|n| {
        Pass::once(reads(spec, INPUTS, n[0])).and(reads(spec, ["x'"], n[1])).and(writes(spec, ["x"], n[0]))
    });
    across_memory(down.chain(last).chain(up).collect()).beside(5 * spec.element() * spec.count())
}

/// Each level reads twelve words of neighbours a growing distance apart and writes four, then reads five and writes one.
fn on_chip(spec: &Spec) -> Costs<'_> {
    let (n, words) = (spec.rows.max(1), spec.element() / 4);
    let warps = n.div_ceil(2).div_ceil(LANES as u64);
    let levels = f64::from(n.max(2).ilog2());
    let of_level = |level: u32| {
        let by = 2u64 << level;
        let threads = (n / by).max(1);
        let lanes = threads.min(LANES as u64);
        let of_access = wavefronts((0..lanes).map(|lane| lane * by * words)) as f64 * words as f64;
        threads.div_ceil(LANES as u64) as f64 * 22.0 * of_access
    };
    let of_block: f64 = (0..n.max(2).ilog2()).map(of_level).sum();
    // Every warp waits at every barrier.
    let instructions = warps as f64 * (60.0 + 70.0 * levels);
    let resident = (WARPS / warps).min(32) as f64;
    let each = [instructions, 0.4 * instructions, of_block];
    by_blocks(spec, [resident, 17.0 * levels], spec.systems as f64, each)
}

pub mod cpu {
    use crate::primitives::real::Real;
    use crate::primitives::tridiagonal::Spec;
    use crate::primitives::tridiagonal::cpu::{Batch, Solver};

    pub fn solver<T: Real>(spec: &Spec) -> Solver<T> {
        (solve::<T>, 4 * spec.rows as usize)
    }

    /// Solves `systems` systems.
    ///
    /// # Safety
    /// The arrays hold these systems, nobody else writes their x, and `scratch` holds four times as many elements as a system
    /// has rows.
    unsafe fn solve<T: Real>(of: Batch<T>, systems: usize, scratch: *mut T) {
        let n = of.rows;
        // SAFETY: by the caller's promise.
        let rows = unsafe { std::slice::from_raw_parts_mut(scratch, 4 * n) };
        let (a, rest) = rows.split_at_mut(n);
        let (b, rest) = rest.split_at_mut(n);
        let (c, d) = rest.split_at_mut(n);
        for system in 0..systems {
            let of = of.from(system);
            for i in 0..n {
                let at = i * of.row;
                // SAFETY: by the caller's promise.
                unsafe {
                    a[i] = if i == 0 { T::of(0.0) } else { of.a.add(at).read() };
                    b[i] = of.b.add(at).read();
                    c[i] = if i + 1 == n { T::of(0.0) } else { of.c.add(at).read() };
                    d[i] = of.d.add(at).read();
                }
            }
            reduce(a, b, c, d);
            for (i, x) in d.iter().enumerate() {
                // SAFETY: by the caller's promise.
                unsafe { of.x.add(i * of.row).write(*x) };
            }
        }
    }

    /// x in the place of d.
    fn reduce<T: Real>(a: &mut [T], b: &mut [T], c: &mut [T], d: &mut [T]) {
        let (n, zero) = (a.len(), T::of(0.0));
        let mut by = 1;
        // Rows 2·by − 1, 4·by − 1 … lose their neighbours at a distance of `by`.
        while 2 * by <= n {
            for i in (2 * by - 1..n).step_by(2 * by) {
                let (l, r) = (i - by, i + by);
                let left = a[i] / b[l];
                a[i] = zero - a[l] * left;
                b[i] = b[i] - c[l] * left;
                d[i] = d[i] - d[l] * left;
                let right = if r < n { c[i] / b[r] } else { zero };
                c[i] = zero;
                if r < n {
                    c[i] = zero - c[r] * right;
                    b[i] = b[i] - a[r] * right;
                    d[i] = d[i] - d[r] * right;
                }
            }
            by *= 2;
        }
        while by > 0 {
            for i in (by - 1..n).step_by(2 * by) {
                let mut x = d[i];
                if i >= by {
                    x = x - a[i] * d[i - by];
                }
                if i + by < n {
                    x = x - c[i] * d[i + by];
                }
                d[i] = x / b[i];
            }
            by /= 2;
        }
    }
}

pub mod cuda {
    use super::ROWS;
    use crate::primitives::cuda::prelude::*;
    use crate::primitives::tridiagonal::Spec;
    use crate::primitives::tridiagonal::cuda::{Batch, Made, named};

    /// Threads of a block that has a system in shared memory.
    const THREADS: u32 = ROWS as u32 / 2;

    pub fn kernels(spec: &Spec) -> KernelList {
        let halvings = (0..).take_while(|level| spec.rows >> level > ROWS).count() as u64;
        named(spec, [("cyclic", 1), ("halve", halvings), ("unhalve", halvings)])
    }

    /// Halves the rows until a block holds a system.
    pub fn method(made: &Made) -> Result<GpuMethod<Batch>, Failure> {
        let [solve, halve, unhalve] = made.kernels(["cyclic", "halve", "unhalve"])?;
        let (systems, element) = (made.spec.systems, made.spec.element());
        let scratch = made.scratch(if made.spec.rows > ROWS { 5 * made.spec.count() } else { 0 })?;
        Ok(Box::new(move |gpu, batch| {
            let (mut batch, mut free, mut halved) = (*batch, 0, Vec::new());
            while batch.rows > ROWS {
                let half = batch.rows / 2;
                // Parts of a batch leave as much room as the whole.
                let size = half * systems;
                launch_over(gpu, &halve, half * batch.systems, args![batch, scratch.at(free)?, size])?;
                halved.push(batch);
                let system = if batch.row == 1 { half } else { 1 };
                let x = scratch.at(free + 4 * size)?;
                batch = scratch.batch(free, size, Batch { x, rows: half, system, ..batch })?;
                free += 5 * size;
            }
            let shared = (4 * batch.rows * element) as u32;
            let threads = (batch.rows as u32).div_ceil(2).next_multiple_of(32).min(THREADS);
            gpu.launch(&solve, grid(batch.systems, 1), threads, shared, args![batch])?;
            for whole in halved.into_iter().rev() {
                launch_over(gpu, &unhalve, whole.rows * whole.systems, args![whole, batch.x])?;
                batch = whole;
            }
            Ok(())
        }))
    }
}
