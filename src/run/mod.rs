//! The run folder and the records it holds.

mod ledger;
mod record;
pub mod runner;

pub use ledger::Ledger;
pub use record::{Record, Status};
