//! How many pairs software write-combining on CPUs keeps of each label (pure: the models ask, too).

/// Bytes that the groups of all labels should take, an L2 cache.
const STAGING: usize = 1 << 20;

/// Tuples of a group take no more than these bytes: what is gained by leaving the loop more
/// seldom is gained by then.
const GROUP: usize = 512;

/// Pairs of which tuples and keys are whole lines.
const LINE_PAIRS: usize = 16;

/// Pairs of a group, a power of two: as many as keep the groups of all `labels` in an L2 cache.
/// `larger` is the size of the larger part of a pair, `pair` that of both.
pub fn group(labels: usize, larger: usize, pair: usize) -> usize {
    let room = (STAGING / labels / pair).min(GROUP / larger).max(LINE_PAIRS);
    1 << room.ilog2()
}
