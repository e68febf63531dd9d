//! What the CPU implementations of the primitives share: moves of single tuples, and stores that
//! are combined in software.

pub mod combine;
pub mod tuple;
