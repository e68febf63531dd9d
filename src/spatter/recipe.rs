//! Converts a job into the text of a recipe, for the ordinary parser.

use std::collections::HashSet;

use super::Refused;
use super::config::{Config, constant_stride};
use super::job::Job;
use super::output::list;
use super::pattern::Delta;
use super::settings::{self, Backend, Settings};
use super::suite::Suite;
use crate::case::units::{escaped, ranges};
use crate::primitives::pattern::spec::{Kernel, largest};
use crate::recipe::{GENERATED, word};

/// The recipe that is equivalent to a suite; the suite's notes become comments.
///
/// # Errors
/// The suite's first mistake.
pub fn of_suite(file: &str, text: &str) -> Result<String, Refused> {
    let job = Job::of_suite(&settings::title(file), Suite::read(file, text)?)?;
    let notes: String = job.notes.iter().map(|note| format!("# {}\n", escaped(note))).collect();
    Ok(notes + &to_recipe(&job))
}

/// The recipe that is equivalent to a job. Its cases are the job's configurations, in order.
pub fn to_recipe(job: &Job) -> String {
    let settings = &job.settings;
    let title = one_line(&settings.title);
    let head = format!(
        "{GENERATED}\ntitle: {}\nbackend: {}\nchart: {{x: label}}\n",
        word(&title),
        backend(settings.backend)
    );
    let labels = labels(&job.configs);
    let groups: Vec<&[Config]> =
        job.configs.chunk_by(|a, b| group(a, settings) == group(b, settings)).collect();
    if let [one] = groups.as_slice() {
        return head + &experiment(one, &labels, settings, "");
    }
    let item = |configs: &&[Config]| {
        let ids: Vec<usize> = configs.iter().map(|config| config.id).collect();
        let title = word(&format!("{title}, {}", ranges(&ids)));
        format!("  - title: {title}\n{}", experiment(configs, &labels, settings, "    "))
    };
    head + "experiments:\n" + &groups.iter().map(item).collect::<String>()
}

/// The properties that the configurations of one experiment share.
fn group(config: &Config, settings: &Settings) -> (u64, Option<u64>, [bool; 3], Option<&'static str>) {
    let seed = config.seed.filter(|_| settings.random);
    (config.runs, seed, has(config.kernel), method(config.kernel, settings))
}

/// Whether a kernel has an outer pattern, a pattern that reads and a pattern that writes.
fn has(kernel: Kernel) -> [bool; 3] {
    match kernel {
        Kernel::Gather | Kernel::Scatter => [true, false, false],
        Kernel::Gs => [false, true, true],
        Kernel::Multigather => [true, true, false],
        Kernel::Multiscatter => [true, false, true],
    }
}

fn method(kernel: Kernel, settings: &Settings) -> Option<&'static str> {
    (settings.atomic && settings.backend.on_gpus() && kernel.scatters()).then_some("atomic")
}

/// The YAML keys of one experiment with these configurations.
fn experiment(configs: &[Config], labels: &[String], settings: &Settings, indent: &str) -> String {
    let Some(first) = configs.first() else { return String::new() };
    let seed = first.seed.filter(|_| settings.random).map(|seed| format!("{indent}seed: {seed}\n"));
    let mut lines = vec![format!("{indent}measure: {}\n", measure(first.runs, settings))];
    lines.extend(seed);
    lines.push(format!("{indent}pattern:\n"));
    let fence = settings.fence && matches!(settings.backend, Backend::OpenMp { .. });
    let common = [
        ("method", method(first.kernel, settings)),
        ("visits", settings.random.then_some("random")),
        ("fence", fence.then_some("release")),
    ];
    lines.extend(common.iter().filter_map(|(key, word)| Some(format!("{indent}  {key}: {}\n", (*word)?))));
    lines.push(format!("{indent}  cases:\n"));
    let case = |config: &Config| {
        let label = labels.get(config.id).map(|label| word(label)).unwrap_or_default();
        format!("{indent}    - {{label: {label}, {}}}\n", parameters(config))
    };
    lines.extend(configs.iter().map(case));
    lines.concat()
}

fn measure(runs: u64, settings: &Settings) -> String {
    let cache = if settings.cold { ", cache: cold" } else { "" };
    let certify = if settings.certify { "" } else { ", certify: never" };
    let once = if settings.second_look { "" } else { ", second-look: never" };
    let rounds = settings.rounds;
    format!(
        "{{rounds: {rounds}, samples: {runs}, warm-up: {WARM_UP}, ci: none, order: sequential{once}{cache}{certify}}}"
    )
}

/// Number of Spatter's untimed runs.
const WARM_UP: u32 = 10;

fn backend(backend: Backend) -> String {
    match backend {
        Backend::Serial => "{cpu: {threads: 1}}".to_owned(),
        Backend::OpenMp { threads: Some(threads) } => format!("{{cpu: {{threads: {threads}}}}}"),
        Backend::OpenMp { threads: None } => "cpu".to_owned(),
        Backend::Cuda { device: 0 } => "cuda".to_owned(),
        Backend::Cuda { device } => format!("{{cuda: {{device: {device}}}}}"),
        Backend::AllCuda => "{cuda: {gpus: all}}".to_owned(),
    }
}

/// The label of each configuration on a chart: its name where that is unique and not a number, otherwise its
/// number, followed by the name if there is one.
fn labels(configs: &[Config]) -> Vec<String> {
    let names: Vec<String> = configs.iter().map(|config| one_line(&config.name)).collect();
    let mut taken = HashSet::new();
    let again: HashSet<&String> = names.iter().filter(|name| !taken.insert(*name)).collect();
    let mut labels = HashSet::new();
    let unique = |(config, name): (&Config, &String)| {
        let number = name.is_empty() || name.bytes().all(|byte| byte.is_ascii_digit());
        let mut label = match (name.is_empty(), number || again.contains(name)) {
            (true, _) => config.id.to_string(),
            (false, true) => format!("{} {name}", config.id),
            (false, false) => name.clone(),
        };
        while !labels.insert(label.clone()) {
            label.push('+');
        }
        label
    };
    configs.iter().zip(&names).map(unique).collect()
}

fn one_line(text: &str) -> String {
    text.split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// `kernel: gather, uniform: {length: 8, stride: 1}, delta: 8, wrap: 1, count: 1024, index: 4B`.
fn parameters(config: &Config) -> String {
    let [outer, reads, writes] = has(config.kernel);
    let inner = |name: &str, pattern: &[u64]| format!("{name}: {{{}}}", source(pattern));
    let mut entries = vec![format!("kernel: {}", config.kernel.name())];
    if outer {
        entries.extend([source(&config.pattern), format!("delta: {}", delta(&config.delta, config.count))]);
    }
    entries.extend(reads.then(|| inner("gather", &config.pattern_gather)));
    entries.extend(writes.then(|| inner("scatter", &config.pattern_scatter)));
    match config.kernel {
        Kernel::Gs => entries.extend([
            format!("delta-gather: {}", delta(&Delta::One(config.delta_gather), config.count)),
            format!("delta-scatter: {}", delta(&Delta::One(config.delta_scatter), config.count)),
        ]),
        _ => entries.push(format!("wrap: {}", config.wrap)),
    }
    let index = if wide(config) { "8B" } else { "4B" };
    entries.extend([format!("count: {}", config.count), format!("index: {index}")]);
    entries.join(", ")
}

/// A pattern with a constant stride from 0 is given by its length and stride, any other by its indices.
fn source(pattern: &[u64]) -> String {
    match constant_stride(pattern) {
        Some(stride) => format!("uniform: {{length: {}, stride: {stride}}}", pattern.len()),
        None => format!("custom: {}", list(pattern)),
    }
}

/// Writes only the part of a delta that takes effect; a recipe may not accept the rest.
fn delta(delta: &Delta, count: u64) -> String {
    match delta.used(count) {
        Delta::One(delta) => delta.to_string(),
        Delta::List(deltas) => format!("{{list: {}}}", list(&deltas)),
    }
}

/// Whether 4 bytes cannot hold the largest index.
fn wide(config: &Config) -> bool {
    let patterns = [&config.pattern, &config.pattern_gather, &config.pattern_scatter];
    patterns.iter().any(|pattern| largest(pattern) > u64::from(u32::MAX))
}
