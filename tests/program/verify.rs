//! `verify` with wrong kernels in place of the cases of recipes.

use std::fs;
use std::path::Path;

use scatterlab_tests::program::{scatterlab, text};

const RECIPE: &str = "\
title: Small
stream: {kernel: [copy, scale], elements: [1Ki, 2Ki]}
backend: [scalar, cpu]
chart: {x: elements, y: bandwidth, lines: [kernel, backend]}
measure: {rounds: 3, samples: 2}
";

/// The output of `verify` with these options, of the recipe.
fn verify(folder: &Path, options: &str) -> (Option<i32>, String, String) {
    fs::write(folder.join("small.yaml"), RECIPE).expect("recipe");
    let words: Vec<&str> = ["verify"].into_iter().chain(options.split_whitespace()).collect();
    let output = scatterlab(folder, &words);
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn each_fault_runs_in_place_of_the_cases_of_a_recipe() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let options = "--recipes small.yaml --mutants --backend scalar --seed 5";
    let (status, told, _) = verify(folder.path(), options);
    assert_eq!(status, Some(0), "{told}");
    // Of each kernel the larger size, as it is and with ten faults; a copy is a right copy.
    assert!(
        told.contains("scalar recipes: 21 passed or caught, 1 right, 0 not certified, 0 n/a, 0 wrong"),
        "{told}"
    );
    let rows: Vec<Vec<&str>> = told.lines().map(|line| line.split_whitespace().collect()).collect();
    assert!(
        rows.contains(&vec!["scalar", "stream", "direct", "Identity", "2", "1", "1", "0", "0", "0"]),
        "{told}"
    );
    assert!(
        rows.contains(&vec!["scalar", "stream", "direct", "all", "others", "18", "18", "0", "0", "0", "0"]),
        "{told}"
    );
}

#[test]
fn what_became_of_the_faults_is_a_table_for_programs_too() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let options =
        "--recipes small.yaml --mutants --backend scalar,cpu --seed 5 --format csv --outputs checks.csv";
    let (status, csv, told) = verify(folder.path(), options);
    assert_eq!(status, Some(0), "{told}");
    assert!(told.contains("cpu recipes: "), "{told}");
    let rows: Vec<&str> = csv.lines().collect();
    assert_eq!(rows.len(), 1 + 2 * 10, "{csv}");
    assert!(rows.contains(&"scalar,stream,direct,Null,2,2,0,0,0,0,"), "{csv}");
    assert!(rows.contains(&"cpu,stream,direct,LostPart,2,2,0,0,0,0,"), "{csv}");
    let checks = fs::read_to_string(folder.path().join("checks.csv")).expect("a table");
    assert_eq!(checks.lines().count(), 1 + 2 * 2 * 11, "{checks}");
    assert!(checks.lines().skip(1).all(|line| line.starts_with("recipes,")), "{checks}");
    assert!(checks.contains("elements=2048") && !checks.contains("elements=1024"), "{checks}");
}

#[test]
fn what_cannot_be_verified_is_one_error() {
    let folder = tempfile::tempdir().expect("temporary folder");
    for (options, wanted) in [
        ("--recipes nosuch --backend scalar", "no shipped recipe of this name: nosuch"),
        ("--recipes small.yaml --small", "cannot be used with"),
        ("--format csv", "--mutants"),
        ("--recipes small.yaml --max-time 0s", "0s is not in 1s to 24h"),
        ("--recipes small.yaml --largest 7", "7"),
    ] {
        let (status, _, error) = verify(folder.path(), options);
        assert!(status.is_some_and(|code| code == 1 || code == 2), "{options}: {status:?}");
        assert!(error.contains(wanted), "{options}: {error}");
    }
}

#[test]
fn what_the_time_leaves_out_is_said() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (_, told, _) = verify(folder.path(), "--recipes --backend scalar,cpu --max-time 1s --seed 5");
    assert!(told.contains("cases were left out when the time was over"), "{told}");
}
