//! Tests of the figures with runs of the shipped recipes and invented times.

use super::lookup::Subject;
use super::*;
use crate::case::{Availability, Cache, Case, Device, Snapshot, Value};
use crate::engine::environment::fact_names::PREFETCHERS;
use crate::engine::protocol::{Environment, Event};
use crate::inputs::applications::{self, Use};
use crate::recipe::plan::Overrides;
use crate::report::csv::tests::{finished_in, finished_with};
use crate::report::svg::tests::{device, environment};
use crate::report::verdicts::Pictured;
use crate::run::layout::{Manifest, SCHEMA};
use crate::run::{Ledger, Record};

/// A run of a shipped recipe with all cases certified.
struct Run {
    name: String,
    manifest: Manifest,
    ledger: Ledger,
}

impl Run {
    fn of(recipe: &str, name: &str) -> Run {
        Run::on(recipe, name, environment())
    }

    fn on(recipe: &str, name: &str, environment: Environment) -> Run {
        let ledger = finished_in(&format!("{recipe}.yaml"), seconds);
        let available = |backend: &str, name: &str| Device {
            availability: Availability::Available,
            ..device(backend, name)
        };
        let devices = vec![
            available("scalar", "AMD EPYC 7742 64-Core Processor"),
            available("cpu", "AMD EPYC 7742 64-Core Processor"),
            available("cuda", "NVIDIA H200"),
        ];
        let manifest = Manifest {
            schema: SCHEMA,
            version: "0.0.7".to_owned(),
            revision: "unknown".to_owned(),
            started: "2026-11-20 12:00:00".to_owned(),
            command_line: Vec::new(),
            environment,
            devices,
            plan: ledger.plan().clone(),
            redacted: false,
        };
        Run { name: name.to_owned(), manifest, ledger }
    }

    fn named(&self) -> NamedRun<'_> {
        let side = crate::report::judge::Side { manifest: &self.manifest, ledger: &self.ledger };
        let water = self.ledger.plan().cases.iter().filter(|case| case.primitive == "shallow-water");
        let pictures = water.flat_map(|case| (0..9).map(move |step| waves(case, step))).collect();
        NamedRun { pictures, ..NamedRun::new(self.name.clone(), side) }
    }

    fn case(&self, is: impl Fn(&Case) -> bool) -> String {
        self.ledger.plan().cases.iter().find(|case| is(case)).expect("such a case").id.clone()
    }

    fn fail(&mut self, case: String) {
        let error = "wrong result: word 17 holds 3, not 4".to_owned();
        self.ledger.apply(&Event::Failed { seq: 1 << 20, case, round: 0, error, lost: false });
    }
}

/// A wave that moves with the steps.
fn waves(case: &Case, step: u16) -> Pictured {
    let values = (0..64 * 48).map(|at: u16| 0.1 * (f32::from(at % 64 + 3 * step) * 0.3).sin()).collect();
    let picture = Snapshot::Field {
        what: "height".to_owned(),
        when: format!("step {step}"),
        columns: 64,
        rows: 48,
        values,
    };
    Pictured { case: case.id.clone(), picture }
}

/// About 2 GB/s on one thread, 16 on several, 2000 on the GPU; varied by up to a third from case to case.
fn seconds(case: &Case) -> f64 {
    let digits = f64::from(u32::from_str_radix(&case.id[..4], 16).expect("hexadecimal")) / 65536.0;
    let work = crate::primitives::find(&case.primitive).and_then(|p| p.work(&case.params).ok());
    let speed = match case.place().0 {
        "cuda" => 2e12,
        "cpu" => 16e9,
        _ => 2e9,
    };
    work.map_or(1.0, |work| work.effective_bytes as f64) / speed * (0.7 + 0.6 * digits)
}

fn draw(name: &str, runs: &[&Run]) -> Result<Drawn> {
    let named: Vec<NamedRun> = runs.iter().map(|run| run.named()).collect();
    let drawn = find(name)?.draw(&named)?;
    if let Some(folder) = std::env::var_os("SCATTERLAB_CHARTS") {
        let file = format!("{}.{}", name.replace('/', "-"), find(name)?.extension);
        std::fs::write(std::path::Path::new(&folder).join(file), &drawn.document)?;
    }
    Ok(drawn)
}

/// Runs of the figure's own recipes.
fn own_runs(figure: &Figure) -> Vec<Run> {
    figure.recipes.iter().map(|recipe| Run::of(recipe, recipe)).collect()
}

fn rows(drawn: &Drawn) -> Vec<std::collections::HashMap<String, String>> {
    let mut reader = ::csv::Reader::from_reader(drawn.table.as_bytes());
    reader.deserialize().collect::<Result<_, _>>().expect("rows with the header's columns")
}

#[test]
fn each_figure_is_drawn_from_its_own_recipes() {
    for figure in FIGURES.iter() {
        let runs = own_runs(figure);
        let drawn = draw(&figure.name, &runs.iter().collect::<Vec<_>>()).expect(&figure.name);
        let paper = format!("{}, ", figure.name.split_once('/').expect("a paper").0);
        assert!(drawn.document.contains(&paper), "{}", figure.name);
        assert_eq!(drawn.document.contains("2026-11-20 12:00:00"), !runs.is_empty(), "{}", figure.name);
        let device = ["NVIDIA H200", "AMD EPYC 7742"].iter().any(|device| drawn.document.contains(device));
        assert_eq!(device, !runs.is_empty(), "{}", figure.name);
        let bare = ["sengupta2007/plate1", "ashkiani2017/fig05", "lavin2020/fig07", "lavin2020/fig08"]
            .contains(&&*figure.name);
        let bars = figure.extension == "svg" && !bare;
        assert_eq!(drawn.document.contains("bars:"), bars, "{}: a radar has none", figure.name);
        assert!(!drawn.document.contains("NaN") && !drawn.document.contains("inf,"), "{}", figure.name);
        assert!(!rows(&drawn).is_empty(), "{}", figure.name);
        let again = draw(&figure.name, &runs.iter().collect::<Vec<_>>()).expect("again");
        assert_eq!(drawn.document, again.document, "the same bytes");
    }
}

#[test]
fn a_figure_is_found_without_its_paper_where_only_one_has_it() {
    for (name, found) in
        [("fig04", Some("lavin2020/fig04")), ("table11", Some("ashkiani2017/table11")), ("fig05", None)]
    {
        assert_eq!(find(name).map(|found| &*found.name).ok(), found, "three papers have a figure 5");
    }
    let error = find("fig7").expect_err("no such figure").to_string();
    assert!(error.contains("sengupta2007/plate1, sengupta2007/table01, ashkiani2017/fig05, "), "{error}");
}

#[test]
fn the_recipes_that_figures_name_are_shipped() {
    for recipe in FIGURES.iter().flat_map(|figure| &*figure.recipes) {
        assert!(crate::recipe::shipped::find(recipe).is_some(), "{recipe}");
    }
}

#[test]
fn a_figure_that_measures_nothing_takes_no_runs() {
    let run = Run::of("lavin2020/fig03-cpu-stride", "run");
    let error = draw("ashkiani2017/fig05", &[&run]).expect_err("nothing to do with it").to_string();
    assert_eq!(error, "ashkiani2017/fig05: it is not measured and takes no runs");
}

#[test]
fn what_failed_is_told_and_never_a_point() {
    let mut run = Run::of("lavin2020/fig03-cpu-stride", "run");
    let wanted = |case: &Case| {
        let params = &case.params;
        case.backend() == "cpu"
            && params.int("source.uniform.stride") == Some(8)
            && params.text("kernel") == Some("gather")
            && params.int("footprint") == Some(2_000_000_000)
    };
    let case = run.case(wanted);
    run.fail(case.clone());
    let drawn = draw("lavin2020/fig03", &[&run]).expect("a figure");
    assert!(drawn.document.contains("failed: cpu: wrong result: word 17 holds 3, not 4"));
    let rows = rows(&drawn);
    let failed: Vec<_> = rows.iter().filter(|row| row["status"] == "failed").collect();
    let [failed] = failed[..] else { panic!("{failed:?}") };
    let found = ["line", "x", "y", "reason", "case"].map(|column| failed[column].as_str());
    assert_eq!(found, ["gather, cpu", "8", "", "wrong result: word 17 holds 3, not 4", &*case]);
    assert_eq!(rows.iter().filter(|row| row["status"] == "measured").count(), rows.len() - 1);
}

/// A figure's cases are found by their identity where another recipe measured them, a run of the figure's own recipe is
/// drawn with the sizes that the command line chose, and the chart is that of the run's report.
#[test]
fn charts_are_drawn_from_whatever_runs_have_their_cases() {
    let run = splits(&[]);
    let drawn = draw("ashkiani2017/table05", &[&run]).expect("a table");
    let (records, copies) = (run.ledger.records(), run.ledger.references());
    for experiment in 0..2 {
        let data = crate::report::series::charted(run.ledger.plan(), experiment, records, Some(copies));
        let own =
            crate::report::svg::render(&data, &crate::report::svg::Caption::default()).expect("a chart");
        let points = |svg: &str| svg.matches("<polygon").count() + svg.matches("<circle").count();
        assert!(
            points(&drawn.document) >= points(&own) && drawn.document.contains(&data.title),
            "{}",
            data.title
        );
    }
    let small = splits(&[("keys", "1Mi")]);
    let printed = rows(&drawn).iter().filter(|row| row["status"] == "published").count();
    let cases = rows(&draw("ashkiani2017/table05", &[&small]).expect("a table")).len();
    assert_eq!(cases + printed, rows(&drawn).len());
    let stages = rows(&draw("ashkiani2017/table04", &[&run]).expect("its cases"));
    let measured = stages.iter().filter(|row| row["run"] == "run" && row["status"] == "measured").count();
    assert_eq!((measured, stages.len() - measured), (2 * 3 * 5, 2 * 3 * 4), "ours, and the paper's four");
    assert!(draw("ashkiani2017/table04", &[&small]).is_err(), "of other sizes");
}

#[test]
fn several_runs_are_lines_each() {
    let [a, b] = ["a", "b"].map(|name| Run::of("lavin2020/fig05-gpu-stride", name));
    let drawn = draw("lavin2020/fig05", &[&a, &b]).expect("a figure");
    for words in [">\nA, gather", ">\nB, scatter", "A: a · ", "B: b · "] {
        assert!(drawn.document.contains(words), "{words}");
    }
    assert!(!drawn.document.contains("baseline"));
    let rows = rows(&drawn);
    assert_eq!(rows.len(), 2 * 2 * 2 * 8, "two runs, two kernels and two sizes of blocks");
    assert!(rows.iter().all(|row| row["line"].to_lowercase().starts_with(&row["run"])));
}

#[test]
fn prefetching_has_the_papers_two_panels_from_one_measurement() {
    let [on, off] = ["on", "off"].map(|name| Run::of("lavin2020/fig04-prefetch", name));
    assert_eq!(on.ledger.measured().count(), 8);
    let drawn = draw("lavin2020/fig04", &[&on, &off]).expect("a figure");
    let measured = |quantity: &str| {
        let rows = rows(&drawn);
        rows.into_iter()
            .filter(|row| row["quantity"] == quantity)
            .map(|row| row["run"].clone())
            .collect::<Vec<_>>()
    };
    let (plain, ratio) = (
        measured("Effective bandwidth (GB/s), best of samples"),
        measured("Effective bandwidth: ratio to stride 1, best of samples"),
    );
    assert_eq!((plain.len(), ratio.len()), (2 * 8, 2 * 7), "stride 1 is the baseline");
    assert!(drawn.document.contains("lavin2020, figure 4 claims: "), "whose claim it is");
}

#[test]
fn runs_without_the_cases_are_answered_with_the_recipe() {
    let strides = Run::of("lavin2020/fig03-cpu-stride", "strides");
    for (name, expected) in [
        ("lavin2020/fig05", "scatterlab run lavin2020/fig05-gpu-stride"),
        ("lavin2020/fig06", "scatterlab run lavin2020/fig06-simd"),
        ("lavin2020/fig07", "scatterlab run lavin2020/app-patterns lavin2020/fig09-references"),
        ("lavin2020/table04", "scatterlab run lavin2020/app-patterns lavin2020/fig09-references"),
    ] {
        let error = draw(name, &[&strides]).expect_err(name).to_string();
        assert!(error.starts_with(name) && error.contains(expected), "{error}");
    }
    let patterns = Run::of("lavin2020/app-patterns", "patterns");
    let error = draw("lavin2020/fig07", &[&patterns]).expect_err("no stride 1").to_string();
    assert!(error.contains("no baseline: stride-1 gather (n/a: not in these runs)"), "{error}");
}

/// A run of every method and of the sorts, in which the sort of whole keys takes five times as long.
fn splits(overrides: &[(&str, &str)]) -> Run {
    let slow = |case: &Case| {
        let last = case.peer() == Some("cub-sort");
        seconds(case) * if last { 5.0 } else { 1.0 }
    };
    let mut run = Run::of("ashkiani2017/table05-speedups", "run");
    let set = overrides.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let overrides = Overrides { set, ..Overrides::default() };
    run.ledger = finished_with("ashkiani2017/table05-speedups.yaml", &overrides, slow);
    run.manifest.plan = run.ledger.plan().clone();
    run
}

/// The record of the case with this identity.
fn record<'a>(run: &'a Run, id: &str) -> &'a Record {
    run.ledger.records().iter().find(|record| record.case.id == id).expect("the case")
}

#[test]
fn speed_ups_are_the_sorts_times_over_the_methods() {
    let run = splits(&[]);
    let drawn = draw("ashkiani2017/fig07", &[&run]).expect("a figure");
    let found = rows(&drawn);
    let of = |status: &str| found.iter().filter(|row| row["status"] == status).collect::<Vec<_>>();
    let median = |record: &Record| record.statistics.as_ref().expect("measured").median;
    for row in of("measured") {
        let own = record(&run, &row["case"]);
        let params = |key| (own.case.params.get(key).cloned(), key);
        let same = |case: &Case| {
            ["buckets", "values"].map(params).iter().all(|(v, k)| case.params.get(k) == v.as_ref())
        };
        let sort = run.case(|case| case.backend() == "peer:cub-sort" && same(case));
        let ratio = median(record(&run, &sort)) / median(own);
        assert!((row["y"].parse::<f64>().expect("a number") / ratio - 1.0).abs() < 1e-12, "{row:?}");
        assert_eq!(row["quantity"], "Throughput: ratio to cub-sort");
    }
    assert_eq!(of("measured").len(), 5 * 2 * 8, "five methods, keys and pairs, 2 to 256 buckets");
    let published = of("published");
    assert_eq!(published.len(), 2 * (5 + 5 + 8 + 8));
    let wms = published.iter().find(|row| row["line"] == "wms, cuda" && row["panel"] == "values = none");
    let wms = wms.expect("the first of them");
    // Printed as 5.6.
    assert_eq!(
        (&wms["x"], &wms["y"][..4], &*wms["reason"]),
        (&"2".to_owned(), "5.55", "GTX 1080 (ashkiani2017)")
    );
    assert!(drawn.document.contains("GTX 1080 (ashkiani2017), not measured here"));
}

#[test]
fn times_stand_beside_the_papers_of_as_many_keys() {
    let drawn = draw("ashkiani2017/fig06", &[&splits(&[])]).expect("a figure");
    let found = rows(&drawn);
    let published = found.iter().filter(|row| row["status"] == "published");
    let bms =
        published.clone().find(|row| row["line"] == "bms, cuda" && row["x"] == "32").expect("the paper's");
    // 2.02 ms in Table 4 of the paper.
    assert_eq!((bms["y"].as_str(), published.count()), ("0.0020165", 2 * (5 + 5 + 8 + 8 + 8)));
    let few = draw("ashkiani2017/table05", &[&splits(&[("keys", "1Mi")])]).expect("a table");
    let measured = rows(&few).iter().all(|row| row["status"] != "published");
    assert!(measured, "nobody knows the paper's times of 2^20");
}

#[test]
fn without_the_sort_there_is_no_speed_up() {
    let mut run = splits(&[("peers", "cub-radix-sort")]);
    let error = draw("ashkiani2017/fig07", &[&run]).expect_err("no baseline").to_string();
    assert!(error.contains("there is no result (no baseline: cuda (80 cases))"), "{error}");
    assert!(error.ends_with("scatterlab run ashkiani2017/fig07-speedups"), "{error}");
    run = splits(&[]);
    let is = |case: &Case| {
        let sort = case.peer() == Some("cub-sort");
        sort && case.params.int("buckets") == Some(8) && case.params.text("values") == Some("none")
    };
    let case = run.case(is);
    run.fail(case);
    let drawn = draw("ashkiani2017/fig07", &[&run]).expect("the others");
    let rows = rows(&drawn);
    let lacking: Vec<&String> =
        rows.iter().filter(|row| row["status"] == "no baseline").map(|row| &row["x"]).collect();
    assert_eq!(lacking, vec!["8"; 5]);
}

/// The values of radars are fractions of the stride-1 case of the same platform.
#[test]
fn runs_of_a_machine_complete_each_other() {
    let [patterns, references] =
        ["lavin2020/app-patterns", "lavin2020/fig09-references"].map(|recipe| Run::of(recipe, recipe));
    let drawn = draw("lavin2020/fig07", &[&patterns, &references]).expect("a figure");
    let found = rows(&drawn);
    assert_eq!(found.len(), 29 * 3);
    let bandwidth = |run: &Run, id: &str| {
        let record = run.ledger.records().iter().find(|r| r.case.id == id).expect("the case");
        let fastest = record.statistics.as_ref().expect("measured").min;
        record.quantity_at(crate::recipe::plan::Quantity::Bandwidth, fastest).expect("measured")
    };
    for row in &found {
        let ratio = bandwidth(&patterns, &row["case"]) / bandwidth(&references, &row["baseline"]);
        let y: f64 = row["y"].parse().expect("a number");
        assert!((y / ratio - 1.0).abs() < 1e-12, "{row:?}");
    }
    let elsewhere = Environment { host: "other".to_owned(), ..environment() };
    let elsewhere = Run::on("lavin2020/fig09-references", "elsewhere", elsewhere);
    assert!(draw("lavin2020/fig07", &[&patterns, &elsewhere]).is_err(), "another machine's stride 1");
}

#[test]
fn each_gpu_is_a_platform_of_its_own() {
    let mut run = Run::of("lavin2020/fig05-gpu-stride", "two");
    let set = [("backend", "{cuda: {device: [0, 1]}}"), ("chart.lines", "kernel")];
    let set = set.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec();
    let overrides = Overrides { set, ..Overrides::default() };
    run.ledger = finished_with("lavin2020/fig05-gpu-stride.yaml", &overrides, seconds);
    run.manifest.plan = run.ledger.plan().clone();
    run.manifest.devices.push(run.manifest.devices[2].clone());
    let labels = |run: &Run| {
        let named = [run.named()];
        platform::separate(&named).into_iter().map(|p| p.label).collect::<Vec<_>>()
    };
    assert_eq!(labels(&run), ["NVIDIA H200, device 0", "NVIDIA H200, device 1"]);
    run.manifest.devices[3].name = "NVIDIA L4".to_owned();
    assert_eq!(labels(&run), ["NVIDIA H200", "NVIDIA L4"]);
}

#[test]
fn from_three_platforms_on_they_are_the_spokes() {
    let machine = |host: &str| Environment { host: host.to_owned(), ..environment() };
    let runs: Vec<Run> = ["h1", "h2"]
        .iter()
        .flat_map(|host| {
            ["lavin2020/app-patterns", "lavin2020/fig09-references"]
                .map(|recipe| Run::on(recipe, &format!("{host}/{recipe}"), machine(host)))
        })
        .collect();
    let few = draw("lavin2020/fig08", &runs.iter().take(2).collect::<Vec<_>>()).expect("two CPUs").document;
    assert!(few.contains("CPUs (blue, round dots) and GPUs (green, triangles): a spoke for each pattern"));
    let many = draw("lavin2020/fig08", &runs.iter().collect::<Vec<_>>()).expect("four CPUs").document;
    assert!(many.contains("CPUs: a circle for each pattern, a spoke for each platform"));
    assert_eq!(many.matches(">\nLULESH-S3\n<").count(), 1 + 2, "a circle of the CPUs, a spoke of two GPUs");
}

#[test]
fn runs_between_which_the_prefetchers_were_switched_say_so() {
    let state = |state: &str| {
        let facts = vec![(PREFETCHERS.to_owned(), state.to_owned())];
        Run::on("lavin2020/fig04-prefetch", "run", Environment { facts, ..environment() })
    };
    let known = draw("lavin2020/fig04", &[&state("on"), &state("off")]).expect("a figure").document;
    assert!(known.contains(" · prefetchers on\n<") && known.contains(" · prefetchers off\n<"), "{known}");
    let unknown = state("n/a: AuthenticAMD has no MSR 0x1a4");
    let document = draw("lavin2020/fig04", &[&unknown, &unknown]).expect("a figure").document;
    assert!(!document.contains(" · prefetchers"), "{document}");
}

#[test]
fn the_table_shows_the_papers_rows_beside_and_never_a_mean_of_a_part() {
    let [mut patterns, references] =
        ["lavin2020/app-patterns", "lavin2020/fig09-references"].map(|recipe| Run::of(recipe, recipe));
    let gpu =
        |case: &Case| case.backend() == "cuda" && case.params.text("source.app.name") == Some("PENNANT-G3");
    let case = patterns.case(gpu);
    patterns.fail(case);
    let drawn = draw("lavin2020/table04", &[&patterns, &references]).expect("a table");
    let rows = rows(&drawn);
    let gpu = rows.iter().find(|row| row["platform"] == "NVIDIA H200").expect("the GPU");
    assert_eq!((gpu["pennant"].as_str(), gpu["pennant_gathers"].as_str()), ("", ""));
    assert!(!gpu["pennant_scatters"].is_empty() && !gpu["stream"].is_empty());
    assert!(drawn.document.contains("PENNANT: 1 of 17 patterns have no result, such as PENNANT-G3"));
    assert!(
        drawn.document.contains("| Pearson's R, 6 CPUs | lavin2020, table 4 | 0.18 | −0.05 | 0.60 | −0.12 |")
    );
    assert!(drawn.document.contains("CLX 94 and 66.66; TX2 241 and 120"));
    let kernels: Vec<&str> = rows.iter().map(|row| row["stream_kernel"].as_str()).collect();
    assert_eq!(kernels.iter().filter(|kernel| **kernel == "triad").count(), 3, "{kernels:?}");
}

/// What moves little stays in the caches from one execution to the next: it is drawn cold, and all else hot.
#[test]
fn few_uses_are_drawn_of_cold_caches() {
    let run = Run::of("lavin2020/app-patterns", "run");
    let named = [run.named()];
    let platform = &platform::separate(&named)[0];
    for app in &applications::TABLE_5 {
        let record = platform.find(Subject::App(app)).expect("measured").record;
        let few = record.case.params.int("count").expect("a count") < 10_000;
        assert_eq!(record.case.params.text(Cache::KEY) == Some("cold"), few, "{}", app.name);
    }
}

/// The same pattern, each time in a way that differs from the paper's and moves more bytes.
#[test]
fn only_plain_cases_stand_for_a_pattern() {
    let text = |word: &str| Value::Text(word.to_owned());
    let ways = [
        ("visits", text("random")),
        ("wrap", Value::Int(64)),
        ("delta", Value::Indices(vec![8, 4096].into())),
        ("method", text("read-only")),
        ("fence", text("release")),
        (Cache::KEY, text("cold")),
        ("backend.cuda.items", Value::Int(2)),
    ];
    for (recipe, wanted) in [
        ("lavin2020/fig09-references", Subject::Uniform { side: Use::Gather, stride: 1 }),
        ("lavin2020/app-patterns", Subject::App(applications::find("LULESH-G2").expect("a pattern"))),
    ] {
        let run = Run::of(recipe, "run");
        let named = [run.named()];
        let platform = &platform::separate(&named)[0];
        let plain = platform.find(wanted).expect("measured").record;
        let labelled = with(plain, "label", text("a name"));
        assert!(is_found(platform, wanted, &labelled), "a label changes nothing");
        for (key, value) in &ways {
            let other = with(plain, key, value.clone());
            assert!(!is_found(platform, wanted, &other), "{recipe}: {key}: {value}");
        }
    }
}

/// A case with one changed parameter, which moves more bytes than any other.
fn with(record: &Record, key: &str, value: Value) -> Record {
    let mut other = record.clone();
    other.case.params = other.case.params.with(key, value);
    other.work.as_mut().expect("work").effective_bytes = u64::MAX;
    other
}

/// Whether `other` is found for `wanted` when added to the platform's records.
fn is_found(platform: &platform::Platform, wanted: Subject, other: &Record) -> bool {
    let mut platform = platform.clone();
    platform.records.push((platform.runs[0], other));
    std::ptr::eq(platform.find(wanted).expect("the plain one").record, other)
}
