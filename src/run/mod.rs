//! Runs: a run is one execution of a plan. Here are its folder on disk, the records (one per case) that are
//! derived from the engine's events, and the loop that sends the plan to an engine and stores what it reports.

pub mod advice;
mod checks;
pub mod checksum_chain;
pub mod client;
mod controls;
mod drive;
pub mod estimate;
pub mod eta;
pub mod events;
pub mod folder;
pub mod index;
pub mod index_files;
mod interrupted;
pub mod json_schema;
pub mod layout;
mod ledger;
pub mod note;
pub mod playback;
pub mod portable;
mod rebuild;
mod record;
pub mod reference;
pub mod repeat;
pub mod runner;
pub mod salvage;
pub mod stored;
pub mod summary;
#[cfg(test)]
mod tests;
pub mod verdict;
pub(crate) mod writes;

pub use drive::{EngineRunner, WriteReports, resume};
pub use interrupted::Interrupted;
pub use ledger::Ledger;
pub use record::{Record, SKIPPED, Status};
