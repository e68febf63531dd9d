use std::collections::HashMap;

use super::columns::{columns, fixed, parameters, resolved};
use super::fixed::{HEAD, TAIL};
use super::*;
use crate::case::{Case, Transfer, Value, Verdict};
use crate::engine::protocol::{Event, RoundResult};
use crate::recipe;
use crate::recipe::plan::{Overrides, Plan, resolve};
use crate::recipe::shipped::shipped;
use crate::report::series::tests::{case, passes, text};
use crate::report::svg::tests::{device, environment, origin};
use crate::report::table::tests::documented;
use crate::run::Ledger;

const DICTIONARY: &str = include_str!("../../../docs/data-dictionary.md");

/// A shipped recipe with every case measured in one round, and certified except for peers.
fn finished(path: &str) -> Ledger {
    finished_in(path, |_| 0.25)
}

/// [`finished`] with two samples per case: `seconds` and twice that; on GPUs with transfers, if they are asked for.
pub fn finished_in(path: &str, seconds: impl Fn(&Case) -> f64) -> Ledger {
    finished_with(path, &Overrides::default(), seconds)
}

/// [`finished_in`] with overrides of the recipe.
pub fn finished_with(path: &str, overrides: &Overrides, seconds: impl Fn(&Case) -> f64) -> Ledger {
    let recipe = shipped().iter().find(|r| r.path == path).expect("a shipped recipe");
    let recipe = recipe::parse(path, recipe.text).expect("it parses");
    finished_of(resolve(&recipe, overrides).expect("it resolves"), seconds)
}

/// [`finished_in`] of a plan.
pub fn finished_of(plan: Plan, seconds: impl Fn(&Case) -> f64) -> Ledger {
    let cases = plan.cases.clone();
    let mut ledger = Ledger::new(plan);
    for (i, case) in cases.into_iter().enumerate() {
        let seconds = seconds(&case);
        let transfers =
            case.place().0 == "cuda" && ledger.plan().experiments[case.experiment].measure.transfer.is_some();
        let transfer = transfers.then_some(Transfer {
            in_bytes: 80,
            out_bytes: 80,
            in_seconds: seconds,
            out_seconds: seconds,
        });
        let verdict = case.peer().is_none().then_some(Verdict::Certified { checked: 10 });
        let result = RoundResult {
            case: case.id,
            round: 0,
            samples: vec![seconds, 2.0 * seconds],
            batch: 1,
            verdict,
            tolerance: Some(1e-3),
            memory: 4096,
            transfer,
            resolved: vec![("backend.cpu.threads".to_owned(), Value::Int(2))],
            started: 1_760_000_000.5,
            ..RoundResult::default()
        };
        ledger.apply(&Event::Round { seq: i as u64, result });
    }
    ledger
}

/// The names of the columns of a ledger's results.
fn names(ledger: &Ledger) -> Vec<String> {
    let environment = environment();
    let copies = Copies::from([("cuda".to_owned(), vec![4000.0])]);
    let origin = origin(ledger.plan(), &environment, &[]);
    columns(&origin, ledger.records(), &copies).iter().map(|column| column.name.to_string()).collect()
}

fn rows(plan: &Plan, records: &[Record]) -> Vec<HashMap<String, String>> {
    let mut out = Vec::new();
    let devices = [device("cuda", "NVIDIA H200")];
    let copies = Copies::from([("cuda".to_owned(), vec![4000.0])]);
    results(&mut out, &origin(plan, &environment(), &devices), records, &copies).expect("written");
    let mut reader = ::csv::Reader::from_reader(out.as_slice());
    reader.deserialize().collect::<Result<_, _>>().expect("rows with the header's columns")
}

#[test]
fn a_row_holds_parameters_statistics_and_rates() {
    let ledger = finished("he2007/fig09-passes.yaml");
    let rows = rows(ledger.plan(), ledger.records());
    assert_eq!(rows.len(), ledger.plan().cases.len());
    let passes = |r: &&HashMap<String, String>| r["backend"] == "cpu" && r["passes"] == "4";
    let row = rows.iter().find(passes).expect("four passes on the CPU");
    let expected = [
        ("primitive", "scatter"),
        ("method", "multipass"),
        ("tuple", "8"),
        ("locations", "random"),
        ("threads", "auto"),
        ("resolved.threads", "2"),
        ("samples", "2"),
        ("rounds", "1"),
        ("min_s", "0.25"),
        ("median_s", "0.375"),
        ("max_s", "0.5"),
        ("verification", "certified"),
        ("checked_elements", "10"),
        ("tolerance", "0.001"),
        ("memory_bytes", "4096"),
        ("flags", "partial"),
        ("paper", "he2007"),
        ("figure", "9"),
        ("device", "A processor"),
    ];
    for (column, value) in expected {
        assert_eq!(row[column], value, "{column}");
    }
    let bytes: f64 = row["effective_bytes"].parse().expect("a number");
    let rate: f64 = row["effective_gb_s"].parse().expect("a number");
    assert!((rate - bytes / 0.375 / 1e9).abs() < 1e-9, "{rate} {bytes}");
}

/// The share of the speed of light appears in rows of backends whose copies are on file.
#[test]
fn the_speed_of_light_has_columns_where_there_is_one() {
    let ledger = finished_in("ashkiani2017/gpu-multisplit.yaml", |_| 1e-3);
    let found = rows(ledger.plan(), ledger.records());
    let row = found.iter().find(|r| r["values"] == "4B" && r["keys"] == "33554432").expect("pairs");
    let seconds: f64 = row["speed_of_light_s"].parse().expect("a number");
    let share: f64 = row["speed_of_light_share"].parse().expect("a number");
    assert!((seconds * 4e12 - f64::from(5 << 27)).abs() < 1.0, "{seconds}");
    assert!((share - seconds / 1.5e-3).abs() < 1e-12, "{share}");
    let (plan, records) = passes();
    assert!(rows(&plan, &records)[0].keys().all(|column| !column.contains("light")));
    assert!(described("speed_of_light_s") && described("speed_of_light_share"));
}

#[test]
fn main_parameters_are_called_by_their_variant() {
    let ledger = finished("lavin2020/app-patterns.yaml");
    let rows = rows(ledger.plan(), ledger.records());
    let row = rows.iter().find(|r| r["app"] == "PENNANT-G0").expect("the first pattern");
    assert_eq!((row["source"].as_str(), row["count"].as_str()), ("app", "15625000"));
    assert!(!row["class"].is_empty(), "the class of the pattern is a column");
    assert!(names(&finished("he2007/fig08-partitions.yaml")).contains(&"partitions".to_owned()));
}

#[test]
fn ambiguous_parameters_keep_as_many_words_as_it_takes() {
    let (plan, mut records) = passes();
    let keys = [
        "method.multipass.passes",
        "method.segmented.passes",
        "source.uniform.length",
        "gather.uniform.length",
        "samples",
    ];
    records[0].case = case(&keys.map(|k| (k, Value::Int(3))));
    let names: Vec<String> = parameters(&plan, &records[..1]).into_iter().map(|(_, name)| name).collect();
    assert_eq!(
        names,
        [
            "gather.uniform.length",
            "multipass.passes",
            "segmented.passes",
            "parameter.samples",
            "source.uniform.length"
        ]
    );
}

#[test]
fn no_column_comes_twice() {
    for recipe in shipped() {
        let ledger = finished(recipe.path);
        let mut names = names(&ledger);
        let n = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), n, "{}", recipe.path);
    }
}

#[test]
fn what_is_missing_is_an_empty_cell() {
    let (plan, mut records) = passes();
    records[0].status = Status::Failed("wrong result: word 3".to_owned());
    records[0].statistics = None;
    records[0].verdict = Some(Verdict::Wrong { mistake: "word 3".to_owned() });
    records[1].case.params = records[1].case.params.clone().with("exponent", Value::Float(f64::NAN));
    let rows = rows(&plan, &records);
    for column in ["median_s", "effective_gb_s", "samples", "flags", "checked_elements", "exponent"] {
        assert_eq!(rows[0][column], "", "{column}");
    }
    assert_eq!(rows[0]["verification"], "wrong");
    assert_eq!(rows[0]["reason"], "wrong result: word 3");
    let mut out = Vec::new();
    results(&mut out, &origin(&plan, &environment(), &[]), &records, &Copies::new()).expect("written");
    assert!(!String::from_utf8(out).expect("UTF-8").contains("NaN"));
}

#[test]
fn short_and_unsteady_results_are_flagged() {
    let (plan, mut records) = passes();
    records[0].rounds[0].samples = vec![1e-5];
    if let Some(s) = &mut records[0].statistics {
        s.spread = Some(0.3);
    }
    let rows = rows(&plan, &records);
    assert_eq!(rows[0]["flags"], "short;unsteady");
    assert_eq!(rows[1]["flags"], "");
}

#[test]
fn cold_caches_are_a_column_of_their_own() {
    let (plan, mut records) = passes();
    records[0].case.params = records[0].case.params.clone().with("cache", text("cold"));
    records[0].rounds[0].samples = vec![2e-5];
    let rows = rows(&plan, &records);
    assert_eq!((rows[0]["cache"].as_str(), rows[1]["cache"].as_str()), ("cold", "hot"));
    assert!(rows[0].keys().all(|column| column == "cache" || !column.contains("cache")));
    assert_eq!(rows[0]["flags"], "short", "a cold sample has no batch to be longer");
}

#[test]
fn every_sample_has_a_row() {
    let (_, mut records) = passes();
    records[1].status = Status::Failed("lost".to_owned());
    let mut out = Vec::new();
    samples(&mut out, &records[..2]).expect("written");
    let text = String::from_utf8(out).expect("UTF-8");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 7);
    let cells: Vec<&str> = lines[2].split(',').collect();
    assert_eq!(cells[1..], ["0", "0", "yes", "1", "0.4", "1", "1760000000.25", "", "done"]);
    assert!(lines[6].ends_with(",failed"));
}

/// Whether the dictionary has a row for this name, with type, unit and meaning.
fn described(name: &str) -> bool {
    let rows = DICTIONARY.lines().filter(|line| line.starts_with("| `"));
    let mut cells = rows.map(|line| line.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>());
    let full = |cells: &[&str]| cells.len() >= 4 && cells[1..4].iter().all(|c| !c.is_empty());
    cells.any(|cells| cells[0].split(", ").any(|cell| cell.trim_matches('`') == name) && full(&cells))
}

#[test]
fn the_dictionary_knows_every_fixed_column_and_its_unit() {
    let columns: Vec<Column<Row>> = HEAD.iter().chain(TAIL).map(fixed).collect();
    documented("results.csv", &columns);
    documented("samples.csv", &columns_of_samples());
}

#[test]
fn the_dictionary_knows_every_column_of_the_shipped_recipes() {
    for recipe in shipped() {
        let ledger = finished(recipe.path);
        let (plan, records) = (ledger.plan(), ledger.records());
        let keys: HashMap<String, String> = parameters(plan, records)
            .into_iter()
            .chain(resolved(plan, records))
            .map(|(k, n)| (n, k))
            .collect();
        for name in names(&ledger) {
            let short = name.trim_start_matches("resolved.").trim_start_matches("annotation.");
            let model = name.split_once('.').map(|(_, part)| format!("MODEL.{part}"));
            let known = described(keys.get(short).map_or(short, String::as_str));
            assert!(known || model.is_some_and(|name| described(&name)), "{}: {name}", recipe.path);
        }
    }
}

#[test]
fn transfers_have_columns_where_there_are_some() {
    let (plan, mut records) = passes();
    let columns = || rows(&plan, &records).remove(0);
    assert!(columns().keys().all(|name| !name.contains("transfer")));
    for (at, in_seconds) in [(0, 0.25), (1, 0.75), (2, 0.5)] {
        let transfer = Transfer { in_bytes: 80, out_bytes: 8, in_seconds, out_seconds: 0.125 };
        let mut round = records[4].rounds[0].clone();
        (round.round, round.transfer, round.generate) = (at, Some(transfer), Some(0.25));
        records[4].rounds.push(round);
    }
    let rows = rows(&plan, &records);
    let cells = |row: &HashMap<String, String>| {
        ["transfer_in_bytes", "transfer_out_bytes", "transfer_in_s", "transfer_out_s"]
            .map(|name| row[name].clone())
    };
    assert_eq!(cells(&rows[4]), ["80", "8", "0.5", "0.125"]);
    assert_eq!(cells(&rows[0]), ["", "", "", ""]);
    assert_eq!([&rows[4]["generate_s"], &rows[0]["generate_s"]], ["0.75", ""]);
    let (gpu, cpu) = (&records[4], &records[0]);
    assert_eq!(gpu.quantity_at(crate::recipe::plan::Quantity::TimeWithTransfer, 1.0), Some(1.625));
    assert_eq!(cpu.quantity_at(crate::recipe::plan::Quantity::TimeWithTransfer, 1.0), Some(1.0));
}

#[test]
fn operations_have_a_column_where_they_are_counted() {
    let (plan, mut records) = passes();
    let columns = |records: &[Record]| rows(&plan, records).remove(0);
    assert!(!columns(&records).contains_key("gflops"));
    for (primitive, factor) in [("spmv", 2.0), ("cg", 1.0)] {
        records[0].case.primitive = primitive.to_owned();
        let row = columns(&records);
        let [gflops, throughput] =
            ["gflops", "throughput_elem_s"].map(|name| row[name].parse::<f64>().expect("a number"));
        assert!((gflops * 1e9 / throughput / factor - 1.0).abs() < 1e-6, "{primitive}: {row:?}");
    }
    assert_eq!(rows(&plan, &records)[4]["gflops"], "");
}

#[test]
fn backends_of_one_run_are_told_apart() {
    let (plan, records) = passes();
    let rows = rows(&plan, &records);
    let devices: Vec<&str> = rows.iter().map(|r| r["device"].as_str()).collect();
    assert_eq!(devices[0], "A processor");
    assert_eq!(devices[4], "NVIDIA H200");
    assert_eq!(records[4].case.params.get("backend"), Some(&text("cuda")));
}

#[test]
fn a_measurement_of_two_experiments_has_two_rows_and_its_samples_once() {
    let ledger = finished("lavin2020/fig04-prefetch.yaml");
    let (plan, records) = (ledger.plan(), ledger.records());
    let rows = rows(plan, records);
    let (first, again) = (&rows[0], &rows[8]);
    assert_eq!((rows.len(), &first["repeats"][..], &again["repeats"]), (16, "", &first["case"]));
    assert_eq!(first["median_s"], again["median_s"]);
    let mut out = Vec::new();
    samples(&mut out, records).expect("written");
    let text = String::from_utf8(out).expect("UTF-8");
    assert!(text.contains(&first["case"]) && !text.contains(&again["case"]), "{text}");
}
