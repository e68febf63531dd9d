//! The bytes that a case declares to move, for comparison with counters. Pure.

use crate::case::units::{fmt_bytes, fmt_count, fmt_rate, fmt_seconds};
use crate::case::work::Order;
use crate::case::{Access, Direction, Work};

/// Bytes of all passes in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traffic {
    /// Bytes that the method asks for.
    pub declared: u64,
    /// Bytes moved if every access out of order fetches or writes whole units of `unit` bytes.
    pub most: u64,
    /// Number of accesses out of order.
    pub scattered: u64,
}

impl Traffic {
    /// Sums the traffic in one direction. `unit`: bytes of a sector or a cache line.
    pub fn of(work: &Work, direction: Direction, unit: u64) -> Traffic {
        let mut traffic = Traffic { declared: 0, most: 0, scattered: 0 };
        let all = work.passes.iter().flat_map(|pass| pass.accesses.iter().map(|access| (pass.times, access)));
        for (times, access) in all.filter(|(_, access)| access.direction == direction) {
            let ordered = access.order == Order::Sequential;
            let moved = if ordered { access.element } else { access.element.div_ceil(unit) * unit };
            traffic.declared += times * access.bytes();
            traffic.most += times * access.count * moved;
            traffic.scattered += if ordered { 0 } else { times * access.count };
        }
        traffic
    }

    /// A text such as `128 MiB`, or `64.0 MiB to 256 MiB` if accesses out of order may move whole units.
    pub fn range(&self) -> String {
        match (fmt_bytes(self.declared), fmt_bytes(self.most)) {
            (declared, most) if declared == most => declared,
            (declared, most) => format!("{declared} to {most}"),
        }
    }
}

/// The declared bytes of one execution: in total, and by array.
pub fn lines(work: &Work, median: Option<f64>) -> Vec<String> {
    let declared = |direction| fmt_bytes(Traffic::of(work, direction, 1).declared);
    let mut lines = vec![format!(
        "one execution declares {} read and {} written (effective: {})",
        declared(Direction::Read),
        declared(Direction::Write),
        fmt_bytes(work.effective_bytes)
    )];
    for pass in &work.passes {
        let times = if pass.times > 1 { format!("{} x ", pass.times) } else { String::new() };
        lines.extend(pass.accesses.iter().map(|access| format!("  {times}{}", array(access))));
    }
    lines.extend(median.map(|seconds| {
        let rate = work.declared_bytes() as f64 / seconds / 1e9;
        format!("measured: median {}, declared bytes at {}", fmt_seconds(seconds), fmt_rate(rate))
    }));
    lines
}

/// A line such as `read R_in: 128 MiB random, 16.8 M accesses of 8 B`.
fn array(access: &Access) -> String {
    let way = match access.direction {
        Direction::Read => "read",
        Direction::Write => "write",
    };
    let order = match &access.order {
        Order::Sequential => "in order".to_owned(),
        Order::Strided { stride, run } if *run <= 1.0 => format!("every {stride}th element"),
        Order::Strided { stride, run } => format!("one in {stride} elements, {run:.1} in a row on average"),
        Order::Random => "random".to_owned(),
        Order::Chunks { chunks } => format!("random within {chunks} chunks, one after another"),
        Order::Partitions { partitions } => format!("in {partitions} partitions"),
        Order::Staged { partitions, tile } => {
            format!("in {partitions} partitions, {tile} elements at a time put in their order")
        }
        Order::Zipf { exponent } => format!("Zipf, exponent {exponent}"),
        Order::Given => "as the index array says".to_owned(),
        Order::Visits { indices, deltas, shuffled } => {
            let order = if *shuffled { "shuffled" } else { "in order" };
            format!("{} indices, {} deltas, {order}", indices.len(), deltas.len())
        }
        Order::Pattern { indices, delta } => format!("{} indices, delta {delta}", indices.len()),
    };
    let (bytes, count) = (fmt_bytes(access.bytes()), fmt_count(access.count));
    let over = if access.footprint == access.bytes() {
        String::new()
    } else {
        format!(" over {}", fmt_bytes(access.footprint))
    };
    format!("{way} {}: {bytes}{over}, {order}, {count} accesses of {} B", access.array, access.element)
}
