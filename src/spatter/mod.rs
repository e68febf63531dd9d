//! Spatter 2.1.0's command line: its meaning, and its output. Pure.
//!
//! ```text
//! arguments ─getopt─► Options ┐
//! JSON ─────────────► Options ┴─► Job[Config…] ─to_recipe─► recipe ─parse─► Plan ─► records ─► table
//! ```
//!
//! | module | what it knows |
//! |---|---|
//! | [`table`] | the options: everything below is read from this one table |
//! | [`options`] | options as they were written, from [`getopt`] and [`suite`] |
//! | [`config`] | one configuration: [`pattern`]s and deltas, precedence, consistency checks |
//! | [`settings`] | settings of a whole run |
//! | [`job`] | settings and configurations together, with notes for the user |
//! | [`recipe`] | a job as a recipe's text |
//! | [`output`] | the output of Spatter 2.1.0; [`stats`] has the summary that version 1.1 printed below it |
//! | [`ranked`] | the output for several MPI ranks |
//!
//! `docs/spatter.md` lists the differences from Spatter and explains them.

pub mod config;
pub mod getopt;
pub mod help;
pub mod job;
pub mod json;
pub mod options;
pub mod output;
pub mod pattern;
pub mod ranked;
pub mod recipe;
pub mod refused;
pub mod settings;
pub mod stats;
pub mod suite;
pub mod table;
pub mod value;

pub use config::Config;
pub use job::Job;
pub use options::CommandLine;
pub use recipe::to_recipe;
pub use refused::Refused;
pub use settings::{Machine, Settings};
pub use suite::Suite;
