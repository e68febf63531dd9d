//! The threads of a case: a rayon pool of its own with as many as the recipe says, on the first CPUs of the inherited
//! affinity mask. rayon's global pool is never used.

use std::sync::{Barrier, OnceLock};
use std::time::Instant;

use rayon::prelude::*;

use crate::case::{Case, NotApplicable, refused};
use crate::inputs::{affinity, shared};

/// The mask that the program inherited, read before any thread is restricted.
static INHERITED: OnceLock<Vec<usize>> = OnceLock::new();

/// Whether each thread stays on one CPU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pinning {
    /// Each on its own, as the lab's.
    Each,
    /// All on the same CPUs: threads that a crate starts in a thread of the pool would inherit its only CPU.
    Together,
}

/// The pool of a case.
#[derive(Debug)]
pub struct Threads {
    pool: rayon::ThreadPool,
    pub count: usize,
}

impl Threads {
    /// The threads that a case asks for under `backend.cpu.threads`.
    pub fn of(case: &mut Case, pinning: Pinning) -> Result<Threads, NotApplicable> {
        let most = INHERITED.get_or_init(affinity::allowed).len();
        match case.text("backend.cpu.threads", "auto").as_str() {
            "auto" => Threads::new(most, pinning),
            word => match word.parse() {
                Ok(count) if count > 0 => Threads::new(count, pinning),
                _ => refused(format!("backend.cpu.threads={word} is not a number of threads")),
            },
        }
    }

    /// A pool of this many threads, on as many CPUs.
    pub fn new(count: usize, pinning: Pinning) -> Result<Threads, NotApplicable> {
        let mut cpus = INHERITED.get_or_init(affinity::allowed).clone();
        if count > cpus.len() {
            return refused(format!("needs {count} CPUs, the affinity mask has {}", cpus.len()));
        }
        cpus.truncate(count);
        let own = move |thread: usize| match pinning {
            Pinning::Each => affinity::pin(cpus[thread]),
            Pinning::Together => affinity::restrict(&cpus),
        };
        let start = move |thread| assert!(own(thread), "a thread cannot be restricted to its CPUs");
        let builder = rayon::ThreadPoolBuilder::new().num_threads(count).start_handler(start);
        match builder.build() {
            Ok(pool) => Ok(Threads { pool, count }),
            Err(error) => refused(format!("cannot start {count} threads: {error}")),
        }
    }

    /// Calls `work` in the pool, whose threads rayon's parallel calls then use.
    pub fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        self.pool.install(work)
    }

    /// Elements of a thread's part of `n`.
    fn part(&self, n: usize) -> usize {
        n.div_ceil(self.count).max(1)
    }

    /// An array of these elements, made by the threads, each its part.
    pub fn array<T: Clone + Send + Default>(&self, n: usize, element: impl Fn(u64) -> T + Sync) -> Vec<T> {
        let mut array = vec![T::default(); n];
        let part = self.part(n);
        self.install(|| {
            array.par_chunks_mut(part).enumerate().for_each(|(at, own)| {
                own.iter_mut().zip((at * part) as u64..).for_each(|(to, i)| *to = element(i));
            });
        });
        array
    }

    /// Copies an array, each thread its part.
    pub fn copy<T: Copy + Send + Sync>(&self, from: &[T], to: &mut [T]) {
        let part = self.part(from.len());
        self.install(|| {
            to.par_chunks_mut(part)
                .zip(from.par_chunks(part))
                .for_each(|(to, from)| to.copy_from_slice(from));
        });
    }

    /// Seconds in which every thread works on its part of [0, n). As in the lab the clocks are read by the threads,
    /// from the earliest start to the latest end, so that waking them up is not included.
    pub fn time(&self, n: usize, work: impl Fn(std::ops::Range<usize>) + Sync) -> f64 {
        let (together, part) = (Barrier::new(self.count), self.part(n));
        let spans = self.pool.broadcast(|worker| {
            let first = (worker.index() * part).min(n);
            together.wait();
            let start = Instant::now();
            work(first..(first + part).min(n));
            (start, Instant::now())
        });
        let (first, last) = (spans.iter().map(|s| s.0).min(), spans.iter().map(|s| s.1).max());
        first.zip(last).map_or(0.0, |(first, last)| (last - first).as_secs_f64())
    }
}

/// Refuses a case that needs more memory than is free and kept together, and lets go of what is kept until so much is free.
pub fn require(bytes: u64) -> Result<(), NotApplicable> {
    match shared().room() {
        Some(room) if bytes > room => return refused(format!("needs {bytes} bytes, {room} free")),
        _ => shared().make_room(bytes),
    }
    Ok(())
}
