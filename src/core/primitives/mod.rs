//! The primitives, such as gather, scan and histogram: their definitions, parameters and memory accesses (pure),
//! and next to them their implementations, which only the engine imports.
//!
//! A primitive is one entry in each of two lists: [`registry()`] has its definition, which is all that recipes,
//! models and reports see of it; [`implementations`] has the code that computes it on each backend.
//!
//! A parameter is *open* if the recipe leaves its value to the program (`method: auto`, or an unset tunable, such
//! as the threads per block). The value that is then chosen is recorded as *resolved*.

#[cfg(test)]
mod any_tests;
pub mod cg;
pub mod compaction;
mod cpu;
pub mod cuda;
pub mod gather_scatter;
pub mod hash_search;
pub mod histogram;
pub mod implementations;
pub mod multisplit;
mod oracle;
pub mod pattern;
mod per_gpu;
mod problem;
pub mod random_access;
mod real;
pub mod reduce;
mod registry;
pub mod scan;
pub mod shallow_water;
pub mod sort;
pub mod spmv;
pub mod sssp;
pub mod stream;
pub mod tridiagonal;
#[cfg(test)]
mod words;

pub use per_gpu::{bytes_per_device, check, method_candidates, ranking, work};
pub use problem::{
    Costs, Definition, Elsewhere, IndexLookup, OF_CPUS, OF_GPUS, Primitive, Problem, of_cpus, of_gpus,
};
pub use registry::{find, positions, problem, registry, shared_input, version, walks};

use crate::case::{Params, Value};
use crate::inputs::mix::{scale, word64};

/// The cases of `scatterlab verify`: recipes in the folders of the primitives, where the build script finds them, each with
/// its path. `BACKEND` stands for the backend under test, and `BACKEND_AXES` for the axis swept on it.
pub mod suites {
    /// `verify.yaml`: cases for every backend, at odd and tiny sizes. Each case of size 1 gets a twin of size 0,
    /// which recipes do not accept because there is nothing to time.
    pub const ALL: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/verify.rs"));

    /// `verify-cuda.yaml`: additional cases for a single GPU.
    pub const CUDA: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/verify-cuda.rs"));

    /// `verify-large.yaml`: beyond 4 GiB, certified on the device because they are too large for the oracle.
    pub const LARGE: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/verify-large.rs"));
}

/// The parameters with each of these methods and its own integer parameters, as far as they exist for the case; empty if
/// the method is not `auto`.
pub fn auto_candidates<'a>(
    params: &Params,
    methods: impl IntoIterator<Item = (&'a str, Vec<(&'a str, u64)>)>,
    exists: impl Fn(&Params) -> bool,
) -> Vec<Params> {
    if params.text("method") != Some("auto") {
        return Vec::new();
    }
    let with = |(method, numbers): (&str, Vec<(&str, u64)>)| {
        let mut params = params.clone().with("method", Value::Text(method.to_owned()));
        params.0.retain(|key, _| !key.starts_with("method.auto."));
        let full = |key: &str| format!("method.{method}.{key}");
        numbers.into_iter().fold(params, |params, (key, value)| params.with(&full(key), Value::Int(value)))
    };
    methods.into_iter().map(with).filter(exists).collect()
}

/// Target size in bytes of the groups of all labels: an L2 cache.
const STAGING: usize = 1 << 20;

/// Maximum bytes of a group's tuples; larger groups, which leave the inner loop less often, gain nothing more.
const GROUP: usize = 512;

/// The number of pairs whose tuples and keys fill whole lines.
const LINE_PAIRS: usize = 16;

/// Pairs per group, a power of two: as many as keep the groups of all `labels` in an L2 cache. `larger` is the
/// size of the larger part of a pair, `pair` that of both parts.
pub fn write_combining_group(labels: usize, larger: usize, pair: usize) -> usize {
    let room = (STAGING / labels / pair).min(GROUP / larger).max(LINE_PAIRS);
    1 << room.ilog2()
}

/// Elements [first, first + count).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    pub first: u64,
    pub count: u64,
}

impl Range {
    /// `count` of `of` elements, from a place that the seed draws, to be executed alone as a probe.
    pub fn probe(seed: u64, count: u64, of: u64) -> Range {
        const PROBES: u64 = 0x5052_4F42_4553_0000;
        Range { first: scale(word64(seed ^ PROBES, count), of - count + 1), count }
    }

    /// The part of the range in [`begin`, `end`).
    pub fn within(self, begin: u64, end: u64) -> Range {
        let first = self.first.max(begin);
        Range { first, count: (self.first + self.count).min(end).saturating_sub(first) }
    }
}

/// Splits [0, n) into windows of `size` (at least 1) elements; the last may be shorter.
pub fn windows(n: u64, size: u64) -> impl Iterator<Item = Range> {
    let size = size.max(1);
    (0..n.div_ceil(size)).map(move |k| Range { first: k * size, count: size.min(n - k * size) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_cover_everything_once() {
        for (n, size) in [(0, 4), (1, 4), (8, 4), (9, 4), (3, 0)] {
            let all: Vec<u64> = windows(n, size).flat_map(|w| w.first..w.first + w.count).collect();
            assert_eq!(all, (0..n).collect::<Vec<_>>(), "{n} by {size}");
        }
    }

    #[test]
    fn parts_of_ranges() {
        let range = Range { first: 10, count: 10 };
        assert_eq!(range.within(0, 15), Range { first: 10, count: 5 });
        assert_eq!(range.within(15, 40), Range { first: 15, count: 5 });
        assert_eq!(range.within(30, 40).count, 0);
        assert_eq!(range.within(0, 5).count, 0);
    }
}
