//! The passes of a partitioned scatter on a GPU. Pure.
//!
//! One scan of L counts all chunks, as many at a time as a block has counters for in shared memory; the sums of
//! the counts give the places of every pass's pairs. The first pass divides all pairs by the highest bits, and
//! each further pass divides every partition of the previous one, so no pass needs counts of its own. A chunk
//! of R_out that fits in shared memory is assembled there and written in order, and for that the last pass
//! keeps only 16 bits of each location. A larger chunk is written in the order of the pairs, which confines
//! random writes to L2.
//!
//! Bytes per tuple with p passes, tuples of z bytes, indices of x bytes and chunks in shared memory: x to
//! count, 2·(x + z) per pass minus the x − 2 that the last one saves, 2 + 2·z at the end:
//! x + (2p − 1)·x + 2·(p + 1)·z + 4. With z = 8 and x = 4 that is 44 for one pass and 68 for two, all of it in order or in as many
//! streams as a pass has bins. Each tuple of `direct` costs x + z and a sector of 32 bytes, which is written
//! partially and hence also read: 76, of which the sector accesses are random.

use super::partitioned::Digit;
use super::spec::Spec;
use super::work::{confined, pairs, placed, sorted_near, streams};
use crate::case::work::{Access, Order, Pass};

/// Maximum bits by which one pass divides: the counters and addresses of 2048 bins share a multiprocessor's
/// memory with the pairs of a tile.
pub const MAX_DIGIT: u64 = 11;

/// Maximum bytes of a chunk that is assembled in shared memory: a GPU of compute capability 9.0 has 227 KiB per
/// block, which also hold a bit per place.
pub const MAX_CHUNK: u64 = 128 << 10;

/// Chunks that one scan of L counts: 128 KiB of counters.
pub const WINDOW: u64 = 1 << 15;

/// Threads of the blocks that divide.
pub const DIVIDERS: u32 = 768;

/// Pairs per thread of a dividing block, as many as it has registers for: some 200 bytes.
pub fn items(tuple: u64, index: u64) -> u32 {
    let [short, long] = [[20, 14], [16, 12], [10, 8], [6, 5]][size_class(tuple)];
    if index == 4 { short } else { long }
}

/// Index 0 to 3 of tuples of 4, 8, 16 and 32 bytes.
pub fn size_class(tuple: u64) -> usize {
    (tuple / 4).trailing_zeros().min(3) as usize
}

/// Bytes of a counter.
const COUNTER: u64 = 8;

/// Bytes of a location once its chunk is known, if chunks fit in shared memory.
const WITHIN: u64 = 2;

/// One pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    pub digit: Digit,
    /// Partitions that the pass divides.
    pub segments: u64,
    /// Partitions that the pass makes.
    pub bins: u64,
    /// The index of the first counter of these partitions among all counters.
    pub first: u64,
    /// Bytes of a location that the pass writes.
    pub leaves: u64,
}

/// All passes of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Levels {
    /// A chunk has 2^shift places.
    pub shift: u64,
    pub chunks: u64,
    /// The passes in the order in which they are performed; at least one.
    pub levels: Vec<Level>,
    /// Whether chunks are assembled in shared memory.
    pub shared: bool,
}

impl Levels {
    /// The passes of a case; `None` for other methods, and on processors.
    pub fn of(spec: &Spec) -> Option<Levels> {
        let cut = spec.cut.as_ref().filter(|_| spec.backend.is_cuda())?;
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
        Some(Levels { shift: cut.shift, chunks: cut.chunks, levels, shared })
    }

    /// Number of counters of all passes.
    pub fn counters(&self) -> u64 {
        self.levels.iter().map(|level| level.bins).sum()
    }

    /// Number of scans of L that count.
    pub fn scans(&self) -> u64 {
        self.chunks.div_ceil(WINDOW)
    }

    /// Bytes of a location in the buffer to which passes k, k + 2 … write; there are one or two such buffers,
    /// used in turn.
    pub fn location_bytes(&self) -> Vec<u64> {
        let of = |turn: usize| self.levels.iter().skip(turn).step_by(2).map(|level| level.leaves).max();
        (0..2).filter_map(of).collect()
    }

    /// Bytes of the pairs between the passes, and of the counters.
    pub fn workspace(&self, spec: &Spec) -> u64 {
        let pair = |location: u64| spec.moves() * (spec.tuple + location);
        self.location_bytes().into_iter().map(pair).sum::<u64>() + COUNTER * self.counters()
    }

    /// The memory accesses of the passes. Clearing and summing the counters are passes of their own. They
    /// cover only the counters of the last pass, from which those of earlier passes are derived.
    pub fn passes(&self, spec: &Spec) -> Vec<Pass> {
        if spec.moves() == 0 {
            return Vec::new();
        }
        let [read, written] = [Access::reads, Access::writes].map(|of| of("counts", COUNTER, self.chunks));
        let mut all = vec![
            Pass::once([written.clone()]),
            Pass::once([Access::reads("L", spec.index, spec.moves())]).times(self.scans()),
            Pass::once([read, written]).times(self.levels.len() as u64),
        ];
        let tile = u64::from(DIVIDERS * items(spec.tuple, spec.index));
        let mut taken = pairs(spec, 0, spec.index, Access::reads);
        for (k, level) in self.levels.iter().enumerate() {
            let order = sorted_near(streams(spec, level.digit), tile);
            let left = pairs(spec, k + 1, level.leaves, Access::writes);
            all.push(Pass::once(taken).and(left.map(|to| to.ordered(order.clone()))));
            taken = pairs(spec, k + 1, level.leaves, Access::reads);
        }
        let in_order = self.shared && !spec.overwrites();
        let order = if in_order { Order::Sequential } else { confined(spec, self.chunks) };
        all.push(Pass::once(taken).and([placed(spec, order)]));
        all
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::spec::Kernel;
    use super::super::tests::spec;
    use super::*;
    use crate::case::Value;
    use crate::primitives::Problem;

    pub fn levels(tuples: u64, tuple: u64, bits: u64, passes: u64) -> (Spec, Levels) {
        let cut = format!("method.partitioned.bits={bits} method.partitioned.passes={passes}");
        let case = format!("backend=cuda tuples={tuples} tuple={tuple} method=partitioned {cut}");
        let spec = spec(Kernel::Scatter, &case);
        let levels = Levels::of(&spec).expect("partitioned");
        (spec, levels)
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
        let of = |tuples: u64, tuple: u64| {
            let case = format!("backend=cuda tuples={tuples} tuple={tuple} method=partitioned");
            spec(Kernel::Scatter, &case).resolved()
        };
        let method = |bits, passes| {
            let full = |key: &str| format!("method.partitioned.{key}");
            vec![(full("bits"), Value::Int(bits)), (full("passes"), Value::Int(passes))]
        };
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
