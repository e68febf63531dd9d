//! Targets that a user writes: patterns, index files, Spatter's options and suites, profiles.

use std::fs;
use std::path::Path;

use scatterlab::case::{WHOLE_GRAPH, WHOLE_MATRIX};
use scatterlab::inputs::arrays::{self, Format};
use scatterlab::inputs::notation;
use scatterlab::model::profiles;
use scatterlab::recipe;
use scatterlab::recipe::plan::{self, Overrides};
use scatterlab::spatter::settings::OmpThreads;
use scatterlab::spatter::{CommandLine, Job, Machine, Suite, to_recipe};

use super::mutate::Random;
use super::{Outcome, Target};

const MACHINE: Machine = Machine { cpus: 4, omp_threads: OmpThreads::Unset, gpu: false, now: 1_700_000_000 };

fn file(path: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect("a file of the source tree")
}

fn lossy(input: &[u8]) -> String {
    String::from_utf8_lossy(input).into_owned()
}

fn texts(all: &[&str]) -> Vec<Vec<u8>> {
    all.iter().map(|text| text.as_bytes().to_vec()).collect()
}

const NUMBERS: &[&str] =
    &["0", "1", "-1", "18446744073709551615", "9223372036854775808", "1e9", ",", ":", " ", "\n"];

#[test]
fn notation() {
    fn parse(input: &[u8], _: &mut Random) -> Outcome {
        Ok(notation::parse(&lossy(input)).err().map(|error| error.to_string()))
    }
    let corpus = texts(&[
        "UNIFORM:8:4",
        "UNIFORM:8:4:NR",
        "MS1:8:4:20",
        "MS1:8:2,5:10,20",
        "LAPLACIAN:2:2:100",
        "0,8,16",
    ]);
    Target { name: "notation", corpus, tokens: NUMBERS, parse }.fuzz();
}

fn array(format: Format, input: &[u8], column: Option<&str>) -> Outcome {
    match arrays::parse(format, input, column) {
        Ok(indices) if indices.len() > input.len() => Err("more indices than bytes".to_owned()),
        other => Ok(other.err().map(|error| error.of("a"))),
    }
}

#[test]
fn npy() {
    fn parse(input: &[u8], _: &mut Random) -> Outcome {
        array(Format::Npy, input, None)
    }
    let tokens = &[
        "\u{93}NUMPY",
        "'descr'",
        "'<u8'",
        "'>i2'",
        "'shape'",
        "(3,)",
        "(2, 2)",
        "True",
        "\0",
        "\n",
        "(",
        "-1",
    ];
    Target { name: "npy", corpus: vec![file("tests/fixtures/neighbours.npy")], tokens, parse }.fuzz();
}

#[test]
fn csv() {
    fn parse(input: &[u8], random: &mut Random) -> Outcome {
        array(Format::Text, input, *random.pick(&[None, Some("to"), Some("from"), Some("2")]))
    }
    let corpus = vec![file("tests/fixtures/edges.csv"), b"0, 8; 16\n24".to_vec()];
    Target {
        name: "csv",
        corpus,
        tokens: &["to", "from", "\"", ";", ",", "\r\n", "\u{feff}", "#", "-1", "1.5"],
        parse,
    }
    .fuzz();
}

/// A file of a matrix or a graph: at most six words for each entry, and for a whole matrix where its rows begin.
fn listed(format: Format, input: &[u8], column: Option<&str>) -> Outcome {
    let rows = |words: &[u64]| if column == Some(WHOLE_MATRIX) { words[0] as usize + 4 } else { 4 };
    match arrays::parse(format, input, column) {
        Ok(words) if words.len() > 3 * input.len() + rows(&words) => {
            Err("more words than the file has".to_owned())
        }
        other => Ok(other.err().map(|error| error.of("a"))),
    }
}

#[test]
fn matrix_market() {
    fn parse(input: &[u8], random: &mut Random) -> Outcome {
        listed(Format::MatrixMarket, input, *random.pick(&[None, Some(WHOLE_MATRIX), Some(WHOLE_GRAPH)]))
    }
    let head = "%%MatrixMarket matrix coordinate";
    let corpus = texts(&[
        &format!("{head} real general\n% a remark\n3 3 4\n1 1 1.5\n2 1 -2\n3 3 0\n3 3 1e-3\n"),
        &format!("{head} pattern symmetric\n4 4 3\n1 1\n3 2\n4 1\n"),
        &format!("{head} integer skew-symmetric\n2 2 1\n2 1 7\n"),
    ]);
    let tokens = &[
        "%%MatrixMarket",
        "matrix",
        "array",
        "complex",
        "hermitian",
        "%",
        "\n",
        " ",
        "0",
        "4294967295",
        "-1",
        "nan",
    ];
    Target { name: "matrix-market", corpus, tokens, parse }.fuzz();
}

#[test]
fn dimacs() {
    fn parse(input: &[u8], random: &mut Random) -> Outcome {
        listed(Format::Dimacs, input, *random.pick(&[None, Some(WHOLE_GRAPH)]))
    }
    let corpus = texts(&["c roads\np sp 4 3\na 1 2 10\na 2 3 0\na 4 1 1000\n", "p sp 1 0\n"]);
    let tokens = &["c", "p", "sp", "a", "e", "\n", " ", "0", "4294967295", "2147483649", "-1", "1.5"];
    Target { name: "dimacs", corpus, tokens, parse }.fuzz();
}

#[test]
fn edges() {
    fn parse(input: &[u8], random: &mut Random) -> Outcome {
        listed(Format::Edges, input, *random.pick(&[None, Some(WHOLE_GRAPH)]))
    }
    let corpus = texts(&["# from to\n0 1\n1 2\n2 0\n", "0 1 10\n1 2 0\n2 2 5\n"]);
    let tokens = &["#", "%", "\t", "\n", " ", "0", "4294967295", "2147483648", "-1", "1.5"];
    Target { name: "edges", corpus, tokens, parse }.fuzz();
}

/// Checks that the job becomes a recipe that resolves.
fn job(job: Result<Job, scatterlab::spatter::Refused>) -> Outcome {
    let text = match job.as_ref().map(to_recipe) {
        Ok(text) => text,
        Err(refused) => return Ok(Some(refused.message.clone())),
    };
    let recipe = recipe::parse("recipe", &text);
    match recipe.and_then(|recipe| plan::resolve(&recipe, &Overrides::default())) {
        Ok(_) => Ok(None),
        Err(error) => Err(format!("the recipe of a job is refused: {error}")),
    }
}

#[test]
fn spatter_suite() {
    fn parse(input: &[u8], _: &mut Random) -> Outcome {
        let line = CommandLine::read(&["-b".to_owned(), "serial".to_owned()]);
        let suite = Suite::read("s.json", &lossy(input)).map(Some);
        job(line.and_then(|line| Job::of(&line, suite?, &MACHINE)))
    }
    let corpus = ["amg", "cpu-ustride", "gpu-ustride", "lulesh"]
        .map(|name| file(&format!("tests/fixtures/spatter/{name}.json")));
    let tokens = &[
        "{",
        "}",
        "[",
        "]",
        "\"",
        "null",
        "true",
        "\"kernel\"",
        "\"gs\"",
        "\"delta\"",
        "\"count\"",
        "\\u0000",
        "1e400",
        "-1",
        ",",
    ];
    Target { name: "spatter-suite", corpus: corpus.to_vec(), tokens, parse }.fuzz();
}

#[test]
fn spatter_options() {
    fn parse(input: &[u8], _: &mut Random) -> Outcome {
        let words: Vec<String> = lossy(input).split_whitespace().map(str::to_owned).collect();
        job(CommandLine::read(&words).and_then(|line| Job::of(&line, None, &MACHINE)))
    }
    let corpus = texts(&[
        "-p UNIFORM:8:1 -d 8 -l 1024 -k gather",
        "-k gs -u UNIFORM:8:1 -g UNIFORM:8:2 -x 8 -y 16 -l 32",
        "--kernel=multiscatter -p UNIFORM:8:1 -u 0,1,2 -l 7 -w 3 -s 5 --aggregate=1",
        "-b serial -t 2 -r 3 --compress --strong-scale -p 0,8,16 -d 1,2,3",
    ]);
    let tokens =
        &["-p", "-k", "-d", "-e", "-l", "--", "--pattern", "=", " ", "-", "UNIFORM", ":", ",", "NR", "-1"];
    Target { name: "spatter-options", corpus, tokens, parse }.fuzz();
}

#[test]
fn profile() {
    fn parse(input: &[u8], _: &mut Random) -> Outcome {
        let profile = match profiles::read("p.yaml", &lossy(input)) {
            Ok(profile) => profile,
            Err(error) => return Ok(Some(error.to_string())),
        };
        let text = profiles::write(&profile).map_err(|error| format!("it cannot be written: {error:#}"))?;
        match profiles::read("p.yaml", &text) {
            Ok(again) if again == profile => Ok(None),
            Ok(_) => Err("written and read, it is another profile".to_owned()),
            Err(error) => Err(format!("it cannot be read again: {error}")),
        }
    }
    let folders = ["experiments/profiles", "tests/fixtures/profiles"];
    let folders = folders.map(|folder| Path::new(env!("CARGO_MANIFEST_DIR")).join(folder));
    let files = folders.iter().flat_map(|folder| fs::read_dir(folder).expect("profiles"));
    let corpus = files.map(|file| fs::read(file.expect("an entry").path()).expect("a profile")).collect();
    let tokens = &[
        "0", "-1", ".nan", ".inf", "1e308", "1e-320", "null", "[]", "{", "\"", ": ", "\n", "  ", "latency",
        "cuda",
    ];
    Target { name: "profile", corpus, tokens, parse }.fuzz();
}
