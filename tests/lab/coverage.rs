//! How often the intervals of simulated cases hold, by the program's own rule, and that the documentation says so.

use std::fs;
use std::path::Path;

use scatterlab::case::Measure;
use scatterlab::inputs::mix;
use scatterlab::stats::interval::{CONFIDENCE, interval};
use scatterlab::stats::{Spent, Stop, verdict};

const BEGIN: &str = "<!-- coverage: written by the test that compares it -->\n";
const END: &str = "<!-- end of coverage -->";

/// Simulated cases of each kind.
const TRIALS: u64 = 4000;

/// Shares of the table may differ by this much on other machines, whose functions round differently, percent.
const TOLERANCE: f64 = 0.5;

/// Random numbers that are the same everywhere.
struct Dice {
    key: u64,
    drawn: u64,
}

impl Dice {
    fn uniform(&mut self) -> f64 {
        self.drawn += 1;
        (mix::word64(self.key, self.drawn) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// The sum of twelve uniform numbers is nearly normal.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

/// A kind of case: how its rounds scatter, and their true mean.
struct Kind {
    name: &'static str,
    round: fn(&mut Dice) -> f64,
    mean: f64,
}

const KINDS: [Kind; 5] = [
    Kind { name: "rounds scatter by 1 %", round: |dice| 1.0 + 0.01 * dice.normal(), mean: 1.0 },
    Kind { name: "by 5 %", round: |dice| 1.0 + 0.05 * dice.normal(), mean: 1.0 },
    Kind { name: "by 10 %", round: |dice| 1.0 + 0.10 * dice.normal(), mean: 1.0 },
    Kind {
        name: "two paces, 10 % apart, each of half the rounds",
        round: |dice| f64::from(u8::from(dice.uniform() < 0.5)) * 0.1 + 1.0 + 0.005 * dice.normal(),
        mean: 1.05,
    },
    Kind {
        name: "one round in eight takes 1.3 times as long",
        round: |dice| f64::from(u8::from(dice.uniform() < 0.125)) * 0.3 + 1.0 + 0.01 * dice.normal(),
        mean: 1.0375,
    },
];

/// What became of the simulated cases of a kind.
#[derive(Default)]
struct Outcome {
    rounds: usize,
    held: u32,
    precise: u32,
    precise_held: u32,
}

/// Simulates a kind of case whose recipe and rule ask for this many rounds at least.
fn simulated(kind: &Kind, seed: u64, least: u32) -> Outcome {
    let measure =
        Measure { rounds: least, precise_from: least, max_rounds: 30, ci: Some(0.03), ..Measure::default() };
    let mut outcome = Outcome::default();
    for trial in 0..TRIALS {
        let mut dice = Dice { key: mix::word64(seed, trial), drawn: 0 };
        let mut medians = Vec::new();
        let stop = loop {
            medians.push((kind.round)(&mut dice));
            if let Some(stop) = verdict(&measure, 0, &medians, Spent::default()) {
                break stop;
            }
        };
        let held =
            interval(&medians, CONFIDENCE).is_some_and(|[low, high]| low <= kind.mean && kind.mean <= high);
        let precise = stop == Stop::Precise;
        outcome.rounds += medians.len();
        outcome.held += u32::from(held);
        outcome.precise += u32::from(precise);
        outcome.precise_held += u32::from(precise && held);
    }
    outcome
}

fn percent(part: u32, of: u32) -> String {
    if of == 0 { "–".to_owned() } else { format!("{:.1} %", 100.0 * f64::from(part) / f64::from(of)) }
}

fn table() -> String {
    let mut text = "| cases | from | rounds, on average | held | stop as `precise` | of these, held |\n|---|---|---|---|---|---|\n"
        .to_owned();
    for (seed, kind) in KINDS.iter().enumerate() {
        for least in [3, Measure::default().precise_from] {
            let Outcome { rounds, held, precise, precise_held } = simulated(kind, seed as u64, least);
            let (all, mean) = (TRIALS as u32, rounds as f64 / TRIALS as f64);
            let [held, stop] = [held, precise].map(|part| percent(part, all));
            let of_these = percent(precise_held, precise);
            text += &format!("| {} | {least} | {mean:.1} | {held} | {stop} | {of_these} |\n", kind.name);
        }
    }
    text
}

/// The rows with their numbers taken out, and the numbers.
fn split(table: &str) -> (String, Vec<f64>) {
    let number = |cell: &str| cell.trim().trim_end_matches(" %").parse::<f64>().ok();
    let words = table.split('|').filter(|cell| number(cell).is_none()).collect();
    (words, table.split('|').filter_map(number).collect())
}

#[test]
fn the_documentation_says_how_often_intervals_hold() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/trust.md");
    let text = fs::read_to_string(&path).expect("the page");
    let (before, rest) = text.split_once(BEGIN).expect("the table's beginning");
    let (stated, after) = rest.split_once(END).expect("the table's end");
    let computed = table();
    if std::env::var_os("SCATTERLAB_WRITE_DOCS").is_some() {
        fs::write(&path, format!("{before}{BEGIN}{computed}{END}{after}")).expect("written");
        return;
    }
    let ((words, numbers), (computed_words, computed_numbers)) = (split(stated), split(&computed));
    assert_eq!(words, computed_words, "SCATTERLAB_WRITE_DOCS=1 writes the table");
    let close = numbers.iter().zip(&computed_numbers).all(|(a, b)| (a - b).abs() <= TOLERANCE);
    assert!(close && numbers.len() == computed_numbers.len(), "docs/trust.md should say:\n{computed}");
}

#[test]
fn five_rounds_hold_more_often_than_three() {
    for (seed, kind) in KINDS.iter().enumerate().skip(1) {
        let [three, five] = [3, 5].map(|least| simulated(kind, seed as u64, least).held);
        assert!(five > three, "{}: {three} and {five} of {TRIALS}", kind.name);
    }
}
