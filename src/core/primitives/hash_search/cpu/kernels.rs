//! The timed loops of searches. Keys are taken in groups: the buckets of a whole group are requested before the
//! first of them is looked at, so that many of them are on their way from memory at the same time, also while the
//! group before is looked at.

use super::super::layout::{Layout, MARK, id_of};
use super::super::records::MISS;
use crate::device::cpu::Isa;
use crate::device::cpu::memory::prefetch;

/// Keys of a group.
const GROUP: usize = 16;

/// Some searches.
#[derive(Clone, Copy)]
pub struct Call {
    pub table: *const u64,
    pub layout: Layout,
    /// The most buckets that a search visits.
    pub reach: u32,
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
    /// A key. Scalar loops load it so that the compiler does not vectorise what is computed from it.
    #[inline(always)]
    fn key(key: &u32) -> u32 {
        *key
    }

    /// The slots with a key, as bits.
    ///
    /// # Safety
    /// The bucket lies in memory, and the processor has the instruction set.
    unsafe fn matching(bucket: *const u64, key: u32) -> u32;
}

/// The homes of a group's keys, which have been requested, and the slots of their marks.
#[derive(Clone, Copy)]
struct Homes {
    buckets: [u32; GROUP],
    marks: [u32; GROUP],
}

impl Homes {
    #[inline(always)]
    fn request<B: Bucket<SLOTS>, const SLOTS: usize>(&mut self, call: &Call, keys: &[u32]) {
        for ((bucket, mark), key) in self.buckets.iter_mut().zip(&mut self.marks).zip(keys) {
            let place = call.layout.place(B::key(key));
            // 32 bits number all slots.
            (*bucket, *mark) = (call.layout.visit(&place, 0) as u32, place.mark);
        }
        for &bucket in &self.buckets[..keys.len()] {
            prefetch(call.table.wrapping_add(bucket as usize * SLOTS));
        }
    }
}

/// The loop: while the homes of a group are on their way, it looks into those of the group before.
#[inline(always)]
unsafe fn all<B: Bucket<SLOTS>, const SLOTS: usize>(call: &Call) {
    // SAFETY: by the caller's promise.
    let (keys, out) = unsafe {
        let keys = std::slice::from_raw_parts(call.keys, call.n);
        (keys, std::slice::from_raw_parts_mut(call.out, call.n))
    };
    let mut homes = [Homes { buckets: [0; GROUP], marks: [0; GROUP] }; 2];
    homes[0].request::<B, SLOTS>(call, &keys[..GROUP.min(call.n)]);
    for (at, (some, out)) in keys.chunks(GROUP).zip(out.chunks_mut(GROUP)).enumerate() {
        let next = keys.get((at + 1) * GROUP..).unwrap_or_default();
        homes[(at + 1) % 2].request::<B, SLOTS>(call, &next[..GROUP.min(next.len())]);
        // SAFETY: by the caller's promise.
        unsafe { group::<B, SLOTS>(call, &homes[at % 2], some, out) };
    }
}

/// Looks into the homes of some keys, then into the other buckets of those that are not at home and whose marks are
/// set, which are requested together. Nothing branches on what a bucket holds, which would be mispredicted.
#[inline(always)]
unsafe fn group<B: Bucket<SLOTS>, const SLOTS: usize>(
    call: &Call,
    homes: &Homes,
    keys: &[u32],
    out: &mut [u32],
) {
    let (mut on, mut count) = ([0u32; GROUP], 0);
    for (i, (&key, out)) in keys.iter().zip(out.iter_mut()).enumerate() {
        // SAFETY: by the caller's promise; homes lie inside the table.
        unsafe {
            let home = call.table.add(homes.buckets[i] as usize * SLOTS);
            let matching = B::matching(home, key);
            *out = chosen::<SLOTS>(home, matching);
            on[count] = i as u32;
            count += usize::from(matching == 0 && *home.add(homes.marks[i] as usize) & MARK != 0);
        }
    }
    let on = &on[..count];
    for &i in on {
        let place = call.layout.place(keys[i as usize]);
        prefetch(call.table.wrapping_add(call.layout.visit(&place, 1) as usize * SLOTS));
    }
    for &i in on {
        // SAFETY: by the caller's promise.
        out[i as usize] = unsafe { away::<B, SLOTS>(call, keys[i as usize]) };
    }
}

/// The id in the first of the matching slots of a bucket, or a miss.
#[inline(always)]
unsafe fn chosen<const SLOTS: usize>(bucket: *const u64, matching: u32) -> u32 {
    // SAFETY: by the caller's promise; the slot is one of the bucket's.
    let id = id_of(unsafe { *bucket.add(matching.trailing_zeros() as usize % SLOTS) });
    if matching == 0 { MISS } else { id }
}

/// The result of a search whose home does not have the key, but its mark.
#[inline(always)]
unsafe fn away<B: Bucket<SLOTS>, const SLOTS: usize>(call: &Call, key: u32) -> u32 {
    let place = call.layout.place(key);
    for step in 1..call.reach {
        // SAFETY: by the caller's promise; all buckets lie inside the table.
        unsafe {
            let bucket = call.table.add(call.layout.visit(&place, step) as usize * SLOTS);
            let matching = B::matching(bucket, key);
            if matching != 0 || *bucket.add(place.mark as usize) & MARK == 0 {
                return chosen::<SLOTS>(bucket, matching);
            }
        }
    }
    MISS
}

/// Slot by slot.
struct OneByOne;

impl<const SLOTS: usize> Bucket<SLOTS> for OneByOne {
    #[inline(always)]
    fn key(key: &u32) -> u32 {
        // SAFETY: a reference is valid.
        unsafe { std::ptr::from_ref(key).read_volatile() }
    }

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
