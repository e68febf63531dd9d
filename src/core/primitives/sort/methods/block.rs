//! A sort by one block on chip (`kernels/sort/block.cuh`): the keys are read once, ordered in shared memory digit by digit,
//! and written once, in a single launch. GPUs only.

use crate::case::block_cost::{BlockCost, LANES};
use crate::case::work::Order;
use crate::primitives::Costs;
use crate::primitives::sort::Spec;
use crate::primitives::sort::keys::DIGIT_BITS;
use crate::primitives::sort::methods::onesweep;
use crate::primitives::sort::work::{moved, varying};

/// Values of a digit.
const DIGITS: u64 = 1 << DIGIT_BITS;

/// Upper limit on the keys. Twice as many keys of up to 8 bytes with their values would fit, but on an H200 onesweep sorts these
/// faster: 16 Ki keys of 32 bits in 27 µs, where a block took 32.
pub const MOST: u64 = 1 << 13;

/// The reason why a case has no such sort.
pub const TOO_MANY: &str = "one block sorts at most 8,192 keys";

/// Bytes of shared memory that a block may have on every GPU of compute capability 7.5 and later.
const EVERYWHERE: u64 = 64 << 10;

/// Whether every GPU can sort the keys so; with more shared memory, some cannot.
pub fn suits(spec: &Spec) -> bool {
    spec.keys <= MOST && Shape::of(spec).shared() <= EVERYWHERE
}

/// The keys and values are read and written once.
pub fn costs(spec: &Spec) -> Costs<'_> {
    Costs::of(vec![moved(spec, Order::Sequential)]).blocks_sampled(|| Ok(vec![cost(spec)]))
}

/// The launch shape: `BlockShape` in the kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub threads: u32,
    /// Keys per thread.
    items: u32,
    key: u64,
    value: u64,
}

impl Shape {
    /// The smallest block that holds the keys of a case. Fewer threads with more keys each keep fewer counters: on an H200, 256
    /// threads sorted 4096 keys in 9.1 µs, 512 in 10.2 and 1024 in 11.4.
    pub fn of(spec: &Spec) -> Shape {
        let (threads, items) = match spec.keys {
            0..=1024 => (256, 4),
            1025..=2048 => (256, 8),
            2049..=4096 => (256, 16),
            _ => (512, 16),
        };
        Shape { threads, items, key: spec.key_bytes(), value: spec.value() }
    }

    /// The kernel's name.
    pub fn name(self) -> String {
        format!("sort_block_{}x{}_u{}_{}", self.threads, self.items, 8 * self.key, self.value)
    }

    /// Bytes of dynamic shared memory: `Room` of a tile without bulk copies in the kernels.
    pub fn shared(self) -> u64 {
        let slots = u64::from(self.threads * self.items);
        let counters = u64::from(self.threads) / 32 * DIGITS;
        let values = if self.value > 0 { slots * self.value } else { 2 * 4 };
        let keys = values.next_multiple_of(16) + slots * self.key;
        (keys + 4 * (counters + 2 * DIGITS + 1 + 8 + 1)).next_multiple_of(16)
    }
}

/// One block loads its keys, and for each digit ranks and moves them as a pass of onesweep does.
fn cost(spec: &Spec) -> BlockCost {
    let shape = Shape::of(spec);
    let (warps, items) = (f64::from(shape.threads) / 32.0, f64::from(shape.items));
    let turns = varying(spec, spec.digits(DIGIT_BITS)) as f64;
    let loads = if spec.value() > 0 { 2.0 } else { 1.0 };
    let cost = BlockCost::of(1, 1).loads(loads).steps(turns * (2.0 * items + warps / 2.0 + 20.0));
    cost.with(turns * spec.keys as f64 / LANES as f64, onesweep::moved_on_chip(spec))
}

pub mod cuda {
    use super::Shape;
    use crate::primitives::sort::cuda::MODULE;
    use crate::primitives::sort::cuda::prelude::*;
    use crate::primitives::sort::methods::onesweep::cuda::Launch;

    pub fn kernels(spec: &Spec) -> KernelList {
        KernelList::default().timed(MODULE, Shape::of(spec).name(), 1)
    }

    pub fn method(gpu: &Gpu, spec: &Spec) -> Result<GpuMethod<Call>, Failure> {
        let (shape, digits) = (Shape::of(spec), spec.digits(DIGIT_BITS));
        let (kernel, shared) = (gpu.module(MODULE)?.kernel(&shape.name())?, shape.shared() as u32);
        gpu.max_blocks(&kernel, shape.threads, shared)?;
        Ok(Box::new(move |gpu, &Call { from, to, n, .. }| {
            let Digits { begin, end, .. } = digits;
            let launch =
                Launch { from, to, n: n as u32, begin, end, digits: digits.count(), ..Launch::zeroed() };
            gpu.launch(&kernel, 1, shape.threads, shared, args![launch])
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::Problem;
    use crate::primitives::sort::tests::spec;

    /// On GPUs with 163 KiB of shared memory per block, too.
    #[test]
    fn a_block_holds_all_keys() {
        for (key, values) in ["u32", "u64"].iter().flat_map(|key| ["none", "4B", "8B"].map(|v| (key, v))) {
            let of = |keys| spec(&format!("keys={keys} backend=cuda key={key} values={values} method=block"));
            for keys in [1, 1024, 1025, 2048, 2049, 4096, 4097, MOST] {
                let shape = Shape::of(&of(keys));
                assert!(u64::from(shape.threads * shape.items) >= keys, "{key} {values} {keys}");
                assert!(shape.shared() <= 163 << 10, "{key} {values} {keys}: {}", shape.shared());
            }
        }
    }

    #[test]
    fn keys_move_once() {
        let spec = spec("keys=1000 backend=cuda values=4B method=block");
        assert_eq!(spec.work().declared_bytes(), 1000 * 16);
        assert_eq!(spec.block_costs().expect("counted").len(), costs(&spec).passes().len());
        assert_eq!(Shape::of(&spec).name(), "sort_block_256x4_u32_4");
    }
}
