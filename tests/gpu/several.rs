//! Kernels on two GPUs: each with its own arrays, and one case whose arrays span both.

use crate::host::Host;
use crate::prove::prove_all;
use crate::{METHODS, PATTERNS};

/// Runs with two GPUs, which stay: other tests ignore a second one.
fn on_two(primitive: &str, memory: &str, cases: &[String]) {
    let Some(host) = Host::new() else { return };
    host.gpus(2);
    drop(host);
    let words = |case: &String| format!("{case} backend.cuda.gpus=2 backend.cuda.memory={memory}");
    prove_all(primitive, &cases.iter().map(words).collect::<Vec<_>>());
}

#[test]
fn each_with_arrays_of_its_own() {
    let all = ["read", "copy", "triad"].map(|kernel| format!("kernel={kernel} elements=2049"));
    on_two("stream", "own", &all);
    on_two("scatter", "own", &["tuples=4097 tuple=8 index=4 locations=random".to_owned()]);
    on_two("gather", "own", &["tuples=4097 tuple=8 index=4 locations=random".to_owned()]);
    on_two("pattern", "own", &["gather", "scatter"].map(|kernel| format!("{} kernel={kernel}", PATTERNS[0])));
}

/// Sizes at which both GPUs hold elements, and sizes at which only the first does.
fn moves(locations: &[&str]) -> Vec<String> {
    let mut all = Vec::new();
    for (n, tuple) in [(1, 8), (2, 8), (33, 8), (4097, 4), (4097, 8), (2500, 16), (1500, 32)] {
        for (index, locations) in [4, 8].iter().flat_map(|index| locations.iter().map(move |l| (index, l))) {
            let words = format!("tuples={n} tuple={tuple} index={index} locations={locations}");
            match n {
                1500.. => all.extend(METHODS.map(|method| format!("{words} {method}"))),
                _ => all.push(words),
            }
        }
    }
    all
}

#[test]
fn a_case_whose_arrays_span_both() {
    let partitions = "partitions locations.partitions.count=2";
    let list: Vec<String> = (0..3000).map(|i| (i * i * 31 % 2999).to_string()).collect();
    let list = format!("tuple=8 index=4 locations=list locations.list.indices={}", list.join(","));
    let mut scatters = moves(&["sequential", "random", partitions]);
    scatters.retain(|words| !(words.contains("tuples=1 ") && words.contains("partitions")));
    scatters.push(list.clone());
    let tuned =
        "backend.cuda.items=2 backend.cuda.grid=resident backend.cuda.fetch=32 backend.cuda.persist=4096";
    scatters.push(format!("tuples=4097 tuple=8 index=4 locations=random {tuned}"));
    on_two("scatter", "spanning", &scatters);
    let mut gathers = moves(&["random"]);
    gathers.push(list);
    on_two("gather", "spanning", &gathers);
}
