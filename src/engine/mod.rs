//! The engine: a process of its own that runs a plan and tells what happens.
//!
//! It is separate so that a CUDA fault or an exhausted memory ends a child and not the
//! screen, so that drawing cannot disturb the measured process, and so that the same
//! stream of events is the log, the file and the wire to a remote machine.

mod choosing;
pub mod client;
pub mod clock;
pub mod environment;
mod executor;
pub mod executors;
mod fits;
pub mod found;
pub mod hung;
mod inbox;
mod lines;
mod name;
pub mod noise_monitor;
mod orders;
mod pace;
pub mod protocol;
pub mod ranked;
pub mod ranks;
mod round;
mod sampler;
pub(crate) mod schedule;
pub mod server;
mod turns;
pub mod verify;

pub use executor::Executor;
