//! The places where keys are stored, one after another, if they are reordered on chip first (ashkiani2017 §5.6
//! and Fig. 5): not at all, within each warp, or within each block. The result is the same; the number of
//! contiguous keys that a warp stores differs.

use super::buckets::Buckets;
use super::keys::Keys;
use super::oracle::begins;
use super::{KEY, Spec};
use crate::case::Walk;
use crate::case::block_cost::LANES;

/// Keys within which each method reorders: Fig. 5's direct, warp-level and block-level multisplits.
const REACHES: [(&str, usize); 3] = [("dms", 1), ("wms", 32), ("bms", 128)];

/// Upper limit on the keys that are all counted interactively.
const MOST: u64 = 1 << 24;
/// The number of keys counted if there are more.
const SAMPLE: u64 = 1 << 22;

/// A stored key: its bucket, and its place in the result.
pub type Stored = (usize, u64);

/// The places of the first `most` keys in the order in which each of the three methods stores them.
pub fn walks(spec: &Spec, most: u64) -> Vec<Walk> {
    let walk = |(side, order): (&'static str, Vec<Stored>)| Walk {
        side,
        element: KEY,
        indices: order.into_iter().map(|(_, place)| place).collect(),
        total: spec.keys,
    };
    orders(spec, most).map(walk).to_vec()
}

/// The first `most` keys in the order in which each of the three methods stores them. If there are more than
/// 2^24 keys, the first 2^22 represent all, and at most these are returned: the bucket offsets are then
/// estimates, but no two keys have the same place, and neighbours in a bucket remain neighbours.
pub fn orders(spec: &Spec, most: u64) -> [(&'static str, Vec<Stored>); 3] {
    let (keys, buckets) = (Keys::new(spec), Buckets::new(spec));
    let bucket = |i: u64| buckets.of(keys.at(i)) as usize;
    let counted = if spec.keys > MOST { SAMPLE } else { spec.keys };
    let mut next = begins(spec.buckets, counted, bucket);
    // Both factors are below 2^32, so the product does not overflow.
    next.iter_mut().for_each(|first| *first = *first * spec.keys / counted.max(1));
    let places: Vec<Stored> = (0..most.min(counted))
        .map(|i| {
            let b = bucket(i);
            next[b] += 1;
            (b, next[b] - 1)
        })
        .collect();
    REACHES.map(|(side, reach)| (side, arranged(&places, reach)))
}

/// Reorders every `reach` keys by bucket.
fn arranged(places: &[Stored], reach: usize) -> Vec<Stored> {
    let ordered = places.chunks(reach).flat_map(|part| {
        let mut part = part.to_vec();
        part.sort_by_key(|&(bucket, _)| bucket);
        part
    });
    ordered.collect()
}

/// The number of contiguous runs in which warps store these places.
pub fn runs(places: &[u64]) -> usize {
    let of_warp = |warp: &[u64]| 1 + warp.windows(2).filter(|pair| pair[0] + 1 != pair[1]).count();
    places.chunks(LANES).map(of_warp).sum()
}

#[cfg(test)]
mod tests {
    use super::super::tests::spec;
    use super::*;

    /// Fig. 5: 256 keys, warps of 32, blocks of 128.
    #[test]
    fn the_further_keys_are_ordered_the_longer_their_runs() {
        for m in [2, 8, 32] {
            let spec = spec(&format!("keys=256 buckets={m}"));
            let walks = walks(&spec, 4096);
            for walk in &walks {
                let mut all = walk.indices.clone();
                all.sort_unstable();
                assert!(all.into_iter().eq(0..256), "{} {m}", walk.side);
            }
            let [direct, warp, block] = [0, 1, 2].map(|at| runs(&walks[at].indices));
            assert!(
                direct > warp && warp > block && warp <= 8 * m.min(32) as usize,
                "{direct} {warp} {block}"
            );
        }
    }

    #[test]
    fn a_run_ends_with_its_warp() {
        let all: Vec<u64> = (0..64).collect();
        assert_eq!((runs(&all), runs(&all[..33]), runs(&[]), runs(&[3, 4, 6])), (2, 2, 0, 2));
    }

    #[test]
    fn no_keys_have_no_places() {
        assert!(walks(&spec("keys=0 buckets=2"), 64).iter().all(|walk| walk.indices.is_empty()));
    }

    /// Twelve times as many keys as are counted: buckets begin close to their true offsets, and no bucket
    /// overlaps the one before.
    #[test]
    fn of_many_keys_the_first_stand_for_all() {
        let spec = spec("keys=50331648 buckets=4");
        let all = walks(&spec, 4096).swap_remove(0);
        assert_eq!((all.indices.len(), all.total), (4096, 3 << 24));
        let mut places = all.indices;
        places.sort_unstable();
        let runs: Vec<u64> = places.chunk_by(|a, b| a + 1 == *b).map(|run| run[0]).collect();
        assert_eq!(runs.len(), 4, "{runs:?}");
        for (at, first) in runs.into_iter().enumerate() {
            assert!(first.abs_diff((at as u64 * 3) << 22) < 1 << 16, "{at} {first}");
        }
    }
}
