//! Warps of GPUs vote on each bit of their values' bins (ashkiani2017 Algorithm 2). Blocks count subproblems of 2^16 values, whose
//! counts are added to the result in place, or stored and summed bin by bin (§7.3).

use super::{Ending, cleared};
use crate::case::block_cost::{BlockCost, ByBits, WARPS};
use crate::case::{Access, Pass};
use crate::primitives::Costs;
use crate::primitives::histogram::{By, Spec};

/// Upper limit on the bins whose counts the lanes of a warp keep in registers, eight per lane (ashkiani2017
/// §5.5, for m > 32).
pub const MAX_BINS: u64 = 256;

/// Elements per subproblem: the share that a block counts.
const SUBPROBLEM: u64 = 1 << 16;

/// Values that a warp has in flight.
const IN_FLIGHT: u64 = 128;

/// Instructions for a vote on 128 values, by 1 to 8 bits, with even bins and between splitters.
const EVEN_VOTES: ByBits = [
    [69.0, 87.0, 108.0, 129.0, 145.0, 173.0, 207.0, 263.0],
    [41.0, 61.0, 80.0, 99.0, 117.0, 142.0, 170.0, 214.0],
];
const RANGE_VOTES: ByBits = [
    [58.0, 100.0, 144.0, 177.0, 225.0, 266.0, 312.0, 403.0],
    [37.0, 66.0, 97.0, 124.0, 155.0, 183.0, 213.0, 275.0],
];

pub fn costs(spec: &Spec, ending: Ending) -> Costs<'_> {
    let (values, stored) =
        (Access::reads("x", 4, spec.elements), spec.bins * spec.elements.div_ceil(SUBPROBLEM));
    match ending {
        Ending::Atomics => {
            let added = Access { count: stored, ..Access::writes("counts", 8, spec.bins) };
            let passes = cleared(spec, Pass::once([values, added]));
            Costs::of(passes).blocks([BlockCost::default(), voted(spec)])
        }
        Ending::Reduction => {
            let counted = Pass::once([values, Access::writes("h", 4, stored)]);
            let passes = vec![counted, Pass::once([Access::reads("h", 4, stored)])];
            Costs::of(passes).beside(4 * stored).blocks([voted(spec), BlockCost::default()])
        }
    }
}

fn voted(spec: &Spec) -> BlockCost {
    let counts = if spec.by == By::Even { EVEN_VOTES } else { RANGE_VOTES };
    let bits = spec.bins.next_power_of_two().ilog2() as usize;
    let [instructions, integers] = counts.map(|by_bits| by_bits[bits - 1]);
    let tiles = spec.elements.div_ceil(IN_FLIGHT);
    let cost = BlockCost::of(tiles, WARPS).blocks(spec.elements.div_ceil(SUBPROBLEM)).loads(1.0);
    // A search compares a splitter per bit; the lanes compare at most as many different ones as the step has.
    let searched = if spec.by == By::Even { 0.0 } else { 4.0 * bits as f64 };
    cost.with(tiles as f64, [instructions, integers, searched])
}

pub mod cuda {
    use super::SUBPROBLEM;
    use crate::primitives::cuda::prelude::*;
    use crate::primitives::histogram::Spec;
    use crate::primitives::histogram::cuda::{MODULE, Made, Step};
    use crate::primitives::histogram::methods::Ending;

    const REDUCE: &str = "histogram_reduce";

    device_struct! {
        /// `Subproblems` in the kernels.
        struct Subproblems: 32 {
            size: u64,
            column: u64,
            all: u64,
            bins: u32,
            unused: u32,
        }
    }

    fn name(spec: &Spec) -> String {
        format!("histogram_ballot_{}_{}", spec.by.name(), spec.bins.next_power_of_two().ilog2())
    }

    pub fn kernels(spec: &Spec, ending: Ending) -> KernelList {
        let sums = u64::from(ending == Ending::Reduction);
        KernelList::default().timed(MODULE, name(spec), 1).timed(MODULE, REDUCE, sums)
    }

    /// Counts that are stored are bin by bin, with a column for each subproblem.
    pub fn method(made: &Made, ending: Ending) -> Result<GpuMethod<Step>, Failure> {
        let [vote, reduce] = made.module.kernels([name(made.spec).as_str(), REDUCE])?;
        let (bins, stores) = (made.spec.bins as u32, ending == Ending::Reduction);
        // Each part is divided separately.
        let subproblems: u64 = made.plan.parts.iter().map(|part| part.count.div_ceil(SUBPROBLEM)).sum();
        let all = if stores { subproblems } else { 0 };
        let stored: DeviceBuffer<u32> = array(made.gpu, all * made.spec.bins)?;
        let mut column = 0;
        Ok(Box::new(move |gpu, step| match *step {
            Step::Begin => {
                column = 0;
                Ok(())
            }
            Step::Part { x, n, bounds, counts } => {
                let work = Subproblems { size: SUBPROBLEM, column, all, bins, unused: 0 };
                column += n.div_ceil(SUBPROBLEM);
                let args = args![x, n, bounds, work, counts, stored];
                gpu.launch(&vote, grid(n, SUBPROBLEM), BLOCK, 0, args)
            }
            Step::End { counts } => {
                if !stores {
                    return Ok(());
                }
                gpu.launch(&reduce, bins, BLOCK, 0, args![stored, column, counts])
            }
        }))
    }
}

#[cfg(test)]
mod tests {
    use crate::primitives::Problem;
    use crate::primitives::histogram::tests::spec;

    #[test]
    fn a_warp_votes_in_rounds() {
        let words = "elements=1048576 bins=64 method=ballot backend=cuda";
        let [_, ballot] = spec(words).block_costs().expect("known")[..] else { panic!("two passes") };
        assert_eq!((ballot.blocks, ballot.instructions), (16, 8192.0 * 173.0));
    }
}
