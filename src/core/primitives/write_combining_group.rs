//! The number of pairs that software write-combining on CPUs keeps per label (pure: the models use it, too).

/// Target size in bytes of the groups of all labels: an L2 cache.
const STAGING: usize = 1 << 20;

/// Maximum bytes of a group's tuples; larger groups, which leave the inner loop less often, gain nothing more.
const GROUP: usize = 512;

/// The number of pairs whose tuples and keys fill whole lines.
const LINE_PAIRS: usize = 16;

/// Pairs per group, a power of two: as many as keep the groups of all `labels` in an L2 cache. `larger` is the
/// size of the larger part of a pair, `pair` that of both parts.
pub fn group(labels: usize, larger: usize, pair: usize) -> usize {
    let room = (STAGING / labels / pair).min(GROUP / larger).max(LINE_PAIRS);
    1 << room.ilog2()
}
