//! The lab's generators, its oracle of shortest paths and its view of the affinity mask: its own source files.
#![allow(dead_code)]

use std::sync::LazyLock;

use crate::memory;

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
#[path = "../../../../src/core/inputs/shared.rs"]
pub mod shared;
pub mod sparse;
#[path = "../../../../src/core/inputs/zipf.rs"]
pub mod zipf;

/// Matrices and graphs that this process has made, for further rounds and cases: an eighth of the memory that is free when
/// it makes the first of them.
pub fn shared() -> &'static shared::Shared {
    static SHARED: LazyLock<shared::Shared> =
        LazyLock::new(|| shared::Shared::with_limit(memory::available().unwrap_or(0) / 8));
    &SHARED
}
