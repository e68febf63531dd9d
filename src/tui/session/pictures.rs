//! The newest pictures of what a run's cases compute.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::case::Snapshot;

/// The newest picture of a case.
#[derive(Clone, Debug)]
pub struct Shown {
    pub picture: Arc<Snapshot>,
    /// The round in which it was taken, from 0.
    pub round: u32,
    /// The least and the greatest value of all pictures of the case so far, so that colours keep their meaning.
    pub range: Option<[f64; 2]>,
}

/// The newest pictures of a run's cases, by their position in the plan.
#[derive(Clone, Debug, Default)]
pub struct Pictures(BTreeMap<usize, Shown>);

impl Pictures {
    /// Takes the next picture of a case.
    pub fn take(&mut self, case: usize, round: u32, picture: Snapshot) {
        let before = self.0.get(&case).and_then(|shown| shown.range);
        let range = [before, range(&picture)].into_iter().flatten().reduce(joined);
        self.0.insert(case, Shown { picture: Arc::new(picture), round, range });
    }

    pub fn of(&self, case: usize) -> Option<&Shown> {
        self.0.get(&case)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn joined([low, high]: [f64; 2], [lower, higher]: [f64; 2]) -> [f64; 2] {
    [low.min(lower), high.max(higher)]
}

fn range(picture: &Snapshot) -> Option<[f64; 2]> {
    let ends = |values: &mut dyn Iterator<Item = f64>| {
        values.filter(|value| value.is_finite()).map(|value| [value; 2]).reduce(joined)
    };
    match picture {
        Snapshot::Curve { values, .. } => ends(&mut values.iter().copied()),
        Snapshot::Field { values, .. } => ends(&mut values.iter().map(|value| f64::from(*value))),
    }
}
