//! A stable split in two by each bit of the buckets' numbers, from the lowest on (ashkiani2017 §3.2;
//! `kernels/multisplit/paper.cuh`). For each bit keys are read for their flags, the flags are scanned, and keys and values
//! are read and written. GPUs only.

use crate::case::work::{Access, Order, Pass};
use crate::primitives::Costs;
use crate::primitives::multisplit::Spec;
use crate::primitives::multisplit::work::{COUNT, ENDS, moved, read_keys};

/// For each bit: flags, their scan, and a split in two. Several bits have arrays between their splits.
pub fn costs(spec: &Spec) -> Costs<'_> {
    let flags = Pass::once([read_keys(spec), Access::writes("flags", COUNT, spec.keys)]);
    let scan = [Access::reads("flags", COUNT, spec.keys), Access::writes("ones", COUNT, spec.keys)];
    let halves = moved(spec.keys, spec.value, ENDS, Order::Partitions { partitions: 2 })
        .and([Access::reads("ones", COUNT, spec.keys)]);
    let between = if spec.bits() == 1 { 0 } else { spec.input() };
    Costs::of([flags, Pass::once(scan), halves].map(|pass| pass.times(spec.bits().into())).into())
        .beside(2 * COUNT * spec.keys + between)
}

pub mod cuda {
    use crate::primitives::cuda::prelude::*;
    use crate::primitives::multisplit::Spec;
    use crate::primitives::multisplit::cuda::{MODULE, Split, Stages, pointers};
    use crate::primitives::scan;
    use crate::primitives::scan::cuda::one_pass::{Summed, Variant};

    /// Keys per block; the 4 keys per thread are `EACH` in the kernels.
    const KEYS: u64 = 4 * BLOCK as u64;

    const KERNELS: [&str; 3] = ["scan_split_flags", "scan_split_move", "scan_split_offsets"];

    device_struct! {
        /// `Halves` in the kernels.
        struct Halves: 56 {
            /// Source and destination of the keys, then source and destination of the values.
            arrays: [DevicePtr<u32>; 4],
            ones: DevicePtr<u32>,
            n: u64,
            bit: u32,
            value: u32,
        }
    }

    pub fn kernels(spec: &Spec) -> KernelList {
        let (rounds, [flags, split, offsets]) = (u64::from(spec.bits()), KERNELS);
        KernelList::default()
            .timed(MODULE, flags, rounds)
            .timed(scan::cuda::MODULE, Variant::COUNTS.name(), rounds)
            .timed_all(MODULE, [(split, rounds), (offsets, 1)])
    }

    pub fn method(gpu: &Gpu, spec: &Spec) -> Result<Stages, Failure> {
        let ([flags, halve, offsets], spec) = (gpu.module(MODULE)?.kernels(KERNELS)?, *spec);
        let between = |bytes: u64| array(gpu, if spec.bits() > 1 { bytes / 4 } else { 0 });
        let mut ones = Summed::new(gpu, spec.keys)?;
        let between = [between(spec.key_bytes())?, between(spec.value_bytes())?];
        Ok(Stages::new(&[], move |gpu, what, _| {
            let (n, bits, mut from) = (what.n, spec.bits(), what.from);
            for bit in (0..bits).filter(|_| n > 0) {
                // Destinations alternate so that the last round writes the output.
                let to = if (bits - bit) % 2 == 1 { what.to } else { pointers(&between) };
                let arrays = Split { from, to, ..*what }.arrays();
                let halves = Halves { arrays, ones: ones.sums.pointer(), n, bit, value: spec.value as u32 };
                let blocks = grid(n, KEYS);
                gpu.launch(&flags, blocks, BLOCK, 0, args![halves, ones.given, what.function])?;
                ones.scan(gpu, n)?;
                gpu.launch(&halve, blocks, BLOCK, 0, args![halves, what.function])?;
                from = to;
            }
            what.seek(gpu, &offsets, spec.buckets)
        }))
    }
}

#[cfg(test)]
mod tests {
    use crate::primitives::multisplit::tests::work;

    /// 28 bytes per key for each bit, and twice the value's bytes.
    #[test]
    fn splits_repeat_for_each_bit() {
        let two = work("keys=1000 buckets=2 method=scan-split");
        assert_eq!((two.declared_bytes(), two.footprint), (28_000, 16_012));
        let five = work("keys=1000 buckets=5 values=8B method=scan-split");
        assert_eq!((five.declared_bytes(), five.footprint), (3 * 44_000, 24_000 + 24 + 20_000));
    }
}
