//! How a split by up to 8 bits partitions the keys into tiles, each handled by one block
//! (`kernels/multisplit/fused.cuh`, `kernels/multisplit/kept.cuh`). Pure.

use super::{By, Spec};
use crate::case::table::words;

/// Upper limit on the bits of a bucket's number: a block has a thread, and a counter per warp, for each bucket.
pub const MOST_BITS: u32 = 8;
/// Upper limit on the number of buckets of a split, and of ashkiani2017's methods: with more, the words that each warp
/// keeps for them do not fit (§6.3).
pub const MOST_BUCKETS: u64 = 1 << MOST_BITS;

/// Tiles per group: `GROUP` in the kernels.
pub const GROUP: u64 = 8;

/// Upper limit on the number of keys whose tiles are kept on chip, in one launch: two tiles on each of 128 multiprocessors.
/// Fewer multiprocessors rank some of the tiles twice.
pub const MOST_KEPT: u64 = 2 * 128 * KEPT_TILE;

/// Keys in such a tile, whatever the numbers of buckets and the values: `KeptShape` in the kernels.
const KEPT_TILE: u64 = 4096;

/// Such tiles per group: `KEPT_GROUP` in the kernels.
pub const KEPT_GROUP: u64 = 16;

/// Bytes of a count that blocks tell each other while they run.
pub const KEPT_COUNT: u64 = 8;

/// Fewest bits by which large tiles are split by digits of delta-buckets.
const LEAST_DELTA_BITS: u32 = 5;

/// Runs may be cut at multiples of this number of elements: `RUN_ALIGN` in the kernels.
const RUN_ALIGN: u64 = 8;

/// The launch shape of the pass: `Shape` in the kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub threads: u32,
    /// Keys per thread.
    pub items: u32,
    /// Resident blocks per multiprocessor.
    pub blocks: u32,
}

impl Shape {
    /// The shape for 2^`bits` buckets and values of `value` bytes.
    pub fn of(bits: u32, value: u64) -> Shape {
        let large = bits >= if value == 4 { 7 } else { 6 };
        let (threads, items, blocks) = match (value, large) {
            (0, false) => (256, 16, 4),
            (0, true) => (256, 48, 2),
            (4, false) => (256, 32, 2),
            (4, true) => (512, 32, 1),
            (_, false) => (256, 28, 2),
            (_, true) => (512, 24, 1),
        };
        Shape { threads, items, blocks }
    }

    /// Keys per tile.
    pub fn tile(self) -> u64 {
        u64::from(self.threads * self.items)
    }

    /// Bytes of dynamic shared memory, with bulk copies or without: `Room` in the kernels.
    pub fn shared(self, way: KernelVariant, bulk: bool) -> u64 {
        let buckets = 1u64 << way.bits;
        let (between, runs) = match (way.kept, bulk) {
            // Runs that stay on chip leave by threads; two sums per bucket lie beside them.
            (true, _) => (0, 4 * buckets + 4),
            (_, true) => (2 * RUN_ALIGN * buckets, 3 * buckets),
            _ => (0, 2 * buckets + 1),
        };
        let slots = self.tile() + between;
        let values = (slots * way.value).max(16);
        let counters = u64::from(self.threads) / 32 * buckets.max(32);
        (values + 4 * (slots + counters + runs + 8 + 1)).next_multiple_of(16)
    }
}

/// The number by which a split orders keys. `Field` and `DeltaDigit` are cheap enough to be recomputed from a
/// key whenever they are needed; `Any` is kept by the tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// A field of the key.
    Field,
    /// A digit of the number of the key's delta-bucket.
    DeltaDigit,
    /// The number of the key's bucket, by any function.
    Any,
    /// The same by the hash, for searches in hash tables, without values or with values of 4 bytes.
    Hash,
}

/// The parameters that select the kernels of a split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelVariant {
    /// Bits of a number, 1 to [`MOST_BITS`].
    pub bits: u32,
    /// Bytes of a value: 0, 4 or 8.
    pub value: u64,
    pub number: Number,
    /// True if one launch keeps the tiles on chip between their count and their placement.
    pub kept: bool,
}

impl KernelVariant {
    /// The kernels that count tiles and place them in a further launch.
    pub fn counted(bits: u32, value: u64, number: Number) -> KernelVariant {
        KernelVariant { bits, value, number, kept: false }
    }

    /// The kernel that keeps tiles on chip. There are some for every few bits only: with few keys, one ballot more takes
    /// little time.
    pub fn kept(bits: u32, value: u64, number: Number) -> KernelVariant {
        let few = if value == 8 { 5 } else { 2 };
        let enough = [few, 5].into_iter().find(|&enough| bits <= enough);
        KernelVariant { bits: enough.unwrap_or(MOST_BITS), value, number, kept: true }
    }

    /// The launch shape of the kernel that places tiles.
    pub fn shape(self) -> Shape {
        match self.kept {
            true => Shape { threads: 256, items: (KEPT_TILE / 256) as u32, blocks: 2 },
            false => Shape::of(self.bits, self.value),
        }
    }

    /// Name of the kernel that keeps tiles on chip.
    pub fn kept_name(self) -> String {
        format!("fused_kept_{}_{}", self.bits, self.value)
    }

    /// Names of the counting kernel, and of the pass with bulk copies or without.
    pub fn names(self, bulk: bool) -> [String; 2] {
        let KernelVariant { bits, value, number, .. } = self;
        let stores = if bulk { "bulk" } else { "pass" };
        let by = match number {
            Number::Field => "field",
            Number::DeltaDigit => "delta",
            Number::Any => "any",
            Number::Hash => "hash",
        };
        [format!("fused_count_{by}_{bits}"), format!("fused_{stores}_{by}_{bits}_{value}")]
    }

    /// The number of counts for `n` keys: of tiles, and of groups.
    pub fn counts(self, n: u64) -> [u64; 2] {
        let tiles = n.div_ceil(self.shape().tile());
        [tiles << self.bits, tiles.div_ceil(if self.kept { KEPT_GROUP } else { GROUP }) << self.bits]
    }

    /// Bytes that a split of up to `n` keys allocates beside the arrays.
    pub fn bytes(self, n: u64) -> u64 {
        let [tiles, groups] = self.counts(n);
        match self.kept {
            true => KEPT_COUNT * (tiles + groups),
            false => 4 * (tiles + 2 * groups + (1 << self.bits) + 1),
        }
    }
}

/// The number of digits of a `bits`-bit number, and the bits per digit.
pub fn digits(bits: u32) -> (u32, u32) {
    let count = bits.div_ceil(MOST_BITS);
    (count, bits.div_ceil(count))
}

/// The lowest bit of the key field that is the bucket, if the bucket is a field; delta-buckets are fields if m
/// is a power of two.
pub fn field(spec: &Spec) -> Option<u32> {
    match spec.by {
        By::Identity { shift } => Some(shift),
        By::DeltaBuckets { .. } if spec.buckets.is_power_of_two() => Some(32 - spec.bits()),
        _ => None,
    }
}

/// True if tiles can stay on chip: their numbers are computed in place.
pub fn keeps(by: By) -> bool {
    matches!(by, By::DeltaBuckets { .. } | By::Identity { .. } | By::Hash)
}

words! {
    /// The launches of a split by the method fused.
    pub enum Launches {
        One = "one",
        Three = "three",
    }
}

/// The launches of a case by the method fused, if it was not asked for some: as few as its keys allow.
pub fn launches(spec: &Spec) -> Launches {
    match spec.asked_launches() {
        Some(launches) => launches,
        _ if spec.keys <= MOST_KEPT && keeps(spec.by) => Launches::One,
        _ => Launches::Three,
    }
}

/// The kernels with which the method fused splits a case, once or in each of its rounds.
pub fn way(spec: &Spec) -> KernelVariant {
    let bits = digits(spec.bits()).1;
    let number = match spec.by {
        _ if field(spec).is_some() => Number::Field,
        By::DeltaBuckets { .. } => Number::DeltaDigit,
        _ => Number::Any,
    };
    match (launches(spec), number) {
        (Launches::One, _) => KernelVariant::kept(bits, spec.value, number),
        (_, Number::DeltaDigit) => KernelVariant::counted(bits.max(LEAST_DELTA_BITS), spec.value, number),
        _ => KernelVariant::counted(bits, spec.value, number),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::spec;
    use super::*;

    /// As many blocks as the kernels' launch bounds ask for fit on a multiprocessor with 228 KiB, where each
    /// block takes 1 KiB extra.
    #[test]
    fn blocks_fit() {
        for (bits, value) in (1..=MOST_BITS).flat_map(|b| [0, 4, 8].map(|v| (b, v))) {
            let shape = Shape::of(bits, value);
            let way = KernelVariant::counted(bits, value, Number::Any);
            let bytes = shape.shared(way, true) + 1024;
            assert!(bytes * u64::from(shape.blocks) <= 228 << 10, "{bits} {value} {bytes}");
            let kept = KernelVariant::kept(bits, value, Number::Any);
            let bytes = kept.shape().shared(kept, true) + 1024;
            assert!(bytes * u64::from(kept.shape().blocks) <= 228 << 10, "{bits} {value} {bytes}");
            assert!(bytes <= 65 << 10 && kept.bits >= bits, "on every GPU: {bits} {value} {bytes}");
            assert!(shape.tile().is_multiple_of(1024), "two warps count a tile in batches");
        }
    }

    /// At least one block fits on GPUs without bulk copies: without values in 64 KiB, with values in 163 KiB.
    #[test]
    fn older_multiprocessors_have_room() {
        for (bits, value) in (1..=MOST_BITS).flat_map(|b| [0, 4, 8].map(|v| (b, v))) {
            let way = KernelVariant::counted(bits, value, Number::Any);
            let bytes = way.shape().shared(way, false);
            let most = if value == 0 { 64 } else { 163 };
            assert!(bytes <= most << 10, "{bits} {value} {bytes}");
        }
    }

    #[test]
    fn digits_are_alike() {
        assert_eq!([1, 8, 9, 12, 15, 16].map(digits), [(1, 1), (1, 8), (2, 5), (2, 6), (2, 8), (2, 8)]);
    }

    #[test]
    fn a_tile_has_a_count_of_each_bucket() {
        let way = KernelVariant::counted(5, 0, Number::Field);
        assert_eq!(way.counts(4096 * 8), [8 * 32, 32]);
        assert_eq!(way.counts(4096 * 8 + 1), [9 * 32, 64]);
        assert_eq!(way.bytes(4096), 4 * (32 + 64 + 32 + 1));
        assert_eq!(way.counts(0), [0, 0]);
        let kept = KernelVariant::kept(3, 0, Number::Field);
        assert_eq!(
            (kept.bits, kept.counts(4096 * 16), kept.counts(4096 * 16 + 1)),
            (5, [16 * 32, 32], [17 * 32, 64])
        );
    }

    /// Few keys by a function that one launch takes are kept; others take three launches, by digits of any number of
    /// delta-buckets.
    #[test]
    fn few_keys_are_kept() {
        let of = |words: &str| {
            let way = way(&spec(words));
            (way.kept, way.number, way.bits)
        };
        assert_eq!(of(&format!("keys={MOST_KEPT} buckets=3")), (true, Number::DeltaDigit, 2));
        assert_eq!(of(&format!("keys={} buckets=3", MOST_KEPT + 1)), (false, Number::DeltaDigit, 5));
        assert_eq!(of("keys=9 buckets=200 by=hash"), (true, Number::Any, 8));
        assert_eq!(of("keys=9 buckets=4 by=range"), (false, Number::Any, 2));
        assert_eq!(
            of("keys=9 buckets=8 method=fused method.fused.launches=three"),
            (false, Number::Field, 3)
        );
    }
}
