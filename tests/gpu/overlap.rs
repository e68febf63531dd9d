//! Launches that overlap: in the PTX a kernel touches no memory before it waits for earlier launches, and on the simulated GPU,
//! where it runs up to its wait before they run, a wait that is lost is found.

use std::collections::BTreeSet;

use scatterlab::case::{Cancel, Verdict};
use scatterlab::engine::Executor;
use scatterlab::engine::executors::cuda::CudaExecutor;

use crate::host::{self, Host};
use crate::prove::case;

/// The mark of `kernels/common/overlap.cuh`.
const MARK: &str = "// scatterlab: overlap";

/// The kernels of all modules that overlap, each with its body.
fn marked() -> Vec<(String, String)> {
    let texts: Vec<String> = host::modules().iter().map(|module| host::ptx(module)).collect();
    let bodies = texts.iter().flat_map(|text| text.split(".entry ").skip(1));
    let named = bodies.map(|rest| {
        let (name, body) = rest.split_once('(').unwrap();
        (name.trim().to_owned(), body.split("\n}\n").next().unwrap().to_owned())
    });
    named.filter(|(_, body)| body.contains(MARK)).collect()
}

/// The operation of a line, without its predicate; empty for what is none.
fn operation(line: &str) -> &str {
    let mut words = line.split_whitespace().skip_while(|word| word.starts_with('@'));
    words.next().filter(|word| !word.starts_with(['.', '/', '{', '}', '(', ')'])).unwrap_or_default()
}

/// True if a line accesses memory that launches share.
fn accesses(line: &str) -> bool {
    let operation = operation(line);
    let private = [".param", ".shared", ".local", ".const"].iter().any(|space| operation.contains(space));
    let kinds = ["ld", "st", "atom", "red", "cp", "call", "prefetch", "tex", "suld", "sust"];
    !private && kinds.contains(&operation.split('.').next().unwrap_or_default())
}

/// What is wrong about the wait of a kernel: an access before it, or a way around it.
fn mistake(body: &str) -> Option<String> {
    let lines: Vec<&str> = body.lines().collect();
    let marks: Vec<usize> = (0..lines.len()).filter(|&at| lines[at].contains(MARK)).collect();
    let &[mark] = &marks[..] else { return Some(format!("{} waits", marks.len())) };
    let (before, behind) = lines.split_at(mark);
    let leaves = |line: &&&str| ["ret", "exit", "trap"].iter().any(|way| operation(line).starts_with(way));
    let label = |line: &&str| line.trim().strip_suffix(':').map(str::to_owned);
    let later: BTreeSet<String> = behind.iter().filter_map(label).collect();
    let around = |line: &&&str| {
        operation(line).starts_with("bra") && later.iter().any(|label| line.contains(&format!("{label};")))
    };
    let wrong = before.iter().find(|line| accesses(line) || leaves(line) || around(line));
    wrong.map(|line| format!("before its wait: {}", line.trim()))
}

/// The body with the mark behind the next line for which `wanted` holds; `None` if there is none.
fn moved(body: &str, wanted: impl Fn(&str) -> bool) -> Option<String> {
    let (before, behind) = body.split_once(MARK)?;
    let next = behind.lines().find(|line| wanted(line))?;
    let behind = behind.replacen(next, &format!("{next}\n\t{MARK}"), 1);
    Some(format!("{before}{behind}"))
}

#[test]
fn nothing_is_touched_before_a_wait() {
    let kernels = marked();
    assert!(kernels.len() > 100, "{} kernels", kernels.len());
    for (name, body) in &kernels {
        assert_eq!(mistake(body), None, "{name}");
        assert!(!body.contains("ld.global.nc"), "{name} may read what was there before it waited");
        // Waits that come too late, and that a branch leaves out.
        let late = moved(body, accesses).unwrap();
        assert!(mistake(&late).is_some_and(|why| why.contains("before its wait")), "{name}");
        assert!(mistake(&body.replace(MARK, &format!("@%p1 ret;\n\t{MARK}"))).is_some(), "{name}");
        let around = body.replace(MARK, &format!("@%p1 bra $L__past;\n\t{MARK}\n$L__past:"));
        assert!(mistake(&around).is_some(), "{name}");
        assert!(mistake(&body.replace(MARK, "")).is_some(), "{name}");
    }
}

/// A multisplit whose tiles are counted in a launch of their own.
const THREE: &str = "method=fused method.fused.launches=three";

/// Cases whose executions launch each kind of overlapping kernel behind another launch.
fn cases() -> Vec<(&'static str, String)> {
    let mut all = Vec::new();
    let values = ["none", "4B", "8B"];
    let sizes = ["small", "medium", "large"];
    for (key, values) in ["u32", "u64"].into_iter().flat_map(|key| values.map(|values| (key, values))) {
        for size in sizes {
            let method = format!("method=onesweep method.onesweep.tile={size}");
            all.push(("sort", format!("keys=17001 key={key} values={values} end=16 {method}")));
        }
    }
    for (buckets, by) in
        [2, 4, 8, 16, 32, 64, 128, 256].into_iter().flat_map(|m| [(m, "delta-buckets"), (m, "hash")])
    {
        for values in values {
            all.push(("multisplit", format!("keys=8200 values={values} buckets={buckets} by={by} {THREE}")));
        }
    }
    for (buckets, values) in
        [257, 1025, 4097, 16_400].into_iter().flat_map(|m| values.map(|values| (m, values)))
    {
        all.push(("multisplit", format!("keys=1000 values={values} buckets={buckets} {THREE}")));
        all.push(("multisplit", format!("keys=9000 values={values} buckets={buckets} method=fused")));
    }
    let starts = "segments=random segments.random.mean=40 heads=lengths";
    all.push(("segmented-scan", format!("elements=7169 {starts}")));
    let segments = "segments=random segments.random.mean=300";
    // A split's places would lie outside of its arrays; it loads sums as the others do.
    for primitive in ["enumerate", "compact", "distribute"] {
        all.push((primitive, format!("elements=4097 {segments}")));
    }
    all.push(("histogram", "elements=20001 bins=33 method=ballot method.ballot.ending=reduction".to_owned()));
    all.push(("histogram", "elements=20001 bins=33".to_owned()));
    all.push(("segmented-scan", format!("elements=7169 method=spine {starts}")));
    all
}

/// The families of kernels that overlap with an earlier launch of their execution.
const FAMILIES: [&str; 12] = [
    "compaction_",
    "fused_bulk_",
    "fused_count_",
    "fused_kept_",
    "fused_scan",
    "heads_of_pointers",
    "histogram_reduce",
    "histogram_shared_",
    "segmented_lookback_",
    "segmented_spine_",
    "sort_bulk_",
    "sort_pass_",
];

#[test]
fn a_lost_wait_is_found() {
    let Some(host) = Host::new() else { return };
    host.zeros();
    let (mut found, cancel) = (BTreeSet::new(), Cancel::default());
    for (primitive, words) in cases() {
        let case = case(primitive, &words);
        let certify = || CudaExecutor::default().prepare(&case, None, &cancel)?.certify(&cancel);
        host.lose_wait("");
        host.overlaps();
        let right = certify();
        assert!(matches!(right, Ok(Verdict::Certified { .. })), "{primitive} {words}: {right:?}");
        for kernel in host.overlaps().difference(&found.clone()) {
            host.lose_wait(kernel);
            let wrong = certify();
            assert!(
                !matches!(wrong, Ok(Verdict::Certified { .. })),
                "{primitive} {words}: {kernel} need not wait"
            );
            found.insert(kernel.clone());
        }
    }
    let marked: BTreeSet<String> = marked().into_iter().map(|(name, _)| name).collect();
    assert_eq!(
        found.difference(&marked).collect::<Vec<_>>(),
        Vec::<&String>::new(),
        "launches that cannot wait"
    );
    let missing = FAMILIES.iter().filter(|family| !found.iter().any(|kernel| kernel.starts_with(*family)));
    assert_eq!(missing.collect::<Vec<_>>(), Vec::<&&str>::new());
}

/// The first launch of an execution waits for the execution before it, which shows in counts that are cleared too early. Where
/// results are stored, two executions leave the same in either order.
#[test]
fn a_lost_wait_for_the_execution_before_is_found() {
    let Some(host) = Host::new() else { return };
    let (case, cancel) = (case("histogram", "elements=20001 bins=33"), Cancel::default());
    for (lost, certified) in [("", true), ("histogram_clear", false)] {
        host.lose_wait(lost);
        host.overlaps();
        let mut twice = CudaExecutor::default().prepare(&case, None, &cancel).unwrap();
        twice.clear(&cancel).unwrap();
        twice.sample(2).unwrap();
        assert!(host.overlaps().contains("histogram_clear"));
        let verdict = twice.judge(&cancel);
        assert_eq!(matches!(verdict, Ok(Verdict::Certified { .. })), certified, "{lost}: {verdict:?}");
    }
}
