//! onesweep (`kernels/sort/onesweep.cuh`; Adinets and Merrill 2022): a histogram of all digits, for which keys are read
//! once, and a pass for each digit, which reads and writes keys and values once. GPUs only.

use super::{Method, Tile};
use crate::case::Ranking;
use crate::case::block_cost::{self, BlockCost, LANES, wavefronts};
use crate::case::work::{Access, Order};
use crate::primitives::Costs;
use crate::primitives::multisplit::scattered;
use crate::primitives::sort::keys::DIGIT_BITS;
use crate::primitives::sort::work::{by_way_of_arrays, moved, read_keys, varying};
use crate::primitives::sort::{Distribution, Spec};

/// Values of a digit.
const DIGITS: u64 = 1 << DIGIT_BITS;

/// Bytes of a descriptor.
const DESCRIPTOR: u64 = 4;

/// A read of the keys, and a pass per digit. A tile's counts are written by it and read by the spine, its places
/// the other way round.
pub fn costs(spec: &Spec) -> Costs<'_> {
    let shape = Shape::of(spec);
    let counts = 2 * DIGITS * shape.tiles(spec.keys);
    let descriptors = [Access::writes, Access::reads].map(|of| of("descriptors", DESCRIPTOR, counts));
    let split = moved(spec, Order::Staged { partitions: DIGITS, tile: shape.tile() }).and(descriptors);
    let passes = vec![read_keys(spec), split.times(varying(spec, spec.digits(DIGIT_BITS)))];
    by_way_of_arrays(spec, passes).blocks_sampled(|| Ok(vec![count_cost(spec), pass_cost(spec)]))
}

/// The launch shape of a pass: `SortShape` in the kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub threads: u32,
    /// Keys per thread.
    pub items: u32,
    /// Blocks of the spine.
    pub spines: u32,
    size: &'static str,
    key: u64,
    value: u64,
}

impl Shape {
    /// The shape for a case. Fewer keys are sorted in smaller tiles, so that most multiprocessors have one.
    pub fn of(spec: &Spec) -> Shape {
        let (key, value) = (spec.key_bytes(), spec.value());
        let (threads, most) = match (key + value, key) {
            (4, _) => (256, 48),
            (8, 4) => (512, 32),
            (8, _) | (12, 4) => (512, 24),
            (12, _) => (512, 20),
            _ => (512, 17),
        };
        let (few, some) = if threads == 256 { (1 << 17, 1 << 19) } else { (1 << 18, 1 << 20) };
        let tile = match spec.method {
            Method::Onesweep { tile } if tile != Tile::Auto => tile,
            _ if spec.keys <= few => Tile::Small,
            _ if spec.keys <= some => Tile::Medium,
            _ => Tile::Large,
        };
        let items = match tile {
            Tile::Small => 2048 / threads,
            Tile::Medium => 16,
            Tile::Large | Tile::Auto => most,
        };
        Shape { threads, items, spines: 2, size: tile.name(), key, value }
    }

    /// The name of the tile's size.
    pub fn size(self) -> &'static str {
        self.size
    }

    /// Keys per tile.
    pub fn tile(self) -> u64 {
        u64::from(self.threads * self.items)
    }

    /// The number of tiles of `n` keys.
    pub fn tiles(self, n: u64) -> u64 {
        n.div_ceil(self.tile())
    }

    /// True if a pass stores its runs with bulk copies; `supported` if the GPU has them. Pairs with keys of 64 bits are stored by
    /// the block's threads: on an H100 that takes 1 to 3 % less time, and with such keys alone 6 % more.
    pub fn bulk(self, supported: bool) -> bool {
        supported && !(self.key == 8 && self.value > 0)
    }

    /// The name of the pass on a GPU with bulk copies or without.
    pub fn name(self, supported: bool) -> String {
        let bulk = self.bulk(supported);
        format!("sort_{}_{}_u{}_{}", if bulk { "bulk" } else { "pass" }, self.size, 8 * self.key, self.value)
    }

    /// The name of the kernel that ranks tiles of this kind again and again.
    pub fn ranking(self) -> String {
        format!("sort_ranking_u{}_{}", 8 * self.key, self.value)
    }

    /// Slots that a run may leave empty in shared memory: three times `STEP` in the kernels.
    fn slack(self) -> u64 {
        if self.key == 8 { 6 } else { 12 }
    }

    /// Bytes of dynamic shared memory per block on a GPU with bulk copies or without: `Room` in the kernels.
    pub fn shared(self, supported: bool) -> u64 {
        let (between, runs) =
            if self.bulk(supported) { (self.slack() * DIGITS, 3 * DIGITS) } else { (0, 2 * DIGITS + 1) };
        let slots = self.tile() + between;
        let counters = u64::from(self.threads) / 32 * DIGITS;
        let values = if self.value > 0 { slots * self.value } else { 2 * 4 };
        let keys = values.next_multiple_of(16) + slots * self.key;
        (keys + 4 * (counters + runs + 8 + 1)).next_multiple_of(16) + 4 * DIGITS
    }
}

/// The keys that a case ranks in its passes, if they are random: the roof is measured with these, by all digits, in large tiles.
pub fn ranking(spec: &Spec) -> Option<Ranking> {
    let sweeps = matches!(spec.method, Method::Onesweep { .. }) && spec.backend.is_cuda();
    let kind = match spec.value() {
        0 => spec.key.name().to_owned(),
        value => format!("{} + {value}B", spec.key.name()),
    };
    let digits = u64::from(spec.digits(DIGIT_BITS).count());
    (sweeps && spec.distribution == Distribution::Uniform).then_some(Ranking {
        kind,
        keys: spec.keys,
        digits,
    })
}

/// So many large tiles of random whole keys, of the kind that a case has.
pub fn ranked(spec: &Spec, tiles: u64) -> Spec {
    let method = Method::Onesweep { tile: Tile::Large };
    let whole =
        Spec { method, distribution: Distribution::Uniform, begin: 0, end: None, file: None, ..*spec };
    Spec { keys: tiles * Shape::of(&whole).tile(), ..whole }
}

/// The kernel that counts all digits: its name, and its bytes of dynamic shared memory per block. Few keys are
/// counted in few tables.
fn counting(spec: &Spec) -> (String, u64) {
    let digits = spec.digits(DIGIT_BITS);
    let copies = match spec.key_bytes() {
        _ if spec.method != (Method::Onesweep { tile: Tile::Large }) && spec.keys < 1 << 22 => 2,
        4 => 32,
        _ => 16,
    };
    let of = if digits.is_field(8 * spec.key_bytes()) { "some" } else { "whole" };
    (
        format!("sort_count_{of}_u{}_{copies}", 8 * spec.key_bytes()),
        4 * DIGITS * u64::from(digits.count()) * copies,
    )
}

/// Instructions, and integer instructions among them, for 32 keys of 32 bits in a pass with bulk copies, without
/// values and with values of 4 and 8 bytes: those of a multisplit by 8 bits, and the counting of a tile before it is
/// ranked.
const MOVED: [[f64; 2]; 3] = [[68.3, 45.8], [79.1, 50.6], [88.1, 56.2]];
/// In addition for keys of 64 bits, whose digits are shifted out of two registers.
const WIDE: [f64; 2] = [10.0, 6.0];
/// For 32 keys in the counting kernel: in all, and per digit.
const READ: [f64; 2] = [3.0, 2.0];
const COUNTED: [f64; 2] = [4.0, 2.0];

/// The lowest digits of a group of 32 keys of the case, as its lanes see them.
fn lowest_digits(spec: &Spec) -> impl Fn(u64) -> Vec<u64> {
    let (keys, digit, n) = (spec.source(), spec.digits(DIGIT_BITS).digit(0), spec.keys.max(1));
    let lanes = LANES as u64;
    move |group| (group * lanes..(group + 1) * lanes).map(|i| digit.of(keys.at(i % n)) as u64).collect()
}

/// Warps take four vectors per lane at a time, and add each digit of each key to a counter in a bank of their lane.
fn count_cost(spec: &Spec) -> BlockCost {
    let digits = f64::from(spec.digits(DIGIT_BITS).count());
    let each = [0, 1].map(|k| READ[k] + digits * COUNTED[k]);
    let vectors = 64 / spec.key_bytes();
    let cost = BlockCost::of(spec.keys.div_ceil(LANES as u64 * vectors), 32).loads(1.0);
    cost.with(spec.keys as f64 / LANES as f64, [each[0], each[1], 2.0 * digits])
}

/// Instructions, integer instructions and wavefronts for 32 keys in a pass: counts of the tile, ranks by counters key after
/// key, the places of the warps, and keys and values into the tile and out of it.
pub fn moved_on_chip(spec: &Spec) -> [f64; 3] {
    let digits = lowest_digits(spec);
    let counters = block_cost::mean(|group| wavefronts(digits(group)));
    let places = block_cost::mean(|group| scattered(&digits(group)));
    let (keys, values) = (spec.key_bytes() as f64 / 4.0, spec.value() as f64 / 4.0);
    // The tile's count is an atomic addition; two reads of counters and one write; keys and values in.
    let shared = 5.0 * counters + (keys + values) * places;
    let counts = MOVED[spec.value() as usize / 4];
    let wide = if keys > 1.0 { WIDE } else { [0.0; 2] };
    [counts[0] + wide[0], counts[1] + wide[1], shared]
}

/// The cost of a tile on chip. A tile hands its counts to the spine, which hands back their places: either takes a store, and
/// on average one and a half polls.
fn pass_cost(spec: &Spec) -> BlockCost {
    let shape = Shape::of(spec);
    let (warps, items) = (f64::from(shape.threads) / 32.0, f64::from(shape.items));
    let blocks = if shape.threads == 256 { 2 } else { 1 };
    // A tile's copies out overlap with the next tile, as if two blocks were resident; where two are, they stand for
    // each other's next tile.
    let resident = blocks.max(2);
    let loads = if spec.value() > 0 { 2.0 } else { 1.0 };
    let steps = 2.0 * items + warps / 2.0 + 20.0;
    let cost = BlockCost::of(shape.tiles(spec.keys), resident).loads(loads).looks(5.0).steps(steps);
    cost.with(spec.keys as f64 / LANES as f64, moved_on_chip(spec))
}

pub mod cuda {
    use super::{DIGITS, Shape, counting};
    use crate::device::cuda::KernelName;
    use crate::primitives::multisplit::cuda::fused::bulk;
    use crate::primitives::sort::cuda::MODULE;
    use crate::primitives::sort::cuda::prelude::*;

    /// The module of the passes with bulk copies.
    const BULK_MODULE: &str = "sort_bulk";

    /// Upper limit on the digits of a key.
    const MOST_DIGITS: u64 = 8;

    /// Threads per block of the counting kernel, and keys per block at least.
    const COUNT_THREADS: u32 = 1024;
    const COUNTED: u64 = 1 << 14;

    device_struct! {
        /// `Onesweep` in the kernels.
        pub struct Launch: 112 {
            pub from: Pair,
            pub to: Pair,
            pub between: Pair,
            pub counts: DevicePtr<u32>,
            pub cleared: DevicePtr<u32>,
            pub descriptors: [DevicePtr<u32>; 2],
            pub tickets: DevicePtr<u32>,
            pub n: u32,
            pub tiles: u32,
            pub begin: u32,
            pub end: u32,
            pub digits: u32,
            pub digit: u32,
        }
    }

    /// The kernels that count and that move, on a GPU with bulk copies or without.
    fn names(spec: &Spec, bulk: bool) -> [KernelName; 2] {
        let shape = Shape::of(spec);
        let module = if shape.bulk(bulk) { BULK_MODULE } else { MODULE };
        [(MODULE, counting(spec).0), (module, shape.name(bulk))]
    }

    pub fn kernels(spec: &Spec, capability: ComputeCapability) -> KernelList {
        let [(module, count), (of_pass, pass)] = names(spec, bulk(capability));
        let passes = u64::from(spec.digits(DIGIT_BITS).count());
        KernelList::default().timed(module, count, 1).timed(of_pass, pass, passes)
    }

    /// The kernel of a pass, its bytes of dynamic shared memory per block, and the blocks that are resident at once.
    pub struct Pass {
        kernel: Kernel,
        pub shared: u32,
        pub resident: u32,
    }

    impl Pass {
        /// The pass of a case.
        ///
        /// # Errors
        /// `NotApplicable` if a block does not fit on a multiprocessor; otherwise the driver's error.
        pub fn new(gpu: &Gpu, spec: &Spec) -> Result<Pass, Failure> {
            let (shape, bulk) = (Shape::of(spec), bulk(gpu.device().compute_capability));
            let [_, (module, name)] = names(spec, bulk);
            let (kernel, shared) = (gpu.module(module)?.kernel(&name)?, shape.shared(bulk) as u32);
            Ok(Pass { resident: gpu.max_blocks(&kernel, shape.threads, shared)?, kernel, shared })
        }
    }

    /// Digits are counted for this execution and the next in turn: each clears the counts of the other.
    pub fn method(gpu: &Gpu, spec: &Spec) -> Result<GpuMethod<Call>, Failure> {
        let (shape, digits, (name, counting)) = (Shape::of(spec), spec.digits(DIGIT_BITS), counting(spec));
        let (count, counting) = (gpu.module(MODULE)?.kernel(&name)?, counting as u32);
        gpu.max_blocks(&count, COUNT_THREADS, counting)?;
        let (pass, sms) = (Pass::new(gpu, spec)?, gpu.device().sms.max(1));
        if pass.resident <= shape.spines {
            return Err(Failure::NotApplicable(format!(
                "only {} blocks fit on this GPU, all of them spines",
                pass.resident
            )));
        }
        let none = vec![0; (MOST_DIGITS * DIGITS) as usize];
        let mut counts = [gpu.upload(&none)?, gpu.upload(&none)?];
        let descriptors = || array(gpu, shape.tiles(spec.keys).max(1) * DIGITS);
        let mut descriptors: [DeviceBuffer<u32>; 2] = [descriptors()?, descriptors()?];
        // The counting kernel clears the first ones only.
        descriptors.iter_mut().try_for_each(|words| gpu.memset32(words, 0))?;
        let tickets = array(gpu, MOST_DIGITS)?;
        Ok(Box::new(move |gpu, &Call { from, between, to, n }| {
            counts.swap(0, 1);
            let launch = Launch {
                from,
                to,
                between,
                counts: counts[0].pointer(),
                cleared: counts[1].pointer(),
                descriptors: descriptors.each_ref().map(DeviceBuffer::pointer),
                tickets: tickets.pointer(),
                n: n as u32,
                tiles: shape.tiles(n) as u32,
                begin: digits.begin,
                end: digits.end,
                digits: digits.count(),
                digit: 0,
            };
            let blocks = grid(n, COUNTED).min(sms);
            gpu.launch(&count, blocks, COUNT_THREADS, counting, args![launch])?;
            // Without keys a pass has nothing to do, and its spine nobody to serve.
            let blocks = (launch.tiles + shape.spines).min(pass.resident);
            (0..launch.digits).filter(|_| n > 0).try_for_each(|digit| {
                let launch = Launch { digit, ..launch };
                gpu.launch(&pass.kernel, blocks, shape.threads, pass.shared, args![launch])
            })
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::Problem;
    use crate::primitives::sort::tests::spec;

    #[test]
    fn blocks_fit() {
        for (key, value, blocks) in
            [("u32", "none", 2), ("u32", "4B", 1), ("u64", "none", 1), ("u64", "8B", 1)]
        {
            for keys in [1000, 1 << 19, 1 << 28] {
                let shape = Shape::of(&spec(&format!("keys={keys} backend=cuda key={key} values={value}")));
                let (bytes, between) = (shape.shared(true) + 1024, shape.slack() * DIGITS);
                assert!(
                    bytes * blocks <= 228 << 10 && shape.tile() + between < 1 << 16,
                    "{key} {value} {bytes}"
                );
                assert!(shape.shared(false) <= 163 << 10, "{key} {value}");
            }
        }
    }

    #[test]
    fn there_is_a_cost_for_each_pass() {
        for words in ["", "values=8B key=u64", "distribution=sorted"] {
            let spec = spec(&format!("keys=100000 backend=cuda {words}"));
            let passes = costs(&spec).passes();
            let costs = costs(&spec).block_costs().expect("counted");
            assert_eq!(costs.len(), passes.len(), "{words}");
            assert!(costs[1].instructions > costs[0].instructions, "{words}");
        }
        assert!(spec("keys=9 backend=cpu").block_costs().is_err());
    }

    #[test]
    fn random_keys_are_ranked_by_all_their_digits() {
        let found = |words: &str| ranking(&spec(&format!("keys=16385 {words}")));
        let kind = |kind: &str, digits| Some(Ranking { kind: kind.to_owned(), keys: 16_385, digits });
        assert_eq!(found("backend=cuda"), kind("u32", 4));
        assert_eq!(found("backend=cuda method=onesweep key=u64 values=8B"), kind("u64 + 8B", 8));
        assert_eq!(found("backend=cuda values=4B begin=3 end=12"), kind("u32 + 4B", 2));
        for words in ["backend=cpu", "backend=cuda method=bitonic", "backend=cuda distribution=equal"] {
            assert_eq!(found(words), None, "{words}");
        }
        let whole = ranked(&spec("keys=9 backend=cuda values=4B begin=3 end=12 distribution=few"), 2);
        assert_eq!((whole.keys, whole.digits(DIGIT_BITS).count()), (2 * 512 * 32, 4));
        assert_eq!(Shape::of(&whole).ranking(), "sort_ranking_u32_4");
    }

    #[test]
    fn the_kernels_have_names() {
        let named = |words: &str| {
            let spec = spec(words);
            (counting(&spec).0, Shape::of(&spec).name(true))
        };
        assert_eq!(
            named("keys=9 backend=cuda"),
            ("sort_count_whole_u32_2".to_owned(), "sort_bulk_small_u32_0".to_owned())
        );
        let field = "keys=268435456 backend=cuda key=u64 begin=3";
        assert_eq!(named(field), ("sort_count_some_u64_16".to_owned(), "sort_bulk_large_u64_0".to_owned()));
        for (values, bytes) in [("4B", 4), ("8B", 8)] {
            let pairs = named(&format!("{field} values={values}"));
            assert_eq!(pairs.1, format!("sort_pass_large_u64_{bytes}"));
        }
    }
}
