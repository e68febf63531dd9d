//! random-access on the CPU: every access a scalar load or store, as many of them in flight
//! as the processor keeps. A vector of places would have to be computed by multiplications
//! that vectors do not have for 64 bits before AVX-512, and its lanes miss one by one.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::spec::{Kernel, Method, Spec};
use crate::backend::cpu::check;
use crate::backend::cpu::{Buffer, Context, Isa, Job, POISON, Pool, Slot, Worker, memory, pieces};
use crate::backend::{Cancel, Failure, Fault, Prepared, Verdict};
use crate::patterns::Scramble;

/// A case with its array.
struct RandomAccess {
    spec: Spec,
    array: Buffer,
    timed: Timed,
    fault: Option<Fault>,
    /// What each worker read, in a cache line of its own.
    sums: Vec<Slot>,
    /// How often each worker has executed its share, likewise.
    executed: Vec<Slot>,
}

/// Accesses `range` of the array; the sum of what was read, or 0.
///
/// # Safety
/// The array has an element for each place of the order.
type Timed = unsafe fn(*mut u8, Scramble, Range<u64>) -> u64;

/// An element, read and written word by word. Several workers may write the same element,
/// the same value each, so its words are atomic.
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
unsafe fn read<E: Element>(array: *mut u8, order: Scramble, range: Range<u64>) -> u64 {
    let (array, mut sum, mut places) = (array.cast::<E>(), 0u64, [0u64; AHEAD as usize]);
    let ask = |i: u64, places: &mut [u64; AHEAD as usize]| {
        let at = order.apply(i);
        places[(i % AHEAD) as usize] = at;
        ask_for(array.wrapping_add(at as usize));
    };
    (range.start..range.end.min(range.start + AHEAD)).for_each(|i| ask(i, &mut places));
    for i in range.clone() {
        let at = places[(i % AHEAD) as usize];
        // SAFETY: places lie inside the array.
        sum = sum.wrapping_add(unsafe { (*array.add(at as usize)).read() });
        if range.end - i > AHEAD {
            ask(i + AHEAD, &mut places);
        }
    }
    sum
}

/// Reads for which memory is asked ahead. A load that misses stays in the processor's window
/// until its data come, and computing a place takes a dozen instructions of it, so that loads
/// alone keep fewer misses in flight than a gather does, which finds its places in memory.
const AHEAD: u64 = 64;

#[inline(always)]
fn ask_for<E>(element: *const E) {
    // SAFETY: a prefetch accesses nothing that a program could notice, at any address.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(element.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = element;
}

/// Of a chain through elements that hold places.
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
unsafe fn write<E: Element>(array: *mut u8, order: Scramble, range: Range<u64>) -> u64 {
    let array = array.cast::<E>();
    for i in range {
        let j = order.apply(i);
        // SAFETY: places lie inside the array.
        unsafe { (*array.add(j as usize)).write(j) };
    }
    0
}

fn timed(spec: &Spec) -> Timed {
    match (spec.kernel, spec.element) {
        (Kernel::Read, 4) if spec.method == Method::Chained => chase::<AtomicU32>,
        (Kernel::Read, 8) if spec.method == Method::Chained => chase::<[AtomicU64; 1]>,
        (Kernel::Read, _) if spec.method == Method::Chained => chase::<[AtomicU64; 2]>,
        (Kernel::Read, 4) => read::<AtomicU32>,
        (Kernel::Read, 8) => read::<[AtomicU64; 1]>,
        (Kernel::Read, _) => read::<[AtomicU64; 2]>,
        (Kernel::Write, 4) => write::<AtomicU32>,
        (Kernel::Write, 8) => write::<[AtomicU64; 1]>,
        (Kernel::Write, _) => write::<[AtomicU64; 2]>,
    }
}

/// Allocates and fills the array of a case.
///
/// # Errors
/// [`Failure::NotApplicable`] where memory is missing, and for vectors.
pub fn prepare(spec: Spec, context: &Context) -> Result<Box<dyn Prepared>, Failure> {
    let isa = context.isa_or(|| Isa::Scalar)?;
    if isa != Isa::Scalar {
        let reason = format!("random-access loads and stores element by element, without {isa}");
        return Err(Failure::NotApplicable(reason));
    }
    memory::require(spec.bytes())?;
    let array = Buffer::new(spec.bytes() as usize)?;
    let slots = || (0..context.pool.threads()).map(|_| Slot::default()).collect();
    let (sums, executed) = (slots(), slots());
    let job = RandomAccess { timed: timed(&spec), spec, array, fault: context.fault, sums, executed };
    job.fill(&context.pool, context.cancel)?;
    Ok(context.prepared(job, isa))
}

impl RandomAccess {
    /// What is read becomes itself, what is written poison.
    fn fill(&self, pool: &Pool, cancel: &Cancel) -> Result<(), Failure> {
        if self.spec.kernel == Kernel::Write {
            return self.poison(pool, cancel);
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

    /// A wrong chain may come to the guard; it must not leave the array from there.
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

    fn poison(&self, pool: &Pool, cancel: &Cancel) -> Result<(), Failure> {
        self.sums.iter().chain(&self.executed).for_each(|slot| slot.0.store(0, Ordering::Relaxed));
        match self.spec.kernel {
            Kernel::Read => Ok(()),
            Kernel::Write => check::poison(pool, &self.array, self.spec.element as usize, cancel),
        }
    }

    fn total(&self) -> u64 {
        self.sums.iter().fold(0, |sum, s| sum.wrapping_add(s.0.load(Ordering::Relaxed)))
    }

    /// The sum against the elements' own, each as often as it comes.
    fn wrong_sum(&self, pool: &Pool, cancel: &Cancel) -> Result<Option<String>, Failure> {
        let (expected, order) = (AtomicU64::new(0), self.spec.order());
        // Of few accesses, none comes to the elements behind them.
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

    /// Every element that is visited holds its place, and the others the poison.
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

impl Job for RandomAccess {
    fn execute(&self, worker: Worker) {
        let beside = if self.fault == Some(Fault::OffByOne) { self.spec.element as usize } else { 0 };
        let (array, order) = (self.array.ptr::<u8>().wrapping_add(beside), self.spec.order());
        let mut sum = 0u64;
        let begin = self.spec.begin(self.executed[worker.index].0.fetch_add(1, Ordering::Relaxed));
        for piece in pieces(self.spec.accesses as usize, 1, worker, self.fault) {
            let range = begin + piece.start as u64..begin + piece.end as u64;
            // SAFETY: the array has an element for each place, and a guard behind the last.
            let part = unsafe { (self.timed)(array, order, range) };
            sum = sum.wrapping_add(part);
        }
        self.sums[worker.index].0.store(sum, Ordering::Relaxed);
    }

    fn certify(&self, pool: &Pool, cancel: &Cancel) -> Result<Verdict, Failure> {
        self.poison(pool, cancel)?;
        pool.run(|worker| self.execute(worker));
        let mistake = match self.spec.kernel {
            Kernel::Read => self.wrong_sum(pool, cancel)?,
            Kernel::Write => self.wrong_element(pool, cancel)?,
        };
        Ok(check::verdict(mistake, self.spec.accesses))
    }

    fn memory(&self) -> u64 {
        self.array.bytes() as u64
    }

    fn read_back(&self, pool: &Pool) -> Result<Vec<u8>, Failure> {
        self.poison(pool, &Cancel::default())?;
        pool.run(|worker| self.execute(worker));
        match self.spec.kernel {
            Kernel::Read => Ok(self.total().to_le_bytes().to_vec()),
            // SAFETY: the workers are done.
            Kernel::Write => Ok(unsafe { self.array.to_vec() }),
        }
    }
}
