//! Spatter's command line: what each option means, what is refused, what is printed.

mod fuzz;
mod malformed;
mod meaning;
mod output;
#[path = "../program/mod.rs"]
mod program;
mod runs;
mod suites;

use scatterlab::spatter::{CommandLine, Config, Job, Machine, Refused, Suite};

/// Four CPUs and no GPU.
pub const MACHINE: Machine = Machine { cpus: 4, omp_threads: None, gpu: false, now: 1_700_000_000 };

pub fn line(words: &str) -> Result<CommandLine, Refused> {
    let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
    CommandLine::read(&words)
}

/// What a command line means, with a suite's text for `-f`.
pub fn job_with(words: &str, suite: Option<&str>) -> Result<Job, Refused> {
    let suite = suite.map(|text| Suite::read("suite.json", text)).transpose()?;
    Job::of(&line(words)?, suite, &MACHINE)
}

/// What a command line means.
pub fn job(words: &str) -> Job {
    job_with(words, None).unwrap_or_else(|refused| panic!("{words}: {refused}"))
}

/// The only configuration of a command line.
pub fn config(words: &str) -> Config {
    job(words).configs.remove(0)
}

/// The configurations of a suite.
pub fn suite(text: &str) -> Vec<Config> {
    job_with("-f suite.json", Some(text)).unwrap_or_else(|refused| panic!("{text}: {refused}")).configs
}

/// Why a command line is refused: status and message.
pub fn refusal(words: &str) -> (u8, String) {
    let refused = job_with(words, None).expect_err(words);
    (refused.status, refused.message)
}

/// Why a suite is.
pub fn suite_refusal(text: &str) -> (u8, String) {
    let refused = job_with("-f suite.json", Some(text)).expect_err(text);
    (refused.status, refused.message)
}
