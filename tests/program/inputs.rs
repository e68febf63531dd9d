//! Files of others as they are found, given to the real program: what they say is what is measured, or one line says why not.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use scatterlab_tests::program::{scatterlab, text};

/// One line of an error, and the status.
fn refused(folder: &Path, arguments: &[&str]) -> String {
    let output = scatterlab(folder, arguments);
    let told = text(&output.stderr);
    assert!(
        !output.status.success() && told.lines().count() == 1,
        "{arguments:?}: {told}{}",
        text(&output.stdout)
    );
    told
}

/// Numbers of texts keep their spelling, from the recipe to the files of the run.
#[test]
fn texts_are_what_the_recipe_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let recipe = "title: 1.10\npaper: {key: he2007, figure: 3.10, table: 0x10, claim: 1e3}\nmeasure: {rounds: 1, samples: 1}\n\
        gather: {locations: {file: {path: t.csv, column: 2020}}}\nbackend: scalar\nchart: {x: backend, y: time}\n";
    fs::write(path("r.yaml"), recipe).expect("written");
    fs::write(path("t.csv"), "2019,2020\n5,1\n6,0\n").expect("written");
    let output = scatterlab(folder.path(), &["run", "r.yaml", "--out", "out", "--format", "json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let manifest = fs::read_to_string(path("out/manifest.json")).expect("a manifest");
    for kept in ["\"1.10\"", "\"3.10\"", "\"0x10\"", "\"1e3\"", "\"2020\""] {
        assert!(manifest.contains(kept), "{kept}: {manifest}");
    }
    let table = fs::read_to_string(path("out/results.csv")).expect("a table");
    assert!(table.contains(",3.10,"), "{table}");
    // A message quotes the value in the same way.
    for (from, to, told) in [
        (
            "samples: 1",
            "samples: 1.50",
            "r.yaml:3:31: measure.samples: expected a count such as `4096` or `16Mi`, found the number `1.50`",
        ),
        ("samples: 1", "samples: 0x0", "r.yaml:3:31: measure.samples: 0x0 is out of range"),
        ("figure: 3.10", "figure: true", "found the boolean `true` (quote it to make it a word)"),
    ] {
        fs::write(path("r.yaml"), recipe.replace(from, to)).expect("written");
        let error = refused(folder.path(), &["run", "r.yaml", "--dry-run"]);
        assert!(error.contains(told), "{error}");
    }
}

/// A path of 2^32 is not a missing one, although its distance counts as such.
#[test]
fn vertices_beyond_the_longest_distance_are_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let recipe = "title: Far\nmeasure: {rounds: 1, samples: 1}\nbackend: [scalar, cpu]\nchart: {x: backend, y: time}\n\
        sssp: {graph: {file: {path: g.gr, directions: given}}, source: 0}\n";
    fs::write(path("r.yaml"), recipe).expect("written");
    let run = |graph: &str, out: &str| {
        fs::write(path("g.gr"), graph).expect("written");
        let output = scatterlab(folder.path(), &["run", "r.yaml", "--out", out]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let table = fs::read_to_string(path(out).join("results.csv")).expect("a table");
        (text(&output.stdout), table.lines().next().unwrap_or_default().contains("resolved.beyond"))
    };
    let (said, column) = run("p sp 4 2\na 1 2 2147483648\na 2 3 2147483648\n", "far");
    let remark = "1 vertex at a distance of 2^32 − 1 or more, which counts as unreachable";
    assert!(column && said.matches(remark).count() == 2, "{said}");
    let (said, column) = run("p sp 4 2\na 1 2 2147483648\na 2 3 2147483646\n", "near");
    assert!(!column && !said.contains("2^32"), "{said}");
}

#[test]
fn what_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    symlink("b.yaml", path("a.yaml")).expect("a link");
    symlink("a.yaml", path("b.yaml")).expect("a link");
    fs::write(path("bytes.yaml"), b"title: a\ngather: {}\n# na\xefve\n").expect("written");
    fs::write(path("packed.yaml"), b"\x1f\x8b\x08\0\0\0\0\0").expect("written");
    fs::write(path("suite.json"), b"PK\x03\x04").expect("written");
    fs::write(
        path("m.yaml"),
        "title: M\nspmv: {matrix: {file: a.yaml}}\nbackend: cpu\nchart: {x: backend}\n",
    )
    .expect("written");
    let looped = "a.yaml: its symbolic links form a loop";
    for (arguments, told) in [
        (&["run", "a.yaml", "--dry-run"][..], looped),
        (&["locality", "a.yaml"], looped),
        (&["locality", "b.yaml", "--column", "x"], "b.yaml: its symbolic links form a loop"),
        (&["run", "m.yaml", "--dry-run"], looped),
        (&["spatter", "-f", "a.yaml"], looped),
        (&["report", "a.yaml"], "form a loop"),
        (&["run", "bytes.yaml", "--dry-run"], "bytes.yaml:3:5: the byte 0xef is not UTF-8 text"),
        (&["run", "packed.yaml", "--dry-run"], "packed.yaml is compressed with gzip; accepted: UTF-8 text"),
        (&["spatter", "-f", "suite.json"], "suite.json is a zip archive; accepted: UTF-8 text"),
    ] {
        let error = refused(folder.path(), arguments);
        assert!(error.contains(told), "{arguments:?}: {error}");
    }
}

/// Marks and line ends of other systems, in what the program reads as text.
#[test]
fn marks_and_line_ends_are_no_content() {
    let folder = tempfile::tempdir().expect("a folder");
    let suite = "[\n{\"pattern\": [0, 1], \"count\": 2, \"count\": 4}\n]\n";
    for (name, words, most, arguments) in [
        (
            "r.yaml",
            "title: A\ngather: {tuples: 1Ki}\nbackend: scalar\nchart: {x: tuples}\n",
            2,
            &["run", "r.yaml", "--dry-run"][..],
        ),
        ("s.json", suite, 4, &["spatter", "-f", "s.json", "-b", "serial", "-v2"]),
        ("g.wel", "0 1 5\n1 2 5\n", 9, &["locality", "g.wel"]),
    ] {
        let printed = |text_of: String| {
            fs::write(folder.path().join(name), text_of).expect("written");
            let output = scatterlab(folder.path(), arguments);
            assert!(output.status.success(), "{name}: {}", text(&output.stderr));
            // What is measured or estimated comes later, or behind `~`.
            let lines = text(&output.stdout).lines().take(most).map(str::to_owned).collect::<Vec<_>>();
            lines.iter().map(|line| line.split('~').next().map(str::to_owned)).collect::<Vec<_>>()
        };
        let plain = printed(words.to_owned());
        for (mark, end) in [("\u{feff}", "\n"), ("\u{feff}", "\r\n"), ("", "\r"), ("\u{feff}", "\r")] {
            let other = printed(format!("{mark}{}", words.replace('\n', end)));
            assert_eq!(other, plain, "{name} {mark:?} {end:?}");
        }
    }
}
