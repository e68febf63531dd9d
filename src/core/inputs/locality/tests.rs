use super::*;
use crate::inputs::Permutation;
use crate::inputs::arrays::END;
use proptest::prelude::*;
use std::collections::BTreeSet;

const PLAIN: Layout = Layout { element: 8, line: 64 };

fn of(indices: &[u64]) -> Locality {
    Locality::of(indices, PLAIN).expect("statistics")
}

/// Reuse distances by brute force, looking back from each access.
fn brute(lines: &[u64]) -> Vec<Option<u64>> {
    let distance = |at: usize| {
        let before = lines[..at].iter().rposition(|&line| line == lines[at])?;
        Some(lines[before + 1..at].iter().collect::<BTreeSet<_>>().len() as u64)
    };
    (0..lines.len()).map(distance).collect()
}

#[test]
fn sequential() {
    let l = of(&(0..4096).collect::<Vec<_>>());
    assert_eq!((l.count, l.min, l.max, l.class.as_str()), (4096, 0, 4095, "stride-1"));
    let distinct = (l.distinct_elements, l.distinct_sectors, l.distinct_lines, l.distinct_pages);
    assert_eq!(distinct, (4096, 1024, 512, 8));
    assert_eq!(
        l.strides,
        Strides { count: 4095, ones: 4095, bins: vec![Bin { low: 1, high: 1, count: 4095 }] }
    );
    assert_eq!((l.reuse.accesses, l.reuse.cold, l.reuse.lines_reused), (4096, 512, 512));
    assert_eq!(l.reuse.bins, [Bin { low: 0, high: 0, count: 3584 }]);
    assert!(l.reuse.caches.iter().all(|c| c.hits == 3584));
}

#[test]
fn a_stride_of_a_line_uses_nothing_again() {
    let l = of(&(0..1000).map(|i| 8 * i).collect::<Vec<_>>());
    assert_eq!((l.class.as_str(), l.distinct_lines, l.reuse.cold), ("stride-8", 1000, 1000));
    assert_eq!((l.reuse.bins.len(), l.reuse.lines_reused, l.reuse.caches[2].hits), (0, 0, 0));
    assert_eq!(l.strides.bins, [Bin { low: 8, high: 15, count: 999 }]);
}

/// Two sweeps over 1024 lines (64 KiB). In the second, every line has a reuse distance of 1023, so it misses in
/// 32 KiB and hits in 1 MiB.
#[test]
fn a_second_sweep_hits_where_the_first_one_fits() {
    let sweep: Vec<u64> = (0..1024).map(|i| 8 * i).collect();
    let l = of(&[sweep.clone(), sweep].concat());
    assert_eq!(l.reuse.bins, [Bin { low: 512, high: 1023, count: 1024 }]);
    assert_eq!(l.reuse.caches.iter().map(|c| c.hits).collect::<Vec<_>>(), [0, 1024, 1024]);
    assert_eq!(l.strides.bins[0], Bin { low: -8191, high: -4096, count: 1 });
}

#[test]
fn a_random_permutation_touches_each_element_once() {
    let permutation = Permutation::new(1 << 16, 3).expect("a permutation");
    let l = of(&(0..1 << 16).map(|i| permutation.apply(i)).collect::<Vec<_>>());
    assert_eq!((l.distinct_elements, l.distinct_lines, l.distinct_pages), (1 << 16, 1 << 13, 128));
    assert_eq!((l.class.as_str(), l.reuse.cold), ("complex", 1 << 13));
    // 8192 lines are 512 KiB: in 1 MiB all but the first accesses hit, in 32 KiB few do.
    let [small, middle, _] = l.reuse.caches[..] else { panic!("three caches") };
    assert_eq!(middle.hits, (1 << 16) - (1 << 13));
    assert!(small.hits < 1 << 13, "{}", small.hits);
}

#[test]
fn elements_may_be_longer_than_a_line_or_lie_across_two() {
    let l = Locality::of(&[0, 1, 0], Layout { element: 256, line: 64 }).expect("statistics");
    assert_eq!((l.reuse.accesses, l.distinct_lines, l.distinct_sectors, l.distinct_pages), (12, 8, 16, 1));
    assert_eq!(l.reuse.bins, [Bin { low: 4, high: 7, count: 4 }]);
    let l = Locality::of(&[0, 5], Layout { element: 12, line: 64 }).expect("statistics");
    assert_eq!((l.reuse.accesses, l.distinct_lines), (3, 2));
}

#[test]
fn far_away_indices_need_no_table() {
    let l = of(&[END - 1, 0, END - 1, 0, 7]);
    assert_eq!((l.distinct_lines, l.reuse.cold, l.distinct_pages), (2, 2, 2));
    assert_eq!(l.reuse.bins, [Bin { low: 0, high: 0, count: 1 }, Bin { low: 1, high: 1, count: 2 }]);
    assert_eq!(l.strides.bins[0], Bin { low: 1 - (1 << 40), high: -(1 << 39), count: 2 });
}

#[test]
fn limits() {
    let refused = |indices: &[u64], element, line| Locality::of(indices, Layout { element, line }).is_err();
    assert!(refused(&[], 8, 64) && refused(&[END], 8, 64));
    assert!(refused(&[0], 0, 64) && refused(&[0], 8, 48) && refused(&[0], 8, 4));
    assert!(Locality::of(&[3], PLAIN).is_ok_and(|l| l.class == "single" && l.strides.count == 0));
}

proptest! {
    #[test]
    fn distances_are_those_of_looking_back(
        raw in prop::collection::vec(any::<u64>(), 1..120), range in 1u64..300, element in 1u64..200, line in 3u32..10,
    ) {
        let indices: Vec<u64> = raw.iter().map(|v| v % range).collect();
        let layout = Layout { element, line: 1 << line };
        let lines: Vec<u64> = layout.lines(&indices).collect();
        let wanted = brute(&lines);
        let found = Locality::of(&indices, layout).expect("statistics");
        let count = |low, high| wanted.iter().flatten().filter(|d| (low..=high).contains(*d)).count() as u64;
        for bin in &found.reuse.bins {
            prop_assert_eq!(bin.count, count(bin.low, bin.high));
        }
        let cold = wanted.iter().filter(|d| d.is_none()).count() as u64;
        prop_assert_eq!(found.reuse.cold, cold);
        prop_assert_eq!(found.reuse.cold + found.reuse.bins.iter().map(|b| b.count).sum::<u64>(), lines.len() as u64);
        for cache in &found.reuse.caches {
            prop_assert_eq!(cache.hits, wanted.iter().flatten().filter(|d| **d < cache.bytes >> line).count() as u64);
        }
        for (bytes, units) in [(SECTOR, found.distinct_sectors), (1 << line, found.distinct_lines), (PAGE, found.distinct_pages)] {
            let all: BTreeSet<u64> = indices.iter().flat_map(|i| i * element / bytes..=(i * element + element - 1) / bytes).collect();
            prop_assert_eq!(units, all.len() as u64);
        }
        let again: BTreeSet<u64> = lines.iter().copied().filter(|l| lines.iter().filter(|m| *m == l).count() > 1).collect();
        prop_assert_eq!(found.reuse.lines_reused, again.len() as u64);
    }

    /// Checks each distance and not only its bin.
    #[test]
    fn the_stack_is_exact(lines in prop::collection::vec(0usize..40, 1..600)) {
        let mut stack = Stack::new(40).expect("memory");
        let found: Vec<Option<u64>> = lines.iter().map(|&line| stack.touch(line)).collect();
        prop_assert_eq!(found, brute(&lines.iter().map(|&line| line as u64).collect::<Vec<_>>()));
    }

    #[test]
    fn strides_are_counted_once(indices in prop::collection::vec(0..END, 1..100)) {
        let found = strides(&indices);
        prop_assert_eq!(found.bins.iter().map(|b| b.count).sum::<u64>(), indices.len() as u64 - 1);
        for bin in &found.bins {
            let inside = indices.windows(2).map(|w| w[1] as i64 - w[0] as i64).filter(|d| (bin.low..=bin.high).contains(d));
            prop_assert_eq!(inside.count() as u64, bin.count);
        }
    }
}

/// Dense indices are counted by bits and others by a sorted copy, with the same result.
#[test]
fn distinct_indices_ascend() {
    for (first, step) in [(0, 1), (63, 1), (1 << 39, 3), (7, 1000), (5, 0)] {
        let indices: Vec<u64> = (0..4000u64).map(|i| first + (i * 7919 % 1009) * step).collect();
        let expected: std::collections::BTreeSet<u64> = indices.iter().copied().collect();
        assert!(ascending(&indices).expect("memory").into_iter().eq(expected), "{first} {step}");
    }
    assert_eq!(ascending(&[]).expect("memory"), [0; 0]);
}
