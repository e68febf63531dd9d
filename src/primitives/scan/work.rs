//! What a scan does to memory, pass by pass.
//!
//! The effective bytes are n elements read, n written, and what tells the segments, once each.

use super::segments::{Heads, Lengths};
use super::spec::{BLOCK, Method, Spec};
use crate::case::work::Order;
use crate::case::{Access, Concurrency, Direction, Pass, Work};

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

/// Elements of each level of [`Method::Sengupta2007`]: the sums of a level's blocks are the next
/// one, down to one block.
pub fn levels(spec: &Spec) -> Vec<u64> {
    let Method::Sengupta2007 { elements_per_thread } = spec.method else { return Vec::new() };
    let block = BLOCK * elements_per_thread;
    let next = |&level: &u64| (level > block).then(|| level.div_ceil(block));
    std::iter::successors(Some(spec.elements), next).collect()
}

/// Bytes of the levels above the first, and of the flags that are kept between reduce and
/// down-sweep, a byte each.
fn temporary(spec: &Spec) -> u64 {
    let (levels, flag) = (levels(spec), u64::from(spec.segmented.is_some()));
    let above: u64 = levels.iter().skip(1).map(|level| level * (spec.element() + 2 * flag)).sum();
    above + if levels.is_empty() { 0 } else { spec.elements * flag }
}

fn passes(spec: &Spec) -> Vec<Pass> {
    let n = spec.elements;
    let read = |count| [data(spec, "in", Direction::Read, count)];
    let scan = || {
        let all = read(n).into_iter().chain(heads(spec)).chain([data(spec, "out", Direction::Write, n)]);
        pass(all.collect())
    };
    let scans = match spec.method {
        Method::Lookback | Method::Spine => vec![scan()],
        Method::TwoPass => vec![pass(read(reduced(spec)).to_vec()), scan()],
        Method::Sengupta2007 { .. } if spec.segmented.is_some() => segmented_levels(spec),
        Method::Sengupta2007 { .. } => plain_levels(spec),
    };
    before(spec).chain(scans).collect()
}

/// What makes of the heads what a method reads.
pub fn before(spec: &Spec) -> impl Iterator<Item = Pass> {
    starts(spec).into_iter().chain(if spec.on_cuda { bits(spec) } else { Vec::new() })
}

/// On GPUs a scan in one pass reads bits, and the paper's takes flags of any kind: what else tells the
/// segments becomes bits first, which heads one by one set after all are cleared.
fn bits(spec: &Spec) -> Vec<Pass> {
    let Some(form) = spec.segmented.map(|segmented| segmented.heads) else { return Vec::new() };
    let by_paper = matches!(spec.method, Method::Sengupta2007 { .. });
    let (entry, entries) = Heads::Bits.entries(spec.elements, 0);
    let bits = access("bits", Direction::Write, entry, entries);
    let made = pass(heads(spec).into_iter().chain([bits.clone()]).collect());
    match form {
        Heads::Lengths | Heads::Pointers => vec![pass(vec![bits]), made],
        Heads::Bytes | Heads::Striped if !by_paper => vec![made],
        _ => Vec::new(),
    }
}

/// Where segments begin that are told by their lengths has to be added up first: read once, and
/// noted or read again.
fn starts(spec: &Spec) -> Option<Pass> {
    let lengths = spec.segmented.is_some_and(|segmented| segmented.heads == Heads::Lengths);
    heads(spec).filter(|_| lengths).map(|access| Pass { times: 2, accesses: vec![access] })
}

/// Elements that the first of two passes looks at: all of them, but of segments no more than what
/// follows the last head of a thread's part. How many threads there are is not known here, so one
/// is counted.
fn reduced(spec: &Spec) -> u64 {
    match spec.segmented.map(|segmented| segmented.lengths) {
        None => spec.elements,
        Some(Lengths::Constant { length: mean } | Lengths::Random { mean } | Lengths::Geometric { mean }) => {
            mean.min(spec.elements)
        }
    }
}

/// A level's blocks are scanned and leave their sums; when those are scanned, each is added to
/// the elements of its block (sengupta2007 §2.1).
fn plain_levels(spec: &Spec) -> Vec<Pass> {
    let levels = levels(spec);
    let scanned = levels.iter().enumerate().map(|(k, &level)| {
        let [from, to] = arrays(k);
        let sums = levels.get(k + 1).map(|&sums| data(spec, "sums", Direction::Write, sums));
        let both = [data(spec, from, Direction::Read, level), data(spec, to, Direction::Write, level)];
        pass(both.into_iter().chain(sums).collect())
    });
    let added = levels.windows(2).enumerate().rev().map(|(k, pair)| {
        let [_, to] = arrays(k);
        pass(vec![
            data(spec, "sums", Direction::Read, pair[1]),
            data(spec, to, Direction::Read, pair[0]),
            data(spec, to, Direction::Write, pair[0]),
        ])
    });
    scanned.chain(added).collect()
}

/// Reduce leaves the trees of partial sums and of flags; when the blocks' last ones are scanned,
/// down-sweep takes them up again (sengupta2007 Algorithm 5). The last level is one block.
fn segmented_levels(spec: &Spec) -> Vec<Pass> {
    let levels = levels(spec);
    let flags = |k: usize, level: u64| match k {
        0 => heads(spec),
        _ => Some(bytes("sum flags", Direction::Read, level)),
    };
    let reduced = levels.windows(2).enumerate().map(|(k, pair)| {
        let [from, to] = arrays(k);
        let read = [data(spec, from, Direction::Read, pair[0])].into_iter().chain(flags(k, pair[0]));
        let kept = [data(spec, to, Direction::Write, pair[0]), bytes("or tree", Direction::Write, pair[0])];
        let sums = [
            data(spec, "sums", Direction::Write, pair[1]),
            bytes("sum flags", Direction::Write, 2 * pair[1]),
        ];
        pass(read.chain(kept).chain(sums).collect())
    });
    let last = levels.iter().enumerate().next_back().map(|(k, &level)| {
        let [from, to] = arrays(k);
        let read = [data(spec, from, Direction::Read, level)].into_iter().chain(flags(k, level));
        pass(read.chain([data(spec, to, Direction::Write, level)]).collect())
    });
    let swept = levels.windows(2).enumerate().rev().map(|(k, pair)| {
        let [_, to] = arrays(k);
        let kept = [data(spec, to, Direction::Read, pair[0]), bytes("or tree", Direction::Read, pair[0])];
        let sums = data(spec, "sums", Direction::Read, pair[1]);
        let out = data(spec, to, Direction::Write, pair[0]);
        pass(kept.into_iter().chain(flags(k, pair[0])).chain([sums, out]).collect())
    });
    reduced.chain(last).chain(swept).collect()
}

/// What a level is read from and written to.
fn arrays(level: usize) -> [&'static str; 2] {
    if level == 0 { ["in", "out"] } else { ["sums", "sums"] }
}

fn heads(spec: &Spec) -> Option<Access> {
    let (entry, entries) = spec.head_entries();
    spec.segmented.map(|_| access("heads", Direction::Read, entry, entries))
}

fn data(spec: &Spec, array: &str, direction: Direction, count: u64) -> Access {
    access(array, direction, spec.element(), count)
}

fn bytes(array: &str, direction: Direction, count: u64) -> Access {
    access(array, direction, 1, count)
}

fn pass(accesses: Vec<Access>) -> Pass {
    Pass { times: 1, accesses }
}

fn access(array: &str, direction: Direction, element: u64, count: u64) -> Access {
    Access {
        array: array.to_owned(),
        direction,
        element,
        count,
        footprint: element * count,
        order: Order::Sequential,
        concurrency: Concurrency::Independent,
    }
}

#[cfg(test)]
mod tests {
    use super::super::spec::Segmented;
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
        let lengths = Segmented { lengths: Lengths::Constant { length: 7 }, heads: Heads::Lengths };
        let told = work(&Spec { segmented: Some(lengths), ..spec(true, 1000, "lookback") });
        assert_eq!((told.effective_bytes, told.declared_bytes()), (8000 + 4 * 143, 8000 + 3 * 4 * 143));
    }

    /// Blocks of 256: 1000 elements are 4 blocks, 2^20 are 4096, their sums 16 and those one.
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
