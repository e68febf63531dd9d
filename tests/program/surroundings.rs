//! Whatever surrounds the program: folders that are not there, launchers, and names of files that are not text.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Instant;

use scatterlab_tests::program::{binary, program, scatterlab, text};

const SMALL: &str = "\
stream: {kernel: copy, elements: 1Ki}
backend: scalar
chart: {x: elements, y: bandwidth}
measure: {rounds: 1, samples: 2}
";

fn laid_out() -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("temporary folder");
    fs::write(root.path().join("small.yaml"), SMALL).expect("recipe");
    root
}

fn started(root: &Path, words: &[&str], variables: &[(&str, &str)]) -> Output {
    program(root).args(words).envs(variables.iter().copied()).output().expect("starts")
}

/// The status and the lines of standard error.
fn refusal(output: &Output) -> (Option<i32>, Vec<String>) {
    (output.status.code(), text(&output.stderr).lines().map(str::to_owned).collect())
}

#[test]
fn a_home_that_is_no_folder_has_no_configuration() {
    let root = laid_out();
    let long = "/x".repeat(5_000);
    std::os::unix::fs::symlink("loop", root.path().join("loop")).expect("a link");
    let folder = root.path().join("loop").display().to_string();
    for (variable, value) in [
        ("HOME", "/dev/null"),
        ("HOME", "/nonexistent"),
        ("HOME", &long),
        ("HOME", &folder),
        ("XDG_CONFIG_HOME", "/dev/null"),
        ("XDG_CONFIG_HOME", "/proc/self/cmdline/x"),
    ] {
        let mut config = program(root.path());
        config.arg("config").env_remove("XDG_CONFIG_HOME").env(variable, value);
        let output = config.output().expect("starts");
        assert!(output.status.success() && output.stderr.is_empty(), "{variable}={value:.40}: {output:?}");
        assert!(text(&output.stdout).contains("theme"), "the defaults");
    }
    // A file that is asked for must be there, and one that is there must be readable.
    let asked = scatterlab(root.path(), &["config", "--config", "/dev/null/x"]);
    assert!(!asked.status.success() && text(&asked.stderr).contains("/dev/null/x"), "{asked:?}");
    fs::create_dir_all(root.path().join("home/scatterlab/config.yaml")).expect("a folder");
    let home = root.path().join("home").display().to_string();
    let there = started(root.path(), &["config"], &[("XDG_CONFIG_HOME", &home)]);
    assert!(!there.status.success() && text(&there.stderr).contains("is a folder"), "{there:?}");
}

/// Copies side by side would measure each other.
#[test]
fn what_measures_is_refused_as_one_of_several_ranks() {
    let root = laid_out();
    let launchers = [
        [("OMPI_COMM_WORLD_SIZE", "2"), ("OMPI_COMM_WORLD_RANK", "0")],
        [("PMI_SIZE", "3"), ("PMI_RANK", "0")],
        [("MV2_COMM_WORLD_SIZE", "2"), ("MV2_COMM_WORLD_RANK", "0")],
        [("SLURM_STEP_NUM_TASKS", "8"), ("SLURM_PROCID", "0")],
    ];
    let run = ["run", "small.yaml", "--out", "out"];
    for launcher in launchers {
        let (status, said) = refusal(&started(root.path(), &run, &launcher));
        let (variable, size) = launcher[0];
        assert!(status == Some(1) && said.len() == 1, "{said:?}");
        assert!(said[0].contains(&format!("started as {size} ranks ({variable}={size})")), "{said:?}");
    }
    let others: [&[&str]; 4] = [&["run", "--resume", "out"], &["replay", "out"], &["calibrate"], &["verify"]];
    for words in others {
        let (status, said) = refusal(&started(root.path(), words, &launchers[0]));
        assert!(status == Some(1) && said.len() == 1 && said[0].contains(words[0]), "{words:?}: {said:?}");
    }
    let began = Instant::now();
    let last = [("PMI_SIZE", "3"), ("PMI_RANK", "2")];
    assert_eq!(refusal(&started(root.path(), &run, &last)), (Some(1), Vec::new()));
    assert!(began.elapsed().as_secs_f64() > 0.5, "rank 0 would be killed before it has spoken");
    assert!(!root.path().join("out").exists(), "nothing is written");
}

#[test]
fn a_single_rank_and_what_measures_nothing_go_on() {
    let root = laid_out();
    let several = [("OMPI_COMM_WORLD_SIZE", "2"), ("OMPI_COMM_WORLD_RANK", "0")];
    for words in [&["run", "small.yaml", "--dry-run"][..], &["config"], &["schema"]] {
        let output = started(root.path(), words, &several);
        assert!(output.status.success() && output.stderr.is_empty(), "{words:?}: {output:?}");
    }
    let run = ["run", "small.yaml", "--out", "out"];
    let alone = [("OMPI_COMM_WORLD_SIZE", "1"), ("OMPI_COMM_WORLD_RANK", "0")];
    assert!(started(root.path(), &run, &alone).status.success());
    // What is no number says nothing about ranks.
    let replay = ["replay", "out", "--margin", "90%", "--out", "again"];
    let output = started(root.path(), &replay, &[("PMI_SIZE", "many")]);
    let said = text(&output.stderr);
    assert!(said.starts_with("scatterlab: PMI_SIZE=many is ignored"), "{said}");
}

#[test]
fn gpus_that_are_not_there_are_refused_before_anything_is_checked() {
    let root = laid_out();
    for count in ["2", "64", "65", "99999999999"] {
        let began = Instant::now();
        let output = scatterlab(root.path(), &["verify", "--gpus", count]);
        assert!(!output.status.success() && text(&output.stderr).contains("--gpus"), "{output:?}");
        assert!(!text(&output.stdout).contains("passed"), "{output:?}");
        assert!(began.elapsed().as_secs() < 30, "{count}");
    }
    let output = scatterlab(root.path(), &["verify", "--backend", "scalar", "--gpus", "1"]);
    assert!(!output.status.success() && text(&output.stderr).contains("no GPU is verified"), "{output:?}");
}

// ---- names ------------------------------------------------------------------------------------------

/// Names that a shell or a terminal would change.
const NAMES: [&[u8]; 6] = [b"b\xff", b"x\ny", b"-r", b"it's \x1b[2J", b"\xe2\x80\xae\xc3", b"a b$(c)`d`"];

fn named(name: &[u8], end: &str) -> OsString {
    [OsStr::from_bytes(name), OsStr::new(end)].concat_os()
}

trait Concat {
    fn concat_os(&self) -> OsString;
}

impl Concat for [&OsStr] {
    fn concat_os(&self) -> OsString {
        self.iter().fold(OsString::new(), |mut all, part| {
            all.push(part);
            all
        })
    }
}

/// What a shell makes of a command that the program has printed.
fn pasted(root: &Path, command: &str) -> Output {
    let script = format!("scatterlab() {{ {} \"$@\"; }}; {command}", binary());
    let mut shell = Command::new("bash");
    shell.args(["-c", &script]).current_dir(root).env("HOME", root);
    shell.output().expect("a shell")
}

/// The rest of the line after these words.
fn after<'t>(said: &'t str, words: &str) -> &'t str {
    let (_, rest) = said.split_once(words).unwrap_or_else(|| panic!("no {words:?} in {said}"));
    rest.lines().next().unwrap_or_default()
}

#[test]
fn commands_can_be_pasted_whatever_the_names() {
    for name in NAMES {
        let root = laid_out();
        let (recipe, out, saved) = (named(name, ".yaml"), named(name, ""), named(name, "-s"));
        fs::copy(root.path().join("small.yaml"), root.path().join(&recipe)).expect("a copy");
        let option = |option: &str, value: &OsStr| [OsStr::new(option), value].concat_os();
        // The recipe was never run: the command that runs it, in a folder below this one.
        let replay = program(root.path())
            .args([OsStr::new("replay"), &option("--root=", &out), OsStr::new("--")])
            .arg(&recipe)
            .output()
            .expect("starts");
        let made = pasted(root.path(), after(&text(&replay.stderr), "this makes one: "));
        assert!(made.status.success(), "{name:?}: {replay:?}\n{made:?}");
        let run =
            fs::read_dir(root.path().join(&out)).expect("the folder").next().expect("a run").expect("read");
        // Its log is torn: the command that reports what is left of it.
        let events = run.path().join("events.ndjson");
        let log = fs::read_to_string(&events).expect("the log");
        fs::write(&events, log.trim_end().to_owned() + "\n{}\n").expect("written");
        let salvage = program(root.path())
            .arg("salvage")
            .arg(option("--out=", &saved))
            .arg(run.path())
            .output()
            .expect("starts");
        let report =
            after(&text(&salvage.stdout), "next: ").split(", or ").next().unwrap_or_default().to_owned();
        let told = pasted(root.path(), &report);
        assert!(told.status.success(), "{name:?}: {salvage:?}\n{report}\n{told:?}");
    }
}

#[test]
fn files_are_read_whatever_their_names() {
    for name in NAMES {
        let root = laid_out();
        let files = [
            (".yaml", SMALL),
            (".txt", "0 8 16"),
            (".json", "[{\"pattern\": \"UNIFORM:8:1\", \"count\": 4}]"),
        ];
        let [recipe, list, suite] = files.map(|(end, content)| {
            let name = named(name, end);
            fs::write(root.path().join(&name), content).expect("written");
            name
        });
        let lines: [(&[&str], &OsStr); 5] = [
            (&["run", "--dry-run", "--"], &recipe),
            (&["predict", "--profile", "g80", "--"], &recipe),
            (&["locality", "--"], &list),
            (&["locality", "--"], &recipe),
            (&["spatter", "-b", "serial", "-f"], &suite),
        ];
        for (words, file) in lines {
            let output = program(root.path()).args(words).arg(file).output().expect("starts");
            let no_indices = text(&output.stderr).contains("none of its cases goes through indices");
            assert!(output.status.success() || no_indices, "{words:?} {file:?}: {output:?}");
        }
    }
}

/// The array and its copy lie below folders of such names, and the engine is told where.
#[test]
fn files_of_a_recipe_are_found_below_any_folder() {
    const LISTED: &str = "gather: {locations: {file: {path: list.txt}}}\nbackend: scalar\n\
                          chart: {x: method}\nmeasure: {rounds: 1, samples: 2}\n";
    for name in NAMES {
        let root = tempfile::tempdir().expect("temporary folder");
        let [own, out, again] = ["", "-out", "-again"].map(|end| named(name, end));
        let folder = root.path().join(&own);
        fs::create_dir(&folder).expect("a folder");
        fs::write(folder.join("list.txt"), "3 1 2 0").expect("written");
        fs::write(folder.join("r.yaml"), LISTED).expect("written");
        let option = |value: &OsStr| [OsStr::new("--out="), value].concat_os();
        let succeeds = |words: &[&OsStr]| {
            let output = program(root.path()).args(words).output().expect("starts");
            assert!(output.status.success(), "{words:?}: {output:?}");
        };
        succeeds(&[OsStr::new("run"), &option(&out), folder.join("r.yaml").as_os_str()]);
        // The copies in the run's folder are enough.
        fs::remove_dir_all(&folder).expect("removed");
        let recipe = root.path().join(&out).join("recipe.yaml");
        succeeds(&[OsStr::new("run"), &option(&again), recipe.as_os_str()]);
    }
}

#[test]
fn that_a_graph_is_taken_in_both_directions_is_said_once() {
    let root = tempfile::tempdir().expect("temporary folder");
    let write = |name: &str, text: &str| fs::write(root.path().join(name), text).expect("written");
    write("a.gr", "p sp 3 2\na 1 2 5\na 2 3 1\n");
    write("b.el", "0 1\n1 2\n");
    let recipe = |graph: &str| {
        format!(
            "sssp: {{graph: {graph}, delta: [1, 2]}}\nbackend: scalar\nchart: {{x: delta}}\nmeasure: {{rounds: 1}}\n"
        )
    };
    let told = |graph: &str, words: &[&str]| {
        write("r.yaml", &recipe(graph));
        let output = scatterlab(root.path(), &[&["run", "r.yaml"], words].concat());
        assert!(output.status.success(), "{output:?}");
        text(&output.stdout).matches("one in both directions").count()
    };
    assert_eq!(told("{file: a.gr}", &["--dry-run"]), 1);
    assert_eq!(told("{file: a.gr}", &["--out", "a"]), 1);
    assert_eq!(told("[{file: a.gr}, {file: b.el}]", &["--dry-run", "--set", "chart.lines=graph"]), 2);
    assert_eq!(told("{file: {path: a.gr, directions: given}}", &["--dry-run"]), 0);
    assert_eq!(told("{file: a.gr}", &["--out", "b", "--quiet"]), 0);
}

#[test]
fn where_only_text_may_stand_the_word_is_named() {
    let root = laid_out();
    let odd = OsStr::from_bytes(b"b\xff");
    for words in
        [&["run", "small.yaml", "--set"][..], &["verify", "--primitive"], &["spatter", "-f", "a.json"]]
    {
        let output = program(root.path()).args(words).arg(odd).output().expect("starts");
        let (status, said) = refusal(&output);
        assert!(status == Some(2) || words[0] == "spatter" && status == Some(255), "{output:?}");
        assert!(said.len() == 1 && said[0].contains(r"$'b\377'"), "{said:?}");
    }
    let absent = program(root.path()).arg("run").arg(odd).output().expect("starts");
    assert!(text(&absent.stderr).contains("no such file"), "{absent:?}");
}
