//! The thread pool: one pinned thread per CPU in use, with static partitions assigned by broadcast. rayon's
//! global pool is never used, and no work is ever stolen.

use std::hint::spin_loop;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use super::{Buffer, affinity};
use crate::case::{Cancel, Failure, Fault};

/// A thread's position among the threads of an execution.
#[derive(Clone, Copy, Debug)]
pub struct Worker<'a> {
    /// Index of this thread, from 0.
    pub index: usize,
    /// Number of threads.
    pub count: usize,
    barrier: &'a Barrier,
}

impl Worker<'_> {
    /// Waits until every worker has arrived.
    pub fn meet(&self) {
        self.barrier.wait();
    }
}

/// Pinned worker threads. Dropping the pool ends them.
#[derive(Debug)]
pub struct Pool {
    threads: rayon::ThreadPool,
    barrier: Barrier,
    cpus: Vec<usize>,
}

impl Pool {
    /// Creates a thread pinned to each of the first `threads` CPUs of the inherited affinity mask; `None`: to
    /// all of them.
    ///
    /// # Errors
    /// [`Failure::NotApplicable`] for more threads than CPUs; [`Failure::Failed`] if a thread cannot be started
    /// or pinned.
    pub fn new(threads: Option<usize>) -> Result<Pool, Failure> {
        let mut cpus = affinity::allowed();
        let wanted = threads.unwrap_or(cpus.len());
        if wanted > cpus.len() {
            let reason = format!("needs {wanted} CPUs, the affinity mask has {}", cpus.len());
            return Err(Failure::NotApplicable(reason));
        }
        cpus.truncate(wanted);
        let (pinned, targets) = (Arc::new(AtomicBool::new(true)), cpus.clone());
        let all_pinned = Arc::clone(&pinned);
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(wanted)
            .thread_name(|i| format!("worker {i}"))
            .start_handler(move |i| {
                if !affinity::pin(targets[i]) {
                    all_pinned.store(false, Ordering::SeqCst);
                }
            })
            .build()
            .map_err(|e| Failure::Failed(format!("cannot start {wanted} threads: {e}")))?;
        // The broadcast returns only after every start handler has run.
        pool.broadcast(|_| ());
        if !pinned.load(Ordering::SeqCst) {
            return Err(Failure::Failed(format!("cannot pin threads to CPUs {cpus:?}")));
        }
        Ok(Pool { threads: pool, barrier: Barrier::new(wanted), cpus })
    }

    /// Number of worker threads.
    pub fn threads(&self) -> usize {
        self.cpus.len()
    }

    /// The CPU of each worker.
    pub fn cpus(&self) -> &[usize] {
        &self.cpus
    }

    /// Calls `work` once on every worker; returns the results in worker order.
    pub fn run<R: Send>(&self, work: impl Fn(Worker) -> R + Sync) -> Vec<R> {
        let count = self.threads();
        self.threads.broadcast(|c| work(Worker { index: c.index(), count, barrier: &self.barrier }))
    }

    /// Like [`run`](Pool::run) for fallible work; returns the first error in worker order.
    pub fn try_run<R: Send>(
        &self,
        work: impl Fn(Worker) -> Result<R, Failure> + Sync,
    ) -> Result<Vec<R>, Failure> {
        self.run(work).into_iter().collect()
    }

    /// Seconds taken by `batch` executions of `work` on every worker. The clocks are read by the workers, from
    /// the earliest start after the barrier to the latest end, so waking up the pool is not included.
    pub fn time(&self, batch: u32, work: impl Fn(Worker) + Sync) -> f64 {
        let spans = self.run(|worker| {
            worker.meet();
            let start = Instant::now();
            for _ in 0..batch {
                work(worker);
            }
            (start, Instant::now())
        });
        let first = spans.iter().map(|s| s.0).min();
        let last = spans.iter().map(|s| s.1).max();
        first.zip(last).map_or(0.0, |(first, last)| (last - first).as_secs_f64())
    }

    /// Calls `work` with each block of [0, n), every worker on its own static part, and stops soon after a request to
    /// `cancel`. The parts are those of the kernels, so the thread that will use memory touches it first.
    pub fn for_blocks(
        &self,
        n: usize,
        cancel: &Cancel,
        work: impl Fn(Range<usize>) + Sync,
    ) -> Result<(), Failure> {
        self.try_run(|worker| {
            for block in Blocks::of(part(n, worker.index, worker.count)) {
                cancel.check()?;
                work(block);
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Folds [0, n): each worker folds the indices of its part in order; returns the results of the workers.
    pub fn fold<T: Copy + Send + Sync>(
        &self,
        n: usize,
        cancel: &Cancel,
        none: T,
        join: impl Fn(T, usize) -> T + Sync,
    ) -> Result<Vec<T>, Failure> {
        self.try_run(|worker| {
            Blocks::of(part(n, worker.index, worker.count)).try_fold(none, |all, block| {
                cancel.check()?;
                Ok(block.fold(all, &join))
            })
        })
    }

    /// Writes `element(i)` to element i of the buffer, for i in [0, n), each worker its part.
    pub fn fill<T: Copy>(
        &self,
        buffer: &mut Buffer,
        n: usize,
        cancel: &Cancel,
        element: impl Fn(usize) -> T + Sync,
    ) -> Result<(), Failure> {
        assert!(n <= buffer.holds::<T>(), "the elements fit in the buffer");
        let buffer = &*buffer;
        self.for_blocks(n, cancel, |block| {
            // SAFETY: blocks are disjoint, and the buffer is exclusively borrowed for this call.
            let elements = unsafe { buffer.write::<T>(block.clone()) };
            elements.iter_mut().zip(block).for_each(|(to, i)| *to = element(i));
        })
    }

    /// Like [`fill`](Pool::fill), with elements of 8 bytes, or of 4 bytes to which the numbers are truncated.
    pub fn fill_words(
        &self,
        buffer: &mut Buffer,
        bytes: u64,
        n: usize,
        cancel: &Cancel,
        element: impl Fn(usize) -> u64 + Sync,
    ) -> Result<(), Failure> {
        match bytes {
            4 => self.fill(buffer, n, cancel, |i| element(i) as u32),
            _ => self.fill(buffer, n, cancel, element),
        }
    }
}

/// A range in blocks of at most 2^18 elements: a few milliseconds of work between two checks for cancellation.
#[derive(Clone, Debug)]
pub struct Blocks(Range<usize>);

impl Blocks {
    const SIZE: usize = 1 << 18;

    /// The blocks of `range`, ascending.
    pub fn of(range: Range<usize>) -> Blocks {
        Blocks(range)
    }
}

impl Iterator for Blocks {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let start = self.0.start;
        let end = self.0.end.min(start + Self::SIZE);
        self.0.start = end;
        (start < end).then_some(start..end)
    }
}

/// Parts start at multiples of this many elements, so that workers share no cache lines and wide non-temporal
/// stores stay aligned.
const GRAIN: usize = 64;

/// Elements of [0, n) processed by worker `index` of `count`: a static, contiguous part.
pub fn part(n: usize, index: usize, count: usize) -> Range<usize> {
    cut(n, index, count, GRAIN)
}

fn cut(n: usize, index: usize, count: usize, grain: usize) -> Range<usize> {
    let units = n.div_ceil(grain) as u128;
    let at = |i: usize| ((units * i as u128 / count as u128) as usize * grain).min(n);
    at(index)..at(index + 1)
}

/// The elements of [0, n) processed by a worker, subject to `fault`: without one, its part and an empty range. `grain`
/// is 64 for array elements and 1 for iterations of a pattern.
///
/// `OffByOne` has no effect on the ranges: it shifts a base address (see the primitives). `WrongChunk` gives the last
/// worker its neighbor's part or, if only one worker has any elements, drops the second half of that part.
pub fn pieces(n: usize, grain: usize, worker: Worker, fault: Option<Fault>) -> [Range<usize>; 2] {
    let mine = cut(n, worker.index, worker.count, grain);
    let nothing = mine.end..mine.end;
    match fault {
        Some(Fault::MissingTail) => [mine.start.min(n - n.min(1))..mine.end.min(n - n.min(1)), nothing],
        Some(Fault::SkippedStore) if mine.contains(&(n / 2)) => [mine.start..n / 2, n / 2 + 1..mine.end],
        Some(Fault::WrongChunk) => [wrong_part(n, grain, worker, mine), nothing],
        _ => [mine, nothing],
    }
}

fn wrong_part(n: usize, grain: usize, worker: Worker, mine: Range<usize>) -> Range<usize> {
    let mut busy = (0..worker.count).rev().filter(|&i| !cut(n, i, worker.count, grain).is_empty());
    match (busy.next(), busy.next()) {
        (Some(last), Some(neighbour)) if last == worker.index => cut(n, neighbour, worker.count, grain),
        (Some(_), None) => mine.start..mine.start + mine.len() / 2,
        _ => mine,
    }
}

/// Spins before a waiting thread yields its CPU: under steal time, the thread that it waits for may be off its CPU for
/// milliseconds.
const SPINS: u32 = 1 << 14;

/// A reusable barrier for a fixed number of threads.
#[derive(Debug)]
pub struct Barrier {
    count: usize,
    arrived: AtomicUsize,
    generation: AtomicUsize,
}

impl Barrier {
    /// A barrier for `count` threads.
    pub fn new(count: usize) -> Barrier {
        Barrier { count, arrived: AtomicUsize::new(0), generation: AtomicUsize::new(0) }
    }

    /// Returns when all threads have called it. Their earlier writes are visible afterwards.
    pub fn wait(&self) {
        let generation = self.generation.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.count {
            self.arrived.store(0, Ordering::Relaxed);
            self.generation.store(generation.wrapping_add(1), Ordering::Release);
            return;
        }
        let mut spins = 0;
        while self.generation.load(Ordering::Acquire) == generation {
            spins += 1;
            if spins < SPINS { spin_loop() } else { std::thread::yield_now() }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_worker_runs_once_on_its_own_cpu() {
        let pool = Pool::new(None).expect("a pool");
        let seen = pool.run(|w| (w.index, std::thread::current().id(), rayon::current_num_threads()));
        for (i, (index, id, threads)) in seen.iter().enumerate() {
            assert_eq!((*index, *threads), (i, pool.threads()));
            assert!(seen[..i].iter().all(|s| s.1 != *id));
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn workers_are_pinned() {
        let pool = Pool::new(None).expect("a pool");
        let masks = pool.run(|_| affinity::allowed());
        assert_eq!(masks, pool.cpus().iter().map(|&c| vec![c]).collect::<Vec<_>>());
    }

    #[test]
    fn more_threads_than_cpus_do_not_apply() {
        let many = affinity::allowed().len() + 1;
        assert!(matches!(Pool::new(Some(many)), Err(Failure::NotApplicable(r)) if r.contains("CPUs")));
    }

    #[test]
    fn the_clock_covers_the_batch() {
        let pool = Pool::new(Some(1)).expect("a pool");
        let seconds = pool.time(3, |_| std::thread::sleep(std::time::Duration::from_millis(2)));
        assert!(seconds >= 0.006, "{seconds}");
    }

    #[test]
    fn a_request_to_stop_is_obeyed() {
        let (pool, cancel) = (Pool::new(None).expect("a pool"), Cancel::default());
        cancel.request();
        let outcome = pool.for_blocks(1 << 20, &cancel, |_| panic!("worked after the request"));
        assert_eq!(outcome, Err(Failure::Cancelled));
    }

    #[test]
    fn blocks_cover_their_range() {
        let blocks: Vec<_> = Blocks::of(5..(1 << 18) + 6).collect();
        assert_eq!(blocks, [5..(1 << 18) + 5, (1 << 18) + 5..(1 << 18) + 6]);
        assert_eq!(Blocks::of(7..7).count(), 0);
    }

    fn handled(n: usize, grain: usize, pool: &Pool, fault: Option<Fault>) -> Vec<u32> {
        let mut times = vec![0; n];
        for piece in pool.run(|w| pieces(n, grain, w, fault)).into_iter().flatten() {
            piece.for_each(|i| times[i] += 1);
        }
        times
    }

    proptest! {
        #[test]
        fn parts_cover_everything_once(n in 0usize..5000, count in 1usize..20) {
            let parts: Vec<_> = (0..count).map(|i| part(n, i, count)).collect();
            prop_assert_eq!((parts[0].start, parts[count - 1].end), (0, n));
            for pair in parts.windows(2) {
                prop_assert_eq!(pair[0].end, pair[1].start);
                prop_assert!(pair[1].start % GRAIN == 0 || pair[1].start == n);
            }
        }
    }

    #[test]
    fn faults_leave_something_out() {
        let pools = [Pool::new(Some(1)).expect("a pool"), Pool::new(None).expect("a pool")];
        for (pool, n) in pools.iter().flat_map(|p| [1, 2, 63, 64, 65, 1000].map(|n| (p, n))) {
            for grain in [1, 64] {
                assert!(handled(n, grain, pool, None).iter().all(|&t| t == 1));
                assert!(handled(n, grain, pool, Some(Fault::OffByOne)).iter().all(|&t| t == 1));
                assert!(handled(n, grain, pool, Some(Fault::WrongChunk)).contains(&0), "{n}");
                for (fault, lost) in [(Fault::MissingTail, n - 1), (Fault::SkippedStore, n / 2)] {
                    let times = handled(n, grain, pool, Some(fault));
                    let missing: Vec<_> = (0..n).filter(|&i| times[i] == 0).collect();
                    assert_eq!(missing, [lost], "{fault:?} {n}");
                }
            }
        }
        assert!(handled(0, 1, &pools[0], Some(Fault::MissingTail)).is_empty());
    }

    #[test]
    fn nobody_passes_before_all_have_arrived() {
        let (barrier, arrived) = (Barrier::new(3), AtomicUsize::new(0));
        std::thread::scope(|s| {
            for _ in 0..3 {
                s.spawn(|| {
                    for round in 1..=200 {
                        arrived.fetch_add(1, Ordering::SeqCst);
                        barrier.wait();
                        assert_eq!(arrived.load(Ordering::SeqCst), 3 * round);
                        barrier.wait();
                    }
                });
            }
        });
    }
}
