//! The paper's method: levels of 128-thread blocks, where each level's sums are scanned by the next level
//! (sengupta2007 §2.1, Algorithm 5).

use super::one_pass::Launch;
use super::{MODULE, family};
use crate::case::Failure;
use crate::device::cuda::{
    Arg, DeviceBuffer, DevicePtr, Gpu, Kernel, KernelList, Module, Plain, args, device_struct,
    pointer_or_null,
};
use crate::primitives::cuda::{array, grid, length};
use crate::primitives::scan::segments::Heads;
use crate::primitives::scan::spec::{BLOCK, Spec};
use crate::primitives::scan::work::levels;

device_struct! {
    /// `Flags` in the kernels: head flags of one form.
    pub struct Flags: 16 {
        pub at: DevicePtr<u32>,
        form: u32,
        unused: u32,
    }

    /// `Level` in the kernels: the arguments of a launch of a level.
    struct Level: 104 {
        input: DevicePtr<u32>,
        output: DevicePtr<u32>,
        or_tree: DevicePtr<u8>,
        flags: DevicePtr<u8>,
        heads: Flags,
        sums: DevicePtr<u32>,
        ors: DevicePtr<u8>,
        firsts: DevicePtr<u8>,
        n: u64,
        flip: u64,
        elements: u32,
        backward: u32,
        inclusive: u32,
        unused: u32,
    }
}

impl Flags {
    /// Flags of a form.
    pub fn new(at: DevicePtr<u32>, form: Heads) -> Flags {
        Flags { at, form: form as u32, unused: 0 }
    }
}

/// The kernels of a family, and the levels of up to a fixed number of elements.
pub struct Sengupta2007 {
    kernels: Kernels,
    /// Bytes of an element.
    element: u64,
    /// Elements per thread.
    items: u64,
    /// The sums of each level above the first.
    above: Vec<Sums>,
    /// The first level's tree of partial ORs.
    or_tree: DeviceBuffer<u8>,
}

enum Kernels {
    Plain { scan: Kernel, add: Kernel },
    Segmented { reduce: Kernel, down_sweep: Kernel, block: Kernel },
}

/// The results that a level passes to the next one, an entry per block.
struct Sums {
    sums: DeviceBuffer<u32>,
    ors: DeviceBuffer<u8>,
    firsts: DeviceBuffer<u8>,
}

/// The kernels of plain scans: the one that scans and the one that adds.
fn plain(spec: &Spec, items: u64) -> [String; 2] {
    let (family, _) = family(spec);
    [format!("sengupta2007_scan_{family}_e{items}"), format!("sengupta2007_add_{family}")]
}

/// The kernels of segmented scans: reduce, down-sweep, and both within a block.
fn segmented(spec: &Spec) -> [String; 3] {
    ["reduce", "down_sweep", "block"].map(|part| format!("sengupta2007_{part}_{}", family(spec).0))
}

/// The kernels: the first of plain scans on each level, the last but on the highest.
pub fn kernels(spec: &Spec, items: u64) -> KernelList {
    let above = levels(spec.elements, items).len() as u64 - 1;
    let none = KernelList::default();
    match spec.segmented() {
        true => none.timed_all(MODULE, segmented(spec).into_iter().zip([above, above, 1])),
        false => none.timed_all(MODULE, plain(spec, items).into_iter().zip([above + 1, above])),
    }
}

impl Sengupta2007 {
    /// Allocates the levels of a case; scans of fewer elements can use them too.
    pub fn new(gpu: &Gpu, module: &Module, spec: &Spec, items: u64) -> Result<Sengupta2007, Failure> {
        let (n, element) = (spec.elements, spec.element());
        let kernels = if spec.segmented() {
            let [reduce, down_sweep, block] = module.kernels(segmented(spec))?;
            Kernels::Segmented { reduce, down_sweep, block }
        } else {
            let [scan, add] = module.kernels(plain(spec, items))?;
            Kernels::Plain { scan, add }
        };
        let flags = |n: u64| gpu.alloc::<u8>(if spec.segmented() { length(n)? } else { 0 });
        let sums =
            |n: &u64| Ok(Sums { sums: array(gpu, n * element / 4)?, ors: flags(*n)?, firsts: flags(*n)? });
        let above = levels(n, items).iter().skip(1).map(sums).collect::<Result<_, Failure>>()?;
        Ok(Sengupta2007 { kernels, element, items, above, or_tree: flags(n)? })
    }

    /// Queues a scan of the segments given by `heads`; does nothing without elements.
    pub fn execute(&self, gpu: &Gpu, launch: &Launch, heads: Flags) -> Result<(), Failure> {
        let levels = levels(launch.n, self.items).into_iter().enumerate();
        let levels: Vec<Level> = levels.map(|(k, n)| self.level(launch, heads, k, n)).collect();
        let Some((last, below)) = levels.split_last().filter(|_| launch.n > 0) else { return Ok(()) };
        match &self.kernels {
            Kernels::Plain { scan, add } => {
                below.iter().try_for_each(|level| self.scan(gpu, scan, level))?;
                self.scan(gpu, scan, &Level { sums: DevicePtr::null(), ..*last })?;
                below.iter().rev().try_for_each(|level| self.add(gpu, add, level))
            }
            Kernels::Segmented { reduce, down_sweep, block } => {
                below.iter().try_for_each(|level| self.sweep(gpu, reduce, level))?;
                self.sweep(gpu, block, last)?;
                below.iter().rev().try_for_each(|level| self.sweep(gpu, down_sweep, level))
            }
        }
    }

    /// Level `k`, of `n` elements. Level 0 scans the arrays; a higher level scans the sums of the level below,
    /// forward, exclusively and without a flip.
    fn level(&self, launch: &Launch, heads: Flags, k: usize, n: u64) -> Level {
        let next = self.above.get(k);
        let first = Level {
            input: launch.input,
            output: launch.output,
            or_tree: self.or_tree.pointer(),
            heads,
            sums: pointer_or_null(next.map(|next| &next.sums)),
            ors: pointer_or_null(next.map(|next| &next.ors)),
            firsts: pointer_or_null(next.map(|next| &next.firsts)),
            n,
            flip: launch.flip,
            elements: self.items as u32,
            backward: launch.backward,
            inclusive: launch.inclusive,
            ..Level::zeroed()
        };
        let Some(below) = k.checked_sub(1).and_then(|below| self.above.get(below)) else { return first };
        // The ORs of the blocks below serve as the tree of this level.
        let (sums, ors) = (below.sums.pointer(), below.ors.pointer());
        let heads = Flags::new(below.firsts.pointer().cast(), Heads::Bytes);
        let (input, output, or_tree, flags) = (sums, sums, ors, ors);
        Level { input, output, or_tree, flags, heads, flip: 0, backward: 0, inclusive: 0, ..first }
    }

    /// Queues the scan of a level's blocks.
    fn scan(&self, gpu: &Gpu, kernel: &Kernel, level: &Level) -> Result<(), Failure> {
        let &Level { input, output, sums, n, backward, inclusive, flip, .. } = level;
        let args = args![input, output, sums, n, backward, inclusive, flip];
        self.launch(gpu, kernel, level, padded(2 * BLOCK) * self.element, args)
    }

    /// Queues the addition of each block's prefix.
    fn add(&self, gpu: &Gpu, kernel: &Kernel, level: &Level) -> Result<(), Failure> {
        let &Level { output, sums, n, elements, backward, flip, .. } = level;
        self.launch(gpu, kernel, level, 0, args![output, sums, n, elements, backward, flip])
    }

    /// Queues a kernel of a level of a segmented scan.
    fn sweep(&self, gpu: &Gpu, kernel: &Kernel, level: &Level) -> Result<(), Failure> {
        let leaves = BLOCK * self.items;
        self.launch(gpu, kernel, level, padded(leaves) * self.element + 2 * leaves, args![*level])
    }

    fn launch(
        &self,
        gpu: &Gpu,
        kernel: &Kernel,
        level: &Level,
        shared: u64,
        args: &[Arg],
    ) -> Result<(), Failure> {
        gpu.launch(kernel, grid(level.n, BLOCK * self.items), BLOCK as u32, shared as u32, args)
    }
}

/// Leaves including the gaps between them, `padded` in the kernels.
fn padded(leaves: u64) -> u64 {
    leaves + leaves / 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::scan::tests::params;
    use std::mem::offset_of;

    #[test]
    fn kernels_are_launched_on_each_level() {
        let launches = |segmented, n, items| {
            let spec = Spec::from_params(segmented, &params(segmented, n), 1).expect("a case");
            let of = |(name, launches): (&str, u64)| (name.to_owned(), launches);
            kernels(&spec, items).launches().map(of).collect::<Vec<_>>()
        };
        let scan = |n| ("sengupta2007_scan_add_u32_e2".to_owned(), n);
        let named = |part, n| (format!("sengupta2007_{part}_add_u32"), n);
        assert_eq!(launches(false, 1 << 20, 2), [scan(3), named("add", 2)]);
        let segmented = [named("reduce", 2), named("down_sweep", 2), named("block", 1)];
        assert_eq!(launches(true, 1 << 20, 2), segmented);
        assert_eq!(launches(true, 9, 8), [named("block", 1)]);
    }

    #[test]
    fn the_layout_is_the_kernels() {
        assert_eq!((offset_of!(Level, sums), offset_of!(Level, n)), (48, 72));
    }
}
