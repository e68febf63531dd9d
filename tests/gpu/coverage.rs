//! Each primitive's own cases of `verify`, and the proof that what a plain run takes of all lists of cases still launches every
//! kernel that is committed, and takes every method that a GPU has.

use std::collections::BTreeSet;

use scatterlab::case::Case;
use scatterlab::engine::verify::{Suite, suite};
use scatterlab::primitives;

use crate::host::{self, Host};
use crate::prove::{EVERY, EVERY_MISTAKE, Listed, WRONG, asked, method, prove_cases};
use crate::sorts::RANKING;
use crate::{compaction, multisplit_fused, multisplit_paper, pattern_walks, scans, solvers};
use scatterlab_tests::sample::{self, Sample};

/// The tests that prove lists of cases on one GPU.
const LISTS: &[fn()] = &[
    cases_of_verify,
    crate::stream,
    crate::stream_tuned,
    crate::random_access,
    crate::histogram,
    crate::sorts::onesweep,
    crate::sorts::onesweep_by_fields,
    crate::sorts::onesweep_by_warps,
    crate::sorts::block,
    crate::sorts::sorts_by_scans,
    crate::sorts::searches_by_warps,
    crate::sorts::bitonic,
    crate::sorts::he2007,
    crate::sorts::he2007_of_skewed_keys,
    crate::sorts::he2007_by_fields,
    crate::sorts::he2007_of_many_parts,
    crate::gather,
    crate::scatter,
    crate::partitioned,
    crate::gather_tuned,
    crate::scatter_tuned,
    crate::lists,
    crate::pattern_gather,
    crate::pattern_scatter,
    crate::pattern_read_only,
    crate::pattern_gather_to_global_memory,
    crate::pattern_with_two_patterns,
    crate::pattern_by_threads_of_a_block,
    crate::pattern_visits_and_atomic_stores,
    pattern_walks::tiles,
    pattern_walks::resident,
    compaction::enumerate,
    compaction::compact,
    compaction::distribute,
    compaction::split,
    compaction::split_and_segment,
    scans::one_pass,
    scans::segmented_in_one_pass,
    scans::many_tiles,
    scans::sengupta2007,
    scans::heads,
    multisplit_paper::dms,
    multisplit_paper::divisions,
    multisplit_paper::wms,
    multisplit_paper::bms,
    multisplit_paper::scan_split,
    multisplit_fused::fused_fields,
    multisplit_fused::fused_functions,
    multisplit_fused::fused_deltas,
    multisplit_fused::fused_in_one_launch,
    multisplit_fused::fused_by_warps,
    multisplit_fused::fused_in_rounds,
    multisplit_fused::fused_fields_in_rounds,
    multisplit_fused::rb_sort,
    solvers::tridiagonal,
    solvers::shallow_water,
];

/// Of each primitive, so that a new one is run here without a word of its own: some of those that mistakes are looked for in, among them
/// every method and every kernel, and a few of the largest, which take more than a block. While a primitive is written: SCATTERLAB_ONLY=NAME.
#[test]
fn cases_of_verify() {
    const SOME: usize = 12;
    const LARGE: usize = 2;
    // Bytes: a solver goes over its arrays again and again.
    const MOST: u64 = 16 << 20;
    let Some(host) = Host::new() else { return };
    let plan = |part| suite(part, "cuda", None, 4).expect("the suite resolves").cases;
    let (mutants, small) = (plan(Suite::Mutants), plan(Suite::Small));
    let only = std::env::var("SCATTERLAB_ONLY").ok();
    for primitive in primitives::registry() {
        if only.as_ref().is_some_and(|name| name != primitive.name()) {
            continue;
        }
        let own = |case: &&Case| case.primitive == primitive.name() && case.not_applicable.is_none();
        let cases: Vec<&Case> = mutants.iter().filter(own).collect();
        assert!(!cases.is_empty(), "{} has no case", primitive.name());
        let mut some = Sample::of(cases.len().div_ceil(SOME));
        let some =
            cases.iter().copied().filter(|case| some.takes(asked(case).into_iter().chain([method(case)])));
        let work = |case: &Case| primitives::work(case, &[]).filter(|work| work.declared_bytes() <= MOST);
        let mut large: Vec<&Case> = small.iter().filter(|case| own(case) && work(case).is_some()).collect();
        large.sort_by_key(|case| work(case).map_or(0, |work| work.elements));
        let named = |case: &Case| (format!("{} {:?}", case.primitive, case.params), case.clone());
        // A sample of the mistakes even where all are asked for: a solver's take as long as its solutions.
        let mut mistakes = Sample::of(EVERY_MISTAKE);
        prove_cases(&host, some.map(named).collect(), EVERY, &mut mistakes);
        prove_cases(&host, large.into_iter().rev().take(LARGE).map(named).collect(), 1, &mut mistakes);
    }
}

/// The methods that have a case on a GPU.
fn methods() -> BTreeSet<String> {
    let cases = suite(Suite::Small, "cuda", None, 4).expect("the suite resolves").cases;
    cases.iter().filter(|case| case.not_applicable.is_none()).map(method).collect()
}

#[test]
fn a_plain_run_takes_every_kernel_and_every_method() {
    // With one primitive alone, `cases_of_verify` takes no other's kernels.
    if Host::new().is_none() || std::env::var_os("SCATTERLAB_ONLY").is_some() {
        return;
    }
    let listed = Listed::of(LISTS);
    sample::tell("gpu", if sample::all() { listed.offered } else { listed.taken }, listed.offered);
    let texts: Vec<String> = host::modules().iter().map(|module| host::ptx(module)).collect();
    let committed: BTreeSet<String> = texts
        .iter()
        .flat_map(|ptx| host::entries(ptx))
        .filter(|name| !name.ends_with(WRONG) && !name.starts_with(RANKING))
        .map(str::to_owned)
        .collect();
    let left_out: Vec<&String> = committed.difference(&listed.kernels).collect();
    assert!(left_out.is_empty(), "{} kernels: {left_out:?}", left_out.len());
    assert_eq!(methods().difference(&listed.methods).collect::<Vec<_>>(), Vec::<&String>::new());
}
