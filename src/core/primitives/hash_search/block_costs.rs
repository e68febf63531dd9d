//! The multisplits of searches and of building on GPUs, and the on-chip work of their blocks.

use super::spec::{Build, BuildMethod, Method, Search};
use crate::case::BlockCost;
use crate::case::block_cost::LANES;
use crate::primitives::multisplit::block_costs::{back, looking};
use crate::primitives::multisplit::{self, Values};

/// The load factor beyond which records that are put away from home often find their alternative full, too.
const MOVES: f64 = 0.9;

/// The load factor beyond which buckets of four slots have no place for all records, whichever of their two buckets they
/// go to (Fernholz and Ramachandran 2007). The others lie anywhere behind their alternatives, and searches follow.
const HELD_BY_FOURS: f64 = 0.98;

/// Threads of a block of the steps of he2007, the blocks that are resident on a multiprocessor, and the ids that a thread
/// of the gather takes.
const BLOCK: u64 = 256;
const RESIDENT: u64 = 8;
const IDS: u64 = 4;

/// Instructions of a warp to hash the keys of its lanes, and integer instructions among them.
const HASHED: [f64; 2] = [17.0, 9.0];

/// The multisplit of the keys of a search, with the numbers of the searches if their order is free; `None` if there is
/// none, and on CPUs.
pub fn split(spec: &Search) -> Option<multisplit::Spec> {
    let parts = matches!(spec.method, Method::Partitioned { .. }) && spec.backend.is_cuda();
    let values = if spec.order_is_free() { Values::Four } else { Values::None };
    parts.then(|| multisplit::Spec::of_field(spec.keys, values, spec.bits() as u32, "fused").ok())?
}

/// The multisplit of the records before they are put into the table; `None` if there is none, and on CPUs.
pub fn split_of_records(spec: &Build) -> Option<multisplit::Spec> {
    let parts = matches!(spec.method, BuildMethod::Partitioned { .. }) && spec.backend.is_cuda();
    parts.then(|| multisplit::Spec::of_field(spec.count, Values::Four, spec.bits() as u32, "fused").ok())?
}

/// Block costs for each pass of a search: those of its multisplits, which hash the keys, or of the steps of he2007. Searches in buckets keep no
/// tiles.
///
/// # Errors
/// Those of the multisplits, and a table in which records lie behind their two buckets.
pub fn of_search(spec: &Search) -> Result<Vec<BlockCost>, String> {
    if spec.bucket == Some(32) && spec.load > HELD_BY_FOURS {
        return Err("no model covers searches beyond both buckets of a record, which buckets of 32 bytes need at such a load".to_owned());
    }
    if matches!(spec.method, Method::He2007 { .. }) && spec.backend.is_cuda() {
        return Ok(chained(spec));
    }
    let Some(split) = split(spec) else { return Ok(Vec::new()) };
    let mut costs = looking(&split, HASHED)?;
    costs.push(BlockCost::default());
    if !spec.order_is_free() {
        let warps = split.keys as f64 / LANES as f64;
        costs.push(back(&split).with(warps, [HASHED[0], HASHED[1], 0.0]));
    }
    Ok(costs)
}

/// The steps of he2007, whose threads wait for loads that depend on each other. A search loads its key, its header and
/// the entries, as many as the longest run of the warp has; two sectors have them, and the first cache all but the first
/// of each. In a pass of the gather a block looks up the number of ids, a thread takes four in turn, and its warp waits
/// for a record if one of the lanes has an id of the chunk.
fn chained(spec: &Search) -> Vec<BlockCost> {
    let looping = |count: u64| BlockCost::of(count.div_ceil(BLOCK), RESIDENT);
    let probe = looping(spec.keys).loads(4.0).steps(3.0);
    let found = 1.0 - (1.0 - 1.0 / spec.passes() as f64).powi(LANES as i32);
    let gather = looping(spec.most_matches().div_ceil(IDS)).loads(IDS as f64 * (1.0 + found)).looks(1.0);
    let sums = BlockCost::default();
    vec![probe, sums, sums, sums, probe, gather]
}

/// Block costs for each pass of building a table: emptying it, the multisplit, and putting the records.
///
/// # Errors
/// Those of the multisplit, and a table in which records move to make room.
pub fn of_build(spec: &Build) -> Result<Vec<BlockCost>, String> {
    if spec.backend.is_cuda() && spec.load > MOVES {
        return Err("no model covers the records that give way in a nearly full table".to_owned());
    }
    let Some(split) = split_of_records(spec) else { return Ok(Vec::new()) };
    Ok([vec![BlockCost::default()], looking(&split, HASHED)?, vec![BlockCost::default()]].concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::Problem;
    use crate::primitives::words::params;

    fn search(words: &str) -> Search {
        Search::from_params(&params(&format!("records=1048576 keys=1048576 backend=cuda {words}")), 7)
            .expect("a case")
    }

    #[test]
    fn there_is_a_cost_for_each_pass() {
        for words in [
            "method=direct",
            "method=he2007",
            "method=partitioned",
            "method=partitioned method.partitioned.order=free",
        ] {
            let (spec, costs) = (search(words), of_search(&search(words)).expect("counted"));
            let passes = spec.work().passes.len();
            assert!(
                costs.is_empty() == (words == "method=direct") && [0, passes].contains(&costs.len()),
                "{words}"
            );
        }
        assert!(of_search(&search("backend=cpu method=partitioned")).is_ok_and(|costs| costs.is_empty()));
        let build = |words: &str| {
            let words = format!("records=1048576 backend=cuda method=partitioned {words}");
            Build::from_params(&params(&words), 7).expect("a case")
        };
        assert_eq!(of_build(&build("")).expect("counted").len(), build("").work().passes.len());
        assert!(of_build(&build("load=0.99")).is_err_and(|why| why.contains("give way")));
    }

    #[test]
    fn searches_beyond_two_buckets_are_not_predicted() {
        let refused = |words: &str| of_search(&search(words)).is_err();
        assert!(refused("bucket=32 load=0.99") && refused("bucket=32 load=0.99 method=partitioned"));
        assert!(!refused("bucket=32 load=0.97") && !refused("bucket=64 load=0.99") && !refused("load=0.99"));
    }

    /// With 16 passes, a warp of 32 lanes waits for a record for 1 − (15/16)^32 = 87 % of its four ids.
    #[test]
    fn a_warp_waits_if_one_of_its_lanes_does() {
        let gather = |passes: u64| {
            let costs = chained(&search(&format!("method=he2007 method.he2007.passes={passes}")));
            costs.last().expect("the gather").loads
        };
        assert_eq!(gather(1), 8.0);
        assert!((gather(16) - 4.0 * 1.873).abs() < 0.01, "{}", gather(16));
    }
}
