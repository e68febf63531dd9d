//! The primitives, such as gather, scan and histogram: their definitions, parameters and memory accesses (pure),
//! and next to them their implementations, which only the engine imports.
//!
//! A primitive is one entry in each of two lists: [`registry()`] has its definition, which is all that recipes,
//! models and reports see of it; [`implementations`] has the code that computes it on each backend.
//!
//! A parameter is *open* if the recipe leaves its value to the program (`method: auto`, or an unset tunable, such
//! as the threads per block). The value that is then chosen is recorded as *resolved*.

#[cfg(test)]
mod any_tests;
mod auto_candidates;
pub mod cg;
pub mod compaction;
mod cpu;
pub mod cuda;
pub mod gather_scatter;
pub mod hash_search;
pub mod histogram;
pub mod implementations;
pub mod multisplit;
mod oracle;
pub mod pattern;
mod per_gpu;
mod problem;
pub mod random_access;
pub mod range;
mod real;
pub mod reduce;
mod registry;
pub mod scan;
pub mod shallow_water;
pub mod sort;
pub mod spmv;
pub mod sssp;
pub mod stream;
pub mod suites;
pub mod tridiagonal;
#[cfg(test)]
mod words;
mod write_combining_group;

pub use per_gpu::{bytes_per_device, check, method_candidates, ranking, work};
pub use problem::{
    Costs, Definition, Elsewhere, IndexLookup, OF_CPUS, OF_GPUS, Primitive, Problem, of_cpus, of_gpus,
};
pub use registry::{find, positions, problem, registry, version, walks};
