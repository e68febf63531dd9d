//! Compares our multisplits on processors with each other and with sorting crates.
//!
//! Input: uniform u32 keys and delta-buckets whose number is a power of two, so that a key's bucket is given by
//! its highest bits. `rdst` and `voracious_radix_sort` sort in place, by the same bits and by all 32; neither
//! promises stability with several threads. Every round measures each program once, in fresh arrays, so that a
//! slow minute of the machine affects all of them.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use clap::Parser;
use rdst::{RadixKey, RadixSort as _};
use voracious_radix_sort::{RadixSort as _, Radixable};

use scatterlab::case::{Cancel, Case, Params, Value, Verdict};
use scatterlab::engine::Executor;
use scatterlab::engine::executors::cpu::CpuExecutor;
use scatterlab::primitives::multisplit::Spec;
use scatterlab::primitives::multisplit::keys::Keys;
use scatterlab::stats::median;

/// Compares multisplits and sorts of the same keys.
#[derive(Debug, Parser)]
struct Arguments {
    /// Keys of 4 bytes; without them nothing is measured
    #[arg(long)]
    keys: Option<u64>,
    /// log2 of the buckets
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=8))]
    bits: u32,
    /// How often each program is measured
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Samples of ours in a round, of which the fastest counts; sorts are measured once
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    samples: u32,
    /// Threads of each program
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// Cargo says so to every benchmark
    #[arg(long, hide = true)]
    bench: bool,
}

/// A key that sorts by its highest bits only.
#[derive(Clone, Copy, Debug, Default)]
struct High<const BITS: u32>(u32);

impl<const BITS: u32> High<BITS> {
    fn bits(self) -> u8 {
        (self.0 >> (32 - BITS)) as u8
    }
}

impl<const BITS: u32> PartialEq for High<BITS> {
    fn eq(&self, other: &Self) -> bool {
        self.bits() == other.bits()
    }
}

impl<const BITS: u32> PartialOrd for High<BITS> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        self.bits().partial_cmp(&other.bits())
    }
}

impl<const BITS: u32> RadixKey for High<BITS> {
    const LEVELS: usize = 1;

    fn get_level(&self, _: usize) -> u8 {
        self.bits()
    }
}

impl<const BITS: u32> Radixable<u8> for High<BITS> {
    type Key = u8;

    fn key(&self) -> u8 {
        self.bits()
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let Some(keys) = arguments.keys else {
        eprintln!("skipped: no --keys N to split");
        return ExitCode::SUCCESS;
    };
    let compared = match arguments.bits {
        1 => compare::<1>(&arguments, keys),
        2 => compare::<2>(&arguments, keys),
        3 => compare::<3>(&arguments, keys),
        4 => compare::<4>(&arguments, keys),
        5 => compare::<5>(&arguments, keys),
        6 => compare::<6>(&arguments, keys),
        7 => compare::<7>(&arguments, keys),
        _ => compare::<8>(&arguments, keys),
    };
    match compared {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

const NAMES: [&str; 6] = [
    "direct",
    "write-combining",
    "rdst, same bits",
    "rdst, 32 bits",
    "voracious, same bits",
    "voracious, 32 bits",
];

fn compare<const BITS: u32>(arguments: &Arguments, n: u64) -> Result<()> {
    // The pool from which the crate takes its threads.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(arguments.threads).build()?;
    let mut seconds = vec![Vec::new(); NAMES.len()];
    for _ in 0..arguments.rounds {
        for (all, one) in seconds.iter_mut().zip(round::<BITS>(arguments, n, &pool)?) {
            all.push(one);
        }
    }
    println!("{n} keys, {} buckets, {} threads", 1u64 << BITS, arguments.threads);
    println!("{:<24}{:>12}{:>12}{:>12}{:>16}", "", "median ms", "fastest ms", "Mkeys/s", "to combining");
    let of = |all: &Vec<f64>| median(all).context("no rounds");
    let combining = of(&seconds[1])?;
    for (name, all) in NAMES.into_iter().zip(&seconds) {
        let (median, fastest) = (of(all)?, all.iter().copied().fold(f64::INFINITY, f64::min));
        let rate = n as f64 / median / 1e6;
        println!(
            "{name:<24}{:>12.1}{:>12.1}{rate:>12.0}{:>16.2}",
            1e3 * median,
            1e3 * fastest,
            median / combining
        );
    }
    Ok(())
}

/// Seconds taken by each program, in the order of [`NAMES`].
fn round<const BITS: u32>(arguments: &Arguments, n: u64, pool: &rayon::ThreadPool) -> Result<Vec<f64>> {
    let threads = arguments.threads;
    Ok(vec![
        ours(arguments, n, "direct")?,
        ours(arguments, n, "write-combining")?,
        pool.install(|| theirs::<High<BITS>>(n, BITS, High, |key| key.0, |keys| keys.radix_sort_unstable()))?,
        pool.install(|| theirs::<u32>(n, BITS, |key| key, |key| *key, |keys| keys.radix_sort_unstable()))?,
        theirs::<High<BITS>>(n, BITS, High, |key| key.0, |keys| keys.voracious_mt_sort(threads))?,
        theirs::<u32>(n, BITS, |key| key, |key| *key, |keys| keys.voracious_mt_sort(threads))?,
    ])
}

fn params(n: u64, bits: u32) -> Params {
    Params::default().with("keys", Value::Int(n)).with("buckets", Value::Int(1 << bits))
}

/// The fastest sample of a case whose result has been certified.
fn ours(arguments: &Arguments, n: u64, method: &str) -> Result<f64> {
    let params = params(n, arguments.bits)
        .with("method", Value::Text(method.to_owned()))
        .with("backend", Value::Text("cpu".to_owned()))
        .with("backend.cpu.threads", Value::Int(arguments.threads as u64));
    let (primitive, id) = ("multisplit".to_owned(), String::new());
    let case = Case { id, experiment: 0, primitive, params, seed: 1, not_applicable: None };
    let mut prepared = CpuExecutor::cpu().prepare(&case, None, &Cancel::default())?;
    if let Verdict::Wrong { mistake } = prepared.certify(&Cancel::default())? {
        bail!("{method}: {mistake}");
    }
    let samples = (0..arguments.samples).map(|_| Ok(prepared.sample(1)?)).collect::<Result<Vec<f64>>>()?;
    Ok(samples.into_iter().fold(f64::INFINITY, f64::min))
}

/// Seconds to sort the same keys. Fails unless the highest bits end up in ascending order.
fn theirs<T: Clone + Default>(
    n: u64,
    bits: u32,
    of: impl Fn(u32) -> T,
    key: impl Fn(&T) -> u32,
    sort: impl FnOnce(&mut [T]),
) -> Result<f64> {
    let source = Keys::new(&Spec::from_params(&params(n, bits), 1)?);
    let mut keys: Vec<T> = (0..n).map(|i| of(source.at(i))).collect();
    let start = Instant::now();
    sort(&mut keys);
    let seconds = start.elapsed().as_secs_f64();
    ensure!(keys.is_sorted_by_key(|item| key(item) >> (32 - bits)), "a sort left its keys unsorted");
    Ok(seconds)
}
