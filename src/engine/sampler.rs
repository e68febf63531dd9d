//! Warm-up and timed samples of one prepared case.

use crate::backend::{Cancel, Failure, Prepared};

/// A sample shorter than this is batched: a pair of clock readings costs some 20 ns,
/// and a scheduling hiccup some microseconds.
const SHORTEST_SAMPLE: f64 = 100e-6;

/// The most executions in one sample.
const LARGEST_BATCH: u32 = 1 << 16;

/// Executes once or twice untimed and returns how many executions make a sample long
/// enough to time.
pub fn warm_up(prepared: &mut dyn Prepared, cancel: &Cancel) -> Result<u32, Failure> {
    cancel.check()?;
    let first = batch_for(prepared.sample(1)?);
    if first == 1 {
        return Ok(1);
    }
    // The first execution paid for cold caches and page tables; look again when warm.
    cancel.check()?;
    Ok(batch_for(prepared.sample(first)? / f64::from(first)))
}

/// Seconds of one execution, `count` times, with the cancel flag polled in between.
pub fn sample(
    prepared: &mut dyn Prepared,
    batch: u32,
    count: u32,
    cancel: &Cancel,
) -> Result<Vec<f64>, Failure> {
    (0..count)
        .map(|_| {
            cancel.check()?;
            let seconds = prepared.sample(batch)? / f64::from(batch);
            if seconds > 0.0 { Ok(seconds) } else { Err(Failure::Failed("the clock did not advance".into())) }
        })
        .collect()
}

fn batch_for(seconds: f64) -> u32 {
    // A quarter more than needed, so that a slightly faster execution still lasts.
    let wanted = 1.25 * SHORTEST_SAMPLE / seconds.max(1e-9);
    if seconds >= SHORTEST_SAMPLE { 1 } else { (wanted.ceil() as u32).clamp(2, LARGEST_BATCH) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_executions_are_batched_to_the_shortest_sample() {
        assert_eq!(batch_for(1.0), 1);
        assert_eq!(batch_for(100e-6), 1);
        assert_eq!(batch_for(99e-6), 2);
        assert_eq!(batch_for(2e-6), 63);
        assert_eq!(batch_for(0.0), LARGEST_BATCH);
    }
}
