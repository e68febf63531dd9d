//! Every primitive, method, kernel and instruction set of the backends `scalar` and
//! `cpu` against the sequential oracle, and their certificates against deliberate
//! mistakes.
#![cfg(unix)]

#[path = "sample/mod.rs"]
mod sample;

use std::time::{Duration, Instant};

use scatterlab::case::{Cancel, Case, Failure, Fault, Params, Value, Verdict};
use scatterlab::device::Prepared;
use scatterlab::device::cpu::{Isa, affinity};
use scatterlab::engine::Executor;
use scatterlab::engine::executors::cpu::CpuExecutor;
use scatterlab::primitives;

use sample::Sample;

/// A plain run takes one of so many of the cases that meet nothing new.
const EVERY: usize = 11;

/// Parameters from `key=value` words; numbers become integers, `a;b;c` a list.
fn params(text: &str) -> Params {
    text.split_whitespace().fold(Params::default(), |params, word| {
        let (key, value) = word.split_once('=').expect("key=value");
        let value = match value.parse::<u64>() {
            _ if value.contains(';') => Value::Indices(
                value.split(';').filter(|w| !w.is_empty()).map(|w| w.parse().unwrap()).collect(),
            ),
            Ok(number) => Value::Int(number),
            Err(_) => value.parse().map_or_else(|_| Value::Text(value.to_owned()), Value::Float),
        };
        params.with(key, value)
    })
}

fn case(primitive: &str, text: &str, seed: u64) -> Case {
    Case {
        id: "test".into(),
        experiment: 0,
        primitive: primitive.into(),
        params: params(text),
        seed,
        not_applicable: None,
    }
}

/// The backends to try: the executor's turn and what it adds to the parameters.
fn backends() -> Vec<String> {
    let mut all = vec!["backend=scalar".to_owned()];
    for isa in Isa::ALL.into_iter().filter(|isa| isa.present()) {
        for threads in 1..=affinity::allowed().len().min(2) {
            all.push(format!("backend=cpu backend.cpu.isa={isa} backend.cpu.threads={threads}"));
        }
    }
    all
}

/// What a case meets: each value of a parameter with its backend.
fn meets(primitive: &str, text: &str) -> Vec<String> {
    let (backend, words): (Vec<&str>, Vec<&str>) =
        text.split_whitespace().partition(|word| word.starts_with("backend"));
    words.iter().map(|word| format!("{primitive} {word} {}", backend.join(" "))).collect()
}

struct Bench {
    cpu: CpuExecutor,
    scalar: CpuExecutor,
    sample: Sample,
    tried: usize,
    refused: Vec<String>,
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.sample.tell(std::thread::current().name().unwrap_or("cpu_correctness"));
    }
}

impl Bench {
    fn new() -> Bench {
        let (cpu, scalar) = (CpuExecutor::cpu(), CpuExecutor::scalar());
        Bench { cpu, scalar, sample: Sample::new(EVERY), tried: 0, refused: Vec::new() }
    }

    /// More ran than so many times those that were refused.
    fn most_ran(&self, times: usize) {
        assert!(self.tried > times * self.refused.len(), "{} ran, not {:?}", self.tried, self.refused);
    }

    fn prepare(&self, case: &Case, fault: Option<Fault>) -> Result<Box<dyn Prepared>, Failure> {
        let executor: &dyn Executor = if case.backend() == "scalar" { &self.scalar } else { &self.cpu };
        executor.prepare(case, fault, &Cancel::default())
    }

    /// Against the oracle and the certificate, before and after being timed; then every
    /// fault of `faults`. What is `n/a` is refused. A plain run takes a sample of the cases.
    fn check(&mut self, primitive: &str, text: &str, seed: u64, faults: &[Fault]) {
        if !self.sample.takes(meets(primitive, text)) {
            return;
        }
        let case = case(primitive, text, seed);
        let mut prepared = match self.prepare(&case, None) {
            Err(Failure::NotApplicable(_)) => {
                return self.refused.push(text.to_owned());
            }
            other => other.unwrap_or_else(|e| panic!("{primitive} {text}: {e}")),
        };
        self.tried += 1;
        let output = prepared.read_back().expect("output");
        let agreed = primitives::problem(&case).expect("a case").check(&output);
        assert_eq!(agreed, Ok(()), "{primitive} {text} seed {seed}");
        assert!(prepared.sample(2).expect("a sample") >= 0.0);
        let verdict = prepared.certify(&Cancel::default()).expect("a verdict");
        assert!(matches!(verdict, Verdict::Certified { checked } if checked > 0), "{text}: {verdict:?}");
        for &fault in faults {
            let mut wrong = self.prepare(&case, Some(fault)).expect("a faulty case");
            let verdict = wrong.certify(&Cancel::default()).expect("a verdict");
            assert!(matches!(verdict, Verdict::Wrong { .. }), "{primitive} {text} {fault:?}: {verdict:?}");
        }
    }
}

/// 1, 31, 32, 33 and around powers of two, three of them at a time.
fn sizes(turn: usize) -> [u64; 3] {
    const ALL: [u64; 14] = [1, 31, 32, 33, 255, 256, 257, 2, 7, 63, 65, 1023, 1025, 4097];
    [0, 5, 10].map(|k| ALL[(turn + k) % ALL.len()])
}

#[test]
fn stream_is_right() {
    let mut bench = Bench::new();
    for (turn, backend) in backends().iter().enumerate() {
        for kernel in ["read", "write", "copy", "scale", "add", "triad"] {
            for method in ["direct", "streaming"] {
                for n in sizes(turn).into_iter().chain([70_000]) {
                    let text = format!("kernel={kernel} method={method} elements={n} {backend}");
                    let faults = if n > 1 { &Fault::ALL[..] } else { &[] };
                    bench.check("stream", &text, n + turn as u64, faults);
                }
            }
        }
    }
    let reads = bench.refused.iter().all(|text| text.starts_with("kernel=read method=streaming"));
    assert!(
        reads && !bench.refused.is_empty(),
        "a streaming read is n/a, all else is not: {:?}",
        bench.refused
    );
}

/// In registers and in memory, with every number of copies.
#[test]
fn histograms_are_right() {
    let mut bench = Bench::new();
    let distributions = ["uniform", "skewed", "zipf distribution.zipf.exponent=1.5"];
    for (turn, backend) in backends().iter().enumerate() {
        for (by, bins) in ["even", "range"]
            .iter()
            .flat_map(|by| [2, 3, 4, 7, 9, 16, 17, 1000, 2000, 3000, 4096].map(|bins| (by, bins)))
        {
            for (n, distribution) in sizes(turn).into_iter().chain([70_001]).zip(distributions.iter().cycle())
            {
                let text = format!("by={by} bins={bins} elements={n} distribution={distribution} {backend}");
                let odd = if n % 2 == 1 { &Fault::ALL[..] } else { &[Fault::OffByOne, Fault::MissingTail] };
                bench.check("histogram", &text, n + turn as u64, odd);
            }
        }
    }
    assert_eq!(bench.refused, Vec::<String>::new());
}

/// Groups that are full and that are not, of one worker and of several.
#[test]
fn multisplits_are_right() {
    let mut bench = Bench::new();
    let functions = ["delta-buckets", "identity by.identity.shift=9", "range", "hash"];
    let distributions = ["uniform", "alpha-uniform", "binomial", "skewed", "one-bucket"];
    for (turn, backend) in backends().iter().enumerate() {
        let shapes =
            functions.iter().flat_map(|by| [2, 3, 32, 33, 256, 1000].map(|m| format!("by={by} buckets={m}")));
        let shapes = shapes.chain(["by=prime buckets=2".to_owned(), "buckets=65536".to_owned()]);
        for (nth, shape) in shapes.enumerate() {
            let of_shape = |k: usize| (["none", "4B", "8B"][(nth + k) % 3], distributions[(nth + k) % 5]);
            for (k, n) in sizes(turn + nth).into_iter().chain([20_001]).enumerate() {
                let (values, distribution) = of_shape(k);
                for method in ["direct", "write-combining"] {
                    let text = format!(
                        "{shape} keys={n} values={values} distribution={distribution} method={method} {backend}"
                    );
                    bench.check("multisplit", &text, n + turn as u64, &Fault::ALL);
                }
            }
        }
    }
    assert_eq!(bench.refused, Vec::<String>::new());
}

#[test]
fn gather_and_scatter_are_right() {
    let mut bench = Bench::new();
    let methods = [
        "method=direct",
        "method=streaming",
        "method=multipass method.multipass.passes=3",
        "method=segmented method.segmented.segments=3 method.segmented.passes=2",
        "method=segmented method.segmented.segments=5 method.segmented.passes=1",
        "method=partitioned",
        "method=partitioned method.partitioned.bits=3 method.partitioned.passes=2",
    ];
    let locations = [
        "locations=sequential",
        "locations=random",
        "locations=partitions locations.partitions.count=5",
        "locations=zipf locations.zipf.exponent=0.8",
    ];
    let mut turn = 0;
    for backend in backends() {
        for primitive in ["gather", "scatter"] {
            for (method, locations) in methods.iter().flat_map(|m| locations.map(|l| (m, l))) {
                for (tuple, index) in [4, 8, 16, 32].iter().flat_map(|t| [(t, 4), (t, 8)]) {
                    let n = sizes(turn)[turn % 3].max(5);
                    let text =
                        format!("tuples={n} tuple={tuple} index={index} {method} {locations} {backend}");
                    // Faults at a size that every pass and part has its share of.
                    bench.check(primitive, &text, turn as u64, if n > 30 { &Fault::ALL } else { &[] });
                    turn += 1;
                }
            }
        }
    }
    bench.most_ran(1);
}

/// Locations of one's own: repeats, gaps, more places than locations and fewer. A fault
/// that hides behind another writer is none that a certificate could see.
#[test]
fn gather_and_scatter_through_a_list_are_right() {
    let mut bench = Bench::new();
    let methods = [
        "method=direct",
        "method=streaming",
        "method=multipass method.multipass.passes=3",
        "method=segmented method.segmented.segments=3 method.segmented.passes=2",
        "method=partitioned",
        "method=partitioned method.partitioned.bits=4 method.partitioned.passes=3",
    ];
    let lists = [(1000, 777), (300, 5000), (5000, 300), (7, 1), (1, 40)].map(|(n, below)| {
        let list: Vec<String> = (0..n).map(|i| (i * i * 31 % below).to_string()).collect();
        (format!("locations=list locations.list.indices={};", list.join(";")), below)
    });
    for (turn, backend) in backends().iter().enumerate() {
        for (primitive, method) in ["gather", "scatter"].iter().flat_map(|p| methods.map(|m| (p, m))) {
            for (list, below) in &lists {
                let small = *below < 3 || list.len() < 60;
                if small && method.contains("passes") {
                    continue;
                }
                for (tuple, index, tuples) in [(4, 4, 0), (8, 8, 0), (16, 4, 7), (32, 8, 100)] {
                    let tuples =
                        if tuples == 0 { String::new() } else { format!("tuples={}", below + tuples) };
                    let text = format!("tuple={tuple} index={index} {tuples} {method} {list} {backend}");
                    let found = primitives::find(primitive).expect("registered");
                    let found = found.case(&params(&text), 0);
                    let shows = |fault: &Fault| !small && found.as_ref().is_ok_and(|case| case.shows(*fault));
                    let faults: Vec<Fault> = Fault::ALL.into_iter().filter(shows).collect();
                    bench.check(primitive, &text, turn as u64, &faults);
                }
            }
        }
    }
    bench.most_ran(1);
}

/// The ways to scan, each of them once for every four turns.
fn way(turn: usize) -> String {
    let kind = ["exclusive", "inclusive"][turn % 2];
    let direction = ["forward", "backward"][turn / 2 % 2];
    let method = ["lookback", "two-pass"][turn / 4 % 2];
    format!("kind={kind} direction={direction} method={method}")
}

#[test]
fn scans_are_right() {
    let mut bench = Bench::new();
    let mut turn = 0;
    for backend in backends() {
        for operator in ["add", "min", "max", "and", "or", "affine"] {
            for ty in ["u32", "i32", "u64", "f32", "f64"] {
                for n in sizes(turn).into_iter().chain([70_000]) {
                    turn += 1;
                    let text = format!("operator={operator} type={ty} elements={n} {} {backend}", way(turn));
                    let faults = if n > 1 { &Fault::ALL[..] } else { &[] };
                    bench.check("scan", &text, n + turn as u64, faults);
                }
            }
        }
    }
    bench.most_ran(2);
}

/// Every representation of segments that are shorter and longer than vectors, tiles and all of
/// the array.
#[test]
fn segmented_scans_are_right() {
    let mut bench = Bench::new();
    let mut turn = 0;
    let lengths = ["constant segments.constant.length", "random segments.random.mean"];
    for backend in backends() {
        for (heads, operator) in ["bits", "bytes", "striped", "lengths", "pointers"]
            .iter()
            .zip(["add", "min", "affine", "or", "max"])
        {
            for (lengths, mean) in lengths.iter().flat_map(|l| [1, 5, 700, 1 << 20].map(|mean| (l, mean))) {
                for n in sizes(turn).into_iter().chain([70_000]) {
                    turn += 1;
                    let ty = ["u32", "u64"][turn % 3 / 2];
                    let text = format!(
                        "operator={operator} type={ty} heads={heads} segments={lengths}={mean} elements={n} {} {backend}",
                        way(turn)
                    );
                    let faults = if n > 1 { &Fault::ALL[..] } else { &[] };
                    bench.check("segmented-scan", &text, n + turn as u64, faults);
                }
            }
        }
    }
    bench.most_ran(2);
}

/// With segments that are shorter and longer than words of flags, parts and all of the array.
#[test]
fn primitives_atop_scan_are_right() {
    let mut bench = Bench::new();
    let mut turn = 0;
    let segments = |mean: u64| match mean {
        0 => "segments=none".to_owned(),
        1 => "segments=constant segments.constant.length=1".to_owned(),
        _ => format!("segments=random segments.random.mean={mean}"),
    };
    for backend in backends() {
        for primitive in ["enumerate", "compact", "distribute", "split", "split-and-segment"] {
            for mean in [0, 1, 5, 100, 1 << 15] {
                if (primitive == "split") != (mean == 0) && primitive.starts_with("split") {
                    continue;
                }
                for n in sizes(turn).into_iter().chain([70_000]) {
                    turn += 1;
                    let trues = ["0.5", "0.01", "0.97", "1.0", "0.0"][turn % 5];
                    let (element, direction) = ([4, 8][turn % 2], ["forward", "backward"][turn / 2 % 2]);
                    let segments =
                        if mean == 0 && primitive == "split" { String::new() } else { segments(mean) };
                    let text = match primitive {
                        "enumerate" => format!("trues={trues}"),
                        "distribute" => format!("element={element} direction={direction}"),
                        _ => format!("element={element} trues={trues}"),
                    };
                    let text = format!("elements={n} {segments} {text} {backend}");
                    let found = primitives::find(primitive).expect("registered");
                    let found = found.case(&params(&text), 0);
                    let shows = |fault: &Fault| found.as_ref().is_ok_and(|case| case.shows(*fault));
                    let faults: Vec<Fault> = Fault::ALL.into_iter().filter(shows).collect();
                    bench.check(primitive, &text, n + turn as u64, &faults);
                }
            }
        }
    }
    bench.most_ran(1);
}

/// Beyond the blocks in which inputs are made and results are checked.
#[test]
fn larger_cases_are_right() {
    let mut bench = Bench::new();
    for backend in backends() {
        for n in [(1 << 18) + 1] {
            let partitions = "locations=partitions locations.partitions.count=1000";
            for (primitive, text) in [("gather", "tuple=16"), ("gather", partitions), ("scatter", partitions)]
            {
                bench.check(primitive, &format!("tuples={n} {text} {backend}"), n, &[]);
            }
            let uniform = "source=uniform source.uniform.length=3 source.uniform.stride=5 delta=2";
            for kernel in ["gather", "scatter"] {
                bench.check("pattern", &format!("kernel={kernel} {uniform} count={n} {backend}"), n, &[]);
            }
        }
    }
    bench.most_ran(1);
}

/// A list of `n` indices below `below`, some of them repeated.
fn scrambled(n: u64, below: u64) -> String {
    let list: Vec<String> = (0..n).map(|j| (j * 7919 % below / 2 * 2).to_string()).collect();
    format!("{};", list.join(";"))
}

/// Patterns with their deltas: lengths with kernels of their own, tails, one entry,
/// repeats, overlaps, no movement.
fn patterns() -> Vec<(String, Option<u64>)> {
    let mut all: Vec<(String, Option<u64>)> = vec![
        ("0;".into(), Some(1)),
        ("0;1;2;3;4;5;6;7;".into(), Some(8)),
        ("0;1;2;3;4;5;6;7;".into(), Some(3)),
        ("0;24;48;72;96;120;144;168;192;216;240;264;288;312;336;360;".into(), Some(1)),
        ("4;8;12;0;20;24;28;16;36;40;44;32;52;56;60;48;".into(), Some(64)),
        ("0;0;0;0;1;1;1;1;2;2;2;2;3;3;3;3;".into(), Some(4)),
        ("0;5;1;5;2;5;".into(), Some(6)),
        ("9;3;9;".into(), Some(0)),
        ("17;0;1;2;3;4;5;6;7;8;9;10;11;12;".into(), Some(18)),
    ];
    all.push((scrambled(5000, 3000), Some(1)));
    all
}

#[test]
fn pattern_gathers_and_scatters_are_right() {
    let mut bench = Bench::new();
    let mut turn = 0;
    for backend in backends() {
        for (pattern, delta) in patterns() {
            let delta = delta.expect("given");
            for kernel in ["gather", "gather method=read-only", "scatter"] {
                for wrap in [1, 3] {
                    let count = if pattern.len() > 1000 { 3 } else { sizes(turn)[turn % 3].max(2) };
                    let index = [4, 8][turn % 2];
                    let text = format!(
                        "kernel={kernel} source=custom source.custom.indices={pattern} delta={delta} \
                         wrap={wrap} count={count} index={index} {backend}"
                    );
                    bench.check("pattern", &text, turn as u64, &[]);
                    turn += 1;
                }
            }
        }
    }
    bench.most_ran(5);
}

#[test]
fn pattern_kernels_through_two_patterns_are_right() {
    let mut bench = Bench::new();
    let outer = "source=custom source.custom.indices=3;1;4;15;9;2;6;5;35;8;97;93;23;84;62;64;33;83;";
    let inners =
        ["0;1;2;3;4;5;6;7;", "17;", "0;2;4;6;8;10;12;14;16;1;3;5;7;9;11;13;", "5;5;4;3;2;1;0;17;16;"];
    for (turn, backend) in backends().iter().enumerate() {
        for (inner, index) in inners.iter().flat_map(|i| [(i, 4), (i, 8)]) {
            for (kernel, side) in [("multigather", "gather"), ("multiscatter", "scatter")] {
                let text = format!(
                    "kernel={kernel} {outer} {side}=custom {side}.custom.indices={inner} delta=100 \
                     count={} index={index} wrap=2 {backend}",
                    50 + turn
                );
                bench.check("pattern", &text, turn as u64, &Fault::ALL);
                if kernel == "multigather" {
                    bench.check("pattern", &format!("{text} method=read-only"), 1, &Fault::ALL);
                }
            }
            for (gather, scatter) in [(8, 8), (1, 30), (0, 7), (5, 0)] {
                let text = format!(
                    "kernel=gs gather=custom gather.custom.indices={inner} \
                     scatter=custom scatter.custom.indices={inner} delta-gather={gather} \
                     delta-scatter={scatter} count=77 index={index} {backend}"
                );
                bench.check("pattern", &text, turn as u64, &[]);
            }
        }
    }
    bench.most_ran(1);
}

/// Lists of deltas (zeros, none but zeros, more than there are uses) and shuffled visits, of
/// every kernel; a fault shows unless another writer hides it.
#[test]
fn pattern_kernels_with_starts_from_an_array_are_right() {
    let mut bench = Bench::new();
    let (outer, inner) = ("3;1;4;15;9;2;6;5;35;8;", "0;2;9;6;8;1;1;");
    let plain = |pattern: &str| format!("source=custom source.custom.indices={pattern}");
    let multi = |side: &str| {
        format!("kernel=multi{side} {} {side}=custom {side}.custom.indices={inner}", plain(outer))
    };
    let gs = "kernel=gs gather=custom gather.custom.indices=4;0;4;9; scatter=custom \
              scatter.custom.indices=0;7;3;2; delta-gather=3 delta-scatter=8 visits=random";
    let kernels = [
        format!("kernel=gather {}", plain("0;1;2;3;4;5;6;7;")),
        format!("kernel=gather method=read-only {}", plain("0;24;48;72;96;120;144;168;192;216;")),
        format!("kernel=scatter {}", plain("0;1;2;3;4;5;6;7;9;8;10;11;12;13;14;15;")),
        format!("kernel=scatter {}", plain("5;0;5;9;")),
        multi("gather"),
        format!("{} method=read-only", multi("gather")),
        multi("scatter"),
    ];
    let moves =
        ["delta=8 visits=random", "delta=0 visits=random", "delta=8;8;16;", "delta=0;0;3;", "delta=0;"];
    let more = ["delta=5;0;40; visits=random", "delta=4294967296;1; visits=random"];
    let mut turn = 0;
    let mut check = |bench: &mut Bench, case: &str, backend: &str| {
        let (index, count) = ([4, 8][turn % 2], [1, 2, 33, 257, 1000][turn % 5]);
        let text = format!("{case} wrap={} count={count} index={index} {backend}", 1 + 2 * (turn % 2));
        let text = if case.contains("=gs") { text.replace("wrap=3", "wrap=1") } else { text };
        let found = primitives::find("pattern").expect("registered");
        let found = found.case(&params(&text), 0);
        let shows = |fault: &Fault| count > 1 && found.as_ref().is_ok_and(|case| case.shows(*fault));
        let visible: Vec<Fault> = Fault::ALL.into_iter().filter(shows).collect();
        // Several visits that read the same words have the same sum, whoever makes them.
        let still = text.contains("read-only") && text.contains("delta=0");
        bench.check("pattern", &text, turn as u64, if still { &[] } else { &visible });
        turn += 1;
    };
    for backend in backends() {
        for kernel in &kernels {
            for delta in moves.iter().chain(&more[..1]) {
                check(&mut bench, &format!("{kernel} {delta}"), &backend);
            }
        }
        (0..3).for_each(|_| check(&mut bench, gs, &backend));
    }
    let far = format!("kernel=gather {} {}", plain("0;1;"), more[1]);
    let wide = primitives::find("pattern")
        .expect("registered")
        .work(&params(&format!("{far} count=3")))
        .expect("work");
    assert_eq!(wide.passes[0].accesses[2].element, 8, "starts beyond 32 bits");
    bench.most_ran(1);
}

/// Faults at uses whose words nobody else writes; see the certificate for what cannot
/// be seen.
#[test]
fn deliberate_mistakes_in_patterns_are_caught() {
    let mut bench = Bench::new();
    for backend in backends() {
        for (kernel, wrap) in
            [("gather", 1), ("gather", 4), ("gather method=read-only", 1), ("scatter", 1), ("scatter", 4)]
        {
            for (length, stride, delta) in
                [(8, 1, 8), (16, 1, 16), (16, 3, 1), (5, 24, 8), (1, 1, 1), (13, 2, 30)]
            {
                for count in [2, 33, 1000] {
                    let text = format!(
                        "kernel={kernel} source=uniform source.uniform.length={length} \
                         source.uniform.stride={stride} delta={delta} wrap={wrap} count={count} index=4 {backend}"
                    );
                    // Every word of a scatter must have one writer only.
                    let alone = delta >= length * stride || !kernel.contains("scatter");
                    bench.check("pattern", &text, count, if alone { &Fault::ALL } else { &[] });
                }
            }
        }
        let text = format!(
            "kernel=gs gather=uniform gather.uniform.length=16 gather.uniform.stride=1 \
             scatter=uniform scatter.uniform.length=16 scatter.uniform.stride=2 \
             delta-gather=16 delta-scatter=32 count=500 index=8 {backend}"
        );
        bench.check("pattern", &text, 3, &Fault::ALL);
    }
    bench.most_ran(1);
}

/// Each word has one writer among 65,536 entries that could be: they are not all tried.
#[test]
fn the_certificate_of_a_long_gs_pattern_grows_with_its_uses_only() {
    let mut bench = Bench::new();
    let start = Instant::now();
    let text = "kernel=gs gather=uniform gather.uniform.length=65536 gather.uniform.stride=1 \
                scatter=uniform scatter.uniform.length=65536 scatter.uniform.stride=16 \
                delta-gather=1 delta-scatter=1 count=16 backend=scalar";
    bench.check("pattern", text, 3, &Fault::ALL);
    // A million uses take a second at most; with every entry of every word it was minutes.
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
}

#[test]
fn what_cannot_run_here_says_why() {
    let bench = Bench::new();
    let reason = |text: &str| match bench.prepare(&case("stream", text, 1), None) {
        Err(Failure::NotApplicable(reason)) => reason,
        other => panic!("{text}: {:?}", other.err()),
    };
    let many = affinity::allowed().len() + 1;
    let threads = format!("kernel=copy elements=8 backend=cpu backend.cpu.threads={many}");
    assert!(reason(&threads).contains("affinity mask"), "{}", reason(&threads));
    let memory = reason("kernel=copy elements=1099511627776 backend=cpu");
    assert!(memory.starts_with("needs 16384 GiB, ") && memory.ends_with(" free"), "{memory}");
}

#[test]
fn open_parameters_are_resolved() {
    let bench = Bench::new();
    let prepared = bench.prepare(&case("stream", "kernel=copy elements=8 backend=cpu", 1), None).unwrap();
    let resolved = prepared.resolved();
    assert_eq!(resolved[0].1, Value::Int(affinity::allowed().len() as u64));
    assert!(matches!(&resolved[1].1, Value::Text(isa) if Isa::named(isa).is_some()));
    let scalar = bench.prepare(&case("stream", "kernel=copy elements=8 backend=scalar", 1), None).unwrap();
    assert!(scalar.resolved().is_empty());
    assert_eq!(scalar.memory(), 128);
}

#[test]
fn a_cancelled_case_stops() {
    let (cpu, cancel) = (CpuExecutor::cpu(), Cancel::default());
    let case = case("gather", "tuples=1000000 backend=cpu", 1);
    let mut prepared = cpu.prepare(&case, None, &cancel).expect("prepared");
    cancel.request();
    assert_eq!(prepared.certify(&cancel), Err(Failure::Cancelled));
    assert!(matches!(cpu.prepare(&case, None, &cancel), Err(Failure::Cancelled)));
}
