//! Tests with hand-made runs.

use proptest::prelude::*;

use super::*;
use crate::case::{Case, Value, Verdict};
use crate::engine::protocol::{Environment, Event, RoundResult};
use crate::recipe::plan::{Plan, Scale};
use crate::report::series::tests::{axis, case, plan, record, text, without_result};
use crate::report::svg::tests::{device, environment};
use crate::run::layout::SCHEMA;
use crate::stats::noise::Flag;
use crate::stats::{Ratio, statistics};

pub fn manifest() -> Manifest {
    Manifest {
        schema: SCHEMA,
        version: "0.1.0".to_owned(),
        revision: "abc".to_owned(),
        started: "2026-11-20 12:00:00".to_owned(),
        command_line: Vec::new(),
        environment: Environment { transparent_huge_pages: Some("madvise".to_owned()), ..environment() },
        devices: vec![device("cpu", "A processor"), device("cuda", "NVIDIA H200")],
        plan: plan(vec![], "n", &[]),
        redacted: false,
    }
}

/// A side of which only the manifest matters; its ledger is empty.
pub fn side(manifest: &Manifest) -> Side<'_> {
    let ledger = Box::leak(Box::new(Ledger::new(manifest.plan.clone())));
    Side { manifest, ledger }
}

/// A record with a round for each of these medians, seconds.
pub fn measured(medians: &[f64]) -> Record {
    let blank = record(case(&[("backend", text("cpu"))]), 1.0);
    let rounds: Vec<RoundResult> = (medians.iter().enumerate())
        .map(|(round, &m)| RoundResult {
            round: round as u32,
            samples: vec![m; 3],
            ..blank.rounds[0].clone()
        })
        .collect();
    let statistics = statistics(rounds.iter().map(|r| r.samples.as_slice()));
    Record { rounds, statistics, ..blank }
}

/// A run of some cases on the CPU, with these medians, and copies at this pace.
pub struct Run {
    pub manifest: Manifest,
    pub ledger: Ledger,
}

impl Run {
    pub fn new(cases: &[Vec<f64>], copy: Option<f64>) -> Run {
        Run::made("cpu", cases, copy, &[])
    }

    /// A run with these flags on every round.
    pub fn flagged(cases: &[Vec<f64>], flags: &[Flag]) -> Run {
        Run::made("cpu", cases, None, flags)
    }

    /// A run of a peer, which has no certificates.
    pub fn of_peer(cases: &[Vec<f64>]) -> Run {
        Run::made("peer:plain", cases, None, &[])
    }

    fn made(backend: &str, cases: &[Vec<f64>], copy: Option<f64>, flags: &[Flag]) -> Run {
        let mut manifest = manifest();
        manifest.plan = cases_of(backend, cases.len());
        let mut ledger = Ledger::new(manifest.plan.clone());
        for (at, medians) in cases.iter().enumerate() {
            for (round, &median) in medians.iter().enumerate() {
                let result = RoundResult {
                    case: manifest.plan.cases[at].id.clone(),
                    round: round as u32,
                    samples: vec![median; 3],
                    batch: 1,
                    verdict: (round == 0 && backend == "cpu").then_some(Verdict::Certified { checked: 1 }),
                    flags: flags.to_vec(),
                    ..RoundResult::default()
                };
                ledger.apply(&Event::Round { seq: 0, result });
            }
        }
        if let Some(copy) = copy {
            ledger.apply(&Event::Reference { pass: 0, backend: "cpu".to_owned(), copy, ranked: Vec::new() });
        }
        Run { manifest, ledger }
    }

    pub fn side(&self) -> Side<'_> {
        Side { manifest: &self.manifest, ledger: &self.ledger }
    }

    fn against(&self, other: &Run) -> Comparison {
        compare(self.side(), &[other.side()], MARGIN).remove(0)
    }
}

/// Scatters of 1024 tuples, 2048 …
fn cases_of(backend: &str, n: usize) -> Plan {
    let sizes: Vec<Value> = (1..=n as u64).map(|i| Value::Int(1024 * i)).collect();
    let cases = sizes.iter().enumerate().map(|(i, size)| {
        let words = [("backend", backend), ("method", "direct"), ("locations", "random")];
        let mut params: Vec<(&str, Value)> = words.iter().map(|(key, word)| (*key, text(word))).collect();
        params.extend([("tuple", Value::Int(8)), ("index", Value::Int(4)), ("tuples", size.clone())]);
        Case { id: format!("{i:012x}"), ..case(&params) }
    });
    let cases = cases.collect();
    let axes = vec![axis("tuples", "tuples", sizes, Scale::Linear)];
    Plan { cases, ..plan(axes, "tuples", &["backend"]) }
}

fn words(comparison: &Comparison) -> Vec<&'static str> {
    comparison.judgements.iter().map(|j| j.answer.word()).collect()
}

const STEADY: [f64; 5] = [1.0, 1.002, 0.998, 1.001, 0.999];

fn times(factor: f64) -> Vec<f64> {
    STEADY.map(|t| t * factor).to_vec()
}

#[test]
fn each_answer_has_its_interval() {
    let wild = vec![1.0, 1.5, 0.7, 1.2, 0.8];
    let a = Run::new(&[times(1.0), times(1.0), times(1.0), times(1.0), times(1.0)], None);
    let b = Run::new(&[times(1.02), times(1.10), times(0.80), wild, vec![1.0, 1.0]], None);
    let found = a.against(&b);
    assert_eq!(words(&found), ["agree", "differ", "differ", "cannot tell", "cannot tell"]);
    assert_eq!(found.judgements[1].answer, Answer::Differ(Direction::Slower));
    assert_eq!(found.judgements[2].answer, Answer::Differ(Direction::Faster));
    assert_eq!(found.judgements[3].reason, Some(Reason::Wide));
    assert_eq!(found.judgements[4].reason, Some(Reason::FewRounds(Which::Other, 2)));
    assert!((found.confidence - (1.0 - 0.05 / 4.0)).abs() < 1e-12, "four of the five have an interval");
    let slower = |at: usize, limit| found.judgements[at].slower_by(limit);
    assert_eq!((slower(1, 0.08), slower(1, 0.12)), (Some(true), Some(false)));
    assert_eq!(slower(1, 0.10), None, "the interval lies on both sides of the limit");
    assert_eq!(slower(2, 0.03), Some(false), "faster is not slower");
    assert_eq!((slower(3, 0.03), slower(4, 0.03)), (None, None));
}

#[test]
fn what_moved_with_the_machines_own_copy_is_not_the_recipes() {
    let a = Run::new(&[times(1.0), times(1.0), times(1.0), times(1.0)], Some(10.0));
    let b = Run::new(&[times(1.6), times(1.0), times(2.5), times(0.7)], Some(6.0));
    let found = a.against(&b);
    assert_eq!(words(&found), ["cannot tell", "agree", "differ", "differ"]);
    let reason = found.judgements[0].reason.as_ref().expect("a reason").to_string();
    assert_eq!(reason, "the machine's own copy changed by −40.0 %");
    assert_eq!(found.judgements[0].slower_by(0.03), None, "nor does it fail a check, or pass one");
    let back = b.against(&a);
    assert_eq!(words(&back), ["cannot tell", "agree", "differ", "differ"]);
}

#[test]
fn what_the_copy_changed_by_comes_on_top_of_the_margin() {
    let a = Run::new(&[times(1.0), times(1.0), times(1.0)], Some(10.0));
    // 1.05 / 0.96 is 1.094.
    let b = Run::new(&[times(1.07), times(1.11), times(0.9)], Some(9.6));
    assert_eq!(words(&a.against(&b)), ["cannot tell", "differ", "differ"]);
}

#[test]
fn what_is_on_file_leaves_the_difference_standing() {
    let a = Run::new(&[times(1.0)], Some(10.0));
    let mut b = Run::new(&[times(1.6)], Some(6.0));
    assert_eq!(words(&a.against(&b)), ["cannot tell"]);
    b.manifest.environment.transparent_huge_pages = Some("never".to_owned());
    let found = a.against(&b);
    assert_eq!(words(&found), ["differ"]);
    assert_eq!(found.differences[0].what, "transparent huge pages");
    b.manifest.environment.transparent_huge_pages = Some("madvise".to_owned());
    b.manifest.environment.host = "elsewhere".to_owned();
    assert_eq!(words(&a.against(&b)), ["cannot tell"], "a name explains nothing");
    b.manifest.revision = "def".to_owned();
    assert_eq!(words(&a.against(&b)), ["cannot tell"], "a build does not change the machine");
}

/// Copies between 30 and 45 GB/s within one run: smaller changes may be the machine's.
#[test]
fn a_restless_machine_cannot_tell_what_it_does_itself() {
    let mut a = Run::new(&[times(1.0), times(1.0), times(1.0)], Some(30.0));
    for (pass, copy) in [45.0, 38.0, 37.0, 36.0, 45.0].into_iter().enumerate() {
        let pass = pass as u32 + 1;
        a.ledger.apply(&Event::Reference { pass, backend: "cpu".to_owned(), copy, ranked: Vec::new() });
    }
    let b = Run::new(&[times(1.25), times(0.8), times(1.8)], Some(37.5));
    for found in [a.against(&b), b.against(&a)] {
        assert_eq!(words(&found), ["cannot tell", "cannot tell", "differ"]);
        let reason = found.judgements[0].reason.as_ref().expect("a reason").to_string();
        assert_eq!(reason, "the machine's own copy ranged over 36 % within a run");
    }
}

#[test]
fn what_has_no_result_on_either_side_is_not_judged() {
    let a = Run::new(&[times(1.0), vec![], vec![]], None);
    let mut b = Run::new(&[times(1.0), times(1.0), vec![]], None);
    let reason = "no CUDA driver".to_owned();
    b.ledger.apply(&Event::NotApplicable { seq: 0, case: b.manifest.plan.cases[0].id.clone(), reason });
    let found = a.against(&b);
    assert_eq!(words(&found), ["cannot tell", "cannot tell", "not measured"]);
    let reasons: Vec<String> =
        found.judgements.iter().filter_map(|j| j.reason.as_ref()).map(Reason::to_string).collect();
    assert_eq!(reasons, ["the run: n/a: no CUDA driver", "the baseline: not measured", "not measured"]);
}

#[test]
fn a_failure_does_not_hide_behind_what_the_baseline_lacks() {
    let a = Run::new(&[vec![1.0, 1.0], vec![], times(1.0)], None);
    let mut b = Run::new(&[vec![], vec![], vec![]], None);
    for case in b.manifest.plan.cases.clone() {
        let error = "a fault".to_owned();
        b.ledger.apply(&Event::Failed { seq: 0, case: case.id, round: 0, error, lost: false });
    }
    let found = a.against(&b);
    assert_eq!(words(&found), ["cannot tell", "not measured", "cannot tell"]);
    let reason = |at: usize| found.judgements[at].reason.as_ref().map(Reason::to_string).unwrap_or_default();
    assert_eq!(reason(0), "the run: failed: a fault; the baseline: 2 rounds, 3 are needed");
    assert_eq!(reason(1), "the run: failed: a fault; the baseline: not measured");
    assert_eq!(reason(2), "the run: failed: a fault");
    let failed: Vec<usize> = found.failed(a.side(), b.side()).map(|pair| pair.baseline).collect();
    assert_eq!(failed, [0, 2], "the second has no result in the baseline either");
}

#[test]
fn noise_on_both_sides_needs_samples_that_are_apart() {
    let flagged = |medians: &[f64]| {
        let mut record = measured(medians);
        record.rounds.iter_mut().for_each(|r| r.flags = vec![Flag::Spread]);
        record
    };
    let (a, mut b) = (flagged(&[1.0, 1.1, 1.2]), flagged(&[1.15, 1.3, 1.4]));
    assert!(doubtful(&a, &b));
    b.rounds[1].flags.clear();
    assert!(!doubtful(&a, &b), "a clean round");
    assert!(!doubtful(&a, &flagged(&[3.0, 3.1, 3.2])), "far apart");
    let ratio = Ratio { value: 1.2, low: 1.1, high: 1.3 };
    let evidence = Evidence { ratio, typical: 1.2, machine: None, doubtful: true };
    assert_eq!(evidence.answer(0.05), (Answer::CannotTell, Some(Reason::Doubtful)));
}

#[test]
fn wholly_below_a_limit_is_not_slower_however_wide() {
    let evidence = |low, high, typical| {
        let ratio = Ratio { value: typical, low, high };
        let pair = Pair { baseline: 0, other: 0, matched: Matched::Identity };
        let evidence = Some(Evidence { ratio, typical, machine: None, doubtful: false });
        Judgement {
            pair,
            evidence,
            answer: Answer::CannotTell,
            repeats: false,
            reason: None,
            causes: Vec::new(),
        }
    };
    assert_eq!(evidence(0.6, 1.02, 0.8).slower_by(0.03), Some(false));
    assert_eq!(evidence(0.6, 1.02, 1.2).slower_by(0.03), None, "a few rounds decide");
    assert_eq!(evidence(0.6, 1.04, 0.8).slower_by(0.03), None);
}

/// Thirty rounds, a third of them interrupted: the mean is slower, but most rounds are not.
#[test]
fn a_few_rounds_do_not_outvote_the_others() {
    let steady: Vec<f64> = STEADY.iter().copied().cycle().take(30).collect();
    let uneven: Vec<f64> =
        steady.iter().enumerate().map(|(i, t)| if i % 3 == 0 { 500.0 * t } else { 0.7 * t }).collect();
    let found = Run::new(&[steady], None).against(&Run::new(&[uneven], None));
    let evidence = found.judgements[0].evidence.expect("enough rounds");
    assert!(evidence.ratio.low > 1.05 && evidence.typical < 0.75, "{evidence:?}");
    assert_eq!(found.judgements[0].reason, Some(Reason::Uneven));
}

#[test]
fn a_failed_case_is_never_judged_by_its_times() {
    let failed = without_result(measured(&STEADY).case, Status::Failed("wrong result".to_owned()));
    assert!(
        matches!(shortcoming(&failed), Some(Shortcoming::Failed(words)) if words == "failed: wrong result")
    );
    let uncertified = Record { verdict: None, ..measured(&STEADY) };
    assert!(matches!(shortcoming(&uncertified), Some(Shortcoming::Nothing(_))));
}

proptest! {
    /// A wider margin never turns agreement into another answer, nor creates a difference.
    #[test]
    fn margins_are_monotonous(
        low in -1.0..1.0f64, width in 0.0..1.0f64, pace in -1.0..1.0f64, range in 0.0..1.0f64,
        narrow in 0.001..0.5f64, more in 0.0..0.5f64,
    ) {
        let ratio = Ratio { value: (low + width / 2.0).exp(), low: low.exp(), high: (low + width).exp() };
        let alone = Evidence { ratio, typical: ratio.value, machine: None, doubtful: false };
        let beside = Evidence { machine: Some(Machine { pace, range }), ..alone };
        for evidence in [alone, beside] {
            let (tight, wide) = (evidence.answer(narrow).0, evidence.answer(narrow + more).0);
            prop_assert!(tight != Answer::Agree || wide == Answer::Agree);
            if let Answer::Differ(direction) = wide {
                prop_assert_eq!(tight, Answer::Differ(direction));
            }
        }
        // The machine's pace can only withdraw a difference.
        let (with, without) = (beside.answer(narrow).0, alone.answer(narrow).0);
        prop_assert!(with == without || with == Answer::CannotTell && matches!(without, Answer::Differ(_)));
    }
}

#[test]
fn a_peer_is_judged_by_its_times() {
    let (one, other) = (Run::of_peer(&[vec![1.0, 1.01, 0.99]]), Run::of_peer(&[vec![1.3, 1.31, 1.29]]));
    assert_eq!(words(&one.against(&one)), ["agree"]);
    assert_eq!(words(&one.against(&other)), ["differ"]);
}
