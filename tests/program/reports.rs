//! Stored runs, rendered anew and exported for other programs.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use scatterlab_tests::program::{scatterlab, text};
use serde_json::Value;

const SMALL: &str = "\
title: Small
experiments:
- title: Bandwidth
  stream: {kernel: [copy, triad], elements: 1Ki..4Ki x2}
  backend: [scalar, cuda]
  chart: {x: elements, y: bandwidth, lines: [kernel, backend]}
- title: Time
  stream: {kernel: copy, elements: 1Ki..2Ki x2}
  backend: scalar
  chart: {x: elements, y: time}
measure: {rounds: 2, samples: 2}
";

fn run(root: &Path, more: &[&str]) -> std::process::Output {
    fs::write(root.join("small.yaml"), SMALL).expect("recipe");
    let output = scatterlab(root, &[&["run", "small.yaml", "--out", "out"], more].concat());
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    output
}

/// The folder's tables and charts by name.
fn derived(run: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(run).expect("a folder").filter_map(Result::ok).map(|entry| entry.path());
    let is = |path: &Path| path.extension().is_some_and(|e| e == "csv" || e == "svg");
    let named = files.filter(|path| is(path)).map(|path| {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        (name, fs::read(&path).expect("readable"))
    });
    named.collect()
}

#[test]
fn a_report_has_the_bytes_that_the_run_wrote() {
    let root = tempfile::tempdir().expect("temporary folder");
    run(root.path(), &[]);
    let out = root.path().join("out");
    let written = derived(&out);
    assert_eq!(
        written.keys().collect::<Vec<_>>(),
        ["bandwidth.svg", "results.csv", "samples.csv", "time.svg"]
    );
    written.keys().for_each(|name| fs::remove_file(out.join(name)).expect("removed"));
    let output = scatterlab(root.path(), &["report", "out"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    // On a noisy machine, remarks about doubtful rounds may come between the two.
    assert!(said.contains("6 certified, 6 n/a") && said.contains("→ results.csv"), "{said}");
    assert!(derived(&out) == written, "other bytes than the run's own");
}

/// The command line given to the profiler actually runs.
#[test]
fn counters_of_a_stored_run_are_those_of_its_plan() {
    let root = tempfile::tempdir().expect("temporary folder");
    run(root.path(), &[]);
    let results = fs::read_to_string(root.path().join("out/results.csv")).expect("results");
    let case = results.lines().nth(1).and_then(|row| row.split(',').next()).expect("a case").to_owned();
    // A replay needs three rounds to judge against.
    fs::write(root.path().join("small.yaml"), SMALL.replace("rounds: 2", "rounds: 3")).expect("recipe");
    let only = ["run", "small.yaml", "--backend", "scalar", "--only", &case, "--out", "one"];
    assert!(scatterlab(root.path(), &only).status.success());
    let output = scatterlab(root.path(), &["replay", "one", "--rounds", "3", "--out", "more"]);
    assert_ne!(output.status.code(), Some(1), "{}", text(&output.stderr));
    for folder in ["one", "more"] {
        let output = scatterlab(root.path(), &["counters", &case, folder]);
        let said = text(&output.stdout);
        assert!(output.status.success(), "{folder}: {}", text(&output.stderr));
        let run = format!(" run {folder}/recipe.yaml --backend scalar --only {case} --set measure.rounds=1 ");
        assert!(said.contains(&run), "{folder}: {said}");
    }
    let again = ["run", "more/recipe.yaml", "--backend", "scalar", "--only", &case, "--out", "again"];
    let output = scatterlab(root.path(), &again);
    assert!(output.status.success(), "{}", text(&output.stderr));
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).expect("a folder");
    for file in fs::read_dir(from).expect("a folder").filter_map(Result::ok) {
        fs::copy(file.path(), to.join(file.file_name())).expect("copied");
    }
}

/// A run of the first schema: one case finished, one lost with its engine, and one incomplete line.
#[test]
fn runs_of_the_first_schema_are_read_and_go_on() {
    let root = tempfile::tempdir().expect("temporary folder");
    let old = root.path().join("old");
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/schema-1"), &old);
    let output = scatterlab(root.path(), &["report", "old"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("2 certified, 1 with some of their rounds, 1 failed"));
    let results = fs::read_to_string(old.join("results.csv")).expect("results");
    assert!(
        results.lines().skip(1).all(|row| row.contains(",0.0.9,")),
        "the version that measured: {results}"
    );
    assert_eq!(results.matches(",fixed,").count(), 2, "{results}");
    let output = scatterlab(root.path(), &["run", "--resume", "old"]);
    let said = text(&output.stdout);
    assert!(output.status.success(), "{said}{}", text(&output.stderr));
    assert!(said.contains("5 rounds on file") && said.contains("another try"), "{said}");
    // Another version on another machine measured the old rounds: they stay on file, and are measured again.
    assert!(said.contains("warning: set aside: 5 rounds of 3 cases (version is "), "{said}");
    let manifest: Value =
        serde_json::from_str(&fs::read_to_string(old.join("manifest.json")).expect("it")).expect("JSON");
    assert_eq!((&manifest["schema"], manifest["version"].as_str()), (&4.into(), Some(scatterlab::VERSION)));
    let read = |name: &str| fs::read_to_string(old.join(name)).expect(name);
    assert!(!read("samples.csv").contains(",0.000001,125,"), "{}", read("samples.csv"));
    assert!(read("events.ndjson").contains("\"set-aside\""), "{}", read("events.ndjson"));
    assert_eq!(read("results.csv").matches(",certified,").count(), 4, "{}", read("results.csv"));
}

fn names(folder: &Path) -> Vec<String> {
    let files = fs::read_dir(folder).expect("a folder").filter_map(Result::ok);
    let mut names: Vec<String> = files.map(|f| f.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// The output about a run from the commands that read it.
fn told_of(root: &Path, run: &str) -> Vec<String> {
    let lines: [&[&str]; 3] = [
        &["report", run, "--format", "csv"],
        &["compare", run, run, "--format", "csv"],
        &["run", "--resume", run, "--format", "csv"],
    ];
    let told = lines.map(|words| {
        let output = scatterlab(root, words);
        assert!(output.status.success(), "{words:?}: {}", text(&output.stderr));
        text(&output.stdout)
    });
    told.to_vec()
}

#[test]
fn a_packed_run_holds_what_was_measured_and_nothing_else_and_is_read_like_any_other() {
    let root = tempfile::tempdir().expect("temporary folder");
    run(root.path(), &[]);
    let out = root.path().join("out");
    let (written, told) = (derived(&out), told_of(root.path(), "out"));
    fs::write(out.join("note.txt"), "mine\n").expect("written");
    let output = scatterlab(root.path(), &["pack", "out"]);
    let said = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(said.starts_with("out: events of ") && said.lines().count() == 1, "{said}");
    let removed = "; removed results.csv, samples.csv, bandwidth.svg, time.svg\n";
    assert!(said.ends_with(removed), "{said}");
    assert_eq!(names(&out), ["events.ndjson.gz", "manifest.json", "note.txt", "recipe.yaml"]);
    assert!(told_of(root.path(), "out") == told, "another answer than before");
    assert!(derived(&out) == written, "the complete run has got its files again, the same ones");
    fs::write(out.join("time.svg"), "<svg/>\n").expect("written");
    let said = text(&scatterlab(root.path(), &["pack", "out"]).stdout);
    assert!(said.starts_with("out: already packed, in "), "{said}");
    assert!(said.ends_with("bandwidth.svg; kept time.svg: report would write other bytes\n"), "{said}");
    assert_eq!(fs::read_to_string(out.join("time.svg")).expect("it stays"), "<svg/>\n");
}

/// A run as older versions stored it: with what was typed and the places of its files.
#[test]
fn a_packed_run_names_nothing_of_the_machine_that_measured_it() {
    let root = tempfile::tempdir().expect("temporary folder");
    let (home, out) = (root.path().join("home/me"), root.path().join("out"));
    fs::create_dir_all(&home).expect("a folder");
    fs::write(home.join("a.csv"), "3,1,2").expect("written");
    let recipe = "title: Files\ngather: {tuples: 8, locations: random}\nbackend: scalar\n\
                  chart: {x: file}\nmeasure: {rounds: 3, samples: 1}\n";
    fs::write(root.path().join("r.yaml"), recipe).expect("recipe");
    let set = format!("locations={{file: {}/a.csv}}", home.display());
    let output = scatterlab(root.path(), &["run", "r.yaml", "--set", &set, "--out", "out"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let read = |name: &str| fs::read_to_string(out.join(name)).expect("readable");
    let mut old: Value = serde_json::from_str(&read("manifest.json")).expect("JSON");
    let typed =
        ["/home/me/bin/scatterlab", "run", "r.yaml", "--engine", "ssh me@lab scatterlab engine", "--out"];
    old["command_line"] = typed.iter().chain(&["/home/me/out"]).copied().collect();
    old["plan"]["indices"][0]["source"] = home.join("a.csv").display().to_string().into();
    old["plan"]["indices"][0]["copy"] = "/home/me/out/indices/a.u64".into();
    fs::write(out.join("manifest.json"), old.to_string()).expect("written");
    assert!(read("recipe.yaml").contains("/home/me"), "the comment with the override");

    let told = || text(&scatterlab(root.path(), &["report", "out", "--format", "csv"]).stdout);
    let (before, place) = (told(), home.join("a.csv").display().to_string());
    let said = text(&scatterlab(root.path(), &["pack", "out"]).stdout);
    assert!(said.ends_with("; left out of the manifest what only its machine knows\n"), "{said}");
    for name in ["manifest.json", "recipe.yaml"] {
        assert!(!read(name).contains("/home") && !read(name).contains("me@lab"), "{name}: {}", read(name));
    }
    let new: Value = serde_json::from_str(&read("manifest.json")).expect("JSON");
    let words = ["scatterlab", "run", "recipe.yaml", "--set", "locations={file: a.csv}"];
    assert_eq!((&new["redacted"], &new["command_line"]), (&true.into(), &words.iter().copied().collect()));
    assert_eq!(
        (&new["plan"]["recipe_hash"], told()),
        (&old["plan"]["recipe_hash"], before.replace(&place, "a.csv"))
    );
    let said = text(&scatterlab(root.path(), &["report", "out"]).stdout);
    assert!(
        said.contains("1 certified") && !said.contains("unchecked") && !said.contains("changed"),
        "{said}"
    );
    let again = text(&scatterlab(root.path(), &["pack", "out"]).stdout);
    assert!(!again.contains("left out"), "{again}");

    fs::remove_dir_all(root.path().join("home")).expect("removed");
    let typed: Vec<&str> = words[1..].iter().copied().chain(["--out", "again"]).collect();
    let output = scatterlab(&out, &typed);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(fs::read_to_string(out.join("again/recipe.yaml")).ok(), Some(read("recipe.yaml")));
}

/// The run of the first schema has an incomplete line at its end.
#[test]
fn a_packed_run_that_was_interrupted_goes_on() {
    let root = tempfile::tempdir().expect("temporary folder");
    let old = root.path().join("old");
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/schema-1"), &old);
    assert!(scatterlab(root.path(), &["pack", "old"]).status.success());
    let output = scatterlab(root.path(), &["run", "--resume", "old"]);
    let said = text(&output.stdout);
    assert!(output.status.success(), "{said}{}", text(&output.stderr));
    assert!(said.contains("5 rounds on file"), "{said}");
    let names = names(&old);
    assert!(names.contains(&"events.ndjson".to_owned()) && !names.contains(&"events.ndjson.gz".to_owned()));
}

#[test]
fn what_cannot_be_packed_or_read_is_one_error_and_nothing_is_changed() {
    let root = tempfile::tempdir().expect("temporary folder");
    for name in ["whole", "damaged"] {
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/schema-1");
        copy(&fixture, &root.path().join(name));
    }
    let damaged = root.path().join("damaged");
    fs::rename(damaged.join("events.ndjson"), damaged.join("events.ndjson.gz")).expect("renamed");
    let before = (names(&root.path().join("whole")), names(&damaged));
    let gzip = "cannot read damaged/events.ndjson.gz: it is not a complete gzip file: ";
    let wrong: [(&[&str], &str); 6] = [
        (&["pack", "nowhere"], "nowhere: no such folder"),
        (&["pack", "quickstart"], "this command takes folders of stored runs"),
        (&["pack", "whole", "damaged"], gzip),
        (&["report", "damaged"], gzip),
        (&["run", "--resume", "damaged"], gzip),
        (&["replay", "damaged"], gzip),
    ];
    for (words, reason) in wrong {
        let output = scatterlab(root.path(), words);
        let error = text(&output.stderr);
        assert_eq!((output.status.code(), error.lines().count()), (Some(1), 1), "{words:?}: {error}");
        assert!(error.contains(reason), "{words:?}: {error}");
    }
    assert_eq!((names(&root.path().join("whole")), names(&damaged)), before);
}

#[test]
fn results_for_programs_are_those_of_the_table() {
    let root = tempfile::tempdir().expect("temporary folder");
    let output = run(root.path(), &["--format", "csv"]);
    assert!(text(&output.stderr).contains("6 certified"), "people read on: {}", text(&output.stderr));
    let table = fs::read_to_string(root.path().join("out/results.csv")).expect("results");
    assert_eq!(text(&output.stdout), table);
    let json = scatterlab(root.path(), &["report", "out", "out", "--format", "json"]);
    let objects: Vec<serde_json::Map<String, Value>> =
        serde_json::from_slice(&json.stdout).expect("an array of objects");
    assert_eq!(objects.len(), 2 * 14);
    let lines = text(&scatterlab(root.path(), &["report", "out", "--format", "ndjson"]).stdout);
    let lines: Vec<serde_json::Map<String, Value>> =
        lines.lines().map(|line| serde_json::from_str(line).expect("an object a line")).collect();
    assert_eq!(lines, objects[..14]);
    let mut rows = csv::Reader::from_reader(table.as_bytes());
    let columns = rows.headers().expect("a header").clone();
    for (row, object) in rows.records().zip(&lines) {
        let row = row.expect("a row");
        assert_eq!(object.len(), columns.len());
        for (column, cell) in columns.iter().zip(row.iter()) {
            assert!(same(cell, &object[column]), "{column}: {cell} and {}", object[column]);
        }
    }
    assert!(lines[0]["median_s"].is_f64() && lines[0]["elements"].is_u64() && lines[0]["case"].is_string());
    assert!(lines.iter().any(|line| line["median_s"].is_null()), "what is n/a has no time");
}

fn same(cell: &str, value: &Value) -> bool {
    match value {
        Value::Null => cell.is_empty(),
        Value::String(text) => cell == text,
        Value::Number(number) => cell.parse::<f64>().ok() == number.as_f64(),
        _ => false,
    }
}

#[test]
fn several_runs_do_not_fit_into_one_csv() {
    let root = tempfile::tempdir().expect("temporary folder");
    let output = scatterlab(root.path(), &["report", "a", "b", "--format", "csv"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("json and ndjson take several"), "{}", text(&output.stderr));
}

#[test]
fn devices_are_told_to_programs_too() {
    let root = tempfile::tempdir().expect("temporary folder");
    let output = scatterlab(root.path(), &["devices", "--format", "json"]);
    let devices: Vec<Value> = serde_json::from_slice(&output.stdout).expect("an array");
    let backends: Vec<&str> = devices.iter().filter_map(|d| d["backend"].as_str()).collect();
    assert_eq!(backends[..2], ["scalar", "cpu"]);
    assert_eq!(devices[0]["threads"], "1");
    assert!(devices[0]["free_bytes"].is_u64() && devices[0]["reason"].is_null());
}

/// What a run is worth is the same sentence wherever it is said.
#[test]
fn the_verdict_is_at_the_end_of_a_run_in_tables_charts_and_the_page() {
    let root = tempfile::tempdir().expect("temporary folder");
    let said = run(root.path(), &["--set", "measure.rounds=1"]);
    let verdict = "No interval: nothing can be compared (6 cases of one round).";
    let said = text(&said.stdout);
    let lines: Vec<&str> = said.lines().rev().take(2).collect();
    assert_eq!(lines[1], verdict, "{said}");
    assert_eq!(
        lines[0], "next, for intervals: scatterlab run small.yaml --set measure.rounds=5",
        "the key is not there twice"
    );
    let json = scatterlab(root.path(), &["report", "out", "--format", "json"]);
    let rows: Vec<Value> = serde_json::from_slice(&json.stdout).expect("an array");
    assert!(rows.iter().all(|row| row["verdict"] == verdict), "{rows:?}");
    assert!(scatterlab(root.path(), &["report", "out", "--html"]).status.success());
    let read = |name: &str| fs::read_to_string(root.path().join("out").join(name)).expect("readable");
    assert_eq!(read("report.html").matches(verdict).count(), 1, "charts do not repeat it");
    let chart = format!("The whole run: {verdict}");
    assert!(read("bandwidth.svg").contains(&chart) && read("time.svg").contains(&chart));
}

/// Each chart is there for screens and for phones. What a page would load from elsewhere or run, and texts that are not escaped.
#[test]
fn a_page_holds_all_of_a_run_and_runs_nothing_without_a_long_table() {
    let root = tempfile::tempdir().expect("temporary folder");
    let evil = "</title><script>alert('1')</script> & \"x\"";
    let quoted = evil.replace('\'', "''");
    let recipe = SMALL
        .replace(
            "title: Bandwidth",
            &format!("title: '{quoted}'\n  paper: {{key: he2007, figure: 9, claim: '{quoted}'}}"),
        )
        .replace("title: Small", &format!("title: '{quoted}'"));
    fs::write(root.path().join("small.yaml"), recipe).expect("recipe");
    let output = scatterlab(root.path(), &["run", "small.yaml", "--out", "out", "--backend", "scalar"]);
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    let output = scatterlab(root.path(), &["report", "out", "--html"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("written: out/report.html"), "{}", text(&output.stdout));
    let page = fs::read_to_string(root.path().join("out/report.html")).expect("the page");
    for never in ["<script", "src=", "href=", "@import", "url("] {
        assert!(!page.contains(never), "{never}");
    }
    assert_eq!(page.matches("</title>").count(), 1, "the title ends once");
    assert_eq!(
        (page.matches("<svg").count(), page.matches("</svg>").count()),
        (6, 6),
        "one for screens, two nested for phones"
    );
    assert!(page.contains("he2007, figure 9 claims: &lt;/title&gt;&lt;script&gt;"), "the claim");
    assert_eq!(page.matches("Changed by").count(), 1, "charts do not repeat what the page says around them");
    for part in [
        "6 certified",
        "<pre>scatterlab replay .</pre>",
        "<pre>scatterlab run recipe.yaml --backend scalar</pre>",
        "processor",
        "color-scheme: light dark",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let folder = fs::read_dir(root.path().join("out")).expect("a folder").count();
    assert!(scatterlab(root.path(), &["report", "out", "--html"]).status.success());
    assert!(fs::read_to_string(root.path().join("out/report.html")).expect("again") == page, "the same page");
    assert_eq!(fs::read_dir(root.path().join("out")).expect("a folder").count(), folder);
}

#[test]
#[cfg(not(feature = "pdf"))]
fn a_program_without_pdf_says_how_to_get_it() {
    let root = tempfile::tempdir().expect("temporary folder");
    run(root.path(), &[]);
    let before = derived(&root.path().join("out"));
    let output = scatterlab(root.path(), &["report", "out", "--pdf"]);
    assert!(!output.status.success());
    assert!(text(&output.stderr).contains("--features pdf"), "{}", text(&output.stderr));
    assert!(derived(&root.path().join("out")) == before, "nothing is written");
}

#[test]
#[cfg(feature = "pdf")]
fn charts_for_a_paper_have_its_width_and_words_for_a_caption() {
    let root = tempfile::tempdir().expect("temporary folder");
    run(root.path(), &[]);
    let before = derived(&root.path().join("out"));
    let output =
        scatterlab(root.path(), &["report", "out", "--pdf", "--width", "3.33in", "--font-size", "8pt"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    for name in ["bandwidth", "time"] {
        let pdf = fs::read(root.path().join(format!("out/{name}.pdf"))).expect("a PDF");
        assert!(pdf.starts_with(b"%PDF-") && String::from_utf8_lossy(&pdf).contains("/FontFile2"), "{name}");
    }
    let words = fs::read_to_string(root.path().join("out/bandwidth.txt")).expect("the words");
    assert!(words.starts_with("Bandwidth\nSmall\n") && words.contains("Points: median"), "{words}");
    assert!(words.contains("\nThe whole run: "), "what the run is worth: {words}");
    assert!(derived(&root.path().join("out")) == before, "charts on the screen are what they were");
    let wrong: [(&[&str], &str); 4] = [
        (&["report", "out", "--pdf", "--width", "84"], "column, page, or 1in to 20in"),
        (&["report", "out", "--pdf", "--width", "1in"], "a chart of 144pt or more"),
        (&["report", "out", "--width", "84mm"], "--pdf"),
        (&["report", "out", "--html", "--format", "csv"], "cannot be used with"),
    ];
    for (words, reason) in wrong {
        let output = scatterlab(root.path(), words);
        assert!(
            !output.status.success() && text(&output.stderr).contains(reason),
            "{}",
            text(&output.stderr)
        );
    }
}
