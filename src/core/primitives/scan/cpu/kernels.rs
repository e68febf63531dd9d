//! The timed loops: generic bodies, and a named function for each instruction set.
//!
//! A scan goes over a range in its direction with a carry, the total of all elements before. Vectors of the
//! range are scanned in registers in log2(lanes) steps, each of which combines every lane with the lane that is
//! 1, 2, 4, … lanes before it; in a segmented scan, lanes from a head on are left unchanged. A backward scan
//! takes the lanes from the last to the first, so nothing is reversed.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{__m256i, __m512i};
use std::ops::Range;

use super::lanes::{Element, Operation, Vector, VectorOperation};
use crate::device::cpu::Isa;
use crate::primitives::scan::Spec;
use crate::primitives::scan::inputs::EXACT;
use crate::primitives::scan::operator::{Bits, Operator, Type};

/// The arrays of a scan. Element i lies i elements behind the pointers; its flag is bit i of `heads`.
#[derive(Clone, Copy, Debug)]
pub struct Arrays {
    pub from: *const u8,
    pub to: *mut u8,
    pub heads: *const u8,
    pub exclusive: bool,
    /// True if stores are non-temporal.
    pub streaming: bool,
    /// Distance in bytes from an element to one that the worker will need next, which vector kernels prefetch;
    /// 0 disables the prefetch.
    pub ahead: isize,
}

/// Scans a range from a carry and returns the carry behind the range.
///
/// # Safety
/// The range must lie inside the arrays, with 4 readable bytes more of `heads`; the processor must have the
/// instruction set.
pub type Scan = unsafe fn(&Arrays, Range<usize>, Bits) -> Bits;

/// The total of the elements of a range, in the direction of the scan; flags are ignored.
///
/// # Safety
/// As for [`Scan`].
pub type Reduce = unsafe fn(&Arrays, Range<usize>) -> Bits;

/// The kernels of a case.
#[derive(Clone, Copy, Debug)]
pub struct Kernels {
    pub scan: Scan,
    pub reduce: Reduce,
}

/// True if element `i` is the first of its segment in the direction of the scan.
#[inline(always)]
unsafe fn first<const BACKWARD: bool>(arrays: &Arrays, i: usize) -> bool {
    let i = i + usize::from(BACKWARD);
    // SAFETY: by the caller's promise there are flags for the range and behind it.
    unsafe { *arrays.heads.wrapping_add(i / 8) >> (i % 8) & 1 == 1 }
}

/// Calls `f` with the indices of a range in steps of `step`, in the direction of the scan.
#[inline(always)]
fn each<const BACKWARD: bool>(range: Range<usize>, step: usize, mut f: impl FnMut(usize)) {
    let mut done = 0;
    while done < range.len() {
        f(if BACKWARD { range.end - step - done } else { range.start + done });
        done += step;
    }
}

/// Scans one element after the other.
#[inline(always)]
unsafe fn scan_singly<O: Operation, const BACKWARD: bool, const SEGMENTED: bool>(
    arrays: &Arrays,
    range: Range<usize>,
    carry: Bits,
) -> Bits {
    let (from, to) = (arrays.from.cast::<O::T>(), arrays.to.cast::<O::T>());
    let mut carry = O::T::of(carry);
    // SAFETY: by the caller's promise.
    each::<BACKWARD>(range, 1, |i| unsafe {
        let before = if SEGMENTED && first::<BACKWARD>(arrays, i) { O::IDENTITY } else { carry };
        carry = O::combine(before, O::T::load(from.add(i)));
        let element = if arrays.exclusive { before } else { carry };
        if arrays.streaming { element.stream(to.add(i)) } else { element.store(to.add(i)) }
    });
    carry.bits()
}

#[inline(always)]
unsafe fn reduce_singly<O: Operation, const BACKWARD: bool>(arrays: &Arrays, range: Range<usize>) -> Bits {
    let from = arrays.from.cast::<O::T>();
    let mut total = O::IDENTITY;
    // SAFETY: by the caller's promise.
    each::<BACKWARD>(range, 1, |i| unsafe { total = O::combine(total, O::T::load(from.add(i))) });
    total.bits()
}

/// The whole vectors of a range, aligned at both ends.
fn aligned(range: &Range<usize>, lanes: usize) -> Range<usize> {
    let start = range.start.next_multiple_of(lanes).min(range.end);
    start..start.max(range.end / lanes * lanes)
}

#[inline(always)]
unsafe fn scan_vectors<O: VectorOperation<V>, V: Vector, const BACKWARD: bool, const SEGMENTED: bool>(
    arrays: &Arrays,
    range: Range<usize>,
    carry: Bits,
) -> Bits {
    let (size, lanes) = (size_of::<O::T>(), V::BYTES / size_of::<O::T>());
    let vectors = aligned(&range, lanes);
    let mut edges = [range.start..vectors.start, vectors.end..range.end];
    if BACKWARD {
        edges.reverse();
    }
    let [before, behind] = edges;
    // SAFETY: by the caller's promise; the vectors lie inside the range.
    unsafe {
        let carry = scan_singly::<O, BACKWARD, SEGMENTED>(arrays, before, carry);
        let mut running = V::splat(carry[0], size);
        each::<BACKWARD>(vectors, lanes, |i| {
            running = vector::<O, V, BACKWARD, SEGMENTED>(arrays, i, running);
        });
        scan_singly::<O, BACKWARD, SEGMENTED>(arrays, behind, running.word(size))
    }
}

/// Scans the vector at element `i` and returns the carry behind it, in every lane.
#[inline(always)]
unsafe fn vector<O: VectorOperation<V>, V: Vector, const BACKWARD: bool, const SEGMENTED: bool>(
    arrays: &Arrays,
    i: usize,
    carry: V,
) -> V {
    let size = size_of::<O::T>();
    // SAFETY: by the caller's promise.
    unsafe {
        let identity = V::splat(O::IDENTITY.bits()[0], size);
        let from = arrays.from.add(i * size);
        let mut x = V::load(from);
        if arrays.ahead != 0 {
            V::ask_for(from.wrapping_offset(arrays.ahead));
        }
        let heads = if SEGMENTED { V::heads(flags::<BACKWARD>(arrays, i), size) } else { V::no_heads() };
        let mut begun = heads;
        let mut distance = 1;
        while distance < V::BYTES / size {
            let both = O::apply(x.shifted::<BACKWARD>(distance * size, identity), x);
            x = if SEGMENTED { x.where_begun(both, begun, size) } else { both };
            if SEGMENTED {
                begun = V::spread::<BACKWARD>(begun, distance, size);
            }
            distance *= 2;
        }
        let all = O::apply(carry, x);
        let (inclusive, next) = if SEGMENTED {
            let inclusive = x.where_begun(all, begun, size);
            (inclusive, inclusive.last::<BACKWARD>(size))
        } else {
            (all, O::apply(carry, x.last::<BACKWARD>(size)))
        };
        let mut out = inclusive;
        if arrays.exclusive {
            out = inclusive.shifted::<BACKWARD>(size, carry);
            if SEGMENTED {
                out = identity.where_begun(out, heads, size);
            }
        }
        let to = arrays.to.cast::<O::T>().add(i).cast();
        if arrays.streaming {
            out.stream(to)
        } else {
            out.store(to)
        }
        next
    }
}

/// The flags of the vector at element `i`, the first lane's flag in the lowest bit.
#[inline(always)]
unsafe fn flags<const BACKWARD: bool>(arrays: &Arrays, i: usize) -> u32 {
    // SAFETY: by the caller's promise there are 4 bytes.
    let word = unsafe { arrays.heads.wrapping_add(i / 8).cast::<u32>().read_unaligned() };
    word >> (i % 8 + usize::from(BACKWARD))
}

/// Vectors per iteration of a reduction loop.
const UNROLL: usize = 4;

/// Reduces chunks of at most [`EXACT`] elements into several partial results at once. The operators with vector
/// kernels are commutative, so the direction does not matter.
#[inline(always)]
unsafe fn reduce_vectors<O: VectorOperation<V>, V: Vector, const BACKWARD: bool>(
    arrays: &Arrays,
    range: Range<usize>,
) -> Bits {
    let lanes = V::BYTES / size_of::<O::T>();
    let vectors = aligned(&range, lanes);
    // SAFETY: by the caller's promise; the chunks lie inside the range.
    unsafe {
        let edge = |range| O::T::of(reduce_singly::<O, false>(arrays, range));
        let mut sum = edge(range.start..vectors.start);
        let mut at = vectors.start;
        while at < vectors.end {
            let end = vectors.end.min(at + EXACT);
            sum = O::combine(sum, chunk::<O, V>(arrays.from, at..end));
            at = end;
        }
        O::combine(sum, edge(vectors.end..range.end)).bits()
    }
}

/// Reduces whole vectors.
#[inline(always)]
unsafe fn chunk<O: VectorOperation<V>, V: Vector>(from: *const u8, range: Range<usize>) -> O::T {
    let (size, lanes) = (size_of::<O::T>(), V::BYTES / size_of::<O::T>());
    // SAFETY: by the caller's promise.
    unsafe {
        let identity = V::splat(O::IDENTITY.bits()[0], size);
        let mut partial = [identity; UNROLL];
        let mut i = range.start;
        while i + UNROLL * lanes <= range.end {
            let mut u = 0;
            while u < UNROLL {
                partial[u] = O::apply(partial[u], V::load(from.add((i + u * lanes) * size)));
                u += 1;
            }
            i += UNROLL * lanes;
        }
        while i < range.end {
            partial[0] = O::apply(partial[0], V::load(from.add(i * size)));
            i += lanes;
        }
        let two = [O::apply(partial[0], partial[1]), O::apply(partial[2], partial[3])];
        let mut all = O::apply(two[0], two[1]);
        let mut distance = lanes / 2;
        while distance > 0 {
            all = O::apply(all, all.shifted::<true>(distance * size, identity));
            distance /= 2;
        }
        O::T::of(all.word(size))
    }
}

/// The kernels of an instruction set.
macro_rules! kernels {
    ($isa:ident, $bound:path, [$($attribute:meta)?], $scan:ident, $reduce:ident $(, $v:ty)?) => {
        /// Kernels with one instruction set.
        pub mod $isa {
            use super::*;

            $(#[$attribute])?
            #[inline(never)]
            unsafe fn scan<O: $bound, const BACKWARD: bool, const SEGMENTED: bool>(
                arrays: &Arrays,
                range: Range<usize>,
                carry: Bits,
            ) -> Bits {
                // SAFETY: by the caller's promise.
                unsafe { $scan::<O, $($v,)? BACKWARD, SEGMENTED>(arrays, range, carry) }
            }

            $(#[$attribute])?
            #[inline(never)]
            unsafe fn reduce<O: $bound, const BACKWARD: bool>(arrays: &Arrays, range: Range<usize>) -> Bits {
                // SAFETY: by the caller's promise.
                unsafe { $reduce::<O, $($v,)? BACKWARD>(arrays, range) }
            }

            /// The kernels for a direction, with or without segments.
            pub(super) fn kernels<O: $bound>(backward: bool, segmented: bool) -> Kernels {
                Kernels {
                    scan: match (backward, segmented) {
                        (false, false) => scan::<O, false, false>,
                        (false, true) => scan::<O, false, true>,
                        (true, false) => scan::<O, true, false>,
                        (true, true) => scan::<O, true, true>,
                    },
                    reduce: if backward { reduce::<O, true> } else { reduce::<O, false> },
                }
            }
        }
    };
}

kernels!(scalar, Operation, [], scan_singly, reduce_singly);
#[cfg(target_arch = "x86_64")]
kernels! {
    avx2, VectorOperation<__m256i>, [target_feature(enable = "avx2,popcnt")],
    scan_vectors, reduce_vectors, __m256i
}
#[cfg(target_arch = "x86_64")]
kernels! {
    avx512, VectorOperation<__m512i>, [target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")],
    scan_vectors, reduce_vectors, __m512i
}

/// The kernels of a case, with an instruction set that is present and that has vectors for the
/// operator ([`has`]).
pub fn kernels(spec: &Spec, isa: Isa) -> Kernels {
    use super::lanes::*;
    let (backward, segmented) = (spec.backward(), spec.segmented());
    macro_rules! pick {
        ($operation:ty) => {
            match isa {
                #[cfg(target_arch = "x86_64")]
                Isa::Avx2 => avx2::kernels::<$operation>(backward, segmented),
                #[cfg(target_arch = "x86_64")]
                Isa::Avx512 => avx512::kernels::<$operation>(backward, segmented),
                _ => scalar::kernels::<$operation>(backward, segmented),
            }
        };
    }
    match (spec.operator, spec.ty) {
        (Operator::Add, Type::U32 | Type::I32) => pick!(AddU32),
        (Operator::Add, Type::U64) => pick!(AddU64),
        (Operator::Add, Type::F32) => pick!(AddF32),
        (Operator::Add, Type::F64) => pick!(AddF64),
        (Operator::Min, Type::U32) => pick!(MinU32),
        (Operator::Min, Type::I32) => pick!(MinI32),
        (Operator::Min, Type::U64) => pick!(MinU64),
        (Operator::Min, Type::F32) => pick!(MinF32),
        (Operator::Min, Type::F64) => pick!(MinF64),
        (Operator::Max, Type::U32) => pick!(MaxU32),
        (Operator::Max, Type::I32) => pick!(MaxI32),
        (Operator::Max, Type::U64) => pick!(MaxU64),
        (Operator::Max, Type::F32) => pick!(MaxF32),
        (Operator::Max, Type::F64) => pick!(MaxF64),
        (Operator::And, Type::U64 | Type::F64) => pick!(AndU64),
        (Operator::And, _) => pick!(AndU32),
        (Operator::Or, Type::U64 | Type::F64) => pick!(OrU64),
        (Operator::Or, _) => pick!(OrU32),
        (Operator::Affine, Type::U64 | Type::F64) => scalar::kernels::<AffineU64>(backward, segmented),
        (Operator::Affine, _) => scalar::kernels::<AffineU32>(backward, segmented),
    }
}

/// True if kernels exist for an operator and an instruction set. Compositions have no vector kernels: they are
/// not commutative, and a pair already fills the multipliers.
pub fn has(isa: Isa, operator: Operator) -> bool {
    isa == Isa::Scalar || operator != Operator::Affine
}
