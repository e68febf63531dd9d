//! A case on several GPUs concurrently, each with its own arrays (weak scaling), and how long that takes.

use std::sync::atomic::{AtomicIsize, Ordering};
use std::thread;
use std::time::Instant;

use super::OneGpu;
use crate::case::gpus::COUNT_KEY;
use crate::case::{Cancel, Failure, Snapshot, Value, Verdict};
use crate::device::Prepared;
use crate::device::cuda::Gpu;

/// The same case prepared on each of several GPUs.
pub struct Several(Vec<(Gpu, OneGpu)>);

impl Several {
    /// Joins the parts of a case; at least one is required.
    pub fn new(parts: Vec<(Gpu, OneGpu)>) -> Several {
        Several(parts)
    }

    /// Judges the GPUs one after another; returns their common verdict.
    fn one_by_one(
        &mut self,
        mut verdict: impl FnMut(&mut OneGpu) -> Result<Verdict, Failure>,
    ) -> Result<Verdict, Failure> {
        let mut all = 0;
        for (nth, (_, part)) in self.0.iter_mut().enumerate() {
            match verdict(part)? {
                Verdict::Certified { checked } => all += checked,
                Verdict::Wrong { mistake } => {
                    return Ok(Verdict::Wrong { mistake: format!("GPU {} of the case: {mistake}", nth + 1) });
                }
            }
        }
        Ok(Verdict::Certified { checked: all })
    }
}

impl Prepared for Several {
    /// Seconds from the first start to the last end.
    fn sample(&mut self, batch: u32) -> Result<f64, Failure> {
        let parts = self.0.iter_mut();
        run_concurrently(parts.map(|(gpu, part)| (gpu.clone(), move || part.sample(batch))).collect())
    }

    fn clear(&mut self, cancel: &Cancel) -> Result<(), Failure> {
        self.0.iter_mut().try_for_each(|(_, part)| part.clear(cancel))
    }

    fn judge(&mut self, cancel: &Cancel) -> Result<Verdict, Failure> {
        self.one_by_one(|part| part.judge(cancel))
    }

    fn certify(&mut self, cancel: &Cancel) -> Result<Verdict, Failure> {
        self.one_by_one(|part| part.certify(cancel))
    }

    fn tolerance(&self) -> f64 {
        self.0.iter().map(|(_, part)| part.tolerance()).fold(0.0, f64::max)
    }

    fn memory(&self) -> u64 {
        self.0.iter().map(|(_, part)| part.memory()).sum()
    }

    fn resolved(&self) -> Vec<(String, Value)> {
        let first = self.0.first().map(|(_, part)| part.resolved()).unwrap_or_default();
        let count = (COUNT_KEY.to_owned(), Value::Int(self.0.len() as u64));
        first.into_iter().chain([count]).collect()
    }

    /// The picture of the first GPU: all of them compute the same.
    fn snapshot(&mut self) -> Result<Option<Snapshot>, Failure> {
        self.0.first_mut().map_or(Ok(None), |(_, part)| part.snapshot())
    }

    /// Disturbs the case on every GPU in the same place.
    fn disturb(&mut self, at: (f64, f64)) -> Result<bool, Failure> {
        self.0.iter_mut().try_fold(false, |disturbed, (_, part)| Ok(part.disturb(at)? || disturbed))
    }

    /// The concatenated outputs of all GPUs.
    fn read_back(&mut self) -> Result<Vec<u8>, Failure> {
        let outputs: Vec<Vec<u8>> =
            self.0.iter_mut().map(|(_, part)| part.read_back()).collect::<Result<_, _>>()?;
        Ok(outputs.concat())
    }
}

/// The timing of one GPU.
#[derive(Clone, Copy, Debug)]
struct Run {
    began: Instant,
    /// Duration by the GPU's own clock.
    seconds: f64,
}

/// Runs the parts concurrently, each a GPU and its work, which returns its own seconds. Returns the seconds from the
/// first start to the last end.
///
/// # Errors
/// The error of the first part that failed, or of a thread that could not be started.
///
/// Concurrent execution on several GPUs, and its duration.
///
/// GPUs share no clock. Each GPU is timed by its own pair of events, like a single GPU; the host clock only provides
/// the offsets between their starts. A thread per GPU waits at a common start line with its GPU idle, so the offsets
/// are about a microsecond, and launches on one GPU do not wait for those on another.
pub fn run_concurrently<W>(parts: Vec<(Gpu, W)>) -> Result<f64, Failure>
where
    W: FnOnce() -> Result<f64, Failure> + Send,
{
    let line = &Line(AtomicIsize::new(parts.len().cast_signed()));
    let runs = thread::scope(|scope| {
        let spawn = |(gpu, work): (Gpu, W)| {
            let part = move || line.run(|| gpu.wait_for_own_work(), work);
            thread::Builder::new().name("gpu".into()).spawn_scoped(scope, part).map_err(|error| {
                line.give_up();
                Failure::Failed(format!("cannot start a thread for a GPU: {error}"))
            })
        };
        // Start all threads before joining any.
        let threads: Vec<_> = parts.into_iter().map(spawn).collect();
        let ended = |thread: thread::ScopedJoinHandle<Result<Run, Failure>>| {
            thread.join().unwrap_or_else(|_| Err(Failure::Failed("the thread of a GPU panicked".to_owned())))
        };
        threads.into_iter().map(|thread| thread.and_then(ended)).collect::<Result<Vec<Run>, Failure>>()
    })?;
    Ok(lasted(&runs))
}

/// Seconds from the first start to the last end.
fn lasted(runs: &[Run]) -> f64 {
    let Some(first) = runs.iter().map(|run| run.began).min() else { return 0.0 };
    let end = |run: &Run| run.began.duration_since(first).as_secs_f64() + run.seconds;
    runs.iter().map(end).fold(0.0, f64::max)
}

/// A start line for threads: the number of threads that have not arrived.
struct Line(AtomicIsize);

impl Line {
    /// Runs `ready`, waits for all other threads, and runs `work`. A thread that fails to get ready does not block the
    /// others.
    fn run(
        &self,
        ready: impl FnOnce() -> Result<(), Failure>,
        work: impl FnOnce() -> Result<f64, Failure>,
    ) -> Result<Run, Failure> {
        let ready = ready();
        self.0.fetch_sub(1, Ordering::AcqRel);
        // Wait actively: a sleeping thread would start tens of microseconds late.
        while self.0.load(Ordering::Acquire) > 0 {
            thread::yield_now();
        }
        ready?;
        let began = Instant::now();
        Ok(Run { began, seconds: work()? })
    }

    /// Releases all waiting threads.
    fn give_up(&self) {
        self.0.store(isize::MIN / 2, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn it_lasts_until_the_last_end() {
        let first = Instant::now();
        let run = |after: u64, seconds| Run { began: first + Duration::from_millis(after), seconds };
        assert_eq!(lasted(&[run(0, 0.5)]), 0.5);
        assert_eq!(lasted(&[run(250, 0.5), run(0, 0.5)]), 0.75);
        assert_eq!(lasted(&[run(0, 0.5), run(250, 0.125)]), 0.5);
        assert_eq!(lasted(&[]), 0.0);
    }

    #[test]
    fn nobody_works_before_all_are_at_the_line() {
        let (line, arrived) = (Line(AtomicIsize::new(3)), AtomicIsize::new(0));
        let arrive = || {
            arrived.fetch_add(1, Ordering::SeqCst);
            Ok(())
        };
        let work = || Ok(arrived.load(Ordering::SeqCst) as f64);
        let seen: Vec<f64> = thread::scope(|scope| {
            let threads: Vec<_> = (0..3).map(|_| scope.spawn(|| line.run(arrive, work))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap().unwrap().seconds).collect()
        });
        assert_eq!(seen, [3.0; 3]);
    }

    #[test]
    fn who_is_not_ready_holds_nobody_up() {
        let line = Line(AtomicIsize::new(2));
        let lost = || Err(Failure::Lost("gone".to_owned()));
        thread::scope(|scope| {
            let other = scope.spawn(|| line.run(|| Ok(()), || Ok(1.0)));
            assert_eq!(line.run(lost, || Ok(1.0)).err(), Some(Failure::Lost("gone".to_owned())));
            assert!(other.join().unwrap().is_ok());
        });
        let alone = Line(AtomicIsize::new(9));
        alone.give_up();
        assert!(alone.run(|| Ok(()), || Ok(1.0)).is_ok());
    }
}
