//! Latency: the throughput of all threads of a device with one load in flight each (Little's law).
//!
//! Equation: T = n / scan(bytes) for n elements in an array of so many bytes; `scan` is the profile's rate of
//! a pass that inspects elements and skips them. A tuple reached through a location is a second load, after
//! that of the location, with the latency of its own array. Threads start and end in blocks, so a block waits
//! for the tuple if one of its threads does. Stores do not wait. Each chained access costs its latency.
//!
//! A processor filters a block of B locations and then moves the tuples found. In a pass that skips these are
//! few, so their loads are in flight together. The processor retires in order and waits for the last of them
//! before the next block: T = n / B · latency / threads for reads beyond the first cache.

use super::machine::Machine;
use super::pass::PassContext;
use crate::case::work::Order;
use crate::case::{Access, Concurrency, Direction};

impl PassContext<'_> {
    /// Latency of the first read at a location that another array holds. A processor that issues accesses one
    /// by one overlaps others, but waits for the loads of the tuples found in a block of locations.
    pub(super) fn depth(&self) -> Result<f64, String> {
        if self.machine.group() == 1 {
            let scanned = self.scan().filter(|_| self.is_thin()).map_or(0, |scan| scan.count);
            let reads = self.pass.accesses.iter().filter(|a| a.direction == Direction::Read);
            let moved = reads.filter(|a| scanned > 0 && a.concurrency == Concurrency::Indexed);
            return moved.map(|a| found_in_blocks(self.machine, a, scanned)).sum();
        }
        let led = |a: &&Access| a.direction == Direction::Read && is_indexed(a);
        let first = self.pass.accesses.iter().find(led).filter(|first| self.is_led(first));
        first.map_or(Ok(0.0), |access| latency_of(self.machine, access))
    }

    /// Whether the pass loads the places of this access: from an array, or from the entries of a pattern.
    fn is_led(&self, access: &Access) -> bool {
        let scans = self.pass.accesses.iter().any(|a| a.order == Order::Sequential);
        scans || matches!(access.order, Order::Pattern { .. } | Order::Visits { .. })
    }

    /// Seconds of chained accesses.
    pub(super) fn waiting(&self) -> Result<f64, String> {
        self.pass.accesses.iter().map(|access| chained(self.machine, access)).sum()
    }

    /// Seconds of the scan in a pass that skips most elements. A processor filters a block of locations and
    /// then moves the tuples found, so the scan's excess over reading the locations is added to the moves;
    /// the threads of a GPU do both concurrently.
    pub(super) fn scanned(&self) -> Result<f64, String> {
        let longest = self.scan().filter(|_| self.is_thin());
        longest.map_or(Ok(0.0), |scan| looked_at(self.machine, scan.count as f64, self.distance(scan)))
    }

    /// The longest array that is read in order.
    fn scan(&self) -> Option<&Access> {
        let scans = self.pass.accesses.iter().filter(|a| a.order == Order::Sequential);
        scans.max_by_key(|a| a.count)
    }
}

/// Whether the places of an access come from another array.
fn is_indexed(access: &Access) -> bool {
    !matches!(
        access.order,
        Order::Sequential | Order::Strided { .. } | Order::Chunks { .. } | Order::Staged { .. }
    )
}

/// Seconds to inspect `n` elements of an array that is read again after `distance` bytes.
///
/// # Errors
/// A profile without `scan`.
fn looked_at(machine: &Machine, n: f64, distance: f64) -> Result<f64, String> {
    let scan = machine.rates.scan.as_ref().ok_or("the profile has no scan, which passes that skip need")?;
    Ok(n / scan.at(distance))
}

/// Latency of one access to the footprint, seconds.
///
/// # Errors
/// A profile without a latency.
fn latency_of(machine: &Machine, access: &Access) -> Result<f64, String> {
    machine.latency(access.footprint as f64)
}

/// Locations that a processor filters before it moves the tuples found: a constant of our CPU kernels.
const BLOCK: f64 = 1024.0;

/// Seconds in which processors wait for the tuples found in each block of `scanned` locations. If there are
/// fewer tuples than blocks, only the blocks with a tuple count.
///
/// # Errors
/// A profile without a latency.
fn found_in_blocks(machine: &Machine, access: &Access, scanned: u64) -> Result<f64, String> {
    let waits = (scanned as f64 / BLOCK).min(access.count as f64);
    Ok(waits * latency_of(machine, access)? / machine.rates.threads.unwrap_or(1) as f64)
}

/// Seconds of accesses that each depend on the one before.
///
/// # Errors
/// A profile without a latency.
fn chained(machine: &Machine, access: &Access) -> Result<f64, String> {
    if access.concurrency != Concurrency::Chained {
        return Ok(0.0);
    }
    Ok(access.count as f64 * latency_of(machine, access)?)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{access, close, on_toy, toy};
    use super::*;
    use crate::model::Curve;

    #[test]
    fn a_scan_has_the_profiles_rate() {
        on_toy(|toy| {
            for (distance, rate) in [(1e5, 2e10), (1e12, 1e10)] {
                assert!(close(looked_at(toy, 1e6, distance).expect("a scan"), 1e6 / rate));
            }
        });
    }

    #[test]
    fn what_a_profile_lacks_has_a_reason() {
        let mut profile = toy();
        let rates = profile.rates.get_mut("cuda").expect("a backend");
        (rates.scan, rates.latency) = (None, None);
        let machine = Machine::new(&profile, "cuda").expect("a backend");
        assert!(looked_at(&machine, 1e6, 1e5).is_err_and(|why| why.contains("no scan")));
        let read = access(Direction::Read, 1000, 1 << 20, Order::Random);
        assert_eq!(latency_of(&machine, &read), Err("the profile has no latency".to_owned()));
    }

    #[test]
    fn each_chained_access_waits() {
        let free = access(Direction::Read, 1000, 1 << 20, Order::Random);
        let chained_access = Access { concurrency: Concurrency::Chained, ..free.clone() };
        let mut profile = toy();
        profile.rates.get_mut("cuda").expect("a backend").latency = None;
        let of = |profile: &_, access| chained(&Machine::new(profile, "cuda").expect("a backend"), access);
        assert_eq!(of(&profile, &free), Ok(0.0));
        assert_eq!(of(&profile, &chained_access), Err("the profile has no latency".to_owned()));
        let latency = Curve::new(vec![(1.0, 1e-7)]).expect("a curve");
        profile.rates.get_mut("cuda").expect("a backend").latency = Some(latency);
        assert!(close(of(&profile, &chained_access).expect("a latency"), 1e-4));
    }
}
