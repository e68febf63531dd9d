//! Advice about cases that cannot be decided.

use super::cases;
use crate::report::judge::{self, Comparison};
use crate::report::verdicts::NamedRun;
use crate::run::Record;
use crate::stats::comparison::{Answer, FEWEST};
use crate::stats::noise::Flag;

/// External disturbances, with their names among the causes.
const DISTURBANCES: [(Flag, &str); 2] = [(Flag::Background, "background load"), (Flag::Steal, "steal time")];
/// Least number of rounds worth another run.
const ROUNDS: usize = 20;
/// The maximum that `--rounds` accepts.
const MOST: usize = 1000;

/// The lines below a table, after an empty one: disturbances of the undecided cases, the command that
/// measures them longer, and advice if rounds are missing.
pub(super) fn lines(
    baseline: &NamedRun,
    other: &NamedRun,
    comparison: &Comparison,
    again: &str,
) -> Vec<String> {
    let open: Vec<Open> = comparison
        .once()
        .filter_map(|judgement| {
            let pair = judgement.pair;
            let (a, b) = (baseline.side.record(pair.baseline)?, other.side.record(pair.other)?);
            // Without an interval, more rounds would not help, or the reason already says so.
            let is_open = judgement.answer == Answer::CannotTell && judgement.evidence.is_some();
            let told = |name: &str| judgement.causes.iter().any(|cause| cause.what == name);
            let beside =
                |(flag, name): &&(Flag, &'static str)| told(name) || flagged(a, *flag) || flagged(b, *flag);
            is_open.then(|| Open {
                beside: DISTURBANCES.iter().filter(beside).map(|(_, name)| *name).collect(),
                rounds: a.medians().len().max(b.medians().len()),
            })
        })
        .collect();
    let longer = open.iter().map(|case| case.rounds).max().map(|most| {
        let rounds = (2 * most).clamp(ROUNDS, MOST);
        format!("More rounds: `scatterlab replay {again} --rounds {rounds}`")
    });
    let few = [baseline, other].into_iter().any(has_few);
    let anew = few.then(|| format!("Of a run with fewer than {FEWEST} rounds: {}", judge::anew()));
    let lines: Vec<String> = beside(&open).into_iter().chain(longer).chain(anew).collect();
    let gap = (!lines.is_empty()).then(String::new);
    gap.into_iter().chain(lines).collect()
}

/// Whether none of a run's results can be judged because of too few rounds.
fn has_few(run: &NamedRun) -> bool {
    let mut results =
        run.side.ledger.records().iter().filter(|record| record.statistics.is_some()).peekable();
    results.peek().is_some() && results.all(|record| record.medians().len() < FEWEST)
}

/// An undecided case that has an interval.
struct Open {
    beside: Vec<&'static str>,
    rounds: usize,
}

fn beside(open: &[Open]) -> Option<String> {
    let disturbed = open.iter().filter(|case| !case.beside.is_empty()).count();
    let has = |(_, name): &&(Flag, &str)| open.iter().any(|case| case.beside.contains(name));
    let names: Vec<&str> = DISTURBANCES.iter().filter(has).map(|(_, name)| *name).collect();
    let (all, names) = (cases(open.len()), names.join(" or "));
    (disturbed > 0).then(|| {
        format!("{disturbed} of {all} left undecided ran beside {names}: `scatterlab doctor` shows the cause")
    })
}

fn flagged(record: &Record, flag: Flag) -> bool {
    record.rounds.iter().any(|round| round.flags.contains(&flag))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::judge::tests::Run;
    use crate::report::judge::{MARGIN, compare};

    fn told(a: &Run, b: &Run) -> Vec<String> {
        let comparison = compare(a.side(), &[b.side()], MARGIN).remove(0);
        let [a, b] = [a, b].map(|run| NamedRun::new(String::new(), run.side()));
        lines(&a, &b, &comparison, "b").into_iter().skip(1).collect()
    }

    const WILD: [f64; 5] = [1.0, 1.5, 0.7, 1.2, 0.8];

    #[test]
    fn load_on_either_side_is_named_once_with_what_to_do() {
        let steady = vec![1.0, 1.002, 0.998, 1.001, 0.999];
        let a = Run::new(&[WILD.to_vec(), WILD.to_vec(), steady.clone()], None);
        let flagged = |flags: &[Flag]| Run::flagged(&[WILD.to_vec(), WILD.to_vec(), steady.clone()], flags);
        assert_eq!(told(&a, &a), ["More rounds: `scatterlab replay b --rounds 20`"]);
        let loaded = flagged(&[Flag::Background]);
        for lines in [told(&a, &loaded), told(&loaded, &a)] {
            let expected =
                "2 of 2 cases left undecided ran beside background load: `scatterlab doctor` shows the cause";
            assert_eq!(lines[0], expected);
            assert_eq!(lines.len(), 2);
        }
        let both = told(&flagged(&[Flag::Background, Flag::Steal]), &a);
        assert!(both[0].contains("beside background load or steal time"), "{both:?}");
    }

    #[test]
    fn what_can_be_told_needs_no_advice() {
        let steady = Run::new(&[vec![1.0, 1.002, 0.998]], None);
        assert!(told(&steady, &steady).is_empty());
        let few = Run::new(&[vec![1.0]], None);
        let advice = told(&few, &steady);
        assert_eq!(advice.len(), 1, "{advice:?}");
        assert!(
            advice[0].contains("--set measure.rounds=3") && advice[0].contains("--rounds 3 --out"),
            "{advice:?}"
        );
    }
}
