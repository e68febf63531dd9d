//! A panic of the user interface on a real terminal. The program under test is this test binary, which runs the
//! user interface itself: the real program has no way to panic.

use std::path::Path;
use std::process;
use std::sync::Arc;

use super::demo::Slow;
use super::fixture;
use crate::tui::config::Config;
use crate::tui::home::jobs::Wanted;
use crate::tui::{Mode, Options, RecipeEntry, run};

/// The user interface with a second recipe that panics when it is resolved.
#[test]
#[ignore = "started by the test below, on a terminal of its own"]
fn panics() {
    let resolve = |entry: &RecipeEntry, _: &_, _: Wanted| match entry.name() {
        "fig09-passes" => panic!("no such luck"),
        _ => fixture::resolve(entry),
    };
    let ended = run(Options {
        recipes: fixture::recipes(),
        more_recipes: None,
        resolve: Arc::new(resolve),
        runner: Box::new(Slow),
        devices: fixture::DEVICES.to_owned(),
        mode: Mode::Run,
        remote: None,
        root: None,
        profiles: Vec::new(),
        save_profile: |_| Err(String::new()),
        calibrator: None,
        config: Config::default(),
        lookups: None,
    });
    let status = match ended {
        Ok(_) => 0,
        Err(error) => {
            eprintln!("scatterlab: {error:#}");
            1
        }
    };
    process::exit(status);
}

#[test]
fn a_panic_gives_the_terminal_back_and_is_one_line_that_names_the_folder() {
    let binary = std::env::current_exe().expect("this binary");
    let binary = binary.to_str().expect("its name");
    let name = "tui::tests::panic::panics";
    let program = [binary, "--exact", name, "--ignored", "--nocapture"];
    let mut screen = scatterlab_tests::screen::Screen::start(Path::new("."), (100, 30), &program);
    screen.wait("quickstart");
    screen.assert_taken();
    screen.keys("\r");
    // The header is drawn first, so the recipe's text remains until everything is drawn.
    screen.until("the run is drawn", || {
        let text = screen.text();
        text.contains("RUN ") && !text.contains("stream: {")
    });
    // Back to the recipes, and on to the recipe that panics.
    screen.keys("\x1b");
    screen.wait("stream: {");
    screen.keys("j");
    assert_eq!(screen.ended(), 1);
    screen.assert_given_back();
    screen.wait("scatterlab: the user interface failed: no such luck at src/tui/tests/panic.rs:");
    let text = screen.text();
    assert!(text.contains("; the results so far are in reports/scripted"), "{text}");
    assert!(!text.contains("RUST_BACKTRACE") && !text.contains("panicked"), "{text}");
}
