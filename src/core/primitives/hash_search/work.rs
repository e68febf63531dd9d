//! The memory accesses of searches and of building.

use super::block_costs;
use super::spec::{Build, BuildMethod, Distribution, Method, Search};
use crate::case::work::Order;
use crate::case::{Access, Concurrency, Direction, Pass, Work};
use crate::primitives::{Problem, multisplit};

/// Bytes of an entry: a key and an id.
const ENTRY: u64 = 8;

/// Counts that a block sums, or on CPUs a worker.
const SUM_TILE: u64 = 4096;

/// Keys that a multisplit of CPUs orders on chip.
const SPLIT_TILE: u64 = 12_288;

/// What share of the records finds its bucket full, if records are put at home alone: with λ records per bucket of
/// b slots, Poisson-distributed, Σ (k − b)⁺ P(k) / λ.
fn beyond_home(slots: u32, load: f64) -> f64 {
    let mean = f64::from(slots) * load;
    let (mut share, mut room) = (exp_minus(mean), 0.0);
    for k in 0..slots {
        room += f64::from(slots - k) * share;
        share *= mean / f64::from(k + 1);
    }
    // (k − b)⁺ = k − b + (b − k)⁺
    (mean - f64::from(slots) + room) / mean
}

/// e^-x, from multiplications alone, so that it is the same on every machine.
fn exp_minus(x: f64) -> f64 {
    let y = x / 64.0;
    let series = (1..12).rev().fold(1.0, |sum, k| 1.0 - y / f64::from(k) * sum);
    (0..6).fold(series, |power, _| power * power)
}

/// What share of the records is away from home: those that find it full, and those whose homes others have filled
/// that are away from theirs. Tables of 4 and 8 slots per bucket have 1.6 to 1.7 times as many as the former alone.
fn away(slots: u32, load: f64) -> f64 {
    1.65 * beyond_home(slots, load)
}

/// Buckets read for each search on average: a record away from home costs a second one, and so does a miss whose
/// mark a record away from home has set.
fn visits(spec: &Search) -> f64 {
    let away = away(spec.layout().slots, spec.load);
    1.0 + spec.hits * away + (1.0 - spec.hits) * (away * spec.load).min(1.0)
}

fn times(count: u64, factor: f64) -> u64 {
    (count as f64 * factor) as u64
}

/// The order in which searches visit the table.
fn order(spec: &Search) -> Order {
    match spec.distribution {
        Distribution::Uniform => Order::Random,
        Distribution::Zipf { exponent } => Order::Zipf { exponent },
    }
}

fn table_access(direction: Direction, element: u64, count: u64, footprint: u64, order: Order) -> Access {
    let concurrency = Concurrency::Independent;
    Access { array: "table".to_owned(), direction, element, count, footprint, order, concurrency }
}

/// A pass over arrays of 4-byte elements: those that are read, then those that are written.
fn over(n: u64, read: &[&str], written: &[&str]) -> Vec<Access> {
    let access = |direction| move |array: &&str| Access::sequential(array, direction, 4, n);
    read.iter().map(access(Direction::Read)).chain(written.iter().map(access(Direction::Write))).collect()
}

/// The partitions of `array` that a multisplit writes.
fn staged(array: &str, element: u64, n: u64, bits: u64) -> Access {
    let order = Order::Staged { partitions: 1 << bits, tile: SPLIT_TILE };
    Access { order, ..Access::sequential(array, Direction::Write, element, n) }
}

/// The visits of searches to the buckets, in the order of the partitions or in any.
fn looked(spec: &Search, order: Order) -> Access {
    let (bytes, visited) = (spec.layout().bytes(), times(spec.keys, visits(spec)));
    table_access(Direction::Read, spec.bucket_bytes(), visited, bytes, order)
}

/// The passes of a search, and the bytes of the arrays beside keys and table.
fn passes(spec: &Search) -> (Vec<Pass>, u64) {
    let n = spec.keys;
    match spec.method {
        Method::Partitioned { .. } => (partitioned(spec), spec.beside_partitions()),
        Method::He2007 { .. } => (he2007(spec), 4 * n + 12 * spec.most_matches()),
        _ => {
            let all = [over(n, &["keys"], &[]), vec![looked(spec, order(spec))], over(n, &[], &["out"])];
            (vec![Pass::once(all.concat())], 4 * n)
        }
    }
}

/// A count and a split of the keys, the searches, and the split backwards.
fn partitioned(spec: &Search) -> Vec<Pass> {
    let (n, bits, free) = (spec.keys, spec.bits(), spec.order_is_free());
    let (part, found) =
        (looked(spec, Order::Chunks { chunks: 1 << bits }), if free { "out" } else { "found" });
    let search = Pass::once([over(n, &["split keys"], &[]), vec![part], over(n, &[], &[found])].concat());
    if let Some(split) = block_costs::split(spec) {
        let back = (!free).then(|| Pass::once(multisplit::back(&split)));
        return split.work().passes.into_iter().chain([search]).chain(back).collect();
    }
    let read: &[&str] = if free { &["keys", "numbers"] } else { &["keys"] };
    let written: &[&str] = if free { &["split keys", "out numbers"] } else { &["split keys"] };
    let written = written.iter().map(|array| staged(array, 4, n, bits));
    let split = over(n, read, &[]).into_iter().chain(written).collect();
    let mut passes = vec![Pass::once(over(n, &["keys"], &[])), Pass::once(split), search];
    if !free {
        passes.push(Pass::once(over(n, &["keys", "found"], &["out"])));
    }
    passes
}

/// Sectors that a search reads of the entries, which lie side by side: a run of m entries that begins anywhere in a
/// sector of s touches 1 + (m − 1)/s of them. A key that the table has is in a run of 1 + λ entries on average, for λ
/// records per header; any other in one of λ, which is empty with the chance e^−λ.
fn entries_of_a_search(spec: &Search) -> f64 {
    let sector = if spec.backend.is_cuda() { 32.0 } else { 64.0 };
    let each = sector / ENTRY as f64;
    let there = 1.0 - exp_minus(spec.load);
    let (hit, miss) = (1.0 + spec.load / each, there + (spec.load - there) / each);
    spec.hits * hit + (1.0 - spec.hits) * miss
}

/// The four steps of he2007 §4.2: headers and entries are visited for the counts and again for the ids. The counts are
/// summed by tiles, whose sums are summed before they are added; a pass of the gather scans L and takes the ids of its
/// chunk.
fn he2007(spec: &Search) -> Vec<Pass> {
    let (n, count, headers) = (spec.keys, spec.count, spec.headers());
    let random = |array: &str, element, count, footprint| Access {
        order: order(spec),
        footprint,
        ..Access::sequential(array, Direction::Read, element, count)
    };
    let entries = times(n, entries_of_a_search(spec));
    let probe =
        || vec![random("headers", 4, n, 4 * headers), random("entries", ENTRY, entries, ENTRY * count)];
    let matches = times(n * spec.copies, spec.hits);
    let counting = [over(n, &["keys"], &["counts"]), probe()].concat();
    let sums = |direction| Access::sequential("sums", direction, 8, n.div_ceil(SUM_TILE));
    let of_tiles = [over(n, &["counts"], &[]), vec![sums(Direction::Write)]].concat();
    let of_all = vec![sums(Direction::Read), sums(Direction::Write)];
    let added = [over(n, &["counts"], &["offsets"]), vec![sums(Direction::Read)]].concat();
    let locating = [over(n, &["keys", "offsets"], &[]), probe(), over(matches, &[], &["L"])].concat();
    let passes = spec.passes();
    let gathered = matches.div_ceil(passes);
    let taken = if passes == 1 { Order::Sequential } else { Order::Strided { stride: passes, run: 1.0 } };
    let gather = vec![
        Access::sequential("L", Direction::Read, 4, matches),
        random("records", 8, gathered, (8 * count).div_ceil(passes)),
        Access {
            order: taken,
            footprint: 8 * matches,
            ..Access::sequential("out", Direction::Write, 8, gathered)
        },
    ];
    let once = [counting, of_tiles, of_all, added, locating].map(Pass::once);
    once.into_iter().chain([Pass { times: passes, accesses: gather }]).collect()
}

/// The accesses of a search.
pub fn search(spec: &Search) -> Work {
    let (n, (passes, beside)) = (spec.keys, passes(spec));
    let bytes = 8 * n + 8 * times(n, spec.hits);
    let table = match spec.method {
        Method::He2007 { .. } => 16 * spec.count + 4 * (spec.headers() + n),
        _ => spec.layout().bytes(),
    };
    let footprint = table + 4 * n + beside;
    let scratch = if spec.order_is_free() { n.div_ceil(8) } else { 0 };
    Work { passes, elements: n, effective_bytes: bytes, system_bytes: bytes, footprint, scratch }
}

/// The accesses of building: the table is emptied; each record reads its bucket and takes a slot, in the order of the
/// partitions after a count and a split of the records.
pub fn build(spec: &Build) -> Work {
    let (n, layout) = (spec.count, spec.layout());
    let (slots, bytes) = (layout.all_slots(), layout.bytes());
    let looked = times(n, 1.0 + away(layout.slots, spec.load));
    let parts = matches!(spec.method, BuildMethod::Partitioned { .. }).then(|| spec.bits());
    let order = || parts.map_or(Order::Random, |bits| Order::Chunks { chunks: 1 << bits });
    let mut passes = vec![Pass::once(vec![Access::sequential("table", Direction::Write, 8, slots)])];
    if let Some(split) = block_costs::split_of_records(spec) {
        passes.extend(split.work().passes);
    } else if let Some(bits) = parts {
        passes.push(Pass::once(over(n, &["keys"], &[])));
        let written = ["split keys", "split ids"].map(|array| staged(array, 4, n, bits));
        passes.push(Pass::once([over(n, &["keys", "ids"], &[]), written.to_vec()].concat()));
    }
    let put = vec![
        table_access(Direction::Read, spec.bucket_bytes(), looked, bytes, order()),
        table_access(Direction::Write, 8, n, bytes, order()),
    ];
    let placed: &[&str] = if parts.is_some() { &["split keys", "split ids"] } else { &["keys", "ids"] };
    passes.push(Pass::once([over(n, placed, &[]), put].concat()));
    Work {
        passes,
        elements: n,
        effective_bytes: 16 * n,
        system_bytes: 16 * n,
        footprint: bytes + if parts.is_some() { 16 * n } else { 8 * n },
        scratch: n.div_ceil(8),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A key that a table of one record per header has is in a run of two entries, which begins in the last quarter of a
    /// sector of four for one in four.
    #[test]
    fn entries_lie_side_by_side() {
        let visited = |words: &str| {
            let words = format!("records=1000 keys=1000 load=0.99 method=he2007 {words}");
            let params = crate::primitives::words::params(&words);
            entries_of_a_search(&Search::from_params(&params, 7).expect("a case"))
        };
        assert!((visited("backend=cuda") - 1.2475).abs() < 1e-9);
        assert!((visited("backend=cpu") - 1.12375).abs() < 1e-9);
        assert!((visited("backend=cuda hits=0.0") - (0.6284 + (0.99 - 0.6284) / 4.0)).abs() < 1e-3);
    }

    #[test]
    fn few_records_are_away_from_home() {
        assert!((exp_minus(8.0) / (-8.0f64).exp() - 1.0).abs() < 1e-9);
        assert!((beyond_home(8, 0.8) - 0.06).abs() < 0.01, "{}", beyond_home(8, 0.8));
        assert!((beyond_home(8, 0.99) - 0.135).abs() < 0.01, "{}", beyond_home(8, 0.99));
        assert!(beyond_home(4, 0.5) < 0.06);
    }
}
