//! `scatterlab claims` on runs of a paper that a user has made.

use std::fs;
use std::path::Path;
use std::process::Output;

use scatterlab_tests::program::{scatterlab, text};

const RECIPE: &str = "title: Sizes\npaper: {key: mine2026}\nstream:\n  kernel: copy\n  elements: [1Ki, 4Mi]\nbackend: scalar\n\
                      chart: {x: elements}\nmeasure: {rounds: 3, samples: 3, budget: 20ms}\n";

/// A paper with one claim: that the larger copy takes longer, or whatever `statement` says.
fn paper(folder: &Path, statement: &str) {
    fs::create_dir_all(folder).expect("a folder");
    fs::write(folder.join("sizes.yaml"), RECIPE).expect("a recipe");
    let claim = format!(
        "{{id: a, at: '§1', says: large copies take longer, from: sizes, printed: {{none: text}}, shape: ['{statement}']}}"
    );
    let other = "{id: b, at: '§2', says: it is elegant, none: no measurement shows it}";
    fs::write(
        folder.join("paper.yaml"),
        format!("title: Mine\nyear: 2026\nclaims:\n  - {claim}\n  - {other}\n"),
    )
    .expect("it");
}

fn claims(root: &Path, words: &[&str]) -> Output {
    scatterlab(root, &[&["claims", "mine2026", "--runs", "runs"], words].concat())
}

#[test]
fn a_paper_of_a_user_is_judged_with_an_exit_status() {
    let root = tempfile::tempdir().expect("a folder");
    let folder = root.path().join("mine2026");
    fs::create_dir(root.path().join("runs")).expect("a folder");
    let status = |statement: &str| {
        paper(&folder, statement);
        let output = claims(root.path(), &[]);
        (output.status.code(), text(&output.stdout))
    };
    let longer = "time of elements=4Mi over elements=1Ki > 4";
    let (code, said) = status(longer);
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("n/a: no run of sizes") && said.contains("n/a: no measurement shows it"), "{said}");
    let run = |set: &[&str], out: &str| {
        let output = scatterlab(root.path(), &[&["run", "mine2026/sizes.yaml", "--out", out], set].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
    };
    run(&["--set", "measure.rounds=1", "--set", "measure.max-rounds=1"], "runs/one");
    let (code, said) = status(longer);
    assert_eq!(code, Some(5), "{said}");
    assert!(said.contains("cannot tell: a case has 1 of the 3 rounds"), "{said}");
    fs::remove_dir_all(root.path().join("runs/one")).expect("removed");
    run(&[], "runs/three");
    let (code, said) = status(longer);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("(three): shape holds"), "{said}");
    let (code, said) = status("time of elements=4Mi over elements=1Ki < 4");
    assert_eq!(code, Some(4), "{said}");
    let table = claims(root.path(), &["--format", "csv"]);
    let table = text(&table.stdout);
    assert!(table.starts_with("paper,claim,at,says,source,machine,part,outcome,why,found,"), "{table}");
    assert_eq!(table.lines().count(), 3, "{table}");
}

/// The run has its own copy of what the paper claims: its tables and charts say the outcome wherever it lies.
#[test]
fn a_run_says_what_becomes_of_its_paper_without_the_folder() {
    let root = tempfile::tempdir().expect("a folder");
    let folder = root.path().join("mine2026");
    paper(&folder, "time of elements=4Mi over elements=1Ki > 4");
    let output = scatterlab(root.path(), &["run", "mine2026/sizes.yaml", "--out", "run"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    fs::remove_dir_all(&folder).expect("removed");
    let read = |name: &str| fs::read_to_string(root.path().join("moved").join(name)).unwrap_or_default();
    fs::rename(root.path().join("run"), root.path().join("moved")).expect("moved");
    let written = ["claims.csv", "sizes.svg"].map(read);
    for name in ["claims.csv", "sizes.svg"] {
        fs::remove_file(root.path().join("moved").join(name)).expect(name);
    }
    let output = scatterlab(root.path(), &["report", "moved"]);
    assert!(output.status.success() && output.stderr.is_empty(), "{}", text(&output.stderr));
    assert_eq!(written, ["claims.csv", "sizes.svg"].map(read));
    let [claims, chart] = written;
    let lines: Vec<&str> = claims.lines().collect();
    assert_eq!(lines.len(), 2, "{claims}");
    assert!(lines[1].contains(",measured,") && lines[1].contains(",shape,holds,"), "{claims}");
    assert!(lines[1].contains(",before,"), "{claims}");
    assert!(chart.contains("mine2026 §1 claims: large copies take longer"), "{chart}");
}

#[test]
fn a_mistake_is_one_line_with_the_file_and_what_is_accepted() {
    let root = tempfile::tempdir().expect("a folder");
    fs::create_dir(root.path().join("runs")).expect("a folder");
    for (statement, part) in [
        ("time of element=4Mi over elements=1Ki > 4", "unknown column `element` (did you mean `elements`?)"),
        ("time of elements=5Mi over elements=1Ki > 4", "no case of the recipe matches"),
        ("time of elements=4Mi > 4 parsecs", "`parsecs` is no unit; accepted: s, ms"),
        ("time of elements=4Mi over elements=1Ki is large", "it has no test; accepted"),
    ] {
        paper(&root.path().join("mine2026"), statement);
        let output = claims(root.path(), &[]);
        let said = text(&output.stderr);
        assert_eq!((output.status.code(), said.lines().count()), (Some(1), 1), "{said}");
        assert!(said.contains("mine2026/paper.yaml:4:") && said.contains(part), "{said}");
    }
    let output = scatterlab(root.path(), &["claims", "no-such"]);
    let said = text(&output.stderr);
    assert!(output.status.code() == Some(1) && said.contains("accepted: he2007, sengupta2007"), "{said}");
}
