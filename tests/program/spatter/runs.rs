//! Small real runs.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use scatterlab_tests::program::{binary, engine_of, program, scatterlab, signal, text};

fn run(folder: &Path, words: &str) -> Output {
    let arguments: Vec<&str> = ["spatter"].into_iter().chain(words.split_whitespace()).collect();
    scatterlab(folder, &arguments)
}

/// Standard error, except for lines that depend on the machine's noise.
fn said(output: &Output) -> String {
    let stderr = text(&output.stderr);
    let lines = stderr.lines().filter(|line| !line.starts_with("spatter: measured in noise: "));
    lines.collect::<Vec<_>>().join("\n")
}

/// The rows of a table, as `notebooks/spatter_util.py` of Spatter extracts them: between the line that begins
/// with `config` and one that begins with `Min`.
fn rows(output: &Output) -> Vec<Vec<f64>> {
    let stdout = text(&output.stdout);
    let rows = stdout.lines().skip_while(|line| !line.starts_with("config ")).skip(1);
    rows.take_while(|line| !line.is_empty())
        .map(|line| line.split_whitespace().map(|cell| cell.parse().expect(line)).collect())
        .collect()
}

#[test]
fn a_command_line_prints_a_table() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = run(folder.path(), "-p UNIFORM:8:1 -l 100 -b serial -r 3");
    assert_eq!((output.status.code(), said(&output).as_str()), (Some(0), ""), "{output:?}");
    let stdout = text(&output.stdout);
    assert!(stdout.starts_with("\nRunning Spatter version 2.1.0\nCompiler: rustc ver. 1."), "{stdout}");
    let rows = rows(&output);
    assert_eq!(rows.len(), 1);
    let [id, bytes, seconds, bandwidth] = rows[0][..] else { panic!("four columns: {rows:?}") };
    assert_eq!((id, bytes), (0.0, 6400.0));
    assert!((bytes / seconds / 1e6 / bandwidth - 1.0).abs() < 1e-4, "{rows:?}");
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0, "nothing is left behind");
}

#[test]
fn every_kernel_runs_and_is_certified() {
    let folder = tempfile::tempdir().expect("a folder");
    let suite = r#"[
        {"kernel": "Gather", "pattern": "UNIFORM:8:2:NR", "count": 50, "nruns": 2, "wrap": 4},
        {"kernel": "Scatter", "pattern": [3, 1, 4, 1], "count": 50, "nruns": 3},
        {"kernel": "GS", "pattern-gather": [0, 2], "pattern-scatter": [1, 0], "delta-gather": 2, "count": 50, "nruns": 2},
        {"kernel": "MultiGather", "pattern": "MS1:8:4:32", "pattern-gather": [7, 0], "count": 50, "nruns": 2},
        {"kernel": "MultiScatter", "pattern": "LAPLACIAN:2:1:9", "pattern-scatter": [0, 1, 4], "count": 50, "nruns": 2},
        {"kernel": "Gather", "pattern": "UNIFORM:8:2:NR", "count": 50, "nruns": 2, "wrap": 4}
    ]"#;
    fs::write(folder.path().join("suite.json"), suite).expect("a suite");
    let output = run(folder.path(), "-f suite.json -b openmp -t 1 --format json --out kept");
    assert!(output.status.success(), "{output:?}");
    let rows: Vec<Json> = serde_json::from_slice(&output.stdout).expect("JSON");
    let column = |name: &str| -> Vec<String> { rows.iter().map(|row| row[name].to_string()).collect() };
    assert_eq!(column("bytes"), ["3200", "1600", "1600", "800", "1200", "3200"]);
    assert_eq!(column("runs"), ["2", "3", "2", "2", "2", "2"]);
    assert_eq!(column("certificate"), [r#""certified""#; 6]);
    assert_eq!(rows[1]["times_s"].as_array().map(Vec::len), Some(3));
    let results = fs::read_to_string(folder.path().join("kept/results.csv")).expect("the run was kept");
    assert_eq!(results.lines().count(), 7);
    // Running into the same folder again is refused.
    let output = run(folder.path(), "-f suite.json -b serial --out kept");
    assert_eq!((output.status.code(), text(&output.stderr).lines().count()), (Some(1), 1), "{output:?}");
}

#[test]
fn statistics_and_rows_for_other_programs() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = run(folder.path(), "-p 0,8 -l 20 -b serial -r 2 --stats -v2");
    let stdout = text(&output.stdout);
    let end: Vec<&str> = stdout.lines().skip_while(|line| !line.starts_with("Min")).collect();
    assert_eq!(end.len(), 4, "{stdout}");
    assert_eq!(end[2], "H.Mean       H.StdErr");
    let output = run(folder.path(), "-p 0,8 -l 20 -b serial -r 2 --no-verify --format csv");
    let stdout = text(&output.stdout);
    let mut lines = csv::Reader::from_reader(stdout.as_bytes());
    let header = lines.headers().expect("a header").clone();
    let row = lines.records().next().expect("a row").expect("a row");
    let cell = |name: &str| row[header.iter().position(|column| column == name).expect(name)].to_owned();
    assert_eq!((cell("certificate").as_str(), cell("kernel").as_str()), ("not certified", "gather"));
    assert_eq!(cell("times_s").split(' ').count(), 2);
}

/// With verbosity 0 only the table is printed, and standard error holds only errors.
#[test]
fn verbosity_0_is_silent_about_all_but_errors() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = run(folder.path(), "-b openmp -t 1 -m 1 -p 0,8 -l 20 -r 1 -v0 word");
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""), "{output:?}");
    assert!(text(&output.stdout).starts_with("config "), "{output:?}");
    let output = run(folder.path(), "-b openmp -t 1 -m 1 -p 0,8 -l 20 -r 1 word");
    assert_eq!(said(&output).lines().count(), 2, "{output:?}");
    let output = run(folder.path(), "-v0 -m 1 -b serial -p 35000000000000 -l 5");
    let stderr = text(&output.stderr);
    assert_eq!((output.status.code(), stderr.lines().count()), (Some(1), 1), "{stderr}");
    assert!(stderr.starts_with("spatter: configuration 0: "), "{stderr}");
}

/// Features that Spatter 1 had and 2 dropped, and features that need our engine.
#[test]
fn deltas_in_turn_random_order_fences_and_cold_caches() {
    let folder = tempfile::tempdir().expect("a folder");
    let words = "-p 0,8 -d 8,8,16 -l 50 -r 2 -s7 -b openmp -t 1 --order random --atomic-thread-fence --cold-cache --out out";
    let output = run(folder.path(), words);
    assert_eq!((output.status.code(), said(&output).as_str()), (Some(0), ""), "{output:?}");
    let recipe = fs::read_to_string(folder.path().join("out/recipe.yaml")).expect("a recipe");
    for part in [
        "delta: {list: [8, 8, 16]}",
        "visits: random",
        "fence: release",
        "cache: cold",
        "seed: 7",
        "warm-up: 10",
    ] {
        assert!(recipe.contains(part), "{part}: {recipe}");
    }
    let results = fs::read_to_string(folder.path().join("out/results.csv")).expect("results");
    assert_eq!(results.matches(",certified,").count(), 1, "{results}");
}

/// Ten thousand runs each, so that the third configuration's rows no longer fit into the file: a limit on file
/// sizes simulates a full disk.
#[test]
fn rows_before_a_full_disk_are_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let items = [r#"{"pattern": [0, 8], "count": 50, "nruns": 10000}"#; 9];
    fs::write(folder.path().join("suite.json"), format!("[{}]", items.join(","))).expect("a suite");
    let line = format!(
        "ulimit -f 400; exec '{binary}' spatter -f suite.json -b serial --format json",
        binary = binary()
    );
    let output =
        Command::new("bash").args(["-c", &line]).current_dir(folder.path()).output().expect("starts");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let rows: Vec<Json> = serde_json::from_slice(&output.stdout).expect("whole JSON");
    assert!((1..9).contains(&rows.len()), "{}", rows.len());
    let said = said(&output);
    assert!(said.contains("cannot write") && !said.contains("--resume"), "{said}");
    assert!(
        said.ends_with(&format!("spatter: {} of 9 configurations were not run to the end", 9 - rows.len())),
        "{said}"
    );
}

/// A folder blocks the tables once the run has begun.
#[test]
fn reports_that_cannot_be_written_cost_no_row() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = format!("test -d out && mkdir out/results.csv; exec '{binary}' engine", binary = binary());
    let words = ["-p", "0,8", "-l", "50", "-b", "serial", "--stats", "--out", "out"];
    let output = scatterlab(folder.path(), &[&["--engine", &engine, "spatter"], &words[..]].concat());
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(rows(&output).len(), 1);
    assert!(text(&output.stdout).contains("H.Mean"), "{output:?}");
    let said = said(&output);
    assert!(said.contains("scatterlab report out") && !said.contains("not run"), "{said}");
}

/// The three signals come together, so that the last one ends the program in the middle of the run.
#[test]
fn no_signal_leaves_anything_behind() {
    let (folder, temporary) =
        (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    for signals in [&["-HUP"][..], &["-HUP", "-INT", "-TERM"]] {
        let words = ["spatter", "-p", "UNIFORM:8:1", "-l", "4194304", "-r", "10000", "-b", "serial"];
        let mut command = program(folder.path());
        command.args(words).env("TMPDIR", temporary.path()).stdout(Stdio::null()).stderr(Stdio::null());
        // Under `nohup` the tests would ignore hangups, and so would the program.
        // SAFETY: between fork and exec only a signal disposition is set.
        unsafe {
            command.pre_exec(|| {
                libc::signal(libc::SIGHUP, libc::SIG_DFL);
                Ok(())
            });
        }
        let mut run = command.spawn().expect("starts");
        let within = || fs::read_dir(temporary.path()).expect("a folder").count();
        let deadline = Instant::now() + Duration::from_secs(20);
        while within() == 0 {
            assert!(Instant::now() < deadline, "no run");
            thread::sleep(Duration::from_millis(10));
        }
        engine_of(&run);
        signal(run.id(), "-STOP");
        signals.iter().for_each(|name| signal(run.id(), name));
        signal(run.id(), "-CONT");
        assert!(!run.wait().expect("ends").success());
        assert_eq!(within(), 0, "{signals:?}");
    }
}

/// Settings of this machine's threads do not apply to a remote engine.
#[test]
fn threads_of_an_engine_elsewhere_are_its_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let recipe = |engine: &[&str]| {
        let words = ["spatter", "-p", "0", "-b", "openmp", "--to-recipe"];
        let output = program(folder.path()).args(engine).args(words).env("OMP_NUM_THREADS", "1").output();
        text(&output.expect("starts").stdout)
    };
    let engine = format!("exec '{binary}' engine", binary = binary());
    assert!(recipe(&["--engine", &engine]).contains("\nbackend: cpu\n"));
    // A machine with one CPU uses one thread in any case.
    let alone = thread::available_parallelism().is_ok_and(|cpus| cpus.get() == 1);
    assert!(alone || recipe(&[]).contains("\nbackend: {cpu: {threads: 1}}\n"));
}

/// Without a GPU the backend is refused in one line.
#[test]
fn a_backend_that_is_not_there_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = run(folder.path(), "-p 0 -b cuda -k scatter");
    assert_eq!((output.status.code(), text(&output.stderr).lines().count()), (Some(255), 1), "{output:?}");
    assert_eq!(text(&output.stdout), "");
}

/// A case that does not fit fails by itself; the others have their rows.
#[test]
fn a_failing_configuration_is_one_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let suite = r#"[{"pattern": [0], "count": 5, "nruns": 1},
        {"pattern": [35000000000000], "count": 5, "name": "far"}, {"pattern": [1], "count": 5, "nruns": 1}]"#;
    fs::write(folder.path().join("suite.json"), suite).expect("a suite");
    let output = run(folder.path(), "-f suite.json -b serial");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(rows(&output).iter().map(|row| row[0]).collect::<Vec<_>>(), [0.0, 2.0]);
    let stderr = text(&output.stderr);
    assert_eq!(stderr.lines().filter(|line| line.contains("configuration 1 (far):")).count(), 1, "{stderr}");
}

#[test]
fn the_recipe_is_printed_and_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = run(folder.path(), "-p UNIFORM:8:1 -l 20 -b serial -r 2 --to-recipe");
    assert!(output.status.success(), "{output:?}");
    fs::write(folder.path().join("mine.yaml"), &output.stdout).expect("a recipe");
    let output = scatterlab(folder.path(), &["run", "mine.yaml", "--out", "out"]);
    assert!(output.status.success(), "{output:?}");
}

/// Other commands accept a suite as a recipe.
#[test]
fn a_suite_is_a_recipe() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("mine.json"), r#"[{"pattern": "UNIFORM:8:1", "count": 20, "nruns": 2}]"#)
        .expect("a suite");
    let output = scatterlab(folder.path(), &["run", "mine.json", "--out", "out"]);
    assert!(output.status.success(), "{output:?}");
    assert!(folder.path().join("out/results.csv").is_file());
    let output = scatterlab(folder.path(), &["run", "mine.json", "--backend", "scalar", "--dry-run"]);
    assert!(text(&output.stdout).starts_with("mine (mine.json): 1 case\n"), "{output:?}");
    fs::write(folder.path().join("mine.json"), r#"[{"patern": 1}]"#).expect("a suite");
    let output = scatterlab(folder.path(), &["run", "mine.json"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stderr).starts_with(
            "scatterlab: mine.json:1:2: gather needs a pattern; mine.json:1:3: unknown key `patern`"
        ),
        "{output:?}"
    );
}

/// A kept run can be judged if it has enough rounds; otherwise the advice on how to proceed works.
#[test]
fn kept_runs_can_be_judged() {
    let folder = tempfile::tempdir().expect("a folder");
    let words = "-p 0,8 -l 20 -b serial -r 2 --out";
    let output = run(folder.path(), &format!("{words} one --rounds 3 --format json"));
    let row: Vec<Json> = serde_json::from_slice(&output.stdout).expect("JSON");
    let times: Vec<f64> =
        row[0]["times_s"].as_array().expect("times").iter().filter_map(Json::as_f64).collect();
    let fastest = times.iter().copied().min_by(f64::total_cmp);
    assert_eq!((row.len(), times.len(), row[0]["min_s"].as_f64()), (1, 6, fastest), "one row, of all rounds");
    assert!(run(folder.path(), &format!("{words} short")).status.success());
    let judged = |arguments: &[&str]| {
        let output = scatterlab(folder.path(), arguments);
        text(&output.stdout) + &text(&output.stderr)
    };
    let said = judged(&["replay", "one", "--out", "again"]);
    assert!(said.contains("verdicts: again/replay.csv"), "{said}");
    let advice = "run its recipe again with --set measure.rounds=3 or more; from Spatter's command line, with --rounds 3 --out DIR";
    for refused in [&["replay", "short"][..], &["compare", "short", "one"]] {
        let said = judged(refused);
        assert!(said.contains(advice), "{said}");
    }
    let said = judged(&["run", "short/recipe.yaml", "--set", "measure.rounds=3", "--out", "longer"]);
    assert!(folder.path().join("longer/results.csv").is_file(), "{said}");
    let said = judged(&["compare", "longer", "one"]);
    assert!(!said.contains("are needed") && !said.contains(advice), "{said}");
}

/// Invoked under the name `spatter`, the program acts as Spatter, and it still serves as its own engine.
#[test]
fn the_name_spatter_is_enough() {
    let folder = tempfile::tempdir().expect("a folder");
    let name = folder.path().join("spatter");
    fs::copy(binary(), &name).expect("a copy");
    let output = Command::new(&name)
        .args(["-p", "0,8", "-l", "20", "-b", "serial", "-r", "2"])
        .output()
        .expect("starts");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(rows(&output).len(), 1);
}

#[test]
fn a_pattern_of_eight_thousand_indices_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let indices: Vec<String> = (0..8000u64).map(|i| (i * 3 % 8000).to_string()).collect();
    let output = run(folder.path(), &format!("-b serial -l 3 -r 1 -p {}", indices.join(",")));
    assert!(output.status.success(), "{output:?}");
    assert_eq!(rows(&output)[0][1], 8000.0 * 3.0 * 8.0);
}

/// The engine measures a reference copy only for a run that is kept: nothing else shows it.
#[test]
fn a_run_that_is_not_kept_has_no_reference_copy() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = format!("'{binary}' engine | tee said", binary = binary());
    let said = |words: &[&str]| {
        let line =
            [&["--engine", &engine, "spatter", "-p", "0", "-l", "9", "-r", "1", "-b", "serial"], words]
                .concat();
        let output = scatterlab(folder.path(), &line);
        assert!(output.status.success(), "{output:?}");
        fs::read_to_string(folder.path().join("said")).expect("events")
    };
    let events = |text: &str, name: &str| text.matches(&format!("\"event\":\"{name}\"")).count();
    let passing = said(&[]);
    assert_eq!((events(&passing, "reference"), events(&passing, "round")), (0, 1), "{passing}");
    let kept = said(&["--out", "kept"]);
    assert_eq!((events(&kept, "reference"), events(&kept, "round")), (1, 1), "{kept}");
}
