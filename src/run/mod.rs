//! Runs: the folder on disk, the records derived from its events, and what drives a
//! plan through an engine.

mod derived;
mod drive;
pub mod estimate;
pub mod eta;
pub mod events;
pub mod folder;
mod interrupted;
mod ledger;
pub mod newest;
pub mod note;
mod record;
pub mod reference;
pub mod repeat;
pub mod runner;
pub mod shelf;
pub mod stored;
pub mod summary;
#[cfg(test)]
mod tests;
pub mod watch;
mod wishes;

pub use drive::{EngineRunner, WriteReports, resume};
pub use interrupted::Interrupted;
pub use ledger::Ledger;
pub use record::{Record, SKIPPED, Status};
