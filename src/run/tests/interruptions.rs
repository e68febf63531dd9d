use std::collections::BTreeSet;
use std::time::Duration;

use proptest::prelude::*;

use super::{attempt, plan, wall_of};
use crate::engine::schedule::{Schedule, Turn};
use crate::inputs::mix;
use crate::recipe::plan::Plan;
use crate::run::Ledger;
use crate::run::eta::Eta;

/// Every attempt at every round, as (position of the case, round, attempt).
type Measured = Vec<(usize, u32, u32)>;

/// The deterministic outcome of a turn: seconds around one, and whether it is flagged.
fn found(seed: u64, turn: Turn) -> (f64, bool) {
    let key = (turn.case as u64) << 32 | u64::from(turn.round) << 1 | u64::from(turn.attempt);
    let word = mix::word64(seed, key);
    (1.0 + (word % 1000) as f64 / 5000.0, (word >> 32).is_multiple_of(4))
}

/// One engine's part of a run: at most `most` results, all of them in the log.
fn measure(plan: &Plan, ledger: &mut Ledger, seed: u64, most: usize, measured: &mut Measured) {
    let mut schedule = Schedule::new(plan, &ledger.finished());
    for _ in 0..most {
        let Some(turn) = schedule.next(0.0) else { return };
        let (seconds, doubtful) = found(seed, turn);
        schedule.measured(turn, seconds, wall_of(plan, seconds), doubtful);
        ledger.apply(&attempt(plan, turn.case, turn.round, turn.attempt, seconds, doubtful));
        measured.push((turn.case, turn.round, turn.attempt));
    }
}

fn whole(plan: &Plan, seed: u64) -> Measured {
    let mut measured = Vec::new();
    measure(plan, &mut Ledger::new(plan.clone()), seed, usize::MAX, &mut measured);
    measured
}

const ORDERS: [&str; 3] = [
    "rounds: 3, max-rounds: 9, ci: 3%, budget: 1000s",
    "rounds: 3, max-rounds: 9, ci: 3%, budget: 1000s, order: random",
    "rounds: 2, ci: none, order: interleaved",
];

proptest! {
    /// However often and wherever a run is interrupted, nothing is measured twice and the final results equal
    /// those of an uninterrupted run.
    #[test]
    fn interruptions_change_nothing(seed in 0u64..1000, order in 0..3usize, parts in prop::collection::vec(0..9usize, 0..8)) {
        let plan = plan(ORDERS[order]);
        let (mut ledger, mut measured) = (Ledger::new(plan.clone()), Vec::new());
        for most in parts.into_iter().chain([usize::MAX]) {
            measure(&plan, &mut ledger, seed, most, &mut measured);
        }
        let distinct: BTreeSet<_> = measured.iter().copied().collect();
        prop_assert_eq!(distinct.len(), measured.len(), "measured twice: {:?}", measured);
        prop_assert_eq!(distinct, whole(&plan, seed).into_iter().collect::<BTreeSet<_>>());
        prop_assert!(ledger.is_complete());
    }

    #[test]
    fn nothing_is_measured_twice_in_sequential_order_either(seed in 0u64..1000, parts in prop::collection::vec(0..9usize, 0..8)) {
        let plan = plan("rounds: 3, max-rounds: 9, ci: 3%, budget: 1000s, order: sequential");
        let (mut ledger, mut measured) = (Ledger::new(plan.clone()), Vec::new());
        for most in parts.into_iter().chain([usize::MAX]) {
            measure(&plan, &mut ledger, seed, most, &mut measured);
        }
        let distinct: BTreeSet<_> = measured.iter().copied().collect();
        prop_assert_eq!(distinct.len(), measured.len(), "measured twice: {:?}", measured);
        prop_assert!(ledger.is_complete());
    }

    /// The incremental sums are those of the records, and what is foreseen is at least what is due.
    #[test]
    fn progress_is_that_of_the_records(seed in 0u64..1000, most in 0..40usize) {
        let plan = plan(ORDERS[0]);
        let (mut ledger, mut eta) = (Ledger::new(plan.clone()), Eta::new(&Ledger::new(plan.clone())));
        eta.begin(Duration::ZERO);
        let mut schedule = Schedule::new(&plan, &ledger.finished());
        for second in 1..=most as u64 {
            let Some(turn) = schedule.next(0.0) else { break };
            let (seconds, doubtful) = found(seed, turn);
            schedule.measured(turn, seconds, wall_of(&plan, seconds), doubtful);
            ledger.apply(&attempt(&plan, turn.case, turn.round, turn.attempt, seconds, doubtful));
            eta.finish(turn.case, &ledger, Duration::from_secs(second));
            let now = Duration::from_secs(second);
            let (done, all) = eta.progress(now);
            prop_assert_eq!(done, Eta::new(&ledger).progress(now).0);
            prop_assert_eq!(done, ledger.records().iter().map(|record| record.rounds.len() as u32).sum::<u32>());
            let due = (0..plan.cases.len()).filter(|case| schedule.due(*case)).count() as u32;
            prop_assert!(all >= done + due && (due > 0 || all == done), "{} of {}, {} due", done, all, due);
            // Every turn took one second, and a round has one or two.
            let [low, high] = eta.remaining(now).expect("a round is over").seconds();
            prop_assert!(high <= 2.0 * low + 1e-6, "{} to {} s", low, high);
            prop_assert!(high + 1.0 >= f64::from(due), "{} to {} s for {} cases", low, high, due);
        }
    }
}
