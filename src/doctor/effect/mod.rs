//! What the user interface costs: a copy is timed in an engine's process, as in a run,
//! while the screen of a run is drawn in this one, half of the time.
//!
//! Within one round, so that memory is the same, halves with and without drawing follow
//! each other in pairs whose order alternates; several rounds, so that memory differs.

mod bench;
mod halves;
mod open;
mod statistics;

use std::time::{Duration, Instant};

use anyhow::Context;
use serde::Serialize;

pub use open::{Aim, Footprint, Outcome, measure};
pub use statistics::{Cost, Pair, cost};

use crate::case::units;
use crate::stats as samples;
use halves::{Half, Timed};

/// How long a half lasts: a few frames at four a second.
const HALF: Duration = Duration::from_millis(750);
/// Pairs in a round.
const ROUND: usize = 6;
/// Samples that tell how many fill a round.
const TRIAL: u32 = 9;
/// How often to look whether sampling has begun.
const LOOK: Duration = Duration::from_millis(20);
/// A half interval of so much of the bandwidth is narrow enough.
const NARROW: f64 = 0.005;

/// What is heard of a timed case.
#[derive(Clone, Debug, PartialEq)]
enum Heard {
    /// Its samples are being timed now.
    Timing,
    /// It is over.
    Timed(Timed),
}

/// The measured side.
trait Measured {
    /// Starts a round of so many samples on this number of threads (or `auto`).
    fn begin(&mut self, threads: &str, samples: u32) -> anyhow::Result<()>;

    /// What has happened since the last time, without waiting.
    fn heard(&mut self) -> anyhow::Result<Option<Heard>>;
}

/// The side that draws, or does not.
trait Screen {
    fn draw_for(&mut self, time: Duration) -> anyhow::Result<()>;
    fn rest_for(&mut self, time: Duration) -> anyhow::Result<()>;
    /// Shows how far the measurement is.
    fn notify(&mut self, text: &str);
    /// Whether the person wants no more.
    fn stopped(&self) -> bool;
    /// Frames drawn so far.
    fn frames(&mut self) -> usize;
    /// Seconds since the epoch.
    fn now(&self) -> f64;
    /// Seconds of CPU time that this process has taken.
    fn cpu(&self) -> f64;
}

/// How much is measured at one number of threads.
#[derive(Clone, Copy, Debug)]
struct Extent {
    /// Pairs at least.
    least: usize,
    /// Pairs at most, where the interval stays wide.
    most: usize,
    /// No further round begins after this time.
    until: Instant,
}

/// What drawing costs at one number of threads.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Effect {
    /// Of the copy.
    pub threads: usize,
    /// Whether these are all CPUs of the affinity mask.
    pub every_cpu: bool,
    /// Of the median sample, which is what a run reports.
    #[serde(flatten)]
    pub cost: Cost,
    /// Of the mean, in which the samples that drawing or anything else has hit count fully.
    pub of_mean: Cost,
    /// Frames a second while the screen was drawn.
    pub frames: f64,
    /// CPUs that this process kept busy while it drew, and while it did not.
    pub cpu_drawing: f64,
    pub cpu_resting: f64,
    /// Bytes that the copy reads and writes, per second.
    pub bandwidth: f64,
    pub copy: Footprint,
}

/// Sums over the halves of one kind.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    seconds: f64,
    cpu: f64,
    frames: usize,
}

/// Measures pairs at one number of threads.
struct Session<'a> {
    screen: &'a mut dyn Screen,
    measured: &'a mut dyn Measured,
    /// Of the halves' medians, as a run would tell them.
    pairs: Vec<Pair>,
    /// Of the halves' means, in which every sample's time counts.
    means: Vec<Pair>,
    /// Without and with drawing.
    sums: [Sums; 2],
}

impl<'a> Session<'a> {
    fn new(screen: &'a mut dyn Screen, measured: &'a mut dyn Measured) -> Session<'a> {
        Session { screen, measured, pairs: Vec::new(), means: Vec::new(), sums: Default::default() }
    }

    /// As many pairs as `extent` asks for; fewer where the person stops it.
    ///
    /// # Errors
    /// When either side is gone, and when two rounds running hold no whole pair. The pairs
    /// until then stay.
    fn run(&mut self, threads: &str, label: &str, extent: Extent) -> anyhow::Result<()> {
        let Some(trial) = self.round(threads, TRIAL, &mut |_, _| Ok(false))? else { return Ok(()) };
        let (mut sample, mut empty) = (length(&trial)?, false);
        while !self.screen.stopped() && self.wanted(extent) {
            let pairs = ROUND.min(extent.most - self.pairs.len());
            // Half a half more, because the last pair must be whole.
            let time = (2.0 * pairs as f64 + 0.5) * HALF.as_secs_f64();
            let before = self.pairs.len();
            let samples = (time / sample).ceil() as u32;
            let Some(timed) = self.pairs_of_round(threads, samples, label, extent)? else { return Ok(()) };
            // What a round has shown of the samples' length is newer than the trial.
            sample = length(&timed)?;
            let nothing = self.pairs.len() == before;
            anyhow::ensure!(!(nothing && empty), "{}", no_pairs(sample));
            empty = nothing;
        }
        Ok(())
    }

    fn wanted(&self, extent: Extent) -> bool {
        let count = self.pairs.len();
        let wide = cost(&self.pairs).is_none_or(|cost| cost.half_width() > NARROW);
        count < extent.least || count < extent.most && wide && Instant::now() < extent.until
    }

    /// Adds the whole pairs of a round; `None` when the person stops it.
    fn pairs_of_round(
        &mut self,
        threads: &str,
        samples: u32,
        label: &str,
        extent: Extent,
    ) -> anyhow::Result<Option<Timed>> {
        let (first, mut halves) = (self.pairs.len(), Vec::new());
        let mut sums = self.sums;
        let mut act = |screen: &mut dyn Screen, number: usize| {
            let pair = first + number / 2;
            if number.is_multiple_of(2) {
                let of = if pair < extent.least { extent.least } else { extent.most };
                screen.notify(&format!("{label}: pair {} of {of}", pair + 1));
            }
            let (half, spent) = stretch(screen, halves::drawn(pair, number % 2))?;
            let sum = &mut sums[usize::from(half.drawn)];
            sum.seconds += spent.seconds;
            sum.cpu += spent.cpu;
            sum.frames += spent.frames;
            halves.push(half);
            Ok(true)
        };
        let Some(timed) = self.round(threads, samples, &mut act)? else { return Ok(None) };
        self.pairs.extend(halves::pairs(&halves, &timed, samples::median));
        self.means.extend(halves::pairs(&halves, &timed, mean));
        self.pairs.truncate(extent.most);
        self.means.truncate(extent.most);
        self.sums = sums;
        Ok(Some(timed))
    }

    /// One round of samples, with `act` called again and again while they are timed, until
    /// it answers false; `None` when the person stops it.
    fn round(
        &mut self,
        threads: &str,
        samples: u32,
        act: &mut dyn FnMut(&mut dyn Screen, usize) -> anyhow::Result<bool>,
    ) -> anyhow::Result<Option<Timed>> {
        self.measured.begin(threads, samples)?;
        let (mut timing, mut number) = (false, 0);
        while !self.screen.stopped() {
            match self.measured.heard()? {
                Some(Heard::Timed(timed)) => return Ok(Some(timed)),
                Some(Heard::Timing) => timing = true,
                None => {}
            }
            if timing {
                timing = act(self.screen, number)?;
                number += 1;
            }
            if !timing {
                self.screen.rest_for(LOOK)?;
            }
        }
        Ok(None)
    }
}

/// Seconds of a whole sample.
fn length(timed: &Timed) -> anyhow::Result<f64> {
    let sample = samples::median(&timed.samples).map(|s| s * f64::from(timed.batch));
    sample.context("the engine told no samples")
}

/// Why no pair of two rounds was whole, where samples last so many seconds.
fn no_pairs(sample: f64) -> String {
    let stretch = HALF.as_secs_f64();
    let [length, of] = [sample, stretch].map(units::fmt_seconds);
    match sample * halves::FEWEST as f64 > stretch {
        true => format!("a sample takes {length}, too long for stretches of {of}"),
        false => format!("no two stretches of {of} were filled with samples, in two rounds"),
    }
}

fn mean(samples: &[f64]) -> Option<f64> {
    (!samples.is_empty()).then(|| samples.iter().sum::<f64>() / samples.len() as f64)
}

/// One half, and what it took.
fn stretch(screen: &mut dyn Screen, drawn: bool) -> anyhow::Result<(Half, Sums)> {
    let (from, cpu, frames) = (screen.now(), screen.cpu(), screen.frames());
    if drawn {
        screen.draw_for(HALF)?
    } else {
        screen.rest_for(HALF)?
    };
    let to = screen.now();
    let spent = Sums { seconds: to - from, cpu: screen.cpu() - cpu, frames: screen.frames() - frames };
    Ok((Half { drawn, from, to }, spent))
}

#[cfg(test)]
mod tests;
