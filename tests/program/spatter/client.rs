//! Readers of the table where standard output and standard error go to one place, as with Slurm.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use serde_json::{Value as Json, json};

use scatterlab_tests::program::{binary, program, text};

/// A client that takes the first line with `config` for the header and every line behind it for a row.
fn rows(merged: &str) -> Vec<Vec<f64>> {
    let mut lines = merged.lines().skip_while(|line| !line.contains("config"));
    let columns: Vec<&str> = lines.next().expect("a header").split_whitespace().collect();
    assert_eq!(columns, ["config", "bytes", "time(s)", "bw(MB/s)"], "{merged}");
    let row = |line: &str| -> Vec<f64> {
        let cells = line.split_whitespace().map(|cell| cell.parse().unwrap_or_else(|_| panic!("{merged}")));
        let cells: Vec<f64> = cells.collect();
        assert_eq!(cells.len(), columns.len(), "{merged}");
        cells
    };
    lines.map(row).collect()
}

/// The part that Spatter's notebooks hand to Python's `eval`.
fn evaluated(merged: &str) -> &str {
    let from = merged.find("Run Configurations").expect("the list");
    let from = from + merged[from..].find('[').expect("a bracket");
    merged[from..merged.find("config").expect("the table")].trim()
}

/// The suite with short runs, and a key that causes a remark.
fn shortened(suite: &Path) -> (String, usize) {
    let text = fs::read_to_string(suite).expect("a suite");
    let mut configs: Vec<Json> = serde_json::from_str(&text).expect("a list");
    for config in &mut configs {
        let config = config.as_object_mut().expect("an object");
        config.insert("count".to_owned(), json!(32));
        config.insert("nruns".to_owned(), json!(1));
        config.insert("global-work-size".to_owned(), json!(1024));
    }
    (Json::from(configs.clone()).to_string(), configs.len())
}

#[test]
fn merged_output_of_every_suite_is_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let suites = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/spatter");
    for entry in fs::read_dir(suites).expect("suites") {
        let path = entry.expect("a suite").path();
        let (suite, count) = shortened(&path);
        fs::write(folder.path().join("config.json"), suite).expect("a suite");
        let merged = folder.path().join("merged.txt");
        let file = File::create(&merged).expect("a file");
        let words = ["spatter", "-v2", "-m", "1", "-f", "config.json", "-b", "openmp", "my-config"];
        let mut command = program(folder.path());
        command.args(words).stderr(file.try_clone().expect("a copy")).stdout(file);
        assert!(command.status().expect("starts").success());
        let merged = fs::read_to_string(merged).expect("output");
        assert!(merged.contains("spatter: `my-Config` belongs to no option"), "{merged}");
        assert!(merged.contains("unknown key `global-work-size` is ignored"), "{merged}");
        let ids: Vec<f64> = rows(&merged).iter().map(|row| row[0]).collect();
        assert_eq!(ids, (0..count).map(|id| id as f64).collect::<Vec<_>>(), "{}", path.display());
        let list = evaluated(&merged);
        assert!(list.starts_with("[ {'id': 0, ") && list.ends_with("} ]"), "{list}");
        assert_eq!(list.matches("{'id': ").count(), count, "{list}");
    }
}

/// As `merged_output_of_every_suite_is_read`, through one pipe.
#[test]
fn output_merged_in_a_pipe_is_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let line =
        format!("'{binary}' spatter -p UNIFORM:8:1 -l 9 -b openmp -o 1 config 2>&1", binary = binary());
    let output =
        Command::new("bash").args(["-c", &line]).current_dir(folder.path()).output().expect("starts");
    let merged = text(&output.stdout);
    assert!(merged.contains("spatter: `Config` belongs to no option"), "{merged}");
    assert_eq!(rows(&merged).iter().map(|row| (row[0], row[1])).collect::<Vec<_>>(), [(0.0, 576.0)]);
}
