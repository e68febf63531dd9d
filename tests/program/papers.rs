//! A paper of somebody's own: a folder with recipes, a `paper.yaml`, tables and peers, in the real program.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use scatterlab_tests::program::{scatterlab, text};
use serde_json::Value;

const PAPER: &str = "\
title: Sorts of a test
authors: [A. Tester]
year: 2022
platforms:
  Old One: {device: NVIDIA A100, peak: 1555 GB/s}
peers:
- {name: hrs, program: ./hrs-peer, arguments: [--radix, 8], beside: cpu}
";

const RECIPE: &str = "\
title: Sorts
paper: {key: test2022, table: 1}
sort: {keys: [1000, 2000]}
backend: cpu
chart: {x: keys, y: throughput, overlay: {published/table1.csv: Old One}}
measure: {rounds: 3, samples: 1, ci: none, second-look: never}
";

/// A rate alone, and a time.
const TABLE: &str = "\
platform,primitive,keys,throughput_elem_s,median_s
Old One,sort,1000,2.0e9,
Old One,sort,2000,,0.000001
";

/// Leaves its arguments where it is executed, and answers as a peer does.
const PEER: &str = "\
#!/bin/sh
echo \"$*\" >executed
while read -r verb words; do
    case $verb in
    prepare) echo 'ready 4096 radix=8' ;;
    sample) echo \"seconds ${words}e-3\" ;;
    release) echo released ;;
    esac
done
";

/// A folder `test2022` in another one.
fn laid_out() -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("temporary folder");
    let paper = root.path().join("test2022");
    fs::create_dir_all(paper.join("published")).expect("folder");
    for (name, text) in [("paper.yaml", PAPER), ("table1.yaml", RECIPE), ("published/table1.csv", TABLE)] {
        fs::write(paper.join(name), text).expect("written");
    }
    fs::write(paper.join("beside.yaml"), format!("{}peers: hrs\n", without_overlay())).expect("written");
    fs::write(paper.join("hrs-peer"), PEER).expect("written");
    fs::set_permissions(paper.join("hrs-peer"), fs::Permissions::from_mode(0o755)).expect("permissions");
    root
}

fn without_overlay() -> String {
    RECIPE.replace(", overlay: {published/table1.csv: Old One}", "")
}

/// What the program prints in this folder; it ends with this status.
fn said(at: &Path, words: &[&str], status: i32) -> String {
    let output = scatterlab(at, words);
    let said = text(&output.stdout) + &text(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{words:?}: {said}");
    said
}

/// Replays a run, whose times may be others by now.
fn replayed(at: &Path, words: &[&str]) {
    let output = scatterlab(at, words);
    let judged = output.status.code().is_some_and(|status| [0, 4, 5].contains(&status));
    assert!(judged, "{words:?}: {}{}", text(&output.stdout), text(&output.stderr));
}

#[test]
fn a_recipe_is_of_its_folder_or_of_a_paper_that_ships() {
    let root = laid_out();
    let paper = root.path().join("test2022");
    let dry = |at: &Path, recipe: &str, status| said(at, &["run", recipe, "--dry-run"], status);
    dry(root.path(), "test2022/table1.yaml", 0);
    dry(&paper, "table1.yaml", 0);
    fs::write(paper.join("other.yaml"), RECIPE.replace("test2022", "test2023")).expect("written");
    let error = dry(&paper, "other.yaml", 1);
    let wanted = "other.yaml:2:14: paper.key: `test2023` is neither a paper that ships with the program nor that of the \
                  folder, test2022; accepted: he2007, sengupta2007, ashkiani2017, lavin2020, test2022";
    assert!(error.contains(wanted), "{error}");
    fs::remove_file(paper.join("paper.yaml")).expect("removed");
    let error = dry(root.path(), "test2022/table1.yaml", 1);
    assert!(
        error.contains("paper.key: the folder test2022 has no paper.yaml, which makes it a paper"),
        "{error}"
    );
}

#[test]
fn a_mistake_in_a_table_is_told_with_its_line_and_column() {
    let root = laid_out();
    let table = root.path().join("test2022/published/table1.csv");
    fs::write(&table, TABLE.replace("0.000001", "1 us")).expect("written");
    let error = said(root.path(), &["run", "test2022/table1.yaml", "--dry-run"], 1);
    let wanted = "table1.yaml:5:43: chart.overlay: test2022/published/table1.csv:3: column `median_s`: `1 us` is no number";
    assert!(error.contains(wanted), "{error}");
    fs::write(&table, TABLE.replace("sort,1000", "sort,1Ki")).expect("written");
    let told = said(root.path(), &["run", "test2022/table1.yaml", "--dry-run"], 0);
    let wanted =
        "test2022/published/table1.csv: 1 of 2 rows of Old One are drawn; line 2: no case has keys=1Ki";
    assert!(told.contains(wanted), "{told}");
    fs::remove_file(&table).expect("removed");
    let error = said(root.path(), &["run", "test2022/table1.yaml", "--dry-run"], 1);
    assert!(
        error.contains("chart.overlay: there is no published/table1.csv in the recipe's folder"),
        "{error}"
    );
}

#[test]
fn a_run_draws_its_tables_elsewhere() {
    let root = laid_out();
    said(root.path(), &["run", "test2022/table1.yaml", "--out", "one"], 0);
    let run = root.path().join("one");
    assert_eq!(fs::read_to_string(run.join("published/table1.csv")).expect("a copy"), TABLE);
    let chart = |run: &Path| {
        let svg = fs::read_dir(run).expect("a folder").flatten().map(|entry| entry.path());
        let svg = { svg }.find(|path| path.extension().is_some_and(|is| is == "svg")).expect("a chart");
        fs::read_to_string(svg).expect("text")
    };
    let drawn = chart(&run);
    assert!(drawn.contains("Old One (test2022)"), "{drawn}");
    fs::remove_dir_all(root.path().join("test2022")).expect("removed");
    fs::create_dir(root.path().join("elsewhere")).expect("folder");
    let moved = root.path().join("elsewhere/moved");
    fs::rename(&run, &moved).expect("moved");
    said(&moved, &["report", "."], 0);
    assert_eq!(chart(&moved), drawn);
    let packed = said(&moved, &["pack", "."], 0);
    assert!(packed.contains("removed"), "{packed}");
    said(&moved, &["report", "."], 0);
    assert_eq!(chart(&moved), drawn);
    replayed(root.path(), &["replay", "elsewhere/moved", "--out", "again"]);
    assert!(chart(&root.path().join("again")).contains("Old One (test2022)"));
    said(&moved, &["run", "recipe.yaml", "--dry-run"], 0);
    fs::remove_dir_all(moved.join("published")).expect("removed");
    let warned = said(&moved, &["report", "."], 0);
    assert!(warned.contains("has no published/table1.csv"), "{warned}");
}

#[test]
fn a_program_of_the_folder_is_executed_only_where_that_is_allowed() {
    let root = laid_out();
    let executed = root.path().join("test2022/executed");
    let rows = |run: &str| {
        let table = fs::read_to_string(root.path().join(run).join("results.csv")).expect("a table");
        let rows = table.lines().filter(|line| line.contains("peer:hrs")).map(str::to_owned);
        rows.collect::<Vec<String>>()
    };
    let refused = |said: &str| said.contains("only with --allow-programs; this one is ./hrs-peer");
    let dry = said(root.path(), &["run", "test2022/beside.yaml", "--dry-run"], 0);
    assert!(
        dry.contains("n/a: programs of a paper's folder are executed only with --allow-programs"),
        "{dry}"
    );
    said(root.path(), &["run", "test2022/beside.yaml", "--out", "without"], 0);
    assert!(
        rows("without").len() == 2 && rows("without").iter().all(|row| refused(row)),
        "{:?}",
        rows("without")
    );
    said(root.path(), &["report", "without"], 0);
    replayed(root.path(), &["replay", "without", "--out", "replayed"]);
    assert!(rows("replayed").iter().all(|row| refused(row)), "{:?}", rows("replayed"));
    assert!(!executed.exists(), "nothing has executed it");

    said(root.path(), &["run", "test2022/beside.yaml", "--out", "with", "--allow-programs"], 0);
    let measured = |run: &str| {
        let rows = rows(run);
        assert!(rows.len() == 2 && rows.iter().all(|row| row.contains("not certified: peer")), "{rows:?}");
    };
    measured("with");
    assert_eq!(fs::read_to_string(&executed).expect("it was executed there"), "--radix 8\n");
    fs::remove_file(&executed).expect("removed");
    said(root.path(), &["report", "with"], 0);
    said(root.path(), &["run", "with/recipe.yaml", "--out", "copy"], 0);
    replayed(root.path(), &["replay", "with", "--out", "refused"]);
    assert!(rows("copy").iter().chain(&rows("refused")).all(|row| refused(row)));
    assert!(!executed.exists(), "a stored run executes nothing by itself");
    replayed(root.path(), &["--allow-programs", "replay", "with", "--out", "allowed"]);
    measured("allowed");

    let folder = || {
        let manifest = fs::read_to_string(root.path().join("with/manifest.json")).expect("a manifest");
        let manifest: Value = serde_json::from_str(&manifest).expect("JSON");
        manifest["plan"]["programs"][0].get("folder").cloned()
    };
    assert!(folder().is_some_and(|folder| folder.as_str().is_some_and(|at| at.ends_with("/test2022"))));
    said(root.path(), &["pack", "with"], 0);
    assert_eq!(folder(), None, "what only this machine knows");
    replayed(root.path(), &["--allow-programs", "replay", "with", "--out", "packed"]);
    assert!(rows("packed").iter().all(|row| row.contains("the run does not tell the folder of ./hrs-peer")));
}

/// The environment variable is the program's own way to tell its engine; a user's does nothing.
#[test]
fn the_environment_allows_nothing() {
    let root = laid_out();
    let output = scatterlab_tests::program::program(root.path())
        .args(["run", "test2022/beside.yaml", "--out", "run"])
        .env("SCATTERLAB_ALLOW_PROGRAMS", "1")
        .output()
        .expect("it starts");
    assert!(output.status.success());
    assert!(!root.path().join("test2022/executed").exists());
}

#[test]
fn an_unknown_peer_is_told_with_those_of_the_folder() {
    let root = laid_out();
    let recipe = format!("{}peers: hrt\n", without_overlay());
    fs::write(root.path().join("test2022/unknown.yaml"), recipe).expect("written");
    let error = said(root.path(), &["run", "test2022/unknown.yaml", "--dry-run"], 1);
    assert!(
        error.contains("peers: unknown word `hrt`; accepted: plain, ") && error.contains(", petgraph, hrs"),
        "{error}"
    );
    fs::write(root.path().join("test2022/paper.yaml"), PAPER.replace("program: ./hrs-peer, ", ""))
        .expect("written");
    let error = said(root.path(), &["run", "test2022/beside.yaml", "--dry-run"], 1);
    assert!(error.contains("paper.yaml:7:3: missing key `program` in peers"), "{error}");
}

/// Keys of a file, with an odd number of them, are sorted and certified, and go with the run.
#[test]
fn keys_come_from_a_file() {
    let root = tempfile::tempdir().expect("temporary folder");
    let keys: Vec<String> = (0u64..4099).map(|i| (i * 2_654_435_761 % 4_294_967_291).to_string()).collect();
    fs::write(root.path().join("keys.txt"), keys.join("\n")).expect("written");
    let recipe = "\
sort:
  distribution: [{file: keys.txt}, {entropy: [1, 3]}]
  keys: [1, 33, 4099]
  values: [none, 4B, 8B]
  method: [best, msd, bitonic]
  key: [u32, u64]
backend: [scalar, cpu]
chart: {x: keys, y: time, lines: [distribution, words, values, method, key, backend]}
measure: {rounds: 1, samples: 1}
";
    fs::write(root.path().join("keys.yaml"), recipe).expect("written");
    said(root.path(), &["run", "keys.yaml", "--out", "one"], 0);
    let table = fs::read_to_string(root.path().join("one/results.csv")).expect("a table");
    let (rows, certified) =
        (table.lines().count() - 1, table.lines().filter(|row| row.contains(",certified,")).count());
    assert!(rows == 3 * 3 * 3 * 3 * 2 * 2 && certified == rows, "{certified} of {rows}");
    let all = recipe.replace("[1, 33, 4099]", "4100");
    fs::write(root.path().join("more.yaml"), all).expect("written");
    let error = said(root.path(), &["run", "more.yaml", "--dry-run"], 1);
    assert!(error.contains("the file holds 4099 keys, but 4100 are wanted"), "{error}");
    fs::write(root.path().join("wide.txt"), "1\n4294967296\n").expect("written");
    let wide = "sort: {distribution: {file: wide.txt}}\nbackend: cpu\nchart: {x: key}\n";
    fs::write(root.path().join("wide.yaml"), wide).expect("written");
    let error = said(root.path(), &["run", "wide.yaml", "--dry-run"], 1);
    assert!(
        error.contains("the largest key of the file, 4294967296, has more than 32 bits; accepted: u64"),
        "{error}"
    );
    said(root.path(), &["run", "wide.yaml", "--set", "key=u64", "--out", "wide"], 0);
    fs::remove_file(root.path().join("keys.txt")).expect("removed");
    said(root.path(), &["run", "one/recipe.yaml", "--dry-run"], 0);
}
