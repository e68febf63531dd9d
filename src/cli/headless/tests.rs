use super::*;
use crate::engine::protocol::RoundResult;
use crate::recipe;
use crate::recipe::plan::{Overrides, resolve};

const RECIPE: &str = "\
stream: {kernel: [copy, add], elements: 1Ki}
backend: [cpu, cuda]
chart: {x: kernel, lines: backend}
measure: {rounds: 3}
";

fn printer() -> Printer {
    let recipe = recipe::parse("test", RECIPE).expect("a recipe");
    Printer::new(Ledger::new(resolve(&recipe, &Overrides::default()).expect("a plan")))
}

fn round(printer: &Printer, case: usize, round: u32, verdict: Option<Verdict>) -> Event {
    let result = RoundResult {
        case: printer.ledger.plan().cases[case].id.clone(),
        round,
        samples: vec![0.5],
        batch: 1,
        verdict,
        memory: 0,
        resolved: Vec::new(),
        started: 0.0,
        ..RoundResult::default()
    };
    Event::Round { seq: 1, result }
}

#[test]
fn what_will_not_run_does_not_count_as_left() {
    let mut printer = printer();
    assert_eq!(printer.place(), "0/12");
    let cuda: Vec<String> = (printer.ledger.plan().cases.iter())
        .filter(|c| c.backend() == "cuda")
        .map(|c| c.id.clone())
        .collect();
    for case in cuda {
        printer.event(&Event::NotApplicable { seq: 1, case, reason: "no CUDA driver".into() });
    }
    assert_eq!(printer.place(), "0/6");
    let cpu = printer.ledger.plan().cases.iter().position(|c| c.backend() == "cpu").expect("a cpu case");
    let wrong = Verdict::Wrong { mistake: "out[0]".into() };
    printer.event(&round(&printer, cpu, 0, Some(wrong)));
    assert!(printer.place().starts_with("3/6"), "{}", printer.place());
    let record = &printer.ledger.records()[cpu];
    assert_eq!(outcome(record), "FAILED: wrong result: out[0]", "a wrong case has no figures");
    assert_eq!(Summary::of(&printer.ledger, Path::new("")).failed, 1);
}

#[test]
fn doubtful_cases_are_counted_and_their_noise_is_named() {
    let mut printer = printer();
    let verdict = Some(Verdict::Certified { checked: 1 });
    let Event::Round { seq, result } = round(&printer, 0, 0, verdict) else { panic!("a round") };
    let flags = vec![Flag::Steal, Flag::Background];
    printer.event(&Event::Round { seq, result: RoundResult { flags, ..result } });
    printer.event(&round(&printer, 0, 1, None));
    let summary = Summary::of(&printer.ledger, Path::new(""));
    assert_eq!(summary.doubtful, 1);
    assert!(summary.words().contains("1 doubtful (steal, background)"), "{}", summary.words());
    assert!(outcome(&printer.ledger.records()[0]).contains("±0.0 %"), "two rounds have an interval");
}

/// The warning as the engine words it.
fn warning(printer: &Printer, case: usize, round: u32) -> String {
    let preamble = crate::stats::noise::preamble(&printer.short_label(case), round);
    format!("{preamble}20 % of the CPU time stolen: measured again later")
}

#[test]
fn a_kind_of_noise_is_told_once_for_each_case_and_counted_from_then_on() {
    let mut printer = printer();
    let mut flagged = |case, number, flags: &[Flag]| {
        let Event::Round { seq, result } = round(&printer, case, number, None) else { panic!("a round") };
        printer.event(&Event::Round { seq, result: RoundResult { flags: flags.to_vec(), ..result } });
        let text = warning(&printer, case, number);
        // An unrelated warning may come in between.
        assert!(printer.doubts.is_news("cannot write results.csv"));
        printer.doubts.is_news(&text)
    };
    assert!(flagged(0, 0, &[Flag::Steal]));
    assert!(!flagged(0, 1, &[Flag::Steal]), "the same again");
    assert!(flagged(1, 0, &[Flag::Steal]), "another case");
    assert!(flagged(0, 2, &[Flag::Steal, Flag::Clock]), "another kind");
    assert!(!flagged(1, 1, &[Flag::Steal]));
    let summary = printer.doubts.summary();
    assert_eq!(summary.as_deref(), Some("2 more warnings of noise (steal) not shown: see events.ndjson"));
}
