//! Runs: the folder on disk, the records derived from its events, and the driver that executes a plan in an
//! engine.

mod controls;
mod derived;
mod drive;
pub mod estimate;
pub mod eta;
pub mod events;
pub mod folder;
pub mod index;
mod interrupted;
mod ledger;
pub mod newest;
pub mod note;
pub mod playback;
mod record;
pub mod reference;
pub mod repeat;
pub mod runner;
pub mod stored;
pub mod summary;
#[cfg(test)]
mod tests;

pub use drive::{EngineRunner, WriteReports, resume};
pub use interrupted::Interrupted;
pub use ledger::Ledger;
pub use record::{Record, SKIPPED, Status};
