//! A stable split by each bit, the lowest first (sengupta2007 §5): of all keys, bit after bit, which moves all of them as
//! often as the field has bits; or of tiles that a block, or a worker in its cache, sorts alone (§2.3.3), and whose
//! sorted runs are then merged two by two: a pass over memory for the tiles, and one for each doubling of the runs.

use super::{Scope, lsd};
use crate::case::work::{Access, Order};
use crate::primitives::Costs;
use crate::primitives::sort::Spec;
use crate::primitives::sort::work::{by_way_of_arrays, moved, read_keys};

/// Keys of a tile on GPUs: `SORT_TILE` in the kernels (`kernels/sort/tile.cuh`), and its threads.
const BLOCK_TILE: u64 = 17 * THREADS as u64;
const THREADS: u32 = 256;

/// Bytes of the sum of a tile's falses.
const DESCRIPTOR: u64 = 8;

/// Bytes of a tile at most on CPUs: a quarter of a small L2 cache, which also has to hold the tile's copy.
const CACHED: u64 = 1 << 17;

/// On GPUs the ones of all bits are counted once, and a tile scans those of a bit from the sums of tiles before it.
pub fn costs(spec: &Spec, scope: Scope) -> Costs<'_> {
    if scope == Scope::Block {
        return of_tiles(spec);
    }
    if !spec.backend.is_cuda() {
        return lsd::by_digits(spec, 1);
    }
    let tile = tile(spec);
    let tiles = spec.keys.div_ceil(tile);
    let sums = [Access::writes, Access::reads].map(|of| of("sums", DESCRIPTOR, tiles));
    let split = moved(spec, Order::Staged { partitions: 2, tile }).and(sums);
    let passes = vec![read_keys(spec), split.times(spec.digits(1).count().into())];
    by_way_of_arrays(spec, passes).unknown(UNKNOWN)
}

/// Tiles are sorted on chip; then every round of the merge moves all keys.
pub fn of_tiles(spec: &Spec) -> Costs<'_> {
    let rounds = rounds(spec.keys, tile(spec));
    let passes = vec![moved(spec, Order::Sequential).times(1 + u64::from(rounds))];
    by_way_of_arrays(spec, passes).unknown(UNKNOWN)
}

const UNKNOWN: &str = "no model covers the splits of a tile in shared memory";

/// Keys per tile.
pub fn tile(spec: &Spec) -> u64 {
    match spec.backend.is_cuda() {
        true => BLOCK_TILE,
        false => 1 << (CACHED / (spec.key_bytes() + spec.value())).ilog2(),
    }
}

/// The rounds of a merge of `n` keys: each makes one sorted run of every two, of a tile at first.
pub fn rounds(n: u64, tile: u64) -> u32 {
    n.div_ceil(tile).max(1).next_power_of_two().ilog2()
}

#[expect(clippy::undocumented_unsafe_blocks, reason = "each caller promises what `Run` asks for")]
pub mod cpu {
    use super::Scope;
    use super::lsd::cpu::by_digits;
    use crate::primitives::sort::cpu::prelude::*;
    use crate::primitives::sort::cpu::tiles::Tiles;

    pub fn method(made: &Made, scope: Scope) -> Result<PoolMethod<Sort>, Failure> {
        if scope == Scope::Global {
            return by_digits(made, made.spec.digits(1));
        }
        let tiles = Tiles::new(made)?;
        Ok(by_types!(made.spec, |K, V| Box::new(move |sort, worker| {
            let field = sort.spec.digits(1);
            // SAFETY: the pool's workers all execute.
            unsafe { tiles.sort::<K, V>(sort, worker, |turns, n| by_bits::<K, V>(turns, n, field)) }
        })))
    }

    /// Splits `n` keys by each bit of the field, the lowest first, from the first place to the second and back; returns where
    /// they are then.
    ///
    /// # Safety
    /// Both places have room for `n` keys and values that nobody else uses.
    #[inline(always)]
    pub unsafe fn by_bits<K: Key, V: Tuple>(
        [mut from, mut to]: [Place; 2],
        n: usize,
        field: Digits,
    ) -> Place {
        let is_false = |key: K, bit: u32| usize::from(key.wide() >> bit & 1 == 0);
        let mut falses: usize = (0..n).map(|i| is_false(unsafe { from.key::<K>(i) }, field.begin)).sum();
        for bit in field.begin..field.end {
            // Falses go to f, the number of falses before them, trues to i − f + NF. The next bit's falses are counted meanwhile.
            let (mut f, mut next, following) = (0, 0, (bit + 1).min(field.end - 1));
            for i in 0..n {
                let pair = unsafe { from.take::<K, V>(i) };
                let this = is_false(pair.key, bit);
                let at = if this == 1 { f } else { i - f + falses };
                f += this;
                next += is_false(pair.key, following);
                unsafe { pair.put(to, at) };
            }
            (from, to, falses) = (to, from, next);
        }
        from
    }
}

pub mod cuda {
    use super::{Scope, THREADS, rounds, tile};
    use crate::primitives::sort::cuda::prelude::*;

    const MODULE: &str = "sort_sengupta2007";

    /// Upper limit on the bits of a field (`SORT_BITS`).
    const MOST_BITS: u64 = 64;

    /// Blocks per multiprocessor that count the ones of all bits.
    const COUNTING: u32 = 4;

    device_struct! {
        /// `ScanSort` in the kernels.
        struct Launch: 96 {
            from: Pair,
            to: Pair,
            ones: DevicePtr<u32>,
            cleared: DevicePtr<u32>,
            descriptors: DevicePtr<u64>,
            tickets: DevicePtr<u32>,
            mask: u64,
            n: u32,
            begin: u32,
            end: u32,
            bit: u32,
            width: u32,
            passes: u32,
        }
    }

    impl Launch {
        /// The keys and field; what one of the sorts alone needs is null or 0.
        fn new(call: &Call, field: Digits) -> Launch {
            Launch {
                from: call.from,
                to: call.to,
                mask: field.mask(),
                n: call.n as u32,
                begin: field.begin,
                end: field.end,
                ..Launch::zeroed()
            }
        }
    }

    /// The name of a kernel for the case's keys and values.
    fn named(spec: &Spec, word: &str) -> String {
        format!("sort_{word}_u{}_{}", 8 * spec.key_bytes(), spec.value())
    }

    /// The kernels that count the ones of all bits, and that split by a bit.
    fn names(spec: &Spec) -> [String; 2] {
        [format!("sort_ones_u{}", 8 * spec.key_bytes()), named(spec, "bit")]
    }

    pub fn kernels(spec: &Spec, scope: Scope) -> KernelList {
        if scope == Scope::Block {
            return kernels_of_tiles(spec, BY_SPLITS);
        }
        let [ones, bit] = names(spec);
        KernelList::default().timed(MODULE, ones, 1).timed(MODULE, bit, spec.digits(1).count().into())
    }

    /// The kernel that sorts tiles of this name, and the one that merges.
    pub fn kernels_of_tiles(spec: &Spec, sort: &str) -> KernelList {
        let rounds = rounds(spec.keys, tile(spec)).into();
        let names = [(named(spec, sort), 1), (named(spec, "merge"), rounds)];
        KernelList::default().timed_all(MODULE, names)
    }

    /// The kernel that sorts tiles by their bits.
    const BY_SPLITS: &str = "tile_by_splits";

    pub fn method(gpu: &Gpu, spec: &Spec, scope: Scope) -> Result<GpuMethod<Call>, Failure> {
        match scope {
            Scope::Global => of_bits(gpu, spec),
            Scope::Block => of_tiles(gpu, spec, BY_SPLITS, 0),
        }
    }

    /// A split of all keys by each bit, the lowest first. Ones are counted for this execution and the next in turn: each
    /// clears the counts of the other.
    fn of_bits(gpu: &Gpu, spec: &Spec) -> Result<GpuMethod<Call>, Failure> {
        let (field, tile, sms) = (spec.digits(1), tile(spec), gpu.device().sms.max(1));
        let [count, split] = gpu.module(MODULE)?.kernels(names(spec))?;
        let none = || gpu.upload(&[0; MOST_BITS as usize]);
        let (mut ones, tickets) = ([none()?, none()?], none()?);
        let descriptors: DeviceBuffer<u64> = array(gpu, spec.keys / tile + 1)?;
        Ok(Box::new(move |gpu, call| {
            ones.swap(0, 1);
            let launch = Launch {
                ones: ones[0].pointer(),
                cleared: ones[1].pointer(),
                descriptors: descriptors.pointer(),
                tickets: tickets.pointer(),
                ..Launch::new(call, field)
            };
            let blocks = grid(call.n, THREADS.into()).min(COUNTING * sms);
            gpu.launch(&count, blocks, THREADS, 0, args![launch])?;
            let (blocks, mut from) = (grid(call.n, tile), call.from);
            (field.begin..field.end).try_for_each(|bit| {
                let to = if (field.end - bit) % 2 == 1 { call.to } else { call.between };
                gpu.launch(&split, blocks, THREADS, 0, args![Launch { from, to, bit, ..launch }])?;
                from = to;
                Ok(())
            })
        }))
    }

    /// Tiles sorted by the kernel of this name, in so many passes at most, and merged. The output and the array between
    /// take turns, so that the last round writes the output.
    pub fn of_tiles(gpu: &Gpu, spec: &Spec, sort: &str, passes: u32) -> Result<GpuMethod<Call>, Failure> {
        let (field, tile, names) =
            (spec.digits(1), tile(spec), [sort, "merge"].map(|word| named(spec, word)));
        let [sort, merge] = gpu.module(MODULE)?.kernels(names)?;
        Ok(Box::new(move |gpu, call| {
            let (rounds, blocks) = (rounds(call.n, tile), grid(call.n, tile));
            let after = |round: u32| if (rounds - round) % 2 == 1 { call.between } else { call.to };
            let launch = Launch { to: after(0), passes, ..Launch::new(call, field) };
            gpu.launch(&sort, blocks, THREADS, 0, args![launch])?;
            (0..rounds).try_for_each(|round| {
                let width = (tile as u32) << round;
                let round = Launch { from: after(round), to: after(round + 1), width, ..launch };
                gpu.launch(&merge, blocks, THREADS, 0, args![round])
            })
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::sort::tests::spec;

    #[test]
    fn rounds_merge_all_tiles() {
        let found: Vec<u32> = [0, 1, 10, 11, 20, 21, 40, 41].map(|n| rounds(n, 10)).to_vec();
        assert_eq!(found, [0, 0, 0, 1, 1, 2, 2, 3]);
    }

    #[test]
    fn tiles_fit() {
        let tile = |words: &str| tile(&spec(&format!("keys=9 {words}")));
        assert_eq!(tile("backend=cuda key=u64 values=8B"), 4352);
        assert_eq!(tile("backend=cpu"), 32768);
        assert_eq!(tile("backend=scalar key=u64 values=4B"), 8192);
    }
}
