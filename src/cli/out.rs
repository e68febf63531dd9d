//! Prints for the command line. A closed pipe is ignored, where `println!` would panic: a run should continue to
//! disk even if nobody reads its output.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::os::fd::{FromRawFd, OwnedFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether standard output is reserved for data that a program reads, such as CSV or JSON.
static DIVERTED: AtomicBool = AtomicBool::new(false);

/// From now on, [`line`] and [`live`] print to standard error, and standard output is left to a program's data.
pub fn divert() {
    DIVERTED.store(true, Ordering::Relaxed);
}

fn diverted() -> bool {
    DIVERTED.load(Ordering::Relaxed)
}

/// Whether [`line`] and [`live`] print to a terminal, where a person sees the text at once.
pub fn is_terminal() -> bool {
    if diverted() { io::stderr().is_terminal() } else { io::stdout().is_terminal() }
}

fn stream() -> Box<dyn Write> {
    if diverted() { Box::new(io::stderr()) } else { Box::new(io::stdout()) }
}

/// Prints a text and a line end, to standard error after [`divert`].
pub fn line(text: &str) {
    note(writeln!(stream(), "{text}"));
}

/// Why a text could not be printed, first of all.
static FAILURE: OnceLock<String> = OnceLock::new();

/// Keeps the reason of the first failure. A closed pipe is none: its reader wanted no more.
fn note(printed: io::Result<()>) {
    if let Err(error) = printed
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        FAILURE.get_or_init(|| error.to_string());
    }
}

/// Why a text, or what is still in standard output's buffer, could not be printed; `None` if all was.
pub fn failure() -> Option<&'static str> {
    note(io::stdout().flush());
    FAILURE.get().map(String::as_str)
}

/// Prints a text without adding a line end, to standard output even after [`divert`] or [`keep_to_ourselves`].
pub fn text(text: &str) {
    note(match OWN.get() {
        Some(mut own) => own.write_all(text.as_bytes()),
        None => io::stdout().write_all(text.as_bytes()),
    });
}

/// The original standard output, after [`keep_to_ourselves`].
static OWN: OnceLock<File> = OnceLock::new();

/// From now on, lets only [`text`] write to standard output; all else, libraries included, goes to standard
/// error.
pub fn keep_to_ourselves() -> io::Result<()> {
    let own = take_standard_output()?;
    OWN.get_or_init(|| File::from(own));
    Ok(())
}

/// Returns a copy of the descriptor of standard output and points descriptor 1 at standard error, because
/// `printf` in CUDA kernels and banners of libraries write to descriptor 1.
pub fn take_standard_output() -> io::Result<OwnedFd> {
    // SAFETY: duplicates descriptors that this process owns; the copy has no other owner.
    unsafe {
        let copy = libc::fcntl(libc::STDOUT_FILENO, libc::F_DUPFD_CLOEXEC, 3);
        if copy < 0 || libc::dup2(libc::STDERR_FILENO, libc::STDOUT_FILENO) < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(OwnedFd::from_raw_fd(copy))
    }
}

/// Replaces the terminal's current line by a progress message, without ending it. Long text is truncated,
/// because a wrapped line could not be replaced.
pub fn progress(text: &str) {
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
