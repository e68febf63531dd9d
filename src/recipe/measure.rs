//! Step two, sampling: the keys of `measure:`.

use std::borrow::Cow;

use super::error::{ErrorKind, Mistake};
use super::node::{Content, Node, only};
use super::value;
use crate::case::measure::Order;
use crate::case::schema::Kind;
use crate::case::units::{self, UnitError};
use crate::case::{Cache, HostMemory, Measure, Value};

/// A key of `measure:`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MeasureKey {
    pub name: &'static str,
    pub form: Form,
    /// The default, as a recipe would write it.
    pub default: &'static str,
    /// One line for help texts and documentation.
    pub doc: &'static str,
}

/// The values that a key accepts.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form {
    Count(Kind),
    /// A share such as `3%`, or [`NONE`].
    Width,
    /// A time such as `10s`.
    Time,
    /// A time, or [`AUTO`].
    TimeOrAuto,
    /// A time, or [`NONE`].
    TimeOrNone,
    /// One of [`Order::NAMES`].
    Order,
    /// One of [`Cache::NAMES`].
    Cache,
    /// One of [`HostMemory::NAMES`].
    Transfer,
    /// One of two words; `true` comes first.
    Either([(&'static str, bool); 2]),
}

/// The keys of `measure:`.
pub(crate) const KEYS: [MeasureKey; 14] = [
    MeasureKey {
        name: "rounds",
        form: COUNT,
        default: "5",
        doc: "minimum number of rounds of a case, each with fresh allocations; with 1 or 2, no further rounds follow",
    },
    MeasureKey {
        name: "max-rounds",
        form: COUNT,
        default: "30",
        doc: "maximum number of rounds of a case; effective only if it exceeds rounds",
    },
    MeasureKey {
        name: "samples",
        form: SAMPLES,
        default: "5",
        doc: "timed samples in a round, after an untimed warm-up",
    },
    MeasureKey {
        name: "warm-up",
        form: WARM_UP,
        default: "auto",
        doc: "minimum number of untimed executions before the samples of a round; auto: one, and for executions below \
              50 ms a second warm-up as long as a sample",
    },
    MeasureKey {
        name: "ci",
        form: Form::Width,
        default: "3%",
        doc: "relative half-width of the 95% interval of the rounds' medians at which a case needs no further rounds; \
              none: exactly `rounds` rounds",
    },
    MeasureKey {
        name: "budget",
        form: Form::Time,
        default: "10s",
        doc: "time of a case over all its rounds, including preparation; further rounds and second looks must not \
              exceed it",
    },
    MeasureKey {
        name: "limit",
        form: Form::TimeOrAuto,
        default: "auto",
        doc: "time of a case over all its rounds, including preparation, at which it fails, even in the middle of a \
              round; the run then goes on with the other cases. auto: an hour, or ten times the budget if that is \
              longer",
    },
    MeasureKey {
        name: "max-time",
        form: Form::TimeOrNone,
        default: "none",
        doc: "time of the whole run after which no round begins; once every case has its `rounds`, further rounds go \
              first to the cases with the widest intervals",
    },
    MeasureKey {
        name: "order",
        form: Form::Order,
        default: "interleaved",
        doc: "interleaved: a round of every case, then the next round; sequential: all rounds of a case, then the next \
              case; random: interleaved, with the cases of each round in an order drawn from the seed",
    },
    MeasureKey {
        name: "cache",
        form: Form::Cache,
        default: "hot",
        doc: "what the caches hold when a sample starts. hot: what the previous execution left; cold: none of the \
              case's data; a cold sample is one execution",
    },
    MeasureKey {
        name: "transfer",
        form: Form::Transfer,
        default: "none",
        doc: "on a GPU: whether each round also times, outside the samples, copies of the case's inputs to the device \
              and of its results back. pinned: from and to page-locked host memory; pageable: ordinary host memory",
    },
    MeasureKey {
        name: "second-look",
        form: Form::Either(SECOND_LOOK),
        default: "flagged",
        doc: "which rounds are measured again at the end of a pass: flagged ones, or never any",
    },
    MeasureKey {
        name: "certify",
        form: Form::Either(CERTIFY),
        default: "once",
        doc: "whether each engine that times a case certifies its result; never: the case is shown as not certified",
    },
    MeasureKey {
        name: "snapshots",
        form: SNAPSHOTS,
        default: "1",
        doc: "number of pictures that a run keeps of what each case computes, for primitives that have pictures. They \
              show the first round: one after its last sample, the others before samples, evenly spread",
    },
];

const SECOND_LOOK: [(&str, bool); 2] = [("flagged", true), ("never", false)];
const CERTIFY: [(&str, bool); 2] = [("once", true), ("never", false)];

/// Maximal number of rounds.
pub(crate) const MOST_ROUNDS: u64 = 1000;
/// Maximal number of samples in a round: their times are sent in one message.
pub(crate) const MOST_SAMPLES: u64 = 10_000;
const COUNT: Form = Form::Count(Kind::Count { min: 1, max: MOST_ROUNDS });
/// Maximal number of pictures that a run keeps of a case.
const MOST_SNAPSHOTS: u64 = 32;
const SNAPSHOTS: Form = Form::Count(Kind::Count { min: 0, max: MOST_SNAPSHOTS });
const SAMPLES: Form = Form::Count(Kind::Count { min: 1, max: MOST_SAMPLES });
const COUNT_OR_AUTO: Kind = Kind::CountOr { min: 1, max: MOST_ROUNDS, words: &[AUTO], list: 0 };
const WARM_UP: Form = Form::Count(COUNT_OR_AUTO);
/// The word that leaves a value to the program.
pub(crate) const AUTO: &str = "auto";
/// The narrowest and the widest confidence interval that may be requested.
const CI: [f64; 2] = [0.0001, 1.0];
/// The longest budget and the longest limit: one day, in seconds.
const LONGEST: f64 = 86_400.0;
/// The word that disables a rule.
pub(crate) const NONE: &str = "none";

/// The names of [`KEYS`].
pub(crate) fn names() -> [&'static str; KEYS.len()] {
    KEYS.map(|key| key.name)
}

pub(crate) fn read(node: &Node) -> Result<Measure, Mistake> {
    let entries = node.map("measure", &format!("a map of {}", names().join(", ")))?;
    only(entries, "measure", &names())?;
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
        "rounds" => measure.rounds = count(node, &at, MOST_ROUNDS)?,
        "max-rounds" => measure.max_rounds = count(node, &at, MOST_ROUNDS)?,
        "samples" => measure.samples = count(node, &at, MOST_SAMPLES)?,
        "warm-up" => measure.warm_up = warm_up(node, &at)?,
        "ci" => measure.ci = width(node, &at)?,
        "budget" => measure.budget = seconds(node, &at)?,
        "limit" => measure.limit = bound(node, &at, AUTO)?,
        "max-time" => measure.max_time = bound(node, &at, NONE)?,
        "order" => measure.order = named(&Order::NAMES, node, &at)?,
        "cache" => measure.cache = named(&Cache::NAMES, node, &at)?,
        "transfer" => measure.transfer = named(&HostMemory::NAMES, node, &at)?,
        "second-look" => measure.second_look = named(&SECOND_LOOK, node, &at)?,
        "certify" => measure.certify = named(&CERTIFY, node, &at)?,
        "snapshots" => measure.snapshots = snapshots(node, &at)?,
        _ => return Err(Mistake::unknown_key(node.place, "measure", key, &names())),
    }
    Ok(())
}

/// A count, or `auto`.
fn warm_up(node: &Node, at: &str) -> Result<Option<u32>, Mistake> {
    match value::scalar(&COUNT_OR_AUTO, node, at)? {
        Value::Int(number) => Ok(Some(u32::try_from(number).unwrap_or(u32::MAX))),
        _ => Ok(None),
    }
}

fn snapshots(node: &Node, at: &str) -> Result<u32, Mistake> {
    counted(node, at, [0, MOST_SNAPSHOTS])
}

fn count(node: &Node, at: &str, most: u64) -> Result<u32, Mistake> {
    counted(node, at, [1, most])
}

fn counted(node: &Node, at: &str, [min, max]: [u64; 2]) -> Result<u32, Mistake> {
    match value::scalar(&Kind::Count { min, max }, node, at)? {
        // The limits above fit into a `u32`.
        Value::Int(number) => Ok(u32::try_from(number).unwrap_or(u32::MAX)),
        _ => Err(Mistake::wrong_type(node.place, at, "a count", node.describe())),
    }
}

/// `3%`, or `none`.
fn width(node: &Node, at: &str) -> Result<Option<f64>, Mistake> {
    let share = unless(node, at, ["a share such as `3%`", NONE], units::parse_percent)?;
    share.map(|share| within(share, CI, node, at, "0.01% to 100%, or none")).transpose()
}

/// A number with its unit; `None` for the word.
fn unless(
    node: &Node,
    at: &str,
    [number, word]: [&str; 2],
    parse: fn(&str) -> Result<f64, units::UnitError>,
) -> Result<Option<f64>, Mistake> {
    let text = number_or_text(node).ok_or_else(|| {
        Mistake::wrong_type(node.place, at, &format!("{number}, or `{word}`"), node.describe())
    })?;
    if text == word {
        return Ok(None);
    }
    if !text.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return Err(Mistake::unknown_word(node.place, at, &text, &[number, word]));
    }
    parse(&text).map(Some).map_err(|reason| quantity(node, at, reason))
}

fn seconds(node: &Node, at: &str) -> Result<f64, Mistake> {
    let text = number_or_text(node)
        .ok_or_else(|| Mistake::wrong_type(node.place, at, "a time such as `10s`", node.describe()))?;
    let seconds = units::parse_seconds(&text).map_err(|reason| quantity(node, at, reason))?;
    within(seconds, [0.0, LONGEST], node, at, "0s to 86400s")
}

/// `600s`, or the word.
fn bound(node: &Node, at: &str, word: &'static str) -> Result<Option<f64>, Mistake> {
    let seconds = unless(node, at, ["a time such as `600s`", word], units::parse_seconds)?;
    let accepted = format!("1ms to 86400s, or {word}");
    seconds.map(|seconds| within(seconds, [1e-3, LONGEST], node, at, &accepted)).transpose()
}

/// A number is returned as it is written, so that the error message asks for the unit.
fn number_or_text(node: &Node) -> Option<String> {
    node.written().map(Cow::into_owned)
}

fn within(number: f64, [low, high]: [f64; 2], node: &Node, at: &str, accepted: &str) -> Result<f64, Mistake> {
    if (low..=high).contains(&number) {
        return Ok(number);
    }
    let value = number_or_text(node).map_or_else(|| node.describe(), |text| units::shown(&text));
    let (at, accepted) = (at.to_owned(), accepted.to_owned());
    Err(Mistake::new(node.place, ErrorKind::OutOfRange { at, value, accepted }))
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
    Mistake::new(node.place, ErrorKind::Quantity { at: at.to_owned(), reason })
}

#[cfg(test)]
mod tests {
    use super::super::node;
    use super::*;

    #[test]
    fn the_defaults_that_the_keys_tell_are_the_defaults() {
        let mut measure = Measure::fixed(1, 1);
        for key in KEYS {
            let node = node::read("default", key.default).unwrap_or_else(|e| panic!("{e}"));
            set(&mut measure, key.name, &node).unwrap_or_else(|e| panic!("{}: {:?}", key.name, e.problem));
        }
        assert_eq!(measure, Measure::default());
    }
}
