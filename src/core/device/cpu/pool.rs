//! The thread pool: one pinned thread per CPU in use, with static partitions assigned by broadcast. rayon's
//! global pool is never used, and no work is ever stolen.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::{Barrier, Buffer, affinity, part};
use crate::case::{Cancel, Failure};

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

    /// Calls `work` with each block of [0, n), every worker on its own static part, and stops soon after a
    /// request to `cancel`. The parts are those of the kernels, so memory is first touched by the thread that
    /// will use it.
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

    /// Folds [0, n): each worker folds the indices of its part in order.
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

    /// Like [`fill`](Pool::fill), with elements of 4 bytes, to which the numbers are truncated, or of 8 bytes.
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
