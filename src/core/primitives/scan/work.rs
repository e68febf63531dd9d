//! The memory traffic of a scan, pass by pass.
//!
//! The effective bytes are n elements read, n written, and the segment heads, once each.

use super::segments::{Heads, Lengths};
use super::spec::{BLOCK, Method, Spec};
use crate::case::Direction::{Read, Write};
use crate::case::{Access, Direction, Pass, Work};

/// The work of a case.
pub fn work(spec: &Spec) -> Work {
    let (entry, entries) = spec.head_entries();
    let bytes = 2 * spec.bytes() + entry * entries;
    Work {
        passes: passes(spec),
        elements: spec.elements,
        effective_bytes: bytes,
        system_bytes: bytes,
        footprint: bytes + temporary(spec),
        scratch: 0,
    }
}

/// Elements of each level of [`Method::Sengupta2007`]: the block sums of one level are the elements of the
/// next, down to a level of one block.
pub fn levels(elements: u64, elements_per_thread: u64) -> Vec<u64> {
    let block = BLOCK * elements_per_thread;
    let next = |&level: &u64| (level > block).then(|| level.div_ceil(block));
    std::iter::successors(Some(elements), next).collect()
}

/// Bytes of the levels above the first, and of the flags kept between reduce and down-sweep, a byte each.
pub fn temporary(spec: &Spec) -> u64 {
    let Method::Sengupta2007 { elements_per_thread } = spec.method else { return 0 };
    let flag = u64::from(spec.segmented());
    let above: u64 = levels(spec.elements, elements_per_thread).iter().skip(1).sum();
    above * (spec.element() + 2 * flag) + spec.elements * flag
}

fn passes(spec: &Spec) -> Vec<Pass> {
    let n = spec.elements;
    let read = |count| data(spec, "in", Read, count);
    let scan = || {
        Pass::once([read(n)].into_iter().chain(heads(spec)).chain([data(spec, "out", Write, n)]).collect())
    };
    let scans = match spec.method {
        Method::TwoPass => vec![Pass::once(vec![read(reduced(spec))]), scan()],
        Method::Sengupta2007 { elements_per_thread } => {
            let levels = levels(n, elements_per_thread);
            if spec.segmented() { segmented_levels(spec, &levels) } else { plain_levels(spec, &levels) }
        }
        Method::Best | Method::Lookback | Method::Spine => vec![scan()],
    };
    before(spec).chain(scans).collect()
}

/// The passes that convert the heads of a case into the form that its method reads.
pub fn before(spec: &Spec) -> impl Iterator<Item = Pass> {
    starts(spec).into_iter().chain(if spec.backend.is_cuda() { bits(spec) } else { Vec::new() })
}

/// On GPUs a one-pass scan reads bits, while the paper's method takes flags of any kind. Other representations
/// are converted to bits first; lengths and pointers set heads one by one in bits that are first cleared.
fn bits(spec: &Spec) -> Vec<Pass> {
    let by_paper = matches!(spec.method, Method::Sengupta2007 { .. });
    let (entry, entries) = Heads::Bits.entries(spec.elements, 0);
    let bits = Access::sequential("bits", Write, entry, entries);
    let made = Pass::once(heads(spec).into_iter().chain([bits.clone()]).collect());
    match spec.heads() {
        Some(Heads::Lengths | Heads::Pointers) => vec![Pass::once(vec![bits]), made],
        Some(Heads::Bytes | Heads::Striped) if !by_paper => vec![made],
        _ => Vec::new(),
    }
}

/// Segments given by their lengths begin at the sums of those lengths, which are read once for the sums, and
/// noted or read again.
fn starts(spec: &Spec) -> Option<Pass> {
    let lengths = heads(spec).filter(|_| spec.heads == Heads::Lengths)?;
    Some(Pass { times: 2, accesses: vec![lengths] })
}

/// Elements read by the first of two passes: all of them, or in a segmented scan only those from the last head
/// of a thread's part on. The number of threads is not known here, so one thread is counted.
fn reduced(spec: &Spec) -> u64 {
    match spec.lengths {
        None => spec.elements,
        Some(Lengths::Constant { length: mean } | Lengths::Random { mean } | Lengths::Geometric { mean }) => {
            mean.min(spec.elements)
        }
    }
}

/// The blocks of a level are scanned and leave their sums; once the sums are scanned, each is added to the
/// elements of its block (sengupta2007 §2.1).
fn plain_levels(spec: &Spec, levels: &[u64]) -> Vec<Pass> {
    let data = |array, direction, count| data(spec, array, direction, count);
    let scanned = levels.iter().enumerate().map(|(k, &level)| {
        let [from, to] = arrays(k);
        let sums = levels.get(k + 1).map(|&sums| data("sums", Write, sums));
        Pass::once([data(from, Read, level), data(to, Write, level)].into_iter().chain(sums).collect())
    });
    let added = levels.windows(2).enumerate().rev().map(|(k, pair)| {
        let [_, to] = arrays(k);
        Pass::once(vec![data("sums", Read, pair[1]), data(to, Read, pair[0]), data(to, Write, pair[0])])
    });
    scanned.chain(added).collect()
}

/// Reduce stores the trees of partial sums and of flags; once the blocks' totals are scanned, down-sweep loads
/// the trees again (sengupta2007 Algorithm 5). The last level is one block.
fn segmented_levels(spec: &Spec, levels: &[u64]) -> Vec<Pass> {
    let data = |array, direction, count| data(spec, array, direction, count);
    let bytes = |array, direction, count| Access::sequential(array, direction, 1, count);
    let flags = |k: usize| if k == 0 { heads(spec) } else { Some(bytes("sum flags", Read, levels[k])) };
    let read = |k: usize| [data(arrays(k)[0], Read, levels[k])].into_iter().chain(flags(k));
    let written = |k: usize| data(arrays(k)[1], Write, levels[k]);
    let last = levels.len() - 1;
    let reduced = (0..last).map(|k| {
        let kept = [written(k), bytes("or tree", Write, levels[k])];
        let sums = [data("sums", Write, levels[k + 1]), bytes("sum flags", Write, 2 * levels[k + 1])];
        Pass::once(read(k).chain(kept).chain(sums).collect())
    });
    let whole = Pass::once(read(last).chain([written(last)]).collect());
    let swept = (0..last).rev().map(|k| {
        let kept = [data(arrays(k)[1], Read, levels[k]), bytes("or tree", Read, levels[k])];
        let sums = data("sums", Read, levels[k + 1]);
        Pass::once(kept.into_iter().chain(flags(k)).chain([sums, written(k)]).collect())
    });
    reduced.chain([whole]).chain(swept).collect()
}

/// The arrays that a level reads and writes.
fn arrays(level: usize) -> [&'static str; 2] {
    if level == 0 { ["in", "out"] } else { ["sums", "sums"] }
}

fn heads(spec: &Spec) -> Option<Access> {
    let (entry, entries) = spec.head_entries();
    spec.segmented().then(|| Access::sequential("heads", Read, entry, entries))
}

fn data(spec: &Spec, array: &str, direction: Direction, count: u64) -> Access {
    Access::sequential(array, direction, spec.element(), count)
}

#[cfg(test)]
mod tests {
    use super::super::tests::params;
    use super::*;
    use crate::case::Value;

    fn spec(segmented: bool, elements: u64, method: &str) -> Spec {
        let params = params(segmented, elements).with("method", Value::Text(method.into()));
        Spec::from_params(segmented, &params, 1).expect("a case")
    }

    #[test]
    fn a_scan_reads_and_writes_each_element_once() {
        let w = work(&spec(false, 1000, "lookback"));
        assert_eq!(
            (w.elements, w.effective_bytes, w.footprint, w.declared_bytes()),
            (1000, 8000, 8000, 8000)
        );
        let flagged = work(&spec(true, 1000, "lookback"));
        assert_eq!((flagged.effective_bytes, flagged.declared_bytes()), (8128, 8128));
        for method in ["best", "spine"] {
            assert_eq!(work(&spec(true, 1000, method)), flagged);
        }
        assert_eq!(work(&spec(false, 1000, "two-pass")).declared_bytes(), 12_000);
        assert_eq!(work(&spec(true, 1000, "two-pass")).declared_bytes(), 8128 + 4 * 7);
        let told = work(&Spec { heads: Heads::Lengths, ..spec(true, 1000, "lookback") });
        assert_eq!((told.effective_bytes, told.declared_bytes()), (8000 + 4 * 143, 8000 + 3 * 4 * 143));
    }

    #[test]
    fn levels_end_at_one_block() {
        assert_eq!(levels(0, 2), [0]);
        assert_eq!(levels(256, 2), [256]);
        assert_eq!(levels(257, 2), [257, 2]);
        assert_eq!(levels(1 << 20, 2), [1 << 20, 1 << 12, 16]);
        assert_eq!(levels(1 << 30, 8), [1 << 30, 1 << 20, 1 << 10]);
    }

    #[test]
    fn sums_are_counted_with_their_flags() {
        let bytes = |segmented| temporary(&spec(segmented, 1000, "sengupta2007"));
        assert_eq!((bytes(false), bytes(true)), (16, 24 + 1000));
    }

    /// With blocks of 256, 1000 elements are 4 blocks, and 2^20 are 4096, whose sums are 16 and then 1.
    #[test]
    fn the_papers_scan_goes_level_by_level() {
        let passes = |segmented, n| {
            let passes = work(&spec(segmented, n, "sengupta2007")).passes;
            passes.iter().map(|pass| pass.accesses.iter().map(Access::bytes).sum::<u64>()).collect::<Vec<_>>()
        };
        assert_eq!(passes(false, 256), [2048]);
        assert_eq!(passes(false, 1000), [8016, 32, 8016]);
        assert_eq!(passes(false, 1 << 20).len(), 5);
        assert_eq!(passes(true, 1000), [8000 + 128 + 1000 + 16 + 8, 36, 8000 + 1000 + 128 + 16]);
        let w = work(&spec(true, 1000, "sengupta2007"));
        assert_eq!(w.footprint, 8128 + 4 * 6 + 1000);
    }
}
