//! The checks, one file each.

mod affinity;
mod boost;
mod clock;
mod cuda;
mod engine;
mod governor;
mod huge_pages;
mod hypervisor;
mod load;
mod memory;
mod ncu;
mod numa;
mod nvml;
mod perf;
mod quota;
mod steal;
mod terminal;

use super::Check;

/// All checks, in the order of the output.
pub const ALL: &[Check] = &[
    engine::CHECK,
    affinity::CHECK,
    quota::CHECK,
    load::CHECK,
    steal::CHECK,
    hypervisor::CHECK,
    governor::CHECK,
    boost::CHECK,
    clock::CHECK,
    memory::CHECK,
    huge_pages::CHECK,
    numa::CHECK,
    cuda::CHECK,
    nvml::CHECK,
    ncu::CHECK,
    perf::CHECK,
    terminal::CHECK,
];
