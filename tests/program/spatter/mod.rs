//! Spatter's command line: the meaning of each option, refusals and output.

mod client;
mod compatible;
mod fuzz;
mod malformed;
mod meaning;
mod oracle;
mod output;
mod runs;
mod suites;

use scatterlab::spatter::settings::OmpThreads;
use scatterlab::spatter::{CommandLine, Config, Job, Machine, Refused, Suite};

/// A machine with four CPUs and no GPU.
pub const MACHINE: Machine =
    Machine { cpus: 4, omp_threads: OmpThreads::Unset, gpu: false, now: 1_700_000_000 };

pub fn line(words: &str) -> Result<CommandLine, Refused> {
    let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
    CommandLine::read(&words)
}

/// The job that a command line describes, with a suite's text for `-f`.
pub fn job_with(words: &str, suite: Option<&str>) -> Result<Job, Refused> {
    let suite = suite.map(|text| Suite::read("suite.json", text)).transpose()?;
    Job::of(&line(words)?, suite, &MACHINE)
}

/// The job that a command line describes.
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

/// The status and message with which a command line is refused.
pub fn refusal(words: &str) -> (u8, String) {
    let refused = job_with(words, None).expect_err(words);
    (refused.status, refused.message)
}

/// The status and message with which a suite is refused.
pub fn suite_refusal(text: &str) -> (u8, String) {
    let refused = job_with("-f suite.json", Some(text)).expect_err(text);
    (refused.status, refused.message)
}
