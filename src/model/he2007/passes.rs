//! The two bandwidths (he2007 Eqs. 1 to 3), and the time of all passes (Eqs. 9 to 11).
//!
//! Eqs. 9 and 10 are Eq. 11 with one pass: scanned bytes over B_seq plus randomly accessed bytes over B_rand,
//! in which n, the blocks k and the partitions p are those of a chunk. A pass is charged for full scans: Eq.
//! 11 has all of R_in and L once per pass, even if the method skips the tuples of the other chunks. With one
//! partition and with sequential locations, too: a chunk is then a stretch of R_in, which the paper does not use.

use super::{Together, random_misses, warp_misses};
use crate::case::work::Order;
use crate::case::{Access, Concurrency, Pass, Work};
use crate::model::He2007;

/// Seconds by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Parts {
    /// ‖scanned‖ / B_seq.
    pub sequential: f64,
    /// ‖accessed at random‖ / B_rand, split into misses and hits.
    pub misses: f64,
    pub hits: f64,
}

impl Parts {
    /// T (Eqs. 9 to 11).
    pub fn seconds(self) -> f64 {
        self.sequential + self.misses + self.hits
    }

    fn add(&mut self, times: f64, other: Parts) {
        self.sequential += times * other.sequential;
        self.misses += times * other.misses;
        self.hits += times * other.hits;
    }
}

/// The time of a case's passes.
///
/// # Errors
/// An order of accesses that he2007 does not cover.
pub fn time(device: &He2007, together: Together, work: &Work) -> Result<Parts, String> {
    let mut parts = Parts::default();
    for pass in &work.passes {
        for access in &pass.accesses {
            parts.add(pass.times as f64, of_access(device, together, pass, access)?);
        }
    }
    Ok(parts)
}

fn of_access(device: &He2007, together: Together, pass: &Pass, a: &Access) -> Result<Parts, String> {
    if a.concurrency == Concurrency::Chained {
        return Err("he2007 has no latency of a single access, which chained accesses need; sector has one"
            .to_owned());
    }
    let scanned = |bytes: u64| Ok(Parts { sequential: bytes as f64 / device.b_seq, ..Parts::default() });
    match &a.order {
        Order::Sequential if !in_step(pass, a) => scanned(a.bytes()),
        Order::Sequential | Order::Strided { .. } => {
            scanned(a.element * scan_length(pass).ok_or(strides())?)
        }
        Order::Random | Order::Given => Ok(at_random(device, a, hit_rate(device, together, a, None))),
        Order::Chunks { chunks } => {
            // Case I on each chunk.
            let part = Access { count: a.count / chunks, footprint: a.footprint / chunks, ..a.clone() };
            Ok(at_random(device, a, hit_rate(device, together, &part, None)))
        }
        Order::Partitions { partitions } | Order::Staged { partitions, .. } => {
            Ok(at_random(device, a, hit_rate(device, together, a, Some(*partitions as f64))))
        }
        Order::Zipf { .. } => {
            Err("he2007 covers hit rates of uniform locations, not of skewed ones; sector covers both".to_owned())
        }
        Order::Pattern { .. } | Order::Visits { .. } => {
            Err("he2007 covers sequential, random and partitioned locations, not index patterns; sector covers these"
                .to_owned())
        }
    }
}

fn strides() -> String {
    "he2007 covers strides only beside a scan of locations, as in a pass; sector covers others".to_owned()
}

/// Whether this is the array that a pass walks through in step with the locations, moving tuples from or to another
/// array at them: the last of the two that it names.
fn in_step(pass: &Pass, access: &Access) -> bool {
    let mut moved = pass.accesses.iter().filter(|a| a.concurrency == Concurrency::Indexed);
    matches!((moved.next(), moved.next_back()), (Some(_), Some(last)) if std::ptr::eq(last, access))
}

/// Accesses of the pass's longest scan: |L|, scanned beside R_in.
fn scan_length(pass: &Pass) -> Option<u64> {
    let scans = pass.accesses.iter().filter(|a| a.order == Order::Sequential);
    scans.map(|a| a.count).max()
}

/// Hit rate h of an access's elements: Case I or, with a number of partitions, Case II. Locations about which
/// nothing is known count as random (§3.3.2); [`Order::Given`] is treated likewise.
pub fn hit_rate(device: &He2007, together: Together, a: &Access, partitions: Option<f64>) -> f64 {
    let block = device.block as f64;
    let lines = (device.cache / device.block) as f64;
    let inter = 1.0 - random_misses(a.count as f64, a.footprint as f64 / block, lines);
    match partitions {
        None => inter,
        Some(p) => together.of(1.0 - warp_misses(p, device.warp as f64, a.element as f64, block), inter),
    }
}

fn at_random(device: &He2007, a: &Access, h: f64) -> Parts {
    let (misses, hits) = access(device, a.element as f64, h);
    Parts { sequential: 0.0, misses: a.count as f64 * misses, hits: a.count as f64 * hits }
}

/// B_seq: the mean bandwidth of sequential scans, given as (bytes, seconds), weighted by the bytes scanned
/// (Eq. 1). As printed, the equation multiplies by tᵢ and divides by n, which a weighted mean does not; the
/// paper's text describes the weighted mean, which is used here. `None` without scans.
pub fn sequential(scans: &[(f64, f64)]) -> Option<f64> {
    let all: f64 = scans.iter().map(|(bytes, _)| bytes).sum();
    (all > 0.0).then(|| scans.iter().map(|(bytes, seconds)| bytes / all * (bytes / seconds)).sum())
}

/// Seconds of one access to a tuple of `z` bytes at hit rate `h`, split into misses and hits (Eq. 2 without
/// n).
pub fn access(device: &He2007, z: f64, h: f64) -> (f64, f64) {
    let (block, transfer) = (device.block as f64, device.transfer as f64);
    let miss = (z / block).ceil() * block / device.b_seq;
    ((1.0 - h) * miss, h * (z / transfer).ceil() * device.delta)
}

/// B_rand, bytes of tuples per second (Eq. 3).
pub fn random(device: &He2007, z: f64, h: f64) -> f64 {
    let (misses, hits) = access(device, z, h);
    z / (misses + hits)
}

#[cfg(test)]
mod tests {
    use super::super::tests::g80;
    use super::*;

    #[test]
    fn b_seq_is_a_weighted_mean() {
        assert_eq!(sequential(&[]), None);
        assert_eq!(sequential(&[(2.0, 1.0), (4.0, 2.0)]), Some(2.0));
        // 2 MB at 1 B/s and 4 MB at 4 B/s: weights of one third and two thirds.
        assert!((sequential(&[(2.0, 2.0), (4.0, 1.0)]).expect("two scans") - 3.0).abs() < 1e-12);
    }

    /// Only misses: 256 bytes are fetched per 8. Only hits: 8 bytes every δ, 64 every 2·δ.
    #[test]
    fn b_rand_lies_between_blocks_and_lines() {
        let g80 = g80();
        assert!((random(&g80, 8.0, 0.0) / (63.9e9 / 32.0) - 1.0).abs() < 1e-12);
        assert!((random(&g80, 8.0, 1.0) * g80.delta / 8.0 - 1.0).abs() < 1e-12);
        assert!((random(&g80, 64.0, 1.0) * g80.delta / 32.0 - 1.0).abs() < 1e-12);
    }
}
