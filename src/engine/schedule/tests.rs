use super::*;
use crate::case::{Case, Params};
use crate::engine::protocol::FinishedRound;
use crate::recipe::plan::{Chart, Experiment, Quantity};

fn plan(measures: &[Measure], cases: &[(&str, usize)]) -> Plan {
    let experiment = |measure: &Measure| Experiment {
        title: "t".into(),
        slug: "t".into(),
        primitive: "stream".into(),
        paper: None,
        axes: Vec::new(),
        chart: Chart {
            x: "elements".into(),
            y: Quantity::Bandwidth,
            lines: Vec::new(),
            panels: Vec::new(),
            statistic: Default::default(),
            best_of: Vec::new(),
            scale: Default::default(),
            relative_to: None,
            ratio: false,
            ceiling: None,
            models: None,
            bars: None,
            overlay: None,
        },
        measure: *measure,
    };
    let case = |(id, experiment): &(&str, usize)| Case {
        id: (*id).into(),
        experiment: *experiment,
        primitive: "stream".into(),
        params: Params::default(),
        seed: 1,
        not_applicable: None,
    };
    Plan {
        title: "t".into(),
        experiments: measures.iter().map(experiment).collect(),
        cases: cases.iter().map(case).collect(),
        ..Plan::default()
    }
}

/// Runs the schedule to its end; `measured` gives each turn's median and whether it is flagged.
fn turns(mut schedule: Schedule, measured: impl Fn(Turn) -> (f64, bool)) -> Vec<(usize, u32, u32)> {
    let mut turns = Vec::new();
    while let Some(turn) = schedule.next(0.0) {
        turns.push((turn.case, turn.round, turn.attempt));
        let (median, doubtful) = measured(turn);
        schedule.measured(turn, median, 0.5, doubtful);
        assert!(turns.len() < 10_000, "the schedule never ends");
    }
    turns
}

fn run(plan: &Plan, measured: impl Fn(Turn) -> (f64, bool)) -> Vec<(usize, u32, u32)> {
    turns(Schedule::new(plan, &Finished::default()), measured)
}

fn steady(_: Turn) -> (f64, bool) {
    (1.0, false)
}

#[test]
fn rounds_lie_outside_and_cases_inside() {
    let plan = plan(&[Measure::fixed(2, 1)], &[("a", 0), ("b", 0)]);
    assert_eq!(run(&plan, steady), [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)]);
}

#[test]
fn sequential_cases_have_all_their_rounds_at_once() {
    let sequential = Measure { order: Order::Sequential, ..Measure::fixed(2, 1) };
    let plan = plan(&[sequential], &[("a", 0), ("b", 0)]);
    assert_eq!(run(&plan, steady), [(0, 0, 0), (0, 1, 0), (1, 0, 0), (1, 1, 0)]);
}

#[test]
fn random_order_differs_by_pass_and_leaves_no_case_out() {
    let random = Measure { order: Order::Random, ..Measure::fixed(4, 1) };
    let names: Vec<String> = (0..20).map(|i| format!("c{i}")).collect();
    let cases: Vec<(&str, usize)> = names.iter().map(|n| (n.as_str(), 0)).collect();
    let plan = plan(&[random], &cases);
    let turns = run(&plan, steady);
    assert_eq!(turns, run(&plan, steady), "the same seed gives the same order");
    let passes: Vec<Vec<usize>> = turns.chunks(20).map(|p| p.iter().map(|t| t.0).collect()).collect();
    assert_eq!(passes.len(), 4);
    for pass in &passes {
        let mut sorted = pass.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..20).collect::<Vec<_>>());
        assert_ne!(*pass, sorted);
    }
    assert_ne!(passes[0], passes[1]);
}

#[test]
fn a_case_goes_on_until_its_interval_is_narrow() {
    let measure = Measure { rounds: 3, max_rounds: 8, budget: 1e9, ..Measure::default() };
    let plan = plan(&[measure], &[("steady", 0), ("wild", 0)]);
    let wild = |turn: Turn| (1.0 + f64::from(turn.round % 2) * turn.case as f64, false);
    let turns = run(&plan, wild);
    let of = |case: usize| turns.iter().filter(|t| t.0 == case).count();
    assert_eq!((of(0), of(1)), (5, 8), "three rounds are narrow by chance");
}

#[test]
fn a_case_goes_on_until_its_budget_is_used_up() {
    let measure = Measure { rounds: 3, max_rounds: 100, budget: 5.0, ..Measure::default() };
    let plan = plan(&[measure], &[("wild", 0)]);
    let turns = run(&plan, |turn| (1.0 + f64::from(turn.round % 2), false));
    assert_eq!(turns.len(), 10, "ten rounds of half a second");
}

#[test]
fn a_doubtful_round_is_measured_once_more_after_the_others() {
    let plan = plan(&[Measure::fixed(2, 1)], &[("a", 0), ("b", 0)]);
    let turns = run(&plan, |turn| (1.0, turn.case == 0 && turn.round == 0));
    assert_eq!(turns, [(0, 0, 0), (1, 0, 0), (0, 0, 1), (0, 1, 0), (1, 1, 0)]);
}

#[test]
fn what_is_given_up_gets_no_more_turns() {
    let plan = plan(&[Measure::fixed(2, 1)], &[("a", 0), ("b", 0)]);
    let mut schedule = Schedule::new(&plan, &Finished::default());
    let first = schedule.next(0.0).expect("a turn");
    schedule.measured(first, 1.0, 0.1, true);
    schedule.give_up(first.case);
    assert_eq!(turns(schedule, steady), [(1, 0, 0), (1, 1, 0)]);
}

#[test]
fn a_fresh_engine_measures_only_what_is_left() {
    let plan = plan(&[Measure::fixed(3, 1)], &[("a", 0), ("b", 0), ("c", 0)]);
    let round = |case: &str, round| FinishedRound {
        case: case.into(),
        round,
        median: 1.0,
        wall: 1.0,
        longest: 1.0,
        doubtful: false,
    };
    let finished = Finished {
        rounds: vec![round("a", 0), round("a", 2), round("b", 0)],
        given_up: vec!["c".into()],
        ..Finished::default()
    };
    let turns = turns(Schedule::new(&plan, &finished), steady);
    assert_eq!(turns, [(0, 1, 0), (1, 1, 0), (1, 2, 0)]);
}

#[test]
fn no_second_look_where_nobody_wants_one() {
    let measure = Measure { second_look: false, ..Measure::fixed(1, 1) };
    let plan = plan(&[measure], &[("a", 0), ("b", 0)]);
    assert_eq!(run(&plan, |_| (1.0, true)), [(0, 0, 0), (1, 0, 0)]);
    let round =
        FinishedRound { case: "a".into(), round: 0, median: 1.0, wall: 0.5, longest: 0.5, doubtful: true };
    let finished = Finished { rounds: vec![round], ..Finished::default() };
    assert_eq!(turns(Schedule::new(&plan, &finished), steady), [(1, 0, 0)], "nor when the run goes on");
}

#[test]
fn a_costly_reference_waits_until_it_is_a_small_share() {
    let mut schedule = ReferenceSchedule::default();
    assert!(schedule.due(0.0));
    schedule.measured(0.0, 0.2);
    assert!(schedule.due(0.2), "a cheap one does not wait");
    schedule.measured(0.2, 1.2);
    assert!(!schedule.due(20.0));
    assert!(schedule.due(21.3));
}
