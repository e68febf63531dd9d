//! pattern: every kernel, of patterns that have kernels of their own and that have none.

use std::time::{Duration, Instant};

use scatterlab::case::Fault;
use scatterlab::primitives;

use crate::bench::{Bench, backends, params};
use crate::correctness::sizes;

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
                bench.check("pattern", &text, turn as u64, &Fault::ELEMENTS);
                if kernel == "multigather" {
                    bench.check("pattern", &format!("{text} method=read-only"), 1, &Fault::ELEMENTS);
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
        // Several visits that read the same words have the same sum, whoever makes them; what they keep differs.
        let still = text.contains("read-only") && text.contains("delta=0");
        bench.check("pattern", &text, turn as u64, if still { &[] } else { &Fault::ELEMENTS });
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
                    bench.check("pattern", &text, count, if alone { &Fault::ELEMENTS } else { &[] });
                }
            }
        }
        let text = format!(
            "kernel=gs gather=uniform gather.uniform.length=16 gather.uniform.stride=1 \
             scatter=uniform scatter.uniform.length=16 scatter.uniform.stride=2 \
             delta-gather=16 delta-scatter=32 count=500 index=8 {backend}"
        );
        bench.check("pattern", &text, 3, &Fault::ELEMENTS);
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
    bench.check("pattern", text, 3, &Fault::ELEMENTS);
    // A million uses take a second at most; with every entry of every word it was minutes.
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
}
