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
//! An input that is refused is a [`Refused`]: one line of explanation, and the exit status that Spatter would return.
//! `docs/spatter.md` lists the differences from Spatter and explains them.

pub mod config;
pub mod getopt;
pub mod job;
pub mod json;
pub mod options;
pub mod output;
pub mod pattern;
pub mod ranked;
pub mod recipe;
pub mod settings;
pub mod stats;
pub mod suite;
pub mod table;
pub mod value;

pub use config::Config;
pub use job::Job;
pub use options::CommandLine;
pub use recipe::to_recipe;
pub use settings::{Machine, Settings};
pub use suite::Suite;

/// The reason why an input is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refused {
    /// Exit status of the process.
    pub status: u8,
    /// A single line of explanation.
    pub message: String,
}

/// Exit status for invalid options and values, and for `--help`.
pub const USAGE: u8 = 255;

/// Exit status for errors that Spatter detects while it sets up a configuration, and for runs that fail.
pub const SETUP: u8 = 1;

impl Refused {
    /// An option or a value is invalid.
    pub fn usage(message: impl Into<String>) -> Refused {
        Refused { status: USAGE, message: message.into() }
    }

    /// A file is missing, or patterns do not fit each other.
    pub fn setup(message: impl Into<String>) -> Refused {
        Refused { status: SETUP, message: message.into() }
    }
}
