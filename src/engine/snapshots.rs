//! Pictures of what cases compute, and disturbances of it: both between samples, never while one is timed.

use std::collections::HashSet;
use std::io::Write;
use std::time::{Duration, Instant};

use super::orders::Orders;
use super::protocol::{Event, Level, Pictures, Stage};
use super::round::TurnError;
use super::sampler::Around;
use super::server::{emit, stage};
use crate::case::{Case, Failure};
use crate::device::Prepared;

/// Shortest time between two pictures of a case that is watched: more often no screen is drawn while samples are timed.
const SHORTEST: Duration = Duration::from_millis(250);

/// A picture that takes longer waits until its cost is one of this many parts of the time.
const PARTS: u32 = 10;

/// Longer samples fill the caches again by themselves.
const LONG: Duration = Duration::from_millis(50);

/// Takes the pictures of one plan.
#[derive(Debug, Default)]
pub(super) struct Snapshots {
    /// When the last picture was taken, and how long it took.
    last: Option<(Instant, Duration)>,
    /// When the last sample began.
    left: Option<Instant>,
    /// Cases that have no picture, or failed to make one.
    without: HashSet<String>,
    /// Cases of which it was said that they have nothing to disturb.
    undisturbed: HashSet<String>,
}

/// The round between whose samples pictures are taken.
pub(super) struct SampleContext<'a> {
    pub snapshots: &'a mut Snapshots,
    pub output: &'a mut dyn Write,
    pub orders: &'a Orders,
    pub case: &'a Case,
    pub round: u32,
    /// Whether this is the round of which pictures are kept, and how many at most.
    pub keeps: Option<u32>,
    /// Samples in the round.
    pub count: u32,
    /// Executions in a sample, once the case is warm.
    pub batch: u32,
    /// Whether the caches are evicted before each sample.
    pub cold: bool,
}

impl Around for SampleContext<'_> {
    type Error = TurnError;

    fn warmed_up(&mut self, batch: u32) -> Result<u32, TurnError> {
        self.batch = batch;
        stage(self.output, self.case, self.round, Stage::Sample)?;
        Ok(batch)
    }

    /// Disturbs the case where it is asked to, and takes a picture if one is due before sample `nth`. Then a case
    /// with short samples is executed once more, untimed, so that the next one finds the caches as the others do.
    fn between(&mut self, prepared: &mut dyn Prepared, nth: u32) -> Result<(), TurnError> {
        let kept = self.kept_before(nth);
        let began = Instant::now();
        let short = self.snapshots.left.take().filter(|_| nth > 0).is_none_or(|left| left.elapsed() < LONG);
        let disturbed = self.disturb(prepared);
        let done = disturbed.and_then(|disturbed| {
            let taken = (kept || self.is_due()) && self.take(prepared)?;
            Ok(disturbed || taken)
        });
        let done = self.told(done)?;
        if done && short && !self.cold {
            prepared.sample(self.batch)?;
        }
        if done {
            self.snapshots.last = Some((Instant::now(), began.elapsed()));
        }
        self.snapshots.left = Some(Instant::now());
        Ok(())
    }

    fn ready(&mut self) -> Result<bool, TurnError> {
        Ok(!self.orders.paused())
    }
}

impl SampleContext<'_> {
    /// Whether a picture is kept before the sample with this number, from 0: all but the last one are spread evenly.
    fn kept_before(&self, nth: u32) -> bool {
        let Some(others) = self.keeps.and_then(|keeps| keeps.checked_sub(1)) else { return false };
        let place = |at: u32| u64::from(at) * u64::from(self.count) / (u64::from(others) + 1);
        (0..others).any(|at| place(at) == u64::from(nth))
    }

    /// Takes the picture that is kept of the round, or one that is due, after its last sample.
    pub fn after(&mut self, prepared: &mut dyn Prepared) -> Result<(), TurnError> {
        let kept = self.orders.pictures() != Pictures::None && self.keeps.is_some_and(|keeps| keeps > 0);
        let began = Instant::now();
        let taken = if kept || self.is_due() { self.take(prepared) } else { Ok(false) };
        if self.told(taken)? {
            self.snapshots.last = Some((Instant::now(), began.elapsed()));
        }
        Ok(())
    }

    /// Whether somebody watches and the last picture is old enough.
    fn is_due(&self) -> bool {
        let rested = |(at, cost): (Instant, Duration)| at.elapsed() >= SHORTEST.max(cost * (PARTS - 1));
        self.orders.pictures() == Pictures::Live && self.snapshots.last.is_none_or(rested)
    }

    /// Whether a picture was taken and sent.
    fn take(&mut self, prepared: &mut dyn Prepared) -> Result<bool, TurnError> {
        let id = &self.case.id;
        if self.orders.pictures() == Pictures::None || self.snapshots.without.contains(id) {
            return Ok(false);
        }
        let Some(picture) = prepared.snapshot()? else {
            self.snapshots.without.insert(id.clone());
            return Ok(false);
        };
        let picture = picture.bounded();
        picture.check().map_err(Failure::Failed)?;
        emit(self.output, &Event::Snapshot { case: id.clone(), round: self.round, picture })?;
        Ok(true)
    }

    /// Disturbs the case wherever it is asked to; returns whether it was disturbed.
    fn disturb(&mut self, prepared: &mut dyn Prepared) -> Result<bool, TurnError> {
        let mut disturbed = false;
        while let Some(at) = self.orders.disturbance() {
            let done = prepared.disturb(at)?;
            disturbed |= done;
            let case = &self.case.primitive;
            let text = match done {
                true => format!("{case}, round {}: disturbed at ({:.2}, {:.2})", self.round + 1, at.0, at.1),
                false if self.snapshots.undisturbed.insert(self.case.id.clone()) => {
                    format!("{case} has nothing to disturb")
                }
                false => continue,
            };
            emit(self.output, &Event::Log { level: Level::Info, text })?;
        }
        Ok(disturbed)
    }

    /// A case whose picture fails is measured without one, unless its device is lost.
    fn told(&mut self, taken: Result<bool, TurnError>) -> Result<bool, TurnError> {
        let why = match taken {
            Err(TurnError::Failure(Failure::Failed(why) | Failure::NotApplicable(why))) => why,
            other => return other,
        };
        if self.snapshots.without.insert(self.case.id.clone()) {
            let text = format!("{} cannot be shown: {why}", self.case.primitive);
            emit(self.output, &Event::Log { level: Level::Warn, text })?;
        }
        Ok(false)
    }
}
