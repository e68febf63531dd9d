//! Warm-up and timed samples of one prepared case.

use std::time::{Duration, Instant};

use crate::case::{Cancel, Failure};
use crate::device::Prepared;

/// Shorter executions are batched into samples of at least this length: reading the clock twice costs about 20
/// ns, and scheduling jitter a few microseconds.
const SHORTEST_SAMPLE: f64 = 100e-6;

/// Largest number of executions per sample.
const LARGEST_BATCH: u32 = 1 << 16;

/// A first execution shorter than this may be dominated by page faults and cold caches, so a second one is
/// worth its time.
const COLD: f64 = 50e-3;

/// Executes untimed at least `least` times and returns the number of executions that make a sample long enough
/// to time. With cold caches that is always one, because the second execution would find them warm.
pub fn warm_up(
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

/// From this number of samples on, one of them that follows a clearing of the outputs hardly moves their median. With
/// fewer, the one that is judged comes on top and its time is left out.
const ABSORBING: u32 = 3;

/// What happens before a sample with this number, from 0, and before its output is cleared.
pub type Between<'a> = &'a mut dyn FnMut(&mut dyn Prepared, u32) -> Result<(), Failure>;

/// Nothing happens between samples.
pub fn nothing(_: &mut dyn Prepared, _: u32) -> Result<(), Failure> {
    Ok(())
}

/// Takes `count` samples and returns seconds per execution. Before each, polls the cancel flag and calls
/// `between` and `before`, all untimed; returns `None` as soon as `before` returns `false`. If the output is to
/// be `judged`, it is cleared before the last sample, which is the one that leaves it, and the time that this
/// takes is added.
pub fn sample(
    prepared: &mut dyn Prepared,
    batch: u32,
    count: u32,
    mut judged: Option<&mut Duration>,
    between: Between,
    before: &mut dyn FnMut() -> Result<bool, Failure>,
    cancel: &Cancel,
) -> Result<Option<Vec<f64>>, Failure> {
    let executed = if judged.is_some() && count < ABSORBING { count + 1 } else { count };
    let samples: Option<Vec<f64>> = (0..executed)
        .map(|nth| {
            cancel.check()?;
            between(prepared, nth)?;
            if let Some(clearing) = judged.as_mut().filter(|_| nth + 1 == executed) {
                let begun = Instant::now();
                prepared.clear(cancel)?;
                **clearing += begun.elapsed();
            }
            if !before()? {
                return Ok(None);
            }
            let seconds = prepared.sample(batch)? / f64::from(batch);
            // Infinity is rejected too: JSON cannot represent it.
            let valid = seconds > 0.0 && seconds.is_finite();
            if valid {
                Ok(Some(seconds))
            } else {
                Err(Failure::Failed(format!("the clock told {seconds} s")))
            }
        })
        .collect::<Result<_, _>>()?;
    Ok(samples.map(|mut samples| {
        samples.truncate(count as usize);
        samples
    }))
}

/// The samples whose spread tells noise: where the output was `judged`, the last one follows a clearing.
pub fn comparable(samples: &[f64], judged: bool) -> &[f64] {
    match samples.split_last() {
        Some((_, others)) if judged && samples.len() >= ABSORBING as usize => others,
        _ => samples,
    }
}

fn batch_for(seconds: f64) -> u32 {
    // A margin of a quarter, so that a slightly faster execution still yields a long enough sample.
    let wanted = 1.25 * SHORTEST_SAMPLE / seconds.max(1e-9);
    if seconds >= SHORTEST_SAMPLE { 1 } else { (wanted.ceil() as u32).clamp(2, LARGEST_BATCH) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Verdict;

    /// A case whose first execution takes longer than the others.
    struct ColdStart {
        first: f64,
        then: f64,
        executed: u32,
        cleared_after: Option<u32>,
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

    #[test]
    fn the_output_is_cleared_before_the_last_sample() {
        for (judged, wanted) in [(true, Some(8)), (false, None)] {
            let mut case = ColdStart { first: 1.0, then: 1.0, executed: 0, cleared_after: None };
            let mut clearing = Duration::ZERO;
            let judged = judged.then_some(&mut clearing);
            let sampled = sample(&mut case, 2, 5, judged, &mut nothing, &mut || Ok(true), &Cancel::default());
            assert_eq!((sampled, case.cleared_after), (Ok(Some(vec![1.0; 5])), wanted));
        }
    }

    #[test]
    fn a_time_that_is_none_fails_the_case() {
        for time in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let mut case = ColdStart { first: time, then: time, executed: 0, cleared_after: None };
            let sampled = sample(&mut case, 1, 1, None, &mut nothing, &mut || Ok(true), &Cancel::default());
            assert!(matches!(sampled, Err(Failure::Failed(_))), "{time}");
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
