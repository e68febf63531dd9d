//! What Spatter 2.1.0 takes and what it refuses, on command lines and in suites that users have, by the real program.

use std::ffi::CString;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use scatterlab_tests::program::{program, scatterlab, text};

fn run(folder: &Path, words: &[&str]) -> Output {
    scatterlab(folder, &[&["spatter"], words].concat())
}

/// Runs a suite.
fn suite(folder: &Path, suite: &str) -> Output {
    fs::write(folder.join("suite.json"), suite).expect("a suite");
    run(folder, &["-b", "serial", "-f", "suite.json"])
}

/// The bytes of each row.
fn bytes(output: &Output) -> Vec<u64> {
    let stdout = text(&output.stdout);
    let rows = stdout.lines().skip_while(|line| !line.starts_with("config ")).skip(1);
    rows.map(|row| row.split_whitespace().nth(1).and_then(|cell| cell.parse().ok()).expect(row)).collect()
}

#[test]
fn patterns_with_blanks_signs_and_ends_are_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let of = |pattern: &str| {
        let output = run(folder.path(), &["-b", "serial", "-v2", "-l", "3", "-r", "1", "-p", pattern]);
        assert!(output.status.success(), "{pattern}: {output:?}");
        let stdout = text(&output.stdout);
        let list = stdout.split("'pattern': ").nth(1).and_then(|rest| rest.split(']').next());
        format!("{}]", list.expect("a pattern"))
    };
    assert_eq!(of("MS1:8:1, 5, 7:5"), "[0, 5, 6, 7, 8, 13, 14, 19]");
    assert_eq!(of("UNIFORM: 4: 2"), "[0, 2, 4, 6]");
    assert_eq!(of("UNIFORM:+4:2"), "[0, 2, 4, 6]");
    assert_eq!(of("UNIFORM:4:2:"), "[0, 2, 4, 6]");
    assert_eq!(of("0:junk"), "[0]");
    assert_eq!(of("MS1:16:3,3:18"), "[0, 1, 2, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32]");
    assert_eq!(of("MS1:6:3,1:18"), "[0, 1, 2, 20, 21, 22]");
}

/// Patterns whose indices have no constant stride: 70,000 of them, three times 60,000, and more than is taken.
#[test]
fn long_patterns_are_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let list = |length: usize| {
        let indices: Vec<String> = (0..length).map(|i| (i * 7 % 8191).to_string()).collect();
        format!("[{}]", indices.join(","))
    };
    let config = |pattern: &str| format!(r#"{{"pattern": {pattern}, "count": 2, "nruns": 1}}"#);
    let output = suite(folder.path(), &format!("[{}]", config(&list(70_000))));
    assert_eq!((output.status.code(), bytes(&output)), (Some(0), vec![16 * 70_000]), "{output:?}");
    let three = vec![config(&list(60_000)); 3].join(",\n");
    let output = suite(folder.path(), &format!("[{three}]"));
    assert_eq!((output.status.code(), bytes(&output)), (Some(0), vec![16 * 60_000; 3]), "{output:?}");
    let output = suite(folder.path(), &format!("[{}]", vec![config(&list(800_000)); 2].join(",\n")));
    let said = "spatter: suite.json:2:1: up to here the patterns without a constant stride and the lists of deltas have \
                1600000 numbers; accepted: at most 1500000 in a suite\n";
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(1), said));
    let output = suite(folder.path(), &format!("[{}]", config(&list(1_048_577))));
    assert_eq!(output.status.code(), Some(255), "{output:?}");
    assert!(
        text(&output.stderr).contains("pattern: 1048577 numbers are too many; accepted: at most 1048576"),
        "{output:?}"
    );
}

/// Files that never end, or are far too long, are refused at once and without memory for them.
#[test]
fn files_are_read_within_bounds() {
    let folder = tempfile::tempdir().expect("a folder");
    File::create(folder.path().join("long.json")).and_then(|file| file.set_len(3 << 30)).expect("a file");
    let pipe = CString::new(folder.path().join("pipe").as_os_str().as_bytes()).expect("no NUL");
    // SAFETY: the path ends with a NUL.
    assert_eq!(unsafe { libc::mkfifo(pipe.as_ptr(), 0o600) }, 0);
    for (file, status, message) in [
        ("/dev/zero", 1, "/dev/zero is a device; accepted: a regular file or a pipe"),
        ("long.json", 1, "long.json is 3.00 GiB long; a suite of at most 32.0 MiB is read"),
        ("pipe", 255, "pipe:1:0: not JSON: EOF while parsing a value"),
        (".", 1, ". is a folder; accepted: a regular file or a pipe"),
    ] {
        let began = Instant::now();
        let output = run(folder.path(), &["-b", "serial", "-f", file]);
        assert_eq!(output.status.code(), Some(status), "{file}: {output:?}");
        assert_eq!(text(&output.stderr), format!("spatter: {message}\n"));
        assert!(began.elapsed() < Duration::from_secs(20), "{file}");
    }
    fs::write(folder.path().join("made.json"), r#"[{"pattern": [0, 8], "count": 2, "nruns": 1}]"#)
        .expect("a suite");
    let output = program(folder.path())
        .args(["spatter", "-b", "serial", "-f", "/dev/stdin"])
        .stdin(File::open(folder.path().join("made.json")).expect("a suite"))
        .output();
    assert_eq!(bytes(&output.expect("starts")), [32]);
}

#[test]
fn exit_statuses_are_spatters() {
    let folder = tempfile::tempdir().expect("a folder");
    for (words, status) in [
        ("-p MS1:8:2:10,20", 255),
        ("-p UNIFORM:8", 255),
        ("-p 0 -t 2147483648", 255),
        ("-p 0 -t 99999999999", 255),
        ("-p 0 -s2147483648", 255),
        ("-p 0 -r 1 -l 2 -d -0", 0),
        ("-p 0 -r 1 -l 2 --at", 0),
        ("-p 0 -r 1 -l 2 --a", 255),
        ("-hx", 255),
        ("-h -q", 255),
        ("-k gs -g 0", 1),
    ] {
        let words: Vec<&str> = ["-b", "serial"].into_iter().chain(words.split(' ')).collect();
        let output = run(folder.path(), &words);
        assert_eq!(output.status.code(), Some(status), "{words:?}: {output:?}");
    }
    for (text, status) in [
        (r#"[{"pattern": "UNIFORM:8"}]"#, 1),
        (r#"[{"pattern": "0,8,"}]"#, 1),
        (r#"[{"pattern": "MS1:8:2:10,20"}]"#, 1),
        (r#"[{"pattern": [-1]}]"#, 255),
        (r#"[{"kernel": "gs", "pattern-gather": [0]}]"#, 255),
        (r#"[{"kernel": "multigather", "pattern": [0]}]"#, 255),
        (r#"[{"kernel": "multiscatter", "pattern-scatter": [0]}]"#, 255),
        (r#"[{"kernel": "gather"}]"#, 1),
        (r#"[{"pattern": [0], "count": 2, "nruns": 1, "runs": 3, "global-work-size": 4}]"#, 0),
        (r#"[{"pattern": [0], "count": 2, "nruns": 1, "seed": 4294967296}]"#, 0),
    ] {
        assert_eq!(suite(folder.path(), text).status.code(), Some(status), "{text}");
    }
    let output = run(folder.path(), &["-hx"]);
    assert!(text(&output.stdout).contains("-x (--delta-gather)") && output.stderr.is_empty(), "{output:?}");
}

#[test]
fn output_that_cannot_be_written_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    for (words, status) in [
        ("-p 0 -l 2 -r 1", 1),
        ("-p 0 -l 2 -r 1 --format csv", 1),
        ("-p 0 -l 2 -r 1 --format json", 1),
        ("-p 0 --to-recipe", 1),
        ("--help", 255),
    ] {
        let full = File::options().write(true).open("/dev/full").expect("a full device");
        let output = program(folder.path())
            .args(["spatter", "-b", "serial"])
            .args(words.split(' '))
            .stdout(Stdio::from(full))
            .output()
            .expect("starts");
        let said = "spatter: cannot write standard output: No space left on device (os error 28)\n";
        assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(status), said), "{words}");
    }
}

#[test]
fn more_threads_than_cpus_are_asked_for_in_vain() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = program(folder.path())
        .args(["spatter", "-p", "0", "-l", "2", "-r", "1", "-b", "openmp"])
        .env("OMP_NUM_THREADS", "4096")
        .output()
        .expect("starts");
    assert!(output.status.success(), "{output:?}");
    assert!(
        text(&output.stderr).contains("OMP_NUM_THREADS: 4096 threads are more than the CPUs"),
        "{output:?}"
    );
}
