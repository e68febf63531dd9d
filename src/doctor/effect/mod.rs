//! Measures the cost of the user interface: a copy is timed in an engine's process, as in a run, while this
//! process draws the screen of a run half of the time.
//!
//! Within a round, which keeps its memory, halves with and without drawing alternate in pairs of alternating
//! order. Several rounds cover different allocations of memory.

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

/// Length of a half: a few frames at four frames per second.
const HALF: Duration = Duration::from_millis(750);
/// Pairs in a round.
const ROUND: usize = 6;
/// Samples of the trial round, which determines how many samples fill a round.
const TRIAL: u32 = 9;
/// How often to check whether sampling has begun.
const LOOK: Duration = Duration::from_millis(20);
/// An interval of this half width, as a share of the bandwidth, is narrow enough.
const NARROW: f64 = 0.005;

/// Progress reports about a timed case.
#[derive(Clone, Debug, PartialEq)]
enum Heard {
    /// The engine is timing the case's samples now.
    Timing,
    /// The case is finished.
    Timed(Timed),
}

/// The measured side.
trait Measured {
    /// Starts a round with this number of samples on this number of threads (or `auto`).
    fn begin(&mut self, threads: &str, samples: u32) -> anyhow::Result<()>;

    /// Returns the next report, if there is one, without waiting.
    fn heard(&mut self) -> anyhow::Result<Option<Heard>>;
}

/// The side that draws the screen.
trait Screen {
    fn draw_for(&mut self, time: Duration) -> anyhow::Result<()>;
    fn rest_for(&mut self, time: Duration) -> anyhow::Result<()>;
    /// Shows the progress of the measurement.
    fn notify(&mut self, text: &str);
    /// Whether the user asked to stop.
    fn stopped(&self) -> bool;
    /// Frames drawn so far.
    fn frames(&mut self) -> usize;
    /// Seconds since the epoch.
    fn now(&self) -> f64;
    /// Seconds of CPU time that this process has used.
    fn cpu(&self) -> f64;
}

/// How much to measure at one number of threads.
#[derive(Clone, Copy, Debug)]
struct Extent {
    /// Fewest pairs.
    least: usize,
    /// Most pairs, if the interval stays wide.
    most: usize,
    /// No further round begins after this time.
    until: Instant,
}

/// The cost of drawing at one number of threads.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Effect {
    /// Threads of the copy.
    pub threads: usize,
    /// Whether the threads cover every CPU of the affinity mask.
    pub every_cpu: bool,
    /// Cost in terms of the median sample, which is what a run reports.
    #[serde(flatten)]
    pub cost: Cost,
    /// Cost in terms of the mean, in which samples hit by drawing or anything else count fully.
    pub of_mean: Cost,
    /// Frames per second while the screen was drawn.
    pub frames: f64,
    /// CPUs that this process kept busy while it drew, and while it did not.
    pub cpu_drawing: f64,
    pub cpu_resting: f64,
    /// Bytes that the copy reads and writes, per second.
    pub bandwidth: f64,
    pub copy: Footprint,
}

/// Sums over all halves with drawing, or over all without.
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
    /// Pairs of the halves' medians, as a run would report them.
    pairs: Vec<Pair>,
    /// Pairs of the halves' means, in which every sample's time counts.
    means: Vec<Pair>,
    /// Sums without and with drawing.
    sums: [Sums; 2],
}

impl<'a> Session<'a> {
    fn new(screen: &'a mut dyn Screen, measured: &'a mut dyn Measured) -> Session<'a> {
        Session { screen, measured, pairs: Vec::new(), means: Vec::new(), sums: Default::default() }
    }

    /// Measures as many pairs as `extent` asks for, or fewer if the user stops it.
    ///
    /// # Errors
    /// Either side is gone, or two consecutive rounds hold no whole pair. Pairs measured before that are kept.
    fn run(&mut self, threads: &str, label: &str, extent: Extent) -> anyhow::Result<()> {
        let Some(trial) = self.round(threads, TRIAL, &mut |_, _| Ok(false))? else { return Ok(()) };
        let (mut sample, mut empty) = (length(&trial)?, false);
        while !self.screen.stopped() && self.wanted(extent) {
            let pairs = ROUND.min(extent.most - self.pairs.len());
            // Half a half longer, because the last pair must be whole.
            let time = (2.0 * pairs as f64 + 0.5) * HALF.as_secs_f64();
            let before = self.pairs.len();
            let samples = (time / sample).ceil() as u32;
            let Some(timed) = self.pairs_of_round(threads, samples, label, extent)? else { return Ok(()) };
            // The round gives a newer estimate of a sample's length than the trial.
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

    /// Adds the whole pairs of a round; `None` if the user stops it.
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

    /// Runs one round of samples and calls `act` repeatedly while they are timed, until it returns false;
    /// `None` if the user stops it.
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
    sample.context("the engine reported no samples")
}

/// Explains why no pair of two rounds was whole, given the seconds of a sample.
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

/// Runs one half and returns it with its totals.
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
