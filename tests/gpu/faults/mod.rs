//! Faults of a GPU, each injected into a run of the real program: one line names the fault with the case and
//! the driver's error name, everything that can still be measured is, no measurement is lost, and the run ends.
//! `docs/faults.md` describes each fault.

mod injected;
mod rows;

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use injected::{Libraries, Ran};
use rows::{ALL, LOST, ONE, RECIPE, ROWS, Row};
use scatterlab_tests::program::{engine_of, program, text, wait_for_rounds};

#[test]
fn each_fault_is_one_line_and_the_run_goes_on() {
    let Some(libraries) = Libraries::get() else { return };
    let whole = libraries.run(RECIPE, &[]);
    assert_eq!((whole.status, whole.rounds), (Some(0), [ALL; 2]), "{}", whole.said);
    for row in ROWS {
        let ran = libraries.run(RECIPE, row.environment);
        check(row, &ran);
    }
}

fn check(row: &Row, ran: &Ran) {
    let (fault, said) = (row.fault, &ran.said);
    let named: Vec<&str> = said.lines().filter(|line| line.contains(row.words)).collect();
    let lines: Vec<&str> = named.iter().copied().filter(|line| line.starts_with('[')).collect();
    let grouped = named.iter().filter_map(|line| cases_of_a_reason(line)).sum::<usize>();
    let (count, status) = row.struck;
    assert_eq!(lines.len() + grouped, count, "{fault}:\n{said}");
    assert!(lines.iter().all(|line| line.contains("cuda") && line.ends_with(row.next)), "{fault}:\n{said}");
    let struck = ran.cases.iter().filter(|case| case.status == status && case.backend == "cuda").count();
    let done = ran.cases.iter().filter(|case| case.status == "done" && case.rounds == 2).count();
    assert_eq!((struck, done), (count, ran.cases.len() - count), "{fault}: {:?}", ran.cases);
    assert_eq!((ran.status, ran.rounds), (Some(row.status), [row.rounds; 2]), "{fault}:\n{said}");
    no_panic(ran);
}

/// How many cases a line such as `4 cases n/a: no CUDA driver` tells of.
fn cases_of_a_reason(line: &str) -> Option<usize> {
    let (count, reason) = line.split_once(" case")?;
    reason.trim_start_matches('s').starts_with(" n/a: ").then(|| count.parse().ok())?
}

fn no_panic(ran: &Ran) {
    assert!(!ran.said.contains("panicked") && !ran.said.contains("RUST_BACKTRACE"), "{}", ran.said);
}

/// The next call after the loss prepares a case that did nothing wrong.
#[test]
fn a_device_lost_between_two_cases_comes_back_in_a_fresh_engine() {
    let Some(libraries) = Libraries::get() else { return };
    for (code, word) in [("46", "CUDA_ERROR_DEVICE_UNAVAILABLE"), ("214", "CUDA_ERROR_ECC_UNCORRECTABLE")] {
        let root = tempfile::tempdir().unwrap();
        let once = root.path().join("once");
        let environment = [
            ("FAULT_CALL", "cuMemGetInfo_v2"),
            ("FAULT_AT", "6"),
            ("FAULT_DOES", code),
            ("FAULT_ONCE", once.to_str().unwrap()),
        ];
        let ran = libraries.run(RECIPE, &environment);
        let row = Row { fault: word, words: word, next: LOST, ..ONE };
        check(&row, &ran);
    }
}

/// The remaining cases are not marked `n/a`: the device may be back another day.
#[test]
fn a_device_that_does_not_come_back_ends_the_run_with_what_was_measured() {
    let Some(libraries) = Libraries::get() else { return };
    let root = tempfile::tempdir().unwrap();
    let once = root.path().join("once");
    let environment = [
        ("FAULT_CALL", "cuMemGetInfo_v2"),
        ("FAULT_AT", "6"),
        ("FAULT_DOES", "46"),
        ("FAULT_ONCE", once.to_str().unwrap()),
        ("FAULT_GONE", "46"),
    ];
    let ran = libraries.run(RECIPE, &environment);
    let gone = "cuda is no longer there (CUDA_ERROR_DEVICE_UNAVAILABLE), and 3 cases are left on it; \
        to resume: scatterlab run --resume out";
    assert_eq!(ran.said.lines().filter(|line| line.ends_with(gone)).count(), 1, "{}", ran.said);
    assert_eq!(ran.status, Some(1), "{}", ran.said);
    assert!(ran.rounds[0] > 0 && ran.rounds[0] == ran.rounds[1], "{:?}", ran.rounds);
    assert!(ran.cases.iter().all(|case| case.status != "n/a"), "{:?}", ran.cases);
    no_panic(&ran);
}

/// The copy that measures a GPU's pace belongs to no case.
#[test]
fn a_device_lost_in_a_reference_copy_is_no_cases_fault() {
    let Some(libraries) = Libraries::get() else { return };
    let environment = [
        ("FAULT_FREE", "2147483648"),
        ("FAULT_CALL", "cuMemcpyDtoDAsync_v2"),
        ("FAULT_AT", "2"),
        ("FAULT_DOES", "719"),
    ];
    let recipe = RECIPE.replace("[scalar, cuda]", "cuda");
    let ran = libraries.run(&recipe, &environment);
    let line = "no reference copy on cuda: cuMemcpyDtoDAsync: CUDA_ERROR_LAUNCH_FAILED (719)";
    assert_eq!(ran.said.lines().filter(|said| said.ends_with(line)).count(), 1, "{}", ran.said);
    let died = "the engine died: exit status 4: it lost its device, before it did anything";
    assert!(ran.said.lines().any(|said| said == died), "{}", ran.said);
    assert!(ran.cases.iter().all(|case| case.status == "pending"), "{:?}", ran.cases);
    assert_eq!(ran.status, Some(3), "{}", ran.said);
    no_panic(&ran);
}

/// Number of rounds whose events contain these words.
fn telling(ran: &Ran, words: &str) -> usize {
    ran.events.lines().filter(|line| line.contains("\"event\":\"round\"") && line.contains(words)).count()
}

const CLOCK: &str = "\"gpu\":{\"sm-clock\":1755,";

#[test]
fn a_management_library_that_goes_away_takes_its_own_words_with_it_only() {
    let Some(libraries) = Libraries::get() else { return };
    let recipe = RECIPE.replace("[scalar, cuda]", "cuda");
    let folder = libraries.management();
    let there = [("LD_LIBRARY_PATH", folder.to_str().unwrap())];
    let whole = libraries.run(&recipe, &there);
    assert_eq!((whole.status, whole.rounds, telling(&whole, CLOCK)), (Some(0), [8; 2], 8), "{}", whole.said);
    assert_eq!(telling(&whole, "\"gpu-before\":{\"sm-clock\":1755,"), 8, "{}", whole.events);
    // The fake library advances 5 ms from one reading to the next.
    assert_eq!(telling(&whole, "\"gpu-during\":{\"held\":{\"power cap\":0.005"), 8, "{}", whole.events);
    let gone = libraries.run(&recipe, &[there[0], ("NVML_GONE", "12")]);
    assert_eq!((gone.status, gone.rounds), (Some(0), [8; 2]), "{}", gone.said);
    assert!((1..8).contains(&telling(&gone, CLOCK)), "{}", gone.events);
    no_panic(&gone);
}

#[test]
fn what_does_not_fit_is_told_before_anything_runs() {
    let Some(libraries) = Libraries::get() else { return };
    let recipe = RECIPE
        .replace("1Ki", "[1Ki, 4Mi]")
        .replace("x: kernel", "x: elements")
        .replace("lines: backend", "lines: [kernel, backend]");
    let ran = libraries.run(&recipe, &[("FAULT_FREE", "40000000")]);
    let warning = "warning: cuda 0: 4 of 8 cases need more memory than the 38.1 MiB that are free now, \
        up to 96.0 MiB: ";
    let at = |words: &str| ran.said.lines().position(|line| line.contains(words));
    assert!(
        at(warning).is_some() && at(warning) < ran.said.lines().position(|line| line.starts_with('[')),
        "{}",
        ran.said
    );
    let not = ran.cases.iter().filter(|case| case.status == "n/a");
    assert_eq!((not.count(), ran.status), (4, Some(0)), "{}", ran.said);
}

/// A remote client can do no more than hang up.
#[test]
fn an_engine_that_hangs_ends_after_its_client() {
    let Some(libraries) = Libraries::get() else { return };
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("recipe.yaml"), RECIPE.replace("[scalar, cuda]", "cuda")).unwrap();
    let environment = [
        ("FAULT_KERNEL", "stream_scale"),
        ("FAULT_CALL", "cuEventSynchronize"),
        ("FAULT_DOES", "hang"),
        ("SCATTERLAB_HUNG_AFTER", "10"),
    ];
    let mut run = libraries.program(root.path(), &["run", "recipe.yaml", "--out", "out"], &environment);
    let mut run = run.stdout(Stdio::null()).spawn().unwrap();
    wait_for_rounds(&root.path().join("out/events.ndjson"), 1);
    // Wait until the engine is in the kernel that never ends: the previous round belonged to another kernel.
    thread::sleep(Duration::from_secs(3));
    let engine = engine_of(&run);
    run.kill().unwrap();
    run.wait().unwrap();
    let (gone, began) = (|| !Path::new(&format!("/proc/{engine}/exe")).exists(), Instant::now());
    while !gone() && began.elapsed() < Duration::from_secs(60) {
        thread::sleep(Duration::from_millis(50));
    }
    assert!(gone(), "engine {engine} is still there");
    assert!(began.elapsed() > Duration::from_secs(1), "it did not hang");
}

#[test]
fn a_patience_that_is_no_time_is_one_line() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("recipe.yaml"), RECIPE).unwrap();
    let mut run = program(root.path());
    let run = run.args(["run", "recipe.yaml", "--out", "out"]).env("SCATTERLAB_HUNG_AFTER", "soon").output();
    let error = text(&run.unwrap().stderr);
    assert_eq!(error.trim(), "scatterlab: SCATTERLAB_HUNG_AFTER=soon: expected seconds above 0, such as 120");
    assert!(!root.path().join("out").exists());
}

/// CUDA exposes an instance of a partitioned GPU (MIG) as its device 0.
#[test]
fn an_instance_of_a_gpu_is_called_by_its_own_name() {
    let Some(libraries) = Libraries::get() else { return };
    let recipe = RECIPE.replace("[scalar, cuda]", "cuda");
    let folder = libraries.management();
    let there = ("LD_LIBRARY_PATH", folder.to_str().unwrap());
    let uuid = "00102030-4050-6070-8090-a0b0c0d0e0f0";
    let whole = libraries.run(&recipe, &[there]);
    assert!(whole.said.contains(&format!("UUID GPU-{uuid} ")), "{}", whole.said);
    assert!(!whole.said.contains("MIG instance"), "{}", whole.said);
    let part = libraries.run(&recipe, &[there, ("NVML_INSTANCE", "1")]);
    for words in [&format!("UUID MIG-{uuid} "), "MIG instance Imaginary GPU MIG 1g.10gb"] {
        assert!(part.said.contains(words), "{}", part.said);
    }
    assert!(part.manifest.contains(&format!("MIG-{uuid}")), "{}", part.manifest);
}
