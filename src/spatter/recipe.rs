//! A run as a recipe: the text that the ordinary parser reads.

use super::config::{Config, Delta, largest};
use super::job::Job;
use super::refused::Refused;
use super::settings::{self, Backend, Settings};
use super::suite::Suite;
use crate::primitives::pattern::spec::Kernel;
use crate::recipe::word;
use crate::units::escaped;

/// The recipe of a suite's text, whose notes are comments in it.
///
/// # Errors
/// The suite's first mistake, and what recipes cannot say.
pub fn of_suite(file: &str, text: &str) -> Result<String, Refused> {
    let job = Job::of_suite(&settings::title(file), Suite::read(file, text)?)?;
    let notes: String = job.notes.iter().map(|note| format!("# {}\n", escaped(note))).collect();
    Ok(notes + &to_recipe(&job)?)
}

/// The recipe of a run. Its cases are the run's configurations, in their order.
///
/// # Errors
/// What recipes cannot say.
pub fn to_recipe(job: &Job) -> Result<String, Refused> {
    let settings = &job.settings;
    let mut text = format!(
        "title: {}\nbackend: {}\nchart: {{x: kernel}}\nmeasure: {}\nexperiments:\n",
        word(&settings.title),
        backend(settings.backend),
        measure(settings),
    );
    for config in &job.configs {
        text.push_str(&format!(
            "  - title: {}\n    measure: {{samples: {}}}\n    pattern: {}\n",
            word(&title(config)),
            config.runs,
            parameters(config)
        ));
    }
    Ok(text)
}

fn title(config: &Config) -> String {
    let name: String = config.name.chars().filter(|c| !c.is_control()).collect();
    match name.trim() {
        "" => format!("configuration {}", config.id),
        name => format!("{} {name}", config.id),
    }
}

fn backend(backend: Backend) -> String {
    match backend {
        Backend::Serial => "{cpu: {threads: 1}}".to_owned(),
        Backend::OpenMp { threads: Some(threads) } => format!("{{cpu: {{threads: {threads}}}}}"),
        Backend::OpenMp { threads: None } => "cpu".to_owned(),
        Backend::Cuda { .. } => "cuda".to_owned(),
    }
}

fn measure(settings: &Settings) -> String {
    let cache = if settings.cold { ", cache: cold" } else { "" };
    let certify = if settings.certify { "" } else { ", certify: never" };
    format!("{{rounds: 1, ci: none, order: sequential, second-look: never{cache}{certify}}}")
}

/// `{kernel: gather, uniform: {length: 8, stride: 1}, delta: 8, count: 1024, wrap: 1}`.
fn parameters(config: &Config) -> String {
    let mut entries = vec![format!("kernel: {}", config.kernel.name())];
    let inner = |name: &str, pattern: &[u64]| format!("{name}: {{{}}}", source(pattern));
    match config.kernel {
        Kernel::Gs => {}
        _ => entries.extend([source(&config.pattern), format!("delta: {}", delta(&config.delta))]),
    }
    if matches!(config.kernel, Kernel::Gs | Kernel::Multigather) {
        entries.push(inner("gather", &config.pattern_gather));
    }
    if matches!(config.kernel, Kernel::Gs | Kernel::Multiscatter) {
        entries.push(inner("scatter", &config.pattern_scatter));
    }
    match config.kernel {
        Kernel::Gs => entries.extend([
            format!("delta-gather: {}", config.delta_gather),
            format!("delta-scatter: {}", config.delta_scatter),
        ]),
        _ => entries.push(format!("wrap: {}", config.wrap)),
    }
    entries.push(format!("count: {}", config.count));
    entries.extend(wide(config).then(|| "index: 8B".to_owned()));
    format!("{{{}}}", entries.join(", "))
}

/// A pattern of constant stride from 0 by its length and stride, others by their indices.
fn source(pattern: &[u64]) -> String {
    if let [0, stride, ..] = pattern
        && *stride > 0
        && pattern.windows(2).all(|pair| pair[0].checked_add(*stride) == Some(pair[1]))
    {
        return format!("uniform: {{length: {}, stride: {stride}}}", pattern.len());
    }
    format!("custom: {}", list(pattern))
}

fn delta(delta: &Delta) -> String {
    match delta {
        Delta::One(delta) => delta.to_string(),
        Delta::List(deltas) => format!("{{list: {}}}", list(deltas)),
    }
}

fn list(numbers: &[u64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
    format!("[{}]", numbers.join(", "))
}

/// Whether 4 bytes cannot hold the largest index.
fn wide(config: &Config) -> bool {
    let patterns = [&config.pattern, &config.pattern_gather, &config.pattern_scatter];
    patterns.iter().any(|pattern| largest(pattern) > u64::from(u32::MAX))
}
