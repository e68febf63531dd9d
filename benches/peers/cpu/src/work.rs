//! A prepared case, and the choice of the best of several ways to execute it.

use std::collections::HashMap;

use crate::case::Case;

/// A setting and its value.
pub type Setting = (&'static str, String);

/// A case with its arrays.
pub trait Work {
    /// The settings of each way in which the crate can do this, the usual one first; at least one.
    fn ways(&self) -> Vec<Vec<Setting>>;

    /// Executes once, and returns the seconds of what counts: not those of a fresh copy of the inputs.
    fn execute(&mut self, way: usize) -> f64;

    /// How many elements of the last result are wrong.
    fn wrong(&self) -> u64;

    fn effective_bytes(&self) -> u64;

    /// Bytes of all arrays.
    fn memory(&self) -> u64;
}

/// A work with its way settled.
pub struct Prepared {
    pub work: Box<dyn Work>,
    way: usize,
    pub settings: Vec<Setting>,
}

/// The ways that were chosen for the cases of this process, by the cases' names.
pub type Chosen = HashMap<String, usize>;

/// Timed executions of each way at most.
const TRIALS: usize = 5;
/// Seconds of trials after which no further one begins.
const BUDGET: f64 = 2.0;
/// A way that takes this long, seconds, needs no untimed execution first.
const LONG: f64 = 1.0;
/// Another way than the usual one must be faster by this share.
const TIE: f64 = 0.01;

impl Prepared {
    /// Settles the way of a case: the one that was chosen earlier, or the fastest.
    pub fn new(mut work: Box<dyn Work>, case: &Case, chosen: &mut Chosen) -> Prepared {
        let ways = work.ways();
        let find = || if ways.len() > 1 { fastest(work.as_mut(), ways.len()) } else { 0 };
        let way = *chosen.entry(case.name()).or_insert_with(find);
        Prepared { work, way, settings: ways[way].clone() }
    }

    /// Seconds of `batch` executions together.
    pub fn sample(&mut self, batch: u64) -> f64 {
        (0..batch).map(|_| self.work.execute(self.way)).sum()
    }
}

/// The way with the smallest median; the usual one unless another is faster by more than a tie.
fn fastest(work: &mut dyn Work, ways: usize) -> usize {
    let mut seconds: Vec<Vec<f64>> = (0..ways)
        .map(|way| Some(work.execute(way)).filter(|first| *first >= LONG).into_iter().collect())
        .collect();
    let mut spent = 0.0;
    for _ in 0..TRIALS {
        for (way, all) in seconds.iter_mut().enumerate() {
            if all.is_empty() || (spent < BUDGET && all[0] < LONG) {
                all.push(work.execute(way));
                spent += all[all.len() - 1];
            }
        }
    }
    best(&seconds.iter_mut().map(|all| median(all)).collect::<Vec<_>>())
}

/// The first of the medians unless another is smaller by more than a tie; of others, the smallest.
pub fn best(medians: &[f64]) -> usize {
    let least = (0..medians.len()).min_by(|a, b| medians[*a].total_cmp(&medians[*b])).unwrap_or(0);
    if medians[least] < (1.0 - TIE) * medians[0] { least } else { 0 }
}

/// The median; sorts the samples.
pub fn median(samples: &mut [f64]) -> f64 {
    samples.sort_unstable_by(f64::total_cmp);
    let middle = samples.len() / 2;
    if samples.len() % 2 == 1 { samples[middle] } else { (samples[middle - 1] + samples[middle]) / 2.0 }
}
