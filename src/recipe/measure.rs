//! Step two, sampling: the keys of `measure:`.

use super::draft::only;
use super::error::{Mistake, Problem};
use super::node::{Content, Node};
use super::value;
use crate::plan::{Cache, Measure, Order, Value};
use crate::primitives::schema::Kind;
use crate::units::{self, UnitError};

/// The keys of `measure:`.
pub(crate) const KEYS: [&str; 7] = ["rounds", "max-rounds", "samples", "ci", "budget", "order", "cache"];

/// Most rounds, and most samples in one.
const MOST: u64 = 1000;
/// The narrowest and the widest interval to ask for.
const CI: [f64; 2] = [0.0001, 1.0];
/// The longest budget, seconds: a day.
const LONGEST: f64 = 86_400.0;
/// What switches the rule off.
const NONE: &str = "none";

pub(crate) fn read(node: &Node) -> Result<Measure, Mistake> {
    let entries = node.map("measure", "a map of rounds, samples, ci, budget, order, cache")?;
    only(entries, "measure", &KEYS)?;
    let mut measure = Measure::default();
    for (key, node) in entries {
        set(&mut measure, &key.text, node)?;
    }
    Ok(measure)
}

/// Sets one of [`KEYS`].
pub(crate) fn set(measure: &mut Measure, key: &str, node: &Node) -> Result<(), Mistake> {
    let at = format!("measure.{key}");
    match key {
        "rounds" => measure.rounds = count(node, &at)?,
        "max-rounds" => measure.max_rounds = count(node, &at)?,
        "samples" => measure.samples = count(node, &at)?,
        "ci" => measure.ci = width(node, &at)?,
        "budget" => measure.budget = seconds(node, &at)?,
        "order" => measure.order = named(&Order::NAMES, node, &at)?,
        "cache" => measure.cache = named(&Cache::NAMES, node, &at)?,
        _ => return Err(Mistake::unknown_key(node.place, "measure", key, &KEYS)),
    }
    Ok(())
}

fn count(node: &Node, at: &str) -> Result<u32, Mistake> {
    let kind = Kind::Count { min: 1, max: MOST };
    match value::scalar(&kind, node, at)? {
        // The limits above fit.
        Value::Int(number) => Ok(u32::try_from(number).unwrap_or(u32::MAX)),
        _ => Err(Mistake::wrong_type(node.place, at, "a count", node.describe())),
    }
}

/// `3%`, or `none`.
fn width(node: &Node, at: &str) -> Result<Option<f64>, Mistake> {
    let Content::Text(text) = &node.content else {
        return Err(Mistake::wrong_type(node.place, at, "a share such as `3%`, or `none`", node.describe()));
    };
    if text == NONE {
        return Ok(None);
    }
    let share = units::parse_percent(text).map_err(|reason| quantity(node, at, reason))?;
    within(share, CI, node, at, "0.01% to 100%, or none").map(Some)
}

fn seconds(node: &Node, at: &str) -> Result<f64, Mistake> {
    let text = match &node.content {
        Content::Text(text) => text.clone(),
        Content::Int(number) => number.to_string(),
        Content::Float(number) => number.to_string(),
        _ => {
            return Err(Mistake::wrong_type(node.place, at, "a time such as `10s`", node.describe()));
        }
    };
    let seconds = units::parse_seconds(&text).map_err(|reason| quantity(node, at, reason))?;
    within(seconds, [0.0, LONGEST], node, at, "0s to 86400s")
}

fn within(number: f64, [low, high]: [f64; 2], node: &Node, at: &str, accepted: &str) -> Result<f64, Mistake> {
    if (low..=high).contains(&number) {
        return Ok(number);
    }
    let (at, value, accepted) = (at.to_owned(), node.describe(), accepted.to_owned());
    Err(Mistake::new(node.place, Problem::OutOfRange { at, value, accepted }))
}

fn named<T: Copy>(names: &[(&'static str, T)], node: &Node, at: &str) -> Result<T, Mistake> {
    let words: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
    let Content::Text(text) = &node.content else {
        let expected = format!("one of {}", words.join(", "));
        return Err(Mistake::wrong_type(node.place, at, &expected, node.describe()));
    };
    let found = names.iter().find(|(name, _)| name == text).map(|(_, value)| *value);
    found.ok_or_else(|| Mistake::unknown_word(node.place, at, text, &words))
}

fn quantity(node: &Node, at: &str, reason: UnitError) -> Mistake {
    Mistake::new(node.place, Problem::Quantity { at: at.to_owned(), reason })
}
