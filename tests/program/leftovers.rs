//! What killed programs leave in folders, and runs whose manifest is lost.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use scatterlab::run::Status;
use scatterlab_tests::program::{program, text};

use crate::misbehaving::Lab;

/// The number of a process that has ended.
fn gone() -> u32 {
    let mut child = Command::new("true").spawn().expect("starts");
    child.wait().expect("ends");
    child.id()
}

#[test]
fn drafts_of_killed_programs_are_removed_by_the_next_one() {
    let lab = Lab::with_run();
    let draft = |name: &str| lab.path(&format!("out/.{name}.{}.part", gone()));
    for command in [&["report", "out"][..], &["pack", "out"], &["run", "--resume", "out"]] {
        let drafts = ["bandwidth.svg", "results.csv", "events.ndjson.gz"].map(draft);
        drafts.iter().for_each(|draft| fs::write(draft, "half").expect("written"));
        fs::remove_file(lab.path("out/results.csv")).ok();
        let output = lab.scatterlab(command);
        assert!(output.status.success(), "{command:?}: {}", text(&output.stderr));
        assert_eq!(drafts.iter().filter(|draft| draft.exists()).count(), 0, "{command:?}");
    }
    let others = [lab.path(&format!("out/.a.{}.part", std::process::id())), lab.path("out/.note.part")];
    others.iter().for_each(|other| fs::write(other, "mine").expect("written"));
    assert!(lab.scatterlab(&["report", "out"]).status.success());
    assert!(others.iter().all(|other| other.exists()), "not a draft, or its writer lives");
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path()).collect()
}

#[test]
fn the_temporary_folder_of_a_killed_calibration_is_removed_by_the_next_program() {
    let lab = Lab::new();
    let temporary = lab.path("tmp");
    fs::create_dir(&temporary).expect("a folder");
    let start = |words: &[&str]| {
        let mut command = program(&lab.path("."));
        command.args(words).env("TMPDIR", &temporary).stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    let mut calibrate = start(&["calibrate", "--backend", "cpu", "--quick"]).spawn().expect("starts");
    let deadline = Instant::now() + Duration::from_secs(60);
    while !entries(&temporary).iter().any(|folder| folder.join("run/manifest.json").exists()) {
        assert!(Instant::now() < deadline, "it does not begin");
        thread::sleep(Duration::from_millis(20));
    }
    let living = entries(&temporary);
    let spatter = ["spatter", "-p", "UNIFORM:8:1", "-l", "1000", "-b", "serial"];
    assert!(start(&spatter).status().expect("starts").success());
    assert_eq!(entries(&temporary), living, "its program lives, and the other one left nothing");
    calibrate.kill().expect("killed");
    calibrate.wait().expect("ended");
    assert_eq!(entries(&temporary), living, "a killed program removes nothing");
    assert!(start(&spatter).status().expect("starts").success());
    assert!(entries(&temporary).is_empty());
}

#[test]
fn a_lost_manifest_is_rebuilt_from_the_recipe_and_the_events() {
    type Damage = fn(&Path);
    let kinds: [(&str, Damage); 4] = [
        ("absent", |file| fs::remove_file(file).expect("removed")),
        ("empty", |file| fs::write(file, "").expect("emptied")),
        ("half", |file| {
            let text = fs::read_to_string(file).expect("a manifest");
            fs::write(file, &text[..text.len() / 2]).expect("cut");
        }),
        ("zeros", |file| fs::write(file, [0; 4096]).expect("zeros")),
    ];
    for (kind, damage) in kinds {
        let lab = Lab::with_run();
        damage(&lab.path("out/manifest.json"));
        let output = lab.scatterlab(&["report", "out"]);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{kind}");
        assert!(
            error.contains("manifest.json") && error.contains("to rebuild it: scatterlab salvage out"),
            "{error}"
        );
        let output = lab.scatterlab(&["salvage", "out"]);
        let said = text(&output.stdout);
        assert!(output.status.success(), "{kind}: {said}{}", text(&output.stderr));
        assert!(said.contains(": rebuilt from recipe.yaml and the events, 2 cases"), "{kind}: {said}");
        let output = lab.scatterlab(&["report", "out-salvaged"]);
        assert!(text(&output.stdout).contains("2 certified"), "{kind}: {}", text(&output.stdout));
        let output = lab.scatterlab(&["run", "--resume", "out-salvaged"]);
        assert!(text(&output.stdout).contains("the run is complete"), "{kind}: {}", text(&output.stdout));
        assert_eq!(lab.statuses("out-salvaged"), [Status::Done, Status::Done]);
    }
}

#[test]
fn without_its_recipe_too_a_run_keeps_its_samples() {
    for recipe in [
        None,
        Some("title: Small\n"),
        Some("stream: {kernel: copy, elements: 7}\nbackend: scalar\nchart: {x: kernel}\n"),
    ] {
        let lab = Lab::with_run();
        fs::write(lab.path("out/manifest.json"), "").expect("emptied");
        match recipe {
            None => fs::remove_file(lab.path("out/recipe.yaml")),
            Some(text) => fs::write(lab.path("out/recipe.yaml"), text),
        }
        .expect("changed");
        let output = lab.scatterlab(&["salvage", "out"]);
        let said = text(&output.stdout);
        assert_eq!(output.status.code(), Some(3), "{said}{}", text(&output.stderr));
        assert!(said.contains("and it cannot be rebuilt: ") && said.contains("recipe.yaml"), "{said}");
        assert!(said.contains("lost: the title, the parameters of the cases"), "{said}");
        assert!(said.contains("kept: every sample of 2 cases"), "{said}");
        // Two cases of three rounds of two samples.
        let samples = lab.read("out-salvaged/salvaged-samples.csv");
        assert_eq!(samples.lines().count(), 1 + 2 * 3 * 2, "{samples}");
        assert_eq!(lab.read("out/manifest.json"), "", "the run is as it was");
    }
}
