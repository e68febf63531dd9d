//! `scatterlab predict` and `accuracy` as users run them.

use std::path::Path;
use std::process::{Command, Output};

use scatterlab::recipe::shipped::shipped;

fn scatterlab(data: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_scatterlab"));
    command.args(words).env("XDG_DATA_HOME", data).output().expect("it starts")
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn every_shipped_recipe_is_predicted_without_a_device() {
    let data = tempfile::tempdir().expect("a folder");
    for recipe in shipped() {
        let words = ["predict", recipe.path, "--profile", "g80", "--format", "csv"];
        let table = text(&scatterlab(data.path(), &words));
        assert!(table.lines().count() > 1, "{}: {table}", recipe.path);
    }
}

#[test]
fn a_paper_s_recipe_gets_a_table_and_a_chart_and_no_run_is_written_over() {
    let data = tempfile::tempdir().expect("a folder");
    let out = data.path().join("out");
    let folder = out.display().to_string();
    let words = ["predict", "he2007/fig09-passes", "--backend", "cuda", "--profile", "g80", "--out", &folder];
    let told = text(&scatterlab(data.path(), &words));
    assert!(told.contains("he2007") && told.contains("passes 16"), "{told}");
    let table = std::fs::read_to_string(out.join("predictions.csv")).expect("a table");
    assert!(table.lines().next().is_some_and(|head| head.contains("he2007.predicted_s")), "{table}");
    std::fs::write(out.join("manifest.json"), "{}").expect("written");
    let refused = scatterlab(data.path(), &words);
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("a run's folder"));
}

#[test]
fn what_auto_would_become_is_in_the_table() {
    let data = tempfile::tempdir().expect("a folder");
    let words = ["predict", "he2007/auto", "--backend", "cuda", "--profile", "h200", "--model", "sector"];
    let output = scatterlab(data.path(), &words);
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && told.contains("chosen method"), "{told}");
    assert!(told.contains(" partitioned\n") && told.contains(" direct"), "{told}");
}

#[test]
fn what_is_no_profile_or_model_is_told_with_what_there_is() {
    let data = tempfile::tempdir().expect("a folder");
    let error = |words: &[&str]| {
        let output = scatterlab(data.path(), words);
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let profile = error(&["predict", "quickstart", "--profile", "g81"]);
    assert!(profile.contains("g81") && profile.contains("g80"), "{profile}");
    let refused = |words: &[&str], wanted: [&str; 2]| {
        let output = scatterlab(data.path(), words);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && wanted.iter().all(|word| told.contains(word)), "{told}");
    };
    refused(&["accuracy", "reports/h200-sanity", "--backend", "gpu"], ["gpu", "scalar, cpu, cuda"]);
    refused(&["calibrate", "--name", "../h200"], ["../h200", "letters"]);
    let model = error(&["predict", "quickstart", "--profile", "g80", "--model", "he2008"]);
    assert!(model.contains("--model he2008") && model.contains("he2007"), "{model}");
}
