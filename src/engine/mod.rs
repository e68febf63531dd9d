//! The engine: a process of its own that runs a plan and tells what happens.

pub mod executors;
pub mod protocol;
