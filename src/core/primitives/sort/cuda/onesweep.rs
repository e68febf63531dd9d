//! onesweep (`kernels/sort/onesweep.cuh`): a histogram of all digits, and a pass per digit.

use super::{Arrays, MODULE, Sorter};
use crate::case::Failure;
use crate::device::cuda::{
    DeviceBuffer, DevicePtr, Gpu, Kernel, KernelList, KernelName, args, device_struct,
};
use crate::primitives::cuda::{grid, length};
use crate::primitives::multisplit::cuda::{Pair, fused};
use crate::primitives::sort::Spec;
use crate::primitives::sort::digits::Digits;
use crate::primitives::sort::onesweep::{DIGIT_BITS, DIGITS, MOST_DIGITS, Shape, counting};

/// The module of the passes with bulk copies.
const BULK_MODULE: &str = "sort_bulk";

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

/// The kernels of a case, of its counts and of its passes, on a GPU with bulk copies or without.
fn names(spec: &Spec, bulk: bool) -> [KernelName; 2] {
    let shape = Shape::of(spec);
    let module = if shape.bulk(bulk) { BULK_MODULE } else { MODULE };
    [(MODULE, counting(spec).0), (module, shape.name(bulk))]
}

/// The same with their launches.
pub fn kernels(spec: &Spec, bulk: bool) -> KernelList {
    let [(module, count), (of_pass, pass)] = names(spec, bulk);
    let passes = u64::from(spec.digits(DIGIT_BITS).count());
    KernelList::default().timed(module, count, 1).timed(of_pass, pass, passes)
}

/// The kernels and counts of a case.
pub struct Onesweep {
    digits: Digits,
    shape: Shape,
    count: Kernel,
    pass: Kernel,
    /// Bytes of dynamic shared memory per block in either.
    shared: [u32; 2],
    /// Resident blocks of the pass, and multiprocessors.
    resident: u32,
    sms: u32,
    /// Counts of the digits, for this execution and the next in turn: each clears those of the other.
    counts: [DeviceBuffer<u32>; 2],
    descriptors: [DeviceBuffer<u32>; 2],
    tickets: DeviceBuffer<u32>,
}

impl Onesweep {
    /// Allocates the counts and descriptors.
    ///
    /// # Errors
    /// `NotApplicable` if a block does not fit on a multiprocessor; otherwise the driver's error.
    pub fn new(gpu: &Gpu, spec: &Spec) -> Result<Onesweep, Failure> {
        let (shape, bulk) = (Shape::of(spec), fused::bulk(gpu.device().compute_capability));
        let [count, pass] = names(spec, bulk).map(|(module, name)| gpu.module(module)?.kernel(&name));
        let (count, pass, shared) =
            (count?, pass?, [counting(spec).1, shape.shared(bulk)].map(|bytes| bytes as u32));
        let counts = vec![0; (MOST_DIGITS * DIGITS) as usize];
        let descriptors = || gpu.alloc(length(shape.tiles(spec.keys).max(1) * DIGITS)?);
        gpu.max_blocks(&count, COUNT_THREADS, shared[0])?;
        let resident = gpu.max_blocks(&pass, shape.threads, shared[1])?;
        if resident <= shape.spines {
            return Err(Failure::NotApplicable(format!(
                "only {resident} blocks fit on this GPU, all of them spines"
            )));
        }
        let mut sweep = Onesweep {
            digits: spec.digits(DIGIT_BITS),
            resident,
            sms: gpu.device().sms.max(1),
            shape,
            count,
            pass,
            shared,
            counts: [gpu.upload(&counts)?, gpu.upload(&counts)?],
            descriptors: [descriptors()?, descriptors()?],
            tickets: gpu.alloc(MOST_DIGITS as usize)?,
        };
        // The counting kernel clears the first ones only.
        sweep.descriptors.iter_mut().try_for_each(|words| gpu.memset32(words, 0))?;
        Ok(sweep)
    }

    /// Blocks of a case's passes that are resident at once.
    ///
    /// # Errors
    /// `NotApplicable` if a block does not fit on a multiprocessor; otherwise the driver's error.
    pub fn resident(gpu: &Gpu, spec: &Spec) -> Result<u32, Failure> {
        let (shape, bulk) = (Shape::of(spec), fused::bulk(gpu.device().compute_capability));
        let [_, (module, pass)] = names(spec, bulk);
        gpu.max_blocks(&gpu.module(module)?.kernel(&pass)?, shape.threads, shape.shared(bulk) as u32)
    }

    fn launch(&self, arrays: &Arrays) -> Launch {
        let Digits { begin, end, .. } = self.digits;
        Launch {
            from: arrays.from,
            to: arrays.to,
            between: arrays.between,
            counts: self.counts[0].pointer(),
            cleared: self.counts[1].pointer(),
            descriptors: self.descriptors.each_ref().map(DeviceBuffer::pointer),
            tickets: self.tickets.pointer(),
            n: arrays.n as u32,
            tiles: self.shape.tiles(arrays.n) as u32,
            begin,
            end,
            digits: self.digits.count(),
            digit: 0,
        }
    }
}

impl Sorter for Onesweep {
    fn sort(&mut self, gpu: &Gpu, arrays: &Arrays) -> Result<(), Failure> {
        self.counts.swap(0, 1);
        let (launch, [counting, passing]) = (self.launch(arrays), self.shared);
        let blocks = grid(arrays.n, COUNTED).min(self.sms);
        gpu.launch(&self.count, blocks, COUNT_THREADS, counting, args![launch])?;
        // Without keys a pass has nothing to do, and its spine nobody to serve.
        let blocks = (launch.tiles + self.shape.spines).min(self.resident);
        (0..launch.digits).filter(|_| arrays.n > 0).try_for_each(|digit| {
            gpu.launch(&self.pass, blocks, self.shape.threads, passing, args![Launch { digit, ..launch }])
        })
    }
}
