//! Simulations of the rule on invented machines: its error rate and its power.

use super::ratio::{corrected, ratio};
use super::{Answer, Copied, Direction, Evidence, MARGIN, Machine};
use crate::case::Measure;
use crate::inputs::mix;
use crate::stats;

/// A deterministic random number generator.
struct Dice {
    seed: u64,
    thrown: u64,
}

impl Dice {
    fn uniform(&mut self) -> f64 {
        self.thrown += 1;
        mix::word64(self.seed, self.thrown) as f64 / 2f64.powi(64)
    }

    /// Nearly normal: the sum of twelve uniform numbers.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }

    /// The medians of a run whose time is `pace`, with this relative noise.
    fn run(&mut self, rounds: usize, pace: f64, noise: f64) -> Vec<f64> {
        (0..rounds).map(|_| pace * (noise * self.normal()).exp()).collect()
    }
}

fn answer(a: &[f64], b: &[f64], confidence: f64, machine: Option<Machine>) -> Answer {
    let typical = stats::median(b).unwrap_or(f64::NAN) / stats::median(a).unwrap_or(f64::NAN);
    let evidence = |ratio| Evidence { ratio, typical, machine, doubtful: false };
    ratio(a, b, confidence).map_or(Answer::CannotTell, |ratio| evidence(ratio).answer(MARGIN).0)
}

fn between(baseline: &[f64], other: &[f64]) -> Option<Machine> {
    Machine::between(&Copied::of(baseline)?, &Copied::of(other)?)
}

fn differs(answer: Answer) -> bool {
    matches!(answer, Answer::Differ(_))
}

/// The share of trials for which `holds` is true.
fn share(trials: usize, seed: u64, mut holds: impl FnMut(&mut Dice) -> bool) -> f64 {
    let mut dice = Dice { seed, thrown: 0 };
    (0..trials).filter(|_| holds(&mut dice)).count() as f64 / trials as f64
}

const FAMILIES: usize = 2000;
/// Number of cases in a family.
const CASES: usize = 20;

#[test]
fn an_interval_holds_the_true_ratio_as_often_as_it_says() {
    for (rounds, noise) in [((5, 5), (0.01, 0.01)), ((3, 8), (0.02, 0.02)), ((4, 12), (0.03, 0.005))] {
        let held = share(2 * FAMILIES, 1, |dice| {
            let (a, b) = (dice.run(rounds.0, 1.0, noise.0), dice.run(rounds.1, 1.3, noise.1));
            ratio(&a, &b, 0.95).is_some_and(|r| r.low <= 1.3 && 1.3 <= r.high)
        });
        assert!((0.94..0.975).contains(&held), "{rounds:?} {noise:?}: {held}");
    }
}

#[test]
fn all_intervals_of_a_family_hold_at_once() {
    let confidence = corrected(0.95, CASES);
    let held = share(FAMILIES, 2, |dice| {
        (0..CASES).all(|_| {
            let (a, b) = (dice.run(5, 1.0, 0.02), dice.run(5, 1.0, 0.02));
            ratio(&a, &b, confidence).is_some_and(|r| r.low <= 1.0 && 1.0 <= r.high)
        })
    });
    assert!((0.94..0.97).contains(&held), "{held}");
}

/// The worst case without a difference: every case is slower by just the margin.
#[test]
fn at_the_limit_of_the_margin_a_family_has_a_false_difference_in_one_of_twenty_at_most() {
    let confidence = corrected(0.95, CASES);
    for (rounds, noise) in [((5, 5), 0.01), ((3, 3), 0.02), ((5, 15), 0.03)] {
        let wrong = share(FAMILIES, 3, |dice| {
            (0..CASES).any(|_| {
                let (a, b) = (dice.run(rounds.0, 1.0, noise), dice.run(rounds.1, 1.0 + MARGIN, noise));
                differs(answer(&a, &b, confidence, None))
            })
        });
        assert!((0.005..0.05).contains(&wrong), "{rounds:?} {noise}: {wrong}");
    }
}

/// The circumstances of a run shift all its rounds, here by 1 %, so that identical runs lie within ±3 % of
/// each other while their 95 % intervals are often disjoint.
#[test]
fn the_margin_absorbs_what_rounds_do_not_see() {
    let confidence = corrected(0.95, CASES);
    let dealt = |dice: &mut Dice| (0.01 * dice.normal()).exp();
    let wrong = share(FAMILIES, 4, |dice| {
        (0..CASES).any(|_| {
            let (pace_a, pace_b) = (dealt(dice), dealt(dice));
            let (a, b) = (dice.run(5, pace_a, 0.01), dice.run(5, pace_b, 0.01));
            differs(answer(&a, &b, confidence, None))
        })
    });
    assert!(wrong <= 0.01, "{wrong}");
}

/// A run that ends as soon as its interval looks narrow chooses its own stopping time.
#[test]
fn stopping_at_a_narrow_interval_does_not_make_false_differences() {
    let confidence = corrected(0.95, CASES);
    let rule = Measure { rounds: 3, max_rounds: 30, ci: Some(0.03), budget: 1e9, ..Measure::default() };
    let until_narrow = |dice: &mut Dice, pace: f64| {
        let mut medians = dice.run(3, pace, 0.04);
        while stats::verdict(&rule, 0, &medians, stats::Spent::default()).is_none() {
            medians.extend(dice.run(1, pace, 0.04));
        }
        medians
    };
    let wrong = share(FAMILIES, 5, |dice| {
        (0..CASES).any(|_| {
            let (a, b) = (until_narrow(dice, 1.0), until_narrow(dice, 1.0));
            differs(answer(&a, &b, confidence, None))
        })
    });
    assert!(wrong <= 0.05, "{wrong}");
}

#[test]
fn a_slowdown_of_a_tenth_is_noticed() {
    // Many cases widen the intervals, which then need a few more rounds.
    for (cases, rounds, least) in [(1, 5, 0.99), (CASES, 5, 0.94), (93, 5, 0.7), (93, 8, 0.97)] {
        let confidence = corrected(0.95, cases);
        let noticed = share(FAMILIES, 6, |dice| {
            let (a, b) = (dice.run(rounds, 1.0, 0.01), dice.run(rounds, 1.1, 0.01));
            answer(&a, &b, confidence, None) == Answer::Differ(Direction::Slower)
        });
        assert!(noticed >= least, "{cases} cases, {rounds} rounds: {noticed}");
    }
}

#[test]
fn identical_runs_agree_where_their_noise_lets_them() {
    let confidence = corrected(0.95, CASES);
    let agreed = share(FAMILIES, 7, |dice| {
        let (a, b) = (dice.run(5, 1.0, 0.01), dice.run(5, 1.0, 0.01));
        answer(&a, &b, confidence, None) == Answer::Agree
    });
    assert!(agreed >= 0.95, "{agreed}");
}

/// Slowdown factor of the machine's slow mode.
const SLOW: f64 = 1.6;

/// A machine with two paces, which affect copies fully, and cases fully, partly or not at all.
struct Bimodal {
    /// Logarithm of the pace of each of five passes.
    passes: [f64; 5],
}

impl Bimodal {
    /// A machine with one mode for the whole run.
    fn steady(dice: &mut Dice) -> Bimodal {
        let slow = dice.uniform() < 0.5;
        Bimodal { passes: [if slow { SLOW.ln() } else { 0.0 }; 5] }
    }

    /// A machine with a mode for each pass.
    fn restless(dice: &mut Dice) -> Bimodal {
        Bimodal { passes: [0; 5].map(|_| if dice.uniform() < 0.5 { SLOW.ln() } else { 0.0 }) }
    }

    fn copies(&self, dice: &mut Dice) -> Vec<f64> {
        self.passes.iter().map(|pace| 10.0 * (-pace + 0.01 * dice.normal()).exp()).collect()
    }

    fn case(&self, feels: f64, time: f64, dice: &mut Dice) -> Vec<f64> {
        self.passes.iter().map(|pace| time * (feels * pace + 0.01 * dice.normal()).exp()).collect()
    }
}

/// The answers for a family on two runs of such a machine, the second of which takes `factor` times as long
/// apart from the machine's pace.
fn bimodal(dice: &mut Dice, machine: fn(&mut Dice) -> Bimodal, factor: f64, cases: usize) -> Vec<Answer> {
    let (a, b) = (machine(dice), machine(dice));
    let shared = between(&a.copies(dice), &b.copies(dice));
    let confidence = corrected(0.95, cases);
    (0..cases)
        .map(|_| {
            let feels = dice.uniform();
            let (a, b) = (a.case(feels, 1.0, dice), b.case(feels, factor, dice));
            answer(&a, &b, confidence, shared)
        })
        .collect()
}

#[test]
fn a_machine_with_two_paces_makes_no_false_differences() {
    for machine in [Bimodal::steady, Bimodal::restless] {
        for cases in [1, CASES] {
            let wrong =
                share(FAMILIES, 8, |dice| bimodal(dice, machine, 1.0, cases).into_iter().any(differs));
            assert!(wrong <= 0.05, "{cases} cases: {wrong}");
        }
    }
}

#[test]
fn without_the_copies_such_a_machine_would_be_believed() {
    let believed = share(FAMILIES, 9, |dice| {
        let (a, b) = (Bimodal::steady(dice), Bimodal::steady(dice));
        differs(answer(&a.case(1.0, 1.0, dice), &b.case(1.0, 1.0, dice), 0.95, None))
    });
    assert!((0.4..0.6).contains(&believed), "{believed}");
}

#[test]
fn what_exceeds_the_machines_pace_is_noticed_on_it() {
    let noticed = share(FAMILIES, 10, |dice| {
        bimodal(dice, Bimodal::steady, 2.5, 1)[0] == Answer::Differ(Direction::Slower)
    });
    // If only the baseline ran in the slow mode, the two effects cancel partly, but 2.5 / 1.6 is still large.
    assert!(noticed >= 0.95, "{noticed}");
}

/// A machine whose pace wanders: successive passes are correlated, so a few passes may lie close together by
/// chance.
struct Wandering {
    pace: f64,
}

/// Standard deviation of the pace's logarithm, and its autocorrelation from pass to pass.
const STRAYS: f64 = 0.15;
const KEEPS: f64 = 0.8;

impl Wandering {
    fn new(dice: &mut Dice) -> Wandering {
        Wandering { pace: STRAYS * dice.normal() }
    }

    /// A run of one case that stops by the rule, and the copies between the passes of the whole run, which
    /// goes on with other cases.
    fn run(mut self, dice: &mut Dice) -> (Vec<f64>, Vec<f64>) {
        let rule = Measure { rounds: 5, max_rounds: 20, ci: Some(0.03), budget: 1e9, ..Measure::default() };
        let (mut medians, mut copies) = (Vec::new(), Vec::new());
        for _ in 0..rule.max_rounds {
            copies.push((-self.pace).exp());
            if stats::verdict(&rule, 0, &medians, stats::Spent::default()).is_none() {
                medians.push((self.pace + 0.02 * dice.normal()).exp());
            }
            let strayed = (1.0 - KEEPS * KEEPS).sqrt() * STRAYS * dice.normal();
            self.pace = KEEPS * self.pace + strayed;
        }
        (medians, copies)
    }
}

/// The share of families of eight cases, one run each, in which identical runs differ.
fn wandering(seed: u64, judged: fn(&[f64], &[f64]) -> Option<Machine>) -> f64 {
    let confidence = corrected(0.95, 8);
    share(FAMILIES, seed, |dice| {
        (0..8).any(|_| {
            let (a, copies_a) = Wandering::new(dice).run(dice);
            let (b, copies_b) = Wandering::new(dice).run(dice);
            differs(answer(&a, &b, confidence, judged(&copies_a, &copies_b)))
        })
    })
}

#[test]
fn a_machine_whose_pace_wanders_makes_no_false_differences() {
    let wrong = wandering(11, between);
    assert!(wrong <= 0.05, "{wrong}");
    let believed = wandering(11, |_, _| None);
    assert!(believed > 0.2, "without the copies: {believed}");
}
