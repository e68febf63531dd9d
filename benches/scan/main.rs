//! Compares our scans with the memory bound and with C++17's parallel scan.
//!
//! An exclusive sum of u32 with two arrays of equal size in memory. In two passes it cannot be faster than one
//! read of the input plus one copy of it, which `stream` measures here with non-temporal stores. Every round
//! measures each program once, in fresh arrays, so that a slow minute of the machine affects all of them.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};
use clap::Parser;

use scatterlab::case::{Cancel, Case, Params, Value};
use scatterlab::engine::Executor;
use scatterlab::engine::executors::cpu::CpuExecutor;
use scatterlab::stats::median;

/// Compares with a program made of benches/scan/std.cpp.
#[derive(Debug, Parser)]
struct Arguments {
    /// The program of benches/scan/std.cpp; without it there is nothing to compare with
    #[arg(long, value_name = "PATH")]
    std: Option<PathBuf>,
    /// Elements of 4 bytes
    #[arg(long, default_value_t = 1 << 28)]
    elements: u64,
    /// How often each program is measured
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Samples in a round, of which the fastest counts
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    samples: u32,
    /// Threads of each program
    #[arg(long, default_value_t = 2)]
    threads: u64,
    /// Cargo says so to every benchmark
    #[arg(long, hide = true)]
    bench: bool,
}

/// Indices of the measured programs, in the order of the table.
const READ: usize = 0;
const COPY: usize = 1;
const OURS: [(&str, &str); 2] = [("lookback", "lookback"), ("two-pass", "two-pass")];

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let Some(std) = &arguments.std else {
        eprintln!("skipped: no --std PATH to compare with (benches/scan/std.cpp)");
        return ExitCode::SUCCESS;
    };
    match compare(&arguments, std) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn compare(arguments: &Arguments, std: &Path) -> Result<()> {
    let mut seconds = vec![Vec::new(); 3 + OURS.len()];
    for _ in 0..arguments.rounds {
        for (all, one) in seconds.iter_mut().zip(round(arguments, std)?) {
            all.push(one);
        }
    }
    let medians: Vec<f64> = seconds.iter().filter_map(|all| median(all)).collect();
    let least = |all: &Vec<f64>| all.iter().copied().fold(f64::INFINITY, f64::min);
    let fastest: Vec<f64> = seconds.iter().map(least).collect();
    println!("{:<30}{:>12}{:>12}", "milliseconds", "median", "fastest");
    let names = ["stream read", "stream copy"].into_iter().chain(OURS.map(|(name, _)| name));
    for (at, name) in names.chain(["std::exclusive_scan"]).enumerate() {
        println!("{name:<30}{:>12.2}{:>12.2}", 1e3 * medians[at], 1e3 * fastest[at]);
    }
    println!("\nratios (above 1: ours is faster)");
    let ratios = |name: &str, at: usize, ratio: fn(&[f64], usize) -> f64| {
        println!("{name:<30}{:>12.2}{:>12.2}", ratio(&medians, at), ratio(&fastest, at));
    };
    for (at, (name, _)) in OURS.into_iter().enumerate() {
        ratios(&format!("read + copy to {name}"), 2 + at, |t, at| (t[READ] + t[COPY]) / t[at]);
        ratios(&format!("std to {name}"), 2 + at, |t, at| t[2 + OURS.len()] / t[at]);
    }
    Ok(())
}

/// Seconds taken by each program.
fn round(arguments: &Arguments, std: &Path) -> Result<Vec<f64>> {
    let text = |word: &str| Value::Text(word.to_owned());
    let stream = |kernel: &str, method: &str| {
        let params = Params::default().with("kernel", text(kernel)).with("method", text(method));
        ours(arguments, "stream", params.with("elements", Value::Int(arguments.elements / 2)))
    };
    let mut all = vec![stream("read", "direct")?, stream("copy", "streaming")?];
    for (_, method) in OURS {
        let params = Params::default().with("method", text(method));
        all.push(ours(arguments, "scan", params.with("elements", Value::Int(arguments.elements)))?);
    }
    all.push(theirs(arguments, std)?);
    Ok(all)
}

/// The fastest sample of a case whose result has been certified.
fn ours(arguments: &Arguments, primitive: &str, params: Params) -> Result<f64> {
    let params = params
        .with("backend", Value::Text("cpu".to_owned()))
        .with("backend.cpu.threads", Value::Int(arguments.threads));
    let (primitive, id) = (primitive.to_owned(), String::new());
    let case = Case { id, experiment: 0, primitive, params, seed: 1, not_applicable: None };
    let mut prepared = CpuExecutor::cpu().prepare(&case, None, &Cancel::default())?;
    if let scatterlab::case::Verdict::Wrong { mistake } = prepared.certify(&Cancel::default())? {
        bail!("{}: {mistake}", case.primitive);
    }
    let samples = (0..arguments.samples).map(|_| Ok(prepared.sample(1)?)).collect::<Result<Vec<f64>>>()?;
    Ok(samples.into_iter().fold(f64::INFINITY, f64::min))
}

fn theirs(arguments: &Arguments, std: &Path) -> Result<f64> {
    let words = [arguments.elements, arguments.threads, u64::from(arguments.samples)].map(|n| n.to_string());
    let output = Command::new(std).args(words).output();
    let output = output.with_context(|| format!("cannot run {}", std.display()))?;
    if !output.status.success() {
        bail!("{}: {}", std.display(), output.status);
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let seconds = text.lines().filter_map(|line| line.parse::<f64>().ok());
    Ok(seconds.fold(f64::INFINITY, f64::min))
}
