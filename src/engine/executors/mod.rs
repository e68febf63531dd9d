//! The backends as the engine sees them: the only place that imports implementations.

#[cfg(unix)]
pub mod cpu;
