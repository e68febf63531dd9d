//! Tests the kernels and their hosts without a GPU: the kernels, compiled for the host, run on small cases
//! through the same launches as on a device. Every case must be certified and agree with the oracle, every
//! deliberate mistake must be found, and nothing may be written outside of an allocation.
//!
//! These tests cannot reveal races or errors of the device compiler.

#![cfg(all(feature = "cuda", target_os = "linux"))]

mod compaction;
mod coverage;
mod faults;
mod host;
mod multisplit_fused;
mod multisplit_paper;
mod multisplits;
mod overlap;
mod pattern_ptx;
mod pattern_walks;
mod prove;
mod recipes;
mod scans;
mod several;
mod solvers;
mod sorts;
mod sssp;
mod twins;

use host::Host;
use prove::{case, prove_all};
use scatterlab::case::{Cancel, Failure, Fault, Value, Verdict};
use scatterlab::device::cuda::{DevicePtr, Gpu, Plain};
use scatterlab::engine::Executor;
use scatterlab::engine::executors::cuda::CudaExecutor;
use scatterlab::inputs::Permutation;
use scatterlab::primitives;
use scatterlab::primitives::pattern::Starts;

#[test]
fn stream() {
    let kernels = ["read", "write", "copy", "scale", "add", "triad"];
    let sizes = [1, 2, 255, 2047, 2048, 2049, 9001];
    let all = kernels.iter().flat_map(|k| sizes.map(|n| format!("kernel={k} elements={n}")));
    prove_all("stream", &all.collect::<Vec<_>>());
}

/// Every timed kernel of stream, with one-warp blocks so that small arrays have many tiles.
#[test]
fn stream_tuned() {
    let mut all = Vec::new();
    for (items, vector) in [1, 2, 4, 8].into_iter().flat_map(|n| [(n, 8), (n, 16)]) {
        let tile = 32 * items * vector / 8;
        for (hint, grid) in [("none", "tiles"), ("streaming", "tiles"), ("none", "resident")] {
            let tuned = tuned(&format!("block=32 items={items} vector={vector} hint={hint} grid={grid}"));
            for kernel in ["read", "write", "copy", "scale", "add", "triad"] {
                for n in [1, 31, 32, 33, tile - 1, tile, tile + 1, 6 * tile, 1025] {
                    all.push(format!("kernel={kernel} elements={n} {tuned}"));
                }
            }
        }
    }
    all.push(format!("kernel=read elements=9001 {}", tuned("block=1024")));
    all.push(format!("kernel=read elements=9001 {}", tuned("block=96 grid=resident")));
    all.push(format!("kernel=copy elements=9001 {}", tuned("block=1024 fetch=32")));
    prove_all("stream", &all);
}

/// Tunables with their full keys.
fn tuned(words: &str) -> String {
    words.split_whitespace().map(|word| format!("backend.cuda.{word} ")).collect()
}

#[test]
fn random_access() {
    let mut all = Vec::new();
    for (kernel, element) in ["read", "write"].iter().flat_map(|k| [4, 8, 16].map(|z| (k, z))) {
        for (bits, accesses) in
            [(0, 1), (0, 5), (5, 31), (5, 32), (5, 33), (12, 2047), (12, 2049), (12, 9001)]
        {
            let footprint = element << bits;
            all.push(format!("kernel={kernel} element={element} footprint={footprint} accesses={accesses}"));
        }
    }
    for element in [4, 8, 16] {
        for (bits, accesses) in [(0, 1), (0, 5), (5, 31), (5, 33), (12, 2047), (12, 2049), (12, 9001)] {
            let footprint = element << bits;
            all.push(format!(
                "kernel=read method=chained element={element} footprint={footprint} accesses={accesses}"
            ));
        }
    }
    prove_all("random-access", &all);
}

#[test]
fn histogram() {
    let distributions = ["uniform", "skewed", "zipf distribution.zipf.exponent=1.0"];
    let methods = ["best", "ballot", "ballot method.ballot.ending=reduction"];
    let mut all = Vec::new();
    for (by, bins) in ["even", "range"].iter().flat_map(|by| [2, 3, 8, 33, 256].map(|m| (by, m))) {
        for (method, n) in methods.iter().flat_map(|method| [1, 33, 1025].map(|n| (method, n))) {
            all.push(format!("by={by} bins={bins} elements={n} method={method}"));
        }
        let more = distributions.map(|d| format!("by={by} bins={bins} elements=20001 distribution={d}"));
        all.extend(more);
    }
    for (by, bins) in ["even", "range"].iter().flat_map(|by| [257, 4096].map(|m| (by, m))) {
        all.extend(distributions.map(|d| format!("by={by} bins={bins} elements=9001 distribution={d}")));
    }
    // Each number of bits has a kernel of its own.
    for (by, bins) in ["even", "range"].iter().flat_map(|by| [16, 32, 128].map(|m| (by, m))) {
        all.push(format!("by={by} bins={bins} elements=1025 method=ballot"));
    }
    let two = "elements=100001 bins=40 by=range distribution=skewed";
    all.extend(methods.map(|method| format!("{two} method={method}")));
    prove_all("histogram", &all);
}

const METHODS: [&str; 4] = [
    "method=direct",
    "method=multipass method.multipass.passes=3",
    "method=segmented method.segmented.segments=2 method.segmented.passes=1",
    "method=segmented method.segmented.segments=3 method.segmented.passes=2",
];

/// Every kernel once with every method, and the distributions of L with some sizes.
fn moves(locations: &[&str]) -> Vec<String> {
    let mut all = Vec::new();
    for tuple in [4, 8, 16, 32] {
        for index in [4, 8] {
            let words = |n: u64, rest: &str| format!("tuples={n} tuple={tuple} index={index} {rest}");
            all.extend(METHODS.map(|method| words(2500, &format!("locations=random {method}"))));
            all.extend(locations.iter().map(|l| words(4097, &format!("locations={l} {}", METHODS[1]))));
        }
    }
    for n in [1, 2, 31, 33, 256, 2048, 2049] {
        all.extend(locations.iter().map(|l| format!("tuples={n} tuple=8 index=4 locations={l}")));
    }
    all.retain(|words| {
        !(words.contains("tuples=1 ") || words.contains("tuples=2 ")) || !words.contains("=7")
    });
    all
}

#[test]
fn gather() {
    let zipf = "zipf locations.zipf.exponent=1.0";
    let partitions = "partitions locations.partitions.count=7";
    prove_all("gather", &moves(&["sequential", "random", partitions, zipf]));
    prove_all("gather", &["tuples=20000 locations=partitions locations.partitions.count=300".into()]);
    prove_all("gather", &[format!("tuples=40000 locations={zipf}")]);
}

#[test]
fn scatter() {
    let partitions = "partitions locations.partitions.count=7";
    prove_all("scatter", &moves(&["sequential", "random", partitions]));
    prove_all("scatter", &["tuples=3 locations=partitions locations.partitions.count=3".into()]);
}

/// Every kernel of the method, with one pass and several, and with chunks that do not fit in shared memory.
/// More chunks than a single scan counts would take too long here.
#[test]
fn partitioned() {
    let method = |bits: u64, passes: u64| {
        format!("method=partitioned method.partitioned.bits={bits} method.partitioned.passes={passes}")
    };
    let mut all = Vec::new();
    for (tuple, index) in [4, 8, 16, 32].into_iter().flat_map(|z| [(z, 4), (z, 8)]) {
        let words = |n: u64, rest: &str| format!("tuples={n} tuple={tuple} index={index} {rest}");
        all.push(words(20_001, "method=partitioned"));
        all.extend([(5, 2), (6, 1)].map(|(b, p)| words(2049, &method(b, p))));
        let large = (256 << 10) / tuple + 1;
        all.extend((tuple > 4).then(|| words(large, &method(1, 1))));
    }
    let partitions = "partitions locations.partitions.count=7";
    for n in [7, 31, 32, 33, 1023, 1025] {
        for locations in ["sequential", "random", partitions] {
            let words = |rest: &str| format!("tuples={n} locations={locations} {rest}");
            all.extend([words(&method(1, 1)), words(&method(3, 2))]);
        }
    }
    all.extend([1, 2].map(|n| format!("tuples={n} method=partitioned")));
    all.extend([12_287, 12_288, 12_289].map(|n| format!("tuples={n} method=partitioned")));
    all.extend([1, 2, 3].map(|passes| format!("tuples=77 {}", method(7, passes))));
    prove_all("scatter", &all);
}

/// Every timed kernel of gather and scatter, with one-warp blocks as in `stream_tuned`.
fn moves_tuned(hints: &[&str]) -> Vec<String> {
    let mut all = Vec::new();
    let plain = [1, 2, 4, 8].map(|items| format!("items={items}"));
    let hinted = hints.iter().map(|hint| format!("hint={hint}"));
    for choice in plain.into_iter().chain(hinted) {
        for (tuple, index) in [4, 8, 16, 32].into_iter().flat_map(|z| [(z, 4), (z, 8)]) {
            let words = |n: u64, rest: &str, grid: &str| {
                let tuned = tuned(&format!("block=32 grid={grid} {choice}"));
                format!("tuples={n} tuple={tuple} index={index} {rest} {tuned}")
            };
            all.extend([1, 31, 32, 33, 255, 257, 513].map(|n| words(n, "", "tiles")));
            all.extend([257, 1025].map(|n| words(n, METHODS[1], "resident")));
            all.push(words(1000, "locations=sequential", "tiles"));
        }
    }
    all.push(format!("tuples=5000 {}", tuned("block=1024 persist=1000")));
    all
}

#[test]
fn gather_tuned() {
    prove_all("gather", &moves_tuned(&["none", "streaming", "no-l1"]));
}

#[test]
fn scatter_tuned() {
    prove_all("scatter", &moves_tuned(&["none", "streaming"]));
}

/// No recipe asks for empty inputs, but a segment may have no tuples.
#[test]
fn nothing_at_all() {
    let Some(_host) = Host::new() else { return };
    let cases = [("stream", "kernel=read elements=0"), ("stream", "kernel=copy elements=0")];
    for (primitive, words) in cases.into_iter().chain([("gather", "tuples=0"), ("scatter", "tuples=0")]) {
        for tuned in [String::new(), tuned("block=32 items=8 grid=resident")] {
            prove_of_nothing(primitive, &format!("{words} {tuned}"));
        }
    }
    for primitive in ["enumerate", "compact", "distribute", "split"] {
        prove_of_nothing(primitive, "elements=0");
    }
    for primitive in ["compact", "split-and-segment"] {
        prove_of_nothing(primitive, "elements=0 segments=constant segments.constant.length=3");
    }
}

fn prove_of_nothing(primitive: &str, words: &str) {
    let case = case(primitive, words);
    let mut prepared = CudaExecutor::default().prepare(&case, None, &Cancel::default()).unwrap();
    let verdict = prepared.certify(&Cancel::default());
    assert_eq!(verdict, Ok(Verdict::Certified { checked: 0 }), "{primitive} {words}");
    let output = prepared.read_back().unwrap();
    assert_eq!(primitives::problem(&case).unwrap().check(&output), Ok(()), "{words}");
}

/// The record contains the resolved values of open tunables, and nothing else.
#[test]
fn what_open_tunables_became_is_told() {
    let Some(_host) = Host::new() else { return };
    let told = |primitive: &str, words: &str| {
        let prepared = CudaExecutor::default().prepare(&case(primitive, words), None, &Cancel::default());
        let resolved = prepared.unwrap().resolved();
        let word = |(key, value): &(String, Value)| format!("{}={value}", key.replace("backend.cuda.", ""));
        resolved.iter().map(word).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(told("stream", "kernel=read elements=8"), "block=256 items=8 grid=tiles hint=none vector=16");
    assert_eq!(told("gather", "tuples=8"), "block=256 items=1 grid=tiles hint=streaming");
    let all = tuned("block=64 items=2 grid=resident fetch=32");
    assert_eq!(
        told("scatter", &format!("tuples=8 {all}")),
        "block=64 items=2 grid=resident hint=none fetch=32"
    );
}

/// Values of tunables for which no kernels are built.
#[test]
fn other_tunables_are_not_applicable() {
    let Some(_host) = Host::new() else { return };
    for (primitive, words, tuned_words, reason) in [
        ("stream", "kernel=copy elements=8", "vector=4", "stream takes vector 8B, 16B, not 4B"),
        ("stream", "kernel=copy elements=8", "hint=no-l1", "stream takes hint none, streaming, not no-l1"),
        ("stream", "kernel=copy elements=8", "persist=1", "stream has no persist to choose: leave it unset"),
        ("gather", "tuples=8", "vector=8", "gather has no vector to choose: leave it unset"),
        ("gather", "tuples=8", "items=16", "gather takes items 1, 2, 4, 8, not 16"),
        (
            "gather",
            "tuples=8",
            "items=2 hint=streaming",
            "gather takes hint streaming only with items 1, not with 2",
        ),
        ("scatter", "tuples=8", "hint=no-l1", "scatter takes hint none, streaming, not no-l1"),
    ] {
        let case = case(primitive, &format!("{words} {}", tuned(tuned_words)));
        let refused = CudaExecutor::default().prepare(&case, None, &Cancel::default()).err();
        assert_eq!(refused, Some(Failure::NotApplicable(reason.into())), "{primitive} {tuned_words}");
    }
}

/// A thread issues its loads together before it needs the first: in the PTX only loads and address computations
/// stand between them. A read waits for no other block.
#[test]
fn loads_of_a_thread_stand_together_in_the_ptx() {
    let text = host::ptx("stream");
    for (kernel, operands) in [("read", 1), ("copy", 1), ("triad", 2)] {
        for items in [1, 2, 4, 8] {
            let from = text.find(&format!(".entry stream_{kernel}_v16_n{items}(")).unwrap();
            let body = &text[from..from + text[from..].find("\n}").unwrap()];
            let vectors: Vec<&str> =
                body.lines().filter(|l| l.contains(".v2.f64") || l.contains("add.f64")).collect();
            let loads = vectors.iter().take_while(|l| l.contains("ld.global")).count();
            assert_eq!(loads, operands * items, "{kernel} {items}");
        }
    }
}

/// User-defined locations: repeats, gaps, more places than locations and fewer.
#[test]
fn lists() {
    let list = |n: u64, below: u64| {
        let all: Vec<String> = (0..n).map(|i| (i * i * 31 % below).to_string()).collect();
        format!("locations=list locations.list.indices={}", all.join(","))
    };
    let mut all = vec![list(1, 1), list(2, 1), format!("{} tuples=90", list(1, 40))];
    for (n, below) in [(2500, 1999), (300, 5000), (5000, 300)] {
        for tuple in [4, 8, 16, 32] {
            for index in [4, 8] {
                let words = format!("tuple={tuple} index={index} {}", list(n, below));
                all.extend(METHODS.map(|method| format!("{words} {method}")));
                all.push(format!("{words} tuples={}", below + 33));
            }
        }
    }
    prove_all("gather", &all);
    let method = "method=partitioned method.partitioned.bits=6 method.partitioned.passes=2";
    let lists: Vec<&String> = all.iter().filter(|words| words.ends_with(METHODS[0])).collect();
    let divided: Vec<String> = lists.iter().map(|words| words.replace(METHODS[0], method)).collect();
    prove_all("scatter", &divided);
    prove_all("scatter", &all);
}

/// Patterns that overlap themselves, repeat entries, are longer than a block, or touch the same words in all
/// iterations.
const PATTERNS: [&str; 9] = [
    "source=uniform source.uniform.length=8 source.uniform.stride=1 delta=8 count=2000",
    "source=uniform source.uniform.length=8 source.uniform.stride=4 delta=1 count=777",
    "source=uniform source.uniform.length=16 source.uniform.stride=2 delta=0 count=100",
    "source=uniform source.uniform.length=256 source.uniform.stride=1 delta=no-reuse count=40",
    "source=uniform source.uniform.length=300 source.uniform.stride=3 delta=7 count=19",
    "source=custom source.custom.indices=5,0,5,9,2 delta=3 count=500 index=8",
    "source=custom source.custom.indices=7 delta=2 count=1",
    "source=custom source.custom.indices=3 delta=0 count=5",
    "source=laplacian source.laplacian.dimensions=2 source.laplacian.length=2 source.laplacian.size=10 count=300",
];

fn patterns(rest: &str) -> Vec<String> {
    PATTERNS.map(|pattern| format!("{pattern} {rest}")).to_vec()
}

#[test]
fn pattern_gather() {
    prove_all("pattern", &patterns("kernel=gather"));
    prove_all("pattern", &patterns("kernel=gather wrap=3"));
    prove_all("pattern", &patterns("kernel=gather wrap=40")[..3]);
}

#[test]
fn pattern_scatter() {
    prove_all("pattern", &patterns("kernel=scatter"));
    prove_all("pattern", &patterns("kernel=scatter wrap=3"));
}

#[test]
fn pattern_read_only() {
    prove_all("pattern", &patterns("kernel=gather method=read-only"));
}

/// All blocks share one dense side, with fewer tiles than uses and with more.
#[test]
fn pattern_gather_to_global_memory() {
    for rest in ["", "wrap=3", "wrap=40", "wrap=2500"] {
        prove_all("pattern", &patterns(&format!("kernel=gather method=global {rest}")));
    }
}

#[test]
fn pattern_with_two_patterns() {
    let outer = "source=custom source.custom.indices=0,24,8,16,1,3 count=333";
    let inner = |side: &str| format!("{side}=custom {side}.custom.indices=5,1,1,2");
    for delta in [0, 1, 30] {
        let gather = format!("kernel=multigather {outer} {} delta={delta}", inner("gather"));
        let scatter = format!("kernel=multiscatter {outer} {} delta={delta}", inner("scatter"));
        let others = ["read-only", "global"].map(|method| format!("{gather} method={method}"));
        prove_all("pattern", &others);
        prove_all("pattern", &[gather, scatter]);
        let sides = "gather=custom gather.custom.indices=0,3,5 scatter=custom scatter.custom.indices=4,0,2";
        let gs = format!("kernel=gs {sides} count=400 delta-gather=2 delta-scatter={delta}");
        prove_all("pattern", &[format!("{gs} index=8"), gs]);
    }
}

/// Every timed kernel for blocks of more threads than by default, and blocks of fewer.
#[test]
fn pattern_by_threads_of_a_block() {
    let gs = "kernel=gs gather=custom gather.custom.indices=0,3,5 scatter=custom scatter.custom.indices=4,0,2 count=400";
    let all = |rest: &str| {
        let long = "source=uniform source.uniform.length=1100 source.uniform.stride=3 count=9";
        let short = "source=custom source.custom.indices=5,0,5,9,2 count=3000";
        ["gather", "gather method=read-only", "gather method=global", "scatter"]
            .map(|kernel| [long, short].map(|pattern| format!("{pattern} kernel={kernel} {rest}")))
            .concat()
    };
    for items in [1, 2, 4, 8] {
        let wide = tuned(&format!("block=1024 items={items}"));
        prove_all("pattern", &all(&format!("delta=3 {wide}")));
        prove_all("pattern", &all(&format!("delta=8,8,16 {wide}")));
        prove_all("pattern", &["", "method=atomic"].map(|rest| format!("{gs} {rest} {wide}")));
    }
    for block in [32, 128, 288, 512] {
        prove_all("pattern", &all(&format!("delta=3 {}", tuned(&format!("block={block}")))));
    }
}

/// Lists of deltas, shuffled visits and atomic stores, in every kernel.
#[test]
fn pattern_visits_and_atomic_stores() {
    let custom = |side: &str, list: &str| format!("{side}=custom {side}.custom.indices={list}");
    let sources = [
        "source=uniform source.uniform.length=8 source.uniform.stride=1".to_owned(),
        "source=uniform source.uniform.length=300 source.uniform.stride=3".to_owned(),
        format!("{} index=8", custom("source", "5,0,5,9,2")),
    ];
    let moves =
        ["delta=8 visits=random", "delta=0 visits=random", "delta=8,8,16", "delta=0,3,0 visits=random"];
    let kernels = ["gather", "gather wrap=3", "gather method=read-only", "scatter", "scatter wrap=3"];
    let mut all = Vec::new();
    for (source, count) in sources.iter().zip([2000, 19, 501]) {
        for (kernel, moves) in kernels.iter().flat_map(|k| moves.map(|m| (k, m))) {
            all.push(format!("{source} kernel={kernel} {moves} count={count}"));
        }
        all.push(format!("{source} kernel=scatter method=atomic delta=8 count={count}"));
        all.push(format!(
            "{source} kernel=scatter method=atomic delta=5,0 visits=random wrap=2 count={count}"
        ));
    }
    let outer = custom("source", "0,24,8,16,1,3");
    for moves in ["delta=30 visits=random", "delta=7,50", "delta=1 method=atomic"] {
        let side =
            |side: &str| format!("kernel=multi{side} {outer} {} {moves} count=333", custom(side, "5,1,1,2"));
        all.extend([side("scatter"), side("gather")]);
        all.retain(|words| !words.contains("multigather") || !words.contains("atomic"));
    }
    let gs = format!("kernel=gs {} {} count=400", custom("gather", "0,3,5"), custom("scatter", "4,0,2"));
    for rest in
        ["visits=random", "visits=random method=atomic", "method=atomic", "visits=random delta-scatter=0"]
    {
        all.push(format!("{gs} delta-gather=2 {rest}"));
    }
    all.push(format!("{gs} delta-gather=2 visits=random count=1"));
    prove_all("pattern", &all);
}

/// Starts beyond 32 bits would need arrays that no test allocates, so only the function is tested, with both
/// sizes.
#[test]
fn starts_are_those_of_the_definition() {
    let Some(_host) = Host::new() else { return };
    let gpu = Gpu::open().unwrap();
    let kernel = gpu.module("pattern").unwrap().kernel("pattern_starts").unwrap();
    for (deltas, n, shuffled) in
        [(&[8u64][..], 1u64, false), (&[8], 1000, true), (&[0, 1 << 33, 5], 777, true)]
    {
        let starts = Starts::new(deltas, Permutation::new(n, 9).filter(|_| shuffled));
        let sums = gpu.upload(&starts.sums).unwrap();
        let order = starts.order.or(Permutation::new(1, 0)).unwrap();
        let (length, out) = (deltas.len() as u64, gpu.alloc::<u64>(n as usize).unwrap());
        let form = Form {
            sums: sums.pointer(),
            length,
            total: starts.total,
            order,
            shuffled: shuffled.into(),
            unused: 0,
        };
        gpu.launch(&kernel, 3, 256, 0, &[(&out).into(), (&8u32).into(), (&form).into(), (&n).into()])
            .unwrap();
        assert_eq!(out.to_host().unwrap(), (0..n).map(|i| starts.at(i)).collect::<Vec<_>>(), "{deltas:?}");
    }
}

/// `Starts` of `kernels/pattern/visits.cuh`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Form {
    sums: DevicePtr<u64>,
    length: u64,
    total: u64,
    order: Permutation,
    shuffled: u32,
    unused: u32,
}

// SAFETY: `#[repr(C)]` like its twin, with only plain numbers and a device address.
unsafe impl Plain for Form {}

/// Certificates with more than one window; the mistake is in the last one.
#[test]
fn windows_of_pattern_certificates() {
    let Some(host) = Host::new() else { return };
    for words in ["kernel=gather delta=0 count=4194310", "kernel=scatter delta=1 count=2097160"] {
        let words = format!("source=uniform source.uniform.length=8 source.uniform.stride=1 {words}");
        let case = case("pattern", &words);
        let certify = |fault| {
            let cancel = Cancel::default();
            CudaExecutor::default().prepare(&case, fault, &cancel).unwrap().certify(&cancel).unwrap()
        };
        let checked = 8 * case.params.int("count").unwrap();
        assert_eq!(certify(None), Verdict::Certified { checked }, "{words}");
        let Verdict::Wrong { mistake } = certify(Some(Fault::MissingTail)) else { panic!("{words}") };
        assert!(mistake.contains("was not written"), "{words}: {mistake}");
        assert_eq!(host.strayed(), 0);
    }
}

#[test]
fn a_dense_side_that_does_not_fit_is_not_applicable() {
    let Some(_host) = Host::new() else { return };
    let large = case("pattern", &format!("{} kernel=gather wrap=2000", PATTERNS[0]));
    let failure = CudaExecutor::default().prepare(&large, None, &Cancel::default()).err().unwrap();
    assert!(matches!(&failure, Failure::NotApplicable(why) if why.contains("shared memory")), "{failure}");
}
