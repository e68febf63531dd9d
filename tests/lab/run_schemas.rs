//! The JSON Schemas of a run's folder: every committed run conforms to them or is of a version that they refuse, and what is
//! wrong in a file is refused.

use std::collections::BTreeMap;
use std::fs;
use std::io::BufRead;
use std::path::{Path, PathBuf};

use jsonschema::Validator;
use rayon::prelude::*;
use scatterlab::report::csv::json_schema::results;
use scatterlab::report::{Origin, csv};
use scatterlab::run::events;
use scatterlab::run::json_schema::{OLDEST, events as of_events, manifest as of_manifest};
use scatterlab::run::layout::{MANIFEST, SCHEMA};
use scatterlab::run::stored::Stored;
use serde_json::{Value as Json, json};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn validator(schema: &Json) -> Validator {
    jsonschema::draft202012::new(schema).expect("a valid schema")
}

/// The complaint of a schema about a document; `None` if it accepts it.
fn refusal(validator: &Validator, document: &Json) -> Option<String> {
    let errors: Vec<String> = validator
        .iter_errors(document)
        .map(|error| format!("{}: {error}", error.instance_path()).chars().take(300).collect())
        .collect();
    (!errors.is_empty()).then(|| errors.join("\n"))
}

/// The folders of runs in a folder.
fn runs_in(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    if folder.join(MANIFEST).is_file() {
        found.push(folder.to_owned());
    }
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    found.extend(entries.filter(|path| path.is_dir()).flat_map(|path| runs_in(&path)));
    found
}

fn committed() -> Vec<PathBuf> {
    [runs_in(&root().join("reports")), runs_in(&root().join("tests/fixtures"))].concat()
}

fn read(file: &Path) -> Json {
    serde_json::from_str(&fs::read_to_string(file).expect("a file")).expect("JSON")
}

/// The complete lines of a run's events.
fn lines(run: &Path) -> Vec<Json> {
    let mut reader = events::open(&events::file(run)).expect("events");
    let (mut lines, mut line) = (Vec::new(), Vec::new());
    while reader.read_until(b'\n', &mut line).expect("readable") > 0 {
        if line.ends_with(b"\n") {
            lines.push(serde_json::from_slice(&line).expect("JSON"));
        }
        line.clear();
    }
    lines
}

/// `SCATTERLAB_WRITE_DOCS=1 cargo test --test lab run_schemas` regenerates the copies.
#[test]
fn the_schemas_are_of_their_draft_and_the_committed_copies_fresh() {
    for (name, schema) in [("events", of_events()), ("manifest", of_manifest()), ("results", results())] {
        assert!(jsonschema::draft202012::meta::is_valid(&schema), "{name}");
        assert_eq!(schema["$id"], format!("urn:scatterlab:run:{SCHEMA}:{name}"));
        let fresh = serde_json::to_string_pretty(&schema).expect("JSON") + "\n";
        let path = root().join(format!("docs/run/{name}.schema.json"));
        if std::env::var_os("SCATTERLAB_WRITE_DOCS").is_some() {
            fs::write(&path, &fresh).expect("written");
        }
        let copy = fs::read_to_string(&path).unwrap_or_default();
        assert!(copy == fresh, "rewrite {name}: SCATTERLAB_WRITE_DOCS=1 cargo test --test lab run_schemas");
    }
}

#[test]
fn every_committed_run_conforms_or_its_version_says_why_not() {
    let [manifests, events, tables] = [of_manifest(), of_events(), results()].map(|of| validator(&of));
    let runs = committed();
    let judged: Vec<(u64, usize)> = runs
        .par_iter()
        .map(|run| {
            let manifest = read(&run.join(MANIFEST));
            let schema = manifest["schema"].as_u64().expect("a version");
            match refusal(&manifests, &manifest) {
                None => assert!(schema >= u64::from(OLDEST), "{}", run.display()),
                Some(why) => {
                    let version = format!("/schema: {schema} is less than the minimum of {OLDEST}");
                    assert!(why.contains(&version), "{}: {why}", run.display());
                }
            }
            let lines = lines(run);
            for (number, line) in (1..).zip(&lines) {
                let refused = refusal(&events, line);
                assert_eq!(refused, None, "{}: line {number}", run.display());
            }
            let stored = Stored::open(run).expect("a run");
            let (origin, ledger) = (Origin::from(&stored.manifest), &stored.ledger);
            let table = csv::table(&origin, ledger.records(), ledger.references());
            let table = serde_json::to_value(table).expect("JSON");
            assert_eq!(refusal(&tables, &table), None, "{}", run.display());
            (schema, lines.len())
        })
        .collect();
    let mut by_schema: BTreeMap<u64, (usize, usize)> = BTreeMap::new();
    for (schema, lines) in judged {
        let counts = by_schema.entry(schema).or_default();
        *counts = (counts.0 + 1, counts.1 + lines);
    }
    println!("runs and lines of events by schema: {by_schema:?}");
    assert_eq!(by_schema.keys().copied().collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert!(by_schema[&4].0 >= 90, "{by_schema:?}");
}

/// A document with the value at a pointer replaced, or removed.
fn with(document: &Json, pointer: &str, value: Option<Json>) -> Json {
    let mut document = document.clone();
    let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
    let parent = document.pointer_mut(parent).expect("a parent");
    match (value, parent) {
        (Some(value), Json::Array(all)) => all[key.parse::<usize>().expect("an index")] = value,
        (Some(value), parent) => parent[key] = value,
        (None, Json::Object(members)) => assert!(members.remove(key).is_some(), "{pointer}"),
        (None, _) => panic!("{pointer} is no member"),
    }
    document
}

/// Checks that a document is accepted, and that each change of it is refused or, if it is one, accepted.
fn check(schema: &Json, document: &Json, wrong: &[(&str, Option<Json>)], right: &[(&str, Option<Json>)]) {
    let validator = validator(schema);
    assert_eq!(refusal(&validator, document), None);
    for (changes, is_right) in [(wrong, false), (right, true)] {
        for (pointer, value) in changes {
            let changed = with(document, pointer, value.clone());
            assert_eq!(validator.is_valid(&changed), is_right, "{pointer}: {value:?}");
        }
    }
}

#[test]
fn planted_errors_are_refused_and_additions_are_not() {
    let run = root().join("reports/xeon-2cpus-sort");
    let manifest = read(&run.join(MANIFEST));
    let wrong = [
        ("/schema", Some(json!(1))),
        ("/schema", Some(json!(SCHEMA + 1))),
        ("/plan", None),
        ("/environment/memory", Some(json!("much"))),
        ("/devices/0/availability", Some(json!("perhaps"))),
        ("/plan/cases/0/id", None),
        ("/plan/cases/0/params/keys", Some(json!(true))),
        ("/plan/experiments/0/measure/max-rounds", None),
        ("/plan/experiments/0/chart/y", Some(json!("colour"))),
    ];
    check(&of_manifest(), &manifest, &wrong, &[("/plan/new", Some(json!(1))), ("/redacted", None)]);

    let lines = lines(&run);
    let line = lines.iter().find(|line| line["event"] == "round").expect("a round");
    let wrong = [
        ("/event", None),
        ("/event", Some(json!("rounds"))),
        ("/seq", None),
        ("/at", Some(json!("now"))),
        ("/chain", Some(json!("beef"))),
        ("/result/samples", None),
        ("/result/samples/0", Some(json!(null))),
        ("/result/verdict", Some(json!({"certified": {}}))),
        ("/result/flags", Some(json!(["late"]))),
    ];
    let right = [("/new", Some(json!(1))), ("/result/new", Some(json!(1))), ("/chain", None), ("/at", None)];
    check(&of_events(), line, &wrong, &right);

    let stored = Stored::open(&run).expect("a run");
    let (origin, ledger) = (Origin::from(&stored.manifest), &stored.ledger);
    let table = csv::table(&origin, ledger.records(), ledger.references());
    let table = serde_json::to_value(table).expect("JSON");
    let wrong = [
        ("/0/median_s", None),
        ("/0/median_s", Some(json!("fast"))),
        ("/0/rounds", Some(json!(1.5))),
        ("/0/status", Some(json!(3))),
        ("/0/keys", Some(json!([1]))),
        ("/0/sector.predicted_s", Some(json!("soon"))),
        ("/1", Some(json!(7))),
    ];
    check(&results(), &table, &wrong, &[("/0/new", Some(json!("x"))), ("/0/median_s", Some(json!(null)))]);
}
