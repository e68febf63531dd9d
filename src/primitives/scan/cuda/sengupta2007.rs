//! The paper's method: levels of blocks of 128 threads, each level's sums scanned by the next one
//! (sengupta2007 §2.1, Algorithm 5).

use super::forms::{Flags, Level, form};
use super::one_pass::{Arrays, Manner};
use crate::case::Failure;
use crate::device::cuda::{DeviceBuffer, DevicePtr, Gpu, Kernel, Module};
use crate::primitives::cuda::{grid, length};
use crate::primitives::scan::segments::Heads;
use crate::primitives::scan::spec::BLOCK;

/// The kernels for a family, and the levels of up to so many elements.
pub struct Sengupta2007 {
    kernels: Kernels,
    /// Bytes of an element.
    element: u64,
    /// Elements of a thread.
    items: u64,
    /// Of each level above the first one.
    above: Vec<Sums>,
    /// The first level's tree of partial ORs.
    or_tree: DeviceBuffer<u8>,
}

enum Kernels {
    Plain { scan: Kernel, add: Kernel },
    Segmented { reduce: Kernel, down_sweep: Kernel, block: Kernel },
}

/// What a level leaves to the next one, an entry a block.
struct Sums {
    sums: DeviceBuffer<u32>,
    ors: DeviceBuffer<u8>,
    firsts: DeviceBuffer<u8>,
}

/// Elements of each level of `n`, from the first on to one of one block.
fn levels(n: u64, items: u64) -> Vec<u64> {
    let block = BLOCK * items;
    let next = |&level: &u64| (level > block).then(|| level.div_ceil(block));
    std::iter::successors((n > 0).then_some(n), next).collect()
}

/// Bytes that it holds beside the arrays.
pub fn bytes(n: u64, items: u64, element: u64, segmented: bool) -> u64 {
    let flags = u64::from(segmented);
    let above: u64 = levels(n, items).iter().skip(1).map(|level| level * (element + 2 * flags)).sum();
    above + n * flags
}

/// The kernel that is launched first, and its launches.
pub fn launched(n: u64, items: u64, segmented: bool, family: &str) -> (String, u64) {
    let levels = levels(n, items).len() as u64;
    match (segmented, levels) {
        (false, _) => (format!("sengupta2007_scan_{family}_e{items}"), levels.max(1)),
        (true, 0 | 1) => (format!("sengupta2007_block_{family}"), 1),
        (true, _) => (format!("sengupta2007_reduce_{family}"), levels - 1),
    }
}

/// The names of the kernels: of plain scans the one that scans and the one that adds, of segmented ones
/// those that reduce, sweep down, and do both in a block.
pub fn names(items: u64, segmented: bool, family: &str) -> Vec<String> {
    let parts: &[&str] = if segmented { &["reduce", "down_sweep", "block"] } else { &["scan", "add"] };
    let end = |part: &str| if part == "scan" { format!("_e{items}") } else { String::new() };
    parts.iter().map(|part| format!("sengupta2007_{part}_{family}{}", end(part))).collect()
}

impl Sengupta2007 {
    pub fn new(
        gpu: &Gpu,
        module: &Module,
        (segmented, family): (bool, &str),
        (element, items): (u64, u64),
        n: u64,
    ) -> Result<Sengupta2007, Failure> {
        let kernel = |part: &str, end: &str| module.kernel(&format!("sengupta2007_{part}_{family}{end}"));
        let kernels = if segmented {
            let [reduce, down_sweep, block] =
                [kernel("reduce", "")?, kernel("down_sweep", "")?, kernel("block", "")?];
            Kernels::Segmented { reduce, down_sweep, block }
        } else {
            Kernels::Plain { scan: kernel("scan", &format!("_e{items}"))?, add: kernel("add", "")? }
        };
        let flags = |n: u64| gpu.alloc::<u8>(if segmented { length(n)? } else { 0 });
        let sums = |n: &u64| {
            Ok(Sums { sums: gpu.alloc(length(n * element / 4)?)?, ors: flags(*n)?, firsts: flags(*n)? })
        };
        let above = levels(n, items).iter().skip(1).map(sums).collect::<Result<_, Failure>>()?;
        Ok(Sengupta2007 { kernels, element, items, above, or_tree: flags(n)? })
    }

    /// Bytes that it holds.
    pub fn bytes(&self) -> u64 {
        let sums = |sums: &Sums| sums.sums.bytes() + sums.ors.bytes() + sums.firsts.bytes();
        self.above.iter().map(sums).sum::<u64>() + self.or_tree.bytes()
    }

    /// Queues a scan of `n` elements, if there are any.
    pub fn execute(
        &self,
        gpu: &Gpu,
        (arrays, heads): (&Arrays, Option<Flags>),
        n: u64,
        manner: Manner,
    ) -> Result<(), Failure> {
        let levels = levels(n, self.items);
        let each = || levels.iter().enumerate();
        match (&self.kernels, heads) {
            (Kernels::Plain { scan, add }, _) => {
                each().try_for_each(|(k, &n)| {
                    self.scan(gpu, scan, arrays, (k, n), manner, k + 1 < levels.len())
                })?;
                each().rev().skip(1).try_for_each(|(k, &n)| self.add(gpu, add, arrays, (k, n), manner))
            }
            (Kernels::Segmented { reduce, down_sweep, block }, Some(heads)) => {
                let last = levels.len().saturating_sub(1);
                let run = |kernel, (k, &n)| self.level(gpu, kernel, (arrays, heads), (k, n), manner);
                each().take(last).try_for_each(|level| run(reduce, level))?;
                each().skip(last).try_for_each(|level| run(block, level))?;
                each().take(last).rev().try_for_each(|level| run(down_sweep, level))
            }
            (Kernels::Segmented { .. }, None) => Err(Failure::Failed("segments without heads".to_owned())),
        }
    }

    /// What a level reads and writes: the arrays, or the sums of the level below.
    fn arrays(&self, arrays: &Arrays, level: usize) -> (DevicePtr<u32>, DevicePtr<u32>) {
        let below = level.checked_sub(1).and_then(|below| self.above.get(below));
        below.map_or((arrays.input, arrays.output), |below| (below.sums.pointer(), below.sums.pointer()))
    }

    /// Where a level leaves its sums; null for the last one.
    fn sums(&self, level: usize) -> DevicePtr<u32> {
        self.above.get(level).map_or(DevicePtr::null(), |next| next.sums.pointer())
    }

    fn blocks(&self, n: u64) -> u32 {
        grid(n, BLOCK * self.items)
    }

    /// Queues the scan of a level's blocks.
    fn scan(
        &self,
        gpu: &Gpu,
        kernel: &Kernel,
        arrays: &Arrays,
        (level, n): (usize, u64),
        manner: Manner,
        more: bool,
    ) -> Result<(), Failure> {
        let (input, output) = self.arrays(arrays, level);
        let sums = if more { self.sums(level) } else { DevicePtr::null() };
        let (backward, inclusive, flip) = of_level(level, manner);
        let args = [
            (&input).into(),
            (&output).into(),
            (&sums).into(),
            (&n).into(),
            (&backward).into(),
            (&inclusive).into(),
            (&flip).into(),
        ];
        gpu.launch(kernel, self.blocks(n), BLOCK as u32, padded(2 * BLOCK) * self.element as u32, &args)
    }

    /// Queues the addition of what comes before each block.
    fn add(
        &self,
        gpu: &Gpu,
        kernel: &Kernel,
        arrays: &Arrays,
        (level, n): (usize, u64),
        manner: Manner,
    ) -> Result<(), Failure> {
        let ((_, output), before) = (self.arrays(arrays, level), self.sums(level));
        let (backward, _, flip) = of_level(level, manner);
        let items = self.items as u32;
        let args = [
            (&output).into(),
            (&before).into(),
            (&n).into(),
            (&items).into(),
            (&backward).into(),
            (&flip).into(),
        ];
        gpu.launch(kernel, self.blocks(n), BLOCK as u32, 0, &args)
    }

    /// Queues a kernel of a level of a segmented scan.
    fn level(
        &self,
        gpu: &Gpu,
        kernel: &Kernel,
        (arrays, heads): (&Arrays, Flags),
        (level, n): (usize, u64),
        manner: Manner,
    ) -> Result<(), Failure> {
        let (input, output) = self.arrays(arrays, level);
        let (backward, inclusive, flip) = of_level(level, manner);
        let null = DevicePtr::null();
        let (or_tree, flags, heads) = match level.checked_sub(1).and_then(|below| self.above.get(below)) {
            None => (self.or_tree.pointer(), null, heads),
            // The ORs of the blocks below become their tree.
            Some(below) => (below.ors.pointer(), below.ors.pointer(), bytes_of(&below.firsts)),
        };
        let (ors, firsts) =
            self.above.get(level).map_or((null, null), |next| (next.ors.pointer(), next.firsts.pointer()));
        let level = Level {
            input,
            output,
            or_tree,
            flags,
            heads,
            sums: self.sums(level),
            ors,
            firsts,
            n,
            flip,
            elements: self.items as u32,
            backward,
            inclusive,
            unused: 0,
        };
        let leaves = BLOCK * self.items;
        let shared = padded(leaves) * self.element as u32 + 2 * leaves as u32;
        gpu.launch(kernel, self.blocks(n), BLOCK as u32, shared, &[(&level).into()])
    }
}

/// Sums are scanned forward, exclusively and as they are.
fn of_level(level: usize, manner: Manner) -> (u32, u32, u64) {
    if level == 0 { (manner.backward.into(), manner.inclusive.into(), manner.flip) } else { (0, 0, 0) }
}

/// Flags that are bytes.
fn bytes_of(firsts: &DeviceBuffer<u8>) -> Flags {
    Flags { at: firsts.pointer().cast(), form: form(Heads::Bytes), unused: 0 }
}

/// Leaves with the gaps between them, `padded` in the kernels.
fn padded(leaves: u64) -> u32 {
    (leaves + leaves / 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_end_at_one_block() {
        assert!(levels(0, 2).is_empty());
        assert_eq!(levels(256, 2), [256]);
        assert_eq!(levels(257, 2), [257, 2]);
        assert_eq!(levels(1 << 20, 2), [1 << 20, 1 << 12, 16]);
        assert_eq!(levels(1 << 30, 8), [1 << 30, 1 << 20, 1 << 10]);
    }

    #[test]
    fn sums_are_counted_with_their_flags() {
        assert_eq!((bytes(1000, 2, 4, false), bytes(1000, 2, 4, true)), (16, 24 + 1000));
        assert_eq!(launched(1 << 20, 2, false, "add_u32"), ("sengupta2007_scan_add_u32_e2".to_owned(), 3));
        assert_eq!(launched(1 << 20, 2, true, "add_u32"), ("sengupta2007_reduce_add_u32".to_owned(), 2));
        assert_eq!(launched(9, 8, true, "add_u32").1, 1);
    }
}
