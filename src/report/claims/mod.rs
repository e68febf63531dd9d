//! Whether the claims of papers hold on the cases of runs.
//!
//! # The rule
//!
//! A statement has a value for each case, pair or group that it selects. The interval of a value follows from the medians
//! of the rounds: Student's for a single case, Welch's on logarithms for a quotient. With k comparisons in all statements of a
//! claim, each interval has the confidence 1 − 0.05/k (Bonferroni), so that all hold at once with 95 %. A value passes its
//! test if its whole interval and the value at the medians do, and fails it if neither has a number in common with it.
//!
//! | outcome | when |
//! |---|---|
//! | holds | every value of every statement passes (with `some`: one of them) |
//! | fails | a value fails (with `some`: all do) |
//! | cannot tell | otherwise: an interval has numbers of both kinds, a case is partial, failed or not measured, has fewer than three rounds, or every round of it is in doubt |
//! | n/a | no value: the machine cannot run the cases, or has not; or a size with a unit, on another device than the paper's |
//!
//! A fold (`greatest`, `gmean` …) makes one value of all. Its interval holds what it makes of any numbers within theirs, so
//! that a case without a result leaves undecided only what its value could change.

mod live;
mod papers;
mod rows;
mod sentences;
#[cfg(test)]
mod tests;
mod values;

pub use live::{of_experiment, of_plan, sentences};
pub use papers::Folder;
pub use rows::{QUANTITIES, Row, of_records, of_run, of_table};
pub use sentences::{Judgement, Sentence, Stated, gpus, judge_all, lines, machine, table};
pub use values::{Value, Values, folded, values};

use crate::recipe::paper::{Claim, Fold, Placed, Selection, Statement};
use crate::stats::corrected;
use crate::stats::interval::CONFIDENCE;

/// What becomes of a statement, of a claim's shape, or of its size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Holds,
    Fails,
    /// Why.
    CannotTell(String),
    NotApplicable(String),
}

impl Outcome {
    pub fn word(&self) -> &'static str {
        match self {
            Outcome::Holds => "holds",
            Outcome::Fails => "fails",
            Outcome::CannotTell(_) => "cannot tell",
            Outcome::NotApplicable(_) => "n/a",
        }
    }

    pub fn why(&self) -> Option<&str> {
        match self {
            Outcome::Holds | Outcome::Fails => None,
            Outcome::CannotTell(why) | Outcome::NotApplicable(why) => Some(why),
        }
    }
}

/// A statement's outcome and the figure behind it.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    pub statement: String,
    pub outcome: Outcome,
    /// The least and the greatest value at the medians, and how many there are.
    pub found: Option<(f64, f64)>,
    pub count: usize,
    /// The first value that fails, or that leaves the statement undecided.
    pub example: Option<String>,
    pub devices: Vec<String>,
}

impl Judged {
    /// `1.4`, or `0.35 to 3.4 (32)`.
    pub fn figure(&self) -> Option<String> {
        let (least, greatest) = self.found?;
        let [low, high] = [least, greatest].map(short);
        let range = if low == high { low } else { format!("{low} to {high}") };
        Some(if self.count > 1 { format!("{range} ({})", self.count) } else { range })
    }
}

/// A number with three digits.
fn short(x: f64) -> String {
    let digits = 2 - x.abs().log10().floor().clamp(-12.0, 2.0) as i32;
    match x {
        0.0 => "0".to_owned(),
        x if !(1e-3..1e6).contains(&x.abs()) => format!("{x:.2e}"),
        x => format!("{x:.*}", digits.max(0) as usize),
    }
}

/// A part of a claim: its shape, or its size.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    pub outcome: Outcome,
    pub statements: Vec<Judged>,
}

/// Both parts of a claim, on one machine or one platform. A part without statements is `None`.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    pub shape: Option<Part>,
    pub size: Option<Part>,
}

impl Verdict {
    /// The parts that the claim has.
    pub fn parts(&self) -> impl Iterator<Item = (&'static str, &Part)> {
        let parts = [("shape", &self.shape), ("size", &self.size)];
        parts.into_iter().filter_map(|(name, part)| Some((name, part.as_ref()?)))
    }

    /// 0 if a part is decided, 1 if one cannot be told, 2 if none is applicable.
    fn rank(&self) -> u8 {
        let rank = |outcome: &Outcome| match outcome {
            Outcome::Holds | Outcome::Fails => 0,
            Outcome::CannotTell(_) => 1,
            Outcome::NotApplicable(_) => 2,
        };
        self.parts().map(|(_, part)| rank(&part.outcome)).min().unwrap_or(2)
    }

    /// Whether this machine decides nothing, not even that nothing can be told.
    pub fn is_not_applicable(&self) -> bool {
        self.rank() == 2
    }

    /// `holds, size fails`: the shape needs no name.
    pub fn outcomes(&self) -> String {
        let parts = self.parts().map(|(name, part)| match name {
            "shape" => part.outcome.word().to_owned(),
            name => format!("{name} {}", part.outcome.word()),
        });
        parts.collect::<Vec<_>>().join(", ")
    }

    /// `shape holds (1.40), size fails (1.40)`.
    pub fn words(&self) -> String {
        let parts = self.parts().map(|(name, part)| {
            let figures: Vec<String> = part.statements.iter().filter_map(Judged::figure).collect();
            let why = part.outcome.why().map(|why| format!(": {why}")).unwrap_or_default();
            let figure =
                if figures.is_empty() { String::new() } else { format!(" ({})", figures.join("; ")) };
            format!("{name} {}{why}{figure}", part.outcome.word())
        });
        parts.collect::<Vec<_>>().join(", ")
    }
}

/// Judges a claim on these rows. `is_named` says of devices whether they are the machine that the claim's size is about.
///
/// # Errors
/// The part and the position of a statement that the rows cannot be asked, and why.
pub fn judge(
    claim: &Claim,
    rows: &[Row],
    is_named: impl Fn(&[String]) -> bool,
) -> Result<Verdict, (&'static str, usize, String)> {
    let rows = without(claim.except.as_ref(), rows);
    let counted = claim
        .statements()
        .map(|(_, one)| values(&one.what.expression, Some(&one.what.test), &rows, CONFIDENCE));
    let count: usize = counted.filter_map(Result::ok).map(|values| values.comparisons).sum();
    let confidence = corrected(CONFIDENCE, count);
    let part = |key: &'static str, statements: &[Placed<Statement>]| {
        let judged = statements.iter().enumerate().map(|(at, one)| {
            let judged = statement(&one.what, &rows, confidence).map_err(|problem| (key, at, problem))?;
            let elsewhere = key == "size" && one.what.test.unit.is_some() && !is_named(&judged.devices);
            Ok(if elsewhere { self::elsewhere(&one.what, claim) } else { judged })
        });
        let statements = judged.collect::<Result<Vec<Judged>, _>>()?;
        Ok((!statements.is_empty()).then(|| Part { outcome: together(&statements), statements }))
    };
    Ok(Verdict { shape: part("shape", &claim.shape)?, size: part("size", &claim.size)? })
}

fn elsewhere(statement: &Statement, claim: &Claim) -> Judged {
    let named = claim.platform.as_deref().unwrap_or("the paper's machine");
    Judged {
        statement: statement.text.clone(),
        outcome: Outcome::NotApplicable(format!("a size with a unit, which is about {named}")),
        found: None,
        count: 0,
        example: None,
        devices: Vec::new(),
    }
}

/// The rows that the claim does not leave out.
fn without<'a>(except: Option<&Selection>, rows: &[Row<'a>]) -> Vec<Row<'a>> {
    let kept = |row: &&Row| except.is_none_or(|except| !row.is_selected(except).unwrap_or(false));
    rows.iter().filter(kept).cloned().collect()
}

/// Judges one statement, with intervals of this confidence.
fn statement(one: &Statement, rows: &[Row], confidence: f64) -> Result<Judged, String> {
    let found = values(&one.expression, Some(&one.test), rows, confidence)?;
    let each = matches!(one.expression.fold, Fold::Each | Fold::Some);
    let tested = if each || found.all.is_empty() {
        found.all.clone()
    } else {
        vec![folded(one.expression.fold, &found.all)]
    };
    let decided: Vec<Option<bool>> = tested.iter().map(|value| value.passes(&one.test)).collect();
    let of =
        |what: Option<bool>| tested.iter().zip(&decided).find(|(_, is)| **is == what).map(|(value, _)| value);
    let (deciding, otherwise) =
        if one.expression.fold == Fold::Some { (Some(true), Some(false)) } else { (Some(false), Some(true)) };
    let word = |decided: Option<bool>| if decided == Some(true) { Outcome::Holds } else { Outcome::Fails };
    let (outcome, example) = match (of(deciding), of(None)) {
        _ if tested.is_empty() => {
            let why =
                found.not_applicable.clone().unwrap_or_else(|| "no case of it is in the run".to_owned());
            (Outcome::NotApplicable(why), None)
        }
        (Some(value), _) => (word(deciding), (deciding == Some(false)).then_some(value)),
        (None, Some(value)) => {
            let interval = || format!("{} to {} holds both", short(value.low), short(value.high));
            (Outcome::CannotTell(value.why.clone().unwrap_or_else(interval)), Some(value))
        }
        (None, None) => (word(otherwise), None),
    };
    let typical = tested.iter().filter_map(|value| value.typical);
    let ends = typical.fold(None, |ends: Option<(f64, f64)>, x| {
        Some(ends.map_or((x, x), |(least, greatest)| (least.min(x), greatest.max(x))))
    });
    Ok(Judged {
        statement: one.text.clone(),
        outcome,
        found: ends,
        count: found.all.len(),
        example: example.map(|value| value.name.clone()),
        devices: found.devices,
    })
}

/// The outcome of all statements of a part.
fn together(statements: &[Judged]) -> Outcome {
    let outcomes = || statements.iter().map(|judged| &judged.outcome);
    let first = |word: &str| outcomes().find(|outcome| outcome.word() == word).cloned();
    // What is not applicable leaves the others to decide, but what cannot be told does not.
    let undecided = first("fails").or_else(|| first("cannot tell"));
    undecided.or_else(|| first("holds")).or_else(|| first("n/a")).unwrap_or(Outcome::Holds)
}
