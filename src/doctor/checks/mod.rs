//! The checks, by what they examine.

mod clock;
mod engine;
mod memory;
mod processors;
mod profilers;
mod terminal;

use super::Check;

/// All checks, in the order of the output.
pub const ALL: &[Check] = &[
    engine::ENGINE,
    processors::AFFINITY,
    processors::QUOTA,
    processors::LOAD,
    processors::STEAL,
    processors::HYPERVISOR,
    processors::GOVERNOR,
    processors::BOOST,
    clock::CHECK,
    memory::MEMORY,
    memory::HUGE_PAGES,
    memory::NUMA,
    engine::CUDA,
    engine::NVML,
    profilers::NCU,
    profilers::PERF,
    terminal::CHECK,
];
