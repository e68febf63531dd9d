//! Each mistake yields one clear line with Spatter's exit status, and nothing panics.

use std::fs;

use super::{refusal, suite_refusal};
use scatterlab_tests::program::{scatterlab, text};

/// Command lines for the real program, with status and message.
const LINES: &[(&str, u8, &str)] = &[
    // Mistakes that Spatter accepts.
    ("-p 0 -l 1e6", 255, "-l: expected an integer of at least 1, found `1e6`"),
    ("-p 0 -l 2**24", 255, "-l: expected an integer of at least 1, found `2**24`"),
    ("-p 0 -r 10x", 255, "-r: expected an integer of at least 1, found `10x`"),
    ("-p 0 -d 8.5", 255, "-d: expected an integer of at least 0, or several such as 8,8,16, found `8.5`"),
    ("-p MS1:8:1,3,5:10,20", 255, "-p: MS1 has 3 breaks but 2 gaps: give one gap or one for each break"),
    ("-p MS1:8:2:10,20", 255, "-p: MS1 has 1 breaks but 2 gaps: give one gap or one for each break"),
    ("-k multigather -p 0,1 -g 0,5", 1, "pattern-gather refers to index 5 of a pattern that has 2 (0 to 1)"),
    (
        "-k multigather -p 0,1 -g 0,1,2,1",
        1,
        "pattern-gather refers to index 2 of a pattern that has 2 (0 to 1)",
    ),
    ("-k multiscatter -p 0,1 -u 2", 1, "pattern-scatter refers to index 2 of a pattern that has 2 (0 to 1)"),
    (
        "-p 0,8 -l 9223372036854775807",
        1,
        "the sparse array would take more than 256 TiB: lower count, delta or the indices",
    ),
    (
        "-p 0,8 -d 0 -l 9223372036854775807",
        1,
        "what is moved would take more than 256 TiB: lower count, delta or the indices",
    ),
    (
        "-p 0 -d 9223372036854775807 -l 3",
        1,
        "the sparse array would take more than 256 TiB: lower count, delta or the indices",
    ),
    (
        "-p 0 -w 9223372036854775807",
        1,
        "the dense array would take more than 256 TiB: lower count, delta or the indices",
    ),
    (
        "-p 9223372036854775807",
        1,
        "the sparse array would take more than 256 TiB: lower count, delta or the indices",
    ),
    ("-p 0 -r 10001", 1, "10001 runs are too many; accepted: at most 10000"),
    // Numbers.
    ("-p 0 -l 0", 255, "-l: expected an integer of at least 1, found `0`"),
    ("-p 0 -l -5", 255, "-l: expected an integer of at least 1, found `-5`"),
    ("-p 0 -l", 255, "-l needs a value: an integer of at least 1"),
    ("-p 0 -r 0", 255, "-r: expected an integer of at least 1, found `0`"),
    ("-p 0 -w 0", 255, "-w: expected an integer of at least 1, found `0`"),
    ("-p 0 -t 0", 255, "-t: expected an integer from 1 to 2147483647, found `0`"),
    ("-p 0 -t 2147483648", 255, "-t: expected an integer from 1 to 2147483647, found `2147483648`"),
    ("-p 0 -s2147483648", 255, "-s: expected an integer from 0 to 2147483647, attached, found `2147483648`"),
    ("-p 0 -j 0", 255, "-j: expected an integer of at least 1, found `0`"),
    ("-p 0 -d -1", 255, "-d: expected an integer of at least 0, or several such as 8,8,16, found `-1`"),
    ("-p 0 -d 8,,16", 255, "-d: expected an integer of at least 0, or several such as 8,8,16, found `8,,16`"),
    ("-p 0 -e -1", 255, "-e: expected an integer of at least 0, found `-1`"),
    ("-p 0 -v x", 255, "-v: expected an integer of at least 0, found `x`"),
    ("-p 0 -sx", 255, "-s: expected an integer from 0 to 2147483647, attached, found `x`"),
    ("-p 0 --random=-1", 255, "-s: expected an integer from 0 to 2147483647, attached, found `-1`"),
    (
        "-p 0 -l 9223372036854775808",
        255,
        "-l: expected an integer of at least 1, at most 9223372036854775807, found `9223372036854775808`",
    ),
    ("-p 0 --atomic-writes=2", 255, "--atomic-writes: expected nothing, or =0 or =1, found `2`"),
    // Words.
    ("-p 0 -k sg", 255, "-k: expected one of gather, scatter, gs, multigather, multiscatter, found `sg`"),
    ("-p 0 -b hip", 255, "-b: expected one of serial, openmp, cuda, found `hip`"),
    ("-p 0 --format xml", 255, "--format: expected one of csv, json, found `xml`"),
    ("-p 0 --order backwards", 255, "--order: expected one of sequential, random, found `backwards`"),
    ("-p 0 -q", 255, "unknown option -q; --help lists them"),
    (
        "-p 0 --pat 0",
        255,
        "--pat is ambiguous: --pattern-gather, --pattern-size, --pattern, --pattern-scatter",
    ),
    ("-p 0 --cuont 5", 255, "unknown option --cuont (did you mean --count?)"),
    ("-p 0 --compress=1", 255, "--compress takes no value"),
    ("-p 0 -b cuda --device 5000", 255, "--device: there is no GPU 5000; accepted: 0 to 4095"),
    ("-p 0 -b cuda --device both", 255, "--device: expected an integer of at least 0, or all, found `both`"),
    ("-p 0 -b openmp --device all", 255, "--device is for the backend cuda, not openmp"),
    ("-p 0 -b serial --device 1", 255, "--device is for the backend cuda, not serial"),
    // Patterns.
    ("-p 0 -p 1", 255, "-p is given twice"),
    (
        "-p UNIFORM:8",
        255,
        "-p: `UNIFORM:8` is not a pattern: UNIFORM:N:STRIDE[:DELTA|:NR], MS1:N:BREAKS:GAPS, LAPLACIAN:D:L:N or a list such as 0,8,16",
    ),
    (
        "-p uniform:8:1",
        255,
        "-p: `uniform:8:1` is not a pattern: UNIFORM:N:STRIDE[:DELTA|:NR], MS1:N:BREAKS:GAPS, LAPLACIAN:D:L:N or a list such as 0,8,16",
    ),
    (
        "-p RANDOM:8",
        255,
        "-p: `RANDOM:8` is not a pattern: UNIFORM:N:STRIDE[:DELTA|:NR], MS1:N:BREAKS:GAPS, LAPLACIAN:D:L:N or a list such as 0,8,16",
    ),
    (
        "-p FILE=x.json",
        255,
        "-p: `FILE=x.json` is not a pattern; as in Spatter 2.1.0, -f reads a file of configurations: -f x.json",
    ),
    ("-p UNIFORM:0:1", 255, "-p: a pattern has at least one index"),
    ("-p UNIFORM:8:0", 255, "-p: the stride of UNIFORM is at least 1"),
    ("-p UNIFORM:8:1:0", 255, "-p: the delta of UNIFORM is at least 1"),
    ("-p UNIFORM:8:4::", 255, "-p: `` is not a non-negative integer"),
    ("-p UNIFORM:8x:1", 255, "-p: `8x` is not a non-negative integer"),
    ("-p UNIFORM:99999999999:1", 255, "-p: a pattern has at most 1048576 indices, this one has 99999999999"),
    ("-p LAPLACIAN:0:1:1", 255, "-p: dimensions, length and size of LAPLACIAN are at least 1"),
    ("-p 0,1,", 255, "-p: `` is not a non-negative integer"),
    ("-p 0,-1", 255, "-p: `-1` is not a non-negative integer"),
    ("-p 0,8 -j 3", 255, "-p: a pattern of 2 indices cannot be cut to 3"),
    ("", 1, "gather needs a pattern"),
    ("-k gs -g 0", 1, "gs needs a pattern-scatter"),
    ("-k gs -u 0", 1, "gs needs a pattern-gather"),
    ("-k multigather -p 0", 1, "multigather needs a pattern-gather"),
    ("-k multiscatter -u 0", 1, "multiscatter needs a pattern"),
    ("-k gs -g 0,1 -u 0", 1, "pattern-gather has 2 indices and pattern-scatter 1: gs needs equally many"),
    ("-f nowhere.json", 1, "cannot read nowhere.json: No such file or directory (os error 2)"),
    ("-f suite.json -l 1e6", 255, "-l: expected an integer of at least 1, found `1e6`"),
];

/// Suites, with the status and the message after the file's name.
const SUITES: &[(&str, u8, &str)] = &[
    ("", 255, "1:0: not JSON: EOF while parsing a value"),
    ("[{\"pattern\": [0}]", 255, "1:16: not JSON: expected `,` or `]`"),
    ("[{\"pattern\": [0]},]", 255, "1:19: not JSON: expected value"),
    ("[{'pattern': [0]}]", 255, "1:3: not JSON: key must be a string"),
    ("[] []", 255, "1:4: not JSON: trailing characters"),
    ("{\"pattern\": [0]}", 255, "1:1: expected a list of configurations, found an object"),
    ("\"UNIFORM:8:1\"", 255, "1:1: expected a list of configurations, found `\"UNIFORM:8:1\"`"),
    ("[]", 255, "1:1: the list holds no configuration"),
    ("[\n  3]", 255, "2:3: expected an object of options, found `3`"),
    (
        "[{\"pattern\": [0], \"count\": 1, \"count\": 0}]",
        255,
        "1:40: count: expected an integer of at least 1, found `0`",
    ),
    (
        "[{\"pattern\": [0], \"count\": \"10\"}]",
        255,
        "1:28: count: expected an integer of at least 1, found `\"10\"`",
    ),
    (
        "[{\"pattern\": [0], \"count\": 0.9}]",
        255,
        "1:28: count: expected an integer of at least 1, found `0.9`",
    ),
    (
        "[{\"pattern\": [0], \"count\": 1e30}]",
        255,
        "1:28: count: expected an integer of at least 1, at most 9223372036854775807, found `1e30`",
    ),
    (
        "[{\"pattern\": [0], \"count\": null}]",
        255,
        "1:28: count: expected an integer of at least 1, found null",
    ),
    (
        "[{\"pattern\": [0], \"delta\": -1}]",
        255,
        "1:28: delta: expected an integer of at least 0, or a list of them, found `-1`",
    ),
    (
        "[{\"pattern\": [0], \"delta\": [8, \"8\"]}]",
        255,
        "1:32: delta: expected an integer of at least 0, found `\"8\"`",
    ),
    (
        "[{\"pattern\": [0], \"kernel\": \"sg\"}]",
        255,
        "1:29: kernel: expected one of gather, scatter, gs, multigather, multiscatter, found `\"sg\"`",
    ),
    ("[{\"pattern\": [0], \"name\": 3}]", 255, "1:27: name: expected a text, found `3`"),
    (
        "[{\"pattern\": []}]",
        255,
        "1:14: pattern: expected a text such as \"UNIFORM:8:1\", or a list of indices, found an empty list",
    ),
    (
        "[{\"pattern\": 8}]",
        255,
        "1:14: pattern: expected a text such as \"UNIFORM:8:1\", or a list of indices, found `8`",
    ),
    ("[{\"pattern\": [0,\n -1]}]", 255, "2:2: pattern: expected an integer of at least 0, found `-1`"),
    ("[{\"pattern\": [[0]]}]", 255, "1:15: pattern: expected an integer of at least 0, found a list"),
    (
        "[{\"pattern\": \"UNIFORM:8\"}]",
        1,
        "1:14: pattern: `UNIFORM:8` is not a pattern: UNIFORM:N:STRIDE[:DELTA|:NR], MS1:N:BREAKS:GAPS, LAPLACIAN:D:L:N or a list such as 0,8,16",
    ),
    (
        "[{\"pattern\": [0]},\n {\"pattern\": [0, 1], \"pattern-size\": 3}]",
        1,
        "2:14: pattern: a pattern of 2 indices cannot be cut to 3",
    ),
    (
        "[{\"pattern\": [0]},\n {\"kernel\": \"gs\", \"pattern-gather\": [0]}]",
        255,
        "2:2: gs needs a pattern-scatter",
    ),
    ("[{}]", 1, "1:2: gather needs a pattern"),
    ("[{\"kernel\": \"multiscatter\", \"pattern\": [0]}]", 255, "1:2: multiscatter needs a pattern-scatter"),
    (
        "[{\"Pattern\": [0]}]",
        1,
        "1:2: gather needs a pattern; suite.json:1:3: unknown key `Pattern` is ignored, as by Spatter (did you mean `pattern`?)",
    ),
    (
        "[{\"kernel\": \"multigather\", \"pattern\": [0], \"pattern-gather\": [1]}]",
        1,
        "1:2: pattern-gather refers to index 1 of a pattern that has 1 (0 to 0)",
    ),
    (
        "[{\"pattern\": [9223372036854775807]}]",
        1,
        "1:2: the sparse array would take more than 256 TiB: lower count, delta or the indices",
    ),
];

#[test]
fn command_lines_are_refused_in_one_line() {
    for (words, status, message) in LINES.iter().filter(|(words, ..)| !words.starts_with("-f")) {
        assert_eq!(refusal(words), (*status, (*message).to_owned()), "{words}");
    }
}

#[test]
fn suites_are_refused_in_one_line() {
    for (text, status, message) in SUITES {
        assert_eq!(suite_refusal(text), (*status, format!("suite.json:{message}")), "{text}");
    }
}

/// Checks that standard error holds only the message and standard output nothing.
fn check(folder: &std::path::Path, words: &str, status: u8, message: &str) {
    let arguments: Vec<&str> = ["spatter"].into_iter().chain(words.split_whitespace()).collect();
    let output = scatterlab(folder, &arguments);
    assert_eq!(text(&output.stderr), format!("spatter: {message}\n"), "{words}");
    assert_eq!(output.status.code(), Some(i32::from(status)), "{words}");
    assert_eq!(text(&output.stdout), "", "{words}");
}

#[test]
fn the_program_says_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("suite.json"), "[{\"pattern\": [0]}]").expect("a suite");
    for (words, status, message) in LINES {
        // With a backend given, the program need not look for a GPU.
        let words = if words.contains("-b ") { (*words).to_owned() } else { format!("-b serial {words}") };
        check(folder.path(), &words, *status, message);
    }
    for (suite, status, message) in SUITES {
        fs::write(folder.path().join("suite.json"), suite).expect("a suite");
        check(folder.path(), "-b serial -f suite.json", *status, &format!("suite.json:{message}"));
    }
}

#[test]
fn words_that_are_no_text_are_refused() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().expect("a folder");
    let mut program = scatterlab_tests::program::program(folder.path());
    let output =
        program.args([OsStr::new("spatter"), OsStr::from_bytes(b"-n\xff")]).output().expect("starts");
    assert_eq!((output.status.code(), text(&output.stderr).lines().count()), (Some(255), 1));
}

#[test]
fn help_ends_with_spatters_status() {
    let folder = tempfile::tempdir().expect("a folder");
    for words in [["spatter", "--help"], ["spatter", "-h"]] {
        let output = scatterlab(folder.path(), &words);
        assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(255), ""));
        for option in &scatterlab::spatter::table::OPTIONS {
            assert!(text(&output.stdout).contains(&option.names()), "{}", option.long);
        }
    }
}
