//! The sorts of sengupta2007 by scans (`kernels/sort/sort_sengupta2007.cu`): all keys split by a bit per launch, or tiles sorted
//! in shared memory and merged, a round per launch.

use super::{Arrays, Pair, Sorter};
use crate::case::Failure;
use crate::device::cuda::{DeviceBuffer, DevicePtr, Gpu, Kernel, KernelList, args, device_struct};
use crate::primitives::cuda::{grid, length};
use crate::primitives::sort::Spec;
use crate::primitives::sort::digits::Digits;
use crate::primitives::sort::spec::{Method, Scope};
use crate::primitives::sort::tiles::{THREADS, rounds, tile};

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
    fn new(arrays: &Arrays, field: Digits) -> Launch {
        Launch {
            from: arrays.from,
            to: arrays.to,
            ones: DevicePtr::null(),
            cleared: DevicePtr::null(),
            descriptors: DevicePtr::null(),
            tickets: DevicePtr::null(),
            mask: field.mask(),
            n: arrays.n as u32,
            begin: field.begin,
            end: field.end,
            bit: 0,
            width: 0,
            passes: 0,
        }
    }
}

/// The kernels of a case: of what comes once, and of what is repeated.
fn names(spec: &Spec) -> [String; 2] {
    let (key, value) = (8 * spec.key_bytes(), spec.value());
    let of = |kernel: &str| format!("sort_{kernel}_u{key}_{value}");
    match spec.method {
        Method::SplitRadix { scope: Scope::Global } => [format!("sort_ones_u{key}"), of("bit")],
        Method::Quicksort { .. } => [of("tile_by_pivots"), of("merge")],
        _ => [of("tile_by_splits"), of("merge")],
    }
}

/// The kernels of a case.
pub fn kernels(spec: &Spec) -> KernelList {
    let repeated = match spec.method {
        Method::SplitRadix { scope: Scope::Global } => spec.digits(1).count(),
        _ => rounds(spec.keys, tile(spec)),
    };
    let [once, again] = names(spec);
    KernelList::default().timed(MODULE, once, 1).timed(MODULE, again, repeated.into())
}

fn descriptors(spec: &Spec) -> u64 {
    spec.keys / tile(spec) + 1
}

/// A split of all keys by each bit, the lowest first.
pub struct Bits {
    field: Digits,
    tile: u64,
    count: Kernel,
    split: Kernel,
    sms: u32,
    /// The ones of each bit, for this execution and the next in turn: each clears those of the other.
    ones: [DeviceBuffer<u32>; 2],
    tickets: DeviceBuffer<u32>,
    descriptors: DeviceBuffer<u64>,
}

impl Bits {
    /// Allocates the counts and descriptors.
    pub fn new(gpu: &Gpu, spec: &Spec) -> Result<Bits, Failure> {
        let [count, split] = gpu.module(MODULE)?.kernels(names(spec))?;
        let none = || gpu.upload(&[0; MOST_BITS as usize]);
        Ok(Bits {
            field: spec.digits(1),
            tile: tile(spec),
            count,
            split,
            sms: gpu.device().sms.max(1),
            ones: [none()?, none()?],
            tickets: none()?,
            descriptors: gpu.alloc(length(descriptors(spec))?)?,
        })
    }
}

impl Sorter for Bits {
    fn sort(&mut self, gpu: &Gpu, arrays: &Arrays) -> Result<(), Failure> {
        self.ones.swap(0, 1);
        let launch = Launch {
            ones: self.ones[0].pointer(),
            cleared: self.ones[1].pointer(),
            descriptors: self.descriptors.pointer(),
            tickets: self.tickets.pointer(),
            ..Launch::new(arrays, self.field)
        };
        let blocks = grid(arrays.n, THREADS.into()).min(COUNTING * self.sms);
        gpu.launch(&self.count, blocks, THREADS, 0, args![launch])?;
        let (blocks, mut from) = (grid(arrays.n, self.tile), arrays.from);
        (self.field.begin..self.field.end).try_for_each(|bit| {
            let to = if (self.field.end - bit) % 2 == 1 { arrays.to } else { arrays.between };
            gpu.launch(&self.split, blocks, THREADS, 0, args![Launch { from, to, bit, ..launch }])?;
            from = to;
            Ok(())
        })
    }
}

/// Tiles sorted by their bits or by pivots, and merged.
pub struct Tiles {
    field: Digits,
    tile: u64,
    /// quicksort: passes at most.
    passes: u32,
    sort: Kernel,
    merge: Kernel,
}

impl Tiles {
    /// Looks the kernels up.
    pub fn new(gpu: &Gpu, spec: &Spec) -> Result<Tiles, Failure> {
        let [sort, merge] = gpu.module(MODULE)?.kernels(names(spec))?;
        let passes = if let Method::Quicksort { passes } = spec.method { passes as u32 } else { 0 };
        Ok(Tiles { field: spec.digits(1), tile: tile(spec), passes, sort, merge })
    }
}

impl Sorter for Tiles {
    /// The output and the array between take turns, so that the last round writes the output.
    fn sort(&mut self, gpu: &Gpu, arrays: &Arrays) -> Result<(), Failure> {
        let (rounds, blocks) = (rounds(arrays.n, self.tile), grid(arrays.n, self.tile));
        let after = |round: u32| if (rounds - round) % 2 == 1 { arrays.between } else { arrays.to };
        let launch = Launch { to: after(0), passes: self.passes, ..Launch::new(arrays, self.field) };
        gpu.launch(&self.sort, blocks, THREADS, 0, args![launch])?;
        (0..rounds).try_for_each(|round| {
            let width = (self.tile as u32) << round;
            let merge = Launch { from: after(round), to: after(round + 1), width, ..launch };
            gpu.launch(&self.merge, blocks, THREADS, 0, args![merge])
        })
    }
}
