//! Code shared by the CPU implementations of the primitives: moves of single tuples, and software
//! write-combining.

pub mod combine;
pub mod tuple;
