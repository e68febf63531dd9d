//! What the real program prints: output that cannot be written is an error, a reader that has gone is not, and
//! nothing that comes from others acts on the terminal.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use scatterlab_tests::program::{binary, program, scatterlab, text};
use serde_json::Value as Json;

const SMALL: &str = "\
title: Small
stream: {kernel: [copy, triad], elements: 1Ki}
backend: scalar
chart: {x: elements, y: bandwidth, lines: kernel}
measure: {rounds: 3, samples: 2}
";

/// A paper whose claim no noise makes doubtful.
const PAPER: &str = "title: Mine\nyear: 2026\nclaims:\n- {id: a, at: '1', says: copies move bytes, from: small, \
                     printed: {none: text}, shape: [declared_bytes of backend=scalar > 0]}\n";

/// A folder with a recipe and two stored runs of it, `run` and `other`, and with the paper `mine`, of which
/// `papers` holds a run.
fn laid_out() -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("temporary folder");
    let mine = root.path().join("mine");
    fs::create_dir(&mine).expect("a folder");
    fs::write(root.path().join("small.yaml"), SMALL).expect("recipe");
    fs::write(mine.join("small.yaml"), format!("paper: {{key: mine}}\n{SMALL}")).expect("recipe");
    fs::write(mine.join("paper.yaml"), PAPER).expect("a paper");
    for (recipe, out) in [("small.yaml", "run"), ("small.yaml", "other"), ("mine/small.yaml", "papers/mine")]
    {
        let output = scatterlab(root.path(), &["run", recipe, "--out", out]);
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
    root
}

// ---- output that cannot be written ------------------------------------------------------------------

/// Command lines that print something and succeed, apart from those that measure a profile (`calibrate`) or speak
/// with a client (`engine`).
const PRINTING: &[&str] = &[
    "--help",
    "--version",
    "help run",
    "schema",
    "schema events",
    "man",
    "completions bash",
    "locality 0,8,16",
    "locality 0,8,16 --format csv",
    "locality 0,8,16 --format json",
    "config",
    "devices",
    "devices --format csv",
    "devices --format ndjson",
    "profiles",
    "figure",
    "claims mine --runs papers",
    "claims mine --runs papers --format csv",
    "report run",
    "report run --format csv",
    "report run other --format json",
    "report run --format ndjson",
    "pack other",
    "watch run --headless --speed max",
    "compare run other",
    "compare run other --format csv",
    "compare run --against other",
    "reframe small.yaml --against run --tolerance 100%",
    "reframe small.yaml --out tests.py",
    "compare run other --format json",
    "compare run other --format ndjson",
    "run small.yaml --dry-run",
    "run small.yaml --out RUN",
    "run small.yaml --format csv --out RUN",
    "run --resume run",
    "salvage run --out RUN",
    "replay run --margin 50% --out RUN",
    "predict he2007/fig09-passes --profile g80",
    "predict he2007/fig09-passes --profile g80 --format csv",
    "accuracy H200 --profile h200",
    "counters CASE run",
    "verify --backend scalar --small --sample 1 --seed 1",
    "doctor --engine ENGINE --format json",
    "spatter -p UNIFORM:8:1 -l 16",
    "spatter -p UNIFORM:8:1 -l 16 --to-recipe",
    "spatter --help",
];

/// A command line with its placeholders filled in; each call names a fresh folder for a run.
fn words(root: &Path, line: &str, number: usize) -> Vec<String> {
    let results = fs::read_to_string(root.join("run/results.csv")).expect("results");
    let case = results.lines().nth(1).and_then(|row| row.split(',').next()).expect("a case").to_owned();
    let filled = |word: &str| match word {
        "CASE" => case.clone(),
        "ENGINE" => format!("{binary} engine", binary = binary()),
        "H200" => concat!(env!("CARGO_MANIFEST_DIR"), "/reports/h200-sanity").to_owned(),
        "RUN" => format!("run-{number}"),
        other => other.to_owned(),
    };
    line.split(' ').map(filled).collect()
}

#[test]
fn every_command_is_tried() {
    let help = text(&scatterlab(Path::new("."), &["--help"]).stdout);
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names: Vec<&str> = commands
        .take_while(|line| !line.is_empty())
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(names.len() > 20, "{help}");
    let left_out = ["calibrate", "engine"];
    for name in names.iter().filter(|name| !left_out.contains(name)) {
        assert!(PRINTING.iter().any(|line| line.split(' ').next() == Some(name)), "{name}");
    }
}

#[test]
fn output_that_cannot_be_written_is_one_error() {
    let root = laid_out();
    for (number, line) in PRINTING.iter().enumerate() {
        let full = File::options().write(true).open("/dev/full").expect("a device");
        let output = program(root.path()).args(words(root.path(), line, number)).stdout(full).output();
        let output = output.expect("starts");
        let error = text(&output.stderr);
        assert!(
            output.status.code().is_some_and(|code| code != 0 && code != 101),
            "{line}: {:?}",
            output.status
        );
        let is_error = |line: &&str| line.starts_with("scatterlab: ") || line.starts_with("spatter: cannot");
        let told: Vec<&str> = error.lines().filter(is_error).collect();
        assert!(told.len() == 1 && told[0].contains("No space left on device"), "{line}: {error}");
    }
    let run = root
        .path()
        .join(format!("run-{}/results.csv", PRINTING.iter().position(|l| l.ends_with("RUN")).expect("one")));
    assert!(run.is_file(), "a run is kept although nobody could read its lines");
    let link = root.path().join("spatter");
    std::os::unix::fs::symlink(binary(), &link).expect("a link");
    let full = File::options().write(true).open("/dev/full").expect("a device");
    let output =
        Command::new(link).args(["-p", "UNIFORM:8:1", "-l", "16"]).stdout(full).output().expect("starts");
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stderr).contains("spatter: cannot write standard output: No space left"),
        "{output:?}"
    );
}

#[test]
fn a_reader_that_has_gone_is_no_error() {
    let root = laid_out();
    for (number, line) in PRINTING.iter().enumerate() {
        let arguments = words(root.path(), line, 100 + number);
        let mut child = program(root.path())
            .args(&arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("ends");
        let error = text(&output.stderr);
        assert!(!error.contains("scatterlab: "), "{line}: {error}");
        // What a replay of so small a case finds is up to the machine.
        let found = line.starts_with("replay") && matches!(output.status.code(), Some(4 | 5));
        let usage = *line == "spatter --help";
        assert!(output.status.success() || found || usage, "{line}: {:?} {error}", output.status);
    }
}

// ---- what acts on a terminal ------------------------------------------------------------------------

/// Sets a title, clears the screen, begins a line of its own, and turns text round.
const HOSTILE: &str = "\u{1b}]0;x\u{7}\u{1b}[2J\u{9b}31m\u{7f}\u{202e}\u{200b}\u{2066}\r\nFORGED";

fn acts(c: char) -> bool {
    let unseen =
        matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}');
    (c.is_control() && c != '\n' && c != '\t') || unseen
}

/// Fails if the output holds raw bytes that a terminal would obey, or a line that the planted text begins.
fn assert_inert(output: &Output, context: &str) {
    for bytes in [&output.stdout, &output.stderr] {
        let said = str::from_utf8(bytes).unwrap_or_else(|error| panic!("{context}: {error}"));
        assert!(!said.contains(acts), "{context}: {said:?}");
    }
    assert!(
        output.status.code().is_some_and(|code| code != 101),
        "{context}: {:?} {}",
        output.status,
        text(&output.stderr)
    );
}

fn assert_no_forged_line(output: &Output, context: &str) {
    for said in [text(&output.stdout), text(&output.stderr)] {
        assert!(!said.lines().any(|line| line.starts_with("FORGED")), "{context}: {said}");
    }
}

/// Commands that print what a stored run holds, without changing it.
const SHOWING: &[&[&str]] = &[
    &["watch", "run", "--headless", "--speed", "max"],
    &["report", "run"],
    &["compare", "run", "other"],
    &["compare", "other", "run"],
    &["accuracy", "run", "--profile", "g80"],
    &["run", "--resume", "run"],
    &["counters", "0", "run"],
];

/// Their data for other programs, and the formats.
const DATA: &[(&[&str], &str)] = &[
    (&["report", "run", "--format", "csv"], "csv"),
    (&["report", "run", "--format", "json"], "json"),
    (&["report", "run", "--format", "ndjson"], "ndjson"),
    (&["compare", "run", "other", "--format", "csv"], "csv"),
    (&["compare", "run", "other", "--format", "json"], "json"),
    (&["compare", "run", "other", "--format", "ndjson"], "ndjson"),
];

fn assert_valid(output: &Output, format: &str, context: &str) {
    let said = text(&output.stdout);
    match format {
        "json" => drop(
            serde_json::from_str::<Json>(&said).unwrap_or_else(|error| panic!("{context}: {error}: {said}")),
        ),
        "ndjson" => said.lines().for_each(|line| {
            serde_json::from_str::<Json>(line).unwrap_or_else(|error| panic!("{context}: {error}: {line}"));
        }),
        _ => {
            let mut rows = csv::Reader::from_reader(said.as_bytes());
            rows.records()
                .for_each(|row| drop(row.unwrap_or_else(|error| panic!("{context}: {error}: {said}"))));
        }
    }
}

/// The paths of all texts in a value, in which the elements of a list share one.
fn texts(value: &Json, path: &str, found: &mut Vec<String>) {
    match value {
        Json::String(_) if !found.iter().any(|known| known == path) => found.push(path.to_owned()),
        Json::Array(all) => all.iter().for_each(|value| texts(value, &format!("{path}/*"), found)),
        Json::Object(all) => {
            all.iter().for_each(|(key, value)| texts(value, &format!("{path}/{key}"), found))
        }
        _ => {}
    }
}

/// Appends the hostile text to the texts at these paths.
fn plant(value: &mut Json, path: &str, at: &[String]) {
    match value {
        Json::String(said) if at.iter().any(|wanted| wanted == path) => said.push_str(HOSTILE),
        Json::Array(all) => all.iter_mut().for_each(|value| plant(value, &format!("{path}/*"), at)),
        Json::Object(all) => {
            all.iter_mut().for_each(|(key, value)| plant(value, &format!("{path}/{key}"), at))
        }
        _ => {}
    }
}

/// A stored run's manifest and events, to be written with texts planted.
struct Planter {
    run: PathBuf,
    manifest: Json,
    events: Vec<Json>,
}

impl Planter {
    fn of(run: PathBuf) -> Planter {
        let read = |name: &str| fs::read_to_string(run.join(name)).expect("a file");
        let manifest = serde_json::from_str(&read("manifest.json")).expect("JSON");
        let events = read("events.ndjson");
        let mut events: Vec<Json> =
            events.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        // As of a program that writes no checksums: what is planted would be found, and not shown.
        events.iter_mut().for_each(|event| drop(event.as_object_mut().expect("an event").remove("chain")));
        let case = events.iter().find_map(|event| event.get("case").cloned()).expect("a case");
        let said = |line: String| serde_json::from_str::<Json>(&line).expect("JSON");
        events.push(said(r#"{"event":"log","level":"warn","text":"warned"}"#.to_owned()));
        events.push(said(r#"{"event":"log","level":"info","text":"informed"}"#.to_owned()));
        events.push(said(format!(
            r#"{{"event":"failed","seq":99999,"case":{case},"round":0,"error":"broken","lost":false}}"#
        )));
        Planter { run, manifest, events }
    }

    fn paths(&self) -> Vec<String> {
        let mut found = Vec::new();
        texts(&self.manifest, "manifest", &mut found);
        for event in &self.events {
            texts(event, event["event"].as_str().expect("a name"), &mut found);
        }
        found
    }

    fn write(&self, at: &[String]) {
        let mut manifest = self.manifest.clone();
        plant(&mut manifest, "manifest", at);
        fs::write(self.run.join("manifest.json"), manifest.to_string()).expect("written");
        let planted = self.events.iter().map(|event| {
            let mut new = event.clone();
            plant(&mut new, event["event"].as_str().expect("a name"), at);
            format!("{new}\n")
        });
        fs::write(self.run.join("events.ndjson"), planted.collect::<String>()).expect("written");
    }
}

#[test]
fn nothing_in_a_stored_run_acts_on_the_terminal() {
    let root = laid_out();
    let planter = Planter::of(root.path().join("run"));
    fs::write(root.path().join("run/note.txt"), HOSTILE).expect("written");
    let (paths, mut kept) = (planter.paths(), Vec::new());
    let fields = ["manifest/plan/title", "manifest/plan/experiments/*/title", "failed/error", "log/text"];
    for wanted in fields {
        assert!(paths.iter().any(|path| path == wanted), "{wanted}: {paths:#?}");
    }
    // One field at a time: most of them make the run unreadable, which is an error that quotes them.
    for path in &paths {
        planter.write(std::slice::from_ref(path));
        let output = scatterlab(root.path(), SHOWING[0]);
        assert_inert(&output, path);
        assert_no_forged_line(&output, path);
        let compared = scatterlab(root.path(), &["compare", "run", "other", "--format", "json"]);
        assert_inert(&compared, path);
        // What belongs to a case's identity makes the case fail, and an event of an unknown case is not shown.
        let shown = [output, compared]
            .iter()
            .all(|output| output.status.success() && !text(&output.stderr).contains("was edited"));
        kept.extend((shown && !path.ends_with("/case")).then(|| path.clone()));
    }
    assert!(kept.len() > 10, "{kept:#?}");
    planter.write(&kept);
    for words in SHOWING {
        let output = scatterlab(root.path(), words);
        assert_inert(&output, &format!("{words:?}"));
        assert_no_forged_line(&output, &format!("{words:?}"));
    }
    let watched = text(&scatterlab(root.path(), SHOWING[0]).stdout);
    for planted in ["Small\\u{1b}]0;x\\u{7}", "warned\\u{1b}", "broken\\u{1b}"] {
        assert!(watched.contains(planted), "{planted}: {watched}");
    }
    // The new chart has the name of the planted title.
    fs::remove_file(root.path().join("run/small.svg")).expect("removed");
    let drawn = scatterlab(root.path(), &["report", "run", "--html"]);
    assert!(drawn.status.success(), "{drawn:?}");
    let files =
        fs::read_dir(root.path().join("run")).expect("a folder").map(|entry| entry.expect("an entry").path());
    let is_drawn = |path: &PathBuf| path.extension().is_some_and(|end| end == "svg" || end == "html");
    for file in files.filter(is_drawn) {
        let drawn = fs::read_to_string(&file).expect("text");
        assert!(!drawn.contains(acts), "{}", file.display());
        assert!(drawn.contains("\\u{1b}"), "{}", file.display());
    }
    for (words, format) in DATA {
        let output = scatterlab(root.path(), words);
        assert_inert(&output, &format!("{words:?}"));
        assert!(output.status.success(), "{words:?}: {output:?}");
        assert_valid(&output, format, &format!("{words:?}"));
    }
    planter.write(&paths);
    for words in SHOWING.iter().chain(DATA.iter().map(|(words, _)| words)) {
        assert_inert(&scatterlab(root.path(), words), &format!("{words:?}"));
    }
}

#[test]
fn a_replay_of_a_foreign_run_does_not_act_on_the_terminal() {
    let root = laid_out();
    let planter = Planter::of(root.path().join("run"));
    let mut at: Vec<String> = planter.paths();
    let free = |path: &String| ["/title", "/name", "/host", "/started"].iter().any(|end| path.ends_with(end));
    at.retain(|path| free(path) || path.starts_with("manifest/environment/facts"));
    planter.write(&at);
    let output = scatterlab(root.path(), &["replay", "run"]);
    assert_inert(&output, "replay");
    assert_no_forged_line(&output, "replay");
    assert!(text(&output.stdout).contains("Small\\u{1b}]0;x\\u{7}"), "{output:?}");
}

/// An engine whose words all end in what a terminal would obey, and which also writes it between its events.
/// Facts, which are pairs in a list, are spoilt, and lists of words are not: a round with an unknown flag is no event, so that the
/// engine would wait for the answer to it until the client gives it up.
fn engine() -> String {
    let hostile = r"\\u001b[2J\\u009b31m\\u202e\\u200b\\r\\nFORGED ";
    let fields = "name|reason|text|error|host|version|revision|os|kernel|word";
    format!(
        "printf '\\033[2J\\233\\r\\nFORGED\\n' | tee /dev/stderr; {binary} engine | sed -u -E \
         's/\"({fields})\":\"/&{hostile}/g; s/([[,]\\[\"[a-z][^\"]*\",\")/\\1{hostile}/g'",
        binary = binary()
    )
}

#[test]
fn nothing_that_an_engine_says_acts_on_the_terminal() {
    let root = laid_out();
    let engine = engine();
    let commands: &[&[&str]] = &[
        &["devices"],
        &["devices", "--format", "json"],
        &["devices", "--format", "csv"],
        &["run", "small.yaml"],
        &["run", "small.yaml", "--dry-run"],
        &["run", "small.yaml", "--format", "json"],
        &["predict", "small.yaml"],
        &["profiles"],
        &["doctor"],
        &["doctor", "--format", "json"],
        &["spatter", "-p", "UNIFORM:8:1", "-l", "16"],
    ];
    for words in commands {
        let before = if words[0] == "spatter" { vec!["--engine", &engine] } else { Vec::new() };
        let after = if words[0] == "spatter" { Vec::new() } else { vec!["--engine", &engine] };
        let output = scatterlab(root.path(), &[&before[..], words, &after[..]].concat());
        assert_inert(&output, &format!("{words:?}"));
        if words.contains(&"json") {
            assert_valid(&output, "json", &format!("{words:?}"));
        } else if !words.contains(&"csv") {
            assert_no_forged_line(&output, &format!("{words:?}"));
        }
    }
    let said = text(&scatterlab(root.path(), &["devices", "--engine", &engine]).stdout);
    assert!(said.contains("\\u{1b}[2J"), "the engine does say it: {said}");
    let dies = "printf '\\033[2J\\r\\033]0;x\\007' >&2; exit 1";
    let output = scatterlab(root.path(), &["devices", "--engine", dies]);
    assert_inert(&output, "an engine that dies");
    assert!(text(&output.stderr).contains("\\u{1b}[2J"), "{}", text(&output.stderr));
}

#[test]
fn no_name_of_a_file_or_folder_acts_on_the_terminal() {
    let root = laid_out();
    let name = HOSTILE.replace('\u{0}', "");
    let path = |ending: &str| root.path().join(format!("{name}{ending}"));
    fs::write(path(".yaml"), SMALL.replace("title: Small\n", "")).expect("recipe");
    fs::write(path("-wrong.yaml"), "gather: {nonsense: 1}\n").expect("recipe");
    fs::write(path(".json"), "[{\"nonsense\": 1}]").expect("suite");
    fs::write(path(".csv"), "1 2 x").expect("indices");
    fs::create_dir(path("-empty")).expect("folder");
    fs::rename(root.path().join("other"), path("-run")).expect("renamed");
    let file = |ending: &str| OsString::from(format!("{name}{ending}"));
    let word = |word: &str| OsString::from(word);
    let commands: Vec<Vec<OsString>> = vec![
        vec![word("run"), file(".yaml"), word("--dry-run")],
        vec![word("run"), file(".yaml"), word("--out"), file("-out")],
        vec![word("run"), file(".yaml"), word("--out"), file("-run")],
        vec![word("run"), file("-wrong.yaml")],
        vec![word("run"), file("-missing")],
        vec![word("run"), word("small.yaml"), word("--set"), file("=1")],
        vec![word("run"), word("small.yaml"), word("--backend"), file("")],
        vec![word("run"), word("small.yaml"), word("--only"), file("")],
        vec![word("run"), word("--resume"), file("-missing")],
        vec![word("run"), file(".json")],
        vec![word("report"), file("-run")],
        vec![word("report"), file("-empty")],
        vec![word("report"), file("-missing")],
        vec![word("watch"), word("--headless"), word("--speed"), word("max"), file("-run")],
        vec![word("watch"), file("-empty")],
        vec![word("compare"), word("run"), file("-run")],
        vec![word("compare"), word("run"), file("-run"), word("--out"), file("-charts")],
        vec![word("accuracy"), file("-run"), word("--profile"), word("g80")],
        vec![word("accuracy"), word("run"), word("--profile"), file("-missing")],
        vec![word("predict"), word("small.yaml"), word("--profile"), file("-wrong.yaml")],
        vec![word("pack"), file("-empty")],
        vec![word("replay"), file("-missing")],
        vec![word("locality"), file(".csv")],
        vec![word("locality"), file("-missing")],
        vec![word("config"), word("--config"), file("-missing")],
        vec![word("config"), word("--config"), file("-wrong.yaml")],
        vec![word("counters"), file(""), word("run")],
        vec![word("figure"), file("")],
        vec![word("man"), word("--out"), file(".csv")],
        vec![word("devices"), word("--engine"), file("")],
        vec![word("spatter"), word("-f"), file("-missing")],
        vec![word("spatter"), word("-f"), file(".json")],
        vec![word("spatter"), word("-p"), file("")],
        vec![word("spatter"), file("")],
        vec![file("")],
        vec![word("run"), word("small.yaml"), file("--option")],
        vec![word("watch"), word("run"), word("--speed"), file("")],
    ];
    for words in commands {
        let output = program(root.path()).args(&words).stdin(Stdio::null()).output().expect("starts");
        let context = format!("{words:?}");
        assert_inert(&output, &context);
        // Clap quotes arguments in texts of several lines.
        if output.status.code() != Some(2) {
            assert_no_forged_line(&output, &context);
        }
        assert!(!output.stdout.is_empty() || !output.stderr.is_empty(), "{context}");
    }
    let bytes = OsStr::new("\u{1b}[2J\u{9b}31m.yaml");
    let output = program(root.path()).arg("run").arg(bytes).output().expect("starts");
    assert!(text(&output.stderr).contains("\\u{1b}[2J\\u{9b}31m.yaml"), "{}", text(&output.stderr));
}

/// Tables of figures and commands for profilers have several lines.
#[test]
fn texts_of_several_lines_keep_their_line_breaks() {
    let root = laid_out();
    let reports = |name: &str| format!("{}/reports/h200-figures/{name}", env!("CARGO_MANIFEST_DIR"));
    let runs = ["app-patterns", "fig09-references"].map(reports);
    let figure =
        scatterlab(root.path(), &["figure", "lavin2020/table04", &runs[0], &runs[1], "--out", "table.md"]);
    assert!(figure.status.success(), "{}", text(&figure.stderr));
    let case = "scatter: {tuples: 1Ki, locations: random}\nbackend: cuda\nchart: {x: tuples}\n";
    fs::write(root.path().join("gpu.yaml"), case).expect("a recipe");
    let plan = text(&scatterlab(root.path(), &["run", "gpu.yaml", "--dry-run"]).stdout);
    let id =
        plan.split_whitespace().find(|word| word.len() == 12 && word.chars().all(|c| c.is_ascii_hexdigit()));
    let counters = scatterlab(root.path(), &["counters", id.expect("a case"), "gpu.yaml"]);
    for said in [text(&figure.stdout), text(&counters.stdout)] {
        assert!(said.lines().count() > 4 && !said.contains("\\n"), "{said}");
    }
}

// ---- quiet, and Markdown -----------------------------------------------------------------------------

#[test]
fn a_quiet_run_prints_its_end_and_the_tables_go_to_a_file() {
    let root = tempfile::tempdir().expect("temporary folder");
    fs::write(root.path().join("small.yaml"), SMALL).expect("recipe");
    let run = |arguments: &[&str]| scatterlab(root.path(), arguments);
    let output = run(&["run", "small.yaml", "-q", "--out", "run"]);
    assert!(output.status.success() && output.stderr.is_empty(), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    assert!(said.lines().count() <= 3 && said.starts_with("2 certified") && said.contains("→ run"), "{said}");

    let output = run(&["report", "run", "--export-markdown", "results.md"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let table = fs::read_to_string(root.path().join("results.md")).expect("the file");
    assert!(table.starts_with("# Small\n\n| case | GB/s | "), "{table}");
    assert!(["| copy |", "| triad |"].iter().all(|row| table.contains(row)), "{table}");

    let refused = run(&["run", "small.yaml", "--export-markdown", "none/results.md", "--out", "other"]);
    assert!(text(&refused.stderr).contains("there is no folder none"), "{}", text(&refused.stderr));
    assert!(!root.path().join("other").exists(), "nothing was measured");
    let resumed = run(&["run", "--resume", "run", "--max-time", "1m"]);
    assert!(text(&resumed.stderr).contains("--resume takes no --max-time: "), "{}", text(&resumed.stderr));
}
