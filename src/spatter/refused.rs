//! Refusals: one line of explanation, and the exit status that Spatter would return.

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
