//! How a GPU goes about a partitioned scatter. Pure.
//!
//! One scan of L counts all chunks, as many at a time as a block has counters for in shared
//! memory; their sums say where every pass puts its pairs. The first pass divides all pairs by
//! the highest bits, each further one every partition of the pass before it, so that no pass
//! needs counts of its own. A chunk of R_out that fits shared memory is put together there
//! and written in order, and the last pass leaves but 16 bits of each location for that; a
//! larger one is written in the order of the pairs, with its randomness confined to L2.
//!
//! Bytes per tuple with p passes, tuples of z bytes, indices of x and chunks in shared memory:
//! x to count, 2·(x + z) a pass less the x − 2 that the last one saves, 2 + 2·z at the end:
//! x + (2p − 1)·x + 2·(p + 1)·z + 4. With z = 8 and x = 4 that is 44 for one pass and 68 for
//! two, all of it in order or in as many streams as a pass has bins. Each tuple of `direct` costs x + z and a sector
//! of 32 bytes, written in part and hence read as well: 76, and 32 of them at random.

use super::partitioned::{Cut, Digit};
use super::spec::Spec;
use super::work::{access, confined, pairs, streams, ticks};
use crate::case::work::Order;
use crate::case::{Access, Direction, Pass};

/// Most bits that one pass divides by: the counters and addresses of 2048 bins share a
/// multiprocessor's memory with the pairs of a tile.
pub const MAX_DIGIT: u64 = 11;

/// Most bytes of a chunk that is put together in shared memory: a GPU of compute capability
/// 9.0 has 227 KiB of it for a block, and bits for the places that are written come on top.
pub const MAX_CHUNK: u64 = 128 << 10;

/// Chunks that one scan of L counts: 128 KiB of counters.
pub const WINDOW: u64 = 1 << 15;

/// Threads of the blocks that divide.
pub const DIVIDERS: u32 = 768;

/// Pairs of a thread that divides, as many as it has registers for: some 200 bytes.
pub fn items(tuple: u64, index: u64) -> u32 {
    match (tuple, index) {
        (4, 4) => 20,
        (4, _) => 14,
        (8, 4) => 16,
        (8, _) => 12,
        (16, 4) => 10,
        (16, _) => 8,
        (_, 4) => 6,
        _ => 5,
    }
}

/// Bytes of a location once its chunk is known, where that fits shared memory.
const WITHIN: u64 = 2;

/// One pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    pub digit: Digit,
    /// Partitions that it divides.
    pub segments: u64,
    /// Partitions that it makes.
    pub bins: u64,
    /// Where the counters of those begin among all.
    pub first: u64,
    /// Bytes of a location that it leaves.
    pub leaves: u64,
}

/// All passes of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Levels {
    /// A chunk has 2^shift places.
    pub shift: u64,
    pub chunks: u64,
    /// In the order in which they are performed, at least one.
    pub levels: Vec<Level>,
    /// Whether chunks are put together in shared memory.
    pub shared: bool,
}

impl Levels {
    /// Those of a cut.
    pub fn new(spec: &Spec, cut: &Cut) -> Levels {
        let shared = spec.tuple << cut.shift <= MAX_CHUNK;
        let (mut segments, mut first) = (1, 0);
        let level = |(k, &digit): (usize, &Digit)| {
            let bins = cut.chunks.div_ceil(1 << (digit.shift - cut.shift));
            let leaves = if k == 0 && shared { WITHIN } else { spec.index };
            let level = Level { digit, segments, bins, first, leaves };
            (segments, first) = (bins, first + bins);
            level
        };
        let levels = cut.digits.iter().enumerate().rev().map(level).collect();
        Levels { shift: cut.shift, chunks: cut.chunks, levels, shared }
    }

    /// Counters of all passes.
    pub fn counters(&self) -> u64 {
        self.levels.iter().map(|level| level.bins).sum()
    }

    /// Scans of L that count.
    pub fn scans(&self) -> u64 {
        self.chunks.div_ceil(WINDOW)
    }

    /// Bytes of a location in the buffer to which the passes k, k + 2 … write; two such
    /// buffers, or one, take turns.
    pub fn location_bytes(&self) -> Vec<u64> {
        let of = |turn: usize| self.levels.iter().skip(turn).step_by(2).map(|level| level.leaves).max();
        (0..2).filter_map(of).collect()
    }

    /// Bytes of the pairs between the passes, and of the counters.
    pub fn workspace(&self, spec: &Spec) -> u64 {
        let pair = |location: u64| spec.moves() * (spec.tuple + location);
        self.location_bytes().into_iter().map(pair).sum::<u64>() + 8 * self.counters()
    }

    /// What the passes do to memory. Clearing the counters and adding them up are passes of their
    /// own.
    pub fn passes(&self, spec: &Spec) -> Vec<Pass> {
        if spec.moves() == 0 {
            return Vec::new();
        }
        let count = pairs(spec, "L", spec.index, Direction::Read, Order::Sequential);
        let clear = self.counted(Direction::Write);
        let sum = vec![self.counted(Direction::Read), self.counted(Direction::Write)];
        let mut all = vec![
            Pass { times: 1, accesses: vec![clear] },
            Pass { times: self.scans(), accesses: vec![count] },
            Pass { times: self.levels.len() as u64, accesses: sum },
        ];
        let mut location = spec.index;
        for (k, level) in self.levels.iter().enumerate() {
            let order = staged(spec, streams(spec, level.digit));
            let mut accesses = taken(spec, k, location);
            accesses.push(pairs(spec, &ticks("L", k + 1), level.leaves, Direction::Write, order.clone()));
            accesses.push(pairs(spec, &ticks("R", k + 1), spec.tuple, Direction::Write, order));
            all.push(Pass { times: 1, accesses });
            location = level.leaves;
        }
        let mut accesses = taken(spec, self.levels.len(), location);
        let order =
            if self.shared && !spec.overwrites() { Order::Sequential } else { confined(spec, self.chunks) };
        let places = spec.tuples * spec.tuple;
        accesses.push(access("R_out", Direction::Write, spec.tuple, spec.moves(), places, order));
        all.push(Pass { times: 1, accesses });
        all
    }

    /// The counters of the last pass, of which the earlier ones' are made.
    fn counted(&self, direction: Direction) -> Access {
        access("counts", direction, 8, self.chunks, 8 * self.chunks, Order::Sequential)
    }
}

/// Streams that a tile's pairs are put in the order of, in shared memory.
fn staged(spec: &Spec, order: Order) -> Order {
    let tile = u64::from(DIVIDERS * items(spec.tuple, spec.index));
    match order {
        Order::Partitions { partitions } => Order::Staged { partitions, tile },
        other => other,
    }
}

/// The pairs that pass k, or what follows the last, reads.
fn taken(spec: &Spec, k: usize, location: u64) -> Vec<Access> {
    let tuples = if k == 0 { "R_in".to_owned() } else { ticks("R", k) };
    let read = |array: &str, element| pairs(spec, array, element, Direction::Read, Order::Sequential);
    vec![read(&ticks("L", k), location), read(&tuples, spec.tuple)]
}

#[cfg(test)]
mod tests {
    use super::super::spec::{Kernel, Locations, Method};
    use super::*;
    use crate::case::Backend;
    use crate::case::tuning::Tuning;
    use crate::case::{Params, Value};

    fn levels(tuples: u64, tuple: u64, bits: u64, passes: u64) -> (Spec, Levels) {
        let method = Method::Partitioned { bits, passes };
        let locations = Locations::Random;
        let spec = Spec {
            kernel: Kernel::Scatter,
            method,
            tuples,
            tuple,
            index: 4,
            locations,
            seed: 0,
            backend: Backend::Cuda,
            tuning: Tuning::default(),
        };
        let cut = spec.cut().expect("partitioned");
        (spec, Levels::new(&spec, &cut))
    }

    #[test]
    fn passes_divide_what_the_pass_before_has_made() {
        let (_, two) = levels((1 << 28) + 1, 8, 15, 2);
        let seen: Vec<_> =
            two.levels.iter().map(|l| (l.digit.shift, l.segments, l.bins, l.first, l.leaves)).collect();
        assert_eq!(seen, [(21, 1, 129, 0, 4), (14, 129, (1 << 14) + 1, 129, 2)]);
        assert_eq!((two.shift, two.chunks, two.shared), (14, (1 << 14) + 1, true));
        assert_eq!((two.counters(), two.scans(), two.location_bytes()), (129 + (1 << 14) + 1, 1, vec![4, 2]));
        let (_, three) = levels(1 << 28, 8, 18, 3);
        assert_eq!(three.levels.iter().map(|l| l.bins).collect::<Vec<_>>(), [1 << 6, 1 << 12, 1 << 18]);
        assert_eq!((three.scans(), three.location_bytes()), (8, vec![4, 4]));
    }

    #[test]
    fn what_is_open_lets_chunks_fit_shared_memory() {
        let of = |tuples, tuple| {
            let text = |word: &str| Value::Text(word.to_owned());
            let params = Params::default().with("method", text("partitioned")).with("backend", text("cuda"));
            let params = params.with("tuples", Value::Int(tuples)).with("tuple", Value::Int(tuple));
            Spec::from_params(Kernel::Scatter, &params, 1).map(|spec| spec.method)
        };
        let method = |bits, passes| Ok(Method::Partitioned { bits, passes });
        assert_eq!((of(1 << 24, 8), of(1 << 25, 8)), (method(10, 1), method(11, 2)));
        assert_eq!((of(1 << 30, 8), of(1 << 30, 16), of(9, 4)), (method(16, 2), method(17, 2), method(1, 1)));
    }

    #[test]
    fn large_chunks_keep_whole_locations() {
        let (spec, one) = levels(1 << 28, 8, 11, 1);
        assert_eq!(
            (one.shared, one.location_bytes(), one.workspace(&spec)),
            (false, vec![4], (12 << 28) + (8 << 11))
        );
        let written = one.passes(&spec).last().map(|pass| pass.accesses[2].order.clone());
        assert_eq!(written, Some(Order::Chunks { chunks: 1 << 11 }));
    }

    #[test]
    fn the_bytes_are_those_of_the_module() {
        let per_tuple = |bits, passes| {
            let (spec, levels) = levels(1 << 24, 8, bits, passes);
            levels.passes(&spec).iter().flat_map(|p| &p.accesses).map(|a| a.count * a.element).sum::<u64>()
                >> 24
        };
        assert_eq!((per_tuple(11, 1), per_tuple(12, 2)), (44, 68));
        let (spec, one) = levels(1 << 24, 8, 11, 1);
        assert_eq!(one.workspace(&spec), (10 << 24) + (8 << 11));
    }
}
