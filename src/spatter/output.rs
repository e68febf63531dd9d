//! Reproduces the output of Spatter 2.1.0 character by character.

use super::config::Config;
use super::delta::Delta;
use super::general::{column, general};
use super::settings::{Machine, Settings};
use crate::primitives::pattern::spec::{Kernel, largest};

/// Facts about a GPU for the heading, as far as the driver reports them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gpu {
    pub devices: u64,
    pub name: String,
    pub memory_clock_khz: Option<u64>,
    pub bus_bits: Option<u64>,
}

/// The lines before the table. `compiler` is a name and a version.
pub fn heading(settings: &Settings, compiler: &str, gpu: Option<&Gpu>) -> String {
    let aggregate = if settings.aggregate { "YES" } else { "NO" };
    let mut text = format!(
        "\nRunning Spatter version 2.1.0\nCompiler: {compiler}\nBackend: {}\nAggregate Results? {aggregate}\n",
        settings.backend.title()
    );
    text.extend(gpu.map(of_the_gpu));
    text + "\n"
}

fn of_the_gpu(gpu: &Gpu) -> String {
    let known = |value: Option<u64>| value.map_or_else(|| "n/a".to_owned(), |value| value.to_string());
    let peak =
        gpu.memory_clock_khz.zip(gpu.bus_bits).map(|(khz, bits)| 2.0 * khz as f64 * (bits / 8) as f64 / 1e6);
    format!(
        "Number of Devices: {}\nDevice Name: {}\nMemory Clock Rate (KHz): {}\nMemory Bus Width (bits): {}\n\
         Peak Memory Bandwidth (GB/s): {}\n",
        gpu.devices,
        gpu.name,
        known(gpu.memory_clock_khz),
        known(gpu.bus_bits),
        peak.map_or_else(|| "n/a".to_owned(), |peak| general(peak, 6)),
    )
}

/// The table's first line.
pub fn header() -> String {
    line(["config", "bytes", "time(s)", "bw(MB/s)"])
}

/// A configuration's line. `seconds` is the time of its fastest run.
pub fn row(id: usize, bytes: u64, seconds: f64) -> String {
    let bandwidth = bandwidth(bytes, seconds);
    line([&id.to_string(), &bytes.to_string(), &general(seconds, 6), &general(bandwidth, 6)])
}

/// Bandwidth in MB/s.
pub fn bandwidth(bytes: u64, seconds: f64) -> f64 {
    bytes as f64 / seconds / 1e6
}

fn line(cells: [&str; 4]) -> String {
    cells.map(|cell| column(cell, 15)).concat() + "\n"
}

/// The configurations as a Python list of dictionaries.
pub fn configurations(configs: &[Config], settings: &Settings, machine: &Machine) -> String {
    let dictionaries: Vec<String> =
        configs.iter().map(|config| dictionary(config, settings, machine)).collect();
    format!("Run Configurations\n[ {} ]\n\n", dictionaries.join(",\n  "))
}

fn dictionary(config: &Config, settings: &Settings, machine: &Machine) -> String {
    let mut entries = vec![format!("'id': {}", config.id)];
    if !config.name.is_empty() {
        entries.push(format!("'name': '{}'", quoted(&config.name)));
    }
    entries.extend([
        format!("'kernel': '{}'", config.kernel.name()),
        format!("'pattern': {}", list(&config.pattern)),
        format!("'pattern-gather': {}", list(&config.pattern_gather)),
        format!("'pattern-scatter': {}", list(&config.pattern_scatter)),
        format!("'delta': {}", moves(&config.delta)),
        format!("'delta-gather': {}", config.delta_gather),
        format!("'delta-scatter': {}", config.delta_scatter),
        format!("'count': {}", config.count),
    ]);
    entries.extend(config.seed.filter(|seed| *seed > 0).map(|seed| format!("'seed': {seed}")));
    entries.extend(settings.aggregate.then(|| format!("'agg (nruns)': {}", config.runs)));
    entries.push(format!("'wrap': {}", config.wrap));
    entries.push(format!("'threads': {}", settings.backend.threads(machine)));
    format!("{{{}}}", entries.join(", "))
}

/// Escapes a text for a Python string literal.
fn quoted(text: &str) -> String {
    let escape = |c: char| match c {
        '\'' | '\\' => format!("\\{c}"),
        c if c.is_control() => format!("\\x{:02x}", u32::from(c)),
        c => c.to_string(),
    };
    text.chars().map(escape).collect()
}

/// A list such as `[8, 16]`, which Python and YAML both read.
pub fn list(numbers: &[u64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
    format!("[{}]", numbers.join(", "))
}

fn moves(delta: &Delta) -> String {
    match delta {
        Delta::One(delta) => delta.to_string(),
        Delta::List(deltas) => list(deltas),
    }
}

/// The sizes of the buffers that Spatter would share between the configurations so far.
pub fn sizes(configs: &[Config]) -> String {
    let (mut dense, mut sparse, mut sides) = (0, 0, [0, 0]);
    let mut lines = String::new();
    for config in configs {
        let words = |pattern: &[u64], delta: &Delta| config.sparse(pattern, delta).unwrap_or_default();
        if config.kernel == Kernel::Gs {
            sides[0] = words(&config.pattern_scatter, &Delta::One(config.delta_scatter)).max(sides[0]);
            sides[1] = words(&config.pattern_gather, &Delta::One(config.delta_gather)).max(sides[1]);
            lines.push_str(&sizes_of_gs(config, sides));
        } else {
            dense = (config.pattern.len() as u64 * config.wrap).max(dense);
            sparse = words(&config.pattern, &config.delta).max(sparse);
            lines.push_str(&sizes_of_one(config, dense, sparse));
        }
    }
    lines
}

fn sizes_of_gs(config: &Config, [scatter, gather]: [u64; 2]) -> String {
    format!(
        "Pattern Gather Array Size: {}Pattern Scatter Array Size: {}\tDelta: {}\tCount: {}\tWrap: {}\tSparse Scatter \
         Array Size: {scatter}\tSparse Gather Array Size: {gather}\tMax Pattern Scatter Val: {}\tMax Pattern Gather \
         Val: {}\n",
        config.pattern_gather.len(),
        config.pattern_scatter.len(),
        moves(&config.delta),
        config.count,
        config.wrap,
        largest(&config.pattern_scatter),
        largest(&config.pattern_gather),
    )
}

fn sizes_of_one(config: &Config, dense: u64, sparse: u64) -> String {
    let inner = match config.kernel {
        Kernel::Multiscatter => format!("\tMax Pattern Scatter Val: {}", largest(&config.pattern_scatter)),
        Kernel::Multigather => format!("\tMax Pattern Gather Val: {}", largest(&config.pattern_gather)),
        Kernel::Gather | Kernel::Scatter | Kernel::Gs => String::new(),
    };
    format!(
        "Pattern Array Size: {}\tDelta: {}\tCount: {}\tWrap: {}\tDense Array Size: {dense}\tSparse Array Size: \
         {sparse}\tMax Pattern Val: {}{inner}\n",
        config.pattern.len(),
        moves(&config.delta),
        config.count,
        config.wrap,
        largest(&config.pattern),
    )
}
