//! Nsight Compute's command line for a case on the GPU.

use super::Subject;
use super::traffic::Traffic;
use crate::case::{Cache, Direction};
use crate::engine::executors::Launched;
use crate::shell::quoted;

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

/// Names of metrics in Nsight Compute for compute capability 7.5 to 9.0.
const METRICS: [&str; 11] = [
    "gpu__time_duration.sum",
    LOADS,
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    STORES,
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    L2_READS,
    L2_WRITES,
    L2_HITS,
    DRAM_READS,
    DRAM_WRITES,
    "dram__throughput.avg.pct_of_peak_sustained_elapsed",
];

/// The command that profiles the launches of the timed kernel's second execution. The first execution warms up;
/// generation and certificate use kernels with other names.
pub fn commands(subject: &Subject, launched: &Launched) -> Vec<String> {
    let cold = subject.case.params.text(Cache::KEY).is_some();
    let command = [
        "ncu --target-processes all".to_owned(),
        format!("--kernel-name {}", quoted(&launched.kernel)),
        format!("--launch-skip {} --launch-count {}", launched.launches, launched.launches.min(MOST)),
        // By default the profiler flushes the caches and locks the clocks at base, which a plain run does not.
        format!("--cache-control {} --clock-control none", if cold { "all" } else { "none" }),
        format!("--metrics {}", METRICS.join(",")),
        subject.command(1),
    ];
    vec![command.join(" \\\n    ")]
}

/// Guidance on comparing the counters with the declared bytes.
pub fn advice(subject: &Subject, launched: &Launched) -> Vec<String> {
    let reads = Traffic::of(&subject.work, Direction::Read, SECTOR);
    let writes = Traffic::of(&subject.work, Direction::Write, SECTOR);
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
        format!("  {L2_READS}, {L2_WRITES} x {SECTOR} B: the same, less what the first level answers"),
        format!(
            "  {DRAM_READS} + {DRAM_WRITES}: less than that is what the L2 kept ({L2_HITS}); more are sectors"
        ),
        "    read because a store filled only a part of them".to_owned(),
        "ncu needs permission for the counters (ERR_NVGPUCTRPERM): run it as root, or ask for".to_owned(),
        "  NVreg_RestrictProfilingToAdminUsers=0; virtual machines and containers may lack them altogether"
            .to_owned(),
    ]);
    lines
}
