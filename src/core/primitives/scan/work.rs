//! The memory traffic of a scan, pass by pass.
//!
//! The effective bytes are n elements read, n written, and the segment heads, once each.

use super::segments::{Heads, Lengths};
use super::spec::{BLOCK, Method, Spec};
use crate::case::work::{Access, Pass, Work};

/// The work of a case.
pub fn work(spec: &Spec) -> Work {
    let (entry, entries) = spec.head_entries();
    let bytes = 2 * spec.bytes() + entry * entries;
    Work::of(spec.elements, bytes, passes(spec)).footprint(bytes + temporary(spec))
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
    let (element, n) = (spec.element(), spec.elements);
    let scan = Pass::once([Access::reads("in", element, n)]).and(heads(spec));
    let scan = scan.and([Access::writes("out", element, n)]);
    let scans = match spec.method {
        Method::TwoPass => vec![Pass::once([Access::reads("in", element, reduced(spec))]), scan],
        Method::Sengupta2007 { elements_per_thread } => {
            let levels = levels(n, elements_per_thread);
            if spec.segmented() { segmented_levels(spec, &levels) } else { plain_levels(spec, &levels) }
        }
        Method::Best | Method::Lookback | Method::Spine => vec![scan],
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
    let bits = Access::writes("bits", entry, entries);
    let made = Pass::once(heads(spec)).and([bits.clone()]);
    match spec.heads() {
        Some(Heads::Lengths | Heads::Pointers) => vec![Pass::once([bits]), made],
        Some(Heads::Bytes | Heads::Striped) if !by_paper => vec![made],
        _ => Vec::new(),
    }
}

/// Segments given by their lengths begin at the sums of those lengths, which are read once for the sums, and
/// noted or read again.
fn starts(spec: &Spec) -> Option<Pass> {
    let lengths = heads(spec).filter(|_| spec.heads == Heads::Lengths)?;
    Some(Pass::once([lengths]).times(2))
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
    let read = |array, count| Access::reads(array, spec.element(), count);
    let written = |array, count| Access::writes(array, spec.element(), count);
    let scanned = levels.iter().enumerate().map(|(k, &level)| {
        let [from, to] = arrays(k);
        let sums = levels.get(k + 1).map(|&sums| written("sums", sums));
        Pass::once([read(from, level), written(to, level)]).and(sums)
    });
    let added = levels.windows(2).enumerate().rev().map(|(k, pair)| {
        let [_, to] = arrays(k);
        Pass::once([read("sums", pair[1]), read(to, pair[0]), written(to, pair[0])])
    });
    scanned.chain(added).collect()
}

/// Reduce stores the trees of partial sums and of flags; once the blocks' totals are scanned, down-sweep loads
/// the trees again (sengupta2007 Algorithm 5). The last level is one block.
fn segmented_levels(spec: &Spec, levels: &[u64]) -> Vec<Pass> {
    let read = |array, count| Access::reads(array, spec.element(), count);
    let written = |array, count| Access::writes(array, spec.element(), count);
    let flags = |k: usize| if k == 0 { heads(spec) } else { Some(Access::reads("sum flags", 1, levels[k])) };
    let loaded = |k: usize| Pass::once([read(arrays(k)[0], levels[k])]).and(flags(k));
    let last = levels.len() - 1;
    let reduced = (0..last).map(|k| {
        loaded(k).and([
            written(arrays(k)[1], levels[k]),
            Access::writes("or tree", 1, levels[k]),
            written("sums", levels[k + 1]),
            Access::writes("sum flags", 1, 2 * levels[k + 1]),
        ])
    });
    let whole = loaded(last).and([written(arrays(last)[1], levels[last])]);
    let swept = (0..last).rev().map(|k| {
        Pass::once([read(arrays(k)[1], levels[k]), Access::reads("or tree", 1, levels[k])])
            .and(flags(k))
            .and([read("sums", levels[k + 1]), written(arrays(k)[1], levels[k])])
    });
    reduced.chain([whole]).chain(swept).collect()
}

/// The arrays that a level reads and writes.
fn arrays(level: usize) -> [&'static str; 2] {
    if level == 0 { ["in", "out"] } else { ["sums", "sums"] }
}

fn heads(spec: &Spec) -> Option<Access> {
    let (entry, entries) = spec.head_entries();
    spec.segmented().then(|| Access::reads("heads", entry, entries))
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
