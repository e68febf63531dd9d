//! The output of Spatter 2.1.0.

use scatterlab::spatter::output::{Gpu, configurations, header, heading, row, sizes};

use super::{MACHINE, job, job_with};

#[test]
fn the_heading_and_the_table_are_spatters() {
    let settings = job("-p 0 -b serial").settings;
    let expected = "\nRunning Spatter version 2.1.0\nCompiler: GNU ver. 12.2.0\nBackend: Serial\nAggregate Results? NO\n\n";
    assert_eq!(heading(&settings, "GNU ver. 12.2.0", None), expected);
    assert_eq!(header(), "config         bytes          time(s)        bw(MB/s)       \n");
    assert_eq!(row(0, 65_536, 1.5e-5), "0              65536          1.5e-05        4369.07        \n");
    assert_eq!(
        row(12, 2_000_000_000, 0.25),
        "12             2000000000     0.25           8000           \n"
    );
    assert_eq!(
        row(0, 4_000_000_000_000, 1.0),
        "0              4000000000000  1              4e+06          \n"
    );
    let settings = job("-p 0 -b openmp -a").settings;
    assert!(heading(&settings, "x", None).ends_with("Backend: OpenMP\nAggregate Results? YES\n\n"));
}

#[test]
fn a_gpu_stands_in_the_heading() {
    let settings = job("-p 0 -b cuda").settings;
    let gpu = Gpu {
        devices: 2,
        name: "NVIDIA H200".to_owned(),
        memory_clock_khz: Some(3_201_000),
        bus_bits: Some(6144),
    };
    let lines = "Backend: CUDA\nAggregate Results? NO\nNumber of Devices: 2\nDevice Name: NVIDIA H200\nMemory Clock Rate \
                 (KHz): 3201000\nMemory Bus Width (bits): 6144\nPeak Memory Bandwidth (GB/s): 4916.74\n\n";
    let shown = heading(&settings, "x", Some(&gpu));
    assert!(shown.ends_with(lines), "{shown}");
    let unknown = heading(&settings, "x", Some(&Gpu::default()));
    assert!(unknown.contains("Peak Memory Bandwidth (GB/s): n/a\n"), "{unknown}");
}

/// The list that Spatter's notebooks read with Python's `eval`.
#[test]
fn configurations_are_a_list_for_python() {
    let of = |words: &str| {
        let job = job(words);
        configurations(&job.configs, &job.settings, &MACHINE)
    };
    assert_eq!(
        of("-b openmp -p UNIFORM:4:2 -l 5"),
        "Run Configurations\n[ {'id': 0, 'kernel': 'gather', 'pattern': [0, 2, 4, 6], 'pattern-gather': [], \
         'pattern-scatter': [], 'delta': 8, 'delta-gather': 8, 'delta-scatter': 8, 'count': 5, 'wrap': 1, 'threads': 4} \
         ]\n\n"
    );
    assert_eq!(
        of("-b serial -a -s7 -n it's -k GS -g 0,1 -u 2,3 -r 6"),
        "Run Configurations\n[ {'id': 0, 'name': 'it\\'s', 'kernel': 'gs', 'pattern': [], 'pattern-gather': [0, 1], \
         'pattern-scatter': [2, 3], 'delta': 8, 'delta-gather': 8, 'delta-scatter': 8, 'count': 1024, 'seed': 7, 'agg \
         (nruns)': 6, 'wrap': 1, 'threads': 1} ]\n\n"
    );
    assert!(!of("-b serial -p 0 -s0").contains("seed"), "only a seed above 0 is shown");
    let job = job_with("-f suite.json", Some(r#"[{"pattern": [0]}, {"pattern": [1]}]"#)).expect("a job");
    let two = configurations(&job.configs, &job.settings, &MACHINE);
    assert!(two.contains("'threads': 4},\n  {'id': 1, "), "{two}");
}

/// The configurations share buffers, whose size is that of the largest so far.
#[test]
fn sizes_are_those_of_spatters_buffers() {
    let of = |text: &str| sizes(&job_with("-f suite.json", Some(text)).expect("a job").configs);
    assert_eq!(
        of(r#"[{"pattern": [0, 5], "count": 11, "wrap": 3}, {"pattern": [0], "count": 2}]"#),
        "Pattern Array Size: 2\tDelta: 8\tCount: 11\tWrap: 3\tDense Array Size: 6\tSparse Array Size: 86\tMax Pattern Val: \
         5\nPattern Array Size: 1\tDelta: 8\tCount: 2\tWrap: 1\tDense Array Size: 6\tSparse Array Size: 86\tMax Pattern \
         Val: 0\n"
    );
    assert_eq!(
        of(r#"[{"kernel": "gs", "pattern-gather": [0, 3], "pattern-scatter": [4, 0], "count": 2}]"#),
        "Pattern Gather Array Size: 2Pattern Scatter Array Size: 2\tDelta: 8\tCount: 2\tWrap: 1\tSparse Scatter Array \
         Size: 13\tSparse Gather Array Size: 12\tMax Pattern Scatter Val: 4\tMax Pattern Gather Val: 3\n"
    );
    assert!(
        of(r#"[{"kernel": "multigather", "pattern": [0, 9], "pattern-gather": [1]}]"#)
            .ends_with("\tMax Pattern Val: 9\tMax Pattern Gather Val: 1\n")
    );
}
