//! Engines that do not say hello: what the screen and the commands say meanwhile.

use std::fs;
use std::time::{Duration, Instant};

use scatterlab_tests::program::{binary, text};
use scatterlab_tests::screen::Screen;

use crate::misbehaving::Lab;

const WAITING: &str = "waiting for the engine to say hello";

#[test]
fn the_screen_is_there_before_the_engine_and_q_ends_it() {
    for engine in ["sleep 300", "cat", "while :; do echo noise; echo more >&2; sleep 0.1; done"] {
        let lab = Lab::new();
        let began = Instant::now();
        let mut screen = Screen::start(&lab.path("."), (120, 30), &[binary(), "--engine", engine]);
        screen.wait("Recipes");
        screen.wait(WAITING);
        screen.wait("s of 120");
        // The seconds are counted, and keys act.
        screen.wait(": 2 s of 120");
        screen.keys("G");
        screen.wait("small.yaml");
        screen.keys("q");
        assert_eq!(screen.ended(), 0, "{engine}");
        screen.assert_given_back();
        screen.assert_alone();
        assert!(began.elapsed() < Duration::from_secs(60), "{engine}");
    }
}

#[test]
fn the_devices_are_shown_once_the_engine_is_there() {
    let lab = Lab::new();
    let engine = format!("sleep 2; exec '{}' engine", binary());
    let mut screen = Screen::start(&lab.path("."), (160, 30), &[binary(), "--engine", &engine]);
    screen.wait(WAITING);
    screen.wait("scalar ");
    screen.until("nothing is waited for", || !screen.text().contains(WAITING));
    screen.keys("q");
    assert_eq!(screen.ended(), 0);
    let mut screen =
        Screen::start(&lab.path("."), (160, 30), &[binary(), "--engine", "echo lost >&2; exit 7"]);
    screen.wait("no engine: the engine ended before it said hello (exit status 7): lost");
    screen.keys("q");
    assert_eq!(screen.ended(), 0);
}

#[test]
fn commands_say_what_they_wait_for() {
    let lab = Lab::new();
    let recipe = lab.read("small.yaml").replace("rounds: 3", "rounds: 1");
    fs::write(lab.path("small.yaml"), recipe).expect("recipe");
    let engine = format!("sleep 7; exec '{}' engine", binary());
    for command in [&["run", "small.yaml", "--out", "out"][..], &["devices"], &["profiles"]] {
        let output = lab.scatterlab(&[command, &["--engine", &engine]].concat());
        let error = text(&output.stderr);
        assert!(output.status.success(), "{command:?}: {error}");
        let said = error.lines().filter(|line| line.contains(" to answer: ")).count();
        assert_eq!(said, 1, "{command:?}: {error}");
        assert!(error.contains(" s so far; it has 120 s to say hello"), "{command:?}: {error}");
    }
}
