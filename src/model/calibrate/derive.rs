//! The profile that follows from the times of a calibration.

use std::collections::BTreeMap;

use super::levels;
use super::measured::Measured;
use super::rates::{self, rounded};
use crate::case::Direction;
use crate::model::he2007::sequential_bandwidth;
use crate::model::{Cache, Curve, Device, He2007, Made, Profile, Random, Rates, SCHEMA};

/// A cache that is stated to be so large may be found to be this many times larger or smaller.
const ALIKE: f64 = 4.0;

/// he2007 §3.3.1 scans 2^i MB.
const SMALLEST_SCAN: f64 = 1e6;

/// What is calibrated, as far as it is known without measuring.
#[derive(Clone, Debug, PartialEq)]
pub struct Subject {
    pub name: String,
    pub source: String,
    pub made: Made,
    pub device: Device,
    /// Its caches from the processor outwards, with their sizes where the vendor or the driver
    /// states them.
    pub caches: Vec<(String, Option<u64>)>,
    /// Bytes of a line, where the system tells.
    pub line: Option<u64>,
    /// Bytes of a page, where the system tells.
    pub page: Option<u64>,
}

/// The profile of `subject` from its cases. O(cases²).
///
/// # Errors
/// What was not measured, where a profile cannot do without it.
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
        // What a processor asks for ahead hides what one miss fetches.
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

/// The least latency that a backend has at each footprint, for neighbours only slow a chain down;
/// without any, what a random read costs.
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

/// Which cache each capacity is. Both ascend, so that as many as can be are paired in their order,
/// and of several ways that in which they are nearest: within a factor of [`ALIKE`], or less than
/// the stated size but more than the cache before, for others may hold most of a shared one. Of no
/// stated size it is the largest one below the next cache. What lies beyond the last cache first is
/// the reach of the TLB.
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

/// Caches of these sizes with capacities of theirs, most of them and then the nearest, and how far
/// these lie apart; `before` is the size of the cache before. O(2ⁿ) in the number of either.
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

/// Lines and sectors: on a GPU the first cache tells lines apart, and stores move sectors; on
/// processors a line is what is moved, and fetched.
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

/// he2007's parameters. δ is what a hit takes beside others, not its latency: the equations
/// know nothing of what is in flight, and a miss takes its share of B_seq there.
fn he2007(rates: &Rates, caches: &[Cache]) -> Option<He2007> {
    let last = caches.last()?;
    let scans = rates.read.points().iter().filter(|(bytes, _)| *bytes >= SMALLEST_SCAN);
    let scans: Vec<(f64, f64)> = scans.map(|(bytes, rate)| (*bytes, bytes / rate)).collect();
    // Within the last cache and beyond the one before it, as far as there is room.
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
