//! The lab's generators and its view of the affinity mask: its own source files.
#![allow(dead_code)]

#[path = "../../../../src/device/cpu/affinity.rs"]
pub mod affinity;
#[path = "../../../../src/inputs/mix.rs"]
pub mod mix;
#[path = "../../../../src/inputs/permutation.rs"]
pub mod permutation;
#[path = "../../../../src/inputs/real.rs"]
pub mod real;
#[path = "../../../../src/inputs/zipf.rs"]
pub mod zipf;
