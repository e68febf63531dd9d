//! The profilers' command lines for a case: perf on the CPU and Nsight Compute on the GPU, each with advice on comparing
//! the counters with the declared bytes.

use super::Subject;
use super::traffic::Traffic;
use crate::case::units::fmt_count;
use crate::case::{Cache, Direction};
use crate::engine::executors::Launched;
use crate::shell::quoted;

/// Bytes of a cache line.
const LINE: u64 = 64;

const EVENTS: &str = "cycles,instructions,cache-references,cache-misses,LLC-loads,LLC-load-misses,\
    dTLB-load-misses,dTLB-store-misses,page-faults";

/// Seconds of execution by which the samples of the two runs differ.
const SECONDS: f64 = 2.0;
/// Assumed GB/s of a case that has not been measured.
const GUESS: f64 = 10.0;
/// Shortest sample, in seconds: shorter executions are batched.
const SHORTEST: f64 = 125e-6;

/// perf counts the whole run, including allocation, generation and the certificate. The counts of the samples
/// are the difference between two runs that differ only in their number of samples.
pub fn perf(subject: &Subject) -> (Vec<String>, Vec<String>) {
    let guess = subject.work.declared_bytes() as f64 / (GUESS * 1e9);
    let sample = subject.median.unwrap_or(guess).max(SHORTEST);
    let more = ((SECONDS / sample).ceil() as u64).clamp(10, 900);
    let command = |samples| format!("perf stat -e {EVENTS} -- \\\n    {}", subject.command(samples));
    let [reads, writes] = traffic(subject, LINE);
    let mut lines = vec![
        format!(
            "compare the difference of the two, divided by {more} samples and by `batch` in the second's samples.csv:"
        ),
        format!(
            "  LLC-load-misses x {LINE} B: loads {} reach memory, minus what caches hold and what",
            reads.range()
        ),
        "    prefetchers fetch ahead, which many processors count elsewhere".to_owned(),
    ];
    if writes.declared > 0 {
        lines.push(format!("    stores {}: each line is read first, unless it is streamed", writes.range()));
    }
    let scattered = reads.scattered + writes.scattered;
    if scattered > 0 {
        let count = fmt_count(scattered);
        lines.push(format!(
            "  dTLB-load-misses + dTLB-store-misses: near {count} if each access out of order"
        ));
        lines.push("    needs a page of its own; far fewer with large pages".to_owned());
    }
    lines.extend([
        "  page-faults: near 0; the arrays are touched before the samples".to_owned(),
        "if a round was noisy, samples.csv has a second attempt, and that run counts twice: repeat the run"
            .to_owned(),
        "perf needs kernel.perf_event_paranoid of 2 or less, or root; virtual machines answer".to_owned(),
        "  `<not supported>` if they have no counters. perf follows the engine, a child process, by itself"
            .to_owned(),
    ]);
    (vec![command(1), command(1 + more)], lines)
}

/// The traffic of the case in both directions. `unit`: bytes of a sector or a cache line.
fn traffic(subject: &Subject, unit: u64) -> [Traffic; 2] {
    [Direction::Read, Direction::Write].map(|direction| Traffic::of(&subject.work, direction, unit))
}

/// Bytes of a sector of the caches and the DRAM, for compute capability 7.5 to 9.0.
const SECTOR: u64 = 32;
/// Most launches to profile: the profiler replays each several times, so more would take minutes.
const MOST: u64 = 64;

const LOADS: &str = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum";
const STORES: &str = "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum";
const L2_READS: &str = "lts__t_sectors_srcunit_tex_op_read.sum";
const L2_WRITES: &str = "lts__t_sectors_srcunit_tex_op_write.sum";
const L2_HITS: &str = "lts__t_sector_hit_rate.pct";
const DRAM_READS: &str = "dram__bytes_read.sum";
const DRAM_WRITES: &str = "dram__bytes_write.sum";

/// Profiles the launches of the timed kernel's second execution. The first execution warms up; generation and
/// certificate use kernels with other names. The metrics are those of compute capability 7.5 to 9.0.
pub fn ncu(subject: &Subject, launched: &Launched) -> (Vec<String>, Vec<String>) {
    let cold = subject.case.params.text(Cache::KEY).is_some();
    let requests = |way| format!("l1tex__t_requests_pipe_lsu_mem_global_op_{way}.sum");
    let command = [
        "ncu --target-processes all".to_owned(),
        format!("--kernel-name {}", quoted(&launched.kernel)),
        format!("--launch-skip {} --launch-count {}", launched.launches, launched.launches.min(MOST)),
        // By default the profiler flushes the caches and locks the clocks at base, which a plain run does not.
        format!("--cache-control {} --clock-control none", if cold { "all" } else { "none" }),
        format!(
            "--metrics gpu__time_duration.sum,{LOADS},{},{STORES},{},{L2_READS},{L2_WRITES},{L2_HITS},\
             {DRAM_READS},{DRAM_WRITES},dram__throughput.avg.pct_of_peak_sustained_elapsed",
            requests("ld"),
            requests("st")
        ),
        subject.command(1),
    ];
    let [reads, writes] = traffic(subject, SECTOR);
    let mut lines = vec![match launched.launches {
        1 => "compare, for the one launch of an execution:".to_owned(),
        n if n > MOST => {
            format!("compare, times {n}/{MOST}: the first {MOST} of an execution's {n} launches are shown:")
        }
        n => format!("compare the sums over the {n} launches of an execution:"),
    }];
    let side = |name: &str, sectors: &str, traffic: &Traffic| {
        let words =
            if traffic.scattered == 0 { "" } else { ": in order, or a sector for each access that is not" };
        format!("  {sectors} x {SECTOR} B: {name} {}{words}", traffic.range())
    };
    lines.extend((reads.declared > 0).then(|| side("loads", LOADS, &reads)));
    lines.extend((writes.declared > 0).then(|| side("stores", STORES, &writes)));
    lines.extend([
        format!("  {L2_READS}, {L2_WRITES} x {SECTOR} B: the same, minus what the L1 cache answers"),
        format!(
            "  {DRAM_READS} + {DRAM_WRITES}: if less, the L2 kept the rest ({L2_HITS}); if more, sectors were"
        ),
        "    read because a store filled only a part of them".to_owned(),
        "ncu needs permission for the counters (ERR_NVGPUCTRPERM): run it as root, or ask for".to_owned(),
        "  NVreg_RestrictProfilingToAdminUsers=0; virtual machines and containers may lack them altogether"
            .to_owned(),
    ]);
    (vec![command.join(" \\\n    ")], lines)
}
