use super::*;
use crate::case::{Params, Value};
use crate::primitives::Definition;

/// Each row: case, kernel or method, and its measured figures: tiles with 1, 2, 4, 8 items, then resident.
fn measured() -> Vec<(&'static str, &'static str, Vec<f64>)> {
    let lines = include_str!("choice_measured.txt").lines().filter(|line| !line.starts_with('#'));
    let row = |line: &'static str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        (words[0], words[1], words[2..].iter().map(|figure| figure.parse().unwrap()).collect())
    };
    lines.map(row).collect()
}

fn figure(figures: &[f64], steps: Steps) -> f64 {
    let resident = if steps.grid == Grid::Resident { 4 } else { 0 };
    figures[resident + steps.items.trailing_zeros() as usize]
}

fn indices(n: u64, entry: impl Fn(u64) -> u64) -> Vec<u64> {
    (0..n).map(entry).collect()
}

/// A configuration of Spatter's suites: its base pattern, the d of its GPU form, and its count.
fn suite(name: &str) -> (Vec<u64>, u64, u64) {
    let by = |stride: u64| indices(16, move |j| stride * j);
    let amg_0 = [1333, 0, 1, 2, 36, 37, 38, 72, 73, 74, 1296, 1297, 1298, 1332, 1334, 1368];
    let amg_1 = [1333, 0, 1, 36, 37, 72, 73, 1296, 1297, 1332, 1368, 1369, 2592, 2593, 2628, 2629];
    let many = 14_705_882;
    match name {
        "amg-0" => (amg_0.to_vec(), 1, many),
        "amg-1" => (amg_1.to_vec(), 1, many),
        "lulesh-0" => (by(24), 0, 250_000_000),
        "lulesh-1" | "lulesh-2" => (by(8), 1, many),
        "lulesh-3" => (by(24), 8, 1_937_984),
        "lulesh-4" | "lulesh-5" => (by(24), 4, 3_846_153),
        "lulesh-6" | "lulesh-7" | "lulesh-11" => (by(24), 1, many),
        "lulesh-8" | "lulesh-10" => (by(1), 1, many),
        "lulesh-9" => (by(1), 41, 380_517),
        other => panic!("{other}"),
    }
}

fn params(kernel: &str, pattern: Vec<u64>, delta: u64, count: u64) -> Params {
    let (kernel, method) = match kernel {
        "read-only" => ("gather", "read-only"),
        kernel => (kernel, "direct"),
    };
    let text = |word: &str| Value::Text(word.to_owned());
    Params::default()
        .with("backend", text("cuda"))
        .with("kernel", text(kernel))
        .with("method", text(method))
        .with("source", text("custom"))
        .with("source.custom.indices", Value::Indices(pattern.into()))
        .with("delta", Value::Int(delta))
        .with("count", Value::Int(count))
}

fn chosen(params: &Params) -> Steps {
    steps(&Spec::from_params(params, 7).unwrap())
}

/// The case of a row; suites are in the form that the GPU ran: 16 consecutive uses written out as one pattern.
fn row(name: &str, kernel: &str) -> Params {
    if let Some(stride) = name.strip_prefix("uniform-") {
        let stride = stride.parse::<u64>().unwrap();
        return params(kernel, indices(256, |j| j * stride), 256 * stride, 3_906_250 / stride);
    }
    let (base, d, count) = suite(name);
    let written_out = (0..16).flat_map(|i| base.iter().map(move |p| p + d * i)).collect();
    params(kernel, written_out, 16 * d, count)
}

/// The choice is the one that measured best, within the variation between two measurements.
#[test]
fn every_measured_case_gets_what_measured_best() {
    let rows = measured();
    assert_eq!(rows.len(), 14 + 10 + 16 + 8);
    for (name, kernel, figures) in rows {
        let steps = chosen(&row(name, kernel));
        let best = figures.iter().copied().fold(0.0, f64::max);
        let got = figure(&figures, steps);
        assert!(got > 0.975 * best, "{name} {kernel}: {steps:?} reached {got} of {best}");
    }
}

/// The application's own pattern, of which a block serves 16 uses at once, results in the same walk.
#[test]
fn the_short_form_gets_what_the_written_out_one_gets() {
    for (name, kernel, _) in measured().into_iter().filter(|row| !row.0.starts_with("uniform")) {
        let (base, d, count) = suite(name);
        assert_eq!(
            chosen(&params(kernel, base, d, 16 * count)),
            chosen(&row(name, kernel)),
            "{name} {kernel}"
        );
    }
}

#[test]
fn what_the_recipe_says_holds() {
    let unit = params("gather", indices(8, |j| j), 8, 1000);
    let with = |key: &str, value: Value| chosen(&unit.clone().with(&format!("backend.cuda.{key}"), value));
    assert_eq!(chosen(&unit), tiles(8));
    assert_eq!(with("items", Value::Int(2)), tiles(2));
    assert_eq!(with("grid", Value::Text("resident".into())), RESIDENT);
}

/// Visits in an order drawn from the seed are far apart, regardless of the words that uses share.
#[test]
fn random_visits_go_by_the_lines_of_a_use() {
    let random = |pattern, delta| {
        chosen(&params("gather", pattern, delta, 1 << 20).with("visits", Value::Text("random".into())))
    };
    assert_eq!(random(vec![0], 1), tiles(1));
    assert_eq!(random(vec![0], 0), RESIDENT);
    assert_eq!(random(indices(16, |j| j), 1), tiles(8));
    assert_eq!(random(indices(16, |j| 16 * j), 256), tiles(1));
}

#[test]
fn a_list_of_deltas_counts_as_what_it_amounts_to() {
    let listed = |kernel, pattern, list: &[u64]| {
        let params = params(kernel, pattern, 0, 5000).with("delta", Value::Indices(list.to_vec().into()));
        chosen(&params)
    };
    assert_eq!(listed("gather", indices(8, |j| j), &[8, 8, 16]), tiles(8));
    assert_eq!(listed("gather", indices(8, |j| j), &[0, 1, 2]), RESIDENT);
    assert_eq!(listed("gather", indices(8, |j| j), &[1; 300]), RESIDENT);
    assert_eq!(listed("scatter", indices(8, |j| 4 * j), &[32, 64]), tiles(1));
    assert_eq!(listed("scatter", indices(8, |j| j), &[0, 0]), RESIDENT);
}

/// Long patterns are judged by the words that a block's threads touch, not by the pattern's extent.
#[test]
fn a_long_pattern_that_jumps_about_is_sparse() {
    let n = 1 << 12;
    assert_eq!(chosen(&params("gather", indices(n, |j| j * 1291 % n), n, 50)), tiles(1));
    assert_eq!(chosen(&params("gather", indices(n, |j| j), n, 50)), tiles(8));
    assert_eq!(chosen(&params("scatter", indices(n, |j| j * 1291 % n), n, 50)), tiles(1));
}

#[test]
fn a_tunable_that_pattern_lacks_is_not_applicable() {
    let unit = params("gather", indices(8, |j| j), 8, 1000);
    let refused = |key: &str, value: Value| {
        let params = unit.clone().with(&format!("backend.cuda.{key}"), value);
        Spec::tunables("pattern", &params).unwrap_err().to_string()
    };
    assert_eq!(refused("items", Value::Int(3)), "n/a: pattern takes items 1, 2, 4, 8, not 3");
    assert_eq!(refused("persist", Value::Int(64)), "n/a: pattern has no persist to choose: leave it unset");
}

/// For gs, the side with less in flight decides.
#[test]
fn the_slower_side_of_gs_decides() {
    assert_eq!(slower(tiles(8), tiles(1)), tiles(1));
    assert_eq!(slower(tiles(1), tiles(8)), tiles(1));
    assert_eq!(slower(RESIDENT, tiles(2)), tiles(2));
    assert_eq!((slower(RESIDENT, tiles(8)), slower(tiles(8), RESIDENT)), (RESIDENT, RESIDENT));
}
