//! The real program reads only what ends and fits: named pipes, devices, files of 3 GB and process limits are one
//! error, at once.

use std::ffi::CString;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use scatterlab_tests::program::{binary, limited, program, scatterlab, text};

const SMALL: &str = "\
title: Small
stream: {kernel: copy, elements: 1Ki}
backend: scalar
chart: {x: elements, y: bandwidth, lines: kernel}
measure: {rounds: 3, samples: 2}
";

/// Longer than any of these commands takes, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

fn pipe(path: &Path) {
    let name = CString::new(path.display().to_string()).expect("a path");
    // SAFETY: the path is a string that ends with a zero byte.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
}

/// What a command prints, if it ends in time and within this much memory.
fn ended(command: &mut Command, memory: u64) -> Output {
    ended_and_held(limited(command, memory)).0
}

/// What a command prints, if it ends in time, and the most bytes of memory that it held.
fn ended_and_held(command: &mut Command) -> (Output, u64) {
    let mut held = 0;
    let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("starts");
    let mut streams = (child.stdout.take().expect("piped"), child.stderr.take().expect("piped"));
    let reader = thread::spawn(move || {
        let mut read = (Vec::new(), Vec::new());
        streams.0.read_to_end(&mut read.0).and_then(|_| streams.1.read_to_end(&mut read.1)).expect("read");
        read
    });
    let deadline = Instant::now() + PATIENCE;
    let status = loop {
        held = held.max(most_held(child.id()).unwrap_or(0));
        if let Some(status) = child.try_wait().expect("a child") {
            break status;
        }
        if Instant::now() > deadline {
            child.kill().expect("killed");
            panic!("it does not end: {command:?}");
        }
        thread::sleep(Duration::from_millis(5));
    };
    let (stdout, stderr) = reader.join().expect("no panic");
    (Output { status, stdout, stderr }, held)
}

/// The most bytes of memory that a process has held so far, unless it has ended.
fn most_held(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? << 10)
}

/// Enough for the program, and less than any file that is refused here.
const MEMORY: u64 = 512 << 20;

fn error_of(folder: &Path, words: &[&str]) -> String {
    let output = ended(program(folder).args(words), MEMORY);
    let error = text(&output.stderr);
    assert_eq!((output.status.code(), error.lines().count()), (Some(1), 1), "{words:?}: {error}");
    error
}

/// A folder with a stored run, `run`, and what refers to files named `x`.
fn laid_out() -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("temporary folder");
    fs::write(root.path().join("small.yaml"), SMALL).expect("recipe");
    let output = scatterlab(root.path(), &["run", "small.yaml", "--out", "run"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let indices = "gather: {locations: {file: x}}\nbackend: scalar\nchart: {x: file}\n";
    fs::write(root.path().join("indices.yaml"), indices).expect("recipe");
    root
}

/// The commands that open the file `x`, and the names under which they call it.
const NAMED: &[&[&str]] = &[
    &["run", "x"],
    &["run", "x", "--dry-run"],
    &["predict", "x"],
    &["counters", "0", "x"],
    &["replay", "x"],
    &["config", "--config", "x"],
    &["predict", "small.yaml", "--profile", "x"],
    &["spatter", "-f", "x"],
    &["run", "indices.yaml", "--dry-run"],
];

/// The commands that open a stored run.
const STORED: &[&[&str]] = &[
    &["report", "run"],
    &["report", "run", "--format", "csv"],
    &["watch", "run", "--headless", "--speed", "max"],
    &["compare", "run", "run"],
    &["accuracy", "run"],
    &["pack", "run"],
    &["replay", "run"],
    &["run", "--resume", "run"],
];

/// Makes the file `x`, with the ending that the tests of recipes want, in each of these ways.
fn for_each_kind(test: impl Fn(&dyn Fn(&Path), &str)) {
    test(&pipe, "is a pipe; accepted: a regular file");
    test(&|path| symlink("/dev/zero", path).expect("a link"), "is a device; accepted: a regular file");
}

#[test]
fn what_is_named_must_be_a_file() {
    let root = laid_out();
    for_each_kind(|make, expected| {
        let path = root.path().join("x");
        make(&path);
        // A suite may come through a pipe; nobody writes to this one.
        for words in NAMED.iter().filter(|words| words[0] != "spatter" || expected.contains("device")) {
            let error = error_of(root.path(), words);
            assert!(error.contains(expected), "{words:?}: {error}");
        }
        fs::remove_file(path).expect("removed");
    });
}

#[test]
fn what_a_run_holds_must_be_files() {
    let root = laid_out();
    for name in ["manifest.json", "events.ndjson", "events.ndjson.gz", "recipe.yaml"] {
        let (path, kept) = (root.path().join("run").join(name), root.path().join("kept"));
        let plain = root.path().join("run/events.ndjson");
        // The plain events would win.
        let aside = if name.ends_with(".gz") { &plain } else { &path };
        fs::rename(aside, &kept).expect("moved");
        for_each_kind(|make, expected| {
            make(&path);
            for words in STORED {
                let error = error_of(root.path(), words);
                assert!(error.contains(&format!("run/{name} {expected}")), "{words:?}: {error}");
            }
            fs::remove_file(&path).expect("removed");
        });
        let file = File::create(&path).expect("a file");
        file.set_len(3 << 30).expect("a sparse file");
        for words in STORED {
            let error = error_of(root.path(), words);
            assert!(error.contains(&format!("run/{name} is 3.00 GiB long; ")), "{words:?}: {error}");
        }
        fs::remove_file(&path).expect("removed");
        fs::rename(&kept, aside).expect("moved back");
    }
    let output = scatterlab(root.path(), &["report", "run"]);
    assert!(output.status.success(), "nothing is lost: {}", text(&output.stderr));
}

#[test]
fn a_pipe_for_new_events_is_not_opened() {
    let root = laid_out();
    fs::create_dir(root.path().join("out")).expect("a folder");
    pipe(&root.path().join("out/events.ndjson"));
    let error = error_of(root.path(), &["run", "small.yaml", "--out", "out"]);
    assert!(error.contains("cannot create out/events.ndjson"), "{error}");
}

#[test]
fn a_file_of_3_gb_is_refused_by_its_length() {
    let root = laid_out();
    File::create(root.path().join("x")).and_then(|file| file.set_len(3 << 30)).expect("a sparse file");
    for words in NAMED.iter().filter(|words| words[1] != "indices.yaml") {
        let error = error_of(root.path(), words);
        assert!(error.contains("x is 3.00 GiB long; a ") && error.contains(" is read"), "{words:?}: {error}");
    }
}

#[test]
fn an_index_file_beyond_the_memory_is_an_error() {
    let root = laid_out();
    let path = |name: &str| root.path().join(name);
    for name in ["x", "x.u64", "x.npy"] {
        File::create(path(name)).and_then(|file| file.set_len(3 << 30)).expect("a sparse file");
        let error = error_of(root.path(), &["locality", name]);
        assert!(error.contains(&format!("cannot read {name}: ")) && error.contains("memory"), "{error}");
    }
    let error = error_of(root.path(), &["run", "indices.yaml", "--dry-run"]);
    assert!(error.contains("cannot read ") && error.contains("memory"), "{error}");
    // A few hundred kilobytes of gzip.
    let mut encoder = GzEncoder::new(File::create(path("x.idx.gz")).expect("a file"), Compression::fast());
    (0..1200).try_for_each(|_| encoder.write_all(&[0; 1 << 20])).expect("compressed");
    encoder.finish().expect("compressed");
    let error = error_of(root.path(), &["locality", "x.idx.gz"]);
    assert!(
        error.contains("cannot read x.idx.gz: its first ") && error.contains("more than 64 for each"),
        "{error}"
    );
    File::create(path("x.csv.gz"))
        .and_then(|mut file| file.write_all(&fs::read(path("x.idx.gz"))?))
        .expect("copied");
    let error = error_of(root.path(), &["locality", "x.csv.gz"]);
    assert!(error.contains("cannot read x.csv.gz: "), "{error}");
}

/// A megabyte of gzip can hold a gigabyte of text, from which a reader can make ten: each of these is refused, or read,
/// with less than a quarter of a gigabyte.
#[test]
fn a_short_file_takes_little_memory() {
    const MATRIX: &str = "%%MatrixMarket matrix coordinate";
    let root = laid_out();
    let put = |name: &str, bytes: &[u8]| fs::write(root.path().join(name), bytes).expect("written");
    let member = |text: &[u8]| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(text).and_then(|()| encoder.finish()).expect("compressed")
    };
    let bomb = |head: &str, line: &str, pieces: usize| {
        let piece = member(line.repeat((2 << 20) / line.len()).as_bytes());
        [member(head.as_bytes()), piece.repeat(pieces)].concat()
    };
    put("a.mtx.gz", &bomb(&format!("{MATRIX} real general\n1 1 4000000000\n"), "1 1 1\n", 450));
    // As much as may be unpacked, and the most that becomes of it.
    let lines = 3 * (2 << 20) / 4;
    put("b.mtx.gz", &bomb(&format!("{MATRIX} pattern symmetric\n4000000 4000000 {lines}\n"), "2 1\n", 3));
    put("a.el.gz", &bomb("", "0 1\n", 450));
    put("b.el.gz", &bomb("", "0 1\n", 3));
    put("a.gr.gz", &bomb("p sp 1 300000000\n", "a 1 1 0\n", 450));
    put("a.csv.gz", &bomb("", "1\n", 450));
    put("a.idx.gz", &bomb("", "\0\0\0\0\0\0\0\0", 450));
    put("rows.mtx", format!("{MATRIX} real general\n67108864 67108864 1\n1 1 1\n").as_bytes());
    put("far.el", b"0 999999999\n");
    put("far.gr", b"p sp 1000000000 1\na 1 1000000000 1\n");
    put("suite.json", format!("[{}{{}}]", "{\"pattern\":[0]},".repeat(65_000)).as_bytes());
    put("list.json", format!("[{{\"pattern\":[{}0]}}]", "0,".repeat(5 << 20)).as_bytes());
    let recipe = |name: &str, text: &str| {
        put(name, format!("{text}\nbackend: scalar\nchart: {{x: file}}\n").as_bytes())
    };
    for (name, file) in [("a", "a.mtx.gz"), ("b", "b.mtx.gz"), ("c", "rows.mtx")] {
        recipe(&format!("{name}.yaml"), &format!("spmv: {{matrix: {{file: {file}}}}}"));
    }
    for (name, file) in
        [("d", "a.el.gz"), ("e", "b.el.gz"), ("f", "far.el"), ("g", "far.gr"), ("h", "a.gr.gz")]
    {
        recipe(&format!("{name}.yaml"), &format!("sssp: {{graph: {{file: {file}}}}}"));
    }
    let unpacks = "the most that is read; unpack it first";
    for (words, told) in [
        (&["locality", "a.mtx.gz"][..], unpacks),
        (&["run", "a.yaml", "--dry-run"], unpacks),
        (&["run", "b.yaml", "--dry-run"], ""),
        (
            &["run", "c.yaml", "--dry-run"],
            "rows.mtx:2:1: `67108864` is out of place; accepted: at most 4194304",
        ),
        (&["locality", "a.el.gz"], unpacks),
        (&["locality", "b.el.gz"], ""),
        (&["run", "d.yaml", "--dry-run"], unpacks),
        (&["run", "e.yaml", "--dry-run"], ""),
        (
            &["run", "f.yaml", "--dry-run"],
            "far.el:1:1: a graph of 1000000000 vertices and 1 arcs; accepted: at most",
        ),
        (&["run", "g.yaml", "--dry-run"], "far.gr:1:1: a graph of 1000000000 vertices and "),
        (&["run", "h.yaml", "--dry-run"], unpacks),
        (&["locality", "a.csv.gz"], unpacks),
        (&["locality", "a.idx.gz"], unpacks),
        (&["spatter", "-f", "suite.json"], "65001 configurations are too many; accepted: at most 10000"),
        (&["spatter", "-f", "list.json"], "5242881 numbers are too many; accepted: at most 1048576"),
    ] {
        let (output, held) = ended_and_held(program(root.path()).args(words));
        let error = text(&output.stderr);
        assert_eq!(output.status.success(), told.is_empty(), "{words:?}: {error}");
        assert!(error.contains(told) && error.lines().count() <= 1, "{words:?}: {error}");
        assert!(held < 256_000_000, "{words:?} held {held} bytes");
    }
}

/// Where the address space ends, a case says so and the next one is measured; the engine does not end.
#[test]
fn a_matrix_or_graph_beyond_the_address_space_is_a_case_that_cannot_run() {
    let root = laid_out();
    let put = |name: &str, recipe: &str| fs::write(root.path().join(name), recipe).expect("recipe");
    let tail = "measure: {rounds: 1, samples: 1}\n";
    put(
        "m.yaml",
        &format!(
            "spmv: {{matrix: [{{laplace5: {{side: [16, 2048]}}}}, {{random: {{rows: 1Mi, entries: 32}}}}, \
        {{banded: {{rows: 2Mi, half: 16}}}}, {{rmat: {{scale: 20, entries: 32}}}}]}}\nbackend: scalar\nchart: {{x: matrix}}\n{tail}"
        ),
    );
    put(
        "g.yaml",
        &format!(
            "sssp: {{graph: [grid, geometric, line, {{random: {{edges: 16}}}}, {{rmat: {{edges: 16}}}}], \
        vertices: [16, 4Mi]}}\nbackend: scalar\nchart: {{x: vertices, lines: graph}}\n{tail}"
        ),
    );
    put("c.yaml", &format!("cg: {{class: [S, C]}}\nbackend: scalar\nchart: {{x: class}}\n{tail}"));
    for name in ["m", "g", "c"] {
        let output =
            ended(program(root.path()).args(["run", &format!("{name}.yaml"), "--out", name]), MEMORY);
        let (said, results) =
            (text(&output.stderr), fs::read_to_string(root.path().join(name).join("results.csv")));
        assert!(!said.contains("died"), "{name}: {said}");
        let results = results.expect("results");
        assert!(results.contains(",certified,"), "{name}: {results}");
        assert!(results.contains(" free") || results.contains("cannot reserve "), "{name}: {results}");
    }
}

#[test]
fn indices_and_suites_come_through_pipes_too() {
    let root = laid_out();
    let path = root.path().join("pipe");
    pipe(&path);
    let written = |words: &[&str], content: &'static str| {
        let end = path.clone();
        let writer = thread::spawn(move || {
            let mut end = File::options().write(true).open(end).expect("a reader");
            thread::sleep(Duration::from_millis(50));
            end.write_all(content.as_bytes()).expect("written");
        });
        let output = ended(program(root.path()).args(words), 8 * MEMORY);
        writer.join().expect("no panic");
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    assert!(written(&["locality", "pipe", "--format", "csv"], "0 8 16\n").lines().count() > 3);
    let suite = "[{\"pattern\": \"UNIFORM:8:1\", \"count\": 16}]";
    assert!(
        written(&["spatter", "-f", "pipe", "--to-recipe"], suite).contains("uniform: {length: 8, stride: 1}")
    );
    let error = error_of(root.path(), &["locality", "pipe"]);
    assert!(error.contains("pipe: is empty"), "nobody writes: {error}");
    assert_eq!(scatterlab(root.path(), &["config", "--config", "/dev/null"]).status.code(), Some(0));
}

/// A thread with a stack of 2^50 bytes cannot be started, as none can where a process limit is reached.
#[test]
fn threads_that_cannot_be_started_are_an_error() {
    let root = laid_out();
    let engine = format!("RUST_MIN_STACK= {binary} engine", binary = binary());
    let commands: &[&[&str]] = &[
        &["devices"],
        &["devices", "--engine", &engine],
        &["run", "small.yaml"],
        &["run", "small.yaml", "--dry-run", "--engine", &engine],
        &["predict", "small.yaml", "--engine", &engine],
        &["watch", "run", "--headless", "--speed", "max"],
        &["replay", "run"],
        &["profiles", "--engine", &engine],
        &["calibrate", "--backend", "cpu"],
        &["doctor", "--engine", &engine],
        &["spatter", "-p", "UNIFORM:8:1", "-l", "16"],
        &["engine"],
    ];
    for words in commands {
        let output = ended(
            program(root.path()).args(*words).env("RUST_MIN_STACK", (1u64 << 50).to_string()),
            8 * MEMORY,
        );
        let (error, code) = (text(&output.stderr), output.status.code());
        assert!(!error.contains("panicked"), "{words:?}: {error}");
        assert!(error.lines().count() <= 1, "{words:?}: {error}");
        let says = text(&output.stdout);
        assert!(code.is_some_and(|code| code != 101), "{words:?}: {code:?} {error}{says}");
        let told = [error, says].concat();
        assert!(
            code == Some(0) || told.contains("thread") || told.contains("unavailable"),
            "{words:?}: {told}"
        );
    }
}
