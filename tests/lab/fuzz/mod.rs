//! Every parser takes whatever is given to it: it ends soon, with a value or with an error in one line, and nothing
//! panics.
//!
//! Inputs are mutations of the target's corpus: valid inputs of the source tree, and those kept in
//! `tests/lab/fuzz/corpus/TARGET`. An input whose outcome (an error without its numbers) is new joins the corpus of the
//! run; with `SCATTERLAB_FUZZ_KEEP=1` it is also kept. An input that breaks a rule is always kept, so that it is
//! tried first from then on.
//!
//! A process of its own with [`MEMORY`] bytes of address space tries the inputs of a target: an allocation whose size an
//! input decides must be refused there, and would otherwise end the process.
//!
//! A plain run tries a few hundred inputs of each target;
//! `SCATTERLAB_FUZZ_SECONDS=60 cargo test --test lab fuzz` takes a minute for each, and
//! `SCATTERLAB_FUZZ_INPUTS=2000` tries so many of each.

mod files;
mod mutate;
mod recipes;
mod stored;
mod texts;

use std::collections::BTreeSet;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use mutate::{Random, mutated};
use scatterlab::inputs::arrays;
use scatterlab_tests::program::{limited, text};

/// Longest time that an input may take, on a busy machine.
const LIMIT: Duration = Duration::from_secs(10);
/// Address space of the process that tries inputs, bytes.
const MEMORY: u64 = 512 << 20;
/// Names the target of such a process, and the file that holds the input which is tried.
const TARGET: &str = "SCATTERLAB_FUZZ_TARGET";
const TRIED: &str = "SCATTERLAB_FUZZ_TRIED";
/// Inputs of a plain run.
const FEW: u64 = 400;
/// Longest input that is kept, bytes, and the most inputs that a run keeps of each target.
const KEPT: usize = 4096;
const MOST_KEPT: usize = 16;

/// What became of an input: `Ok` with the parser's error, if there is one, or `Err` with the rule that it broke.
type Outcome = Result<Option<String>, String>;

/// A parser, valid inputs and words of its language.
struct Target {
    name: &'static str,
    corpus: Vec<Vec<u8>>,
    tokens: &'static [&'static str],
    parse: fn(&[u8], &mut Random) -> Outcome,
}

/// The most memory that this process has held, MiB.
fn held() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) >> 10
}

fn environment(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

impl Target {
    fn folder(&self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lab/fuzz/corpus").join(self.name)
    }

    fn kept(&self) -> Vec<Vec<u8>> {
        let files = fs::read_dir(self.folder()).into_iter().flatten();
        let mut paths: Vec<PathBuf> = files.map(|file| file.expect("an entry").path()).collect();
        paths.sort();
        paths.iter().map(|path| fs::read(path).expect("a kept input")).collect()
    }

    fn keep(&self, input: &[u8]) -> PathBuf {
        let words: Vec<u64> = input.iter().map(|byte| u64::from(*byte)).collect();
        let path = self.folder().join(&arrays::hash(&words)[..16]);
        fs::create_dir_all(self.folder()).and_then(|()| fs::write(&path, input)).expect("kept");
        path
    }

    /// The kind of the outcome: the error without its numbers, quoted words and what would be accepted; and the time it took.
    fn check(&self, input: &[u8], random: &mut Random) -> (String, Duration) {
        if let Some(path) = std::env::var_os(TRIED) {
            fs::write(path, input).expect("written");
        }
        let start = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| (self.parse)(input, random)));
        let took = start.elapsed();
        let broken = match &outcome {
            Err(_) => Some("it panics".to_owned()),
            Ok(Err(rule)) => Some(rule.clone()),
            Ok(Ok(Some(error))) if error.is_empty() || error.chars().any(char::is_control) => {
                Some(format!("the error is not one line: {error:?}"))
            }
            _ if took > LIMIT => Some(format!("it takes {took:?}")),
            _ => None,
        };
        if let Some(rule) = broken {
            panic!("{}: {rule}, with {}", self.name, self.keep(input).display());
        }
        let error = outcome.ok().and_then(Result::ok).flatten().unwrap_or_default();
        // What is quoted may hold the marks that quote it.
        let before = error.split('`').next().unwrap_or_default();
        let behind = error.rsplit_once('`').map_or("", |(_, behind)| behind);
        let found = format!("{before}{behind}");
        let kind = found.split(';').next().unwrap_or_default();
        (kind.chars().filter(|c| !c.is_ascii_digit()).take(120).collect(), took)
    }

    /// Tries inputs in a process of its own.
    fn fuzz(self) {
        match std::env::var(TARGET) {
            Ok(wanted) if wanted == self.name => return self.search(),
            Ok(_) => return,
            Err(_) => {}
        }
        let folder = tempfile::tempdir().expect("temporary folder");
        let tried = folder.path().join("tried");
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.args(["fuzz::", "--test-threads=1", "--nocapture"]).env(TARGET, self.name).env(TRIED, &tried);
        let output = limited(&mut command, MEMORY).output().expect("started");
        let said = text(&output.stdout);
        if !output.status.success() {
            // A process that was aborted could not keep its input itself.
            let kept = output.status.code().is_none().then(|| fs::read(&tried).ok()).flatten();
            let kept = kept.map(|input| self.keep(&input));
            panic!("{}: {}, with {kept:?}\n{said}{}", self.name, output.status, text(&output.stderr));
        }
        // The test runner has begun the line.
        let tried = said.find(&format!("{}: ", self.name)).and_then(|at| said[at..].lines().next());
        println!("{}", tried.unwrap_or_else(|| panic!("{}: nothing was tried: {said}", self.name)));
    }

    /// Runs the kept inputs, then mutations until the time is up.
    fn search(mut self) {
        let (seconds, keeps) =
            (environment("SCATTERLAB_FUZZ_SECONDS"), environment("SCATTERLAB_FUZZ_KEEP").is_some());
        let most = environment("SCATTERLAB_FUZZ_INPUTS").unwrap_or(FEW);
        let mut random = Random(environment("SCATTERLAB_FUZZ_SEED").unwrap_or(1));
        let mut kinds = BTreeSet::new();
        self.corpus.extend(self.kept());
        assert!(!self.corpus.is_empty(), "{} has no corpus", self.name);
        for input in &self.corpus {
            kinds.insert(self.check(input, &mut random).0);
        }
        let (start, known, mut inputs, mut slowest) = (Instant::now(), kinds.len(), 0, Duration::ZERO);
        let goes_on =
            |inputs| seconds.map_or(inputs < most, |most| start.elapsed() < Duration::from_secs(most));
        while goes_on(inputs) {
            let input = mutated(&self.corpus, self.tokens, &mut random);
            let (kind, took) = self.check(&input, &mut random);
            slowest = slowest.max(took);
            if kinds.insert(kind) {
                if keeps && input.len() <= KEPT && kinds.len() - known <= MOST_KEPT {
                    self.keep(&input);
                }
                self.corpus.push(input);
            }
            inputs += 1;
        }
        let new = kinds.len() - known;
        let (slowest, held) = (slowest.as_secs_f64(), held());
        println!(
            "{}: {inputs} inputs, {known} kinds of outcome known, {new} new; the slowest took {slowest:.2} s; {held} MiB held",
            self.name
        );
    }
}
