//! perf's command lines for a case on the processor.
//!
//! perf counts the whole run, including allocation, generation and the certificate. The counts of the samples
//! are the difference between two runs that differ only in their number of samples.

use super::Subject;
use super::traffic::Traffic;
use crate::case::Direction;

/// Bytes of a cache line.
const LINE: u64 = 64;

const EVENTS: [&str; 9] = [
    "cycles",
    "instructions",
    "cache-references",
    "cache-misses",
    "LLC-loads",
    "LLC-load-misses",
    "dTLB-load-misses",
    "dTLB-store-misses",
    "page-faults",
];

/// Seconds of execution by which the samples of the two runs differ.
const SECONDS: f64 = 2.0;
/// Assumed GB/s of a case that has not been measured.
const GUESS: f64 = 10.0;
/// Shortest sample, in seconds: shorter executions are batched.
const SHORTEST: f64 = 125e-6;

/// Number of samples by which the second run exceeds the first.
fn samples(subject: &Subject) -> u64 {
    let guess = subject.work.declared_bytes() as f64 / (GUESS * 1e9);
    let sample = subject.median.unwrap_or(guess).max(SHORTEST);
    ((SECONDS / sample).ceil() as u64).clamp(10, 900)
}

/// The command lines of the two runs.
pub fn commands(subject: &Subject) -> Vec<String> {
    let command = |samples: u64| {
        let stat = format!("perf stat -e {} --", EVENTS.join(","));
        format!("{stat} \\\n    {}", subject.command(samples))
    };
    vec![command(1), command(1 + samples(subject))]
}

/// Guidance on comparing the counters with the declared bytes.
pub fn advice(subject: &Subject) -> Vec<String> {
    let reads = Traffic::of(&subject.work, Direction::Read, LINE);
    let writes = Traffic::of(&subject.work, Direction::Write, LINE);
    let scattered = reads.scattered + writes.scattered;
    let more = samples(subject);
    let mut lines = vec![
        format!(
            "compare the difference of the two, over {more} samples, over `batch` of the second's samples.csv:"
        ),
        format!(
            "  LLC-load-misses x {LINE} B: loads {} reach memory, less what caches hold and what",
            reads.range()
        ),
        "    prefetchers fetch ahead, which many processors count elsewhere".to_owned(),
    ];
    if writes.declared > 0 {
        lines.push(format!("    stores {}: each line is read first, unless it is streamed", writes.range()));
    }
    if scattered > 0 {
        let count = crate::case::units::fmt_count(scattered);
        lines.push(format!(
            "  dTLB-load-misses + dTLB-store-misses: near {count} where each access out of order"
        ));
        lines.push("    needs a page of its own; far fewer with large pages".to_owned());
    }
    lines.extend([
        "  page-faults: near 0; the arrays are touched before the samples".to_owned(),
        "where a round was noisy, samples.csv has a second attempt and that run counts twice: repeat it"
            .to_owned(),
        "perf needs kernel.perf_event_paranoid of 2 or less, or root; virtual machines answer".to_owned(),
        "  `<not supported>` where they have no counters. It follows the engine, a child process, by itself"
            .to_owned(),
    ]);
    lines
}
