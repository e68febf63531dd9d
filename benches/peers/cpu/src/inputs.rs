//! The lab's generators, its oracle of shortest paths and its view of the affinity mask: its own source files.
#![allow(dead_code)]

#[path = "../../../../src/core/device/cpu/affinity.rs"]
pub mod affinity;
#[path = "../../../../src/core/primitives/sssp/dijkstra.rs"]
pub mod dijkstra;
#[path = "../../../../src/core/inputs/graph/mod.rs"]
pub mod graph;
#[path = "../../../../src/core/inputs/mix.rs"]
pub mod mix;
#[path = "../../../../src/core/inputs/permutation.rs"]
pub mod permutation;
#[path = "../../../../src/core/inputs/real.rs"]
pub mod real;
pub mod sparse;
#[path = "../../../../src/core/inputs/zipf.rs"]
pub mod zipf;
