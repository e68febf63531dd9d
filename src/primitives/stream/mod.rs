//! stream: STREAM's kernels on f64 arrays, and a read and a write alone.

#[cfg(unix)]
pub mod cpu;
pub mod spec;

pub use spec::Spec;
