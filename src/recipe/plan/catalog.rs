//! Parameters of an experiment, looked up by their common names, with their values over all cases.

use std::collections::{HashMap, HashSet};

use super::maps::Choices;
use super::value_text;
use super::{Axis, Scale};
use crate::case::Value;
use crate::case::schema::Kind;
use crate::case::units::{label_bytes, label_count};
use crate::recipe::{ErrorKind, Mistake, Nearest, ParamSlot, Place, Setting, listed};

/// A parameter and all its values.
pub(super) struct Entry {
    pub slot: ParamSlot,
    /// Place where the recipe first sets the parameter.
    pub place: Place,
    /// Distinct values in the recipe's order.
    pub values: Vec<Value>,
    /// Whether the parameter is set in `cases`.
    pub zipped: bool,
    seen: HashSet<String>,
    range: Option<Scale>,
    settings: usize,
}

impl Entry {
    /// Whether the parameter takes several values.
    pub fn varies(&self) -> bool {
        self.values.len() > 1
    }

    /// A value as the recipe would write it.
    pub fn label(&self, value: &Value) -> String {
        match (value, self.slot.param.kind) {
            (Value::Int(v), Kind::Bytes { .. }) => label_bytes(*v),
            (Value::Int(v), _) => label_count(*v),
            _ => value.to_string(),
        }
    }

    /// The scale of the axis: that of its range, else inferred from the values.
    pub fn scale(&self) -> Scale {
        self.range.filter(|_| self.settings == 1).unwrap_or_else(|| scale_of(&self.values))
    }
}

/// Every parameter that at least one case has, in the recipe's order.
pub(super) struct Catalog {
    pub entries: Vec<Entry>,
    index: HashMap<String, usize>,
    primitive: &'static str,
}

impl Catalog {
    /// The catalog of an experiment's settings.
    pub fn of(settings: &[Setting], primitive: &'static str) -> Catalog {
        let mut catalog = Catalog { entries: Vec::new(), index: HashMap::new(), primitive };
        catalog.add_all(settings, false);
        catalog
    }

    fn add_all(&mut self, settings: &[Setting], zipped: bool) {
        for setting in settings {
            for alternative in &setting.alternatives {
                if let Some(value) = &alternative.value {
                    self.add_value(setting, value, zipped);
                }
                self.add_all(&alternative.inner, zipped || setting.group);
            }
            if let Some(at) = self.index.get(&setting.slot.key) {
                self.entries[*at].settings += 1;
            }
        }
    }

    fn add_value(&mut self, setting: &Setting, value: &Value, zipped: bool) {
        let next = self.entries.len();
        let at = *self.index.entry(setting.slot.key.clone()).or_insert(next);
        if at == next {
            let (slot, place) = (setting.slot.clone(), setting.place);
            let (values, seen, range) = (Vec::new(), HashSet::new(), setting.scale);
            self.entries.push(Entry { slot, place, values, zipped, seen, range, settings: 0 });
        }
        let entry = &mut self.entries[at];
        if entry.seen.insert(value_text(value)) {
            entry.values.push(value.clone());
        }
    }

    /// The parameter with this full key.
    pub fn by_key(&self, key: &str) -> Option<&Entry> {
        self.index.get(key).map(|at| &self.entries[*at])
    }

    /// The parameters that `name` may refer to.
    pub fn candidates(&self, name: &str) -> Vec<&Entry> {
        let found = self.named(name);
        match name.strip_prefix(self.primitive).and_then(|rest| rest.strip_prefix('.')) {
            Some(rest) if found.is_empty() => self.named(rest),
            _ => found,
        }
    }

    fn named(&self, name: &str) -> Vec<&Entry> {
        let rank = |e: &Entry| e.slot.answers_to(name);
        let best = self.entries.iter().filter_map(rank).min();
        self.entries.iter().filter(|e| best.is_some() && rank(e) == best).collect()
    }

    /// The parameter that the chart calls `name`; among several, the only one that varies.
    pub fn find(&self, name: &str, place: Place, at: &str) -> Result<&Entry, Mistake> {
        let found = self.candidates(name);
        let varying: Vec<&Entry> = found.iter().copied().filter(|e| e.varies()).collect();
        match (found.as_slice(), varying.as_slice()) {
            ([one], _) | (_, [one]) => Ok(one),
            ([], _) => Err(Mistake::new(place, self.unknown(name, at, &[]))),
            (many, _) => Err(ambiguous(name, place, at, many)),
        }
    }

    /// A [`ErrorKind::UnknownName`] that also lists the names `also`.
    pub fn unknown(&self, name: &str, at: &str, also: &[&str]) -> ErrorKind {
        let mut names: Vec<&str> = self.entries.iter().map(|e| last_word(&e.slot.name)).collect();
        names.extend(also);
        let mut seen = HashSet::new();
        names.retain(|name| seen.insert(*name));
        let nearest = Nearest::among(name, names.iter().copied());
        ErrorKind::UnknownName { at: at.to_owned(), name: name.to_owned(), accepted: listed(&names), nearest }
    }

    /// The swept parameters; zipped ones only if `charted` holds for their key, and none for which one of the `choices` stands.
    pub fn axes(&self, charted: impl Fn(&str) -> bool, choices: &Choices) -> Vec<Axis> {
        let varies =
            |e: &Entry| choices.of(&e.slot.key).is_some() || (e.varies() && !choices.hold(&e.slot.key));
        let is_axis = |e: &&Entry| varies(e) && (!e.zipped || charted(&e.slot.key));
        let varying: Vec<&Entry> = self.entries.iter().filter(is_axis).collect();
        let axis = |e: &&Entry| {
            let (key, name) = (e.slot.key.clone(), short_name(e, &varying));
            let bytes = matches!(e.slot.param.kind, Kind::Bytes { .. });
            match choices.of(&key) {
                None => {
                    Axis { key, name, values: e.values.clone(), scale: e.scale(), bytes, maps: Vec::new() }
                }
                Some(maps) => {
                    let values = maps.labels.iter().cloned().map(Value::Text).collect();
                    Axis { key, name, values, scale: Scale::Category, bytes, maps: maps.sets.clone() }
                }
            }
        };
        varying.iter().map(axis).collect()
    }
}

/// A [`ErrorKind::Ambiguous`].
pub(super) fn ambiguous(name: &str, place: Place, at: &str, candidates: &[&Entry]) -> Mistake {
    let names: Vec<&str> = candidates.iter().map(|e| e.slot.name.as_str()).collect();
    let candidates = listed(&names);
    Mistake::new(place, ErrorKind::Ambiguous { at: at.to_owned(), name: name.to_owned(), candidates })
}

pub(super) fn last_word(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

/// The shortest tail of an axis's name that distinguishes it from the others.
fn short_name(entry: &Entry, among: &[&Entry]) -> String {
    let name = entry.slot.name.as_str();
    let mut starts: Vec<usize> = name.match_indices('.').map(|(at, _)| at + 1).collect();
    starts.insert(0, 0);
    let unique = |tail: &str| among.iter().filter(|e| ends_with_words(&e.slot.name, tail)).count() == 1;
    let tail = starts.iter().rev().map(|at| &name[*at..]).find(|tail| unique(tail));
    tail.unwrap_or(&entry.slot.key).to_owned()
}

fn ends_with_words(path: &str, tail: &str) -> bool {
    path.strip_suffix(tail).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// The widest span of numbers that a linear axis shows well, unless their steps are equal.
const WIDE: f64 = 10.0;

/// The scale of an axis with these values: logarithmic for three or more positive numbers in a constant ratio, or with
/// unequal steps over a factor of ten or more; else linear for numbers, and categories for anything else.
pub fn scale_of(values: &[Value]) -> Scale {
    let number = |value: &Value| match value {
        Value::Int(v) => Some(*v as f64),
        Value::Float(v) => Some(*v),
        _ => None,
    };
    let Some(mut numbers) = values.iter().map(number).collect::<Option<Vec<f64>>>() else {
        return Scale::Category;
    };
    numbers.sort_by(f64::total_cmp);
    let [first, second, _, ..] = numbers[..] else { return Scale::Linear };
    let last = numbers[numbers.len() - 1];
    let (ratio, step) = (second / first, second - first);
    let in_ratio = numbers.windows(2).all(|w| (w[1] / w[0] / ratio - 1.0).abs() < 1e-9);
    let in_steps = numbers.windows(2).all(|w| (w[1] - w[0] - step).abs() < 1e-9 * last);
    let wide = last / first >= WIDE && !in_steps;
    if first > 0.0 && (in_ratio || wide) { Scale::Log } else { Scale::Linear }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_values_tell_the_scale() {
        let ints = |v: &[u64]| scale_of(&v.iter().map(|v| Value::Int(*v)).collect::<Vec<_>>());
        assert_eq!(ints(&[1, 2, 4, 8]), Scale::Log);
        assert_eq!(ints(&[4, 1, 2]), Scale::Log);
        assert_eq!(ints(&[1, 2]), Scale::Linear);
        assert_eq!(ints(&[0, 1, 2]), Scale::Linear);
        assert_eq!(ints(&[1, 2, 4, 9]), Scale::Linear);
        assert_eq!(ints(&[64 << 10, 1 << 20, 8 << 20]), Scale::Log, "two of three would lie on the left");
        assert_eq!(ints(&[1, 8, 10]), Scale::Log);
        assert_eq!(ints(&[0, 1, 100]), Scale::Linear);
        assert_eq!(ints(&(1..=16).collect::<Vec<_>>()), Scale::Linear, "equal steps");
        assert_eq!(scale_of(&[Value::Float(0.1), Value::Float(1.0), Value::Float(10.0)]), Scale::Log);
        assert_eq!(scale_of(&[Value::Int(1), Value::Text("auto".to_owned())]), Scale::Category);
    }
}
