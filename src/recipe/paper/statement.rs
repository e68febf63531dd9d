//! The language of claims. A statement says what shall hold of the cases of a run, or of the rows of a printed table:
//! `greatest time of passes=1 over passes!=1 where backend=cuda in 2..4`. `docs/papers.md` describes it.

use crate::case::units::{parse_bytes, parse_count};

/// A statement: a figure, and the numbers among which it is to be.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    pub expression: Expression,
    pub test: Test,
    /// As written.
    pub text: String,
}

/// What a figure is, and what is made of several of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    pub fold: Fold,
    pub subject: Subject,
    /// What the cases of both selections have to be, and pairs agree in.
    pub both: Selection,
}

/// What is made of the values of all selected cases or pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// Every one of them is tested.
    Each,
    /// One of them has to pass the test.
    Some,
    /// There is a single one.
    Only,
    Least,
    Greatest,
    /// The least and the greatest.
    Range,
    Mean,
    GeometricMean,
    HarmonicMean,
    /// The greatest over the least.
    Spread,
}

const FOLDS: [(&str, Fold); 10] = [
    ("each", Fold::Each),
    ("some", Fold::Some),
    ("only", Fold::Only),
    ("least", Fold::Least),
    ("greatest", Fold::Greatest),
    ("range", Fold::Range),
    ("mean", Fold::Mean),
    ("gmean", Fold::GeometricMean),
    ("hmean", Fold::HarmonicMean),
    ("spread", Fold::Spread),
];

/// What has a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Subject {
    /// A quantity of each case, or its quotient for each pair of cases.
    Quantity { name: String, of: Selection, over: Option<Selection> },
    /// The value of an axis at which a group's cases are fastest.
    Best { axis: String, of: Selection },
    /// The value of an axis from which on the first selection's cases stay slower than the second's.
    Crossing { axis: String, of: Selection, over: Selection },
    /// A quantity at each value of an axis over that at the value before.
    Steps { axis: String, name: String, of: Selection },
    /// Pearson's coefficient of two quantities, over all selected rows.
    Correlation { names: [String; 2], of: Selection },
}

/// Conditions that a case meets, all of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection(pub Vec<Condition>);

/// What a column has to be.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    pub column: String,
    operator: &'static str,
    values: Vec<String>,
}

/// The numbers that a figure may be: an interval, or everything but one number.
#[derive(Clone, Debug, PartialEq)]
pub struct Test {
    low: (f64, bool),
    high: (f64, bool),
    negated: bool,
    /// The unit of the written numbers, which are converted.
    pub unit: Option<Unit>,
}

/// Units of figures, by what they measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Seconds,
    GigabytesPerSecond,
    ElementsPerSecond,
    Gigaflops,
}

const UNITS: [(&str, Unit, f64); 9] = [
    ("s", Unit::Seconds, 1.0),
    ("ms", Unit::Seconds, 1e-3),
    ("µs", Unit::Seconds, 1e-6),
    ("us", Unit::Seconds, 1e-6),
    ("GB/s", Unit::GigabytesPerSecond, 1.0),
    ("G/s", Unit::ElementsPerSecond, 1e9),
    ("M/s", Unit::ElementsPerSecond, 1e6),
    ("GFLOPS", Unit::Gigaflops, 1.0),
    ("MFLOPS", Unit::Gigaflops, 1e-3),
];

/// Tolerances that papers put into words. All papers share them, so that nobody tunes one for a claim.
const WORDS: [(&str, f64); 3] = [("about", 0.25), ("similar", 0.20), ("stable", 0.10)];

/// Tests in a word: the centre and the tolerance, or a bound.
const TRENDS: [(&str, [(f64, bool); 2]); 5] = [
    ("rises", [(1.0, false), (f64::INFINITY, true)]),
    ("falls", [(f64::NEG_INFINITY, true), (1.0, false)]),
    ("flat", [(0.9, true), (1.1, true)]),
    ("halves", [(0.5 * 0.85, true), (0.5 * 1.15, true)]),
    ("doubles", [(2.0 * 0.85, true), (2.0 * 1.15, true)]),
];

const COMPARISONS: [&str; 6] = ["=", "!=", "<", "<=", ">", ">="];
const SELECTING: [&str; 6] = ["!=", ">=", "<=", "=", ">", "<"];

impl Statement {
    /// Reads a statement.
    ///
    /// # Errors
    /// What is wrong with it, and what is accepted.
    pub fn parse(text: &str) -> Result<Statement, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let begins = |word: &&str| {
            COMPARISONS.contains(word)
                || ["in", "within"].contains(word)
                || TRENDS.iter().any(|(name, _)| name == word)
        };
        let at = words.iter().position(begins).ok_or_else(|| {
            let trends = TRENDS.map(|(name, _)| name).join(", ");
            format!("it has no test; accepted: = != < <= > >= X, in X..Y, within P of X, {trends}")
        })?;
        let expression = Expression::of(&words[..at])?;
        let test = Test::of(&words[at..])?;
        // A spread is a quotient, too.
        let wanted = expression.subject.unit().filter(|_| expression.fold != Fold::Spread);
        if test.unit != wanted {
            let accepted = |unit| {
                let own = UNITS.iter().filter(|(_, of, _)| *of == unit).map(|(name, ..)| *name);
                own.collect::<Vec<_>>().join(", ")
            };
            return Err(match wanted {
                Some(unit) => format!("the number needs a unit; accepted: {}", accepted(unit)),
                None => "the number has a unit, but the value has none".to_owned(),
            });
        }
        if matches!(expression.fold, Fold::Range | Fold::Only) {
            return Err(
                "range and only are for figures without a test; accepted: each, least, greatest".into()
            );
        }
        Ok(Statement { expression, test, text: words.join(" ") })
    }
}

impl Expression {
    /// Reads an expression without a test.
    ///
    /// # Errors
    /// What is wrong with it, and what is accepted.
    pub fn parse(text: &str) -> Result<Expression, String> {
        Expression::of(&text.split_whitespace().collect::<Vec<_>>())
    }

    fn of(words: &[&str]) -> Result<Expression, String> {
        let named = words.first().and_then(|word| FOLDS.iter().find(|(name, _)| name == word));
        let (fold, words) = named.map_or((Fold::Each, words), |(_, fold)| (*fold, &words[1..]));
        let (words, both) = split(words, "where").unwrap_or((words, &[]));
        Ok(Expression { fold, subject: Subject::of(words)?, both: Selection::of(both)? })
    }

    /// The conditions of all selections.
    pub fn conditions(&self) -> impl Iterator<Item = &Condition> {
        let selections = [Some(self.subject.selection()), self.subject.over(), Some(&self.both)];
        selections.into_iter().flatten().flat_map(|selection| &selection.0)
    }
}

impl Subject {
    fn of(words: &[&str]) -> Result<Subject, String> {
        let (head, selections) =
            split(words, "of").ok_or("`of` and a selection are missing: QUANTITY of COLUMN=VALUE")?;
        let select = Selection::of;
        let pair = |words: &[&str]| {
            let (of, over) = split(words, "over").ok_or("`over` and a second selection are missing")?;
            Ok::<_, String>((select(of)?, select(over)?))
        };
        let owned = |word: &&str| (*word).to_owned();
        match head {
            ["best", axis] => Ok(Subject::Best { axis: owned(axis), of: select(selections)? }),
            ["crossing", axis] => {
                let (of, over) = pair(selections)?;
                Ok(Subject::Crossing { axis: owned(axis), of, over })
            }
            ["steps", "along", axis] => {
                let (name, of) = split(selections, "of")
                    .ok_or("accepted: steps along AXIS of QUANTITY of COLUMN=VALUE")?;
                let [name] = name else { return Err(one_quantity(name)) };
                Ok(Subject::Steps { axis: owned(axis), name: owned(name), of: select(of)? })
            }
            ["correlation"] => {
                let shape = "accepted: correlation of QUANTITY with QUANTITY of COLUMN=VALUE";
                let (names, of) = split(selections, "of").ok_or(shape)?;
                let [x, "with", y] = names else { return Err(shape.to_owned()) };
                Ok(Subject::Correlation { names: [owned(x), owned(y)], of: select(of)? })
            }
            [name] => {
                let (of, over) = match split(selections, "over") {
                    Some((of, over)) => (select(of)?, Some(select(over)?)),
                    None => (select(selections)?, None),
                };
                Ok(Subject::Quantity { name: owned(name), of, over })
            }
            _ => Err(one_quantity(head)),
        }
    }

    /// The unit of the value; `None` of quotients and of quantities without one.
    pub fn unit(&self) -> Option<Unit> {
        match self {
            Subject::Quantity { name, over: None, .. } => unit(name),
            _ => None,
        }
    }

    /// The selections, without those of [`over`](Self::over).
    pub fn selection(&self) -> &Selection {
        match self {
            Subject::Quantity { of, .. }
            | Subject::Best { of, .. }
            | Subject::Crossing { of, .. }
            | Subject::Steps { of, .. }
            | Subject::Correlation { of, .. } => of,
        }
    }

    /// The second selection.
    pub fn over(&self) -> Option<&Selection> {
        match self {
            Subject::Quantity { over, .. } => over.as_ref(),
            Subject::Crossing { over, .. } => Some(over),
            _ => None,
        }
    }

    /// The quantities that it names.
    pub fn quantities(&self) -> Vec<&str> {
        match self {
            Subject::Quantity { name, .. } | Subject::Steps { name, .. } => vec![name],
            Subject::Correlation { names: [x, y], .. } => vec![x, y],
            Subject::Best { .. } | Subject::Crossing { .. } => vec!["time"],
        }
    }
}

/// The unit of a quantity, by its name.
fn unit(name: &str) -> Option<Unit> {
    match name {
        "time" | "fastest" | "with-transfer" => Some(Unit::Seconds),
        "rate" | "throughput_elem_s" => Some(Unit::ElementsPerSecond),
        "bandwidth" => Some(Unit::GigabytesPerSecond),
        "gflops" => Some(Unit::Gigaflops),
        name if name.ends_with("_gb_s") => Some(Unit::GigabytesPerSecond),
        name if name.ends_with("_s") => Some(Unit::Seconds),
        _ => None,
    }
}

fn one_quantity(words: &[&str]) -> String {
    format!("`{}` is no quantity; accepted: one word such as time, rate, bandwidth", words.join(" "))
}

/// The words before and after the first such word.
fn split<'w>(words: &'w [&'w str], word: &str) -> Option<(&'w [&'w str], &'w [&'w str])> {
    let at = words.iter().position(|found| *found == word)?;
    Some((&words[..at], &words[at + 1..]))
}

impl Selection {
    /// Reads conditions.
    ///
    /// # Errors
    /// A word that is no condition.
    pub fn parse(text: &str) -> Result<Selection, String> {
        Selection::of(&text.split_whitespace().collect::<Vec<_>>())
    }

    fn of(words: &[&str]) -> Result<Selection, String> {
        words.iter().map(|word| Condition::of(word)).collect::<Result<_, _>>().map(Selection)
    }
}

impl Condition {
    fn of(word: &str) -> Result<Condition, String> {
        let at = |operator: &str| word.find(operator).map(|at| (at, operator.len()));
        // Of two operators that begin at one place, the longer one is meant; it comes first.
        let found = SELECTING.iter().filter_map(|operator| Some((at(operator)?, *operator)));
        let ((at, length), operator) =
            found.min_by_key(|((at, length), _)| (*at, usize::MAX - length)).ok_or_else(|| {
                format!("`{word}` is no condition; accepted: COLUMN=VALUE, with !=, <, <=, > and >= besides")
            })?;
        let (column, value) = (&word[..at], &word[at + length..]);
        if column.is_empty() || value.is_empty() {
            return Err(format!("`{word}` lacks a column or a value; accepted: COLUMN=VALUE"));
        }
        let values: Vec<String> = value.split('|').map(str::to_owned).collect();
        if !operator.ends_with('=') || operator.len() == 2 && operator != "!=" {
            let wrong = values.iter().find(|value| number(value).is_none());
            if let Some(wrong) = wrong.or((values.len() > 1).then_some(&values[0])) {
                return Err(format!(
                    "`{word}` compares with `{wrong}`; accepted after {operator}: one number"
                ));
            }
        }
        Ok(Condition { column: column.to_owned(), operator, values })
    }

    /// Whether a cell meets the condition. What does not exist differs from every value.
    pub fn holds(&self, cell: Option<&str>) -> bool {
        let cell_number = cell.and_then(number);
        let is =
            |value: &String| cell == Some(value) || (cell_number.is_some() && number(value) == cell_number);
        let limit = || Some((cell_number?, number(&self.values[0])?));
        match self.operator {
            "=" => self.values.iter().any(is),
            "!=" => !self.values.iter().any(is),
            ">=" => limit().is_some_and(|(cell, least)| cell >= least),
            "<=" => limit().is_some_and(|(cell, most)| cell <= most),
            ">" => limit().is_some_and(|(cell, least)| cell > least),
            _ => limit().is_some_and(|(cell, most)| cell < most),
        }
    }
}

/// A number as conditions and tests write it: `16`, `0.5`, `2^20`, `1Mi`, `8B`, `30%`.
pub fn number(text: &str) -> Option<f64> {
    let power = || text.strip_prefix("2^")?.parse::<i32>().ok().map(|power| 2f64.powi(power));
    let percent = || text.strip_suffix('%')?.parse::<f64>().ok().map(|percent| percent / 100.0);
    let count = || parse_count(text).or_else(|_| parse_bytes(text)).ok().map(|count| count as f64);
    // `inf` and `nan` are words.
    let plain = || text.parse::<f64>().ok().filter(|_| text.ends_with(|last: char| last.is_ascii_digit()));
    plain().or_else(power).or_else(percent).or_else(count).filter(|number| number.is_finite())
}

impl Test {
    fn of(words: &[&str]) -> Result<Test, String> {
        let whole = |low, high| Test { low, high, negated: false, unit: None };
        if let [word] = words
            && let Some((_, [low, high])) = TRENDS.iter().find(|(name, _)| name == word)
        {
            return Ok(whole(*low, *high));
        }
        const NOTHING: (f64, bool) = (f64::NEG_INFINITY, true);
        const EVERYTHING: (f64, bool) = (f64::INFINITY, true);
        match words {
            ["in", range, unit @ ..] => {
                let ends = range.split_once("..").and_then(|(low, high)| Some((number(low)?, number(high)?)));
                let (low, high) = ends.filter(|(low, high)| low <= high).ok_or_else(|| {
                    format!("`{range}` is no range; accepted: in LOW..HIGH, such as in 2..4")
                })?;
                whole((low, true), (high, true)).in_unit(unit)
            }
            ["within", tolerance, "of", x, unit @ ..] => {
                let share = || tolerance.ends_with('%').then(|| number(tolerance)).flatten();
                let word = WORDS.iter().find(|(word, _)| word == tolerance).map(|(_, share)| *share);
                let share =
                    word.or_else(share).filter(|share| (0.0..1.0).contains(share)).ok_or_else(|| {
                        let words = WORDS.map(|(word, _)| word).join(", ");
                        format!("`{tolerance}` is no tolerance; accepted: a share such as 5%, {words}")
                    })?;
                let x = a_number(x)?;
                let (low, high) = (x * (1.0 - share), x * (1.0 + share));
                whole((low.min(high), true), (low.max(high), true)).in_unit(unit)
            }
            [comparison, x, unit @ ..] if COMPARISONS.contains(comparison) => {
                let x = a_number(x)?;
                let test = match *comparison {
                    "<" => whole(NOTHING, (x, false)),
                    "<=" => whole(NOTHING, (x, true)),
                    ">" => whole((x, false), EVERYTHING),
                    ">=" => whole((x, true), EVERYTHING),
                    "!=" => Test { negated: true, ..whole((x, true), (x, true)) },
                    _ => whole((x, true), (x, true)),
                };
                test.in_unit(unit)
            }
            _ => Err(format!(
                "`{}` is no test; accepted: = != < <= > >= X, in X..Y, within P of X",
                words.join(" ")
            )),
        }
    }

    /// The test with its numbers converted from a unit.
    fn in_unit(mut self, words: &[&str]) -> Result<Test, String> {
        let word = words.join(" ");
        if word.is_empty() {
            return Ok(self);
        }
        let (_, unit, scale) = UNITS.iter().find(|(name, ..)| *name == word).ok_or_else(|| {
            let units = UNITS.map(|(name, ..)| name).join(", ");
            format!("`{word}` is no unit; accepted: {units}")
        })?;
        self.unit = Some(*unit);
        self.low.0 *= scale;
        self.high.0 *= scale;
        Ok(self)
    }

    /// Whether a number passes.
    pub fn passes(&self, x: f64) -> bool {
        let above = if self.low.1 { x >= self.low.0 } else { x > self.low.0 };
        let below = if self.high.1 { x <= self.high.0 } else { x < self.high.0 };
        (above && below) != self.negated
    }

    /// Whether all numbers between two ends pass, or none does; `None` if some do.
    pub fn decides(&self, low: f64, high: f64) -> Option<bool> {
        let apart = |test: &Test| {
            let beyond = |x: f64, (end, closed): (f64, bool)| if closed { x > end } else { x >= end };
            beyond(low, test.high) || beyond(-high, (-test.low.0, test.low.1))
        };
        let plain = Test { negated: false, ..self.clone() };
        let inside = plain.passes(low) && plain.passes(high);
        match (inside, apart(&plain)) {
            (true, _) => Some(!self.negated),
            (_, true) => Some(self.negated),
            _ => None,
        }
    }
}

fn a_number(text: &str) -> Result<f64, String> {
    number(text).ok_or_else(|| format!("`{text}` is no number; accepted: 16, 0.5, 2^20, 1Mi, 30%"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_statement_is_a_fold_a_value_and_a_test() {
        let text = "greatest time of passes=1 over passes!=1 where backend=cuda in 2..4";
        let statement = Statement::parse(text).expect("it parses");
        assert_eq!(statement.expression.fold, Fold::Greatest);
        let Subject::Quantity { name, of, over: Some(over) } = statement.expression.subject else {
            panic!("a quotient")
        };
        assert_eq!((name.as_str(), of.0.len(), over.0.len()), ("time", 1, 1));
        assert_eq!(statement.expression.both.0.len(), 1);
        assert!(statement.test.passes(2.0) && statement.test.passes(4.0) && !statement.test.passes(4.01));
    }

    #[test]
    fn each_form_is_read() {
        for text in [
            "time of locations=random over locations=sequential > 1",
            "bandwidth of a=b >= 60 GB/s",
            "best passes of backend=cuda = 16",
            "crossing buckets of method=wms over method=bms where values=none in 4..64",
            "steps along stride of bandwidth of kernel=gather stride<=8 halves",
            "correlation of amg with stream of kind=GPU > 0.8",
            "gmean rate of by=delta-buckets over by=identity within 2% of 0.90",
            "spread bandwidth of tuples>=2^24 tuple=8B <= 1.1",
            "time of a=b in 0.785..0.795 ms",
            "time of columns=128 <= 16.7 ms",
            "transfer-share of backend=cuda in 10%..30%",
            "time of a=b within about of 12 ms",
        ] {
            Statement::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        }
    }

    #[test]
    fn a_mistake_names_what_is_accepted() {
        for (text, part) in [
            ("time of a=b", "no test"),
            ("time a=b > 1", "`of`"),
            ("time of a > 1", "`a` is no condition"),
            ("time of a=b > 1", "needs a unit; accepted: s, ms"),
            ("time of a=b over c=d > 1 ms", "the value has none"),
            ("time of a=b over c=d within quite of 2", "accepted: a share such as 5%, about"),
            ("time of a=b over c=d in 4..2", "no range"),
            ("time of a>=x over c=d > 1", "one number"),
            ("very long time of a=b over c=d > 1", "is no quantity"),
            ("best passes and more of a=b = 1", "is no quantity"),
            ("bandwidth of a=b > 5 parsecs", "`parsecs` is no unit"),
            ("crossing x of a=b = 1", "`over`"),
            ("range time of a=b over c=d > 1", "accepted: each"),
            ("time of =b over c=d > 1", "lacks a column"),
            ("", "no test"),
        ] {
            let error = Statement::parse(text).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn conditions_compare_words_and_numbers() {
        let holds = |condition: &str, cell: Option<&str>| Condition::of(condition).expect("it").holds(cell);
        assert!(holds("a=x|y", Some("y")) && !holds("a=x|y", Some("z")) && !holds("a=x", None));
        assert!(
            holds("a=1Mi", Some("1048576")) && holds("a=2^20", Some("1048576")) && holds("a=4B", Some("4"))
        );
        assert!(holds("a!=1", Some("2")) && holds("a!=1", None) && !holds("a!=1", Some("1")));
        assert!(holds("a>=8", Some("8")) && !holds("a>8", Some("8")) && holds("a<9", Some("8")));
        assert!(!holds("a>=8", Some("word")) && !holds("a<=8", None));
        assert!(holds("backend=peer:cub-sort", Some("peer:cub-sort")));
    }

    proptest! {
        #[test]
        fn an_interval_is_decided_as_its_numbers_are(
            low in -3.0..3.0f64, width in 0.0..3.0f64, at in 0.0..=1.0f64,
            test in prop::sample::select(vec!["> 1", ">= 1", "< 1", "<= 1", "= 1", "!= 1", "in 0..2", "within 10% of 1", "halves"])
        ) {
            let words: Vec<&str> = test.split(' ').collect();
            let test = Test::of(&words).expect("a test");
            let x = low + width * at;
            if let Some(decided) = test.decides(low, low + width) {
                prop_assert_eq!(decided, test.passes(x.clamp(low, low + width)));
            }
            prop_assert_eq!(test.decides(x, x), Some(test.passes(x)));
        }

        #[test]
        fn any_words_are_read_or_refused(text in "[a-z=<>!0-9. %]{0,60}") {
            let _ = Statement::parse(&text);
            let _ = Expression::parse(&text);
        }
    }
}
