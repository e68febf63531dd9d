//! Detection of a hung engine: one that stays silent for far longer than its current stage can take. A kernel
//! that never terminates shows no other symptom.

use std::time::Duration;

use super::LONG;
use crate::engine::protocol::{Event, Stage};
use crate::run::{Ledger, estimate};

/// A stage may take this many times the estimated time of its whole round. The estimate counts accesses, not
/// latencies, so an error of 10x is normal.
const GENEROUS: f64 = 30.0;

/// Assumed copy bandwidth where none was measured, GB/s.
const SLOW_COPY: f64 = 5.0;

/// Number of timed waits (looks) into which the limit is divided. A program suspended by Ctrl-Z or a batch
/// system may wake hours later; each look counts with its nominal length only, so that some remain in which to
/// receive events queued meanwhile.
const LOOKS: u32 = 8;

/// Tracks the silence of one engine.
pub(super) struct Silence {
    least: Duration,
    limit: Duration,
    lasted: Duration,
    /// The stage of the engine's latest progress event.
    stage: Option<Stage>,
    /// Whether the engine is paused on request.
    held: bool,
}

impl Silence {
    pub fn new(least: Duration) -> Silence {
        Silence { least, limit: least, lasted: Duration::ZERO, stage: None, held: false }
    }

    /// How long to wait for the next event.
    pub fn look(&self) -> Duration {
        if self.held { LONG } else { self.limit / LOOKS }
    }

    /// Resets the silence on an event.
    pub fn ends(&mut self, event: &Event, ledger: &Ledger) {
        self.lasted = Duration::ZERO;
        match event {
            Event::Paused => self.held = true,
            Event::Continued => self.held = false,
            Event::Progress { case, stage, .. } => {
                self.stage = Some(*stage);
                self.limit = self.least.max(generous(case, ledger));
            }
            // A log line does not end the stage.
            Event::Log { .. } => {}
            _ => (self.stage, self.limit) = (None, self.least),
        }
    }

    /// Counts one look without an event. Returns `Some` with an error text that names the stage once the limit
    /// is reached.
    pub fn goes_on(&mut self) -> Option<String> {
        if self.held {
            return None;
        }
        self.lasted += self.look();
        let doing = self.stage.map_or_else(String::new, |stage| format!(" while {}", stage.doing()));
        let seconds = self.lasted.as_secs_f64();
        (self.lasted >= self.limit)
            .then(|| format!("hung{doing}: killed after {seconds:.0} s without a word"))
    }
}

/// How long a stage of a round of this case may take.
fn generous(case: &str, ledger: &Ledger) -> Duration {
    let plan = ledger.plan();
    let case = ledger.position(case).and_then(|at| plan.cases.get(at));
    let seconds = case.and_then(|case| {
        let copies = ledger.references().get(case.place().0);
        let copy = copies.and_then(|copies| copies.last()).copied().unwrap_or(SLOW_COPY);
        estimate::round_of(plan, case, copy)
    });
    // A round without an estimate may take an hour.
    seconds.map_or(LONG, |seconds| Duration::try_from_secs_f64(GENEROUS * seconds).unwrap_or(LONG))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::protocol::Level;
    use crate::recipe;
    use crate::recipe::plan::{Overrides, resolve};

    const LEAST: Duration = Duration::from_secs(120);

    fn ledger() -> Ledger {
        let text = "gather: {tuples: [1Ki, 1Gi], locations: random}\nbackend: scalar\nchart: {x: tuples}\n";
        let recipe = recipe::parse("a.yaml", text).expect("a recipe");
        Ledger::new(resolve(&recipe, &Overrides::default()).expect("a plan"))
    }

    fn progress(ledger: &Ledger, case: usize, stage: Stage) -> Event {
        Event::Progress { case: ledger.plan().cases[case].id.clone(), round: 0, stage }
    }

    #[test]
    fn a_short_case_is_given_the_least_and_a_long_one_more() {
        let ledger = ledger();
        let mut silence = Silence::new(LEAST);
        silence.ends(&progress(&ledger, 0, Stage::Sample), &ledger);
        assert_eq!(silence.limit, LEAST);
        silence.ends(&progress(&ledger, 1, Stage::Sample), &ledger);
        assert!(silence.limit > LEAST * 5, "{:?}", silence.limit);
        silence.ends(&Event::Log { level: Level::Info, text: String::new() }, &ledger);
        assert!(silence.limit > LEAST, "it is still about that case");
    }

    #[test]
    fn a_silence_that_lasts_names_what_it_began_in() {
        let ledger = ledger();
        let mut silence = Silence::new(Duration::from_secs(60));
        silence.ends(&progress(&ledger, 0, Stage::Sample), &ledger);
        let looks: Vec<Option<String>> = (0..LOOKS).map(|_| silence.goes_on()).collect();
        let words = "hung while sampling: killed after 60 s without a word";
        assert!(looks[..7].iter().all(Option::is_none), "{looks:?}");
        assert_eq!(looks[7].as_deref(), Some(words));
        silence.ends(&progress(&ledger, 0, Stage::Certify), &ledger);
        assert_eq!(silence.goes_on(), None, "a word begins it anew");
    }

    #[test]
    fn an_engine_that_is_held_has_nothing_to_say() {
        let ledger = ledger();
        let mut silence = Silence::new(Duration::from_secs(60));
        silence.ends(&Event::Paused, &ledger);
        silence.ends(&Event::Skipped { seq: 1, case: String::new() }, &ledger);
        assert!((0..2 * LOOKS).all(|_| silence.goes_on().is_none()) && silence.look() == LONG);
        silence.ends(&Event::Continued, &ledger);
        assert!((0..LOOKS).any(|_| silence.goes_on().is_some()));
    }
}
