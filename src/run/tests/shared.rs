//! Cases that two experiments of a plan share.

use super::attempt;
use crate::recipe;
use crate::recipe::plan::{Overrides, Plan, resolve};
use crate::run::eta::Eta;
use crate::run::{Ledger, Status};
use crate::stats::noise::Flag;

/// Two experiments of the same two cases.
fn plan() -> Plan {
    let experiment = "stream: {kernel: [copy, add], elements: 1Ki}\n  chart: {x: kernel}\n";
    let text = format!(
        "backend: scalar\nmeasure: {{rounds: 2, samples: 3, ci: none}}\nexperiments:\n- title: A\n  {experiment}- title: B\n  {experiment}"
    );
    let recipe = recipe::parse("test.yaml", &text).expect("a recipe");
    resolve(&recipe, &Overrides::default()).expect("a plan")
}

#[test]
fn one_measurement_is_the_record_of_both() {
    let plan = plan();
    let mut ledger = Ledger::new(plan.clone());
    assert_eq!(ledger.left().len(), 2);
    assert_eq!(Eta::new(&ledger).progress(std::time::Duration::ZERO), (0, 4), "two rounds of two cases");
    for (case, round) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        assert!(!ledger.is_complete());
        ledger.apply(&attempt(&plan, case, round, 0, 1.0 + case as f64, case == 1));
    }
    assert!(ledger.finished().rounds.iter().any(|round| round.doubtful));
    let records = ledger.records();
    for (first, again) in [(0, 2), (1, 3)] {
        assert_eq!(records[again].repeats.as_deref(), Some(plan.cases[first].id.as_str()));
        assert_eq!(records[again].case, plan.cases[again]);
        assert_eq!(
            (&records[again].status, records[again].medians()),
            (&Status::Done, records[first].medians())
        );
    }
    assert_eq!((records[3].flags(), ledger.measured().count()), (vec![Flag::Steal], 2));
    assert!(ledger.may_repeat(2));
    let again = ledger.repeated(2).expect("the first one, again");
    assert_eq!(ledger.apply(&again), Some(0), "the case that is measured");
    assert_eq!(ledger.records()[2].wanted, 4);
}

#[test]
fn an_engine_that_measures_a_repeat_as_well_changes_nothing() {
    let plan = plan();
    let mut ledger = Ledger::new(plan.clone());
    assert_eq!(ledger.apply(&attempt(&plan, 2, 0, 0, 9.0, false)), None);
    assert!(ledger.records().iter().all(|record| record.rounds.is_empty()));
}

#[test]
fn a_run_of_before_counts_its_own_rounds_of_each() {
    let plan = Plan { repeats: Default::default(), ..plan() };
    let mut ledger = Ledger::new(plan.clone());
    assert_eq!(ledger.left().len(), 4);
    for (case, round) in [(0, 0), (0, 1), (2, 0)] {
        ledger.apply(&attempt(&plan, case, round, 0, 1.0 + case as f64, false));
    }
    assert_eq!(ledger.records()[0].medians(), [1.0, 1.0]);
    assert_eq!((ledger.records()[2].medians(), &ledger.records()[2].status), (vec![3.0], &Status::Partial));
}
