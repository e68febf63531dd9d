//! The README's first five minutes, typed as they are written: each step does what the README says.

use std::fs;
use std::process::Output;

use scatterlab_tests::program::{binary, program, text};
use scatterlab_tests::screen::Screen;
use tempfile::TempDir;

const ESC: &str = "\x1b";
const TAB: &str = "\t";
const ENTER: &str = "\r";
const CTRL_C: &str = "\x03";
const CTRL_U: &str = "\x15";

/// The text of a step of the README's list.
struct Step(String);

impl Step {
    fn read(number: usize) -> Step {
        let readme = fs::read_to_string("README.md").expect("README");
        let list = readme.split_once("## The first five minutes").expect("its heading").1;
        let list = list.split_once("\nIf ").expect("the end of the list").0;
        let step = list.split_once(&format!("\n{number}. **")).expect("the step").1;
        let next = format!("\n{}. **", number + 1);
        Step(step.split(&next).next().expect("one part at least").to_owned())
    }

    /// Checks that the README tells a newcomer to do what the next lines do.
    fn says(&self, words: &str) {
        let text = self.0.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(words), "{words:?} is not in the README's step: {text}");
    }

    /// The recipe that the step prints.
    fn recipe(&self) -> String {
        let block = self.0.split_once("```yaml\n").expect("a recipe").1;
        let block = block.split_once("```").expect("its end").0;
        block.lines().map(|line| format!("{}\n", line.trim_start())).collect()
    }
}

#[test]
fn the_lab_does_what_the_first_three_steps_say() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut screen = Screen::start(folder.path(), (120, 40), &[binary()]);
    screen.wait("Recipes");

    let run = Step::read(1);
    run.says("Start `scatterlab`, then type `/quickstart`, Enter, Enter");
    screen.keys("/quickstart");
    screen.wait("/ quickstart");
    screen.keys(ENTER);
    screen.keys(ENTER);
    screen.wait("RUN ");
    run.says("Space pauses the run");
    screen.keys(" ");
    screen.wait("PAUSED");
    screen.keys(" ");
    run.says("`?` lists the keys of the focused panel; a second `?` explains its words");
    screen.keys("?");
    screen.wait("╭ Help ─");
    screen.keys("?");
    screen.wait("╭ Words ─");
    screen.keys(ESC);
    screen.wait("DONE");
    run.says("`v` shows or hides a cursor on the chart");
    screen.keys("v");
    screen.wait("cursor: tuples ");
    screen.keys("v");
    screen.until("the cursor is gone", || !screen.text().contains("cursor: tuples "));

    let change = Step::read(2);
    change.says("Esc leads back to the recipes. There `e` opens the selected recipe, Enter changes a value, such as `tuples`, and `r` runs the changed recipe");
    screen.keys(ESC);
    screen.wait("━ Recipes");
    screen.keys("e");
    screen.wait("━ Editing");
    screen.keys(ENTER);
    screen.keys(CTRL_U);
    screen.keys("2Ki..32Ki x4");
    screen.keys(ENTER);
    screen.keys("r");
    screen.wait("(tuples 2Ki..32");
    screen.wait("DONE");
    change.says("Tab moves to the chart, where `o` draws the previous run behind the new one");
    screen.keys(TAB);
    screen.keys("o");
    screen.wait("× baseline: ");
    change.says("In the list of recipes, `o` lists the stored runs");
    screen.keys(ESC);
    screen.wait("━ Recipes");
    screen.keys("o");
    screen.wait("━ Runs 2");
    change.says("`b` draws the selected one behind the chart");
    screen.keys("b");
    screen.wait("baseline: ");

    let model = Step::read(3);
    model.says("`c` measures one in 15 seconds");
    screen.keys(ESC);
    screen.wait("cpu has no profile");
    screen.keys("c");
    screen.wait("CALIBRATING");
    screen.wait("calibrated in ");
    screen.until("the chart has predictions", || !screen.text().contains("has no profile"));
    screen.keys(CTRL_C);
    assert_eq!(screen.ended(), 0);
    screen.assert_given_back();
    screen.assert_alone();
    model.says("`scatterlab profiles` says which profile is used, and why");
    let profiles = type_in(&folder, "scatterlab profiles");
    assert!(text(&profiles.stdout).contains("this very machine before others"), "{profiles:?}");
}

#[test]
fn the_command_line_does_what_the_last_two_steps_say() {
    let folder = tempfile::tempdir().expect("a folder");
    let recipe = Step::read(4);
    recipe.says("Save this recipe as `passes.yaml`");
    fs::write(folder.path().join("passes.yaml"), recipe.recipe()).expect("a recipe");
    recipe.says("`scatterlab run passes.yaml --out passes`");
    let run = type_in(&folder, "scatterlab run passes.yaml --out passes");
    assert!(run.status.success(), "{run:?}");
    recipe.says("An error names the line, the column, the key and the accepted values");
    fs::write(folder.path().join("wrong.yaml"), recipe.recipe().replace("tuples:", "tupels:"))
        .expect("a recipe");
    let wrong = type_in(&folder, "scatterlab run wrong.yaml");
    let error = text(&wrong.stderr);
    assert_eq!(wrong.status.code(), Some(1), "{error}");
    ["wrong.yaml:3:", "tupels", "tuples"]
        .iter()
        .for_each(|part| assert!(error.contains(part), "{part}: {error}"));

    let share = Step::read(5);
    share.says("`scatterlab replay passes`");
    let replay = type_in(&folder, "scatterlab replay passes");
    let judged = text(&replay.stdout);
    assert!(judged.contains(" agree, ") && judged.contains(" cannot tell"), "{judged}");
    share.says("`scatterlab report passes --html`");
    let report = type_in(&folder, "scatterlab report passes --html");
    assert!(report.status.success(), "{report:?}");
    let page = fs::read_to_string(folder.path().join("passes/report.html")).expect("a page");
    assert!(page.contains("<svg"), "a chart");
}

/// Types a command line without quotes.
fn type_in(folder: &TempDir, line: &str) -> Output {
    let words: Vec<&str> = line.split(' ').collect();
    let mut command = program(folder.path());
    command.args(&words[1..]).env("XDG_DATA_HOME", folder.path()).env("XDG_CONFIG_HOME", folder.path());
    command.output().expect("starts")
}
