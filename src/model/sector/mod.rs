//! The model `sector`: caches with sectors, a granule that misses fetch, and a roofline.
//!
//! Each pass of a method uses resources that work at the same time: issue with the first caches, the last
//! cache, waiting, and memory. Demands on one resource add up; the busiest resource determines the time of
//! the pass. Between passes, and around an execution, nothing overlaps.
//!
//! | file | term | resource |
//! |---|---|---|
//! | `launch` | `launch`: time of a nearly empty execution or pass; `blocks`: blocks of threads that start one after another | none, blocks |
//! | `streams` | `streams`: sequential reads and writes | cache, memory |
//! | `random` | `random reads`, `random writes`, of skewed draws too | requests, memory |
//! | `partitions` | `partitions`: ascending streams side by side | requests, memory |
//! | `strided_subset` | `strides`: an array of which a pass takes a part | requests, memory |
//! | `pattern`, `touched`, `sector_spacing` | `patterns`: data touched by the uses of a pattern | first cache, cache, memory |
//! | `multiprocessors` | `arithmetic`, `turns`: instructions, and tiles taken one after another; `first cache`: shared memory | processors, waiting |
//! | `issue` | `first cache`: answers to accesses issued together | first cache |
//! | `latency` | `latency`: loads in flight, chained accesses | waiting |
//!
//! `requests` occupy the last cache and hold up memory, so the two add up. Nothing is fitted to cases: all
//! figures come from the profile, and all counts from the declared accesses. docs/models.md has the equations
//! in one place.

mod demand;
mod issue;
mod latency;
mod launch;
mod machine;
mod multiprocessors;
mod partitions;
mod pass;
mod pattern;
mod random;
mod sector_spacing;
mod streams;
mod strided_subset;
mod touched;

use super::{Model, Prediction, Profile, covered};
use crate::case::{BlockCost, Case, Work};
use crate::primitives;
use demand::Demand;
use launch::Launch;
use machine::Machine;
use pass::PassContext;

/// The model.
#[derive(Clone, Copy, Debug)]
pub struct Sector;

impl Model for Sector {
    fn name(&self) -> &'static str {
        "sector"
    }

    fn predict(&self, profile: &Profile, case: &Case, work: &Work) -> Result<Prediction, String> {
        let (backend, _) = case.place();
        covered(profile, case)?;
        // Always seed 0: the prediction must not depend on the values of the inputs.
        let problem = primitives::find(&case.primitive).and_then(|of| of.case(&case.params, 0).ok());
        let blocks = problem.as_ref().and_then(|problem| problem.blocks());
        let block_costs = problem.map_or_else(|| Ok(Vec::new()), |problem| problem.block_costs())?;
        of_work(profile, backend, work, (blocks, &block_costs))
    }
}

/// Predicts one execution of `work` on a backend of the profile. `blocks` is the number of blocks of threads,
/// where each tile has its own block; `block_costs` are the costs of their on-chip work, pass by pass.
///
/// # Errors
/// Names the figure that the profile lacks.
fn of_work(
    profile: &Profile,
    backend: &str,
    work: &Work,
    (blocks, block_costs): (Option<u64>, &[BlockCost]),
) -> Result<Prediction, String> {
    let machine = Machine::new(profile, backend)?;
    let launch = Launch::new(&machine, work)?;
    let (mut tally, mut depth) = (Tally::default(), 0.0);
    for (k, pass) in work.passes.iter().enumerate() {
        let all = work.footprint as f64;
        let demand =
            pass::demand(&PassContext { machine: &machine, pass, all, blocks, cost: block_costs.get(k) })?;
        tally.add(pass.times as f64, &demand, &launch);
        depth = demand.depth.max(depth);
    }
    Ok(tally.prediction(launch.execution + depth))
}

/// Sums over passes.
#[derive(Default)]
struct Tally {
    seconds: f64,
    /// Seconds of each term, whether or not it binds.
    terms: Vec<(&'static str, f64)>,
    /// Seconds of the passes that each limit binds.
    bound: Vec<(&'static str, f64)>,
}

impl Tally {
    fn add(&mut self, times: f64, demand: &Demand, launch: &Launch) {
        let busy = demand.seconds();
        let seconds = launch.around(busy);
        self.seconds += times * seconds;
        for (term, of_term) in demand.terms().chain([(launch::TERM, seconds - busy)]) {
            add(&mut self.terms, term, times * of_term);
        }
        add(&mut self.bound, launch::TERM, times * (seconds - busy));
        add(&mut self.bound, demand.binding(), times * busy);
    }

    /// The prediction. An execution takes at least `least`: the time of an empty one, which includes one
    /// read, plus any further waiting.
    fn prediction(mut self, least: f64) -> Prediction {
        let rest = (least - self.seconds).max(0.0);
        add(&mut self.terms, launch::TERM, rest);
        add(&mut self.bound, launch::TERM, rest);
        let most = self.bound.iter().max_by(|a, b| a.1.total_cmp(&b.1));
        let limit = most.map_or(launch::TERM, |(limit, _)| limit);
        Prediction { model: "sector", seconds: self.seconds + rest, limit, terms: self.terms }
    }
}

fn add(sums: &mut Vec<(&'static str, f64)>, name: &'static str, seconds: f64) {
    match sums.iter_mut().find(|(known, _)| *known == name) {
        Some(sum) => sum.1 += seconds,
        None if seconds > 0.0 => sums.push((name, seconds)),
        None => {}
    }
}

#[cfg(test)]
mod fixture;
