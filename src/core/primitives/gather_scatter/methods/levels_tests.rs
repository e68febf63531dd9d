use super::cuda::even;
use super::*;
use crate::case::Value;
use crate::primitives::Problem;
use crate::primitives::gather_scatter::Kernel;
use crate::primitives::gather_scatter::tests::spec;

fn levels(tuples: u64, tuple: u64, bits: u64, passes: u64) -> (Spec, Levels) {
    let cut = format!("method.partitioned.bits={bits} method.partitioned.passes={passes}");
    let case = format!("backend=cuda tuples={tuples} tuple={tuple} method=partitioned {cut}");
    let spec = spec(Kernel::Scatter, &case);
    let levels = Levels::of(&spec, spec.cut.as_ref().expect("partitioned"));
    (spec, levels)
}

#[test]
fn passes_divide_what_the_pass_before_has_made() {
    let (_, two) = levels((1 << 28) + 1, 8, 15, 2);
    let seen: Vec<_> =
        two.levels.iter().map(|l| (l.digit.shift, l.segments, l.bins, l.first, l.leaves)).collect();
    assert_eq!(seen, [(21, 1, 129, 0, 4), (14, 129, (1 << 14) + 1, 129, 2)]);
    assert_eq!((two.shift, two.chunks, two.shared), (14, (1 << 14) + 1, true));
    assert_eq!((two.counters(), two.scans(), two.location_bytes()), (129 + (1 << 14) + 1, 1, vec![4, 2]));
    let (_, three) = levels(1 << 28, 8, 18, 3);
    assert_eq!(three.levels.iter().map(|l| l.bins).collect::<Vec<_>>(), [1 << 6, 1 << 12, 1 << 18]);
    assert_eq!((three.scans(), three.location_bytes()), (8, vec![4, 4]));
}

#[test]
fn what_is_open_lets_chunks_fit_shared_memory() {
    let of = |tuples: u64, tuple: u64| {
        let case = format!("backend=cuda tuples={tuples} tuple={tuple} method=partitioned");
        spec(Kernel::Scatter, &case).resolved()
    };
    let method = |bits, passes| {
        let full = |key: &str| format!("method.partitioned.{key}");
        vec![(full("bits"), Value::Int(bits)), (full("passes"), Value::Int(passes))]
    };
    assert_eq!((of(1 << 24, 8), of(1 << 25, 8)), (method(10, 1), method(11, 2)));
    assert_eq!((of(1 << 30, 8), of(1 << 30, 16), of(9, 4)), (method(16, 2), method(17, 2), method(1, 1)));
}

#[test]
fn large_chunks_keep_whole_locations() {
    let (spec, one) = levels(1 << 28, 8, 11, 1);
    assert_eq!(
        (one.shared, one.location_bytes(), one.workspace(&spec)),
        (false, vec![4], (12 << 28) + (8 << 11))
    );
    let written = one.passes(&spec).last().map(|pass| pass.accesses[2].order.clone());
    assert_eq!(written, Some(Order::Chunks { chunks: 1 << 11 }));
}

#[test]
fn the_bytes_are_those_of_the_module() {
    let per_tuple = |bits, passes| {
        let (spec, levels) = levels(1 << 24, 8, bits, passes);
        levels.passes(&spec).iter().flat_map(|p| &p.accesses).map(|a| a.count * a.element).sum::<u64>() >> 24
    };
    assert_eq!((per_tuple(11, 1), per_tuple(12, 2)), (44, 68));
    let (spec, one) = levels(1 << 24, 8, 11, 1);
    assert_eq!(one.workspace(&spec), (10 << 24) + (8 << 11));
}

fn blocks(spec: &Spec) -> Vec<BlockCost> {
    spec.block_costs().expect("known")
}

#[test]
fn there_is_one_for_each_pass() {
    for (tuples, bits, passes) in [(1 << 20, 5, 1), (1 << 28, 14, 2), (1 << 28, 11, 1), (1, 1, 1)] {
        let (spec, levels) = levels(tuples, 8, bits, passes);
        assert_eq!(blocks(&spec).len(), levels.passes(&spec).len(), "{tuples} {bits}");
    }
}

/// 2^20 pairs of 8 and 4 bytes: 64 tiles of 2^14 locations to count, 86 of 12288 pairs to divide, 64 chunks.
#[test]
fn tiles_are_those_of_the_kernels() {
    let (spec, _) = levels(1 << 20, 8, 6, 1);
    let all = blocks(&spec);
    let tiles: Vec<u64> = all.iter().map(|block| block.tiles).collect();
    assert_eq!(tiles, [0, 64, 1, 86, 64]);
    assert_eq!(all[3].instructions, 84.7 * 32768.0);
    // 3 R + 3 R + 3 + 1, R of random words between 3 and 4.
    let each = all[3].wavefronts / 32768.0;
    assert!((22.0..28.0).contains(&each), "{each}");
}

#[test]
fn chunks_beyond_shared_memory_are_spread_by_threads_alone() {
    let (spec, _) = levels(1 << 28, 8, 11, 1);
    assert_eq!(blocks(&spec).last(), Some(&BlockCost::default()));
}

#[test]
fn every_block_has_as_many_tiles() {
    assert_eq!(even(1 << 24, 12288, 132), 11_584);
    assert_eq!((even(1, 12288, 1), even(12288, 12288, 1), even(12289, 12288, 2)), (32, 12288, 6176));
    for n in [1, 12_287, 1 << 20, (1 << 28) + 1] {
        let tile = even(n, 12288, 132);
        assert!(tile <= 12288 && n.div_ceil(tile).div_ceil(132) == n.div_ceil(12288).div_ceil(132), "{n}");
    }
}
