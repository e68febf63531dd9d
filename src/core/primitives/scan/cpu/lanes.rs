//! Elements and operators as the kernels use them, as scalars and in vectors.

#![expect(
    clippy::undocumented_unsafe_blocks,
    reason = "each block is the body of an unsafe function, whose caller promises what the documentation of its type or trait asks for"
)]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;
use std::ptr::{read_volatile, write_volatile};

use crate::device::cpu::simd::inlined;
use crate::primitives::scan::operator::Bits;

/// An element in memory. Accesses are volatile, which keeps the compiler from vectorising them.
pub trait Element: Copy {
    fn of(bits: Bits) -> Self;
    fn bits(self) -> Bits;

    inlined! {
        /// # Safety
        /// As for a read.
        fn load(from: *const Self) -> Self { read_volatile(from) }
        /// # Safety
        /// As for a write.
        fn store(self, to: *mut Self) { write_volatile(to, self) }
    }

    /// A non-temporal store, where the processor has one.
    ///
    /// # Safety
    /// As for a write.
    #[inline(always)]
    unsafe fn stream(self, to: *mut Self) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: by the caller's promise; an element has 4, 8 or 16 bytes.
        unsafe {
            let (from, to) = (std::ptr::from_ref(&self), to.cast::<i64>());
            if size_of::<Self>() == 4 {
                return _mm_stream_si32(to.cast(), from.cast::<i32>().read());
            }
            let from = from.cast::<i64>();
            _mm_stream_si64(to, from.read_unaligned());
            if size_of::<Self>() == 16 {
                _mm_stream_si64(to.add(1), from.add(1).read_unaligned());
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        // SAFETY: by the caller's promise.
        unsafe {
            self.store(to)
        }
    }
}

macro_rules! element {
    ($($t:ty: |$bits:ident| $of:expr, |$value:ident| $to:expr;)*) => {
        $(impl Element for $t {
            #[inline(always)]
            fn of($bits: Bits) -> $t {
                $of
            }

            #[inline(always)]
            fn bits(self) -> Bits {
                let $value = self;
                $to
            }
        })*
    };
}

element! {
    u32: |bits| bits[0] as u32, |value| [value.into(), 0];
    i32: |bits| bits[0] as i32, |value| [u64::from(value as u32), 0];
    u64: |bits| bits[0], |value| [value, 0];
    f32: |bits| f32::from_bits(bits[0] as u32), |value| [value.to_bits().into(), 0];
    f64: |bits| f64::from_bits(bits[0]), |value| [value.to_bits(), 0];
    [u32; 2]: |bits| bits.map(|word| word as u32), |value| value.map(u64::from);
    [u64; 2]: |bits| bits, |value| value;
}

/// An operator of one type.
pub trait Operation: 'static {
    type T: Element;
    const IDENTITY: Self::T;

    /// p ⊕ q.
    fn combine(p: Self::T, q: Self::T) -> Self::T;
}

/// An operator applied lane by lane.
///
/// # Safety
/// The functions need the instruction set of `V`.
pub trait VectorOperation<V>: Operation {
    unsafe fn apply(p: V, q: V) -> V;
}

/// A vector of lanes of 4 or 8 bytes (`size`), and sets of its lanes. The lanes *before* a lane are those with
/// lower numbers, or when scanning backward those with higher numbers.
///
/// # Safety
/// The functions need the instruction set, and memory where they load and store, aligned to
/// [`BYTES`](Vector::BYTES) for `stream`.
pub trait Vector: Copy {
    const BYTES: usize;
    /// A set of lanes.
    type Lanes: Copy;

    /// The element with these bits, in all lanes.
    unsafe fn splat(bits: u64, size: usize) -> Self;
    unsafe fn load(from: *const u8) -> Self;
    unsafe fn store(self, to: *mut u8);
    unsafe fn stream(self, to: *mut u8);
    /// Prefetches a line into the second-level cache; any address is allowed.
    unsafe fn ask_for(line: *const u8);
    /// Shifts lanes: each becomes the lane `bytes` before it, or `fill`, which is the same in all lanes.
    unsafe fn shifted<const BACKWARD: bool>(self, bytes: usize, fill: Self) -> Self;
    /// The last lane, in all lanes.
    unsafe fn last<const BACKWARD: bool>(self, size: usize) -> Self;
    /// The lowest lane.
    unsafe fn word(self, size: usize) -> Bits;
    /// The lanes whose bits are set in `bits`.
    unsafe fn heads(bits: u32, size: usize) -> Self::Lanes;
    unsafe fn no_heads() -> Self::Lanes;
    /// These lanes and the lanes `distance` behind them.
    unsafe fn spread<const BACKWARD: bool>(lanes: Self::Lanes, distance: usize, size: usize) -> Self::Lanes;
    /// Selects `self` in these lanes and `other` in the rest.
    unsafe fn where_begun(self, other: Self, lanes: Self::Lanes, size: usize) -> Self;
}

/// Implementations with intrinsics; the caller promises that the processor has the instruction set.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::*;

    /// Conversions between lanes, memory and bits.
    macro_rules! moves {
        ($splat32:ident, $splat64:ident, $load:ident, $store:ident, $stream:ident, $low:ident) => {
            inlined! {
                fn splat(bits: u64, size: usize) -> Self {
                    if size == 4 { $splat32(bits as i32) } else { $splat64(bits as i64) }
                }
                fn load(from: *const u8) -> Self { $load(from.cast()) }
                fn store(self, to: *mut u8) { $store(to.cast(), self) }
                fn stream(self, to: *mut u8) { $stream(to.cast(), self) }
                fn ask_for(line: *const u8) { _mm_prefetch(line.cast(), _MM_HINT_T1) }
                fn word(self, size: usize) -> Bits {
                    let word = _mm_cvtsi128_si64($low(self)) as u64;
                    [if size == 4 { word & u64::from(u32::MAX) } else { word }, 0]
                }
            }
        };
    }

    impl Vector for __m512i {
        const BYTES: usize = 64;
        type Lanes = __mmask16;

        moves! {
            _mm512_set1_epi32, _mm512_set1_epi64, _mm512_loadu_si512, _mm512_storeu_si512, _mm512_stream_si512,
            _mm512_castsi512_si128
        }

        inlined! {
            fn shifted<const BACKWARD: bool>(self, bytes: usize, fill: Self) -> Self {
                match (BACKWARD, bytes) {
                    (false, 4) => _mm512_alignr_epi32(self, fill, 15),
                    (false, 8) => _mm512_alignr_epi32(self, fill, 14),
                    (false, 16) => _mm512_alignr_epi32(self, fill, 12),
                    (false, _) => _mm512_alignr_epi32(self, fill, 8),
                    (true, 4) => _mm512_alignr_epi32(fill, self, 1),
                    (true, 8) => _mm512_alignr_epi32(fill, self, 2),
                    (true, 16) => _mm512_alignr_epi32(fill, self, 4),
                    (true, _) => _mm512_alignr_epi32(fill, self, 8),
                }
            }
            fn last<const BACKWARD: bool>(self, size: usize) -> Self {
                match (BACKWARD, size) {
                    (false, 4) => _mm512_permutexvar_epi32(_mm512_set1_epi32(15), self),
                    (false, _) => _mm512_permutexvar_epi64(_mm512_set1_epi64(7), self),
                    (true, 4) => _mm512_broadcastd_epi32(_mm512_castsi512_si128(self)),
                    (true, _) => _mm512_broadcastq_epi64(_mm512_castsi512_si128(self)),
                }
            }
            fn heads(bits: u32, size: usize) -> __mmask16 {
                if size == 4 { bits as u16 } else { bits as u16 & 0xFF }
            }
            fn no_heads() -> __mmask16 { 0 }
            fn spread<const BACKWARD: bool>(lanes: __mmask16, distance: usize, _size: usize) -> __mmask16 {
                if BACKWARD { lanes | lanes >> distance } else { lanes | lanes << distance }
            }
            fn where_begun(self, other: Self, lanes: __mmask16, size: usize) -> Self {
                match size {
                    4 => _mm512_mask_blend_epi32(lanes, other, self),
                    _ => _mm512_mask_blend_epi64(lanes as u8, other, self),
                }
            }
        }
    }

    impl Vector for __m256i {
        const BYTES: usize = 32;
        /// A set of lanes as a mask with all bits of its lanes set.
        type Lanes = __m256i;

        moves! {
            _mm256_set1_epi32, _mm256_set1_epi64x, _mm256_loadu_si256, _mm256_storeu_si256, _mm256_stream_si256,
            _mm256_castsi256_si128
        }

        inlined! {
            fn shifted<const BACKWARD: bool>(self, bytes: usize, fill: Self) -> Self {
                let turned = |a, b, c, d, e, f, g, h| {
                    _mm256_permutevar8x32_epi32(self, _mm256_setr_epi32(a, b, c, d, e, f, g, h))
                };
                match (BACKWARD, bytes) {
                    (false, 4) => _mm256_blend_epi32(turned(0, 0, 1, 2, 3, 4, 5, 6), fill, 0b1),
                    (false, 8) => _mm256_blend_epi32(turned(0, 0, 0, 1, 2, 3, 4, 5), fill, 0b11),
                    (false, _) => _mm256_blend_epi32(turned(0, 0, 0, 0, 0, 1, 2, 3), fill, 0b1111),
                    (true, 4) => _mm256_blend_epi32(turned(1, 2, 3, 4, 5, 6, 7, 7), fill, 0b1000_0000),
                    (true, 8) => _mm256_blend_epi32(turned(2, 3, 4, 5, 6, 7, 7, 7), fill, 0b1100_0000),
                    (true, _) => _mm256_blend_epi32(turned(4, 5, 6, 7, 7, 7, 7, 7), fill, 0b1111_0000),
                }
            }
            fn last<const BACKWARD: bool>(self, size: usize) -> Self {
                match (BACKWARD, size) {
                    (false, 4) => _mm256_permutevar8x32_epi32(self, _mm256_set1_epi32(7)),
                    (false, _) => _mm256_permute4x64_epi64(self, 0b1111_1111),
                    (true, 4) => _mm256_broadcastd_epi32(_mm256_castsi256_si128(self)),
                    (true, _) => _mm256_broadcastq_epi64(_mm256_castsi256_si128(self)),
                }
            }
            fn heads(bits: u32, size: usize) -> __m256i {
                if size == 4 {
                    let each = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
                    _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(bits as i32), each), each)
                } else {
                    let each = _mm256_setr_epi64x(1, 2, 4, 8);
                    _mm256_cmpeq_epi64(_mm256_and_si256(_mm256_set1_epi64x(bits.into()), each), each)
                }
            }
            fn no_heads() -> __m256i { _mm256_setzero_si256() }
            fn spread<const BACKWARD: bool>(lanes: __m256i, distance: usize, size: usize) -> __m256i {
                let behind = lanes.shifted::<BACKWARD>(distance * size, _mm256_setzero_si256());
                _mm256_or_si256(lanes, behind)
            }
            fn where_begun(self, other: Self, lanes: __m256i, _size: usize) -> Self {
                _mm256_blendv_epi8(other, self, lanes)
            }
        }
    }

    /// The lane-wise minimum or maximum of unsigned 64-bit lanes, for which AVX2 has no instruction.
    #[inline(always)]
    pub(super) unsafe fn chosen_u64(p: __m256i, q: __m256i, lower: bool) -> __m256i {
        unsafe {
            let sign = _mm256_set1_epi64x(i64::MIN);
            let above = _mm256_cmpgt_epi64(_mm256_xor_si256(p, sign), _mm256_xor_si256(q, sign));
            if lower { _mm256_blendv_epi8(p, q, above) } else { _mm256_blendv_epi8(q, p, above) }
        }
    }
}

macro_rules! operation {
    ($name:ident, $t:ty, $identity:expr, |$p:ident, $q:ident| $combine:expr) => {
        /// An operator of one type.
        pub struct $name;

        impl Operation for $name {
            type T = $t;
            const IDENTITY: $t = $identity;

            #[inline(always)]
            fn combine($p: $t, $q: $t) -> $t {
                $combine
            }
        }
    };
    ($name:ident, $t:ty, $identity:expr, |$p:ident, $q:ident| $combine:expr, $avx512:expr, $avx2:expr) => {
        operation!($name, $t, $identity, |$p, $q| $combine);

        #[cfg(target_arch = "x86_64")]
        impl VectorOperation<__m512i> for $name {
            inlined! { fn apply($p: __m512i, $q: __m512i) -> __m512i { $avx512 } }
        }

        #[cfg(target_arch = "x86_64")]
        impl VectorOperation<__m256i> for $name {
            inlined! { fn apply($p: __m256i, $q: __m256i) -> __m256i { $avx2 } }
        }
    };
}

/// Operators of floats, whose vectors have types of their own; the macro takes the casts to and from integer
/// vectors.
macro_rules! floats {
    (
        $t:ty, [$in512:ident, $out512:ident], [$in256:ident, $out256:ident]:
        $($name:ident $identity:expr, |$p:ident, $q:ident| $combine:expr, $f512:ident, $f256:ident;)*
    ) => { $(
        operation!(
            $name, $t, $identity, |$p, $q| $combine,
            $out512($f512($in512($p), $in512($q))), $out256($f256($in256($p), $in256($q)))
        );
    )* };
}

operation!(AddU32, u32, 0, |p, q| p.wrapping_add(q), _mm512_add_epi32(p, q), _mm256_add_epi32(p, q));
operation!(AddU64, u64, 0, |p, q| p.wrapping_add(q), _mm512_add_epi64(p, q), _mm256_add_epi64(p, q));
operation!(MinU32, u32, u32::MAX, |p, q| p.min(q), _mm512_min_epu32(p, q), _mm256_min_epu32(p, q));
operation!(MinI32, i32, i32::MAX, |p, q| p.min(q), _mm512_min_epi32(p, q), _mm256_min_epi32(p, q));
operation!(MinU64, u64, u64::MAX, |p, q| p.min(q), _mm512_min_epu64(p, q), x86::chosen_u64(p, q, true));
operation!(MaxU32, u32, 0, |p, q| p.max(q), _mm512_max_epu32(p, q), _mm256_max_epu32(p, q));
operation!(MaxI32, i32, i32::MIN, |p, q| p.max(q), _mm512_max_epi32(p, q), _mm256_max_epi32(p, q));
operation!(MaxU64, u64, 0, |p, q| p.max(q), _mm512_max_epu64(p, q), x86::chosen_u64(p, q, false));
operation!(AndU32, u32, u32::MAX, |p, q| p & q, _mm512_and_si512(p, q), _mm256_and_si256(p, q));
operation!(AndU64, u64, u64::MAX, |p, q| p & q, _mm512_and_si512(p, q), _mm256_and_si256(p, q));
operation!(OrU32, u32, 0, |p, q| p | q, _mm512_or_si512(p, q), _mm256_or_si256(p, q));
operation!(OrU64, u64, 0, |p, q| p | q, _mm512_or_si512(p, q), _mm256_or_si256(p, q));
floats! {
    f32, [_mm512_castsi512_ps, _mm512_castps_si512], [_mm256_castsi256_ps, _mm256_castps_si256]:
    AddF32 0.0, |p, q| p + q, _mm512_add_ps, _mm256_add_ps;
    MinF32 f32::INFINITY, |p, q| if q < p { q } else { p }, _mm512_min_ps, _mm256_min_ps;
    MaxF32 f32::NEG_INFINITY, |p, q| if p < q { q } else { p }, _mm512_max_ps, _mm256_max_ps;
}
floats! {
    f64, [_mm512_castsi512_pd, _mm512_castpd_si512], [_mm256_castsi256_pd, _mm256_castpd_si256]:
    AddF64 0.0, |p, q| p + q, _mm512_add_pd, _mm256_add_pd;
    MinF64 f64::INFINITY, |p, q| if q < p { q } else { p }, _mm512_min_pd, _mm256_min_pd;
    MaxF64 f64::NEG_INFINITY, |p, q| if p < q { q } else { p }, _mm512_max_pd, _mm256_max_pd;
}
operation!(AffineU32, [u32; 2], [1, 0], |p, q| [
    q[0].wrapping_mul(p[0]),
    q[0].wrapping_mul(p[1]).wrapping_add(q[1])
]);
operation!(AffineU64, [u64; 2], [1, 0], |p, q| [
    q[0].wrapping_mul(p[0]),
    q[0].wrapping_mul(p[1]).wrapping_add(q[1])
]);
