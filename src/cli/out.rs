//! Printing that survives a closed pipe: `println!` would panic, and a run goes on to
//! the disk even when nobody reads along any more.

use std::io::{self, Write};

/// Prints a line.
pub fn line(text: &str) {
    let _ = writeln!(io::stdout(), "{text}");
}

/// Replaces the terminal's current line, without ending it.
pub fn live(text: &str) {
    let mut out = io::stdout();
    let _ = write!(out, "\r\x1b[K{text}").and_then(|()| out.flush());
}
