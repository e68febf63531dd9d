//! The memory accesses of searches and of building.

use super::block_costs;
use super::spec::{Build, BuildMethod, Distribution, Method, Search};
use crate::case::work::{Access, Order, Pass, Work};
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

/// The visits of searches to the buckets, in the order of the partitions or in any.
fn looked(spec: &Search, order: Order) -> Access {
    let visited = times(spec.keys, visits(spec));
    Access::reads("table", spec.bucket_bytes(), visited).within(spec.layout().bytes()).ordered(order)
}

/// The passes of a search, and the bytes of the arrays beside keys and table.
fn passes(spec: &Search) -> (Vec<Pass>, u64) {
    let n = spec.keys;
    match spec.method {
        Method::Partitioned { .. } => (partitioned(spec), spec.beside_partitions()),
        Method::He2007 { .. } => (he2007(spec), 4 * n + 12 * spec.most_matches()),
        _ => {
            let looked = looked(spec, order(spec));
            let all = [Access::reads("keys", 4, n), looked, Access::writes("out", 4, n)];
            (vec![Pass::once(all)], 4 * n)
        }
    }
}

/// A count and a split of the keys, the searches, and the split backwards.
fn partitioned(spec: &Search) -> Vec<Pass> {
    let (n, bits, free) = (spec.keys, spec.bits(), spec.order_is_free());
    let search = Pass::once([
        Access::reads("split keys", 4, n),
        looked(spec, Order::Chunks { chunks: 1 << bits }),
        Access::writes(if free { "out" } else { "found" }, 4, n),
    ]);
    let (split, back) = match block_costs::split(spec) {
        Some(split) => (split.work().passes, multisplit::back(&split)),
        None => {
            let values = free.then_some(["numbers", "out numbers"]);
            let read = ["keys", "found"].map(|array| Access::reads(array, 4, n));
            (split_on_cpus(n, bits, values), Pass::once(read).and([Access::writes("out", 4, n)]))
        }
    };
    split.into_iter().chain([search]).chain((!free).then_some(back)).collect()
}

/// A count and a split of keys on CPUs, and of the values that go with them from one array to the other.
fn split_on_cpus(n: u64, bits: u64, values: Option<[&str; 2]>) -> Vec<Pass> {
    let order = Order::Staged { partitions: 1 << bits, tile: SPLIT_TILE };
    let keys = Access::reads("keys", 4, n);
    let [read, written] = [values.map(|[from, _]| from), values.map(|[_, to]| to)];
    let written =
        ["split keys"].into_iter().chain(written).map(|to| Access::writes(to, 4, n).ordered(order.clone()));
    let moved = Pass::once([keys.clone()]).and(read.map(|from| Access::reads(from, 4, n))).and(written);
    vec![Pass::once([keys]), moved]
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
    let (n, count, passes) = (spec.keys, spec.count, spec.passes());
    let keys = Access::reads("keys", 4, n);
    let headers = Access::reads("headers", 4, n).within(4 * spec.headers()).ordered(order(spec));
    let entries = Access::reads("entries", ENTRY, times(n, entries_of_a_search(spec)));
    let entries = entries.within(ENTRY * count).ordered(order(spec));
    let counts = Access::reads("counts", 4, n);
    let [sums, summed] = [Access::reads, Access::writes].map(|of| of("sums", 8, n.div_ceil(SUM_TILE)));
    let matches = times(n * spec.copies, spec.hits);
    let gathered = matches.div_ceil(passes);
    vec![
        Pass::once([keys.clone(), Access::writes("counts", 4, n), headers.clone(), entries.clone()]),
        Pass::once([counts.clone(), summed.clone()]),
        Pass::once([sums.clone(), summed]),
        Pass::once([counts, Access::writes("offsets", 4, n), sums]),
        Pass::once([keys, Access::reads("offsets", 4, n), headers, entries, Access::writes("L", 4, matches)]),
        Pass::once([
            Access::reads("L", 4, matches),
            Access::reads("records", 8, gathered).within((8 * count).div_ceil(passes)).ordered(order(spec)),
            Access::writes("out", 8, gathered).within(8 * matches).ordered(Order::one_in(passes)),
        ])
        .times(passes),
    ]
}

/// The accesses of a search.
pub fn search(spec: &Search) -> Work {
    let (n, (passes, beside)) = (spec.keys, passes(spec));
    let table = match spec.method {
        Method::He2007 { .. } => 16 * spec.count + 4 * (spec.headers() + n),
        _ => spec.layout().bytes(),
    };
    let scratch = if spec.order_is_free() { n.div_ceil(8) } else { 0 };
    Work::of(n, 8 * n + 8 * times(n, spec.hits), passes).footprint(table + 4 * n + beside).scratch(scratch)
}

/// The accesses of building: the table is emptied; each record reads its bucket and takes a slot, in the order of the
/// partitions after a count and a split of the records.
pub fn build(spec: &Build) -> Work {
    let (n, layout) = (spec.count, spec.layout());
    let parts = matches!(spec.method, BuildMethod::Partitioned { .. }).then(|| spec.bits());
    let order = parts.map_or(Order::Random, |bits| Order::Chunks { chunks: 1 << bits });
    let split = match (block_costs::split_of_records(spec), parts) {
        (Some(split), _) => split.work().passes,
        (None, Some(bits)) => split_on_cpus(n, bits, Some(["ids", "split ids"])),
        (None, None) => Vec::new(),
    };
    let looked = times(n, 1.0 + away(layout.slots, spec.load));
    let put = [Access::reads("table", spec.bucket_bytes(), looked), Access::writes("table", 8, n)];
    let placed = if parts.is_some() { ["split keys", "split ids"] } else { ["keys", "ids"] };
    let placed = Pass::once(placed.map(|array| Access::reads(array, 4, n)))
        .and(put.map(|access| access.within(layout.bytes()).ordered(order.clone())));
    let emptied = Pass::once([Access::writes("table", 8, layout.all_slots())]);
    Work::of(n, 16 * n, [emptied].into_iter().chain(split).chain([placed]))
        .footprint(layout.bytes() + if parts.is_some() { 16 * n } else { 8 * n })
        .scratch(n.div_ceil(8))
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
