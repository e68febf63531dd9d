//! Code shared by the CPU implementations of the primitives: arrays of keys and values, moves of single tuples, and
//! software write-combining.

pub mod pairs;
pub mod prelude;
pub mod tuple;
pub mod write_combining;
