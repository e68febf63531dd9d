use std::collections::BTreeSet;

use super::*;
use crate::case::Value;
use crate::engine::verify::{Suite, suite};

const RECIPE: &str = "\
scatter: {method: [direct, {multipass: {passes: [4, 128]}}], tuples: 1Mi}
backend: [cpu, cuda]
chart: {x: passes, lines: [method, backend]}
";

fn origin(overrides: Overrides) -> Origin {
    let source = Source::of_file("my recipe.yaml", RECIPE);
    let plan = source.resolve(&overrides).expect("a recipe");
    Origin { recipe: source.path, overrides, plan, stored: None }
}

/// The text for the case with this backend and this number of passes.
fn text(origin: &Origin, backend: &str, passes: Option<u64>) -> String {
    let is_it =
        |case: &&Case| case.backend() == backend && case.params.int("method.multipass.passes") == passes;
    let case = origin.plan.cases.iter().find(is_it).expect("a case");
    describe(&subject(origin, case).expect("a case that exists")).join("\n")
}

#[test]
fn the_gpus_second_execution_is_profiled_and_nothing_else() {
    let origin = origin(Overrides::default());
    let direct = text(&origin, "cuda", None);
    for part in [
        "ncu --target-processes all",
        "--kernel-name scatter_t8_i4_n1_cs ",
        "--launch-skip 1 --launch-count 1 ",
        "--cache-control none --clock-control none",
        "dram__bytes_read.sum,dram__bytes_write.sum",
        "run 'my recipe.yaml' --only ",
        "--set measure.rounds=1 --set measure.samples=1 --out \"$(mktemp -d)\"",
        "# one execution declares 12.0 MiB read and 8.00 MiB written (effective: 8.00 MiB)",
        "stores 8.00 MiB to 32.0 MiB",
        "ERR_NVGPUCTRPERM",
    ] {
        assert!(direct.contains(part), "{part} in\n{direct}");
    }
    assert!(text(&origin, "cuda", Some(4)).contains("--launch-skip 4 --launch-count 4 "));
    let many = text(&origin, "cuda", Some(128));
    assert!(many.contains("--launch-skip 128 --launch-count 64 ") && many.contains("times 128/64"), "{many}");
}

#[test]
fn several_kernels_are_one_word_for_the_shell() {
    let text = "multisplit: {keys: 1Ki, buckets: 32, method: dms}\nbackend: cuda\nchart: {x: buckets}\n";
    let source = Source::of_file("split.yaml", text);
    let plan = source.resolve(&Overrides::default()).expect("a recipe");
    let origin = Origin { recipe: source.path, overrides: Overrides::default(), plan, stored: None };
    let told = describe(&subject(&origin, &origin.plan.cases[0]).expect("a case that exists")).join("\n");
    assert!(
        told.contains("--kernel-name 'regex:^(prescan_window_5|spine_add_u32|dms_window_5)$' "),
        "{told}"
    );
}

#[test]
fn two_runs_of_perf_differ_in_their_samples() {
    let cpu = text(&origin(Overrides::default()), "cpu", None);
    assert_eq!(cpu.matches("perf stat -e cycles,instructions,").count(), 2, "{cpu}");
    assert!(cpu.contains("--set measure.samples=1 ") && cpu.contains("--set measure.samples=901 "), "{cpu}");
    assert!(cpu.contains("loads 12.0 MiB reach memory"), "{cpu}");
    let comments = cpu.lines().filter(|line| line.starts_with("# "));
    assert!(comments.count() > 8, "{cpu}");
}

#[test]
fn what_the_command_line_changed_comes_along() {
    let set = vec![("tuples".to_owned(), "1Ki..2Ki x2".to_owned()), ("chart.panels".into(), "tuples".into())];
    let overrides = Overrides { set, backends: vec!["cpu".into(), "scalar".into()], ..Overrides::default() };
    let origin = origin(overrides.clone());
    let cpu = text(&origin, "cpu", None);
    assert!(
        cpu.contains("--backend cpu,scalar --set 'tuples=1Ki..2Ki x2' --set chart.panels=tuples"),
        "{cpu}"
    );
    assert_eq!(of_words(&origin.plan.overrides).expect("overrides"), overrides);
}

#[test]
fn a_case_is_found_by_its_first_digits_and_by_its_label() {
    let Origin { plan, .. } = origin(Overrides::default());
    let first = &plan.cases[0];
    let label = plan.experiments[first.experiment].label(first);
    for word in [&first.id[..7], &label] {
        let found = called(&plan, word).expect("a case");
        assert_eq!(found.iter().map(|case| &case.id).collect::<Vec<_>>(), [&first.id], "{word}");
    }
    for word in ["", "xyz"] {
        assert!(called(&plan, word).is_err_and(|error| error.to_string().starts_with("no case `")), "{word}");
    }
}

/// Whether a kernel-name filter (a single name, a prefix, or a list of both) names a kernel in each of its parts.
fn names_kernels(filter: &str, kernels: &BTreeSet<&str>) -> bool {
    let begins = |beginning: &str| kernels.iter().any(|kernel| kernel.starts_with(beginning));
    let Some(beginning) = filter.strip_prefix("regex:^") else { return kernels.contains(filter) };
    let Some(all) = beginning.strip_prefix('(').and_then(|rest| rest.strip_suffix(")$")) else {
        return begins(beginning);
    };
    all.split('|').all(|name| name.strip_suffix(".*").map_or(kernels.contains(name), begins))
}

/// The kernel names exist in the PTX that is checked in.
#[test]
fn every_timed_kernel_is_in_the_ptx() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/ptx");
    let files = std::fs::read_dir(folder).expect("the folder").map(|file| file.expect("an entry").path());
    let ptx: Vec<String> = files.map(|file| std::fs::read_to_string(file).expect("a file")).collect();
    let entries = ptx
        .iter()
        .flat_map(|text| text.lines())
        .filter_map(|line| Some(line.strip_prefix(".visible .entry ")?.split_once('(')?.0));
    let kernels: BTreeSet<&str> = entries.collect();
    let plan = suite(Suite::Small, "cuda", None, 1).expect("the suite");
    let mut names = BTreeSet::new();
    // The suite also has cases with no tuples or keys, for which nothing is launched.
    let empty = |case: &Case| ["tuples", "keys"].iter().any(|key| case.params.int(key) == Some(0));
    for case in plan.cases.iter().filter(|case| case.not_applicable.is_none() && !empty(case)) {
        let launched = executors::launched(case).expect("launches");
        assert!(launched.launches > 0, "{:?}", case.params.get("method").map(Value::to_string));
        names.insert(launched.kernel);
    }
    assert!(names.len() > 20, "{names:?}");
    for name in names {
        assert!(names_kernels(&name, &kernels), "{name}");
    }
}
