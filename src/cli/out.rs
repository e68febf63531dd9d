//! Everything that the command line prints. Whatever a text says, it does not act on the terminal: only the line
//! breaks, tabs and sequences that the program itself writes do. A closed pipe is ignored, where `println!` would
//! panic, and a run continues to disk although nobody reads its output; any other failure to write standard output
//! makes the program fail in the end, by [`finish`].

mod clean;

use std::fs::File;
use std::io::{self, ErrorKind, IsTerminal, StdoutLock, Write};
use std::os::fd::{FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use self::clean::Clean;
pub use self::clean::Escape;
use crate::case::units::escaped;

/// Whether standard output is reserved for data that a program reads, such as CSV or JSON.
static DIVERTED: AtomicBool = AtomicBool::new(false);

/// Why standard output could not be written, the first time that it could not.
static FAILED: Mutex<Option<io::Error>> = Mutex::new(None);

/// From now on, [`line`] prints to standard error, and standard output is left to a program's data.
pub fn divert() {
    DIVERTED.store(true, Ordering::Relaxed);
}

fn diverted() -> bool {
    DIVERTED.load(Ordering::Relaxed)
}

/// Whether [`progress`] prints to a terminal, where a person sees the text at once.
pub fn is_terminal() -> bool {
    io::stderr().is_terminal()
}

/// Writes to standard error after [`divert`], and otherwise to standard output.
fn put(text: &str) {
    match diverted() {
        true => put_error(text),
        false => note(io::stdout().write_all(text.as_bytes())),
    }
}

/// Standard error may be a terminal that is closed, and there is nowhere to say so.
fn put_error(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

fn note(written: io::Result<()>) {
    if let Err(error) = written
        && error.kind() != ErrorKind::BrokenPipe
    {
        FAILED.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
}

/// Writes what standard output still holds back.
pub fn flush() {
    note(io::stdout().flush());
}

/// Completes the output.
///
/// # Errors
/// The first failure to write standard output, unless its reader has gone.
pub fn finish() -> io::Result<()> {
    flush();
    FAILED.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
}

/// Prints a line, to standard error after [`divert`]. Line breaks in the text are escaped, too.
pub fn line(text: &str) {
    put(&format!("{}\n", escaped(text)));
}

/// Prints a text of several lines like [`line`], with its line breaks.
pub fn lines(text: &str) {
    put(&format!("{}\n", Escape::Text.of(text)));
}

/// Prints a line to standard error, after the name of the program.
pub fn complain(program: &str, text: &str) {
    put_error(&format!("{program}: {}\n", escaped(text)));
}

/// Prints a text of any number of lines to standard error, without adding a line end.
pub fn error_text(text: &str) {
    put_error(&Escape::Text.of(text));
}

/// Prints the help or the version that a command line asks for.
pub fn help(asked: &clap::Error) {
    note(asked.print());
}

/// Prints a text of any number of lines without adding a line end, to standard output even after [`divert`] or
/// [`keep_to_ourselves`].
pub fn text(text: &str) {
    data(text, Escape::Text);
}

/// Prints JSON like [`text`].
pub fn json(text: &str) {
    data(text, Escape::Json);
}

fn data(text: &str, escape: Escape) {
    let text = escape.of(text);
    note(match OWN.get() {
        Some(mut own) => own.write_all(text.as_bytes()),
        None => io::stdout().write_all(text.as_bytes()),
    });
}

/// Standard output as a writer of a program's data, whose errors are the caller's.
pub fn writer(escape: Escape) -> impl Write + use<> {
    Clean::<StdoutLock>::new(io::stdout().lock(), escape)
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

/// Replaces the current line of the terminal at standard error by a progress message, without ending it. Long text is truncated,
/// because a wrapped line could not be replaced.
pub fn progress(text: &str) {
    let columns = crossterm::terminal::size().map_or(80, |(columns, _)| usize::from(columns));
    put_error(&format!("\r\x1b[K{}", cut(&escaped(text), columns.saturating_sub(1))));
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
