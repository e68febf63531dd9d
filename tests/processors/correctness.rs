//! Checks every primitive, method, kernel and instruction set of the backends `scalar` and `cpu` against the
//! sequential oracle, and their certificates against deliberate mistakes.
use crate::bench::{Bench, backends, case};
use scatterlab::case::{Cancel, Failure, Fault, Value};
use scatterlab::device::cpu::{Isa, affinity};
use scatterlab::engine::Executor;
use scatterlab::engine::executors::cpu::CpuExecutor;

/// 1, 31, 32, 33 and around powers of two, three of them at a time.
pub fn sizes(turn: usize) -> [u64; 3] {
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
                    let faults = if n > 1 { &Fault::ELEMENTS[..] } else { &[] };
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

/// Covers counts in registers and in memory, with every number of copies.
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
                let odd =
                    if n % 2 == 1 { &Fault::ELEMENTS[..] } else { &[Fault::OffByOne, Fault::MissingTail] };
                bench.check("histogram", &text, n + turn as u64, odd);
            }
        }
    }
    assert_eq!(bench.refused, Vec::<String>::new());
}

/// Covers full and partial groups, with one worker and with several.
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
                    bench.check("multisplit", &text, n + turn as u64, &Fault::ELEMENTS);
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
                    // Faults are planted at a size large enough to give every pass and part some work.
                    bench.check(primitive, &text, turn as u64, if n > 30 { &Fault::ELEMENTS } else { &[] });
                    turn += 1;
                }
            }
        }
    }
    bench.most_ran(1);
}

/// User-defined locations: repeats, gaps, more places than locations and fewer. A fault hidden by another
/// writer is not one that a certificate could detect.
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
                    bench.check(primitive, &text, turn as u64, &Fault::ELEMENTS);
                }
            }
        }
    }
    bench.most_ran(1);
}

/// The combinations of kind, direction and method; eight turns cover them all.
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
                    let faults = if n > 1 { &Fault::ELEMENTS[..] } else { &[] };
                    bench.check("scan", &text, n + turn as u64, faults);
                }
            }
        }
    }
    bench.most_ran(2);
}

/// Covers every representation of segments, with segments shorter and longer than vectors, tiles and the whole
/// array.
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
                    let faults = if n > 1 { &Fault::ELEMENTS[..] } else { &[] };
                    bench.check("segmented-scan", &text, n + turn as u64, faults);
                }
            }
        }
    }
    bench.most_ran(2);
}

/// Covers segments shorter and longer than words of flags, parts and the whole array.
#[test]
fn primitives_compaction_are_right() {
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
                    bench.check(primitive, &text, n + turn as u64, &Fault::ELEMENTS);
                }
            }
        }
    }
    bench.most_ran(1);
}

/// Covers sizes beyond the blocks in which inputs are generated and results checked.
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
