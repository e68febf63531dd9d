//! The memory accesses of searches and of building.

use super::spec::{Build, Distribution, Search};
use crate::case::work::Order;
use crate::case::{Access, Concurrency, Direction, Pass, Work};

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

/// Buckets read for each search on average: a record away from home costs a second one, and so does a miss whose
/// mark a record away from home has set.
fn visits(spec: &Search) -> f64 {
    let slots = spec.layout().slots;
    let beyond = beyond_home(slots, spec.load);
    1.0 + spec.hits * beyond + (1.0 - spec.hits) * (beyond * spec.load).min(1.0)
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

/// The accesses of a search.
pub fn search(spec: &Search) -> Work {
    let (n, layout) = (spec.keys, spec.layout());
    let sequential = |array, direction| Access::sequential(array, direction, 4, n);
    let buckets = times(n, visits(spec));
    let visited = table_access(Direction::Read, spec.bucket_bytes(), buckets, layout.bytes(), order(spec));
    let passes = vec![Pass::once(vec![
        sequential("keys", Direction::Read),
        visited,
        sequential("out", Direction::Write),
    ])];
    let bytes = 8 * n + 8 * times(n, spec.hits);
    let footprint = layout.bytes() + 8 * n;
    Work { passes, elements: n, effective_bytes: bytes, system_bytes: bytes, footprint, scratch: 0 }
}

/// The accesses of building: the table is emptied; each record reads its bucket and takes a slot.
pub fn build(spec: &Build) -> Work {
    let (n, layout) = (spec.count, spec.layout());
    let (slots, bytes) = (layout.all_slots(), layout.bytes());
    let beyond = beyond_home(layout.slots, spec.load);
    let looked = times(n, 1.0 + beyond);
    let emptied = Pass::once(vec![Access::sequential("table", Direction::Write, 8, slots)]);
    let put = vec![
        Access::sequential("records", Direction::Read, 8, n),
        table_access(Direction::Read, spec.bucket_bytes(), looked, bytes, Order::Random),
        table_access(Direction::Write, 8, n, bytes, Order::Random),
    ];
    Work {
        passes: vec![emptied, Pass::once(put)],
        elements: n,
        effective_bytes: 16 * n,
        system_bytes: 16 * n,
        footprint: bytes + 8 * n,
        scratch: n.div_ceil(8),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_records_are_away_from_home() {
        assert!((exp_minus(8.0) / (-8.0f64).exp() - 1.0).abs() < 1e-9);
        assert!((beyond_home(8, 0.8) - 0.06).abs() < 0.01, "{}", beyond_home(8, 0.8));
        assert!((beyond_home(8, 0.99) - 0.135).abs() < 0.01, "{}", beyond_home(8, 0.99));
        assert!(beyond_home(4, 0.5) < 0.06);
    }
}
