//! Remarks on standard error, in a form that a reader of the table skips where both outputs go to one file, as
//! Slurm's do.
//!
//! Spatter's notebooks, and whoever does as they do, take the first `config` for the beginning of the table and
//! every line behind it for a row. So a remark before the table does not contain this word, and a remark below the
//! table is left out unless standard error is known to go elsewhere. Errors are never left out.

use std::fs::{File, Metadata};
use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::MetadataExt;

use super::say;
use crate::spatter::Settings;

/// Prints a remark before the table, unless verbosity 0 asks for silence.
pub fn before(settings: &Settings, text: &str) {
    if settings.verbosity > 0 {
        say(&without_the_word(text));
    }
}

/// Prints a remark below the table, under the same condition and only if nobody takes it for a row.
pub fn below(settings: &Settings, text: &str) {
    if settings.verbosity > 0 && goes_elsewhere() {
        say(text);
    }
}

fn without_the_word(text: &str) -> String {
    text.replace("config", "Config")
}

/// True where standard error goes to a person or to a file of its own. Whoever reads a pipe may join it with standard
/// output.
fn goes_elsewhere() -> bool {
    let about = |stream: BorrowedFd| -> Option<Metadata> {
        File::from(stream.try_clone_to_owned().ok()?).metadata().ok()
    };
    let same = |a: &Metadata, b: &Metadata| (a.dev(), a.ino()) == (b.dev(), b.ino());
    if io::stderr().is_terminal() {
        return true;
    }
    let Some(errors) = about(io::stderr().as_fd()).filter(Metadata::is_file) else { return false };
    about(io::stdout().as_fd()).is_none_or(|table| !same(&errors, &table))
}
