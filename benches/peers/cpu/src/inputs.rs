//! The lab's generators, its oracle of shortest paths and its view of the affinity mask: its own source files.
#![allow(dead_code)]

#[path = "../../../../src/device/cpu/affinity.rs"]
pub mod affinity;
#[path = "../../../../src/primitives/sssp/dijkstra.rs"]
pub mod dijkstra;
#[path = "../../../../src/inputs/graph/mod.rs"]
pub mod graph;
#[path = "../../../../src/inputs/mix.rs"]
pub mod mix;
#[path = "../../../../src/inputs/permutation.rs"]
pub mod permutation;
#[path = "../../../../src/inputs/real.rs"]
pub mod real;
pub mod sparse;
#[path = "../../../../src/inputs/zipf.rs"]
pub mod zipf;
