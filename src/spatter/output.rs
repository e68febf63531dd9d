//! Reproduces the output of Spatter 2.1.0 character by character.

use super::config::Config;
use super::pattern::Delta;
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

/// Formats a number with this many significant digits and no trailing zeros, in whichever of its two notations
/// `%g` chooses.
pub fn general(value: f64, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".to_owned() } else { value.to_string().to_lowercase() };
    }
    let digits = digits.max(1);
    // Round before choosing the notation: 999999.5 rounds to seven digits before the point.
    let scientific = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if exponent < -4 || exponent >= digits as i32 {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", without_zeros(mantissa), exponent.abs());
    }
    let behind = (digits as i32 - 1 - exponent).max(0) as usize;
    without_zeros(&format!("{value:.behind$}")).to_owned()
}

fn without_zeros(number: &str) -> &str {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number }
}

/// Left-aligns the text in a column of this width, without truncating longer text.
pub fn column(text: &str, width: usize) -> String {
    format!("{text:<width$}")
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;

    use proptest::prelude::*;

    use super::*;

    /// The number as C prints it.
    fn printed(value: f64) -> String {
        let (format, mut buffer) = (CString::new("%g").expect("no NUL"), [0u8; 64]);
        // SAFETY: the buffer has the length that is passed, and `%g` takes one double.
        let length =
            unsafe { libc::snprintf(buffer.as_mut_ptr().cast(), buffer.len(), format.as_ptr(), value) };
        String::from_utf8_lossy(&buffer[..length as usize]).into_owned()
    }

    #[test]
    fn known_numbers() {
        for (value, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (0.1, "0.1"),
            (0.000104, "0.000104"),
            (0.0000104, "1.04e-05"),
            (123456.0, "123456"),
            (1234567.0, "1.23457e+06"),
            (999999.5, "1e+06"),
            (0.00099999995, "0.001"),
            (8388.608, "8388.61"),
            (1e100, "1e+100"),
            (-2.5, "-2.5"),
        ] {
            assert_eq!(general(value, 6), text);
            assert_eq!(printed(value), text);
        }
    }

    proptest! {
        #[test]
        fn it_writes_what_c_writes(value in prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL) {
            prop_assert_eq!(general(value, 6), printed(value));
        }

        #[test]
        fn also_of_everyday_size(mantissa in -1_000_000_000i64..1_000_000_000, power in -12i32..6) {
            let value = mantissa as f64 * 10f64.powi(power);
            prop_assert_eq!(general(value, 6), printed(value));
        }
    }
}
