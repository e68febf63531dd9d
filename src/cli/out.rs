//! Printing that survives a closed pipe: `println!` would panic, and a run goes on to
//! the disk even when nobody reads along any more.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether standard output is for another program.
static DIVERTED: AtomicBool = AtomicBool::new(false);

/// From now on lines for people go to standard error.
pub fn divert() {
    DIVERTED.store(true, Ordering::Relaxed);
}

fn diverted() -> bool {
    DIVERTED.load(Ordering::Relaxed)
}

/// Whether a person sees the lines as they come.
pub fn is_terminal() -> bool {
    if diverted() { io::stderr().is_terminal() } else { io::stdout().is_terminal() }
}

fn stream() -> Box<dyn Write> {
    if diverted() { Box::new(io::stderr()) } else { Box::new(io::stdout()) }
}

/// Prints a line.
pub fn line(text: &str) {
    let _ = writeln!(stream(), "{text}");
}

/// Prints what has its own line ends.
pub fn text(text: &str) {
    let _ = io::stdout().write_all(text.as_bytes());
}

/// Replaces the terminal's current line, without ending it. What does not fit is cut,
/// because a line that wraps could not be replaced.
pub fn live(text: &str) {
    let columns = crossterm::terminal::size().map_or(80, |(columns, _)| usize::from(columns));
    let mut out = stream();
    let _ = write!(out, "\r\x1b[K{}", cut(text, columns.saturating_sub(1))).and_then(|()| out.flush());
}

fn cut(text: &str, columns: usize) -> &str {
    text.char_indices().nth(columns).map_or(text, |(end, _)| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn lines_are_cut_between_characters() {
        assert_eq!([cut("µs · µs", 4), cut("µs", 4), cut("µs", 0)], ["µs ·", "µs", ""]);
    }
}
