//! The memory accesses that methods share.

use super::{Build, Distribution, Search};
use crate::case::work::{Access, Order, Pass};

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
pub fn exp_minus(x: f64) -> f64 {
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

/// A share of a count.
pub fn times(count: u64, factor: f64) -> u64 {
    (count as f64 * factor) as u64
}

/// The order in which searches visit the table.
pub fn order(spec: &Search) -> Order {
    match spec.distribution {
        Distribution::Uniform => Order::Random,
        Distribution::Zipf { exponent } => Order::Zipf { exponent },
    }
}

/// The visits of searches to the buckets, in the order of the partitions or in any.
pub fn looked(spec: &Search, order: Order) -> Access {
    let (layout, visited) = (spec.layout(), times(spec.keys, visits(spec)));
    Access::reads("table", layout.bucket(), visited).within(layout.bytes()).ordered(order)
}

/// The pass that empties a table.
pub fn emptied(spec: &Build) -> Pass {
    Pass::once([Access::writes("table", 8, spec.layout().all_slots())])
}

/// The pass that puts the records of two arrays into a table: each reads its bucket and takes a slot.
pub fn put(spec: &Build, arrays: [&str; 2], order: Order) -> Pass {
    let (n, layout) = (spec.count, spec.layout());
    let looked = times(n, 1.0 + away(layout.slots, spec.load));
    let put = [Access::reads("table", layout.bucket(), looked), Access::writes("table", 8, n)];
    Pass::once(arrays.map(|array| Access::reads(array, 4, n)))
        .and(put.map(|access| access.within(layout.bytes()).ordered(order.clone())))
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
