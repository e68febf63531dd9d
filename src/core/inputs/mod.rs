//! Index generators and data: all inputs are integer functions of (seed, i), bit-identical on every machine and
//! in `kernels/common/inputs.cuh`. libm is never used.

pub mod applications;
pub mod arrays;
pub mod class;
pub mod generators;
pub mod graph;
pub mod indices;
pub mod locality;
pub mod mix;
pub mod notation;
pub mod partitions;
pub mod permutation;
mod read_error;
mod real;
pub mod scramble;
pub mod sparse;
pub mod zipf;

pub use partitions::partition_of;
pub use permutation::Permutation;
pub use scramble::Scramble;
pub use zipf::Zipf;
