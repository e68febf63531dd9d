//! Runs the real program on a GPU that fails on request.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use scatterlab_tests::program::{binary, text};

use crate::host;

/// Longest that a row may take, whatever fails in it.
const LIMIT: Duration = Duration::from_secs(120);

/// The libraries of the simulated GPU.
pub struct Libraries {
    folder: PathBuf,
    /// The driver that runs the kernels.
    driver: PathBuf,
}

/// The results of a run.
pub struct Ran {
    pub status: Option<i32>,
    /// Lines on standard output and standard error.
    pub said: String,
    /// The cases of results.csv: kernel, backend, status, reason and rounds.
    pub cases: Vec<Case>,
    /// Rounds in the events, and in samples.csv.
    pub rounds: [usize; 2],
    pub manifest: String,
    pub events: String,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Case {
    pub kernel: String,
    pub backend: String,
    pub status: String,
    pub reason: String,
    pub rounds: usize,
}

impl Libraries {
    /// Builds the libraries once; `None` without a C compiler, except in CI, where there must be one.
    pub fn get() -> Option<&'static Libraries> {
        static LIBRARIES: OnceLock<Option<Libraries>> = OnceLock::new();
        LIBRARIES.get_or_init(Libraries::build).as_ref()
    }

    fn build() -> Option<Libraries> {
        let driver = host::compile("faults", &["stream", "gate"])?;
        let libraries = Libraries { folder: driver.parent().unwrap().to_owned(), driver };
        // The linked driver provides the functions that the faults leave alone.
        libraries.compile("faults.c", "libfaults.so", &["-Wl,--no-as-needed", libraries.driver.to_str()?]);
        fs::create_dir_all(libraries.management()).unwrap();
        libraries.compile("nvml.c", "nvml/libnvidia-ml.so.1", &[]);
        Some(libraries)
    }

    fn compile(&self, source: &str, library: &str, others: &[&str]) {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gpu/faults").join(source);
        let mut cc = Command::new("cc");
        cc.args(["-shared", "-fPIC", "-O1", "-w", "-o"]).arg(self.folder.join(library)).arg(&source);
        assert!(cc.args(others).arg("-ldl").status().unwrap().success(), "cc refused {}", source.display());
    }

    /// The folder of the management library.
    pub fn management(&self) -> PathBuf {
        self.folder.join("nvml")
    }

    /// A command line of the program with this environment.
    pub fn program(&self, folder: &Path, words: &[&str], environment: &[(&str, &str)]) -> Command {
        let mut command = Command::new(binary());
        command.current_dir(folder).args(words);
        command.env("SCATTERLAB_LIBCUDA", self.folder.join("libfaults.so")).env("FAULT_DRIVER", &self.driver);
        // Too little memory for the 512 MiB copies that measure a GPU's pace: they would take seconds here.
        command.env("FAULT_FREE", (64 << 20).to_string());
        command.envs(environment.iter().copied());
        command
    }

    /// Runs a recipe to its end.
    pub fn run(&self, recipe: &str, environment: &[(&str, &str)]) -> Ran {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("recipe.yaml"), recipe).unwrap();
        let words = ["run", "recipe.yaml", "--out", "out"];
        let (status, said) = finished(self.program(root.path(), &words, environment), root.path());
        let out = root.path().join("out");
        let read = |name: &str| fs::read_to_string(out.join(name)).unwrap_or_default();
        let events = read("events.ndjson");
        let rounds = [events.matches("\"event\":\"round\"").count(), rounds_of(&read("samples.csv"))];
        let (cases, manifest) = (cases(&read("results.csv")), read("manifest.json"));
        Ran { status, said, cases, rounds, manifest, events }
    }
}

/// Waits for the program and returns its exit status and output. Both streams go to one file, so that neither
/// blocks the program.
fn finished(mut command: Command, folder: &Path) -> (Option<i32>, String) {
    let path = folder.join("said");
    let file = fs::File::create(&path).unwrap();
    let (out, err) = (Stdio::from(file.try_clone().unwrap()), Stdio::from(file));
    let mut child = command.stdin(Stdio::null()).stdout(out).stderr(err).spawn().unwrap();
    let deadline = Instant::now() + LIMIT;
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return (status.code(), text(&fs::read(&path).unwrap()));
        }
        if Instant::now() > deadline {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("it does not end: {}", text(&fs::read(&path).unwrap()));
        }
        thread::sleep(Duration::from_millis(20));
    }
}

fn cases(results: &str) -> Vec<Case> {
    let mut reader = csv::Reader::from_reader(results.as_bytes());
    let names = reader.headers().unwrap().clone();
    let rows = reader.into_records().map(Result::unwrap);
    let cases = rows.map(|row| {
        let cell = |name: &str| row[names.iter().position(|n| n == name).unwrap()].to_owned();
        let rounds = cell("rounds").parse().unwrap_or(0);
        let [kernel, backend, status, reason] = ["kernel", "backend", "status", "reason"].map(cell);
        Case { kernel, backend, status, reason, rounds }
    });
    cases.collect()
}

/// Number of distinct (case, round, attempt) triples in the table of samples.
fn rounds_of(samples: &str) -> usize {
    let mut reader = csv::Reader::from_reader(samples.as_bytes());
    let names = reader.headers().unwrap().clone();
    let columns: Vec<usize> = names
        .iter()
        .enumerate()
        .filter(|(_, n)| ["case", "round", "attempt"].contains(n))
        .map(|(at, _)| at)
        .collect();
    let rows = reader.into_records().map(Result::unwrap);
    let keys: std::collections::BTreeSet<Vec<String>> =
        rows.map(|row| columns.iter().map(|at| row[*at].to_owned()).collect()).collect();
    keys.len()
}
