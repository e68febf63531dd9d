//! The radix sort of he2007 §4.1 (`kernels/sort/radix_he2007.cuh`): phases that split each part by its next highest bits.
//! On GPUs a phase is a histogram, its prefix sum, locations and a multi-pass scatter, and bitonic sorts in shared memory
//! end it; on processors each worker sorts its share so, and all of them merge the sorted shares.
//!
//! Phase i splits each part by bits i · b … (i + 1) · b − 1 of the field, counted from the highest. A part of at most
//! [`FITS`] keys is split no further, but sorted in fast memory. Uniform keys therefore take
//! P = ⌈log₂(n / [`FITS`]) / b⌉ phases, the paper's log_f(n / S) for f = 2^b. The paper stops there. Parts of skewed keys
//! that do not fit then take further phases: on GPUs more of the same, which end at once where no such part is left,
//! and on CPUs those of a sort by the lowest digit first.

use super::{Method, Optimised, bitonic};
use crate::case::Backend;
use crate::case::work::{Access, Order, Pass};
use crate::primitives::Costs;
use crate::primitives::sort::Spec;
use crate::primitives::sort::keys::{Digit, Digits};
use crate::primitives::sort::work::{by_way_of_arrays, combined, moved, read_keys};

/// Keys of a part that fits: 32 KiB of the paper's 8-byte records; `NETWORK_TILE` in the kernels.
pub const FITS: u64 = bitonic::TILE;

/// The paper's S, bytes of shared memory: a block has at most as many threads as their counters fit in.
const SHARED: u32 = 16 << 10;

/// Threads per block at most, and keys per thread (`SHARE` in the kernels), few enough for counters of one byte.
const THREADS: u32 = 256;
const SHARE: u32 = 16;

/// Bits of a phase that the paper uses on GPUs and on CPUs.
const PAPERS_BITS: [u64; 2] = [5, 6];

pub fn costs(spec: &Spec, passes: u64, optimised: Optimised) -> Costs<'_> {
    match spec.backend.is_cuda() {
        true => by_way_of_arrays(spec, on_gpus(spec, passes)).unknown(bitonic::NETWORKS_UNKNOWN),
        false => by_way_of_arrays(spec, on_processors(spec, optimised)),
    }
}

/// The phases, and the sorts of the parts. A phase reads the keys for its counts and again for their locations; each pass
/// of its scatter reads all locations, and moves the keys of one chunk of the output, which has its share of the partitions.
fn on_gpus(spec: &Spec, passes: u64) -> Vec<Pass> {
    let phases = Phases::of(spec);
    let (times, partitions): (u64, u64) = (phases.count.into(), 1 << phases.bits);
    let chunk = Spec { keys: spec.keys.div_ceil(passes), ..*spec };
    let share = Order::Partitions { partitions: (partitions / passes).max(1) };
    vec![
        read_keys(spec).times(times),
        read_keys(spec).and([Access::writes("locations", 4, spec.keys)]).times(times),
        Pass::once([Access::reads("locations", 4, spec.keys)])
            .and(moved(&chunk, share).accesses)
            .times(times * passes),
        moved(spec, Order::Sequential),
    ]
}

/// A count and a scatter per phase, the sorts of the parts in cache, and the merge of the threads' shares. Parts that
/// outgrow the caches are written wherever their end is; those of the optimised phases leave them in whole lines.
fn on_processors(spec: &Spec, optimised: Optimised) -> Vec<Pass> {
    let phases = Phases::of(spec);
    let (times, partitions) = (phases.count.into(), 1 << phases.digit(0).bits);
    let order = match optimised {
        Optimised::Cache => combined(partitions),
        Optimised::None => Order::Partitions { partitions },
    };
    let merges = u64::from(spec.backend != Backend::Scalar);
    vec![
        read_keys(spec).times(times),
        moved(spec, order).times(times),
        moved(spec, Order::Sequential).times(1 + merges),
    ]
}

/// The phases of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phases {
    /// The field that keys are sorted by.
    field: Digits,
    /// Bits of a phase.
    pub bits: u32,
    /// Phases that uniform keys take.
    pub count: u32,
}

impl Phases {
    /// The phases of a case; without the optimisation for caches, one with the bits of all.
    pub fn of(spec: &Spec) -> Phases {
        let (asked, optimised) = match spec.method {
            Method::He2007Msd { bits, optimised, .. } => (bits, optimised),
            _ => (None, Optimised::Cache),
        };
        let bits = asked.unwrap_or(PAPERS_BITS[usize::from(spec.backend.is_cpu())]) as u32;
        let field = spec.digits(bits);
        let levels = spec.keys.div_ceil(FITS).next_power_of_two().ilog2();
        let count = levels.div_ceil(bits).clamp(1, field.count());
        match optimised {
            Optimised::None if spec.backend.is_cpu() => Phases { field, bits: bits * count, count: 1 },
            _ => Phases { field, bits, count },
        }
    }

    /// Phases until no bits are left.
    pub fn all(self) -> u32 {
        (self.field.end - self.field.begin).div_ceil(self.bits)
    }

    /// Phases that are launched on a GPU for `n` keys: one if all of its parts fit.
    pub fn launched(self, n: u64) -> u32 {
        if Phases::large(n) == 0 { 1 } else { self.all() }
    }

    /// The digit of a phase, which is one of `all`; the last one may have fewer bits.
    pub fn digit(self, phase: u32) -> Digit {
        let end = self.field.end - phase * self.bits;
        let bits = self.bits.min(end - self.field.begin);
        Digit { shift: end - bits, bits }
    }

    /// The bits that are left after a phase, in digits of 8.
    pub fn rest(self, phase: u32) -> Digits {
        Digits { end: self.digit(phase).shift, radix: 8, ..self.field }
    }

    /// Threads of a block that have a counter of one byte for each part.
    pub fn threads(self) -> u32 {
        (SHARED >> self.bits).min(THREADS)
    }

    /// Keys of a block.
    pub fn tile(self) -> u64 {
        u64::from(self.threads() * SHARE)
    }

    /// Bytes of dynamic shared memory per block: `PhaseRoom` in the kernels.
    pub fn shared(self) -> u32 {
        let (parts, threads) = (1 << self.bits, self.threads());
        // Places and sums over lanes, counters, and the ranks and parts of a thread's keys in rows.
        parts * (4 + 2 * 32 + threads) + threads * (2 * (SHARE + 2) + SHARE + 4)
    }

    /// Parts of more than [`FITS`] keys, at most.
    pub fn large(n: u64) -> u64 {
        n / (FITS + 1)
    }

    /// Tiles of a phase, at most.
    pub fn tiles(self, n: u64, phase: u32) -> u64 {
        if phase == 0 { n.div_ceil(self.tile()) } else { n / self.tile() + Phases::large(n) }
    }

    /// Counts of a phase, at most: one for each tile and each value of the digit.
    pub fn counts(self, n: u64, phase: u32) -> u64 {
        self.tiles(n, phase) << self.digit(phase).bits
    }

    /// The largest number of counts of any phase.
    pub fn most_counts(self, n: u64) -> u64 {
        (0..self.launched(n).min(2)).map(|phase| self.counts(n, phase)).max().unwrap_or(0).max(1)
    }

    /// Parts that fit, at most.
    pub fn leaves(self, n: u64) -> u64 {
        let large = 1 + u64::from(self.launched(n) - 1) * Phases::large(n);
        (large << self.bits).min(n).max(1)
    }
}

pub mod cpu {
    use super::Phases;
    use crate::primitives::sort::cpu::he2007::run;
    use crate::primitives::sort::cpu::prelude::*;

    /// A worker has a table of counts for each phase.
    pub fn method(made: &Made) -> Result<PoolMethod<Sort>, Failure> {
        let phases = Phases::of(made.spec);
        let table: usize = (0..phases.count).map(|phase| 4 * phases.digit(phase).values()).sum();
        let counts = made.each(|| Buffer::new(table))?;
        Ok(by_types!(made.spec, |K, V| Box::new(move |sort, worker| {
            // SAFETY: the pool's workers all execute, and each has counts of its own.
            unsafe { run::<K, V>(phases, counts[worker.index].ptr(), sort, worker) }
        })))
    }
}

pub mod cuda {
    use super::Phases;
    use super::bitonic::cuda::{MODULE, shared};
    use crate::primitives::scan;
    use crate::primitives::scan::cuda::one_pass::{Summed, Variant};
    use crate::primitives::sort::cuda::prelude::*;

    /// Words that count what the phases list: one for each phase, of which there are at most 64, and one for the parts
    /// that fit.
    const LISTED: usize = 65;

    /// Blocks of a launch per multiprocessor, at most: each then takes several tiles or parts.
    const BLOCKS: u32 = 8;

    device_struct! {
        /// `Phase` in the kernels.
        struct Phase: 120 {
            from: Pair,
            to: Pair,
            locations: DevicePtr<u32>,
            counts: DevicePtr<u32>,
            sums: DevicePtr<u32>,
            parts: DevicePtr<u32>,
            next: DevicePtr<u32>,
            listed: DevicePtr<u64>,
            leaves: DevicePtr<u32>,
            n: u32,
            phase: u32,
            shift: u32,
            bits: u32,
            rest: u32,
            in_output: u32,
            low: u32,
            span: u32,
        }

        /// `Leaves` in the kernels.
        struct Leaves: 56 {
            between: Pair,
            to: Pair,
            listed: DevicePtr<u64>,
            leaves: DevicePtr<u32>,
            begin: u32,
            bits: u32,
        }
    }

    /// The kernels that count, locate, scatter, and sort the parts.
    fn names(spec: &Spec) -> [String; 4] {
        let (key, value) = (8 * spec.key_bytes(), spec.value());
        [
            format!("he2007_count_u{key}"),
            format!("he2007_locate_u{key}"),
            format!("he2007_scatter_u{key}_{value}"),
            format!("he2007_leaves_u{key}_{value}"),
        ]
    }

    pub fn kernels(spec: &Spec, passes: u64) -> KernelList {
        let phases = u64::from(Phases::of(spec).launched(spec.keys));
        let [count, locate, scatter, leaves] = names(spec);
        let counted = KernelList::default().timed(MODULE, count, phases);
        let located =
            counted.timed(scan::cuda::MODULE, Variant::COUNTS.name(), phases).timed(MODULE, locate, phases);
        located.timed(MODULE, scatter, phases * passes).timed(MODULE, leaves, 1)
    }

    pub fn method(gpu: &Gpu, spec: &Spec, passes: u64) -> Result<GpuMethod<Call>, Failure> {
        let (n, phases, module) = (spec.keys, Phases::of(spec), gpu.module(MODULE)?);
        let [count, locate, scatter, sort] = module.kernels(names(spec))?;
        let (leaf, most) = (shared(spec), gpu.device().sms.max(1) * BLOCKS);
        let mut counts = Summed::new(gpu, phases.most_counts(n))?;
        // A scan also goes over what no tile has counted.
        gpu.memset32(&mut counts.given, 0)?;
        let parts = || array::<u32>(gpu, 3 * Phases::large(n).max(1));
        let (locations, parts) = (array::<u32>(gpu, n.max(1))?, [parts()?, parts()?]);
        let (leaves, listed) = (array(gpu, 2 * phases.leaves(n))?, gpu.alloc(LISTED)?);
        let all = move |counts: &Summed, n: u64| Phase {
            locations: locations.pointer(),
            counts: counts.given.pointer(),
            sums: counts.sums.pointer(),
            listed: listed.pointer(),
            leaves: leaves.pointer(),
            n: n as u32,
            span: n.div_ceil(passes) as u32,
            ..Phase::zeroed()
        };
        Ok(Box::new(move |gpu, call| {
            let (n, mut from, all) = (call.n, call.from, all(&counts, call.n));
            if n == 0 {
                return Ok(());
            }
            let (threads, shared) = (phases.threads(), phases.shared());
            for at in 0..phases.launched(n) {
                let of_phase = |at: u32| parts[at as usize % 2].pointer();
                let phase = Phase { from, parts: of_phase(at), next: of_phase(at + 1), ..all };
                let phase = phase.of(phases, at, call);
                let blocks = grid(phases.tiles(n, at), 1).min(most);
                gpu.launch(&count, blocks, threads, shared, args![phase])?;
                counts.scan(gpu, phases.counts(n, at))?;
                gpu.launch(&locate, blocks, threads, shared, args![phase])?;
                for pass in 0..passes as u32 {
                    let low = pass * phase.span;
                    gpu.launch(&scatter, blocks, threads, 0, args![Phase { low, ..phase }])?;
                }
                from = phase.to;
            }
            let Digits { begin, end, .. } = phases.field;
            let (Call { between, to, .. }, Phase { listed, leaves, .. }) = (*call, all);
            let leaves = Leaves { between, to, listed, leaves, begin, bits: end - begin };
            gpu.launch(&sort, grid(phases.leaves(n), 1).min(most), BLOCK, leaf, args![leaves])
        }))
    }

    impl Phase {
        /// The same with the digit of a phase, and where it writes: the last of all phases that there may be writes the
        /// output.
        fn of(self, phases: Phases, phase: u32, call: &Call) -> Phase {
            let (Digit { shift, bits }, in_output) = (phases.digit(phase), (phases.all() - phase) % 2 == 1);
            let to = if in_output { call.to } else { call.between };
            let rest = u32::from(shift > phases.field.begin);
            Phase { to, phase, shift, bits, rest, in_output: u32::from(in_output), ..self }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::sort::tests::spec;

    fn phases(words: &str) -> Phases {
        Phases::of(&spec(&format!("method=he2007-msd {words}")))
    }

    /// The paper's phases of 5 bits, for 16 Mi records of 8 bytes.
    #[test]
    fn the_paper_has_three() {
        let gpu = phases("keys=16777216 values=4B backend=cuda");
        assert_eq!((gpu.bits, gpu.count, gpu.all(), gpu.threads()), (5, 3, 7, 256));
        assert_eq!([0, 5, 6].map(|k| gpu.digit(k).shift), [27, 2, 0]);
        assert_eq!((gpu.digit(6).bits, gpu.rest(2)), (2, Digits { begin: 0, end: 17, radix: 8 }));
    }

    #[test]
    fn processors_have_one_phase_without_the_optimisation() {
        let words = "keys=16777216 backend=cpu method.he2007-msd.optimised";
        assert_eq!(phases(&format!("{words}=cache")).bits, 6);
        let single = phases(&format!("{words}=none"));
        assert_eq!((single.bits, single.count, single.digit(0).shift), (12, 1, 20));
        assert_eq!(phases("keys=9 backend=cpu begin=3 end=5").digit(0), Digit { shift: 3, bits: 2 });
    }

    #[test]
    fn a_block_fits_and_its_counters_hold_a_byte() {
        for bits in 1..=8 {
            let phases = phases(&format!("keys=9 backend=cuda method.he2007-msd.bits={bits}"));
            let lane = phases.threads() / 32 * SHARE;
            assert!(phases.threads().is_multiple_of(32) && lane <= 255 && phases.tile() <= FITS, "{bits}");
            assert!(phases.threads() << bits <= SHARED && phases.shared() <= 48 << 10, "{bits}");
        }
    }
}
