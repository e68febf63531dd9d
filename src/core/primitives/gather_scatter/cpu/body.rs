//! The loops, generic over tuple, index and instruction set. They are inlined into the named kernels of
//! `kernels`, which enable the instruction set.

#![expect(
    clippy::undocumented_unsafe_blocks,
    reason = "each block is the body of an unsafe function, whose caller promises what the documentation of its type or trait asks for"
)]

use std::mem::MaybeUninit;

use crate::device::cpu::simd::{Index, Lanes, Scalar, Scatter, Simd};
use crate::primitives::cpu::tuple::Tuple;

/// One launch: `n` locations and the tuples next to them.
#[derive(Clone, Copy, Debug)]
pub struct Move {
    /// R_out; for a gather, from the first of the `n` tuples on.
    pub to: *mut u8,
    /// R_in; for a scatter, from the first of the `n` tuples on.
    pub from: *const u8,
    /// L, from the first of the `n` tuples on.
    pub locations: *const u8,
    pub n: usize,
    /// First location of the pass.
    pub low: u64,
    /// Locations in the pass.
    pub width: u64,
}

/// Tuples per iteration of an unrolled loop.
const UNROLL: usize = 8;

/// Locations that are filtered before the first tuple is moved.
const BLOCK: usize = 1024;

/// Moves tuple `i` of the launch, whose location is `at`.
#[inline(always)]
unsafe fn step<T: Tuple, const SCATTER: bool, const NT: bool>(m: &Move, i: usize, at: usize) {
    let (to, from) = (m.to.cast::<T>(), m.from.cast::<T>());
    unsafe {
        match (SCATTER, NT) {
            (true, _) => T::take(from.add(i)).put(to.add(at)),
            (false, true) => T::take(from.add(at)).stream(to.add(i)),
            (false, false) => T::take(from.add(at)).put(to.add(i)),
        }
    }
}

/// Tuple by tuple.
#[inline(always)]
pub unsafe fn moves<T: Tuple, I: Index, const SCATTER: bool, const NT: bool>(m: &Move) {
    let locations = m.locations.cast::<I>();
    unsafe {
        let mut i = 0;
        while i + UNROLL <= m.n {
            let mut u = 0;
            while u < UNROLL {
                step::<T, SCATTER, NT>(m, i + u, Scalar::at(locations.add(i + u)));
                u += 1;
            }
            i += UNROLL;
        }
        while i < m.n {
            step::<T, SCATTER, NT>(m, i, Scalar::at(locations.add(i)));
            i += 1;
        }
    }
}

/// Moves the tuples whose location is in the pass: filters a block of L, then moves the tuples found.
#[inline(always)]
pub unsafe fn filtered<S: Simd, T: Tuple, I: Index, const SCATTER: bool>(m: &Move) {
    let mut queue = [MaybeUninit::<u32>::uninit(); BLOCK + 16];
    let queue = queue.as_mut_ptr().cast::<u32>();
    let locations = m.locations.cast::<I>();
    let mut start = 0;
    while start < m.n {
        let block = if m.n - start < BLOCK { m.n - start } else { BLOCK };
        unsafe {
            let found = S::select(locations.add(start), block, m.low, m.width, queue);
            let mut q = 0;
            while q < found {
                let i = start + queue.add(q).read_volatile() as usize;
                step::<T, SCATTER, false>(m, i, Scalar::at(locations.add(i)));
                q += 1;
            }
        }
        start += block;
    }
}

/// Gathers whole vectors.
#[inline(always)]
pub unsafe fn gather<S: Lanes<C>, C: Tuple, I: Index, const NT: bool>(m: &Move) {
    let (to, from, locations) = (m.to.cast::<C>(), m.from.cast::<C>(), m.locations.cast::<I>());
    unsafe {
        let mut i = 0;
        if NT {
            while i < m.n && !(to.add(i) as usize).is_multiple_of(S::LANES * size_of::<C>()) {
                step::<C, false, false>(m, i, Scalar::at(locations.add(i)));
                i += 1;
            }
        }
        while i + S::LANES <= m.n {
            let data = S::gather(from, S::at(locations.add(i)));
            if NT {
                S::stream(to.add(i), data)
            } else {
                S::store(to.add(i), data)
            }
            i += S::LANES;
        }
        if i < m.n {
            let n = m.n - i;
            S::store_some(to.add(i), S::gather_some(from, S::at_some(locations.add(i), n), n), n);
        }
    }
}

/// Scatters whole vectors.
#[inline(always)]
pub unsafe fn scatter<S: Scatter<C>, C, I: Index>(m: &Move) {
    let (to, from, locations) = (m.to.cast::<C>(), m.from.cast::<C>(), m.locations.cast::<I>());
    unsafe {
        let mut i = 0;
        while i + S::LANES <= m.n {
            S::scatter(to, S::at(locations.add(i)), S::load(from.add(i)));
            i += S::LANES;
        }
        if i < m.n {
            let n = m.n - i;
            S::scatter_some(to, S::at_some(locations.add(i), n), S::load_some(from.add(i), n), n);
        }
    }
}
