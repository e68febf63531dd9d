//! Pictures of what cases compute, and disturbances of it: both between samples, never while one is timed.

use std::collections::HashSet;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use super::orders::Orders;
use super::protocol::{Event, Level, Pictures};
use super::server::emit;
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

/// The samples between which pictures are taken.
pub(super) struct SampleContext<'a> {
    pub case: &'a Case,
    pub round: u32,
    /// Whether this is the round of which pictures are kept, and how many at most.
    pub keeps: Option<u32>,
    /// Samples in the round.
    pub count: u32,
    /// Executions in a sample.
    pub batch: u32,
    /// Whether the caches are evicted before each sample.
    pub cold: bool,
    pub orders: &'a Orders,
}

impl SampleContext<'_> {
    /// Whether a picture is kept before the sample with this number, from 0: all but the last one are spread evenly.
    fn kept_before(&self, nth: u32) -> bool {
        let Some(others) = self.keeps.and_then(|keeps| keeps.checked_sub(1)) else { return false };
        let place = |at: u32| u64::from(at) * u64::from(self.count) / (u64::from(others) + 1);
        (0..others).any(|at| place(at) == u64::from(nth))
    }
}

/// What ends a round between two samples.
enum Trouble {
    Failure(Failure),
    Io(io::Error),
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Trouble {
        Trouble::Io(error)
    }
}

impl Snapshots {
    /// Disturbs the case where it is asked to, and takes a picture if one is due before sample `nth`. Then a case
    /// with short samples is executed once more, untimed, so that the next one finds the caches as the others do. An error of
    /// `output` is kept in `broken`.
    ///
    /// # Errors
    /// `Cancelled` if the client cannot be reached, and when the device is lost.
    pub fn between(
        &mut self,
        context: &SampleContext,
        nth: u32,
        prepared: &mut dyn Prepared,
        output: &mut dyn Write,
        broken: &mut Option<io::Error>,
    ) -> Result<(), Failure> {
        let kept = context.kept_before(nth);
        let began = Instant::now();
        let short = self.left.take().filter(|_| nth > 0).is_none_or(|left| left.elapsed() < LONG);
        let disturbed = self.disturb(context, prepared, output);
        let done = disturbed.and_then(|disturbed| {
            let taken = (kept || self.is_due(context)) && self.take(context, prepared, output)?;
            Ok(disturbed || taken)
        });
        let done = self.told(context, done, output).map_err(|trouble| failure(trouble, broken))?;
        if done && short && !context.cold {
            prepared.sample(context.batch)?;
        }
        if done {
            self.last = Some((Instant::now(), began.elapsed()));
        }
        self.left = Some(Instant::now());
        Ok(())
    }

    /// Takes the picture that is kept of the round, or one that is due, after its last sample.
    ///
    /// # Errors
    /// As for [`between`](Self::between).
    pub fn after(
        &mut self,
        context: &SampleContext,
        prepared: &mut dyn Prepared,
        output: &mut dyn Write,
        broken: &mut Option<io::Error>,
    ) -> Result<(), Failure> {
        let kept =
            context.orders.pictures() != Pictures::None && context.keeps.is_some_and(|keeps| keeps > 0);
        let began = Instant::now();
        let taken =
            if kept || self.is_due(context) { self.take(context, prepared, output) } else { Ok(false) };
        if self.told(context, taken, output).map_err(|trouble| failure(trouble, broken))? {
            self.last = Some((Instant::now(), began.elapsed()));
        }
        Ok(())
    }

    /// Whether somebody watches and the last picture is old enough.
    fn is_due(&self, context: &SampleContext) -> bool {
        let rested = |(at, cost): (Instant, Duration)| at.elapsed() >= SHORTEST.max(cost * (PARTS - 1));
        context.orders.pictures() == Pictures::Live && self.last.is_none_or(rested)
    }

    /// Whether a picture was taken and sent.
    fn take(
        &mut self,
        context: &SampleContext,
        prepared: &mut dyn Prepared,
        output: &mut dyn Write,
    ) -> Result<bool, Trouble> {
        let id = &context.case.id;
        if context.orders.pictures() == Pictures::None || self.without.contains(id) {
            return Ok(false);
        }
        let Some(picture) = prepared.snapshot().map_err(Trouble::Failure)? else {
            self.without.insert(id.clone());
            return Ok(false);
        };
        let picture = picture.bounded();
        if let Err(why) = picture.check() {
            return Err(Trouble::Failure(Failure::Failed(why)));
        }
        emit(output, &Event::Snapshot { case: id.clone(), round: context.round, picture })?;
        Ok(true)
    }

    /// Disturbs the case wherever it is asked to; returns whether it was disturbed.
    fn disturb(
        &mut self,
        context: &SampleContext,
        prepared: &mut dyn Prepared,
        output: &mut dyn Write,
    ) -> Result<bool, Trouble> {
        let mut disturbed = false;
        while let Some(at) = context.orders.disturbance() {
            let done = prepared.disturb(at).map_err(Trouble::Failure)?;
            disturbed |= done;
            let case = &context.case.primitive;
            let text = match done {
                true => {
                    format!("{case}, round {}: disturbed at ({:.2}, {:.2})", context.round + 1, at.0, at.1)
                }
                false if self.undisturbed.insert(context.case.id.clone()) => {
                    format!("{case} has nothing to disturb")
                }
                false => continue,
            };
            emit(output, &Event::Log { level: Level::Info, text })?;
        }
        Ok(disturbed)
    }

    /// A case whose picture fails is measured without one, unless its device is lost.
    fn told(
        &mut self,
        context: &SampleContext,
        taken: Result<bool, Trouble>,
        output: &mut dyn Write,
    ) -> Result<bool, Trouble> {
        let why = match taken {
            Err(Trouble::Failure(Failure::Failed(why) | Failure::NotApplicable(why))) => why,
            other => return other,
        };
        if self.without.insert(context.case.id.clone()) {
            let text = format!("{} cannot be shown: {why}", context.case.primitive);
            emit(output, &Event::Log { level: Level::Warn, text })?;
        }
        Ok(false)
    }
}

fn failure(trouble: Trouble, broken: &mut Option<io::Error>) -> Failure {
    match trouble {
        Trouble::Failure(failure) => failure,
        Trouble::Io(error) => {
            *broken = Some(error);
            Failure::Cancelled
        }
    }
}
