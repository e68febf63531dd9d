use super::{attempt, failed, plan};
use crate::case::Verdict;
use crate::engine::protocol::{Event, RoundResult};
use crate::recipe::plan::Plan;
use crate::run::{Ledger, Status};

fn retried(plan: &Plan, case: usize) -> Event {
    Event::Retried { case: plan.cases[case].id.clone(), rounds: 0 }
}

#[test]
fn a_lost_case_is_given_up_by_this_run_and_tried_again_by_the_next() {
    let plan = plan("rounds: 2, ci: none");
    let mut ledger = Ledger::new(plan.clone());
    ledger.apply(&attempt(&plan, 0, 0, 0, 1.0, false));
    ledger.apply(&failed(&plan, 0, true));
    assert!(ledger.records()[0].statistics.is_none(), "a failed case has no time");
    let ids = std::slice::from_ref(&plan.cases[0].id);
    assert_eq!(ledger.finished().given_up, ids);
    assert_eq!(ledger.retry(), ids);
    assert_eq!(ledger.records()[0].status, Status::Partial);
    assert!(ledger.records()[0].statistics.is_some(), "its round counts again");
    assert!(ledger.finished().given_up.is_empty());
    assert_eq!(ledger.retry(), [""; 0], "once");
}

#[test]
fn the_log_alone_tells_of_the_retry() {
    let plan = plan("rounds: 1, ci: none");
    let mut ledger = Ledger::new(plan.clone());
    for event in [failed(&plan, 1, true), retried(&plan, 1), attempt(&plan, 1, 0, 0, 1.0, false)] {
        ledger.apply(&event);
    }
    assert_eq!(ledger.records()[1].status, Status::Done);
}

#[test]
fn what_is_wrong_stays_wrong() {
    let plan = plan("rounds: 1, ci: none");
    let mut ledger = Ledger::new(plan.clone());
    let wrong = Verdict::Wrong { mistake: "out[0]".into() };
    let result = RoundResult {
        case: plan.cases[0].id.clone(),
        samples: vec![1.0],
        verdict: Some(wrong),
        ..RoundResult::default()
    };
    ledger.apply(&Event::Round { seq: 1, result });
    ledger.apply(&failed(&plan, 1, false));
    assert_eq!(ledger.retry(), [""; 0]);
    ledger.apply(&retried(&plan, 0));
    assert!(matches!(ledger.records()[0].status, Status::Failed(_)));
    assert!(matches!(ledger.records()[1].status, Status::Failed(_)), "it failed by itself");
}

#[test]
fn a_run_is_complete_when_nothing_is_left_to_measure() {
    let plan = plan("rounds: 1, ci: none");
    let mut ledger = Ledger::new(plan.clone());
    for case in 0..3 {
        ledger.apply(&attempt(&plan, case, 0, 0, 1.0, false));
    }
    assert!(!ledger.is_complete());
    ledger.apply(&attempt(&plan, 3, 0, 0, 1.0, true));
    assert!(!ledger.is_complete(), "the second look at the flagged round is due");
    ledger.apply(&attempt(&plan, 3, 0, 1, 1.0, true));
    assert!(ledger.is_complete());
    ledger.apply(&failed(&plan, 3, true));
    assert!(!ledger.is_complete(), "what was lost gets another try");
}

#[test]
fn a_case_that_fails_after_its_last_round_has_no_reason_to_stop_any_more() {
    let plan = plan("rounds: 1, ci: none");
    let mut ledger = Ledger::new(plan.clone());
    ledger.apply(&attempt(&plan, 0, 0, 0, 1.0, true));
    assert!(ledger.records()[0].stop.is_some());
    // The engine died during the second attempt at the flagged round.
    ledger.apply(&failed(&plan, 0, true));
    assert_eq!(ledger.records()[0].stop, None);
    ledger.retry();
    assert!(ledger.records()[0].stop.is_some(), "its round counts again");
}
