//! random-access on the CPU: every access is a scalar load or store, with as many in flight as the processor
//! supports. Places are computed in advance, one block at a time.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::spec::{Kernel, Method, Spec};
use crate::case::{Cancel, Failure, Fault, Verdict};
use crate::device::cpu::{
    Buffer, CacheLineSlot, Context, Isa, POISON, Pool, PoolJob, Worker, check, memory, pieces,
};
use crate::inputs::Scramble;

/// A case with its array.
pub struct RandomAccess {
    spec: Spec,
    array: Buffer,
    timed: Timed,
    fault: Option<Fault>,
    /// The sum of each worker's reads, in a separate cache line.
    sums: Vec<CacheLineSlot>,
    /// How often each worker has executed its share, also in a separate cache line.
    executed: Vec<CacheLineSlot>,
}

/// Makes accesses `range` to the array; returns the sum of the words read, or 0.
///
/// # Safety
/// The array has an element for each place of the order.
type Timed = unsafe fn(*mut u8, Scramble, Range<u64>) -> u64;

/// An element, read and written word by word. Several workers may write the same value to the same element, so
/// its words are atomic.
trait Element {
    fn read(&self) -> u64;
    fn write(&self, j: u64);
}

impl Element for AtomicU32 {
    #[inline(always)]
    fn read(&self) -> u64 {
        u64::from(self.load(Ordering::Relaxed))
    }

    #[inline(always)]
    fn write(&self, j: u64) {
        self.store(j as u32, Ordering::Relaxed);
    }
}

impl<const N: usize> Element for [AtomicU64; N] {
    #[inline(always)]
    fn read(&self) -> u64 {
        self.iter().fold(0, |sum, word| sum.wrapping_add(word.load(Ordering::Relaxed)))
    }

    #[inline(always)]
    fn write(&self, j: u64) {
        for (word, w) in self.iter().zip(j * N as u64..) {
            word.store(w, Ordering::Relaxed);
        }
    }
}

#[inline(never)]
unsafe fn read<E: Element, P: Place>(array: *mut u8, order: Scramble, range: Range<u64>) -> u64 {
    let (array, mut sums) = (array.cast::<E>(), [0u64; SUMS]);
    in_blocks(order, range, |places: &[P]| {
        let all = places.chunks_exact(SUMS);
        for at in all.remainder() {
            // SAFETY: places lie inside the array.
            sums[0] = sums[0].wrapping_add(unsafe { (*array.add(at.get())).read() });
        }
        for some in all {
            for (sum, at) in sums.iter_mut().zip(some) {
                // SAFETY: places lie inside the array.
                *sum = sum.wrapping_add(unsafe { (*array.add(at.get())).read() });
            }
        }
    });
    sums.iter().fold(0, |all, sum| all.wrapping_add(*sum))
}

/// Number of independent sums: a single one would allow only one addition per cycle, and an L1 cache delivers
/// more.
const SUMS: usize = 4;

/// Places that are computed together, before any of them is accessed.
const BLOCK: usize = 1024;

/// A place in a block: 32 bits wide if the array is small enough.
trait Place: Copy {
    const NONE: Self;
    /// Computes the places of the accesses from `first` on, in arithmetic of the same width.
    fn fill(order: Scramble, first: u64, places: &mut [Self]);
    fn get(self) -> usize;
}

impl Place for u32 {
    const NONE: u32 = 0;

    #[inline(always)]
    fn fill(order: Scramble, first: u64, places: &mut [u32]) {
        let mut i = first as u32;
        for place in places {
            *place = order.apply_narrow(i);
            i = i.wrapping_add(1);
        }
    }

    #[inline(always)]
    fn get(self) -> usize {
        self as usize
    }
}

impl Place for u64 {
    const NONE: u64 = 0;

    #[inline(always)]
    fn fill(order: Scramble, first: u64, places: &mut [u64]) {
        for (place, i) in places.iter_mut().zip(first..) {
            *place = order.apply(i);
        }
    }

    #[inline(always)]
    fn get(self) -> usize {
        self as usize
    }
}

/// Calls `access` with the places of `range`, one block at a time. A load that misses occupies the processor's
/// window until its data arrive; with the dozen instructions that compute a place next to each load, few loads
/// would be in flight, and in a cache those instructions would dominate the time. Here an access reads its
/// place from memory, as gathers and scatters do.
#[inline(always)]
fn in_blocks<P: Place>(order: Scramble, range: Range<u64>, mut access: impl FnMut(&[P])) {
    let mut places = [P::NONE; BLOCK];
    let mut first = range.start;
    while first < range.end {
        let places = &mut places[..(range.end - first).min(BLOCK as u64) as usize];
        compute(order, first, places);
        access(places);
        first += places.len() as u64;
    }
}

/// Computes the places of the accesses from `first` on, with vectors if available.
#[inline(always)]
fn compute<P: Place>(order: Scramble, first: u64, places: &mut [P]) {
    #[cfg(target_arch = "x86_64")]
    if Isa::Avx2.present() {
        // SAFETY: the processor has AVX2.
        return unsafe { compute_avx2(order, first, places) };
    }
    P::fill(order, first, places);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn compute_avx2<P: Place>(order: Scramble, first: u64, places: &mut [P]) {
    P::fill(order, first, places);
}

/// Follows a chain through elements that hold places.
#[inline(never)]
unsafe fn chase<E: Element>(array: *mut u8, order: Scramble, range: Range<u64>) -> u64 {
    let (array, mut at, mut sum) = (array.cast::<E>(), order.apply(range.start), 0u64);
    for _ in range {
        // SAFETY: places, and what elements and the guard hold, lie inside the array.
        at = unsafe { (*array.add(at as usize)).read() };
        sum = sum.wrapping_add(at + 1);
    }
    sum
}

#[inline(never)]
unsafe fn write<E: Element, P: Place>(array: *mut u8, order: Scramble, range: Range<u64>) -> u64 {
    let array = array.cast::<E>();
    in_blocks(order, range, |places: &[P]| {
        for at in places {
            // SAFETY: places lie inside the array.
            unsafe { (*array.add(at.get())).write(at.get() as u64) };
        }
    });
    0
}

fn timed(spec: &Spec) -> Timed {
    match (spec.method, spec.element) {
        (Method::Direct, _) if spec.order().is_narrow() => direct::<u32>(spec),
        (Method::Direct, _) => direct::<u64>(spec),
        (Method::Chained, 4) => chase::<AtomicU32>,
        (Method::Chained, 8) => chase::<[AtomicU64; 1]>,
        (Method::Chained, _) => chase::<[AtomicU64; 2]>,
    }
}

fn direct<P: Place>(spec: &Spec) -> Timed {
    match (spec.kernel, spec.element) {
        (Kernel::Read, 4) => read::<AtomicU32, P>,
        (Kernel::Read, 8) => read::<[AtomicU64; 1], P>,
        (Kernel::Read, _) => read::<[AtomicU64; 2], P>,
        (Kernel::Write, 4) => write::<AtomicU32, P>,
        (Kernel::Write, 8) => write::<[AtomicU64; 1], P>,
        (Kernel::Write, _) => write::<[AtomicU64; 2], P>,
    }
}

impl RandomAccess {
    /// Fills an array to be read with its own words, an array to be written with poison.
    fn fill(&self, pool: &Pool, cancel: &Cancel) -> Result<(), Failure> {
        if self.spec.kernel == Kernel::Write {
            return self.clear(pool, cancel);
        }
        pool.for_blocks(self.spec.elements() as usize, cancel, |block| {
            for (j, w) in block.flat_map(|j| (0..self.spec.words()).map(move |w| (j as u64, w))) {
                // SAFETY: blocks are disjoint, and nobody else has the array yet.
                unsafe { self.put(j, w, self.spec.word(j, w)) };
            }
        })?;
        self.lead_back();
        Ok(())
    }

    /// A wrong chain may reach the guard; the guard leads back into the array.
    fn lead_back(&self) {
        let guard = self.spec.elements();
        let words = if self.spec.method == Method::Chained { self.spec.words() } else { 0 };
        // SAFETY: a guard of more than an element lies behind the last one.
        (0..words).for_each(|w| unsafe { self.put(guard, w, self.spec.word(guard, w)) });
    }

    unsafe fn put(&self, j: u64, w: u64, word: u64) {
        let at = (j * self.spec.words() + w) as usize;
        // SAFETY: by the caller's promise, inside the array.
        unsafe {
            match self.spec.element {
                4 => self.array.ptr::<u32>().add(at).write(word as u32),
                _ => self.array.ptr::<u64>().add(at).write(word),
            }
        }
    }

    fn found(&self, j: u64, w: u64) -> u64 {
        let at = (j * self.spec.words() + w) as usize;
        // SAFETY: nobody writes while this is checked.
        unsafe {
            match self.spec.element {
                4 => u64::from(self.array.read::<u32>(at..at + 1)[0]),
                _ => self.array.read::<u64>(at..at + 1)[0],
            }
        }
    }

    /// Accesses that the workers divide at a time: each element once, so that a worker visits elements of its
    /// own, as in a gather or a scatter. A chain continues through all accesses.
    fn lap(&self) -> u64 {
        match self.spec.method {
            Method::Direct => self.spec.elements(),
            Method::Chained => self.spec.accesses,
        }
    }

    fn total(&self) -> u64 {
        self.sums.iter().fold(0, |sum, s| sum.wrapping_add(s.0.load(Ordering::Relaxed)))
    }

    /// Compares the sum with that of the elements, each multiplied by its number of visits.
    fn wrong_sum(&self, pool: &Pool, cancel: &Cancel) -> Result<Option<String>, Failure> {
        let (expected, order) = (AtomicU64::new(0), self.spec.order());
        // With few accesses, the remaining elements in the order are not visited.
        let visited = self.spec.elements().min(self.spec.accesses);
        pool.for_blocks(visited as usize, cancel, |block| {
            let all = block.fold(0u64, |sum, x| {
                let x = x as u64;
                sum.wrapping_add(self.spec.visits(x).wrapping_mul(self.spec.sum_of(order.apply(x))))
            });
            expected.fetch_add(all, Ordering::Relaxed);
        })?;
        let (expected, found) = (expected.into_inner(), self.total());
        Ok((found != expected).then(|| format!("the sum is {found:#x}, not {expected:#x}")))
    }

    /// Checks that every visited element holds its place, and all others poison.
    fn wrong_element(&self, pool: &Pool, cancel: &Cancel) -> Result<Option<String>, Failure> {
        let (spec, order) = (&self.spec, self.spec.order());
        let poison = if spec.element == 4 { POISON & u64::from(u32::MAX) } else { POISON };
        check::find(pool, spec.elements() as usize, cancel, |block| {
            block.into_iter().find_map(|j| {
                let j = j as u64;
                let visited = spec.visits(order.invert(j)) > 0;
                (0..spec.words()).find_map(|w| {
                    let expected = if visited { spec.word(j, w) } else { poison };
                    let found = self.found(j, w);
                    (found != expected).then(|| format!("a[{j}] word {w} is {found:#x}, not {expected:#x}"))
                })
            })
        })
    }
}

impl PoolJob for RandomAccess {
    type Case = Spec;

    fn prepare(spec: Spec, context: &Context) -> Result<(RandomAccess, Isa), Failure> {
        let isa = context.isa_or(|| Isa::Scalar)?;
        if isa != Isa::Scalar {
            let reason = format!("random-access loads and stores element by element, without {isa}");
            return Err(Failure::NotApplicable(reason));
        }
        memory::require(spec.footprint)?;
        let array = Buffer::new(spec.footprint as usize)?;
        let slots = || (0..context.pool.threads()).map(|_| CacheLineSlot::default()).collect();
        let (sums, executed) = (slots(), slots());
        let job = RandomAccess { timed: timed(&spec), spec, array, fault: context.fault, sums, executed };
        job.fill(&context.pool, context.cancel)?;
        Ok((job, isa))
    }

    fn execute(&self, worker: Worker) {
        let beside = if self.fault == Some(Fault::OffByOne) { self.spec.element as usize } else { 0 };
        let (array, order) = (self.array.ptr::<u8>().wrapping_add(beside), self.spec.order());
        let mut sum = 0u64;
        let begin = self.spec.begin(self.executed[worker.index].0.fetch_add(1, Ordering::Relaxed));
        let (mut lap, end) = (begin, begin + self.spec.accesses);
        while lap < end {
            let length = (end - lap).min(self.lap());
            for piece in pieces(length as usize, 1, worker, self.fault) {
                let range = lap + piece.start as u64..lap + piece.end as u64;
                // SAFETY: the array has an element for each place, and a guard behind the last.
                sum = sum.wrapping_add(unsafe { (self.timed)(array, order, range) });
            }
            lap += length;
        }
        self.sums[worker.index].0.store(sum, Ordering::Relaxed);
    }

    fn clear(&self, pool: &Pool, cancel: &Cancel) -> Result<(), Failure> {
        self.sums.iter().chain(&self.executed).for_each(|slot| slot.0.store(0, Ordering::Relaxed));
        match self.spec.kernel {
            Kernel::Read => Ok(()),
            Kernel::Write => check::poison(pool, &self.array, self.spec.element as usize, cancel),
        }
    }

    fn judge(&self, pool: &Pool, cancel: &Cancel) -> Result<Verdict, Failure> {
        let mistake = match self.spec.kernel {
            Kernel::Read => self.wrong_sum(pool, cancel)?,
            Kernel::Write => self.wrong_element(pool, cancel)?,
        };
        Ok(Verdict::of(mistake, self.spec.accesses))
    }

    fn output(&self, _pool: &Pool) -> Result<Vec<u8>, Failure> {
        Ok(match self.spec.kernel {
            Kernel::Read => self.total().to_le_bytes().to_vec(),
            // SAFETY: the workers are done.
            Kernel::Write => unsafe { self.array.to_vec() },
        })
    }

    fn memory(&self) -> u64 {
        self.array.bytes() as u64
    }
}
