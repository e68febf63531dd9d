//! `replay` and `compare` of the real program, on synthetic stored runs: an engine that only recites events
//! makes every time known.

use std::fs;
use std::path::{Path, PathBuf};

use scatterlab::case::{Availability, Device, Verdict};
use scatterlab::engine::protocol::{Environment, Event, PROTOCOL, RoundResult};
use scatterlab::recipe;
use scatterlab::recipe::plan::{Overrides, Plan, resolve};
use scatterlab::run::folder::{Folder, Urgency};
use scatterlab::run::layout::{Manifest, SCHEMA};
use scatterlab_tests::program::{scatterlab, text};

const RECIPE: &str = "\
title: Small
stream: {kernel: [copy, triad], elements: 1Ki..4Ki x2}
backend: scalar
chart: {x: elements, y: bandwidth, lines: kernel}
measure: {rounds: 5, samples: 1, ci: none}
";

const STEADY: [f64; 5] = [1.0, 1.003, 0.998, 1.001, 0.997];

/// Seconds of a case's execution in the undisturbed story.
const SECOND: f64 = 1e-6;

/// A run to synthesize: the factor applied to each case's times, and other properties.
struct Story {
    factor: fn(usize) -> f64,
    noise: f64,
    copy: Option<f64>,
    failed: Option<usize>,
    command_line: &'static [&'static str],
    backend: &'static str,
    pages: &'static str,
}

const PLAIN: Story = Story {
    factor: |_| 1.0,
    noise: 1.0,
    copy: Some(10.0),
    failed: None,
    command_line: &["scatterlab", "run", "small.yaml"],
    backend: "scalar",
    pages: "madvise",
};

fn plan(backend: &str) -> Plan {
    let recipe = recipe::parse("small.yaml", RECIPE).expect("it parses");
    let backends = if backend == "scalar" { Vec::new() } else { vec![backend.to_owned()] };
    resolve(&recipe, &Overrides { backends, ..Overrides::default() }).expect("it resolves")
}

impl Story {
    fn environment(&self) -> Environment {
        Environment {
            host: "lab".to_owned(),
            cpu: "A processor".to_owned(),
            affinity: vec![0, 1],
            memory: 1 << 34,
            transparent_huge_pages: Some(self.pages.to_owned()),
            ..Environment::default()
        }
    }

    fn devices(&self) -> Vec<Device> {
        let availability = Availability::Available;
        let name = if self.backend == "cuda" { "A GPU" } else { "A processor" }.to_owned();
        vec![Device { backend: self.backend.to_owned(), name, facts: vec![], memory: None, availability }]
    }

    fn events(&self) -> Vec<Event> {
        let plan = plan(self.backend);
        let (version, revision) = ("0.1.0".to_owned(), "abc".to_owned());
        let (devices, environment) = (self.devices(), self.environment());
        let mut events = vec![Event::Hello {
            protocol: PROTOCOL,
            version,
            revision,
            devices,
            environment,
            profiles: Vec::new(),
        }];
        let backend = self.backend.to_owned();
        events.extend(self.copy.map(|copy| Event::Reference { pass: 0, backend, copy, ranked: Vec::new() }));
        for (at, case) in plan.cases.iter().enumerate() {
            let seq = at as u64 + 1;
            if self.failed == Some(at) {
                let (case, error) = (case.id.clone(), "broken".to_owned());
                events.push(Event::Failed { seq, case, round: 0, error, lost: false });
                continue;
            }
            events.extend(STEADY.iter().enumerate().map(|(round, time)| {
                let time = (time.ln() * self.noise).exp() * (self.factor)(at) * SECOND * (at + 1) as f64;
                let result = RoundResult {
                    case: case.id.clone(),
                    round: round as u32,
                    samples: vec![time],
                    batch: 200,
                    verdict: (round == 0).then_some(Verdict::Certified { checked: 1024 }),
                    ..RoundResult::default()
                };
                Event::Round { seq, result }
            }));
        }
        events.push(Event::Finished { cancelled: false });
        events
    }

    /// Stores the story as a run in this folder.
    fn store(&self, path: &Path) {
        let mut folder = Folder::create(path).expect("a fresh folder");
        folder.write_recipe(RECIPE).expect("written");
        let manifest = Manifest {
            schema: SCHEMA,
            version: "0.1.0".to_owned(),
            revision: "abc".to_owned(),
            started: "2026-11-20 12:00:00".to_owned(),
            command_line: self.command_line.iter().map(|word| (*word).to_owned()).collect(),
            environment: self.environment(),
            devices: self.devices(),
            plan: plan(self.backend),
            redacted: false,
        };
        folder.write_manifest(&manifest).expect("written");
        for event in self.events() {
            folder.append(&event, Urgency::Written).expect("written");
        }
    }

    /// The command of an engine that recites the story.
    fn engine(&self, root: &Path) -> String {
        let lines: Vec<String> =
            self.events().iter().map(|e| serde_json::to_string(e).expect("JSON")).collect();
        fs::write(root.join("recital"), lines.join("\n") + "\n").expect("written");
        format!("cat '{}'; cat > /dev/null", root.join("recital").display())
    }
}

/// Replays the plain story with `now` as the new run. Returns the exit status, the output and the table.
fn replayed(now: &Story, more: &[&str]) -> (Option<i32>, String, String) {
    let root = tempfile::tempdir().expect("temporary folder");
    PLAIN.store(&root.path().join("stored"));
    let engine = now.engine(root.path());
    let output = scatterlab(
        root.path(),
        &[&["replay", "stored", "--out", "again", "--engine", &engine], more].concat(),
    );
    let table = fs::read_to_string(root.path().join("again/replay.csv")).unwrap_or_default();
    (output.status.code(), text(&output.stdout) + &text(&output.stderr), table)
}

#[test]
fn the_same_times_agree() {
    let (status, said, table) = replayed(&PLAIN, &[]);
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("6 agree, 0 differ, 0 cannot tell"), "{said}");
    assert_eq!(table.lines().count(), 7);
    assert_eq!(
        table.matches("stored,again").count(),
        6,
        "every row says what it was judged against: {table}"
    );
}

#[test]
fn ten_times_as_long_differs() {
    let (status, said, table) = replayed(&Story { factor: |_| 10.0, ..PLAIN }, &[]);
    assert_eq!(status, Some(4), "{said}");
    assert!(said.contains("6 differ (slower)") && said.contains("×10.0"), "{said}");
    assert_eq!(table.matches(",differ,slower,").count(), 6, "{table}");
}

#[test]
fn one_case_is_enough_to_differ_and_a_wider_margin_takes_it_back() {
    let one = Story { factor: |at| if at == 3 { 1.15 } else { 1.0 }, ..PLAIN };
    let (status, said, _) = replayed(&one, &[]);
    assert_eq!(status, Some(4), "{said}");
    assert!(said.contains("5 agree, 1 differ (slower)"), "{said}");
    assert_eq!(replayed(&one, &["--margin", "25%"]).0, Some(0));
}

#[test]
fn wide_intervals_cannot_tell() {
    let (status, said, _) = replayed(&Story { noise: 60.0, ..PLAIN }, &[]);
    assert_eq!(status, Some(5), "{said}");
    assert!(said.contains("(1) the interval straddles the margin"), "{said}");
}

#[test]
fn a_case_that_fails_here_is_the_first_thing_to_know() {
    let (status, said, _) = replayed(&Story { failed: Some(0), factor: |_| 10.0, ..PLAIN }, &[]);
    assert_eq!(status, Some(3), "{said}");
    assert!(said.contains("the run: failed: broken"), "{said}");
}

#[test]
fn what_the_machine_did_is_not_the_recipes() {
    let slow = Story { factor: |_| 1.6, copy: Some(6.0), ..PLAIN };
    let (status, said, table) = replayed(&slow, &[]);
    assert_eq!(status, Some(5), "{said}");
    assert!(said.contains("the machine's own copy changed by −40.0 % (6 cases)"), "{said}");
    assert!(table.contains("the machine's own copy changed"), "{table}");
    let (status, said, _) = replayed(&Story { pages: "never", ..slow }, &[]);
    assert_eq!(status, Some(4), "{said}");
    assert!(said.contains("transparent huge pages: madvise → never"), "{said}");
}

/// This test uses the real engine; nothing can be a thousand times as fast.
#[test]
fn a_recipe_is_replayed_against_its_newest_run() {
    let root = tempfile::tempdir().expect("temporary folder");
    fs::write(root.path().join("small.yaml"), RECIPE).expect("recipe");
    let output = scatterlab(root.path(), &["replay", "small.yaml"]);
    assert_eq!(output.status.code(), Some(1));
    let error = text(&output.stderr);
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(error.contains("no stored run") && error.contains("scatterlab run small.yaml"), "{error}");
    let changed = ["--backend", "cpu", "--set", "elements=1Ki..2Ki x2", "--root", "my runs"];
    let error = text(&scatterlab(root.path(), &[&["replay", "small.yaml"], &changed[..]].concat()).stderr);
    let advice = "scatterlab run small.yaml --backend cpu --set 'elements=1Ki..2Ki x2' --out 'my runs/";
    assert!(error.contains(advice), "{error}");
    Story { factor: |_| 1e-3, ..PLAIN }.store(&root.path().join("reports/old"));
    let output = scatterlab(root.path(), &["replay", "small.yaml", "--rounds", "7"]);
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(4), "{said}{}", text(&output.stderr));
    assert!(said.starts_with("replays reports/old, measured 2026-11-20 12:00:00 on lab"), "{said}");
    assert!(said.contains("6 differ (slower)"), "{said}");
    let new =
        folders(&root.path().join("reports")).into_iter().find(|f| !f.ends_with("old")).expect("a new run");
    let table = fs::read_to_string(new.join("replay.csv")).expect("verdicts");
    assert!(table.contains("reports/old") && table.contains(",5,7,"), "{table}");
    assert!(
        fs::read_to_string(new.join("recipe.yaml")).expect("recipe").starts_with("# Run with: --rounds 7\n")
    );
    let output = scatterlab(root.path(), &["replay", "small.yaml", "--backend", "cpu"]);
    assert_eq!(output.status.code(), Some(1), "a run on other backends is another run");
    let output = scatterlab(root.path(), &["replay", "small.yaml", "--out", "third"]);
    assert!(text(&output.stdout).starts_with("replays reports/old"), "a replay is no new standard");
}

/// Two later runs of the recipe must not serve as the standard: a replay killed before its verdicts, and a run
/// killed before its first result.
#[test]
fn a_replay_that_did_not_end_and_a_run_without_results_are_no_standard() {
    let root = tempfile::tempdir().expect("temporary folder");
    fs::write(root.path().join("small.yaml"), RECIPE).expect("recipe");
    let stored = |name: &str, story: &Story| story.store(&root.path().join("reports").join(name));
    stored("1-first", &PLAIN);
    let asked = &["scatterlab", "--engine", "cat", "replay", "small.yaml"];
    stored("2-replay", &Story { command_line: asked, ..PLAIN });
    stored("3-killed", &PLAIN);
    let log = root.path().join("reports/3-killed/events.ndjson");
    let events = fs::read_to_string(&log).expect("events");
    fs::write(&log, events.lines().next().expect("the hello").to_owned() + "\n").expect("written");
    let engine = PLAIN.engine(root.path());
    let output = scatterlab(root.path(), &["replay", "small.yaml", "--out", "again", "--engine", &engine]);
    let said = text(&output.stdout);
    assert!(said.starts_with("replays reports/1-first, "), "{said}{}", text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{said}");
}

fn folders(path: &Path) -> Vec<PathBuf> {
    fs::read_dir(path).expect("a folder").map(|entry| entry.expect("an entry").path()).collect()
}

#[test]
fn a_folder_without_results_is_refused_before_anything_is_measured() {
    let root = tempfile::tempdir().expect("temporary folder");
    fs::create_dir(root.path().join("empty")).expect("folder");
    let output = scatterlab(root.path(), &["replay", "empty"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("holds no run"), "{}", text(&output.stderr));
}

/// Compares two stored runs.
fn compared(a: &Story, b: &Story, more: &[&str]) -> (Option<i32>, String, tempfile::TempDir) {
    let root = tempfile::tempdir().expect("temporary folder");
    a.store(&root.path().join("one"));
    b.store(&root.path().join("two"));
    let output = scatterlab(root.path(), &[&["compare", "one", "two"], more].concat());
    (output.status.code(), text(&output.stdout) + &text(&output.stderr), root)
}

const MIXED: Story = Story {
    factor: |at| [1.0, 1.2, 0.5, 1.02, 3.0, 1.0][at],
    noise: 1.0,
    copy: Some(9.9),
    failed: Some(5),
    command_line: &[],
    backend: "scalar",
    pages: "never",
};

#[test]
fn the_table_is_what_it_was() {
    let (status, said, _root) = compared(&PLAIN, &MIXED, &[]);
    assert_eq!(status, Some(0), "{said}");
    insta::assert_snapshot!(said);
}

#[test]
fn slower_than_allowed_ends_with_a_status() {
    let slower = Story { failed: None, ..MIXED };
    let (status, said, _root) = compared(&PLAIN, &slower, &["--fail-if-slower", "10%"]);
    assert_eq!(status, Some(4), "{said}");
    assert!(said.contains("\n2 cases are slower by more than 10 %:\n"), "{said}");
    assert!(said.contains("slower in two: copy · elements 2Ki: ×1.200 ["), "{said}");
    let (status, said, _root) = compared(&PLAIN, &PLAIN, &["--fail-if-slower", "3%", "--format", "csv"]);
    assert_eq!(status, Some(0), "{said}");
    assert_eq!(said.matches(",agree,").count(), 6, "{said}");
}

#[test]
fn a_case_that_fails_is_not_fast_enough() {
    let (status, said, _root) = compared(&PLAIN, &MIXED, &["--fail-if-slower", "10%"]);
    assert_eq!(status, Some(3), "{said}");
    assert!(
        said.contains("1 case of the baseline failed:\n  failed in two: triad · elements 4Ki\n"),
        "{said}"
    );
    assert!(said.contains("2 cases are slower by more than 10 %:"), "{said}");
    let (status, said, _root) = compared(&MIXED, &MIXED, &["--fail-if-slower", "10%"]);
    assert_eq!(status, Some(0), "it failed before: {said}");
}

#[test]
fn a_check_that_checked_nothing_does_not_pass() {
    let check = ["--fail-if-slower", "3%"];
    let (status, said, _root) = compared(&PLAIN, &Story { noise: 60.0, ..PLAIN }, &check);
    assert_eq!(status, Some(5), "{said}");
    assert!(said.contains("no case is shown to be slower by more than 3 %; 6 undecided"), "{said}");
    // A run with half of the cases.
    let root = tempfile::tempdir().expect("temporary folder");
    PLAIN.store(&root.path().join("one"));
    PLAIN.store(&root.path().join("two"));
    let log = root.path().join("two/events.ndjson");
    let events = fs::read_to_string(&log).expect("events");
    let few: Vec<&str> = events.lines().take(2 + 3 * STEADY.len()).collect();
    fs::write(&log, few.join("\n") + "\n").expect("written");
    let output = scatterlab(root.path(), &["compare", "one", "two", "--fail-if-slower", "3%"]);
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(5), "{said}");
    assert!(said.contains("no case is shown to be slower by more than 3 %; 3 were not measured"), "{said}");
    let output = scatterlab(root.path(), &["compare", "two", "one", "--fail-if-slower", "3%"]);
    assert_eq!(output.status.code(), Some(0), "the other way round nothing is missing");
}

#[test]
fn a_run_of_one_round_is_refused_before_anything_is_measured() {
    let root = tempfile::tempdir().expect("temporary folder");
    PLAIN.store(&root.path().join("stored"));
    let log = root.path().join("stored/events.ndjson");
    let events = fs::read_to_string(&log).expect("events");
    let of_round = |line: &&str| !line.contains("\"round\":") || line.contains("\"round\":0");
    let keep = |more: usize| {
        let (first, rest): (Vec<(usize, &str)>, Vec<_>) =
            events.lines().enumerate().partition(|(at, line)| *at < more || of_round(line));
        assert!(!rest.is_empty());
        first.into_iter().map(|(_, line)| line).collect::<Vec<_>>().join("\n") + "\n"
    };
    fs::write(&log, keep(0)).expect("written");
    let engine = PLAIN.engine(root.path());
    let replay = |out: &str, rounds: &str| {
        let output = scatterlab(
            root.path(),
            &["replay", "stored", "--rounds", rounds, "--out", out, "--engine", &engine],
        );
        (output.status.code(), text(&output.stdout) + &text(&output.stderr))
    };
    let (status, said) = replay("a", "6");
    assert_eq!(status, Some(1), "{said}");
    assert!(
        said.contains("nothing can be judged against stored: a case needs 3 certified rounds there"),
        "{said}"
    );
    assert!(!root.path().join("a").exists(), "nothing was measured");
    fs::write(&log, keep(2 + STEADY.len())).expect("written");
    let (status, said) = replay("b", "5");
    assert_eq!(status, Some(5), "{said}");
    let told = said.find("5 of 6 cases there have fewer than 3 certified rounds").expect("it is said");
    assert!(said.find("certified in").is_none_or(|measured| told < measured), "{said}");
}

/// Text in a foreign folder must not control the terminal.
#[test]
fn names_from_elsewhere_are_printed_without_their_control_characters() {
    let root = tempfile::tempdir().expect("temporary folder");
    PLAIN.store(&root.path().join("one"));
    PLAIN.store(&root.path().join("two"));
    let path = root.path().join("two/manifest.json");
    let manifest = fs::read_to_string(&path).expect("a manifest");
    let (quiet, loud) = (r#""host": "lab""#, r#""host": "lab\u001b[2J""#);
    assert!(manifest.contains(quiet));
    fs::write(&path, manifest.replace(quiet, loud).replace("madvise", "never\\u001b[2J")).expect("written");
    let said = text(&scatterlab(root.path(), &["compare", "one", "two"]).stdout);
    assert!(said.contains("lab\\u{1b}[2J") && said.contains("never\\u{1b}[2J"), "{said}");
    assert!(!said.contains('\u{1b}'), "{said}");
    let engine = PLAIN.engine(root.path());
    let said = text(&scatterlab(root.path(), &["replay", "two", "--out", "new", "--engine", &engine]).stdout);
    assert!(said.starts_with("replays two, measured") && !said.contains('\u{1b}'), "{said}");
}

#[test]
fn another_backend_is_compared_case_by_case_and_drawn() {
    let gpu = Story { backend: "cuda", factor: |_| 0.01, copy: Some(900.0), ..PLAIN };
    let (status, said, root) = compared(&PLAIN, &gpu, &["--out", "charts"]);
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("6 differ (faster)") && said.contains("→ cuda"), "{said}");
    let chart = fs::read_to_string(root.path().join("charts/small.svg")).expect("a chart");
    for words in ["A, scalar, copy", "B, cuda, triad", "A (baseline): one", "cuda: A GPU"] {
        assert!(chart.contains(words), "{words}");
    }
    let table = fs::read_to_string(root.path().join("charts/compare.csv")).expect("a table");
    assert_eq!(table.matches(",except-backend,").count(), 6, "{table}");
    let one = scatterlab(root.path(), &["compare", "one", "two", "--out", "one.svg"]);
    assert!(one.status.success() && root.path().join("one.svg").is_file());
}

#[test]
fn formats_for_programs_are_read_back() {
    let (_, said, _root) = compared(&PLAIN, &MIXED, &["--format", "json"]);
    let document: serde_json::Value = serde_json::from_str(&said).expect("JSON");
    assert_eq!(document["runs"][0]["differ"], 3);
    assert_eq!(document["runs"][0]["differences"][0]["what"], "transparent huge pages");
    let (_, said, _root) = compared(&PLAIN, &MIXED, &["--format", "ndjson"]);
    let rows: Vec<serde_json::Value> =
        said.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(rows.len(), 6);
    assert_eq!(rows[5]["ratio"], serde_json::Value::Null);
}

#[test]
fn mistakes_on_the_command_line_are_told() {
    let root = tempfile::tempdir().expect("temporary folder");
    PLAIN.store(&root.path().join("one"));
    for (arguments, status, words) in [
        (&["compare", "one"][..], 2, "required arguments were not provided:\n  <FOLDER>..."),
        (&["compare", "one", "none"], 1, "none: no such folder"),
        (
            &["compare", "quickstart", "one"],
            1,
            "quickstart is not a folder; this command takes folders of stored runs",
        ),
        (
            &["compare", "one", "one", "--out", "one"],
            1,
            "a run's folder, whose own charts would be overwritten",
        ),
        (&["compare", "one", "one", "--margin", "5"], 2, "3%"),
        (&["replay", "one", "--margin", "0%"], 2, "more than 0%"),
        (&["replay", "one", "--rounds", "0"], 2, "1..=1000"),
        (&["replay", "one", "--backend", "cpu"], 1, "--set and --backend are for recipes; one was run"),
        (&["replay", "one", "--set", "elements=1Ki"], 1, "--set and --backend are for recipes"),
        (&["replay", "nothing.yaml"], 1, "no such file"),
    ] {
        let output = scatterlab(root.path(), arguments);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {error}");
        assert!(error.contains(words), "{arguments:?}: {error}");
    }
}
