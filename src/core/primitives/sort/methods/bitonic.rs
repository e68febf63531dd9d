//! The bitonic sorting network (he2007 §4.1, reference 20). Keys with values take the numbers of their places along, by
//! which equal keys are compared, and by which the values are gathered at the end.
//!
//! A stage of span k makes sorted runs of k keys of pairs of sorted runs of k / 2. Its first level compares each key of
//! the left run with its mirror image in the right one, and the following levels, of span k / 2, k / 4 … 2, compare keys
//! at half a span's distance. All comparisons put the smaller key first, so the network sorts any number of keys: those
//! behind the end count as infinite, and a comparison with one of them is left out.
//!
//! The levels whose span is at most a tile's are computed in fast memory, one tile after another. Each launch over all keys
//! reads and writes them once.

use crate::case::work::{Access, Order, Pass};
use crate::primitives::Costs;
use crate::primitives::sort::Spec;
use crate::primitives::sort::work::{performed, read_keys};

/// Keys of a tile: `NETWORK_TILE` in the kernels.
pub const TILE: u64 = 1 << 12;

/// Levels that a launch over all keys computes at most, in registers.
const LEVELS: u32 = 3;

/// All keys for each launch over all of them, or on CPUs for each level, with their places if they have values, which
/// are gathered at the end.
pub fn costs(spec: &Spec) -> Costs<'_> {
    let most = if spec.backend.is_cuda() { LEVELS } else { 1 };
    let times = launches(spec.keys, most).len() as u64;
    let (key, value, n) = (spec.key_bytes(), spec.value(), spec.keys);
    let first = read_keys(spec).and([Access::writes("keys_out", key, n)]);
    let again = Pass::once([Access::reads("keys_out", key, n), Access::writes("keys_out", key, n)]);
    let [places, placed] = [Access::reads, Access::writes].map(|of| of("places", 4, n));
    let gathered = Access::reads("values_in", value, n).ordered(Order::Random);
    let again = again.times(times.saturating_sub(1));
    let costs = if value == 0 {
        Costs::of(performed([first, again]))
    } else {
        // The array between has the places.
        Costs::of(performed([
            first.and([placed.clone()]),
            again.and([places.clone(), placed]),
            Pass::once([places, gathered, Access::writes("values_out", value, n)]),
        ]))
        .beside(spec.bytes())
    };
    costs.unknown(NETWORKS_UNKNOWN)
}

/// The reason why no model predicts networks in shared memory.
pub const NETWORKS_UNKNOWN: &str = "no model covers the blocks of he2007's sorts";

/// A part of the network that reads and writes all keys once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Launch {
    /// Sorts each tile.
    Tiles,
    /// `levels` levels, the first of this span; `mirrored` if that one begins a stage.
    Levels { span: u64, levels: u32, mirrored: bool },
    /// The levels within tiles of a stage that has begun.
    Rest,
}

/// The launches that sort `n` keys, each with at most `most` levels at a time beyond a tile.
fn launches(n: u64, most: u32) -> Vec<Launch> {
    let mut all = Vec::from_iter((n > 0).then_some(Launch::Tiles));
    let mut stage = 2 * TILE;
    while stage / 2 < n {
        let (mut span, mut left) = (stage, (stage / TILE).ilog2());
        while left > 0 {
            let levels = left.min(most);
            all.push(Launch::Levels { span, levels, mirrored: span == stage });
            (span, left) = (span >> levels, left - levels);
        }
        all.push(Launch::Rest);
        stage *= 2;
    }
    all
}

#[expect(clippy::undocumented_unsafe_blocks, reason = "each caller promises what `Run` asks for")]
pub mod cpu {
    use super::{Launch, TILE, launches};
    use crate::primitives::cpu::tuple::None;
    use crate::primitives::sort::cpu::prelude::*;

    /// All levels of a span that fits in a tile are computed tile after tile, which stays in cache, by the tile's worker;
    /// for each other level the workers divide the comparisons.
    pub fn method(made: &Made) -> PoolMethod<Sort> {
        // SAFETY: the pool's workers all execute.
        by_types!(made.spec, |K, V| Box::new(|sort, worker| unsafe { run::<K, V>(sort, worker) }))
    }

    /// A worker's share of a sort, as [`Run`](crate::primitives::sort::cpu::Run).
    pub unsafe fn run<K: Key, V: Tuple>(sort: &Sort, worker: Worker) {
        unsafe {
            if size_of::<V>() > 0 {
                with_places::<K, V, u32>(sort, worker)
            } else {
                with_places::<K, V, None>(sort, worker)
            }
        }
    }

    /// The same with places of type `P`, which may be nothing.
    unsafe fn with_places<K: Key, V: Tuple, P: Position>(sort: &Sort, worker: Worker) {
        let (n, (mut next, pieces)) = (sort.taken(worker), sort.share(worker, worker.index));
        let network: Network<K, P> = Network {
            keys: sort.output.keys.ptr(),
            places: sort.between.place().keys.cast(),
            n,
            field: sort.spec.digits(8),
        };
        let from = sort.source::<K, V>();
        unsafe {
            for i in pieces.into_iter().flatten() {
                K::take(from.keys.cast::<K>().add(i)).put(network.keys.add(next));
                P::at(i).put(network.places.add(next));
                next += 1;
            }
            worker.meet();
            network.sort(&worker);
            gather::<V, P>(network.places, from, sort.output.place(), part(n, worker.index, worker.count));
        }
    }

    /// Moves the values of these places.
    unsafe fn gather<V: Tuple, P: Position>(places: *const P, from: Place, to: Place, range: Range<usize>) {
        for i in range {
            unsafe {
                V::take(from.values.cast::<V>().add(P::take(places.add(i)).place()))
                    .put(to.values.cast::<V>().add(i));
            }
        }
    }

    /// The number of a place in the input, or nothing.
    trait Position: Tuple {
        fn at(i: usize) -> Self;

        fn place(self) -> usize;
    }

    impl Position for u32 {
        fn at(i: usize) -> u32 {
            i as u32
        }

        #[inline(always)]
        fn place(self) -> usize {
            self as usize
        }
    }

    impl Position for None {
        fn at(_: usize) -> None {
            None
        }

        #[inline(always)]
        fn place(self) -> usize {
            0
        }
    }

    /// Keys that a network sorts where they are.
    struct Network<K, P> {
        keys: *mut K,
        places: *mut P,
        n: usize,
        field: Digits,
    }

    impl<K: Key, P: Position> Network<K, P> {
        /// Sorts all keys; all workers call it.
        unsafe fn sort(&self, worker: &Worker) {
            for launch in launches(self.n as u64, 1) {
                unsafe {
                    match launch {
                        Launch::Tiles => self.in_tiles(worker, |tile| self.sort_tile(tile)),
                        Launch::Rest => self.in_tiles(worker, |tile| self.finish_tile(tile)),
                        Launch::Levels { span, mirrored, .. } => {
                            // As many comparisons as if the last span were full.
                            let all = self.n.next_multiple_of(span as usize) / 2;
                            self.level(part(all, worker.index, worker.count), span as usize, mirrored);
                        }
                    }
                }
                worker.meet();
            }
        }

        /// Calls `then` with the comparisons of each of the worker's tiles.
        fn in_tiles(&self, worker: &Worker, then: impl Fn(Range<usize>)) {
            let (tile, tiles) = (TILE as usize, self.n.div_ceil(TILE as usize));
            let at = |index: usize| tiles * index / worker.count;
            (at(worker.index)..at(worker.index + 1)).for_each(|i| then(i * tile / 2..(i + 1) * tile / 2));
        }

        fn sort_tile(&self, tile: Range<usize>) {
            for stage in 1..=TILE.ilog2() {
                for log in (1..=stage).rev() {
                    // SAFETY: a tile's comparisons are of its own keys, and one worker's.
                    unsafe { self.level(tile.clone(), 1 << log, log == stage) };
                }
            }
        }

        fn finish_tile(&self, tile: Range<usize>) {
            for log in (1..=TILE.ilog2()).rev() {
                // SAFETY: as above.
                unsafe { self.level(tile.clone(), 1 << log, false) };
            }
        }

        /// Some of the comparisons of a level, of which each pair of keys in a span has one.
        #[inline(always)]
        unsafe fn level(&self, comparisons: Range<usize>, span: usize, mirrored: bool) {
            let half = span / 2;
            for c in comparisons {
                let low = (c & !(half - 1)) * 2 + (c & (half - 1));
                let high = if mirrored { low ^ (span - 1) } else { low + half };
                if low >= self.n {
                    break;
                }
                if high < self.n {
                    unsafe { self.exchange(low, high) };
                }
            }
        }

        /// Puts the smaller of two keys first.
        #[inline(always)]
        unsafe fn exchange(&self, low: usize, high: usize) {
            unsafe {
                let [a, b] = [low, high].map(|at| K::take(self.keys.add(at)));
                let [p, q] = [low, high].map(|at| P::take(self.places.add(at)));
                if (self.field.field(a.wide()), p.place()) > (self.field.field(b.wide()), q.place()) {
                    a.put(self.keys.add(high));
                    b.put(self.keys.add(low));
                    p.put(self.places.add(high));
                    q.put(self.places.add(low));
                }
            }
        }
    }
}

pub mod cuda {
    use super::{LEVELS, Launch, TILE, launches};
    use crate::primitives::sort::cuda::prelude::*;

    /// The module of he2007's sorts.
    pub const MODULE: &str = "sort_he2007";

    device_struct! {
        /// `Bitonic` in the kernels.
        struct Network: 48 {
            keys_in: DevicePtr<u32>,
            keys: DevicePtr<u32>,
            places: DevicePtr<u32>,
            n: u32,
            begin: u32,
            bits: u32,
            span: u32,
            mirrored: u32,
            unused: u32,
        }
    }

    /// Bytes of dynamic shared memory of a block that sorts a tile: its keys and, with values, their places.
    pub fn shared(spec: &Spec) -> u32 {
        let place = if spec.value() > 0 { 4 } else { 0 };
        (TILE * (spec.key_bytes() + place)) as u32
    }

    /// The kernel of a launch.
    fn name(spec: &Spec, launch: Launch) -> String {
        let what = match launch {
            Launch::Tiles => "tiles".to_owned(),
            Launch::Levels { levels, .. } => format!("levels_{levels}"),
            Launch::Rest => "rest".to_owned(),
        };
        format!(
            "bitonic_{what}_u{}_{}",
            8 * spec.key_bytes(),
            if spec.value() > 0 { "pairs" } else { "keys" }
        )
    }

    /// The kernel that gathers the values.
    fn gathering(spec: &Spec) -> Option<String> {
        (spec.value() > 0).then(|| format!("bitonic_values_{}", spec.value()))
    }

    pub fn kernels(spec: &Spec) -> KernelList {
        let all = launches(spec.keys, LEVELS).into_iter().map(|launch| name(spec, launch));
        KernelList::default().timed_all(MODULE, all.chain(gathering(spec)).map(|name| (name, 1)))
    }

    pub fn method(gpu: &Gpu, spec: &Spec) -> Result<GpuMethod<Call>, Failure> {
        let (spec, module) = (*spec, gpu.module(MODULE)?);
        // Fewer keys are sorted by the first of these launches.
        let kernels =
            launches(spec.keys, LEVELS).into_iter().map(|launch| module.kernel(&name(&spec, launch)));
        let kernels = kernels.collect::<Result<Vec<_>, _>>()?;
        let gather = gathering(&spec).map(|name| module.kernel(&name)).transpose()?;
        let (Digits { begin, end, .. }, shared) = (spec.digits(8), shared(&spec));
        Ok(Box::new(move |gpu, call| {
            let (n, n32, places) = (call.n, call.n as u32, call.between[0]);
            let [keys_in, values_in] = call.from;
            let [keys, values] = call.to;
            let bits = end - begin;
            let all = Network { keys_in, keys, places, n: n32, begin, bits, ..Network::zeroed() };
            for (launch, kernel) in launches(n, LEVELS).into_iter().zip(&kernels) {
                let (network, blocks, shared) = match launch {
                    Launch::Levels { span, levels, mirrored } => {
                        let threads = n.div_ceil(span) * (span >> levels);
                        let network = Network { span: span as u32, mirrored: u32::from(mirrored), ..all };
                        (network, grid(threads, BLOCK.into()), 0)
                    }
                    _ => (all, grid(n, TILE), shared),
                };
                gpu.launch(kernel, blocks, BLOCK, shared, args![network])?;
            }
            gather
                .as_ref()
                .map_or(Ok(()), |gather| launch_over(gpu, gather, n, args![values, values_in, places, n32]))
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_has_a_level_for_each_span() {
        assert_eq!(launches(0, 3), []);
        assert_eq!(launches(TILE, 3), [Launch::Tiles]);
        let level = |span: u64, levels, mirrored| Launch::Levels { span: span * TILE, levels, mirrored };
        let two = [Launch::Tiles, level(2, 1, true), Launch::Rest];
        assert_eq!(launches(TILE + 1, 3), two);
        let many = launches(16 * TILE, 3);
        assert_eq!(many[..3], two);
        assert_eq!(many[7..], [level(16, 3, true), level(2, 1, false), Launch::Rest]);
        let single =
            launches(8 * TILE, 1).into_iter().filter(|launch| matches!(launch, Launch::Levels { .. }));
        assert_eq!(single.count(), 1 + 2 + 3);
    }

    /// The network of these launches sorts any number of keys.
    #[test]
    fn the_network_sorts() {
        let level = |keys: &mut [u64], span: usize, mirrored: bool| {
            for low in (0..keys.len()).filter(|at| at % span < span / 2) {
                let high = if mirrored { low ^ (span - 1) } else { low + span / 2 };
                if high < keys.len() && keys[low] > keys[high] {
                    keys.swap(low, high);
                }
            }
        };
        for n in [1, 31, 33, TILE - 1, TILE + 1, 3 * TILE + 5, 8 * TILE] {
            let mut keys: Vec<u64> = (0..n).map(|i| i * 0x9E37_79B9 % 65_521).collect();
            let mut sorted = keys.clone();
            sorted.sort_unstable();
            for launch in launches(n, LEVELS) {
                match launch {
                    Launch::Tiles => keys.chunks_mut(TILE as usize).for_each(<[u64]>::sort_unstable),
                    Launch::Levels { span, levels, mirrored } => (0..levels).for_each(|step| {
                        level(&mut keys, span as usize >> step, mirrored && step == 0);
                    }),
                    Launch::Rest => {
                        (1..=TILE.ilog2()).rev().for_each(|log| level(&mut keys, 1 << log, false))
                    }
                }
            }
            assert_eq!(keys, sorted, "{n}");
        }
    }
}
