//! The engine: a separate process that runs a plan and reports events.
//!
//! It is separate so that a CUDA fault or memory exhaustion kills a child process and not the user interface,
//! so that drawing cannot disturb the measured process, and so that one stream of events serves as the log, the
//! file and the wire format to a remote machine.

mod choosing;
pub mod clock;
pub mod device_profiles;
pub mod environment;
mod executor;
pub mod executors;
pub(crate) mod inbox;
mod memory_check;
pub(crate) mod name;
pub mod noise_monitor;
mod orders;
pub mod output_sampling;
pub mod protocol;
pub mod ranked;
pub mod ranks;
pub(crate) mod reference_schedule;
mod round;
mod sampler;
pub(crate) mod schedule;
pub mod server;
mod snapshots;
pub mod timeout;
mod turns;
pub mod verify;
pub(crate) mod writer;

pub use executor::{Executor, Preparation};
