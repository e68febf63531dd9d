//! What the deliberately wrong implementations launch. Pure.
//!
//! A gather is certified with every word kept, so an iteration that is left out shows.
//! A word of a scatter's destination may have many writers, and a missing one shows only
//! if it was the only one: that is so for the first word, which iteration 0 alone
//! writes, and for the last one, which the last iteration alone writes, where δ > 0.
//! With δ = 0 all iterations write the same words, so there the largest index is
//! replaced; also where an array says where uses start, for which of them writes alone is
//! not known.

use crate::case::Fault;
use crate::primitives::pattern::spec::{Kernel, Method, Spec};
use crate::primitives::range::{Range, ranges};

/// What an execution does instead of the definition; the default is the definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Iterations, launch by launch.
    pub ranges: Vec<Range>,
    /// Words by which the sparse array (of a gather the source, else the destination)
    /// is misplaced.
    pub shift: u64,
    /// Entries of the pattern that are replaced, and by what.
    pub replace: Option<(u64, u64)>,
}

/// The plan for a case, of whose applied pattern (gs: the scatter side) `largest` is the
/// largest entry.
pub fn plan(spec: &Spec, fault: Option<Fault>, largest: u64) -> Plan {
    let right = Plan { ranges: ranges(spec.count, None), shift: 0, replace: None };
    let Some(fault) = fault else { return right };
    if fault == Fault::OffByOne {
        return Plan { shift: 1, ..right };
    }
    if !spec.kernel.scatters() {
        let mut ranges = ranges(spec.count, Some(fault));
        // With δ = 0 both halves read the same words, and the sum of one half twice is
        // right.
        let still = spec.starts().of(spec.count - 1) == 0;
        if spec.method == Method::ReadOnly && still && fault == Fault::WrongChunk {
            ranges.truncate(1);
        }
        return Plan { ranges, ..right };
    }
    if spec.based() || scatter_delta(spec) == 0 {
        return Plan { replace: Some((largest, beside(spec, largest))), ..right };
    }
    match fault {
        Fault::SkippedStore => {
            let rest = Range { first: 1, count: spec.count - 1 };
            Plan { ranges: if rest.count > 0 { vec![rest] } else { Vec::new() }, ..right }
        }
        _ => Plan { ranges: ranges(spec.count, Some(fault)), ..right },
    }
}

/// δ of the destination.
pub fn scatter_delta(spec: &Spec) -> u64 {
    if spec.kernel == Kernel::Gs { spec.delta_scatter } else { spec.delta }
}

/// A neighbouring word: the guard behind the array, unless the index cannot hold it.
fn beside(spec: &Spec, index: u64) -> u64 {
    if spec.index == 4 && index >= u64::from(u32::MAX) { index - 1 } else { index + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn spec(kernel: Kernel, pattern: &[u64], delta: u64, count: u64) -> Spec {
        Spec {
            kernel,
            method: Method::Direct,
            atomic: false,
            global: false,
            pattern: pattern.to_vec(),
            inner: Vec::new(),
            gather: Vec::new(),
            scatter: Vec::new(),
            delta,
            deltas: Vec::new(),
            delta_gather: 0,
            delta_scatter: 0,
            count,
            wrap: 1,
            index: 4,
            shuffled: false,
            fenced: false,
            seed: 1,
        }
    }

    fn written(spec: &Spec, plan: &Plan) -> BTreeSet<u64> {
        let entry = |k: u64| match plan.replace {
            Some((from, to)) if k == from => to,
            _ => k,
        };
        let iterations = plan.ranges.iter().flat_map(|r| r.first..r.first + r.count);
        iterations
            .flat_map(|i| spec.pattern.iter().map(move |&k| entry(k) + spec.delta * i + plan.shift))
            .collect()
    }

    /// Each fault of a scatter leaves a word unwritten, whatever overlaps, and touches no
    /// word behind the guard.
    #[test]
    fn every_fault_of_a_scatter_shows() {
        for pattern in [&[0][..], &[0, 1, 2, 3], &[5, 0, 5, 9], &[3, 3]] {
            for (delta, count) in [(0, 1), (0, 6), (1, 1), (1, 9), (4, 5)] {
                let spec = spec(Kernel::Scatter, pattern, delta, count);
                let largest = *pattern.iter().max().unwrap();
                let right = written(&spec, &plan(&spec, None, largest));
                for fault in Fault::ALL {
                    let wrong = written(&spec, &plan(&spec, Some(fault), largest));
                    assert!(!right.is_subset(&wrong), "{fault:?}, {pattern:?}, δ {delta}, {count}");
                    assert!(wrong.iter().all(|&k| k <= spec.sparse_words()), "{fault:?}");
                }
            }
        }
    }

    #[test]
    fn every_fault_of_a_gather_leaves_an_iteration_out() {
        let spec = spec(Kernel::Gather, &[0, 4], 0, 7);
        for fault in [Fault::MissingTail, Fault::WrongChunk, Fault::SkippedStore] {
            let plan = plan(&spec, Some(fault), 4);
            let all: BTreeSet<u64> = plan.ranges.iter().flat_map(|r| r.first..r.first + r.count).collect();
            assert!(all.len() < 7 && all.iter().all(|&i| i < 7), "{fault:?}");
        }
        assert_eq!(plan(&spec, Some(Fault::OffByOne), 4).shift, 1);
    }

    #[test]
    fn a_sum_of_equal_halves_must_miss_one() {
        let spec = Spec { method: Method::ReadOnly, ..spec(Kernel::Gather, &[0, 4], 0, 8) };
        assert_eq!(plan(&spec, Some(Fault::WrongChunk), 4).ranges, [Range { first: 0, count: 4 }]);
    }
}
