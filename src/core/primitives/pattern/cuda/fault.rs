//! The launches of the deliberately wrong implementations. Pure.
//!
//! A gather is certified with every word kept, so an omitted iteration shows. A word of a scatter's destination
//! may have many writers, and a missing writer shows only if it was the only one. For δ > 0 this holds for the
//! first word, which only iteration 0 writes, and for the last word, which only the last iteration writes. With
//! δ = 0 all iterations write the same words, so the largest index is replaced instead; so it is if starts are
//! read from an array, because the single writers are then unknown.

use crate::primitives::cuda::prelude::*;
use crate::primitives::pattern::spec::{Method, Spec};

/// The iterations of a case, launch by launch, and the number of words by which the sparse array (the source of
/// a gather, else the destination) is misplaced.
pub fn plan(spec: &Spec, fault: Option<Fault>) -> LaunchPlan {
    let mut plan = LaunchPlan::ranges(spec.count, fault);
    match fault {
        // All iterations are launched; their words are wrong instead.
        Some(_) if replaced(spec, fault, 0).is_some() => return LaunchPlan::whole(spec.count),
        Some(Fault::SkippedStore) if spec.kernel.scatters() => {
            plan.parts = vec![LaunchPart { first: 1, count: spec.count - 1, shift: 0 }];
            plan.parts.retain(|part| part.count > 0);
        }
        // With δ = 0 both halves read the same words, so the sum of one half twice would be right.
        Some(Fault::WrongChunk) if spec.method == Method::ReadOnly => {
            plan.parts.truncate(if spec.starts().of(spec.count - 1) == 0 { 1 } else { 2 });
        }
        _ => {}
    }
    plan
}

/// The entry of the applied pattern (gs: of the scatter side) that is replaced, and its replacement: entries
/// equal to `largest`, the largest entry.
pub fn replaced(spec: &Spec, fault: Option<Fault>, largest: u64) -> Option<(u64, u64)> {
    let hidden = spec.kernel.scatters() && (spec.based() || spec.starts().total == 0);
    let wrong = fault.is_some_and(|fault| fault != Fault::OffByOne);
    (hidden && wrong).then(|| (largest, beside(spec, largest)))
}

/// A neighbouring index: the guard behind the array, unless the index type cannot hold it.
fn beside(spec: &Spec, index: u64) -> u64 {
    if spec.index == 4 && index >= u64::from(u32::MAX) { index - 1 } else { index + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::pattern::spec::tests::spec_of as spec;
    use std::collections::BTreeSet;

    fn written(spec: &Spec, fault: Option<Fault>) -> BTreeSet<u64> {
        let largest = spec.pattern.iter().copied().max().unwrap();
        let replaced = replaced(spec, fault, largest);
        let entry = |k: u64| match replaced {
            Some((from, to)) if k == from => to,
            _ => k,
        };
        let parts = plan(spec, fault).parts.into_iter();
        let visits =
            parts.flat_map(|part| (part.first..part.first + part.count).map(move |i| (i, part.shift)));
        visits
            .flat_map(|(i, shift)| spec.pattern.iter().map(move |&k| entry(k) + spec.delta * i + shift))
            .collect()
    }

    /// Each fault of a scatter leaves a word unwritten, regardless of overlaps, and touches no word behind the
    /// guard.
    #[test]
    fn every_fault_of_a_scatter_shows() {
        for pattern in [&[0][..], &[0, 1, 2, 3], &[5, 0, 5, 9], &[3, 3]] {
            for (delta, count) in [(0, 1), (0, 6), (1, 1), (1, 9), (4, 5)] {
                let spec = spec("scatter", pattern, delta, count);
                let right = written(&spec, None);
                for fault in Fault::ELEMENTS {
                    let wrong = written(&spec, Some(fault));
                    assert!(!right.is_subset(&wrong), "{fault:?}, {pattern:?}, δ {delta}, {count}");
                    assert!(wrong.iter().all(|&k| k <= spec.sparse_words()), "{fault:?}");
                }
            }
        }
    }

    #[test]
    fn every_fault_of_a_gather_leaves_an_iteration_out() {
        let spec = spec("gather", &[0, 4], 0, 7);
        for fault in [Fault::MissingTail, Fault::WrongChunk, Fault::SkippedStore] {
            let parts = plan(&spec, Some(fault)).parts;
            let all: BTreeSet<u64> =
                parts.iter().flat_map(|part| part.first..part.first + part.count).collect();
            assert!(all.len() < 7 && all.iter().all(|&i| i < 7), "{fault:?}");
        }
        assert_eq!(plan(&spec, Some(Fault::OffByOne)).parts, [LaunchPart { first: 0, count: 7, shift: 1 }]);
    }

    #[test]
    fn a_sum_of_equal_halves_must_miss_one() {
        let spec = Spec { method: Method::ReadOnly, ..spec("gather", &[0, 4], 0, 8) };
        let half = LaunchPart { first: 0, count: 4, shift: 0 };
        assert_eq!(plan(&spec, Some(Fault::WrongChunk)).parts, [half]);
    }
}
