//! Derivation of a profile from the times of a calibration.

use std::collections::BTreeMap;

use super::Measured;
use super::levels;
use super::rates::{self, rounded};
use crate::case::Direction;
use crate::model::he2007::sequential_bandwidth;
use crate::model::{Cache, Curve, Device, He2007, Made, Profile, Random, Rates, SCHEMA};

/// A measured capacity may differ from the stated size of its cache by up to this factor.
const ALIKE: f64 = 4.0;

/// he2007 §3.3.1 scans 2^i MB.
const SMALLEST_SCAN: f64 = 1e6;

/// The device to calibrate, as far as it is known without measuring.
#[derive(Clone, Debug, PartialEq)]
pub struct Subject {
    pub name: String,
    pub source: String,
    pub made: Made,
    pub device: Device,
    /// The device's caches from the processor outwards, with their sizes if the vendor or the driver states
    /// them.
    pub caches: Vec<(String, Option<u64>)>,
    /// Bytes of a cache line, if the system reports it.
    pub line: Option<u64>,
    /// Bytes of a page, if the system reports it.
    pub page: Option<u64>,
}

/// The profile of `subject` from its cases. O(cases²).
///
/// # Errors
/// Names a required figure that was not measured.
pub fn derive(subject: &Subject, all: &[Measured]) -> Result<Profile, String> {
    let mut backends: Vec<&str> = all.iter().map(|m| m.backend.as_str()).collect();
    backends.sort_unstable();
    backends.dedup();
    let rates = backends.iter().map(|backend| Ok(((*backend).to_owned(), rates::rates(all, backend)?)));
    let mut rates: BTreeMap<String, Rates> = rates.collect::<Result<_, String>>()?;
    if rates.is_empty() {
        return Err("nothing was measured".to_owned());
    }
    let (found, reach) = assigned(&levels::capacities(&latencies(&rates)), &subject.caches);
    for one in rates.values_mut() {
        (one.page, one.tlb_reach) = (subject.page, reach);
        // A processor's prefetching hides how much one miss fetches.
        one.fetch = subject.line.unwrap_or(one.fetch);
    }
    let caches = caches(&found, subject, &rates);
    let he2007 = rates.iter().filter_map(|(backend, rates)| Some((backend.clone(), he2007(rates, &caches)?)));
    Ok(Profile {
        schema: SCHEMA,
        name: subject.name.clone(),
        source: subject.source.clone(),
        made: Some(subject.made.clone()),
        device: subject.device.clone(),
        he2007: he2007.collect(),
        caches,
        rates,
    })
}

/// The least latency of any backend at each footprint, because neighbours only slow a chain down; without any
/// latency, the cost of a random read.
fn latencies(rates: &BTreeMap<String, Rates>) -> Vec<(f64, f64)> {
    let mut all: Vec<(f64, f64)> = rates
        .values()
        .filter_map(|rates| rates.latency.as_ref())
        .flat_map(|curve| curve.points().to_vec())
        .collect();
    if all.is_empty() {
        let reads = rates.values().find_map(random_reads);
        return reads
            .map(|curve| curve.points().iter().map(|(x, rate)| (*x, 1.0 / rate)).collect())
            .unwrap_or_default();
    }
    all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    all.dedup_by(|next, first| next.0 == first.0);
    all
}

fn random_reads(rates: &Rates) -> Option<&Curve> {
    let word = |r: &&Random| r.direction == Direction::Read && r.element == rates::WORD;
    rates.random.iter().find(word).map(|r| &r.rate)
}

/// Assigns each capacity to a cache; also returns the reach of the TLB. Both lists ascend, so as many as
/// possible are paired in order, and of several such pairings the closest is taken. A pair must agree within
/// a factor of [`ALIKE`], or the capacity must lie between the size of the cache before and the stated size,
/// because others may occupy most of a shared cache. A cache without a stated size gets the largest free
/// capacity below the next cache. The smallest capacity beyond the last cache is the reach of the TLB.
fn assigned(capacities: &[f64], caches: &[(String, Option<u64>)]) -> (Vec<(usize, u64)>, Option<u64>) {
    let bytes = |capacity: f64| capacity.round() as u64;
    let sized: Vec<(usize, f64)> =
        caches.iter().enumerate().filter_map(|(at, (_, size))| Some((at, (*size)? as f64))).collect();
    let pairs = paired(capacities, &sized, 0.0).0;
    let mut free = capacities.to_vec();
    free.retain(|capacity| pairs.iter().all(|(_, taken)| taken != capacity));
    let mut found: Vec<(usize, u64)> = pairs.into_iter().map(|(at, c)| (at, bytes(c))).collect();
    for at in (0..caches.len()).rev().filter(|at| caches[*at].1.is_none()) {
        let beyond = found.iter().filter(|(other, _)| *other > at).map(|(_, size)| *size).min();
        let below = free.iter().copied().filter(|c| beyond.is_none_or(|beyond| *c < beyond as f64));
        if let Some(capacity) = below.max_by(f64::total_cmp) {
            free.retain(|other| *other != capacity);
            found.push((at, bytes(capacity)));
        }
    }
    found.sort_unstable();
    let last = found.iter().map(|(_, size)| *size).max();
    let further = free.iter().copied().filter(|c| last.is_some_and(|last| *c > last as f64));
    (found, further.min_by(f64::total_cmp).map(bytes))
}

/// Pairs of cache and capacity, as many as possible and then the closest, with the sum of their distances (in
/// logarithms); `before` is the size of the cache before. O(2ⁿ) in the number of either.
fn paired(capacities: &[f64], caches: &[(usize, f64)], before: f64) -> (Vec<(usize, f64)>, f64) {
    let [(at, size), rest @ ..] = caches else { return (Vec::new(), 0.0) };
    let mut best = paired(capacities, rest, *size);
    for (place, capacity) in capacities.iter().enumerate() {
        let away = (capacity / size).ln().abs();
        let shared = before > 0.0 && before <= *capacity && capacity <= size;
        if away > ALIKE.ln() && !shared {
            continue;
        }
        let (mut pairs, apart) = paired(&capacities[place + 1..], rest, *size);
        pairs.insert(0, (*at, *capacity));
        let more = pairs.len().cmp(&best.0.len());
        if more.is_gt() || more.is_eq() && apart + away < best.1 {
            best = (pairs, apart + away);
        }
    }
    best
}

/// Lines and sectors. On a GPU the first cache shows the line and stores show the sector; on processors a
/// line is also the unit of transfer and of fetching.
fn caches(found: &[(usize, u64)], subject: &Subject, rates: &BTreeMap<String, Rates>) -> Vec<Cache> {
    let gpu = rates.get("cuda");
    let Some(any) = gpu.or_else(|| rates.get("scalar")).or_else(|| rates.values().next()) else {
        return Vec::new();
    };
    let sector = gpu.and_then(rates::sector).unwrap_or(any.fetch);
    let line = gpu.and_then(rates::first_line).unwrap_or(sector).max(sector);
    let one = |(at, capacity): &(usize, u64)| {
        let (name, stated) = subject.caches.get(*at)?.clone();
        Some(Cache { name, capacity: rounded(*capacity as f64) as u64, stated, line, sector })
    };
    found.iter().filter_map(one).collect()
}

/// The parameters of he2007. δ is the time of a hit among others in flight, not its latency: the equations do
/// not model accesses in flight, and charge a miss at B_seq.
fn he2007(rates: &Rates, caches: &[Cache]) -> Option<He2007> {
    let last = caches.last()?;
    let scans = rates.read.points().iter().filter(|(bytes, _)| *bytes >= SMALLEST_SCAN);
    let scans: Vec<(f64, f64)> = scans.map(|(bytes, rate)| (*bytes, bytes / rate)).collect();
    // A footprint within the last cache and, if there is room, beyond the cache before it.
    let hits = last.capacity as f64 / 4.0;
    Some(He2007 {
        b_seq: rounded(sequential_bandwidth(&scans)?),
        cache: last.capacity,
        block: rates.fetch.max(last.sector),
        transfer: last.sector,
        delta: rounded(1.0 / random_reads(rates)?.at(hits)),
        warp: rates.group,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stated(sizes: &[Option<u64>]) -> Vec<(String, Option<u64>)> {
        (1..).zip(sizes).map(|(level, size)| (format!("L{level}"), *size)).collect()
    }

    #[test]
    fn capacities_are_the_caches_they_are_near_to() {
        let gpu = stated(&[None, Some(60 << 20)]);
        assert_eq!(
            assigned(&[2e5, 4e7, 6e9], &gpu),
            (vec![(0, 200_000), (1, 40_000_000)], Some(6_000_000_000))
        );
        assert_eq!(assigned(&[2e5, 4e7], &gpu), (vec![(0, 200_000), (1, 40_000_000)], None));
        assert_eq!(assigned(&[2e5], &gpu), (vec![(0, 200_000)], None), "the last one did not show");
        let cpu = stated(&[Some(48 << 10), Some(1 << 20), Some(32 << 20)]);
        let found = vec![(0, 45_000), (1, 900_000), (2, 20_000_000)];
        assert_eq!(assigned(&[4.5e4, 9e5, 2e7], &cpu), (found, None));
        assert_eq!(assigned(&[4.5e4, 2e7], &cpu).0, [(0, 45_000), (2, 20_000_000)], "L2 did not show");
        assert_eq!(assigned(&[4.5e4, 9e5, 4e6], &cpu).0[2], (2, 4_000_000), "others hold the rest of L3");
        let between = vec![(0, 13_000), (1, 270_000), (2, 4_000_000)];
        assert_eq!(assigned(&[1.3e4, 2.7e5, 4e6], &cpu), (between, None), "in their order");
        assert_eq!(assigned(&[], &cpu), (Vec::new(), None));
        assert_eq!(assigned(&[4.5e4, 9e5], &stated(&[None, None])).0, [(0, 45_000), (1, 900_000)]);
    }
}
