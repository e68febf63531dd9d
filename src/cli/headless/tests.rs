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
    assert_eq!(printer.place(), "0/20 rounds");
    let cuda: Vec<String> = (printer.ledger.plan().cases.iter())
        .filter(|c| c.backend() == "cuda")
        .map(|c| c.id.clone())
        .collect();
    for case in cuda {
        printer.event(&Event::NotApplicable { seq: 1, case, reason: "no CUDA driver".into() });
    }
    assert_eq!(printer.place(), "0/10 rounds");
    let cpu = printer.ledger.plan().cases.iter().position(|c| c.backend() == "cpu").expect("a cpu case");
    let wrong = Verdict::Wrong { mistake: "out[0]".into() };
    printer.event(&round(&printer, cpu, 0, Some(wrong)));
    assert!(printer.place().starts_with("1/6 rounds"), "{}", printer.place());
    let record = &printer.ledger.records()[cpu];
    assert_eq!(
        outcome(record, Quantity::Time),
        "FAILED: wrong result: out[0]",
        "a wrong case has no figures"
    );
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
    assert!(
        outcome(&printer.ledger.records()[0], Quantity::Flops).contains("±0.0 %"),
        "two rounds have an interval"
    );
}

#[test]
fn warnings_of_noise_are_left_to_the_assessment_and_others_are_told_once() {
    let mut printer = printer();
    let label = printer.short_label(0);
    let Event::Round { seq, result } = round(&printer, 0, 0, None) else { panic!("a round") };
    printer.event(&Event::Round { seq, result: RoundResult { flags: vec![Flag::Steal], ..result } });
    let noise = format!("{}20 % stolen: measured again later", crate::stats::noise::preamble(&label, 0));
    let others = [printer.short_label(1), printer.short_label(2)];
    let labels = || [label.as_str()].into_iter().chain(others.iter().map(String::as_str));
    let mut news = |text: &str| printer.doubts.is_news(text, labels());
    assert!(!news(&noise));
    assert!(news("cannot write results.csv"));
    assert!(!news("cannot write results.csv"));
    assert!(news(&format!("{label}: no huge pages")));
    assert!(!news(&format!("{}: no huge pages", others[0])), "of another case");
    assert!(!news(&format!("{}: no huge pages", others[1])));
    let summary: Vec<String> = printer.doubts.summary().collect();
    assert_eq!(summary, ["2 warnings more: no huge pages", "1 warning more: cannot write results.csv"]);
}

#[test]
fn a_case_has_one_line_when_it_is_finished() {
    let mut printer = printer();
    let verdict = Some(Verdict::Certified { checked: 1 });
    printer.event(&round(&printer, 0, 0, verdict));
    assert!(printer.finished.is_empty());
    for number in 1..5 {
        printer.event(&round(&printer, 0, number, None));
    }
    assert_eq!(printer.finished.iter().copied().collect::<Vec<_>>(), [0]);
    let rest: Vec<String> = printer.absent().into_iter().map(|(reason, n)| format!("{n} {reason}")).collect();
    assert_eq!(rest, Vec::<String>::new());
}
