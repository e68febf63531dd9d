//! `examples/read_run.py` reads what the program has written, and its numbers are those of the program's charts.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use scatterlab::recipe::plan::Quantity;
use scatterlab::report::series::charted;
use scatterlab::run::stored::Stored;
use scatterlab_tests::program::{scatterlab, text};

fn read(folder: &Path, experiment: &str) -> Output {
    let reader = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/read_run.py");
    Command::new("python3").arg(reader).arg(folder).arg(experiment).output().expect("python3")
}

/// A committed run in this folder, without what git ignores.
fn copy(run: &str, to: &Path) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join(run);
    fs::create_dir(to).expect("a folder");
    for file in fs::read_dir(from).expect("a run").filter_map(Result::ok) {
        let name = file.file_name().into_string().expect("a name");
        if file.path().is_file() && !name.ends_with(".csv") {
            fs::copy(file.path(), to.join(name)).expect("copied");
        }
    }
}

/// The rows that the reader prints for an experiment, by column.
fn rows(folder: &Path, experiment: &str) -> Vec<BTreeMap<String, String>> {
    let output = read(folder, experiment);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let mut table = csv::Reader::from_reader(output.stdout.as_slice());
    table.deserialize().map(|row| row.expect("a row")).collect()
}

fn number(row: &BTreeMap<String, String>, column: &str) -> f64 {
    row[column].parse().unwrap_or_else(|_| panic!("{column} of {row:?}"))
}

/// Runs, and whether they have predictions. The last has plain events of the first schema with a torn line, and a failed case.
const RUNS: [(&str, bool); 4] = [
    ("reports/h200-papers/he2007-fig07", true),
    ("reports/amd-epyc-2cpus-partitioned", true),
    ("reports/h200-random", false),
    ("tests/fixtures/schema-1", false),
];

#[test]
fn a_chart_is_redrawn_with_the_same_numbers() {
    let root = tempfile::tempdir().expect("temporary folder");
    for (path, has_predictions) in RUNS {
        let folder = root.path().join(path.replace('/', "-"));
        copy(path, &folder);
        let run = Stored::open(&folder).expect("a run");
        let experiments = &run.manifest.plan.experiments;
        experiments.iter().for_each(|experiment| from_the_events(&run, &rows(&folder, &experiment.slug)));
        // With results.csv beside them, the reader has the bytes of the cases, and what models predict.
        let output = scatterlab(root.path(), &["report", folder.to_str().expect("UTF-8")]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        for (at, experiment) in experiments.iter().enumerate() {
            let rows = rows(&folder, &experiment.slug);
            from_the_events(&run, &rows);
            as_drawn(&run, at, &rows);
            assert_eq!(rows[0].contains_key("sector.predicted_s"), has_predictions, "{path}");
        }
    }
}

/// Checks medians and rounds.
fn from_the_events(run: &Stored, rows: &[BTreeMap<String, String>]) {
    assert!(!rows.is_empty());
    for row in rows {
        let record = run.ledger.records().iter().find(|record| record.case.id == row["case"]);
        let statistics = record.and_then(|record| record.statistics.as_ref()).expect("a result");
        assert_eq!(number(row, "median_s"), statistics.median, "{row:?}");
        assert_eq!(number(row, "rounds") as usize, statistics.rounds, "{row:?}");
    }
}

/// Checks that the rows are the points of an experiment's chart.
fn as_drawn(run: &Stored, at: usize, rows: &[BTreeMap<String, String>]) {
    let (plan, records) = (&run.manifest.plan, run.ledger.records());
    let chart = charted(plan, at, records, Some(run.ledger.references()));
    let points = chart.panels.iter().flat_map(|panel| &panel.lines).flat_map(|line| &line.points);
    let id = |case: usize| records[case].case.id.as_str();
    let drawn: BTreeMap<_, _> =
        points.map(|point| (id(point.value.case), (point.x, point.value.y))).collect();
    let y = if plan.experiments[at].chart.y == Quantity::Time { "median_s" } else { "effective_gb_s" };
    let told = rows.iter().map(|row| (row["case"].as_str(), (number(row, "x"), number(row, y))));
    assert_eq!(told.collect::<BTreeMap<_, _>>(), drawn, "{}", chart.title);
}

#[test]
fn what_the_reader_does_not_know_is_refused_in_a_line() {
    let root = tempfile::tempdir().expect("temporary folder");
    let folder = root.path().join("run");
    copy("tests/fixtures/schema-1", &folder);
    let manifest = fs::read_to_string(folder.join("manifest.json")).expect("a manifest");
    let newer = manifest.replacen("\"schema\": 1", "\"schema\": 99", 1);
    assert_ne!(newer, manifest);
    fs::write(folder.join("manifest.json"), newer).expect("written");
    let newest = scatterlab::run::layout::SCHEMA;
    let known = root.path().join("known");
    copy("tests/fixtures/schema-1", &known);
    for (folder, experiment, wrong) in [
        (folder.as_path(), "", format!("schema 99; accepted: 1 to {newest}\n")),
        (Path::new("/nonexistent"), "", "'/nonexistent/manifest.json'\n".to_owned()),
        (&known, "another", "no experiment another\n".to_owned()),
    ] {
        let output = read(folder, experiment);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.starts_with("read_run: ") && said.ends_with(&wrong), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}
