//! How onesweep divides keys into tiles, and what its blocks do (`kernels/sort_onesweep.cuh`). Pure.

use super::Spec;
use super::spec::Method;
use crate::case::block_cost::BlockCost;

/// Bits of a digit, and its values.
pub const DIGIT_BITS: u32 = 8;
pub const DIGITS: u64 = 1 << DIGIT_BITS;

/// Bytes of a descriptor.
pub const DESCRIPTOR: u64 = 4;

/// Upper limit on the digits of a key.
pub const MOST_DIGITS: u64 = 8;

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
        let (size, items) = match spec.keys {
            n if n <= few => ("small", if threads == 256 { 8 } else { 4 }),
            n if n <= some => ("medium", 16),
            _ => ("large", most),
        };
        Shape { threads, items, spines: 2, size, key, value }
    }

    /// Keys per tile.
    pub fn tile(self) -> u64 {
        u64::from(self.threads * self.items)
    }

    /// The number of tiles of `n` keys.
    pub fn tiles(self, n: u64) -> u64 {
        n.div_ceil(self.tile())
    }

    /// The name of the pass, with bulk copies or without.
    pub fn name(self, bulk: bool) -> String {
        format!("sort_{}_{}_u{}_{}", if bulk { "bulk" } else { "pass" }, self.size, 8 * self.key, self.value)
    }

    /// Slots that a run may leave empty in shared memory: three times `STEP` in the kernels.
    fn slack(self) -> u64 {
        if self.key == 8 && self.value != 4 { 6 } else { 12 }
    }

    /// Bytes of dynamic shared memory per block: `Room` in the kernels.
    pub fn shared(self, bulk: bool) -> u64 {
        let (between, runs) = if bulk { (self.slack() * DIGITS, 3 * DIGITS) } else { (0, 2 * DIGITS + 1) };
        let slots = self.tile() + between;
        let counters = u64::from(self.threads) / 32 * DIGITS;
        let values = if self.value > 0 { slots * self.value } else { 2 * 4 };
        let keys = values.next_multiple_of(16) + slots * self.key;
        (keys + 4 * (counters + runs + 8 + 1)).next_multiple_of(16) + 4 * DIGITS
    }
}

/// The kernel that counts all digits: its name, and its bytes of dynamic shared memory per block. Few keys are
/// counted in few tables.
pub fn counting(spec: &Spec) -> (String, u64) {
    let digits = spec.digits(DIGIT_BITS);
    let copies = match spec.key_bytes() {
        _ if spec.keys < 1 << 22 => 2,
        4 => 32,
        _ => 16,
    };
    let of = if digits.is_field(8 * spec.key_bytes()) { "some" } else { "whole" };
    (
        format!("sort_count_{of}_u{}_{copies}", 8 * spec.key_bytes()),
        4 * DIGITS * u64::from(digits.count()) * copies,
    )
}

/// Bytes that a sort allocates beside the arrays of keys and values: the counts of two executions, a ticket per
/// digit, and two descriptors per tile and value of a digit.
pub fn bytes(spec: &Spec) -> u64 {
    let tiles = Shape::of(spec).tiles(spec.keys).max(1);
    2 * 4 * MOST_DIGITS * DIGITS + 4 * MOST_DIGITS + 2 * DESCRIPTOR * tiles * DIGITS
}

/// Block costs for each pass of a case on a GPU.
///
/// # Errors
/// Methods whose costs are not known.
pub fn block_costs(spec: &Spec) -> Result<Vec<BlockCost>, String> {
    match spec.method {
        _ if !spec.backend.is_cuda() => {
            Err("no profile gives the time that CPUs take to rank keys".to_owned())
        }
        Method::Onesweep => Err("the costs of ranking in this pass have not been counted".to_owned()),
        _ => Err("no model covers a sort by several multisplits".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::spec;
    use super::*;

    #[test]
    fn blocks_fit() {
        for (key, value, blocks) in
            [("u32", "none", 2), ("u32", "4B", 1), ("u64", "none", 1), ("u64", "8B", 1)]
        {
            for keys in [1000, 1 << 19, 1 << 28] {
                let shape = Shape::of(&spec(&format!("keys={keys} key={key} values={value}")));
                let bytes = shape.shared(true) + 1024;
                assert!(
                    bytes * blocks <= 228 << 10 && shape.tile() + shape.slack() * DIGITS < 1 << 16,
                    "{key} {value} {bytes}"
                );
                assert!(shape.shared(false) <= 163 << 10, "{key} {value}");
            }
        }
    }

    #[test]
    fn the_kernels_have_names() {
        let named = |words: &str| {
            let spec = spec(words);
            (counting(&spec).0, Shape::of(&spec).name(true))
        };
        assert_eq!(
            named("keys=9"),
            ("sort_count_whole_u32_2".to_owned(), "sort_bulk_small_u32_0".to_owned())
        );
        let field = "keys=268435456 key=u64 values=4B begin=3";
        assert_eq!(named(field), ("sort_count_some_u64_16".to_owned(), "sort_bulk_large_u64_4".to_owned()));
    }
}
