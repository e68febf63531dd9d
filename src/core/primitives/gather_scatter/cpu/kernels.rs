//! The timed kernels by name: `gather`, `gather_streaming`, `scatter`, `gather_pass` and `scatter_pass`, in one
//! module per instruction set, and the loops, generic over tuple, index and instruction set, which they inline.

#![expect(
    clippy::undocumented_unsafe_blocks,
    reason = "each block is the body of an unsafe function, whose caller promises what the documentation of its type or trait asks for"
)]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::__m256i;
use std::mem::MaybeUninit;

#[cfg(target_arch = "x86_64")]
use crate::device::cpu::simd::{Avx2, Avx512};
use crate::device::cpu::simd::{Index, Lanes, Scalar, Scatter, Simd};
use crate::device::cpu::{Isa, of_isa};
use crate::primitives::cpu::tuple::{Halves, Quad, Tuple};
use crate::primitives::gather_scatter::{Kernel, Method, Spec};

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
unsafe fn moves<T: Tuple, I: Index, const SCATTER: bool, const NT: bool>(m: &Move) {
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
unsafe fn filtered<S: Simd, T: Tuple, I: Index, const SCATTER: bool>(m: &Move) {
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
unsafe fn gathered<S: Lanes<C>, C: Tuple, I: Index, const NT: bool>(m: &Move) {
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
unsafe fn scattered<S: Scatter<C>, C, I: Index>(m: &Move) {
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

/// A timed kernel.
///
/// # Safety
/// The launch's pointers are valid for all accesses of the definition, and the processor has the instruction set.
pub type Timed = unsafe fn(&Move);

/// A kernel with one body per tuple size, selected at compile time.
macro_rules! kernel {
    ([$($feature:literal)?] $name:ident: $four:expr, $eight:expr, $sixteen:expr, $thirty_two:expr) => {
        $(#[target_feature(enable = $feature)])?
        #[inline(never)]
        unsafe fn $name<I: Index, const Z: usize>(m: &Move) {
            unsafe {
                match Z {
                    4 => $four(m),
                    8 => $eight(m),
                    16 => $sixteen(m),
                    _ => $thirty_two(m),
                }
            }
        }
    };
}

/// The five kernels of an instruction set; `$wide` is the type that moves 32 bytes.
macro_rules! kernels {
    ($isa:ident, $features:tt, $simd:ty, $wide:ty,
     gather: [$g4:expr, $g8:expr], streaming: [$n4:expr, $n8:expr], scatter: [$s4:expr, $s8:expr]) => {
        /// The kernels of one instruction set.
        pub mod $isa {
            use super::*;

            kernel!($features gather: $g4, $g8,
                moves::<Quad, I, false, false>, moves::<$wide, I, false, false>);
            kernel!($features gather_streaming: $n4, $n8,
                moves::<Quad, I, false, true>, moves::<$wide, I, false, true>);
            kernel!($features scatter: $s4, $s8,
                moves::<Quad, I, true, false>, moves::<$wide, I, true, false>);
            kernel!($features gather_pass:
                filtered::<$simd, u32, I, false>, filtered::<$simd, u64, I, false>,
                filtered::<$simd, Quad, I, false>, filtered::<$simd, $wide, I, false>);
            kernel!($features scatter_pass:
                filtered::<$simd, u32, I, true>, filtered::<$simd, u64, I, true>,
                filtered::<$simd, Quad, I, true>, filtered::<$simd, $wide, I, true>);

            pub(super) fn select<I: Index, const Z: usize>(spec: &Spec) -> Timed {
                let passes = spec.method.segments_and_passes().1;
                match (spec.kernel, passes) {
                    (Kernel::Gather, 1) if spec.method == Method::Streaming => gather_streaming::<I, Z>,
                    (Kernel::Gather, 1) => gather::<I, Z>,
                    (Kernel::Scatter, 1) => scatter::<I, Z>,
                    (Kernel::Gather, _) => gather_pass::<I, Z>,
                    (Kernel::Scatter, _) => scatter_pass::<I, Z>,
                }
            }
        }
    };
}

kernels!(scalar, [], Scalar, Halves,
    gather: [moves::<u32, I, false, false>, moves::<u64, I, false, false>],
    streaming: [moves::<u32, I, false, true>, moves::<u64, I, false, true>],
    scatter: [moves::<u32, I, true, false>, moves::<u64, I, true, false>]);

// AVX2 has no scatter instruction; the substitute below is never selected, because such a case is `n/a`.
#[cfg(target_arch = "x86_64")]
kernels!(avx2, ["avx2,popcnt"], Avx2, __m256i,
    gather: [gathered::<Avx2, u32, I, false>, gathered::<Avx2, u64, I, false>],
    streaming: [gathered::<Avx2, u32, I, true>, gathered::<Avx2, u64, I, true>],
    scatter: [moves::<u32, I, true, false>, moves::<u64, I, true, false>]);

#[cfg(target_arch = "x86_64")]
kernels!(avx512, ["avx512f,avx512vl,avx512bw,avx512dq,popcnt"], Avx512, __m256i,
    gather: [gathered::<Avx512, u32, I, false>, gathered::<Avx512, u64, I, false>],
    streaming: [gathered::<Avx512, u32, I, true>, gathered::<Avx512, u64, I, true>],
    scatter: [scattered::<Avx512, u32, I>, scattered::<Avx512, u64, I>]);

/// The timed kernel of a case, for an instruction set that is present.
pub fn timed(spec: &Spec, isa: Isa) -> Timed {
    match spec.index {
        4 => by_tuple::<u32>(spec, isa),
        _ => by_tuple::<u64>(spec, isa),
    }
}

fn by_tuple<I: Index>(spec: &Spec, isa: Isa) -> Timed {
    match spec.tuple {
        4 => by_isa::<I, 4>(spec, isa),
        8 => by_isa::<I, 8>(spec, isa),
        16 => by_isa::<I, 16>(spec, isa),
        _ => by_isa::<I, 32>(spec, isa),
    }
}

fn by_isa<I: Index, const Z: usize>(spec: &Spec, isa: Isa) -> Timed {
    of_isa!(isa, select::<I, Z>(spec))
}
