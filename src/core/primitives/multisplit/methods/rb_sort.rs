//! A reduced-bit sort (ashkiani2017 §3.4). Every key gets its bucket's number as a label, and labels are sorted from their
//! lowest digit on, together with a load: the key; key and value in one 64-bit word; or, if values have 8 bytes, the
//! pair's number, by which pairs are permuted at the end. Sorting by a digit is a split by up to 8 bits
//! (`kernels/multisplit/fused.cuh`). GPUs only.

use crate::case::BlockCost;
use crate::case::work::{Access, Order, Pass};
use crate::primitives::Costs;
use crate::primitives::multisplit::block_costs::{WINDOW, function, split};
use crate::primitives::multisplit::tiles::{KernelVariant, Number, digits};
use crate::primitives::multisplit::work::{self, LINE, read_keys};
use crate::primitives::multisplit::{KEY, Spec};

/// For 32 keys of a loop over all keys: labelling without the bucket function; unpacking pairs; permuting pairs
/// by their numbers; and the search for the first key of each label.
const LABEL: [f64; 2] = [37.0, 17.0];
const UNPACK: [f64; 2] = [17.0, 10.0];
const PERMUTE: [f64; 2] = [28.0, 16.0];
const OFFSETS: [f64; 2] = [37.0, 19.0];

/// Resident 256-thread blocks per multiprocessor of such a loop; a tile has one key per thread of a block.
const LOOPING: u64 = 8;
const LOOP: u64 = 256;

/// The load that goes along with a label: `WITH_…` in the kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Load {
    Key = 0,
    Pair = 1,
    Number = 2,
}

impl Load {
    /// The load of a case.
    fn of(spec: &Spec) -> Load {
        match spec.value {
            0 => Load::Key,
            4 => Load::Pair,
            _ => Load::Number,
        }
    }

    /// Bytes per load.
    fn size(self) -> u64 {
        if self == Load::Pair { 8 } else { 4 }
    }
}

/// The kernels that split a case by a digit.
fn way(spec: &Spec) -> KernelVariant {
    KernelVariant::counted(digits(spec.bits()).1, Load::of(spec).size(), Number::Field)
}

/// Words of each of the two arrays of loads.
fn loads(spec: &Spec) -> [u64; 2] {
    let words = Load::of(spec).size() / 4 * spec.keys;
    match (Load::of(spec), digits(spec.bits()).0) {
        // Keys come from the input and end in the output.
        (Load::Key, 1) => [0, 0],
        (Load::Key, _) => [words, 0],
        _ => [words, words],
    }
}

/// Labels with their loads, a split for each digit and, if pairs were packed or numbered, their unpacking.
pub fn costs(spec: &Spec) -> Costs<'_> {
    let (load, n) = (Load::of(spec), spec.keys);
    let written = Access::writes("loads", load.size(), n);
    let labelled = Pass::once([read_keys(spec), Access::writes("labels", KEY, n)]);
    let mut passes = vec![match load {
        Load::Key => labelled,
        Load::Pair => labelled.and([Access::reads("values_in", spec.value, n), written]),
        Load::Number => labelled.and([written]),
    }];
    let (count, bits) = digits(spec.bits());
    let buckets = if count == 1 { spec.buckets } else { 1 << bits };
    for digit in 0..count {
        let from = if load == Load::Key && digit == 0 { "keys_in" } else { "loads" };
        let to = if load == Load::Key && digit + 1 == count { "keys_out" } else { "sorted" };
        passes.extend(work::split(n, way(spec), buckets, ["labels", from, "labels_out", to]));
    }
    if count > 1 {
        passes.push(Pass::once([Access::reads("labels", KEY, n)]));
    }
    // The keys of a bucket lie about m apart, and every bucket sweeps the whole array; if a cache line holds at most one key
    // of a bucket, the gather is as good as random.
    let far = spec.buckets >= LINE / KEY;
    let order = if far { Order::Random } else { Order::Partitions { partitions: spec.buckets } };
    let gathered = |array, element| Access::reads(array, element, n).ordered(order.clone());
    let read = Pass::once([Access::reads("loads", load.size(), n)]);
    let out = [Access::writes("keys_out", KEY, n), Access::writes("values_out", spec.value, n)];
    passes.extend(match load {
        Load::Key => None,
        Load::Pair => Some(read.and(out)),
        Load::Number => {
            Some(read.and([gathered("keys_in", KEY), gathered("values_in", spec.value)]).and(out))
        }
    });
    let arrays = 4 * (2 * n + loads(spec).iter().sum::<u64>());
    Costs::of(passes).beside(arrays + way(spec).bytes(n)).blocks_sampled(|| block_costs(spec))
}

/// A loop over all keys, 32 per warp, with `loads` dependent loads.
fn looping(spec: &Spec, loads: f64, [instructions, integers]: [f64; 2]) -> BlockCost {
    let tiles = spec.keys.div_ceil(LOOP);
    BlockCost::of(tiles, LOOPING).loads(loads).with(spec.keys as f64 / WINDOW, [instructions, integers, 0.0])
}

/// Labels, a split for each digit, the search for the first key of each label if there are several digits, and
/// the unpacking.
fn block_costs(spec: &Spec) -> Result<Vec<BlockCost>, String> {
    let function = function(spec)?;
    let (count, bits) = digits(spec.bits());
    let mut all = vec![looping(spec, 1.0, [0, 1].map(|k| LABEL[k] + function[k]))];
    for digit in 0..count {
        let of = |bucket: u64| bucket >> (digit * bits) & ((1 << bits) - 1);
        all.extend(split(spec, way(spec), of));
    }
    if count > 1 {
        all.push(looping(spec, 1.0, OFFSETS));
    }
    match Load::of(spec) {
        Load::Key => {}
        Load::Pair => all.push(looping(spec, 1.0, UNPACK)),
        Load::Number => all.push(looping(spec, 2.0, PERMUTE)),
    }
    Ok(all)
}

pub mod cuda {
    use super::{Load, loads, way};
    use crate::primitives::cuda::prelude::*;
    use crate::primitives::multisplit::Spec;
    use crate::primitives::multisplit::cuda::fused::{Passes, split_kernels};
    use crate::primitives::multisplit::cuda::input::Function;
    use crate::primitives::multisplit::cuda::{MODULE, Split, Stages, words};
    use crate::primitives::multisplit::tiles::digits;

    /// The kernels for labelling, unpacking, permuting and offsets.
    const KERNELS: [&str; 4] = ["rb_label", "rb_unpack", "rb_permute", "rb_offsets"];

    pub fn kernels(spec: &Spec, bulk: bool) -> KernelList {
        let digits = u64::from(digits(spec.bits()).0);
        let [unpacked, permuted] = [Load::Pair, Load::Number].map(|with| u64::from(Load::of(spec) == with));
        let [label, unpack, permute, offsets] = KERNELS;
        KernelList::default()
            .timed(MODULE, label, 1)
            .and(split_kernels(way(spec), bulk), digits)
            .timed_all(MODULE, [(offsets, u64::from(digits > 1)), (unpack, unpacked), (permute, permuted)])
    }

    pub fn method(gpu: &Gpu, spec: &Spec) -> Result<Stages, Failure> {
        let ([one, other], load, (count, bits)) = (loads(spec), Load::of(spec), digits(spec.bits()));
        let [label, unpack, permute, seek] = gpu.module(MODULE)?.kernels(KERNELS)?;
        let passes = Passes::new(gpu, way(spec), spec.keys)?;
        let labels = [words(gpu, spec.keys)?, words(gpu, spec.keys)?];
        let (loads, spec) = ([words(gpu, one)?, words(gpu, other)?], *spec);
        // The paper's names (Table 4); a permutation counts as unpacking.
        Ok(Stages::new(&["labelling", "sorting", "unpacking"], move |gpu, what, stage| {
            let (all, n, [keys, values], [keys_out, values_out]) =
                (what.n, what.n as u32, what.from, what.to);
            let label_array = |digit: u32| labels[digit as usize % 2].pointer();
            // The loads that the split by a digit reads, of which there are at most two; then the sorted loads.
            let load_array = |digit: u32| match load {
                Load::Key if digit == 0 => keys,
                Load::Key if digit == count => keys_out,
                Load::Key => loads[0].pointer(),
                _ => loads[digit as usize % 2].pointer(),
            };
            match (stage, load) {
                (0, _) => {
                    let with = load as u32;
                    let args = args![keys, values, n, what.function, with, labels[0], loads[0]];
                    launch_over(gpu, &label, all, args)
                }
                (1, _) => {
                    // The offsets come from the split if there is a single digit; otherwise they are searched for.
                    let (offsets, buckets) = match count {
                        1 => (what.offsets, spec.buckets),
                        _ => (DevicePtr::null(), 1 << bits),
                    };
                    for digit in 0..count {
                        let [from, to] = [digit, digit + 1].map(|at| [label_array(at), load_array(at)]);
                        let function = Function::field(digit * bits, bits, buckets);
                        passes.split(gpu, &Split { from, n: all, to, offsets, function }, 0)?;
                    }
                    if count == 1 {
                        return Ok(());
                    }
                    let (sorted, buckets) = (label_array(count), spec.buckets as u32);
                    launch_over(gpu, &seek, all + 1, args![sorted, n, buckets, what.offsets])
                }
                (_, Load::Key) => Ok(()),
                (_, Load::Pair) => {
                    launch_over(gpu, &unpack, all, args![load_array(count), n, keys_out, values_out])
                }
                (_, Load::Number) => {
                    let (sorted, words) = (load_array(count), (spec.value / 4) as u32);
                    let args = args![sorted, n, keys, values, words, keys_out, values_out];
                    launch_over(gpu, &permute, all, args)
                }
            }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::multisplit::tests::{spec, work};

    #[test]
    fn it_holds_labels_and_loads() {
        let of = |words: &str| {
            let spec = spec(&format!("keys=1000 method=rb-sort {words}"));
            costs(&spec).own_bytes - way(&spec).bytes(1000)
        };
        assert_eq!([of("buckets=9"), of("buckets=300")], [8000, 12_000]);
        assert_eq!([of("buckets=9 values=4B"), of("buckets=9 values=8B")], [24_000, 16_000]);
    }

    /// Labels are written, counted and moved; keys of 4 bytes go along, pairs as 8 bytes, numbers as 4.
    #[test]
    fn labels_go_along() {
        let counts = |tiles: u64| 4 * 2 * (2 * tiles + 4);
        let bytes = |words: &str| work(&format!("keys=49152 {words} method=rb-sort")).declared_bytes();
        assert_eq!(bytes("buckets=2"), 49_152 * (8 + 4 + 16) + counts(6));
        assert_eq!(bytes("buckets=2 values=4B"), 49_152 * (8 + 12 + 4 + 24 + 16) + counts(7));
        assert_eq!(bytes("buckets=2 values=8B"), 49_152 * (8 + 4 + 4 + 16 + 4 + 24) + counts(6));
        let many = 49_152 * (8 + 2 * 20 + 4) + 2 * 32 * counts(6);
        assert_eq!(bytes("buckets=4096"), many);
    }
}
