//! The shipped recipes: each one parses and resolves, and the numbers are those of the papers.

use std::collections::{BTreeMap, BTreeSet};

use scatterlab::case::Case;
use scatterlab::inputs::applications::{TABLE_5, Use};
use scatterlab::primitives::pattern::spec::{Kernel, Spec};
use scatterlab::recipe::plan::{Overrides, Plan, Statistic, resolve};
use scatterlab::recipe::shipped::{find, shipped};
use scatterlab::{primitives, recipe};

fn plan(path: &str) -> Plan {
    let text = find(path).expect("a shipped recipe").text;
    let recipe = recipe::parse(path, text).unwrap_or_else(|e| panic!("{path}: {e}"));
    resolve(&recipe, &Overrides::default()).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn cases(plan: &Plan, experiment: usize) -> impl Iterator<Item = &Case> {
    plan.cases.iter().filter(move |c| c.experiment == experiment)
}

fn footprint(case: &Case) -> u64 {
    let primitive = primitives::find(&case.primitive).expect("a primitive of the registry");
    primitive.work(&case.params).expect("a case that exists").footprint
}

/// Whether a recipe measures GPUs beyond a paper's figures.
fn beyond_figures(path: &str) -> bool {
    path.contains("/gpu-") || path == "several-gpus.yaml"
}

#[test]
fn every_recipe_resolves_to_cases_that_exist() {
    for recipe in shipped() {
        let plan = plan(recipe.path);
        assert!(!plan.cases.is_empty(), "{}", recipe.path);
        for case in &plan.cases {
            assert_eq!(case.not_applicable, None, "{}: {:?}", recipe.path, case.params);
            let most = if beyond_figures(recipe.path) { 80 << 30 } else { 16 << 30 };
            assert!(footprint(case) <= most, "{}: {:?}", recipe.path, case.params);
        }
    }
}

/// Recipes of a paper's folder that replay none of its figures and test none of its claims.
const OWN: [&str; 2] = ["ashkiani2017/multisplit.yaml", "he2007/auto.yaml"];

/// Recipes named `gpu-` measure this program's own kernels in the settings of a paper. A recipe's later experiments may go
/// beyond its figure.
#[test]
fn each_figure_names_its_paper_and_claim() {
    let of_papers = |path: &str| path.contains('/') && !path.starts_with("model/");
    for recipe in shipped().iter().filter(|r| of_papers(r.path)) {
        for (at, experiment) in plan(recipe.path).experiments.into_iter().enumerate() {
            if beyond_figures(recipe.path) || OWN.contains(&recipe.path) {
                let stated = experiment.paper.map(|paper| (paper.claim, paper.figure, paper.table));
                assert_eq!(stated.unwrap_or_default(), (None, None, None), "{}", recipe.path);
                continue;
            }
            let paper = experiment.paper.expect("a paper");
            assert_eq!(Some(paper.key.as_str()), recipe.path.split('/').next());
            assert!(paper.claim.is_some() && (at > 0 || paper.figure.is_some() || paper.table.is_some()));
        }
    }
}

#[test]
fn the_quick_start_is_small() {
    let plan = plan("quickstart.yaml");
    assert_eq!(plan.cases.len(), 48);
    assert!(plan.cases.iter().all(|c| footprint(c) <= 640 << 20));
}

/// Only the GPU runs these recipes, and each case names the parameters that it sweeps.
#[test]
fn recipes_beyond_figures_are_for_gpus() {
    for recipe in shipped().iter().filter(|r| beyond_figures(r.path)) {
        let plan = plan(recipe.path);
        assert!(plan.cases.iter().all(|case| case.place().0 == "cuda"), "{}", recipe.path);
        assert!(plan.cases.len() <= 240, "{}: {}", recipe.path, plan.cases.len());
    }
    let fetched = plan("he2007/gpu-fetch.yaml");
    assert!(fetched.cases.iter().all(|case| case.params.int("backend.cuda.fetch").is_some()));
}

#[test]
fn he2007_figures_have_a_memory_bound_twin() {
    let figures = shipped().iter().filter(|r| r.path.starts_with("he2007/") && !beyond_figures(r.path));
    // The sizes of the matrices are the paper's, those of CG the benchmark's.
    let sized = |path: &str| !path.ends_with("-spmv.yaml") && !path.ends_with("-gradients.yaml");
    for recipe in figures.filter(|r| sized(r.path)) {
        let plan = plan(recipe.path);
        let largest = |experiment| {
            // Records of a hash table and of a sort have 8 bytes.
            let bytes = |c: &Case| match c.params.int("records").or(c.params.int("keys")) {
                Some(records) => 8 * records,
                None => c.params.int("tuples").unwrap() * c.params.int("tuple").unwrap(),
            };
            cases(&plan, experiment).map(bytes).max().unwrap()
        };
        let half = plan.experiments.len() / 2;
        for at in 0..half {
            assert!(largest(at) >= 128 << 20, "{}", recipe.path);
            assert!(largest(half + at) >= 2 << 30, "{}", recipe.path);
        }
    }
}

/// 2 GB of traffic, or as much as an array of 4 GiB allows.
fn expected_count(largest: u64, delta: u64) -> u64 {
    const TRAFFIC: u64 = 2_000_000_000 / (8 * 16);
    const WORDS: u64 = (4 << 30) / 8;
    if largest + delta * (TRAFFIC - 1) < WORDS { TRAFFIC } else { (WORDS - 1 - largest) / delta + 1 }
}

#[test]
fn all_34_application_patterns_run_with_the_counts_of_the_stated_rule() {
    let plan = plan("lavin2020/app-patterns.yaml");
    let mut counts = BTreeMap::new();
    for case in &plan.cases {
        let spec = Spec::from_params(&case.params, case.seed).unwrap();
        let name = case.params.text("source.app.name").unwrap().to_owned();
        let app = TABLE_5.iter().find(|a| a.name == name).unwrap();
        assert_eq!((&spec.pattern[..], spec.delta), (app.indices, app.delta), "{name}");
        assert_eq!(spec.kernel == Kernel::Scatter, app.kernel == Use::Scatter, "{name}");
        assert!(spec.sparse_words() * 8 <= 4 << 30, "{name}");
        counts.insert(name, spec.count);
    }
    assert_eq!(counts.len(), 34);
    for app in &TABLE_5 {
        let largest = app.indices.iter().copied().max().unwrap();
        assert_eq!(counts[app.name], expected_count(largest, app.delta), "{}", app.name);
    }
}

/// Cases with few uses time launches and latencies, so they have experiments of their own.
#[test]
fn few_uses_stand_apart() {
    let plan = plan("lavin2020/app-patterns.yaml");
    for (at, experiment) in plan.experiments.iter().enumerate() {
        let few = experiment.title.starts_with("Few");
        for case in cases(&plan, at) {
            assert_eq!(case.params.int("count").unwrap() < 10_000, few, "{:?}", case.params);
        }
    }
}

/// A count of few uses moves little, so each case with one is measured with cold caches, too.
#[test]
fn few_uses_are_measured_hot_and_cold() {
    let plan = plan("lavin2020/app-patterns.yaml");
    let few = plan.cases.iter().filter(|case| case.params.int("count").unwrap() < 10_000);
    let (cold, hot): (Vec<&Case>, Vec<&Case>) =
        few.partition(|case| case.params.text("cache") == Some("cold"));
    let names = |cases: &[&Case]| -> Vec<String> {
        cases.iter().map(|case| case.params.text("source.app.name").unwrap().to_owned()).collect()
    };
    assert_eq!((names(&cold), cold.len()), (names(&hot), 8 * 3));
}

/// lavin2020 §4 takes the maximum bandwidth out of 10 runs, of 16 GB on CPUs.
#[test]
fn lavin2020_figures_draw_the_fastest_of_ten() {
    let figures = shipped().iter().filter(|r| r.path.starts_with("lavin2020/") && !beyond_figures(r.path));
    for recipe in figures {
        for experiment in plan(recipe.path).experiments {
            let measure = &experiment.measure;
            let samples = measure.rounds * measure.samples;
            let fixed = measure.max_rounds == measure.rounds;
            let stated = (experiment.chart.statistic, samples, fixed);
            assert_eq!(stated, (Statistic::Fastest, 10, true), "{}: {}", recipe.path, experiment.title);
        }
    }
    let strides = plan("lavin2020/fig03-cpu-stride.yaml");
    assert!(cases(&strides, 1).all(|case| case.params.int("footprint") == Some(16_000_000_000)));
}

/// The counts equal those of the input files that Spatter ships for the same figures.
#[test]
fn uniform_stride_counts_are_spatters() {
    let counts = |path: &str| {
        let count = |c: &Case| Spec::from_params(&c.params, 1).unwrap().count;
        let mut counts: Vec<u64> = cases(&plan(path), 0).map(count).collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        counts.dedup();
        counts
    };
    let gpu = [3_906_250, 1_953_125, 976_562, 488_281, 244_140, 122_070, 61_035, 30_517];
    let cpu = [31_250_000, 15_625_000, 7_812_500, 3_906_250, 1_953_125, 976_562, 488_281, 244_140];
    assert_eq!(counts("lavin2020/fig05-gpu-stride.yaml"), gpu);
    assert_eq!(counts("lavin2020/fig03-cpu-stride.yaml"), cpu);
}

/// SIMD is compared with the scalar instruction set at the same number of threads.
#[test]
fn figure_6_is_relative_to_the_scalar_instruction_set() {
    let plan = plan("lavin2020/fig06-simd.yaml");
    for experiment in &plan.experiments {
        let (key, value) = experiment.chart.relative_to.clone().expect("a baseline");
        assert_eq!((key.as_str(), value.to_string().as_str()), ("backend.cpu.isa", "scalar"));
    }
    assert!(plan.cases.iter().all(|c| c.params.text("backend.cpu.threads") == Some("auto")));
}

/// Base patterns of Spatter's suites, with their kernels.
fn suite(name: &str) -> Vec<(String, Vec<u64>)> {
    let path = format!("{}/tests/fixtures/spatter/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let all: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
    let entry = |case: &serde_json::Value| {
        let pattern = serde_json::from_value(case["pattern"].clone()).unwrap();
        (case["kernel"].as_str().unwrap().to_lowercase(), pattern)
    };
    all.iter().map(entry).collect()
}

/// A case's label names a configuration's suite and its position there; the case's pattern is sixteen uses of
/// the configuration's pattern.
#[test]
fn gpu_suites_are_sixteen_uses_written_out() {
    let plan = plan("lavin2020/gpu-suites.yaml");
    let mut seen = BTreeMap::new();
    for case in &plan.cases {
        let spec = Spec::from_params(&case.params, case.seed).unwrap();
        let label = case.params.text("label").unwrap().to_owned();
        let (name, number) = label.split_once(' ').unwrap();
        let (kernel, base) = suite(name).swap_remove(number.parse().unwrap());
        assert!(spec.delta.is_multiple_of(16), "{label}");
        let d = spec.delta / 16;
        let written_out: Vec<u64> = (0..16).flat_map(|i| base.iter().map(move |p| p + d * i)).collect();
        assert_eq!((&spec.pattern[..], spec.kernel.name()), (&written_out[..], kernel.as_str()), "{label}");
        *seen.entry((label, d, spec.count)).or_insert(0) += 1;
    }
    assert_eq!(seen.len(), 14);
    let methods = |label: &str| seen.iter().find(|(key, _)| key.0 == label).map(|(_, times)| *times);
    assert_eq!((methods("amg 0"), methods("lulesh 0")), (Some(2), Some(1)));
}

/// Tuning covers the cases of Figure 5, with every combination of choices.
#[test]
fn gpu_tuning_sweeps_every_choice() {
    let (figure, tuning) = (plan("lavin2020/fig05-gpu-stride.yaml"), plan("lavin2020/gpu-tuning.yaml"));
    let counts = |plan: &Plan| {
        let all = plan.cases.iter().map(|c| Spec::from_params(&c.params, 1).unwrap());
        all.map(|spec| (spec.kernel.name(), spec.count)).collect::<BTreeSet<_>>()
    };
    assert_eq!(counts(&figure), counts(&tuning));
    assert_eq!(tuning.cases.len(), 3 * 8 * 4 * 2);
}
