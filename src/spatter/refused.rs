//! Why nothing is run: one line, and the status that Spatter ends with in such a case.

/// What is wrong with an input.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refused {
    /// Exit status.
    pub status: u8,
    /// One line.
    pub message: String,
}

/// Exit status for options and values that cannot be, and for `--help`.
pub const USAGE: u8 = 255;

/// Exit status for what Spatter finds out when it sets a configuration up, and for runs
/// that fail.
pub const SETUP: u8 = 1;

impl Refused {
    /// An option or a value that cannot be.
    pub fn usage(message: impl Into<String>) -> Refused {
        Refused { status: USAGE, message: message.into() }
    }

    /// A file that is not there, or patterns that do not fit each other.
    pub fn setup(message: impl Into<String>) -> Refused {
        Refused { status: SETUP, message: message.into() }
    }
}
