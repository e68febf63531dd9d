//! The real program with engines that make things up: rounds beyond the plan, one stage after another without a result,
//! durations that cannot be, deaths on the last case.

use std::fs;
use std::time::{Duration, Instant};

use scatterlab::run::Status;
use scatterlab_tests::program::{binary, text};

use crate::misbehaving::{Lab, filtered};

/// One case, so that nothing is left once it has failed.
const ONE: &str = "\
title: One
stream: {kernel: copy, elements: 64Ki}
backend: scalar
chart: {x: elements, y: bandwidth}
measure: {rounds: 3, samples: 2, ci: none, second-look: never}
";

/// An engine in words of the shell: this program's hello, and then, for the first case `$id` of each plan, this.
fn at_each_plan(words: &str) -> String {
    let hello = format!("'{binary}' engine </dev/null | head -n 1", binary = binary());
    let id = "id=${line#*'\"id\":\"'}; id=${id%%'\"'*}";
    format!(
        "{hello}; while IFS= read -r line; do case $line in *'\"command\":\"run\"'*) {id}; {words};; esac; done"
    )
}

/// Words that say that the device of the case `$id` is lost.
const LOST: &str = "printf '{\"event\":\"failed\",\"seq\":1,\"case\":\"%s\",\"round\":0,\"error\":\"gone\",\"lost\":true}\\n' \"$id\"";

/// Words that report a stage of a round of the case `$id`.
fn progress(round: &str, stage: &str) -> String {
    let event = "{\"event\":\"progress\",\"case\":\"%s\",\"round\":%s,\"stage\":\"%s\"}\\n";
    format!("printf '{event}' \"$id\" \"{round}\" {stage}")
}

#[test]
fn rounds_and_stages_without_end_are_no_progress() {
    let endless = |body: &str| at_each_plan(&format!("i=0; while :; do i=$((i+1)); {body}; done"));
    let back_and_forth = format!("{}; {}", progress("0", "warm-up"), progress("0", "sample"));
    let retried = "printf '{\"event\":\"retried\",\"case\":\"%s\",\"rounds\":%s}\\n' \"$id\" $i";
    for (kind, engine) in [
        ("ever new rounds", endless(&progress("$i", "sample"))),
        ("rounds of the far end", endless(&progress("$((4294967295 - i))", "sample"))),
        ("back and forth", endless(&back_and_forth)),
        (
            "further rounds that nobody asked for",
            endless(&format!("{retried}; {}", progress("$i", "sample"))),
        ),
    ] {
        let lab = Lab::new();
        fs::write(lab.path("small.yaml"), ONE).expect("recipe");
        let began = Instant::now();
        let output = lab.run_patiently(&engine, "1");
        let (said, error) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(1), "{kind}: {said}{error}");
        assert!(said.contains("killed after 1 s without progress"), "{kind}: {said}");
        assert!(error.contains("given up: the engine died 3 times"), "{kind}: {error}");
        assert!(began.elapsed() < Duration::from_secs(60), "{kind}");
        let events = lab.read("out/events.ndjson");
        assert!(events.len() < 300_000, "{kind}: {} bytes", events.len());
    }
}

#[test]
fn rounds_beyond_the_plan_are_no_results() {
    // The engine goes on where its plan ends: each round is reported under ever larger numbers.
    let lab = Lab::new();
    let output = lab.run(&filtered("sed -u '/\"event\":\"round\"/s/\"round\":\\([0-9]\\)/\"round\":7\\1/'"));
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{said}{}", text(&output.stderr));
    assert!(
        said.contains("FAILED: not credible: there is a round 70, and the case has 3 rounds at most"),
        "{said}"
    );
    assert!(said.contains("0 certified, 2 failed"), "{said}");
    assert!(!lab.read("out/events.ndjson").contains("\"event\":\"round\""), "not on file");
}

#[test]
fn three_deaths_end_the_run_also_on_the_last_case() {
    for (kind, words) in [
        ("after a stage", format!("{}; exit 1", progress("0", "sample"))),
        ("with the same lost device each time", format!("{LOST}; {}; exit 1", progress("0", "sample"))),
        ("by a signal", format!("{}; kill -9 $$", progress("2", "generate"))),
    ] {
        let lab = Lab::new();
        fs::write(lab.path("small.yaml"), ONE).expect("recipe");
        let output = lab.run(&at_each_plan(&words));
        let (said, error) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(1), "{kind}: {said}{error}");
        let hellos = lab.read("out/events.ndjson").matches("\"event\":\"hello\"").count();
        assert!(hellos <= 4, "{kind}: {hellos} engines");
        assert!(error.contains("the engine died"), "{kind}: {error}");
        assert!(error.contains("to resume: scatterlab run --resume out"), "{kind}: {error}");
        let output = lab.scatterlab(&["run", "--resume", "out"]);
        assert!(output.status.success(), "{kind}: {}{}", text(&output.stdout), text(&output.stderr));
    }
}

#[test]
fn a_part_of_a_round_is_not_longer_than_the_round() {
    for (samples, why) in [
        ("1e308,1e308", "the samples of round 0 took inf s"),
        ("5e8,5e8", "the samples of round 0 took "),
        ("0.001,100000", "the samples of round 0 took "),
    ] {
        let lab = Lab::new();
        let output =
            lab.run(&filtered(&format!("sed -u 's/\"samples\":\\[[^]]*\\]/\"samples\":[{samples}]/'")));
        let said = text(&output.stdout);
        assert_eq!(output.status.code(), Some(3), "{said}{}", text(&output.stderr));
        assert!(said.contains(&format!("FAILED: not credible: {why}")), "{said}");
        assert!(said.contains(" s, and the whole round "), "{said}");
        assert!(lab.statuses("out").iter().all(|status| matches!(status, Status::Failed(_))), "{said}");
    }
}
