//! The measuring loop: a warm-up and the timed samples of one prepared case, for the rounds of an engine and for the
//! ranks of a parallel job.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::noise_monitor::Watch;
use crate::case::{Cache, Cancel, Failure, Measure, Value};
use crate::device::Prepared;
use crate::engine::Executor;
use crate::stats::noise::{self, Clocks, Conditions, Flag};

/// Shorter executions are batched into samples of at least this length: reading the clock twice costs about 20
/// ns, and scheduling jitter a few microseconds.
const SHORTEST_SAMPLE: f64 = 100e-6;

/// Largest number of executions per sample.
const LARGEST_BATCH: u32 = 1 << 16;

/// A first execution shorter than this may be dominated by page faults and cold caches, so a second one is
/// worth its time.
const COLD: f64 = 50e-3;

/// From this number of samples on, one of them that follows a clearing of the outputs hardly moves their median. With
/// fewer, the one that is judged comes on top and its time is left out.
const ABSORBING: u32 = 3;

/// Happens around the samples of a round, untimed.
pub trait Around {
    type Error: From<Failure>;

    /// Called after the warm-up, by which this many executions make a sample long enough; returns how many to take.
    fn warmed_up(&mut self, batch: u32) -> Result<u32, Self::Error> {
        Ok(batch)
    }

    /// Called before each sample, numbered from 0, and before its output is cleared.
    fn between(&mut self, _prepared: &mut dyn Prepared, _nth: u32) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Called right before a sample is timed; `false` interrupts the round.
    fn ready(&mut self) -> Result<bool, Self::Error> {
        Ok(true)
    }
}

/// Nothing happens around the samples.
pub struct Undisturbed;

impl Around for Undisturbed {
    type Error = Failure;
}

/// The samples to take of a prepared case.
pub struct Sampling<'a> {
    /// Executions in a sample.
    pub batch: u32,
    pub count: u32,
    /// Whether the last sample's output is judged: it is cleared before that sample, which leaves it.
    pub judged: bool,
    /// Evicts the caches before each sample.
    pub evicts: Option<&'a dyn Executor>,
    pub cancel: &'a Cancel,
}

/// The samples of an uninterrupted stretch.
pub struct Samples {
    /// Seconds per execution.
    pub seconds: Vec<f64>,
    /// Time in which the outputs were cleared before the last sample.
    pub clearing: Duration,
    /// Bytes allocated for eviction.
    pub evictor: u64,
}

impl Sampling<'_> {
    /// Takes the samples. Polls the cancel flag before each; `None` as soon as a sample is not `ready`.
    pub fn take<A: Around>(
        &self,
        prepared: &mut dyn Prepared,
        around: &mut A,
    ) -> Result<Option<Samples>, A::Error> {
        let extra = u32::from(self.judged && self.count < ABSORBING);
        let mut samples = Samples { seconds: Vec::new(), clearing: Duration::ZERO, evictor: 0 };
        for nth in 0..self.count + extra {
            self.cancel.check()?;
            around.between(prepared, nth)?;
            if self.judged && nth + 1 == self.count + extra {
                let begun = Instant::now();
                prepared.clear(self.cancel)?;
                samples.clearing = begun.elapsed();
            }
            if let Some(executor) = self.evicts {
                samples.evictor = executor.evict()?;
            }
            if !around.ready()? {
                return Ok(None);
            }
            samples.seconds.push(valid(prepared.sample(self.batch)? / f64::from(self.batch))?);
        }
        samples.seconds.truncate(self.count as usize);
        Ok(Some(samples))
    }
}

/// Rejects infinity too: JSON cannot represent it.
fn valid(seconds: f64) -> Result<f64, Failure> {
    match seconds > 0.0 && seconds.is_finite() {
        true => Ok(seconds),
        false => Err(Failure::Failed(format!("the clock reported {seconds} s"))),
    }
}

/// One round of a prepared case.
pub struct Round<'a> {
    pub measure: Measure,
    /// Whether the last sample's output is judged.
    pub judged: bool,
    /// Executor of the device that is measured.
    pub executor: &'a dyn Executor,
    pub watch: &'a mut dyn Watch,
    pub cancel: &'a Cancel,
}

/// The measurement of a round.
pub struct Measured {
    pub samples: Samples,
    /// Executions in a sample.
    pub batch: u32,
    /// Start of the first sample, seconds since the epoch.
    pub started: f64,
    pub conditions: Conditions,
    judged: bool,
}

impl Round<'_> {
    /// Warms up and takes the samples; `None` if they are interrupted, so that the samples of a round are always
    /// contiguous.
    pub fn measure<A: Around>(
        self,
        prepared: &mut dyn Prepared,
        around: &mut A,
    ) -> Result<Option<Measured>, A::Error> {
        let Round { measure, judged, executor, watch, cancel } = self;
        let before = executor.gpu_conditions();
        let cold = measure.cache == Cache::Cold;
        let batch = around.warmed_up(warm_up(prepared, measure.warm_up, cold, cancel)?)?;
        let started = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |d| d.as_secs_f64());
        let evicts = cold.then_some(executor);
        let sampling = Sampling { batch, count: measure.samples, judged, evicts, cancel };
        let samples = sampling.take(prepared, around)?;
        let (gpu, seen) = (executor.gpu_conditions(), watch.end());
        // Nothing keeps the CPU at its full clock during a GPU's case.
        let clock = seen.clock.filter(|_| gpu.is_none());
        let conditions = Conditions { clock, gpu, ..seen }.since(before);
        Ok(samples.map(|samples| Measured { samples, batch, started, conditions, judged }))
    }
}

impl Measured {
    /// The doubts about the round, each with the figure behind it.
    pub fn doubts(
        &self,
        clocks: &mut Clocks,
        backend: &str,
        resolved: &[(String, Value)],
    ) -> Vec<(Flag, String)> {
        let usual = clocks.usual(backend, resolved, self.conditions.clock);
        noise::doubts(comparable(&self.samples.seconds, self.judged), &self.conditions, usual)
    }
}

/// The samples whose spread tells noise: where the output was `judged`, the last one follows a clearing.
fn comparable(samples: &[f64], judged: bool) -> &[f64] {
    match samples.split_last() {
        Some((_, others)) if judged && samples.len() >= ABSORBING as usize => others,
        _ => samples,
    }
}

/// Executes untimed at least `least` times and returns the number of executions that make a sample long enough
/// to time. With cold caches that is always one, because the second execution would find them warm.
fn warm_up(
    prepared: &mut dyn Prepared,
    least: Option<u32>,
    cold_caches: bool,
    cancel: &Cancel,
) -> Result<u32, Failure> {
    cancel.check()?;
    let cold = prepared.sample(1)?;
    let (mut batch, mut executed) = (1, 1);
    if cold < COLD && !cold_caches {
        cancel.check()?;
        let first = batch_for(cold);
        batch = batch_for(prepared.sample(first)? / f64::from(first));
        executed += first;
    }
    while let Some(left) = least.and_then(|least| least.checked_sub(executed)).filter(|left| *left > 0) {
        cancel.check()?;
        prepared.sample(left.min(batch))?;
        executed += left.min(batch);
    }
    Ok(batch)
}

fn batch_for(seconds: f64) -> u32 {
    // A margin of a quarter, so that a slightly faster execution still yields a long enough sample.
    let wanted = 1.25 * SHORTEST_SAMPLE / seconds.max(1e-9);
    if seconds >= SHORTEST_SAMPLE { 1 } else { (wanted.ceil() as u32).clamp(2, LARGEST_BATCH) }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::case::Verdict;

    /// A case whose first execution takes longer than the others.
    pub struct ColdStart {
        pub first: f64,
        pub then: f64,
        pub executed: u32,
        pub cleared_after: Option<u32>,
    }

    impl Prepared for ColdStart {
        fn sample(&mut self, batch: u32) -> Result<f64, Failure> {
            let first = if self.executed == 0 { self.first } else { self.then };
            self.executed += batch;
            Ok(first + self.then * f64::from(batch - 1))
        }

        fn clear(&mut self, _: &Cancel) -> Result<(), Failure> {
            self.cleared_after = Some(self.executed);
            Ok(())
        }

        fn judge(&mut self, _: &Cancel) -> Result<Verdict, Failure> {
            Ok(Verdict::Certified { checked: 0 })
        }

        fn certify(&mut self, _: &Cancel) -> Result<Verdict, Failure> {
            Ok(Verdict::Certified { checked: 0 })
        }

        fn memory(&self) -> u64 {
            0
        }

        fn read_back(&mut self) -> Result<Vec<u8>, Failure> {
            Ok(Vec::new())
        }
    }

    #[test]
    fn the_batch_follows_the_warm_execution() {
        let batch = |first, then| {
            let mut case = ColdStart { first, then, executed: 0, cleared_after: None };
            warm_up(&mut case, None, false, &Cancel::default()).map(|batch| (batch, case.executed))
        };
        assert_eq!(batch(1e-3, 2e-6), Ok((63, 2)), "a cold start hides a short case");
        assert_eq!(batch(2e-3, 1e-3), Ok((1, 2)));
        assert_eq!(batch(1.0, 1.0), Ok((1, 1)), "a long case is not executed twice");
    }

    #[test]
    fn a_warm_up_lasts_as_many_executions_as_asked_for() {
        let executed = |first, then, least, cold| {
            let mut case = ColdStart { first, then, executed: 0, cleared_after: None };
            let batch = warm_up(&mut case, Some(least), cold, &Cancel::default());
            (batch, case.executed)
        };
        assert_eq!(executed(1.0, 1.0, 10, false), (Ok(1), 10));
        assert_eq!(executed(1.0, 1.0, 10, true), (Ok(1), 10));
        assert_eq!(executed(1e-3, 2e-6, 100, false), (Ok(63), 100));
        assert_eq!(executed(1e-3, 2e-6, 1, false), (Ok(63), 2), "the second look is had all the same");
    }

    fn sampled(
        case: &mut ColdStart,
        batch: u32,
        count: u32,
        judged: bool,
    ) -> Result<Option<Vec<f64>>, Failure> {
        let sampling = Sampling { batch, count, judged, evicts: None, cancel: &Cancel::default() };
        sampling.take(case, &mut Undisturbed).map(|samples| Some(samples?.seconds))
    }

    #[test]
    fn the_output_is_cleared_before_the_last_sample() {
        for (judged, wanted) in [(true, Some(8)), (false, None)] {
            let mut case = ColdStart { first: 1.0, then: 1.0, executed: 0, cleared_after: None };
            assert_eq!(sampled(&mut case, 2, 5, judged), Ok(Some(vec![1.0; 5])));
            assert_eq!(case.cleared_after, wanted);
        }
    }

    #[test]
    fn a_time_that_is_none_fails_the_case() {
        for time in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let mut case = ColdStart { first: time, then: time, executed: 0, cleared_after: None };
            assert!(matches!(sampled(&mut case, 1, 1, false), Err(Failure::Failed(_))), "{time}");
        }
    }

    #[test]
    fn short_executions_are_batched_to_the_shortest_sample() {
        assert_eq!(batch_for(1.0), 1);
        assert_eq!(batch_for(100e-6), 1);
        assert_eq!(batch_for(99e-6), 2);
        assert_eq!(batch_for(2e-6), 63);
        assert_eq!(batch_for(0.0), LARGEST_BATCH);
    }
}
