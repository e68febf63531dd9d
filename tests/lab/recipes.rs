//! The recipe language with the real primitives: the meaning of recipes.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use scatterlab::case::{IndexFile, IndexFiles, Value};
use scatterlab::recipe::parse;
use scatterlab::recipe::plan::{Overrides, Plan, Quantity, Scale, resolve, resolve_with};

/// Every shipped recipe, with its path from the repository's root.
fn shipped() -> Vec<(PathBuf, String)> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path()) {
            match entry.extension().is_some_and(|e| e == "yaml") {
                true => found.push(entry),
                false if entry.is_dir() => walk(&entry, found),
                false => {}
            }
        }
    }
    let mut paths = Vec::new();
    walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join("experiments"), &mut paths);
    // Profiles belong to the models' tests.
    paths.retain(|path| !path.parent().is_some_and(|folder| folder.ends_with("profiles")));
    // What a paper claims is no recipe.
    paths.retain(|path| !path.ends_with("paper.yaml"));
    paths.sort();
    paths.into_iter().map(|p| (p.clone(), fs::read_to_string(&p).expect("a text"))).collect()
}

/// The plan of a valid recipe.
fn plan(text: &str) -> Plan {
    with(text, &[], &[])
}

/// The plan of a valid recipe with overrides.
fn with(text: &str, set: &[(&str, &str)], backends: &[&str]) -> Plan {
    let set = set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let backends = backends.iter().map(|b| (*b).to_owned()).collect();
    let recipe = parse("folder/a recipe.yaml", text).unwrap_or_else(|e| panic!("{e}"));
    let overrides = Overrides { set, backends, ..Overrides::default() };
    resolve_with(&recipe, &overrides, &AnyFile).unwrap_or_else(|e| panic!("{e}"))
}

/// Any file that a recipe names exists and holds five indices, or a matrix with as many entries.
struct AnyFile;

impl IndexFiles for AnyFile {
    fn look(&self, path: &str, column: Option<&str>) -> Result<IndexFile, String> {
        let (path, column, hash) = (path.to_owned(), column.map(str::to_owned), "0123456789abcdef".repeat(4));
        let matrix = path.contains(".mtx").then_some([5, 81, 5]);
        Ok(IndexFile { path, column, hash, length: 5, largest: 80, matrix, source: None, copy: None })
    }

    fn indices(&self, _file: &IndexFile) -> Result<Vec<u64>, String> {
        Ok(vec![0, 20, 40, 60, 80])
    }
}

fn ids(plan: &Plan) -> Vec<&str> {
    plan.cases.iter().map(|c| c.id.as_str()).collect()
}

/// Names, lengths and scales of the axes of the first experiment.
fn axes(plan: &Plan) -> Vec<(&str, usize, Scale)> {
    plan.experiments[0].axes.iter().map(|a| (a.name.as_str(), a.values.len(), a.scale)).collect()
}

#[test]
fn every_shipped_recipe_resolves() {
    let recipes = shipped();
    assert!(recipes.len() >= 10);
    for (path, text) in recipes {
        let recipe = parse(&path.display().to_string(), &text).unwrap_or_else(|e| panic!("{e}"));
        let plan = resolve(&recipe, &Overrides::default()).unwrap_or_else(|e| panic!("{e}"));
        let distinct: HashSet<&str> = ids(&plan).into_iter().collect();
        assert_eq!(distinct.len(), plan.cases.len(), "{}", path.display());
        let slugs: HashSet<&str> = plan.experiments.iter().map(|e| e.slug.as_str()).collect();
        assert_eq!(slugs.len(), plan.experiments.len(), "{}", path.display());
        let again: Plan = serde_json::from_str(&serde_json::to_string(&plan).expect("JSON")).expect("a plan");
        assert_eq!(again, plan, "{}", path.display());
    }
}

const PASSES: &str = "\
title: Multi-pass scatter, by number of passes
paper: {key: he2007, figure: 9, claim: 16 passes suit a G80 best}
scatter: {method: {multipass: {passes: 1..64 x2}}, tuples: 16Mi, tuple: 8B, locations: random}
backend: [cpu, cuda]
chart: {x: passes, y: time, lines: backend}
";

#[test]
fn passes_of_he2007() {
    let plan = plan(PASSES);
    let experiment = &plan.experiments[0];
    assert_eq!(experiment.slug, "multi-pass-scatter-by-number-of-passes");
    assert_eq!(experiment.paper.as_ref().and_then(|p| p.figure.as_deref()), Some("9"));
    assert_eq!(
        (experiment.chart.x.as_str(), experiment.chart.y),
        ("method.multipass.passes", Quantity::Time)
    );
    assert_eq!(axes(&plan), [("passes", 7, Scale::Log), ("backend", 2, Scale::Category)]);
    assert_eq!((plan.cases.len(), plan.cases[0].seed), (14, 1));
    let params = &plan.cases[3].params;
    assert_eq!((params.text("backend"), params.int("method.multipass.passes")), (Some("cuda"), Some(2)));
    assert_eq!(
        (params.int("tuples"), params.int("tuple"), params.int("index")),
        (Some(1 << 24), Some(8), Some(4))
    );
    assert_eq!(plan.cases[2].params.text("backend.cpu.threads"), Some("auto"));
    assert_eq!(plan.cases[3].params.get("backend.cpu.threads"), None);
}

#[test]
fn strides_of_lavin2020() {
    let plan = plan(
        "title: Uniform stride, gather and scatter\n\
         paper: {key: lavin2020, figure: 3, claim: bandwidth halves with each doubling up to stride 8}\n\
         pattern:\n  kernel: [gather, scatter]\n  uniform: {length: 8, stride: 1..128 x2}\n  \
         delta: no-reuse\n  footprint: 2GB\n\
         backend: [scalar, cpu]\n\
         chart: {x: stride, y: bandwidth, lines: [kernel, backend]}\n\
         measure: {rounds: 5}\n",
    );
    let expected =
        [("kernel", 2, Scale::Category), ("stride", 8, Scale::Log), ("backend", 2, Scale::Category)];
    assert_eq!(axes(&plan), expected);
    assert_eq!(plan.cases.len(), 32);
    let params = &plan.cases[31].params;
    assert_eq!((params.text("source"), params.int("source.uniform.stride")), (Some("uniform"), Some(128)));
    assert_eq!((params.text("delta"), params.int("footprint")), (Some("no-reuse"), Some(2_000_000_000)));
    assert_eq!((plan.experiments[0].measure.rounds, plan.experiments[0].measure.samples), (5, 5));
}

/// A change here breaks the resuming and comparing of stored runs: raise the identity's version deliberately
/// instead.
#[test]
fn a_case_keeps_its_identity() {
    assert_eq!(ids(&plan(PASSES))[..2], ["d90c4480cbbb", "93b053f0a487"]);
}

#[test]
fn the_identity_is_what_is_computed_and_nothing_else() {
    let other = plan(
        "chart: {lines: backend, x: passes, y: bandwidth}\n\
         backend: [cpu, cuda]\nmeasure: {rounds: 2}\n\
         scatter: {locations: random, tuples: 16384Ki, method: {multipass: {passes: [1, 2, 4, 8, 16, 32, 64]}}}\n",
    );
    let sorted =
        |plan: &Plan| ids(plan).into_iter().map(str::to_owned).collect::<std::collections::BTreeSet<_>>();
    assert_eq!(sorted(&other), sorted(&plan(PASSES)));
    assert_eq!((other.title.as_str(), other.experiments[0].slug.as_str()), ("a recipe", "a-recipe"));
    let reseeded = with(PASSES, &[("seed", "2")], &[]);
    assert!(sorted(&reseeded).is_disjoint(&sorted(&other)));
    assert_eq!(other.recipe_hash.len(), 64);
}

#[test]
fn a_parameter_of_a_variant_exists_in_its_cases_only() {
    let plan = plan(
        "scatter: {method: [direct, {multipass: {passes: 1..64 x2}}, {segmented: {segments: 8, passes: 16}}], \
         tuples: 1Mi}\nbackend: cpu\nchart: {x: multipass.passes, lines: [method, threads]}\n",
    );
    assert_eq!(plan.cases.len(), 9);
    assert_eq!(axes(&plan), [("method", 3, Scale::Category), ("passes", 7, Scale::Log)]);
    assert_eq!(plan.cases.iter().filter(|c| c.params.get("method.multipass.passes").is_some()).count(), 7);
    assert_eq!(plan.cases[0].params.text("method"), Some("direct"));
    assert_eq!(plan.experiments[0].chart.lines, ["method", "backend.cpu.threads"]);
}

#[test]
fn an_axis_is_named_by_as_many_words_as_it_needs() {
    let plan = plan(
        "scatter: {method: [{multipass: {passes: [1, 2]}}, {segmented: {segments: 8, passes: [3, 9, 27]}}], \
         tuples: 1Mi}\nbackend: cpu\nchart: {x: multipass.passes, lines: method, panels: segmented.passes}\n",
    );
    let names: Vec<&str> = axes(&plan).iter().map(|a| a.0).collect();
    assert_eq!(names, ["method", "multipass.passes", "segmented.passes"]);
    assert_eq!([axes(&plan)[1].2, axes(&plan)[2].2], [Scale::Linear, Scale::Log]);
}

#[test]
fn a_main_parameter_is_called_by_its_variant() {
    let text = "gather: {locations: [random, {partitions: 1..4096 x8}, {zipf: 0.5..1.5 +0.25}], tuples: 1Mi}\n\
                backend: {cpu: {threads: [1, auto]}}\n\
                chart: {x: partitions, lines: [locations, threads], panels: zipf}\n";
    let plan = plan(text);
    let expected = [
        ("locations", 3, Scale::Category),
        ("partitions", 5, Scale::Log),
        ("zipf", 5, Scale::Linear),
        ("threads", 2, Scale::Category),
    ];
    assert_eq!(axes(&plan), expected);
    assert_eq!(plan.experiments[0].axes[2].values[2], Value::Float(1.0));
    assert_eq!(plan.cases.len(), 22);
}

#[test]
fn lists_mix_values_and_ranges_and_repeats_count_once() {
    let plan = plan(
        "gather: {tuples: [1Ki..4Ki x2, 10k, 1024], tuple: [4B, 8B]}\nbackend: cpu\nchart: {x: tuples, lines: tuple}\n",
    );
    assert_eq!(axes(&plan), [("tuples", 4, Scale::Linear), ("tuple", 2, Scale::Linear)]);
    assert_eq!(plan.experiments[0].axes.iter().map(|a| a.bytes).collect::<Vec<_>>(), [false, true]);
    assert_eq!(plan.cases.len(), 8);
}

#[test]
fn cases_zip() {
    let plan = plan(
        "pattern:\n  cases:\n    - {app: PENNANT-G0, count: 8}\n    - {app: LULESH-S3, count: 9}\n  \
         wrap: [1, 2]\nbackend: cpu\nchart: {x: app, lines: wrap}\n",
    );
    assert_eq!(axes(&plan), [("app", 2, Scale::Category), ("wrap", 2, Scale::Linear)]);
    let pairs: Vec<_> =
        plan.cases.iter().map(|c| (c.params.text("source.app.name"), c.params.int("count"))).collect();
    let (p, l) = ((Some("PENNANT-G0"), Some(8)), (Some("LULESH-S3"), Some(9)));
    assert_eq!(pairs, [p, p, l, l]);
}

#[test]
fn experiments_inherit_and_repeat_cases_under_their_number() {
    let plan = plan(
        "title: Both\npaper: {key: he2007, figure: 1}\nseed: 7\nbackend: scalar\nmeasure: {rounds: 2}\n\
         chart: {x: tuples}\nexperiments:\n  - gather: {tuples: 1Ki}\n  \
         - {gather: {tuples: [1Ki, 2Ki]}, title: Second, paper: {claim: c}, measure: {samples: 3}, seed: 7}\n  \
         - {gather: {tuples: 1Ki}, seed: 8, backend: cpu}\n",
    );
    let titles: Vec<&str> = plan.experiments.iter().map(|e| e.title.as_str()).collect();
    assert_eq!(titles, ["Both", "Second", "Both"]);
    let slugs: Vec<&str> = plan.experiments.iter().map(|e| e.slug.as_str()).collect();
    assert_eq!(slugs, ["both", "second", "both-2"]);
    let second = &plan.experiments[1];
    let paper = second.paper.as_ref().expect("a paper");
    assert_eq!((paper.figure.as_deref(), paper.claim.as_deref()), (Some("1"), Some("c")));
    assert_eq!((second.measure.rounds, second.measure.samples), (2, 3));
    let of: Vec<(usize, u64)> = plan.cases.iter().map(|c| (c.experiment, c.seed)).collect();
    assert_eq!(of, [(0, 7), (1, 7), (1, 7), (2, 8)]);
    assert_eq!(plan.cases[1].id, format!("{}-2", plan.cases[0].id));
    assert_eq!(plan.cases[0].params, plan.cases[1].params);
    assert_eq!(plan.cases[0].id.len(), 12);
}

#[test]
fn what_a_method_cannot_do_is_not_applicable() {
    let plan = plan(
        "stream: {kernel: copy, elements: 1Ki, method: [direct, streaming]}\nbackend: [cpu, cuda]\n\
         chart: {x: method, lines: backend, relative-to: {method: direct}}\n",
    );
    let reasons: Vec<bool> = plan.cases.iter().map(|c| c.not_applicable.is_some()).collect();
    assert_eq!(reasons, [false, false, false, true]);
    let baseline = ("method".to_owned(), Value::Text("direct".to_owned()));
    assert_eq!(plan.experiments[0].chart.relative_to, Some(baseline));
}

#[test]
fn anchors_choices_and_index_lists() {
    let plan = plan(
        "pattern: {kernel: gs, gather: {custom: &p [0, 8, 16]}, scatter: {custom: [*p, [0, 1, 2]]}, count: 4}\n\
         backend: [scalar, {cpu: {threads: [1, 2], isa: avx512}}]\n\
         chart: {x: threads, lines: backend, panels: scatter.custom}\n",
    );
    assert_eq!(plan.cases.len(), 6);
    assert_eq!(plan.cases[0].params.indices("gather.custom.indices"), Some(&vec![0, 8, 16].into()));
    assert_eq!(plan.cases[5].params.indices("scatter.custom.indices"), Some(&vec![0, 1, 2].into()));
}

#[test]
fn backends_from_the_command_line_keep_their_parameters() {
    let text =
        "gather: {tuples: [1Ki, 2Ki]}\nbackend: {cpu: {threads: 2, isa: scalar}}\nchart: {x: tuples}\n";
    let plan = with(text, &[], &["scalar", "cpu"]);
    assert_eq!(plan.cases.len(), 4);
    assert_eq!(plan.cases[1].params.int("backend.cpu.threads"), Some(2));
    assert_eq!(plan.experiments[0].chart.lines, ["backend"], "an axis of the command line becomes lines");
    let fewer = with(PASSES, &[], &["cuda"]);
    assert_eq!((fewer.cases.len(), axes(&fewer).len()), (7, 1));
}

#[test]
fn keys_from_the_command_line() {
    let set = |set: &[(&str, &str)]| with(PASSES, set, &["cpu"]);
    assert_eq!(set(&[("passes", "4")]).cases.len(), 1);
    assert_eq!(set(&[("method.multipass.passes", "[4, 8]")]).cases.len(), 2);
    assert_eq!(set(&[("scatter.tuples", "1Ki..4Ki x2")]).cases.len(), 21);
    assert_eq!(set(&[("threads", "2")]).cases[0].params.int("backend.cpu.threads"), Some(2));
    assert_eq!(set(&[("method", "direct"), ("chart.x", "tuples")]).cases.len(), 1);
    let measure = set(&[("measure.rounds", "1"), ("measure.samples", "2")]).experiments[0].measure;
    assert_eq!((measure.rounds, measure.samples), (1, 2));
    let pattern =
        "pattern: {uniform: {length: 8, stride: 2}, footprint: 1GB}\nbackend: cpu\nchart: {x: wrap}\n";
    let changed = with(pattern, &[("footprint", "null"), ("count", "9"), ("app", "AMG-G0")], &[]);
    let params = &changed.cases[0].params;
    assert_eq!((params.get("footprint"), params.int("count")), (None, Some(9)));
    assert_eq!((params.text("source"), params.get("source.uniform.length")), (Some("app"), None));
}

#[test]
fn the_examples_of_the_documentation_are_recipes() {
    let text = include_str!("../../docs/recipes.md");
    let blocks: Vec<&str> = text.split("```yaml\n").skip(1).filter_map(|b| b.split("```").next()).collect();
    assert!(blocks.len() >= 4);
    for block in blocks {
        assert!(!plan(block).cases.is_empty(), "{block}");
    }
}

/// A list of deltas is one value; only the list around it sweeps.
#[test]
fn a_list_of_deltas_does_not_sweep() {
    let text = "pattern: {kernel: gather, custom: [0, 1], count: 4, label: mine, delta: [8, no-reuse, {list: [8, 8, 2Ki]}]}\n\
                backend: [scalar, {cuda: {device: [0, 1]}}]\nchart: {x: delta, lines: [backend, device]}\nmeasure: {warm-up: 10}\n";
    let recipe = parse("r.yaml", text).expect("a recipe");
    let plan = resolve(&recipe, &Overrides::default()).expect("a plan");
    assert_eq!((plan.cases.len(), plan.experiments[0].measure.warm_up), (9, Some(10)));
    let lists =
        plan.cases.iter().filter(|case| case.params.indices("delta") == Some(&vec![8, 8, 2048].into()));
    assert_eq!(lists.count(), 3);
    let on_second = plan.cases.iter().filter(|case| case.params.int("backend.cuda.device") == Some(1));
    assert!(
        on_second.clone().count() == 3
            && on_second.map(|case| &case.params).all(|p| p.text("label") == Some("mine"))
    );
    for (wrong, message) in [
        ("{list: []}", "pattern.delta.list: expected a list of indices"),
        ("{list: [8, -1]}", "pattern.delta.list: expected a count"),
        ("{lists: [8]}", "unknown key `lists`"),
        ("{list: [281474976710656]}", "pattern.delta.list: 262144Gi is out of range"),
        ("{}", "`list`"),
    ] {
        let text = format!(
            "pattern: {{custom: [0], count: 1, delta: {wrong}}}\nbackend: cpu\nchart: {{x: count}}\n"
        );
        let error = parse("r.yaml", &text).expect_err(wrong).to_string();
        assert!(error.contains(message) && error.starts_with("r.yaml:1:"), "{wrong}: {error}");
    }
}
