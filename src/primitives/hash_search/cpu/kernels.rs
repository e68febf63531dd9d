//! The timed loops of searches. Keys are taken in groups: the buckets of a whole group are requested before the
//! first of them is looked at, so that many of them are on their way from memory at the same time.

use super::super::layout::{Layout, MARK, id_of};
use super::super::records::MISS;
use crate::device::cpu::Isa;

/// Keys whose buckets are on their way together.
const GROUP: usize = 32;

/// Some searches.
#[derive(Clone, Copy)]
pub struct Call {
    pub table: *const u64,
    pub layout: Layout,
    pub keys: *const u32,
    pub out: *mut u32,
    pub n: usize,
}

/// Makes some searches.
///
/// # Safety
/// The table has the layout's slots, there are as many keys and results, and the processor has the instruction set.
pub type Timed = unsafe fn(&Call);

/// A bucket of `SLOTS` slots.
trait Bucket<const SLOTS: usize> {
    /// The slots with a key, as bits.
    ///
    /// # Safety
    /// The bucket lies in memory, and the processor has the instruction set.
    unsafe fn matching(bucket: *const u64, key: u32) -> u32;
}

/// The loop for a table in cache or in memory.
#[inline(always)]
unsafe fn all<B: Bucket<SLOTS>, const SLOTS: usize>(call: &Call) {
    let mut first = 0;
    while first < call.n {
        let n = GROUP.min(call.n - first);
        // SAFETY: by the caller's promise; the group lies inside the keys and results.
        unsafe {
            let keys = std::slice::from_raw_parts(call.keys.add(first), n);
            let out = std::slice::from_raw_parts_mut(call.out.add(first), n);
            group::<B, SLOTS>(call, keys, out);
        }
        first += n;
    }
}

#[inline(always)]
unsafe fn group<B: Bucket<SLOTS>, const SLOTS: usize>(call: &Call, keys: &[u32], out: &mut [u32]) {
    let mut homes = [std::ptr::null::<u64>(); GROUP];
    for (home, &key) in homes.iter_mut().zip(keys) {
        *home = call.table.wrapping_add(call.layout.home(key) as usize * SLOTS);
        prefetch(*home);
    }
    for ((&home, &key), out) in homes.iter().zip(keys).zip(out) {
        // SAFETY: by the caller's promise; homes lie inside the table.
        *out = unsafe {
            match B::matching(home, key) {
                0 => away::<B, SLOTS>(call, key),
                matching => id_of(*home.add(matching.trailing_zeros() as usize)),
            }
        };
    }
}

/// The result of a search whose home does not have the key.
#[inline(always)]
unsafe fn away<B: Bucket<SLOTS>, const SLOTS: usize>(call: &Call, key: u32) -> u32 {
    let place = call.layout.place(key);
    let mut bucket = call.table.wrapping_add(call.layout.visit(&place, 0) as usize * SLOTS);
    for step in 1..call.layout.most_visits() {
        // SAFETY: by the caller's promise; all buckets lie inside the table.
        unsafe {
            if *bucket.add(place.mark as usize) & MARK == 0 {
                return MISS;
            }
            bucket = call.table.add(call.layout.visit(&place, step) as usize * SLOTS);
            let matching = B::matching(bucket, key);
            if matching != 0 {
                return id_of(*bucket.add(matching.trailing_zeros() as usize));
            }
        }
    }
    MISS
}

/// Requests a line from memory.
#[inline(always)]
pub fn prefetch(at: *const u64) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch of any address is allowed; SSE is part of x86-64.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(at.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

/// Slot by slot.
struct OneByOne;

impl<const SLOTS: usize> Bucket<SLOTS> for OneByOne {
    #[inline(always)]
    unsafe fn matching(bucket: *const u64, key: u32) -> u32 {
        (0..SLOTS).fold(0, |all, slot| {
            // SAFETY: by the caller's promise. Volatile, so that the loop is not vectorised.
            let word = unsafe { bucket.add(slot).read_volatile() };
            all | u32::from(word as u32 == key) << slot
        })
    }
}

/// Searches slot by slot.
pub mod scalar {
    use super::{Call, OneByOne, all};

    /// Makes some searches among buckets of `SLOTS` slots.
    ///
    /// # Safety
    /// As for [`Timed`](super::Timed).
    pub unsafe fn search<const SLOTS: usize>(call: &Call) {
        // SAFETY: by the caller's promise.
        unsafe { all::<OneByOne, SLOTS>(call) }
    }
}

/// Compares four slots at a time.
#[cfg(target_arch = "x86_64")]
pub mod avx2 {
    use super::{Bucket, Call, all};
    use std::arch::x86_64::*;

    /// Quarters of a line.
    pub(super) struct Fours;

    impl<const SLOTS: usize> Bucket<SLOTS> for Fours {
        #[inline(always)]
        unsafe fn matching(bucket: *const u64, key: u32) -> u32 {
            (0..SLOTS / 4).fold(0, |found, four| {
                // SAFETY: by the caller's promise.
                let equal = unsafe {
                    let words = _mm256_loadu_si256(bucket.add(4 * four).cast());
                    let low = _mm256_and_si256(words, _mm256_set1_epi64x(0xFFFF_FFFF));
                    let equal = _mm256_cmpeq_epi64(low, _mm256_set1_epi64x(i64::from(key)));
                    _mm256_movemask_pd(_mm256_castsi256_pd(equal))
                };
                found | (equal as u32) << (4 * four)
            })
        }
    }

    /// Makes some searches among buckets of `SLOTS` slots.
    ///
    /// # Safety
    /// As for [`Timed`](super::Timed); the processor has AVX2.
    #[target_feature(enable = "avx2")]
    pub unsafe fn search<const SLOTS: usize>(call: &Call) {
        // SAFETY: by the caller's promise.
        unsafe { all::<Fours, SLOTS>(call) }
    }
}

/// Compares eight slots at a time.
#[cfg(target_arch = "x86_64")]
pub mod avx512 {
    use super::avx2::Fours;
    use super::{Bucket, Call, all};
    use std::arch::x86_64::*;

    /// A line.
    struct Eight;

    impl Bucket<8> for Eight {
        #[inline(always)]
        unsafe fn matching(bucket: *const u64, key: u32) -> u32 {
            // SAFETY: by the caller's promise.
            unsafe {
                let words = _mm512_loadu_si512(bucket.cast());
                let low = _mm512_and_si512(words, _mm512_set1_epi64(0xFFFF_FFFF));
                _mm512_cmpeq_epi64_mask(low, _mm512_set1_epi64(i64::from(key))).into()
            }
        }
    }

    /// Makes some searches among buckets of 8 slots.
    ///
    /// # Safety
    /// As for [`Timed`](super::Timed); the processor has AVX-512.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd")]
    pub unsafe fn search_lines(call: &Call) {
        // SAFETY: by the caller's promise.
        unsafe { all::<Eight, 8>(call) }
    }

    /// Makes some searches among buckets of 4 slots.
    ///
    /// # Safety
    /// As for [`Timed`](super::Timed); the processor has AVX-512.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd")]
    pub unsafe fn search_sectors(call: &Call) {
        // SAFETY: by the caller's promise.
        unsafe { all::<Fours, 4>(call) }
    }
}

/// The loop for a layout and an instruction set.
pub fn timed(layout: &Layout, isa: Isa) -> Timed {
    match (isa, layout.slots) {
        #[cfg(target_arch = "x86_64")]
        (Isa::Avx512, 8) => avx512::search_lines,
        #[cfg(target_arch = "x86_64")]
        (Isa::Avx512, _) => avx512::search_sectors,
        #[cfg(target_arch = "x86_64")]
        (Isa::Avx2, 8) => avx2::search::<8>,
        #[cfg(target_arch = "x86_64")]
        (Isa::Avx2, _) => avx2::search::<4>,
        (_, 8) => scalar::search::<8>,
        _ => scalar::search::<4>,
    }
}
