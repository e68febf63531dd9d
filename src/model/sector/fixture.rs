//! A device with round figures, and accesses for tests.

use crate::case::work::Order;
use crate::case::{Access, Concurrency, Direction};
use crate::model::{Curve, Moves, Profile, profiles};

use super::machine::Machine;

const TOY: &str = "
schema: 1
name: toy
source: made up
device: {name: Toy, processors: 10}
caches:
  - {name: L1, capacity: 65536, line: 128, sector: 32}
  - {name: L2, capacity: 1048576, line: 128, sector: 32}
rates:
  cuda:
    launch: 1.0e-7
    pass: 0.5e-7
    group: 32
    tile: 1024
    blocks: [{direction: read, seconds: 1.0e-9}, {direction: write, seconds: 2.0e-9}]
    answer_lines: 2
    fetch: 64
    read: [[262144, 4.0e11], [1048576, 1.0e11], [1073741824, 1.0e11]]
    write: [[262144, 4.0e11], [1048576, 1.0e11], [1073741824, 1.0e11]]
    copy: [[262144, 4.0e11], [524288, 4.0e11], [1048576, 8.0e10], [1073741824, 8.0e10]]
    scan: [[1048576, 2.0e10], [1073741824, 1.0e10]]
    random:
      - {direction: read, element: 8, rate: [[524288, 1.0e10], [4194304, 1.0e9]]}
      - {direction: write, element: 8, rate: [[524288, 5.0e9], [4194304, 5.0e8]]}
    strided:
      - {direction: read, element: 8, footprint: 16384, rate: [[8, 3.2e11], [16, 1.6e11], [128, 2.0e10]]}
      - {direction: write, element: 8, footprint: 16384, rate: [[8, 3.2e11]]}
      - {direction: read, element: 8, footprint: 1073741824, rate: [[64, 1.5625e9], [128, 1.25e9], [1024, 1.0e9]]}
      - {direction: write, element: 8, footprint: 1073741824, rate: [[32, 1.0e9], [64, 8.0e8], [128, 5.0e8], [1024, 2.5e8]]}
    latency: [[65536, 2.0e-8], [1073741824, 5.0e-7]]
    interleaved:
      - {direction: write, element: 8, footprint: 16777216, rate: [[1, 8.0e9], [32, 4.0e9]]}
      - {direction: write, element: 8, footprint: 1073741824, rate: [[1, 8.0e9], [32, 1.0e9]]}
";

/// The toy device; its backend is `cuda`.
pub fn toy() -> Profile {
    profiles::read("toy", TOY).expect("a profile")
}

/// Calls `check` with the device's backend.
pub fn on_toy(check: impl FnOnce(&Machine)) {
    check(&Machine::new(&toy(), "cuda").expect("a backend"));
}

/// Calls `check` with two processors derived from the toy device, which issue one access at a time, move
/// 1.6e11 elements per second and copy twice as fast in their first caches.
pub fn on_processors(check: impl FnOnce(&Machine)) {
    let mut profile = toy();
    let rates = profile.rates.get_mut("cuda").expect("a backend");
    (rates.group, rates.tile, rates.threads, rates.launch) = (1, None, Some(2), 1e-9);
    rates.moves = vec![Moves { direction: Direction::Read, element: 8, rate: 1.6e11 }];
    let near = [(65536.0, 8e11), (131_072.0, 4e11)];
    rates.copy =
        Curve::new(near.into_iter().chain(rates.copy.points().iter().copied()).collect()).expect("a curve");
    check(&Machine::new(&profile, "cuda").expect("a backend"));
}

/// `count` accesses to elements of 8 bytes in a footprint.
pub fn access(direction: Direction, count: u64, footprint: u64, order: Order) -> Access {
    let (array, concurrency) = ("a".to_owned(), Concurrency::Independent);
    Access { array, direction, element: 8, count, footprint, order, concurrency }
}

/// Whether two numbers agree up to rounding.
pub fn close(found: f64, wanted: f64) -> bool {
    (found - wanted).abs() <= 1e-9 * wanted.abs()
}
