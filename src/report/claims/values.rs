//! The values that an expression has on some rows, each with the interval in which it lies.

use super::rows::{Missing, Row, Series};
use crate::recipe::paper::{Expression, Fold, Selection, Subject, Test, number};
use crate::stats::interval::interval;
use crate::stats::pearson;
use crate::stats::ratio::ratio;

/// A value: of a case, a pair, a group of cases, or what a fold makes of several.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// The cases behind it.
    pub name: String,
    /// At the medians; `None` if there is no result.
    pub typical: Option<f64>,
    /// What holds with the confidence of the intervals; without a result, all numbers.
    pub low: f64,
    pub high: f64,
    /// Why the interval is wider than that of the rounds.
    pub why: Option<String>,
}

/// All values of an expression.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values {
    pub all: Vec<Value>,
    /// Why this machine has no value of some cases.
    pub not_applicable: Option<String>,
    /// The selected cases that are no value's.
    pub alone: Vec<String>,
    /// How many intervals were compared with something.
    pub comparisons: usize,
    /// The devices behind the values.
    pub devices: Vec<String>,
}

impl Value {
    fn exact(name: String, x: f64) -> Value {
        Value { name, typical: Some(x), low: x, high: x, why: None }
    }

    fn unknown(name: String, typical: Option<f64>, why: impl Into<String>) -> Value {
        Value { name, typical, low: f64::NEG_INFINITY, high: f64::INFINITY, why: Some(why.into()) }
    }

    /// Whether the value passes; `None` if its interval has numbers of both kinds, or the typical value is not of the
    /// interval's kind.
    pub fn passes(&self, test: &Test) -> Option<bool> {
        test.decides(self.low, self.high)
            .filter(|decided| self.typical.is_none_or(|x| test.passes(x) == *decided))
    }
}

/// The values of an expression's subject. With `test`, groups whose best case is sought are decided by it.
///
/// # Errors
/// An ambiguous column, or a quantity that no row has.
pub fn values(
    expression: &Expression,
    test: Option<&Test>,
    rows: &[Row],
    confidence: f64,
) -> Result<Values, String> {
    let own = selected(rows, &[expression.subject.selection(), &expression.both])?;
    let others = match expression.subject.over() {
        Some(over) => selected(rows, &[over, &expression.both])?,
        None => Vec::new(),
    };
    let mut found = Finder { confidence, test, values: Values::default() };
    match &expression.subject {
        Subject::Quantity { name, over: None, .. } => {
            own.iter().try_for_each(|row| found.single(row, name))?;
        }
        Subject::Quantity { name, of, over: Some(over) } => {
            let free = columns(&[of, over]);
            let mut used = vec![false; others.len()];
            for row in &own {
                let pairs = others.iter().enumerate().filter(|(_, other)| row.agrees(other, &free));
                let mut pairs: Vec<_> = pairs.collect();
                // A case of the same experiment of the same run is the better partner.
                if pairs.iter().any(|(_, other)| other.place == row.place) {
                    pairs.retain(|(_, other)| other.place == row.place);
                }
                let mut alone = true;
                for (at, other) in pairs {
                    (used[at], alone) = (true, false);
                    found.quotient(row, other, name)?;
                }
                found.values.alone.extend(alone.then(|| row.name.clone()));
            }
            let unused = others.iter().zip(used).filter(|(_, used)| !used);
            found.values.alone.extend(unused.map(|(other, _)| other.name.clone()));
        }
        Subject::Best { axis, .. } => {
            for group in groups(&own, axis)? {
                found.best(&group)?;
            }
        }
        Subject::Crossing { axis, of, over } => {
            let mut free = columns(&[of, over]);
            free.retain(|column| column != axis);
            for group in groups(&own, axis)? {
                found.crossing(&group, &others, &free)?;
            }
        }
        Subject::Steps { axis, name, .. } => {
            for group in groups(&own, axis)? {
                for pair in group.windows(2) {
                    found.quotient(pair[1].1, pair[0].1, name)?;
                }
            }
        }
        Subject::Correlation { names, .. } => found.correlation(&own, names)?,
    }
    Ok(found.values)
}

fn selected<'r, 'a>(rows: &'r [Row<'a>], selections: &[&Selection]) -> Result<Vec<&'r Row<'a>>, String> {
    let mut found = Vec::new();
    for row in rows {
        let mut meets = true;
        for selection in selections {
            meets = meets && row.is_selected(selection)?;
        }
        found.extend(meets.then_some(row));
    }
    Ok(found)
}

fn columns<'s>(selections: &[&'s Selection]) -> Vec<&'s str> {
    selections.iter().flat_map(|selection| &selection.0).map(|condition| condition.column.as_str()).collect()
}

/// Rows that agree in all but an axis, ordered by it. Rows without the axis belong to no group.
fn groups<'r, 'a>(rows: &[&'r Row<'a>], axis: &str) -> Result<Vec<Vec<(f64, &'r Row<'a>)>>, String> {
    let mut groups: Vec<Vec<(f64, &Row)>> = Vec::new();
    for row in rows {
        let Some(at) = row.cell(axis)?.and_then(number) else { continue };
        match groups.iter_mut().find(|group| group[0].1.agrees(row, &[axis])) {
            Some(group) => group.push((at, row)),
            None => groups.push(vec![(at, row)]),
        }
    }
    groups.iter_mut().for_each(|group| group.sort_by(|a, b| a.0.total_cmp(&b.0)));
    Ok(groups)
}

struct Finder<'t> {
    confidence: f64,
    test: Option<&'t Test>,
    values: Values,
}

impl Finder<'_> {
    /// A row's values; `None` if its case cannot run here. What is undecided is the error of the inner result.
    fn series(&mut self, row: &Row, name: &str) -> Result<Option<Result<Series, String>>, String> {
        let series = row.series(name);
        let runs = !matches!(series, Err(Missing::NotApplicable(_)));
        if runs && !self.values.devices.contains(&row.device) {
            self.values.devices.push(row.device.clone());
        }
        match series {
            Ok(series) => Ok(Some(Ok(series))),
            Err(Missing::Undecided(why)) => Ok(Some(Err(why))),
            Err(Missing::NotApplicable(why)) => {
                self.values.not_applicable.get_or_insert(why);
                Ok(None)
            }
            Err(Missing::Unknown(name)) => Err(format!("no row has a quantity or column `{name}`")),
        }
    }

    fn single(&mut self, row: &Row, name: &str) -> Result<(), String> {
        let value = match self.series(row, name)? {
            None => return Ok(()),
            Some(Err(why)) => Value::unknown(row.name.clone(), None, why),
            Some(Ok(series)) if series.rounds.is_empty() => Value::exact(row.name.clone(), series.typical),
            Some(Ok(Series { few: Some(why), typical, .. })) => {
                Value::unknown(row.name.clone(), Some(typical), why)
            }
            Some(Ok(series)) if series.doubtful => {
                Value::unknown(row.name.clone(), Some(series.typical), "every round is in doubt")
            }
            Some(Ok(series)) => {
                let ends =
                    interval(&series.rounds, self.confidence).unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
                let [low, high] = ends;
                Value { name: row.name.clone(), typical: Some(series.typical), low, high, why: None }
            }
        };
        self.values.comparisons += 1;
        self.values.all.push(value);
        Ok(())
    }

    fn quotient(&mut self, above: &Row, below: &Row, name: &str) -> Result<(), String> {
        let value = self.ratio(above, below, name)?;
        self.values.all.extend(value);
        Ok(())
    }

    /// The quotient of a quantity of two rows, by Welch's interval on logarithms; `None` if a case cannot run here.
    fn ratio(&mut self, above: &Row, below: &Row, name: &str) -> Result<Option<Value>, String> {
        let called = format!("{} / {}", above.name, below.name);
        self.values.comparisons += 1;
        let (Some(a), Some(b)) = (self.series(above, name)?, self.series(below, name)?) else {
            return Ok(None);
        };
        let (a, b) = match (a, b) {
            (Ok(a), Ok(b)) => (a, b),
            (Err(why), _) | (_, Err(why)) => return Ok(Some(Value::unknown(called, None, why))),
        };
        let typical = a.typical / b.typical;
        if !typical.is_finite() {
            return Ok(Some(Value::unknown(called, None, "the quotient is not a number")));
        }
        if let Some(why) = a.few.as_ref().or(b.few.as_ref()) {
            return Ok(Some(Value::unknown(called, Some(typical), why.as_str())));
        }
        // An exact value has no spread.
        let rounds = |series: &Series| {
            if series.rounds.is_empty() { vec![series.typical; 2] } else { series.rounds.clone() }
        };
        if a.rounds.is_empty() && b.rounds.is_empty() {
            return Ok(Some(Value::exact(called, typical)));
        }
        Ok(Some(match ratio(&rounds(&b), &rounds(&a), self.confidence) {
            None => Value::unknown(called, Some(typical), "the quotient has no interval"),
            Some(_) if a.doubtful && b.doubtful => {
                Value::unknown(called, Some(typical), "every round of both cases is in doubt")
            }
            Some(ratio) => {
                Value { name: called, typical: Some(typical), low: ratio.low, high: ratio.high, why: None }
            }
        }))
    }

    /// The fastest case of a group: decided if it is faster than all cases of the other kind, that pass the test where it
    /// does not, or the other way round.
    fn best(&mut self, group: &[(f64, &Row)]) -> Result<(), String> {
        let mut timed = Vec::new();
        for (at, row) in group {
            match self.series(row, "time")? {
                None => {}
                Some(Ok(series)) => timed.push((*at, *row, series.typical)),
                Some(Err(why)) => {
                    self.values.all.push(Value::unknown(row.name.clone(), None, why));
                    return Ok(());
                }
            }
        }
        // Alone, a case is faster than none.
        if timed.len() < 2 {
            return Ok(());
        }
        let Some(&(at, fastest, _)) = timed.iter().min_by(|a, b| a.2.total_cmp(&b.2)) else { return Ok(()) };
        let kind = |x: f64| self.test.map_or(x == at, |test| test.passes(x));
        let rivals: Vec<_> =
            timed.iter().filter(|(x, ..)| kind(*x) != kind(at)).map(|(x, row, _)| (*x, *row)).collect();
        let mut value = Value::exact(fastest.name.clone(), at);
        for (x, rival) in rivals {
            let Some(ratio) = self.ratio(fastest, rival, "time")? else { continue };
            if ratio.high >= 1.0 {
                let why =
                    ratio.why.unwrap_or_else(|| format!("the best, {at}, is not clearly faster than {x}"));
                value = Value::unknown(fastest.name.clone(), Some(at), why);
                break;
            }
        }
        self.values.all.push(value);
        Ok(())
    }

    /// The first value of the axis from which on the first selection's cases are slower. Beyond the data it is unknown.
    fn crossing(&mut self, group: &[(f64, &Row)], others: &[&Row], free: &[&str]) -> Result<(), String> {
        let mut ratios = Vec::new();
        for (at, row) in group {
            let Some(other) = others.iter().find(|other| row.agrees(other, free)) else { continue };
            if let Some(ratio) = self.ratio(row, other, "time")? {
                ratios.push((*at, ratio));
            }
        }
        let (Some((first, ratio)), Some((last, _))) = (ratios.first(), ratios.last()) else { return Ok(()) };
        let name = format!("from {}", ratio.name);
        // From where on no case is certainly faster, and from where on all are certainly slower.
        let since = |slower: &dyn Fn(&Value) -> bool| {
            let kept = ratios.iter().rev().take_while(|(_, ratio)| slower(ratio));
            kept.last().map(|(at, _)| *at)
        };
        let typical = since(&|ratio| ratio.typical.is_some_and(|x| x > 1.0));
        let low = since(&|ratio| ratio.high > 1.0 || ratio.why.is_some());
        let high = since(&|ratio| ratio.low > 1.0);
        let value = match (low, high) {
            (None, _) => Value::unknown(name, None, format!("it lies beyond {last}, the last value")),
            (Some(low), high) => {
                // What begins with the first value may begin before it.
                let low = if low == *first { f64::NEG_INFINITY } else { low };
                let why = high.is_none().then(|| "the last case is not clearly slower".to_owned());
                Value { name, typical, low, high: high.unwrap_or(f64::INFINITY), why }
            }
        };
        self.values.all.push(value);
        Ok(())
    }

    fn correlation(&mut self, rows: &[&Row], names: &[String; 2]) -> Result<(), String> {
        const FEWEST: usize = 3;
        let mut pairs = Vec::new();
        for row in rows {
            let values = [self.series(row, &names[0])?, self.series(row, &names[1])?];
            if let [Some(Ok(x)), Some(Ok(y))] = values {
                pairs.push((x.typical, y.typical));
            }
        }
        let name = format!("{} platforms", pairs.len());
        let value = match pearson(&pairs).filter(|_| pairs.len() >= FEWEST) {
            Some(r) => Value::exact(name, r),
            None if pairs.is_empty() => return Ok(()),
            None => Value::unknown(name, None, format!("it takes at least {FEWEST} platforms")),
        };
        self.values.all.push(value);
        Ok(())
    }
}

/// One value of several. Its interval holds what the fold makes of any numbers within theirs.
pub fn folded(fold: Fold, values: &[Value]) -> Value {
    let ends = |of: fn(&Value) -> f64| values.iter().map(of).collect::<Vec<f64>>();
    let (lows, highs) = (ends(|value| value.low), ends(|value| value.high));
    let typical: Vec<f64> = values.iter().filter_map(|value| value.typical).collect();
    let whole = typical.len() == values.len();
    let least = |of: &[f64]| of.iter().copied().fold(f64::INFINITY, f64::min);
    let greatest = |of: &[f64]| of.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
    // Means of logarithms and of inverses are those of positive numbers; an unknown interval begins below 0.
    let positive = |of: &[f64]| -> Vec<f64> { of.iter().map(|x| x.max(0.0)).collect() };
    let geometric = |of: &[f64]| mean(&positive(of).iter().map(|x| x.ln()).collect::<Vec<_>>()).exp();
    let harmonic = |of: &[f64]| 1.0 / mean(&positive(of).iter().map(|x| 1.0 / x).collect::<Vec<_>>());
    let all = |fold: &dyn Fn(&[f64]) -> f64| (whole.then(|| fold(&typical)), fold(&lows), fold(&highs));
    let (typical, low, high) = match fold {
        Fold::Least => all(&least),
        Fold::Greatest => all(&greatest),
        Fold::GeometricMean => all(&geometric),
        Fold::HarmonicMean => all(&harmonic),
        Fold::Spread => {
            let low = (greatest(&lows) / least(&highs)).max(1.0);
            let high = greatest(&highs) / least(&positive(&lows));
            (whole.then(|| greatest(&typical) / least(&typical)), low, high)
        }
        _ => all(&mean),
    };
    let unknown = |x: f64, other: f64| if x.is_nan() { other } else { x };
    let name = match values {
        [one] => one.name.clone(),
        several => format!("{} values", several.len()),
    };
    Value {
        name,
        typical,
        low: unknown(low, f64::NEG_INFINITY),
        high: unknown(high, f64::INFINITY),
        why: values.iter().find_map(|value| value.why.clone()),
    }
}
